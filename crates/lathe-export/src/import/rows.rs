//! From rules to rows: alternatives are written out or become fields, encodings that another row already holds become
//! spellings or pseudo-instructions, and what remains has one row for each encoding.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::fields::{Choice, Kind, Listed, MOST_COMPARED, Operand};
use super::reading::{Block, Expr, Piece, PieceKind, Production, Rule, Rules, Token, Type, is_word};
use super::value::{self, Bit, Condition, Facts, Names, Value};

/// The most rows that one rule may become, and the most of all rules.
const ROWS_OF_A_RULE: usize = 512;
const ROWS: usize = 4_096;
/// The deepest nesting of blocks of rules.
const DEPTH: usize = 8;

/// A row of the definition.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// The byte where its rule begins, and the rule's pattern.
    pub(super) at: usize,
    pub(super) written: String,
    pub(super) syntax: Syntax,
    pub(super) operands: Vec<Operand>,
    /// Most significant first.
    pub(super) bits: Vec<Bit>,
    pub(super) facts: Facts,
    /// What its operands must or must not be.
    pub(super) conditions: Vec<Demand>,
    /// Other first words.
    pub(super) spellings: Vec<String>,
}

/// An operand must, or must not, be something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Demand {
    pub(super) operand: usize,
    pub(super) is_equal: bool,
    pub(super) to: To,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum To {
    Code(u64),
    Operand(usize),
}

/// A line that is assembled as other instructions.
#[derive(Clone, Debug)]
pub(super) struct Pseudo {
    pub(super) at: usize,
    pub(super) written: String,
    pub(super) syntax: Syntax,
    pub(super) operands: Vec<Operand>,
    pub(super) facts: Facts,
    /// How many bits it has, if it is one instruction.
    pub(super) bits: usize,
    pub(super) lines: Vec<String>,
}

/// The syntax of a line: its parts, each with whether a blank precedes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Syntax(pub(super) Vec<(bool, Part)>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Text(String),
    Operand(usize),
}

impl Syntax {
    /// Adds text; text directly after a word becomes part of it.
    fn text(&mut self, is_spaced: bool, text: &str) {
        let is_glued = |c: char| c.is_alphanumeric() || c == '_';
        match self.0.last_mut() {
            Some((_, Part::Text(last))) if !is_spaced && last.ends_with(is_glued) && text.starts_with(is_glued) => {
                last.push_str(text);
            }
            _ => self.0.push((is_spaced, Part::Text(text.to_owned()))),
        }
    }

    /// Returns the word that an operand would directly follow here.
    fn open_word(&self) -> Option<&str> {
        match self.0.last() {
            Some((_, Part::Text(last))) if last.ends_with(|c: char| c.is_alphanumeric() || c == '_') => Some(last),
            _ => None,
        }
    }

    /// Renders the text, with operands shown as `operand` returns them.
    pub(super) fn render(&self, mut operand: impl FnMut(usize) -> String) -> String {
        let mut text = String::new();
        for (is_spaced, part) in &self.0 {
            if *is_spaced && !text.is_empty() {
                text.push(' ');
            }
            match part {
                Part::Text(word) => text.push_str(word),
                Part::Operand(number) => text.push_str(&operand(*number)),
            }
        }
        text
    }

    fn first_word(&self) -> Option<&str> {
        match self.0.first() {
            Some((_, Part::Text(word))) if word.starts_with(|c: char| c.is_ascii_alphabetic()) => Some(word),
            _ => None,
        }
    }

    /// Returns an operator directly after a number, which cannot be written: it would belong to an expression.
    fn swallowed(&self, operands: &[Operand]) -> Option<&str> {
        self.0.windows(2).find_map(|pair| match pair {
            [(_, Part::Operand(number)), (_, Part::Text(mark))] => {
                let is_operator = mark.starts_with(['+', '-', '*', '/', '%', '&', '^', '<', '>', '=', '!', '?']);
                let is_number = matches!(operands[*number].kind, Kind::Number(..) | Kind::Values(_));
                (is_operator && is_number).then_some(mark.as_str())
            }
            _ => None,
        })
    }

    fn marks(&self) -> usize {
        self.0.iter().filter(|(_, part)| matches!(part, Part::Text(_))).count()
    }
}

