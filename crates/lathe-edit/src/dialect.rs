//! Words of programs that are neither instructions nor names of their own: directives by all their names, functions and
//! operators of expressions, sections. A machine's definition adds to those of every machine.

use lathe_asm::words::Directive;
use lathe_doc::{HabitData, Sheet};

use crate::assembly::{FUNCTIONS, Words};
use crate::completion::{Suggestion, SuggestionKind, suggestion};

/// Suggests the directives, by every name that programs for this machine may use.
pub(crate) fn directives(words: &Words) -> Vec<Suggestion> {
    let is_word = |(written, _): &(&str, &str)| written.starts_with(|c: char| c == '.' || c.is_alphabetic());
    let mut all: Vec<(&str, &str)> = words.own.directives().filter(is_word).collect();
    all.sort_unstable();
    all.into_iter()
        .map(|(written, means)| suggestion(written, SuggestionKind::Keyword, short(written, means)))
        .collect()
}

/// Suggests what may stand between a name and its value.
pub(crate) fn definers(words: &Words) -> Vec<Suggestion> {
    let all = words.own.definers();
    all.map(|(written, means)| suggestion(written, SuggestionKind::Keyword, short(written, means))).collect()
}

/// Suggests the functions and operators of expressions; `after_percent` tells whether a `%` precedes the place.
pub(crate) fn functions(words: &Words, sheet: Option<&Sheet>, after_percent: bool) -> Vec<Suggestion> {
    let habits = &words.own.habits;
    let named = |name: &str| sheet.and_then(|sheet| habit(sheet, name));
    let mut all = Vec::new();
    for (name, _) in habits.functions.iter().chain(&habits.unary) {
        let about = named(name);
        let has_percent = about.is_some_and(|about| about.written.starts_with('%'));
        let label = if has_percent && !after_percent { format!("%{name}") } else { name.clone() };
        let detail = about.map_or(String::new(), |about| format!("{} = {}", about.written, plain(&about.meaning)));
        all.push(suggestion(&label, SuggestionKind::Function, detail));
    }
    // A function of the definition takes precedence over the function with the same name that every machine has.
    let is_new = |name: &&str| !all.iter().any(|known| known.label.eq_ignore_ascii_case(name));
    let own: Vec<&(&str, &str)> = FUNCTIONS.iter().filter(|(name, _)| is_new(name)).collect();
    all.extend(own.into_iter().map(|(name, about)| suggestion(name, SuggestionKind::Function, plain(about))));
    all
}

/// Suggests what `.section` can name: memories, and places in them.
pub(crate) fn sections(words: &Words, sheet: Option<&Sheet>) -> Vec<Suggestion> {
    let about =
        |name: &str| sheet.and_then(|sheet| habit(sheet, name)).map_or(String::new(), |one| plain(&one.meaning));
    let places = words.own.habits.sections.iter();
    let places = places.map(|section| suggestion(&section.name, SuggestionKind::Constant, about(&section.name)));
    let memories = sheet.iter().flat_map(|sheet| &sheet.memories);
    places.chain(memories.map(|memory| suggestion(&memory.name, SuggestionKind::Constant, "memory"))).collect()
}

/// Whether a word is the name of a section.
pub(crate) fn is_section(words: &Words, word: &str) -> bool {
    words.own.habits.sections.iter().any(|section| section.name.eq_ignore_ascii_case(word))
}

/// Describes a directive, by any of its names, as Markdown.
pub(crate) fn directive(words: &Words, word: &str) -> Option<String> {
    let written = word.to_ascii_lowercase();
    let definer = || words.own.definers().find(|(known, _)| *known == written).map(|(_, means)| means);
    let means = words.own.directive(&written).or_else(definer)?;
    let stands_for = if means == written || means.is_empty() { String::new() } else { format!(" is `{means}`") };
    let Some(own) = Directive::named(means) else {
        let about = if means.is_empty() { "says nothing here".to_owned() } else { format!("fills `{}`", &means[1..]) };
        return Some(format!("`{word}` {about}"));
    };
    Some(format!("`{word}`{stands_for}: {}\n```\n{}\n```", own.meaning, own.example))
}

/// Describes a function, an operator, a section or another word of this machine's programs, as Markdown.
pub(crate) fn word(sheet: &Sheet, word: &str) -> Option<String> {
    let shown = |about: &HabitData| {
        let prose = if about.documentation.is_empty() { String::new() } else { format!("\n\n{}", about.documentation) };
        format!("`{}` is {}{prose}", about.written, about.meaning)
    };
    let own = || FUNCTIONS.iter().find(|(name, _)| name.eq_ignore_ascii_case(word));
    habit(sheet, word).map(shown).or_else(|| own().map(|(name, about)| format!("`{name}(…)` is {about}")))
}

/// Describes a mark with a special meaning on this machine, an operator or the current address, at a place among marks.
pub(crate) fn mark(words: &Words, marks: &str, at: usize) -> Option<String> {
    let habits = &words.own.habits;
    let covers =
        |written: &str| marks.match_indices(written).any(|(start, _)| (start..start + written.len()).contains(&at));
    let operators = habits.operators.iter().filter(|(written, _)| covers(written));
    let operator = operators.max_by_key(|(written, _)| written.len());
    let operator = operator.map(|(written, means)| format!("`x {written} y` is `x {means} y`"));
    let here = || habits.heres.iter().find(|here| covers(&here.to_string()));
    operator.or_else(|| here().map(|here| format!("`{here}` is the current address")))
}

/// Returns what the definition says about a word of programs.
fn habit<'s>(sheet: &'s Sheet, word: &str) -> Option<&'s HabitData> {
    let is_it = |about: &&HabitData| {
        let name = about.written.trim_start_matches('%').split([' ', '(']).next();
        name.is_some_and(|name| name.eq_ignore_ascii_case(word))
    };
    sheet.habits.iter().find(is_it)
}

/// Returns `= .byte`, or what the directive does if this is its own name.
fn short(written: &str, means: &str) -> String {
    match Directive::named(means) {
        Some(own) if means == written => own.meaning.to_owned(),
        Some(own) => format!("= {means}: {}", own.meaning),
        None if means.is_empty() => "says nothing here".to_owned(),
        None => format!("fills {}", &means[1..]),
    }
}

/// Returns prose without Markdown.
fn plain(text: &str) -> String {
    text.replace('`', "")
}
