//! What the words of a line mean on a machine: which are directives, which define a name, and where a label goes
//! without its colon. Shared by the reader, the formatter and editors; they know instructions and macros themselves.

use std::borrow::Cow;

use lathe_base::numbers::{ByName, NameSet};
use lathe_isa::Isa;
use lathe_isa::model::{Assembly, BareLabels};
use lathe_isa::syntax::Head;

use crate::tokens::{Kind, Token};

/// A directive of every machine.
#[derive(Clone, Copy, Debug)]
pub struct Directive {
    /// Its name, with its dot.
    pub name: &'static str,
    /// How it is written.
    pub example: &'static str,
    /// What it does, in a few words.
    pub meaning: &'static str,
}

const fn directive(name: &'static str, example: &'static str, meaning: &'static str) -> Directive {
    Directive { name, example, meaning }
}

/// Every directive.
pub const DIRECTIVES: [Directive; 39] = [
    directive(".machine", ".machine quad8", "the machine that the program is for"),
    directive(".org", ".org 0x100", "the address of what follows"),
    directive(".align", ".align 16", "fills up to a multiple; alone, up to an even address"),
    directive(".p2align", ".p2align 4", "fills up to a multiple of two to this power"),
    directive(".fill", ".fill 8, 0xFF", "so many cells of a value"),
    directive(".space", ".space 8", "so many cells, 0 or another value"),
    directive(".byte", ".byte 1, 2, \"text\"", "values and texts, a byte each"),
    directive(".cell", ".cell 1, 2", "values, a cell of the memory each"),
    directive(".word", ".word 0x1234, label", "two bytes in the machine's order, or one cell if cells are wider"),
    directive(".le16", ".le16 0x1234", "16 bits, lowest cell first"),
    directive(".be16", ".be16 0x1234", "16 bits, highest cell first"),
    directive(".le32", ".le32 0x12345678", "32 bits, lowest cell first"),
    directive(".be32", ".be32 0x12345678", "32 bits, highest cell first"),
    directive(".le64", ".le64 1", "64 bits, lowest cell first"),
    directive(".be64", ".be64 1", "64 bits, highest cell first"),
    directive(".ascii", ".ascii \"text\"", "the bytes of a text"),
    directive(".asciiz", ".asciiz \"text\"", "the bytes of a text, and a 0 after it"),
    directive(".equ", ".equ name, value", "a constant"),
    directive(".set", ".set name, value", "a constant that may be defined again"),
    directive(".include", ".include \"file.asm\"", "reads another source"),
    directive(".incbin", ".incbin \"file.bin\", offset, length", "the bytes of a file, or some of them"),
    directive(".if", ".if DEBUG", "what follows is read if this is not 0"),
    directive(".ifdef", ".ifdef NAME", "what follows is read if the name is defined"),
    directive(".ifndef", ".ifndef NAME", "what follows is read if the name is not defined"),
    directive(".elif", ".elif OTHER", "what follows is read if nothing before was, and this is not 0"),
    directive(".else", ".else", "what follows is read if nothing before was"),
    directive(".endif", ".endif", "ends a condition"),
    directive(".macro", ".macro name first, second = 5", "lines with a name and parameters, for use as an instruction"),
    directive(".endm", ".endm", "ends a macro"),
    directive(".rept", ".rept 8, n", "reads what follows so many times; a name counts from 0"),
    directive(".endr", ".endr", "ends a repetition"),
    directive(".assert", ".assert size < 256, \"too long\"", "an error with this text if the condition is 0"),
    directive(".error", ".error \"text\"", "an error of your own"),
    directive(".warn", ".warn \"text\"", "a warning of your own"),
    directive(".section", ".section data", "the memory or section that is filled"),
    directive(".mode", ".mode wide = 1", "the mode that the machine is in from here on"),
    directive(".entry", ".entry start", "where execution begins"),
    directive(".export", ".export name", "a name that others use"),
    directive(".end", ".end", "the lines up to the next `.org` are not read"),
];

impl Directive {
    /// Returns the directive with this name, in lowercase and with its dot.
    pub fn named(name: &str) -> Option<&'static Directive> {
        DIRECTIVES.iter().find(|one| one.name == name)
    }
}

/// The words of a machine's programs that are not instructions.
#[derive(Debug)]
pub struct Words {
    /// The definition's habits of assembly.
    pub habits: Assembly,
    /// Names of directives in lowercase, and what each stands for: a directive, or an empty text if it is ignored.
    directives: ByName<String>,
    /// What may stand between a name and its value, the longest first.
    definers: Vec<Definer>,
    /// The beginnings and ends of mnemonics with an operand inside.
    glued: Vec<(String, String)>,
    /// First words of instructions, in lowercase.
    operations: NameSet,
}