/// Returns all rows and pseudo-instructions of the rules.
pub(super) fn rows(rules: &Rules, cell: u32, findings: &mut Vec<Finding>) -> (Vec<Row>, Vec<Pseudo>) {
    let mut maker = Maker::new(rules, cell);
    for block in rules.blocks.iter().filter(|block| block.is_main) {
        for rule in &block.rules {
            if let Err(message) = maker.rule(rule) {
                findings.push(Finding { at: rule.at, message: format!("`{}`: {message}", rule.written) });
            }
        }
    }
    let Maker { mut rows, mut pseudos, .. } = maker;
    for number in 0..rows.len() {
        let (before, row) = (&rows[..number], &rows[number]);
        let is_taken = |conditions: &Vec<Condition>| {
            let shorter = rows.iter().filter(|other| other.bits.len() < row.bits.len());
            let alike = before.iter().filter(|other| other.bits.len() == row.bits.len());
            alike.chain(shorter).any(|other| takes(other, row, conditions))
        };
        let is_known = row.facts.left.iter().all(is_taken);
        rows[number].facts.has_unknown |= !is_known;
    }
    (apart(rows, &mut pseudos, findings), pseudos)
}

struct Maker<'r, 's> {
    /// Rules by the names of their blocks; blocks with the same name are one.
    blocks: BTreeMap<&'s str, Vec<&'r Rule<'s>>>,
    choices: BTreeMap<&'s str, Choice>,
    lists: BTreeMap<&'s str, (Listed, u32)>,
    constants: Names<'s>,
    cell: u32,
    rows: Vec<Row>,
    pseudos: Vec<Pseudo>,
}

/// Whether names of registers and the like become operands, or are all written out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Alternatives {
    Operands,
    WrittenOut,
}

/// A rule being written out: what has been read of its pattern.
#[derive(Clone, Default)]
struct Draft<'s> {
    /// Whether anything precedes it in the outer pattern.
    is_inside: bool,
    syntax: Syntax,
    operands: Vec<Operand>,
    names: Names<'s>,
    facts: Facts,
}

impl<'r, 's> Maker<'r, 's> {
    fn new(rules: &'r Rules<'s>, cell: u32) -> Self {
        let mut blocks: BTreeMap<&'s str, Vec<&'r Rule<'s>>> = BTreeMap::new();
        for block in &rules.blocks {
            if let Some(name) = block.name {
                blocks.entry(name).or_default().extend(&block.rules);
            }
        }
        let number = |value: u128| Value::Number { value: i128::try_from(value).unwrap_or(0), size: None };
        let constants = rules.constants.iter().map(|(name, value)| (*name, number(*value))).collect();
        let (choices, lists, rows, pseudos) = (BTreeMap::new(), BTreeMap::new(), Vec::new(), Vec::new());
        let mut maker = Maker { blocks, choices, lists, constants, cell, rows, pseudos };
        maker.choices = rules.blocks.iter().filter_map(|block| maker.choice(block)).collect();
        maker.lists = rules.blocks.iter().filter_map(|block| maker.list(block)).collect();
        maker
    }

    /// Reads a block whose rules are names for numbers, all of one size or all without a size.
    fn choice(&self, block: &Block<'s>) -> Option<(&'s str, Choice)> {
        let name = block.name?;
        let mut names = Vec::new();
        let mut sizes = BTreeSet::new();
        let mut takes_numbers = false;
        for rule in self.blocks.get(name)? {
            let Production::Value(value) = &rule.production else { return None };
            let (mut known, mut facts) = (self.constants.clone(), Facts::default());
            if let [Piece { kind: PieceKind::Parameter { name, ty: Type::Unsigned(bits) | Type::Integer(bits) }, .. }] =
                &rule.pattern[..]
            {
                known.insert(name, value::operand(0, Some(*bits)));
                let bits = value::sized(value::evaluate(value, &mut known, &mut facts).ok()?, &mut facts).ok()?;
                let is_itself = bits.iter().zip(0..).all(|(bit, number)| *bit == Bit::Of(0, number));
                takes_numbers = is_itself.then_some(true)?;
                sizes.insert(Some(bits.len() as u32));
                continue;
            }
            let mut word = Syntax::default();
            for piece in &rule.pattern {
                let PieceKind::Text(text) = &piece.kind else { return None };
                word.text(piece.is_spaced, text);
            }
            let [(_, Part::Text(word))] = &word.0[..] else { return None };
            let is_name = word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            let value = value::evaluate(value, &mut known, &mut facts).ok()?;
            // Such a name exists only to be refused.
            if facts.is_impossible {
                continue;
            }
            if let Value::Number { value, size: None } = value {
                sizes.insert(None);
                names.push((word.clone(), u64::try_from(value).ok().filter(|code| is_name && *code < 1 << 16)?));
                continue;
            }
            let bits = value::sized(value, &mut facts).ok()?;
            let code = bits.iter().rev().try_fold(0u64, |code, bit| match bit {
                Bit::Fixed(bit) => Some(code << 1 | u64::from(*bit)),
                Bit::Of(..) => None,
            })?;
            sizes.insert(Some(bits.len() as u32));
            names.push((word.clone(), is_name.then_some(code)?));
        }
        let is_short = |size: &Option<u32>| size.is_none_or(|size| (1..=16).contains(&size));
        let size = *sizes.first().filter(|size| sizes.len() == 1 && is_short(size))?;
        (!names.is_empty()).then(|| (name, Choice { block: name.to_owned(), names, size, takes_numbers }))
    }

    /// Reads a block whose rules each take a range of numbers, and store it in the same size from some code on.
    fn list(&self, block: &Block<'s>) -> Option<(&'s str, (Listed, u32))> {
        let name = block.name?;
        let (mut listed, mut sizes) = (Listed::default(), BTreeSet::new());
        for rule in self.blocks.get(name)? {
            let Production::Value(Expr::Block(all)) = &rule.production else { return None };
            let [Piece { kind: PieceKind::Parameter { name, ty: Type::Any }, .. }] = &rule.pattern[..] else {
                return None;
            };
            let (mut known, mut facts) = (self.constants.clone(), Facts::default());
            known.insert(name, value::operand(0, None));
            let (Expr::Size(stored, size), asserted) = all.split_last()? else { return None };
            for one in asserted {
                value::evaluate(one, &mut known, &mut facts).ok().filter(|_| !value::is_multiple(one))?;
            }
            let added = value::added(&value::evaluate(stored, &mut known, &mut facts).ok()?, 0)?;
            let Value::Number { value: size @ 1..=16, .. } = value::evaluate(size, &mut known, &mut facts).ok()? else {
                return None;
            };
            sizes.insert(size);
            let (least, most) = (*facts.least.get(&0)?, *facts.most.get(&0)?);
            for number in least..=most {
                listed.add(u64::try_from(number.checked_add(added)?).ok().filter(|code| code >> size == 0)?, number)?;
            }
            let is_all = !facts.has_unknown && !facts.has_conditions() && facts.listed.is_empty();
            is_all.then_some(())?;
        }
        let size = *sizes.first().filter(|_| sizes.len() == 1 && !listed.numbers.is_empty())? as u32;
        Some((name, (listed, size)))
    }

    fn rule(&mut self, rule: &'r Rule<'s>) -> Result<(), String> {
        let rows = match &rule.production {
            Production::Assembly(lines) => return self.assembly(rule, lines),
            Production::Value(_) => self
                .written_out(rule, Alternatives::Operands)
                .or_else(|first| self.written_out(rule, Alternatives::WrittenOut).map_err(|_| first))?,
        };
        if self.rows.len() + rows.len() > ROWS {
            return Err(format!("there are more than {ROWS} rows already"));
        }
        self.rows.extend(rows.into_iter().filter(|row| !row.facts.is_impossible));
        Ok(())
    }

    fn written_out(&self, rule: &'r Rule<'s>, alternatives: Alternatives) -> Result<Vec<Row>, String> {
        let drafts =
            self.value(rule, Draft { names: self.constants.clone(), ..Draft::default() }, alternatives, None, 0)?;
        drafts.into_iter().map(|(draft, value)| self.row(rule, draft, value)).collect()
    }

    /// Returns the ways to write a rule, each with its value.
    fn value(
        &self,
        rule: &'r Rule<'s>,
        draft: Draft<'s>,
        alternatives: Alternatives,
        outer: Option<&'s str>,
        depth: usize,
    ) -> Result<Vec<(Draft<'s>, Value)>, String> {
        let Production::Value(production) = &rule.production else {
            return Err("it uses a rule that is an `asm` block".to_owned());
        };
        let mut drafts = vec![draft];
        let alone = rule.pattern.iter().filter(|piece| matches!(piece.kind, PieceKind::Parameter { .. })).count() == 1;
        for (number, piece) in rule.pattern.iter().enumerate() {
            let next = rule.pattern.get(number + 1);
            let mut extended = Vec::new();
            for draft in drafts {
                extended.extend(self.piece(draft, piece, next, alternatives, outer.filter(|_| alone), depth)?);
                if extended.len() > ROWS_OF_A_RULE {
                    return Err(format!("it stands for more than {ROWS_OF_A_RULE} rows"));
                }
            }
            drafts = extended;
        }
        let evaluated = drafts.into_iter().map(|mut draft| {
            let value = value::evaluate(production, &mut draft.names, &mut draft.facts)?;
            Ok((draft, value))
        });
        evaluated.collect()
    }