/// A word or marks between a name and its value.
#[derive(Debug)]
struct Definer {
    written: String,
    /// `.equ`, `.set` or `.macro`
    means: String,
    /// Whether an instruction has the same name. The instruction has more than one operand: `set 1, a`.
    is_instruction: bool,
    /// Whether it consists of marks.
    is_mark: bool,
}

impl Definer {
    fn new(written: &str, means: &str, is_instruction: bool) -> Definer {
        let is_mark = written.bytes().all(|byte| byte.is_ascii_punctuation() && byte != b'.');
        Definer { written: written.to_owned(), means: means.to_owned(), is_instruction, is_mark }
    }
}

/// Returns a word in lowercase.
pub(crate) fn in_small_letters(word: &str) -> Cow<'_, str> {
    match word.bytes().any(|byte| byte.is_ascii_uppercase()) {
        true => word.to_ascii_lowercase().into(),
        false => word.into(),
    }
}

impl Default for Words {
    /// Returns the words that every machine has.
    fn default() -> Words {
        let own = DIRECTIVES.iter().map(|one| (one.name.to_owned(), one.name.to_owned()));
        Words::with(Assembly::default(), own.collect(), ByName::default())
    }
}

impl Words {
    /// Returns the words of a machine.
    pub fn new(isa: &Isa) -> Words {
        let habits = isa.assembly.clone();
        let mut directives = Words::default().directives;
        let memories = isa.memories.iter().map(|memory| memory.name.as_str());
        let places = memories.chain(habits.sections.iter().map(|section| section.name.as_str()));
        let places = places.map(|name| (format!(".{}", name.to_ascii_lowercase()), format!(".{name}")));
        directives.extend(places);
        let means = |(name, means): &(String, Option<String>)| (name.clone(), means.clone().unwrap_or_default());
        directives.extend(habits.directives.iter().map(means));
        let mut taken = ByName::default();
        if habits.bare_directives {
            let bare = |(name, means): (&String, &String)| Some((name.strip_prefix('.')?.to_owned(), means.clone()));
            let mut bare: ByName<String> = directives.iter().filter_map(bare).collect();
            taken.extend(isa.first_words().filter_map(|word| bare.remove_entry(&word.to_ascii_lowercase())));
            bare.retain(|name, _| !directives.contains_key(name));
            directives.extend(bare);
        }
        let instructions = isa.instructions.iter().map(|one| &one.syntax);
        let heads = instructions.chain(isa.pseudos.iter().map(|one| &one.syntax)).flat_map(|syntax| &syntax.heads);
        let glued = heads.filter_map(|head| match head {
            Head::Glued { prefix, suffix, .. } => Some((prefix.to_ascii_lowercase(), suffix.to_ascii_lowercase())),
            _ => None,
        });
        let operations = isa.first_words().map(str::to_ascii_lowercase).collect();
        Words { glued: glued.collect(), operations, ..Words::with(habits, directives, taken) }
    }

    /// Collects the words for these directives, and for those whose names instructions have taken.
    fn with(habits: Assembly, directives: ByName<String>, taken: ByName<String>) -> Words {
        let all = directives.iter().map(|one| (one, false)).chain(taken.iter().map(|one| (one, true)));
        let defining = all.filter(|((_, means), _)| matches!(means.as_str(), ".equ" | ".set" | ".macro"));
        let definer = |((written, means), is_instruction): ((&String, &String), bool)| {
            Definer::new(written, means, is_instruction)
        };
        let mut definers: Vec<Definer> = defining.map(definer).collect();
        // `name = 5` and `name equ 5` work everywhere, unless a definition gives them another meaning.
        for written in ["=", "equ"].iter().filter(|written| !directives.contains_key(**written)) {
            definers.push(Definer::new(written, ".equ", false));
        }
        definers.sort_by(|one, other| (other.written.len(), &one.written).cmp(&(one.written.len(), &other.written)));
        Words { habits, directives, definers, glued: Vec::new(), operations: NameSet::default() }
    }

    /// Yields every word that is a directive here, in lowercase, with the directive it stands for, or an empty text if
    /// it is ignored; in no particular order.
    pub fn directives(&self) -> impl Iterator<Item = (&str, &str)> {
        self.directives.iter().map(|(written, means)| (written.as_str(), means.as_str()))
    }

    /// Yields the words that may stand between a name and its value, with the directive each stands for.
    pub fn definers(&self) -> impl Iterator<Item = (&str, &str)> {
        let words = self.definers.iter().filter(|one| !one.is_mark && !one.written.starts_with('.'));
        words.map(|one| (one.written.as_str(), one.means.as_str()))
    }

    /// Returns the directive that a word stands for, in either case; empty if it is ignored here.
    pub fn directive(&self, word: &str) -> Option<&str> {
        self.directives.get(&*in_small_letters(word)).map(String::as_str)
    }