    fn piece(
        &self,
        mut draft: Draft<'s>,
        piece: &Piece<'s>,
        next: Option<&Piece<'s>>,
        alternatives: Alternatives,
        outer: Option<&'s str>,
        depth: usize,
    ) -> Result<Vec<Draft<'s>>, String> {
        let (name, ty) = match &piece.kind {
            PieceKind::Text(text) => {
                draft.syntax.text(piece.is_spaced, text);
                return Ok(vec![draft]);
            }
            PieceKind::Parameter { name, ty } => (*name, *ty),
        };
        let is_first = draft.syntax.0.is_empty() && !draft.is_inside;
        let after_word = if piece.is_spaced { None } else { draft.syntax.open_word().map(str::to_owned) };
        let before_word = next.is_some_and(|next| {
            !next.is_spaced
                && matches!(&next.kind, PieceKind::Text(text) if is_word(text) || text.starts_with(char::is_numeric))
        });
        let shown = outer.unwrap_or(name);
        let Type::Rules(block) = ty else {
            if after_word.is_some() || before_word {
                return Err(format!("`{name}` is a number inside of a word"));
            }
            if is_first {
                return Err("it does not begin with a word".to_owned());
            }
            let number = draft.operands.len();
            draft.operands.push(Operand::number(shown, ty));
            draft.syntax.0.push((piece.is_spaced, Part::Operand(number)));
            draft.names.insert(name, value::operand(number, Operand::size(ty)));
            return Ok(vec![draft]);
        };
        let choice = self.choices.get(block).filter(|_| alternatives == Alternatives::Operands && !before_word);
        let prefix = after_word.as_deref().unwrap_or("");
        // A first word that is or contains an operand is written out.
        let is_mnemonic = is_first || draft.syntax.0.len() == 1 && after_word.is_some() && !draft.is_inside;
        let usable = |choice: &&Choice| !is_mnemonic && choice.has_names_for(prefix);
        if let Some(choice) = choice.filter(usable) {
            if after_word.is_some() {
                let was_spaced = draft.syntax.0.pop().is_some_and(|(is_spaced, _)| is_spaced);
                return Ok(vec![draft.with_choice(was_spaced, shown, name, choice.with_prefix(prefix))]);
            }
            return Ok(vec![draft.with_choice(piece.is_spaced, shown, name, choice.clone())]);
        }
        let list = self.lists.get(block).filter(|_| alternatives == Alternatives::Operands && !before_word);
        if let Some((listed, size)) = list.filter(|_| !is_mnemonic && after_word.is_none()) {
            let number = draft.operands.len();
            draft.operands.push(Operand::values(shown, listed.clone()));
            draft.syntax.0.push((piece.is_spaced, Part::Operand(number)));
            draft.names.insert(name, value::operand(number, Some(*size)));
            return Ok(vec![draft]);
        }
        if depth >= DEPTH {
            return Err("its rules use each other too deeply".to_owned());
        }
        let rules = self.blocks.get(block).ok_or_else(|| format!("there is no block of rules `{block}`"))?;
        let mut all = Vec::new();
        for rule in rules {
            let names = std::mem::replace(&mut draft.names, self.constants.clone());
            let mut inner = draft.clone();
            inner.is_inside = !is_first;
            inner.syntax = Syntax::default();
            draft.names = names.clone();
            for (made, value) in self.value(rule, inner, alternatives, Some(shown), depth + 1)? {
                let mut syntax = draft.syntax.clone();
                for (number, (is_spaced, part)) in made.syntax.0.iter().enumerate() {
                    let is_spaced = if number == 0 { piece.is_spaced } else { *is_spaced };
                    match part {
                        Part::Text(text) => syntax.text(is_spaced, text),
                        Part::Operand(_) if !is_spaced && syntax.open_word().is_some() => {
                            return Err(format!("`{name}` is a number inside of a word"));
                        }
                        Part::Operand(operand) => syntax.0.push((is_spaced, Part::Operand(*operand))),
                    }
                }
                let mut facts = made.facts;
                let bits = value::sized(value, &mut facts)?;
                let mut names = names.clone();
                names.insert(name, Value::Bits { bits, is_sized: true });
                let is_inside = draft.is_inside;
                all.push(Draft { is_inside, syntax, operands: made.operands, names, facts });
                if all.len() > ROWS_OF_A_RULE {
                    return Err(format!("it stands for more than {ROWS_OF_A_RULE} rows"));
                }
            }
        }
        Ok(all)
    }

    fn row(&self, rule: &Rule, mut draft: Draft, value: Value) -> Result<Row, String> {
        let mut bits = value::sized(value, &mut draft.facts)?;
        bits.reverse();
        if bits.is_empty() || !bits.len().is_multiple_of(self.cell as usize) {
            return Err(format!("its {} bits are no whole cells of {}", bits.len(), self.cell));
        }
        if draft.syntax.first_word().is_none() {
            return Err("it does not begin with a word".to_owned());
        }
        if let Some((_, Part::Text(mark))) = draft
            .syntax
            .0
            .iter()
            .find(|(_, part)| matches!(part, Part::Text(text) if text.contains(['|', '"', '\'', '\\'])))
        {
            return Err(format!("`{mark}` cannot be part of a syntax"));
        }
        if let Some(mark) = draft.syntax.swallowed(&draft.operands) {
            return Err(format!("in a program `{mark}` would be part of the number before it"));
        }
        for (number, operand) in draft.operands.iter_mut().enumerate() {
            let used = bits.iter().filter_map(|bit| match bit {
                Bit::Of(of, bit) if *of == number => Some(*bit),
                _ => None,
            });
            operand.fit(used.collect(), draft.facts.distances.get(&number).copied(), draft.facts.says(number))?;
        }
        let conditions = draft.conditions(&bits)?;
        // Bits above those that its names need are always 0.
        for bit in &mut bits {
            if let Bit::Of(number, place) = bit
                && *place >= draft.operands[*number].width
            {
                *bit = Bit::Fixed(false);
            }
        }
        Ok(Row {
            at: rule.at,
            written: rule.written.to_owned(),
            syntax: draft.syntax,
            operands: draft.operands,
            bits,
            facts: draft.facts,
            conditions,
            spellings: Vec::new(),
        })
    }

    /// Converts a rule that is assembled as other lines.
    fn assembly(&mut self, rule: &Rule<'s>, lines: &[Vec<Token<'s>>]) -> Result<(), String> {
        let mut syntax = Syntax::default();
        let mut operands: Vec<Operand> = Vec::new();
        let mut names: BTreeMap<&str, usize> = BTreeMap::new();
        for piece in &rule.pattern {
            match &piece.kind {
                PieceKind::Text(text) => syntax.text(piece.is_spaced, text),
                PieceKind::Parameter { name, ty } => {
                    names.insert(name, operands.len());
                    syntax.0.push((piece.is_spaced, Part::Operand(operands.len())));
                    operands.push(match ty {
                        Type::Rules(block) if self.choices.contains_key(block) => {
                            Operand::choice(name, self.choices[block].clone())
                        }
                        _ => Operand::anything(name),
                    });
                }
            }
        }
        if syntax.first_word().is_none() {
            return Err("it does not begin with a word".to_owned());
        }
        let lines = lines.iter().map(|line| expansion(line, &names)).collect::<Result<Vec<String>, String>>()?;
        let written = rule.written.to_owned();
        self.pseudos.push(Pseudo { at: rule.at, written, syntax, operands, facts: Facts::default(), bits: 0, lines });
        Ok(())
    }
}

impl<'s> Draft<'s> {
    /// Turns what is known about operands with known bits into lists of values where possible, otherwise into
    /// conditions.
    fn conditions(&mut self, bits: &[Bit]) -> Result<Vec<Demand>, String> {
        let has_bits = |number: usize| bits.iter().any(|bit| matches!(bit, Bit::Of(of, _) if *of == number));
        let Draft { operands, facts, .. } = self;
        for number in 0..operands.len() {
            // A number without a size and without bits is as long as what it equals.
            if operands[number].width == 0 {
                let twin = facts.twin(number).map(|twin| (operands[twin].kind.clone(), operands[twin].width));
                let value = facts.equal.get(&number).and_then(|(_, value)| u64::try_from(*value).ok());
                match (twin.filter(|(_, width)| *width > 0), value) {
                    (Some((kind, width)), _) => (operands[number].kind, operands[number].width) = (kind, width),
                    (None, Some(value)) => operands[number].width = (64 - value.leading_zeros()).max(1),
                    (None, None) => return Err(format!("`{}` is not in its bits", operands[number].name)),
                }
            }
            let is_place = facts.distances.contains_key(&number) || facts.pages.contains_key(&number);
            let range = (facts.least.get(&number).copied(), facts.most.get(&number).copied());
            let listed = facts.listed.get(&number);
            facts.has_unknown |= listed.is_some_and(|(mask, _)| !operands[number].is_whole(*mask));
            let listed = listed.filter(|(mask, _)| operands[number].is_whole(*mask)).map(|(_, listed)| listed);
            let is_narrow = range != (None, None) || listed.is_some();
            if is_narrow && !is_place {
                facts.has_unknown |= !operands[number].narrow(range, listed);
            }
        }
        let mut conditions = Vec::new();
        for (number, (mask, value)) in &facts.equal {
            if !operands[*number].is_whole(*mask) {
                facts.has_unknown = true;
                continue;
            }
            let codes = operands[*number].codes(*mask, *value).unwrap_or_default();
            facts.is_impossible |= codes.is_empty();
            conditions.extend(codes.into_iter().map(|code| Demand {
                operand: *number,
                is_equal: true,
                to: To::Code(code),
            }));
        }
        for ((one, other), is_same) in &facts.alike {
            let (first, second) = (&operands[*one], &operands[*other]);
            let can_be_said = first.is_like(second) && first.width <= MOST_COMPARED;
            if !has_bits(*one) || !has_bits(*other) {
                match is_same {
                    true if can_be_said => {}
                    true => return Err(format!("`{}` and `{}` are compared", first.name, second.name)),
                    false => {
                        facts.left.push(vec![Condition::Same(*one, *other)]);
                        continue;
                    }
                }
            }
            facts.has_unknown |= !can_be_said;
            if can_be_said {
                // If one of them has no bits, the condition says what it is.
                let (operand, to) = if has_bits(*one) { (*other, *one) } else { (*one, *other) };
                conditions.push(Demand { operand, is_equal: *is_same, to: To::Operand(to) });
            }
        }
        for (number, mask, value) in &facts.excluded {
            if !has_bits(*number) {
                facts.left.push(vec![Condition::Is { operand: *number, mask: *mask, value: *value }]);
                continue;
            }
            let Some(codes) = operands[*number].codes(*mask, *value) else {
                facts.has_unknown = true;
                continue;
            };
            conditions.extend(codes.into_iter().map(|code| Demand {
                operand: *number,
                is_equal: false,
                to: To::Code(code),
            }));
        }
        Ok(conditions)
    }