    /// Returns what the tokens after a name, the first token, make of it: how many they are, and whether they mean an
    /// `.equ`, a `.set` or a `.macro`. `jmp set` defines no name.
    pub fn defines<'t>(&self, tokens: &[Token], text: impl Fn(Token) -> &'t str) -> Option<(usize, &str)> {
        let [name, tokens @ ..] = tokens else { return None };
        let first = *tokens.first()?;
        match first.kind {
            Kind::Word if self.operations.contains(&*in_small_letters(text(*name))) => None,
            Kind::Word => {
                let word = text(first);
                let found = self.definers.iter().find(|one| one.written.eq_ignore_ascii_case(word))?;
                let is_instruction = found.is_instruction && tokens.iter().any(|token| token.is_mark(','));
                (!is_instruction).then_some((1, found.means.as_str()))
            }
            Kind::Mark(_) => self.definers.iter().filter(|one| one.is_mark).find_map(|one| {
                let length = one.written.len();
                let stands = one.written.chars().enumerate().all(|(at, mark)| {
                    let touches = at == 0 || tokens.get(at).is_some_and(|token| tokens[at - 1].touches(*token));
                    touches && tokens.get(at).is_some_and(|token| token.is_mark(mark))
                });
                let equals = stands && tokens.get(length).is_some_and(|next| next.is_mark('='));
                (stands && !equals).then_some((length, one.means.as_str()))
            }),
            _ => None,
        }
    }

    /// Whether a word is a mnemonic with an operand inside, as in `bbr7`.
    fn is_glued(&self, word: &str) -> bool {
        let is_operand = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        self.glued.iter().any(|(prefix, suffix)| {
            let word = word.to_ascii_lowercase();
            word.strip_prefix(prefix.as_str())
                .and_then(|rest| rest.strip_suffix(suffix.as_str()))
                .is_some_and(is_operand)
        })
    }

    /// Returns the name and the parameters of `name macro a, b` or `name: macro`.
    pub fn macro_after_name<'a, 't>(
        &self,
        tokens: &'a [Token],
        text: impl Fn(Token) -> &'t str,
    ) -> Option<(Token, &'a [Token])> {
        let [name, tail @ ..] = tokens else { return None };
        // `name: macro` is read like `name macro`.
        let is_label = tail.first().is_some_and(|colon| colon.is_mark(':'));
        let rest = if is_label { tail } else { tokens };
        let (marks, means) = self.defines(rest, text)?;
        let parameters = &rest[1 + marks..];
        let is_macro = means == ".macro" && name.kind == Kind::Word && (parameters.is_empty() || !is_label);
        is_macro.then_some((*name, parameters))
    }

    /// Returns the name of a local label without the mark that makes it local.
    pub fn local<'w>(&self, word: &'w str) -> Option<&'w str> {
        local(word, &self.habits)
    }

    /// Whether the first token is a label although no colon follows it: it is nothing else, and is alone or before
    /// something that can begin a line. `begins` tells what instructions and macros begin with.
    pub fn is_bare_label<'t>(
        &self,
        tokens: &[Token],
        source: &str,
        text: impl Fn(Token) -> &'t str,
        begins: impl Fn(&str) -> bool,
    ) -> bool {
        let [word, tail @ ..] = tokens else { return false };
        let begins = |word: &str| begins(word) || self.is_glued(word);
        let begins_line = |token: Token| {
            let word = text(token);
            token.kind == Kind::Word && (begins(word) || self.directive(word).is_some() || is_data(word))
        };
        let in_first_column = match self.habits.bare_labels {
            BareLabels::Never => return false,
            BareLabels::InFirstColumn if is_in_first_column(*word, source) => true,
            BareLabels::InFirstColumn => return false,
            BareLabels::Anywhere => false,
        };
        if word.kind != Kind::Word || self.defines(tokens, &text).is_some() {
            return false;
        }
        // In column 1, `error ds 1` is a label, although `error` alone would be a directive.
        let name = text(*word);
        let may_name = in_first_column && !tail.is_empty() && !name.starts_with('.') && !begins(name);
        (may_name || !begins_line(*word))
            && tail.first().is_none_or(|next| begins_line(*next) || text(*next).starts_with('.'))
    }
}

/// Returns the name of a local label without the mark that makes it local.
pub(crate) fn local<'w>(word: &'w str, habits: &Assembly) -> Option<&'w str> {
    word.strip_prefix('.').or_else(|| word.strip_prefix(habits.locals.as_slice()))
}

/// Whether a word is a directive such as `.le24`, of which there are too many to list.
fn is_data(word: &str) -> bool {
    let digits = word.strip_prefix(".le").or_else(|| word.strip_prefix(".be"));
    digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether a token has nothing before it on its line, as labels are usually written.
pub(crate) fn is_in_first_column(token: Token, source: &str) -> bool {
    let before = source.get(..token.span.start as usize);
    before.is_some_and(|before| before.is_empty() || before.ends_with('\n'))
}