    fn with_choice(mut self, is_spaced: bool, shown: &str, name: &'s str, choice: Choice) -> Self {
        let number = self.operands.len();
        self.names.insert(name, value::operand(number, choice.size));
        self.operands.push(Operand::choice(shown, choice));
        self.syntax.0.push((is_spaced, Part::Operand(number)));
        self
    }
}

/// Turns a line of an `asm` block into an expansion: `{x}` becomes `\u{1}0\u{1}`, the number of the operand, which is
/// named later.
fn expansion(line: &[Token], names: &BTreeMap<&str, usize>) -> Result<String, String> {
    let mut text = String::new();
    let mut at = 0;
    while let Some(token) = line.get(at) {
        if token.is_spaced && !text.is_empty() {
            text.push(' ');
        }
        let word = |ahead: usize| line.get(at + ahead).map_or("", |token| token.text);
        match token.text {
            "{" if word(2) == "}" => {
                let number = names.get(word(1)).ok_or_else(|| format!("`{}` is no parameter of it", word(1)))?;
                text.push_str(&format!("\u{1}{number}\u{1}"));
                at += 2;
            }
            "`" => {
                let bits: u32 = word(1).parse().map_err(|_| "a size in it is no number".to_owned())?;
                let top = bits.checked_sub(1).ok_or("a size in it is 0")?;
                text.push_str(&format!("[{top}:0]"));
                at += 1;
            }
            "!" => text.push('~'),
            mark if ["$", ";", "|", "{", "}", "=>"].contains(&mark) => {
                return Err(format!("`{mark}` cannot be in an expansion"));
            }
            other => text.push_str(&other.to_lowercase()),
        }
        at += 1;
    }
    Ok(text)
}

/// Leaves each encoding to one row: others with it become spellings or pseudo-instructions.
fn apart(rows: Vec<Row>, pseudos: &mut Vec<Pseudo>, findings: &mut Vec<Finding>) -> Vec<Row> {
    // The most general row first; of equally general rows, the one with fewer marks, which people write more often.
    let mut order: Vec<usize> = (0..rows.len()).collect();
    let fixed = |row: &Row| row.bits.iter().filter(|bit| matches!(bit, Bit::Fixed(_))).count();
    order.sort_by_key(|number| (fixed(&rows[*number]), rows[*number].syntax.marks(), *number));
    let mut kept: Vec<(usize, Row)> = Vec::new();
    for number in order {
        let row = &rows[number];
        let Some((_, other)) = kept.iter_mut().find(|(_, other)| meet(row, other)) else {
            kept.push((number, row.clone()));
            continue;
        };
        if is_spelling(row, other) {
            if let (Some(word), false) = (row.syntax.first_word(), row.syntax == other.syntax) {
                other.spellings.push(word.to_owned());
            }
            continue;
        }
        match arguments(row, other) {
            Some(arguments) => {
                let line = other.syntax.render(|number| arguments[number].clone());
                let Row { at, written, syntax, operands, facts, bits, .. } = row.clone();
                let lines = vec![line];
                pseudos.push(Pseudo { at, written, syntax, operands, facts, bits: bits.len(), lines });
            }
            None => {
                let message = format!("`{}`: its encodings are also those of `{}`", row.written, other.written);
                findings.push(Finding { at: row.at, message });
            }
        }
    }
    kept.sort_by_key(|(number, _)| *number);
    kept.into_iter().map(|(_, row)| row).collect()
}

/// Whether lines of `row` that meet these conditions are also lines of `other`.
fn takes(other: &Row, row: &Row, conditions: &[Condition]) -> bool {
    let text = |row: &Row| row.syntax.render(|_| "\u{1}".to_owned());
    let places = |row: &Row| {
        let numbers = row.syntax.0.iter().filter_map(|(_, part)| match part {
            Part::Operand(number) => Some(*number),
            Part::Text(_) => None,
        });
        numbers.collect::<Vec<usize>>()
    };
    let (ours, theirs) = (places(row), places(other));
    if text(row) != text(other) || conditions.iter().any(|one| matches!(one, Condition::Unknown)) {
        return false;
    }
    let ours_for = |number: usize| theirs.iter().position(|known| *known == number).map(|at| ours[at]);
    // How a value of an operand is written.
    let written = |number: usize, value: i128| -> Option<String> {
        let codes = row.operands[number].codes(-1, value)?;
        codes.first().and_then(|code| row.operands[number].spelled(*code))
    };
    let said = |condition: &Condition, number: usize| -> Option<Vec<String>> {
        let (operand, mask, values) = condition.values()?;
        let is_said = operand == number && row.operands[number].is_whole(mask);
        is_said.then(|| values.into_iter().filter_map(|value| written(number, value)).collect())
    };
    let values = |number: usize| conditions.iter().find_map(|condition| said(condition, number));
    let is_not = |number: usize, text: &String| {
        conditions.iter().any(|condition| match condition {
            Condition::Not(inner) => said(inner, number).is_some_and(|values| values.contains(text)),
            _ => false,
        })
    };
    let has_kinds = ours.iter().zip(&theirs).all(|(one, there)| {
        let there = &other.operands[*there];
        row.operands[*one].is_like(there)
            || values(*one).is_some_and(|values| values.iter().all(|value| there.takes(value)))
    });
    has_kinds
        && other.conditions.iter().all(|demand| {
            let Some(number) = ours_for(demand.operand) else { return false };
            match demand.to {
                To::Code(code) => {
                    let Some(text) = other.operands[demand.operand].spelled(code) else { return false };
                    match values(number) {
                        Some(values) if demand.is_equal => values == [text],
                        Some(values) => !values.contains(&text),
                        None => !demand.is_equal && is_not(number, &text),
                    }
                }
                To::Operand(twin) => {
                    let Some(twin) = ours_for(twin) else { return false };
                    let is_pair = |condition: &Condition| match condition {
                        Condition::Same(one, two) => (*one, *two) == (number.min(twin), number.max(twin)),
                        _ => false,
                    };
                    conditions.iter().any(|condition| match condition {
                        Condition::Not(inner) => !demand.is_equal && is_pair(inner),
                        condition => demand.is_equal && is_pair(condition),
                    })
                }
            }
        })
}

/// Whether two rows share an encoding. Rows with conditions are left to the check of the definition.
fn meet(row: &Row, other: &Row) -> bool {
    let differ = |(one, other): (&Bit, &Bit)| matches!((one, other), (Bit::Fixed(x), Bit::Fixed(y)) if x != y);
    row.conditions.is_empty()
        && other.conditions.is_empty()
        && !row.bits.iter().zip(&other.bits).any(differ)
        && has_names(row, other)
        && has_names(other, row)
        && !lists_differ(row, other)
}

/// Whether the same bits are operands of both rows, from lists without a common code.
fn lists_differ(row: &Row, other: &Row) -> bool {
    let codes = |operand: &Operand| match &operand.kind {
        Kind::Choice(choice) if !choice.takes_numbers => {
            Some(choice.names.iter().map(|(_, code)| *code).collect::<BTreeSet<_>>())
        }
        Kind::Values(values) => Some(values.numbers.keys().copied().collect()),
        _ => None,
    };
    row.operands.iter().enumerate().any(|(number, operand)| {
        let bits = row.bits.iter().zip(&other.bits).filter(|(bit, _)| matches!(bit, Bit::Of(of, _) if *of == number));
        let there: BTreeSet<Option<usize>> = bits
            .map(|pair| match pair {
                (Bit::Of(_, place), Bit::Of(there, same)) if place == same => Some(*there),
                _ => None,
            })
            .collect();
        let Some(Some(there)) = there.first().filter(|_| there.len() == 1) else { return false };
        let both = codes(operand).zip(codes(&other.operands[*there]));
        both.is_some_and(|(one, other)| one.is_disjoint(&other))
    })
}

/// Whether every listed operand of a row has a name for the bits that are fixed in another row.
fn has_names(row: &Row, other: &Row) -> bool {
    row.operands.iter().enumerate().all(|(number, operand)| {
        if matches!(operand.kind, Kind::Number(..) | Kind::Anything) {
            return true;
        }
        let (mut mask, mut value) = (0u64, 0u64);
        for (bit, there) in row.bits.iter().zip(&other.bits) {
            if let (Bit::Of(of, place), Bit::Fixed(is_set)) = (bit, there)
                && *of == number
            {
                mask |= 1 << place;
                value |= u64::from(*is_set) << place;
            }
        }
        operand.codes(mask.into(), value.into()).is_none_or(|codes| !codes.is_empty())
    })
}

/// Whether a row is another one with a different first word.
fn is_spelling(row: &Row, other: &Row) -> bool {
    let rest = |row: &Row| row.syntax.0.get(1..).map(<[_]>::to_vec);
    row.bits == other.bits && row.operands == other.operands && rest(row) == rest(other)
}

/// Returns the operands with which another row gives a row's encoding.
fn arguments(row: &Row, other: &Row) -> Option<Vec<String>> {
    if row.bits.len() != other.bits.len() {
        return None;
    }
    let mut arguments: Vec<BTreeMap<u32, Bit>> = vec![BTreeMap::new(); other.operands.len()];
    for (bit, place) in row.bits.iter().zip(&other.bits) {
        match place {
            Bit::Of(operand, number) => drop(arguments[*operand].insert(*number, *bit)),
            Bit::Fixed(_) if bit == place => {}
            Bit::Fixed(_) => return None,
        }
    }
    let argument = |(operand, bits): (&Operand, BTreeMap<u32, Bit>)| {
        if let Some(Bit::Of(number, _)) = bits.values().next() {
            let is_whole = bits.iter().all(|(place, bit)| *bit == Bit::Of(*number, *place));
            return (is_whole && row.operands[*number].is_like(operand)).then(|| format!("\u{1}{number}\u{1}"));
        }
        let set = |place: &u32| matches!(bits.get(place), Some(Bit::Fixed(true)));
        let code = (0..operand.width.min(64)).filter(set).fold(0u64, |code, place| code | 1 << place);
        operand.spelled(code)
    };
    other.operands.iter().zip(arguments).map(argument).collect()
}
