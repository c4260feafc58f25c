//! Rules for customasm: every instruction as a rule, every kind of operand as a sub-rule.
//!
//! customasm does not distinguish labels from numbers, so an operand that is a distance always takes the target
//! address. Of two rules that fit a line, customasm takes the shorter one, as Lathe does.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use lathe_isa::Isa;
use lathe_isa::encoding::{Cube, Segment, gather, scatter};
use lathe_isa::language::ast;
use lathe_isa::model::{Base, Domain, Field, FieldId, Instruction, Numeric, Target, Values};
use lathe_isa::operand::Location;
use lathe_isa::pseudo::{Argument, Arithmetic, Pseudo, Template};
use lathe_isa::syntax::{Digits, Head, PieceKind, Syntax};

use crate::{Export, File, in_first_modes, modes_missing};

/// The most rules that one instruction with digits in its first word may become.
const MOST_SPELLED_OUT: u64 = 1 << 12;

/// Exports the rules of a machine.
pub fn customasm(isa: &Isa) -> Export {
    let has_short_forms = isa.instructions.iter().any(|instruction| instruction.encoding.is_special());
    let (operands, rules, missing) = (Vec::new(), String::new(), Vec::new());
    let mut writer = Writer { isa, has_short_forms, operands, rules, missing };
    for instruction in in_first_modes(isa) {
        writer.instruction(instruction);
    }
    writer.missing.extend(modes_missing(isa));
    for pseudo in &isa.pseudos {
        writer.pseudo(pseudo);
    }
    writer.find_alike();
    let Writer { operands, rules, missing, .. } = writer;
    let mut text = header(isa);
    for (name, rule) in operands {
        let _ = write!(text, "#subruledef {name}\n{{\n{rule}}}\n\n");
    }
    let _ = write!(text, "#ruledef {}\n{{\n{rules}}}\n", isa.name);
    if isa.instructions.is_empty() {
        text.truncate(text.find("#ruledef").unwrap_or(text.len()));
    }
    Export { files: vec![File { name: format!("{}.asm", isa.name), text }], missing }
}

fn header(isa: &Isa) -> String {
    let mut text = format!("; {}: {}\n", isa.name, isa.title);
    let _ = writeln!(text, "; Rules for customasm, made by `lathe export customasm -m {}`.", isa.name);
    let memory = isa.code_memory();
    let bits = memory.cell.bits();
    // customasm cannot count to the end of a wide memory; no program reaches it, so the bank needs no size.
    let size = if memory.has_wide_addresses() { String::new() } else { format!("    size = {:#x}\n", memory.cells()) };
    let _ = write!(text, "\n#bankdef {}\n{{\n    bits = {bits}\n    addr = 0\n{size}    outp = 0\n}}\n\n", memory.name);
    text
}

struct Writer<'i> {
    isa: &'i Isa,
    /// Whether conditions determine operands of some instructions.
    has_short_forms: bool,
    /// The necessary sub-rules, with their names. Kinds of operands that are written alike share one.
    operands: Vec<(String, String)>,
    rules: String,
    missing: Vec<String>,
}

impl Writer<'_> {
    fn instruction(&mut self, instruction: &Instruction) {
        if let Some(mark) = unreadable(&instruction.syntax) {
            let shown = |index: usize| self.isa.field(instruction.operands[index]).name.clone();
            let line = format!("`{}`: customasm cannot have `{mark}` in a rule", instruction.syntax.render(shown));
            return self.missing.push(line);
        }
        let bits = production(self.isa, instruction);
        let checks = self.checks(instruction);
        for head in &instruction.syntax.heads {
            let result = match &checks[..] {
                [] => bits.clone(),
                checks => {
                    let checks: String = checks.iter().map(|check| format!("        $assert({check})\n")).collect();
                    format!("{{\n{checks}        {bits}\n    }}")
                }
            };
            match head {
                Head::Word(word) => {
                    for sign in signs(&instruction.syntax) {
                        let pattern = self.pattern(word, instruction, sign);
                        let _ = writeln!(self.rules, "    {pattern} => {result}");
                    }
                }
                Head::Glued { prefix, digits, suffix } => self.glued(instruction, prefix, *digits, suffix, &result),
                Head::Named(_) => {
                    let pattern = self.operand(instruction.operands[0], instruction.encoding.cells);
                    let pattern = self.pattern(&pattern, instruction, "+");
                    let _ = writeln!(self.rules, "    {pattern} => {result}");
                }
            }
        }
    }

    /// Writes an instruction whose first word contains an operand: one rule for each value of the operand.
    fn glued(&mut self, instruction: &Instruction, prefix: &str, digits: Digits, suffix: &str, result: &str) {
        let field = self.isa.field(instruction.operands[0]);
        if field.width.mask() >= MOST_SPELLED_OUT {
            let line = format!("`{prefix}{{{}}}{suffix}`: too many first words", field.name);
            return self.missing.push(line);
        }
        let codes: Vec<(String, u64)> = match &field.domain {
            Domain::Names(names) => names.clone(),
            _ => (0..=field.width.mask()).map(|value| (digits.write(value), value)).collect(),
        };
        for (written, value) in codes {
            let pattern = self.pattern(&format!("{prefix}{written}{suffix}"), instruction, "+");
            let named = format!("{} = {}", field.name, literal(value, field.width.bits()));
            let body = result.strip_prefix("{\n").and_then(|body| body.strip_suffix("\n    }"));
            let body = body.map_or_else(|| format!("        {result}"), str::to_owned);
            let _ = writeln!(self.rules, "    {pattern} => {{\n        {named}\n{body}\n    }}");
        }
    }

    fn pattern(&mut self, word: &str, instruction: &Instruction, sign: &str) -> String {
        let operand = |index: usize| self.operand(instruction.operands[index], instruction.encoding.cells);
        pattern(word, &instruction.syntax, sign, operand)
    }

    /// Returns an operand in a pattern, and adds its sub-rule if it needs one.
    fn operand(&mut self, id: FieldId, cells: u32) -> String {
        let field = self.isa.field(id);
        format!("{{{}: {}}}", field.name, self.kind(field, cells))
    }

    /// Returns the type or the sub-rule of an operand of an instruction with `cells` cells.
    fn kind(&mut self, field: &Field, cells: u32) -> String {
        let mut name = format!("{}_{}", self.isa.name, field.name);
        let rule = match &field.domain {
            Domain::Registers(list) => {
                let codes = list.iter().zip(0..).filter_map(|(entry, code)| Some((entry.as_ref()?.0.clone(), code)));
                spellings(field, codes.chain(field.spellings.iter().cloned()))
            }
            Domain::Names(list) => spellings(field, list.iter().chain(&field.spellings).cloned()),
            Domain::Values(values) => listed(field, values),
            Domain::Number(numeric) => match self.number(field, *numeric, cells) {
                None if field.spellings.is_empty() => return plain(field, *numeric),
                None => {
                    let number = format!("    {{number: {}}} => number\n", plain(field, *numeric));
                    spellings(field, field.spellings.iter().cloned()) + &number
                }
                Some(rule) => {
                    if matches!(
                        numeric.target,
                        Some(Target::Relative { from: Base::Next, .. } | Target::Within(Base::Next))
                    ) {
                        let _ = write!(name, "_{cells}");
                    }
                    rule
                }
            },
        };
        if let Some((name, _)) = self.operands.iter().find(|(_, known)| *known == rule) {
            return name.clone();
        }
        // Fields that prefixes change share their names with other fields.
        while self.operands.iter().any(|(known, _)| *known == name) {
            name.push('_');
        }
        self.operands.push((name.clone(), rule));
        name
    }

    /// Returns the rule for a number that needs more than a range, or else `None`.
    fn number(&self, field: &Field, numeric: Numeric, cells: u32) -> Option<String> {
        let (bits, width) = (field.width.bits(), self.isa.pc.width);
        let origin = |base| match base {
            Base::Pc => "$".to_owned(),
            Base::Next => format!("($ + {cells})"),
            Base::Ahead(cells) => format!("($ + {cells})"),
            Base::Address(address) => format!("{address:#x}"),
        };
        let mut lines = Vec::new();
        let result = match numeric.target {
            Some(Target::Relative { back, from, .. }) => {
                let (from, all) = (origin(from), width.mask());
                let (to, from) = if back { (from, "address".to_owned()) } else { ("address".to_owned(), from) };
                lines.push(match numeric.signed {
                    true => {
                        let half = width.sign_bit();
                        format!("distance = (({to} - {from} + {half:#x}) & {all:#x}) - {half:#x}")
                    }
                    false => format!("distance = ({to} - {from}) & {all:#x}"),
                });
                let (least, most) = range(field, numeric);
                lines.push(format!("$assert(distance >= {least} && distance <= {most}, \"too far\")"));
                "distance"
            }
            Some(Target::Within(from)) => {
                let from = origin(from);
                let short = field.width.mask();
                let same = format!("(address >> {bits}) == ({from} >> {bits})");
                lines.push(match self.is_address(field.width) {
                    // An address in page 0 belongs to another instruction, as on the PDP-8.
                    true => format!("$assert(address > {short:#x} && {same}, \"in another page\")"),
                    false => format!("$assert(address <= {short:#x} || {same}, \"in another page\")"),
                });
                "address"
            }
            None | Some(Target::Absolute(_)) if numeric.unstored == 0 => return None,
            None | Some(Target::Absolute(_)) => {
                let (least, most) = range(field, numeric);
                lines.push(format!("$assert(address >= {least} && address <= {most}, \"out of range\")"));
                "address"
            }
        };
        if numeric.unstored > 0 {
            let unit = 1u64 << numeric.unstored;
            lines.push(format!("$assert({result} % {unit} == 0, \"not a multiple of {unit}\")"));
        }
        lines.push(format!("{result}`{bits}"));
        let lines: String = lines.iter().map(|line| format!("        {line}\n")).collect();
        Some(format!("    {{address}} => {{\n{lines}    }}\n"))
    }

    /// Whether there are addresses of this width.
    fn is_address(&self, width: lathe_base::Width) -> bool {
        let absolute = |numeric: &Numeric| matches!(numeric.target, Some(Target::Absolute(_)));
        let is_one = |field: &Field| matches!(&field.domain, Domain::Number(numeric) if absolute(numeric));
        self.isa.fields.iter().any(|field| field.width == width && is_one(field))
    }

    /// Returns conditions that rule out what operands must not be.
    fn checks(&self, instruction: &Instruction) -> Vec<String> {
        let excluded = instruction.encoding.excluded.iter();
        let excluded = excluded.filter_map(|cube| self.check(instruction, *cube));
        excluded.chain(self.said(instruction)).chain(self.left_to_others(instruction)).collect()
    }

    /// Returns conditions that leave to other short forms of the same length what those take, because they come first.
    /// Of two rules that fit a line, customasm takes the shorter one, and refuses the line if neither is shorter.
    fn left_to_others(&self, instruction: &Instruction) -> Vec<String> {
        if !self.has_short_forms {
            return Vec::new();
        }
        let before = in_first_modes(self.isa).take_while(|other| !std::ptr::eq(*other, instruction));
        let is_rival = |other: &&Instruction| {
            (instruction.encoding.is_special() || other.encoding.is_special())
                && other.encoding.cells == instruction.encoding.cells
                && other.operands.len() == instruction.operands.len()
                && other.syntax.shapes().iter().any(|shape| instruction.syntax.shapes().contains(shape))
        };
        let rivals = before.filter(is_rival).filter_map(|other| self.taken_by(other, instruction));
        rivals.map(|taken| format!("!({})", taken.join(" && "))).collect()
    }

    /// Returns the conditions under which a line of `instruction` also belongs to `other`; `None` if it never or always
    /// does.
    fn taken_by(&self, other: &Instruction, instruction: &Instruction) -> Option<Vec<String>> {
        let field = |instruction: &Instruction, at: usize| self.isa.field(instruction.operands[at]);
        let mut conditions = Vec::new();
        for at in 0..instruction.operands.len() {
            let (ours, theirs) = (field(instruction, at), field(other, at));
            let segments = &other.encoding.operands[at];
            if ours.domain != theirs.domain {
                let all = 0..=ours.width.mask().min(MOST_SPELLED_OUT);
                let is_taken =
                    |code: &u64| same_operand(theirs, ours, *code).is_some_and(|bits| !excludes(other, at, bits));
                let codes: Vec<u64> = all.filter(is_taken).collect();
                let equal: Vec<String> = codes.iter().map(|code| format!("{} == {code:#x}", ours.name)).collect();
                if equal.is_empty() {
                    return None;
                }
                conditions.push(format!("({})", equal.join(" || ")));
            } else {
                let excluded = excluded_alone(other, at);
                conditions
                    .extend(excluded.map(|cube| format!("({} & {:#x}) != {:#x}", ours.name, cube.mask, cube.value)));
            }
            if segments.is_empty() {
                let code = same_operand(ours, theirs, other.encoding.constants[at])?;
                conditions.push(format!("{} == {code:#x}", ours.name));
            } else if let Some(same) = other.encoding.operands[..at].iter().position(|known| known == segments) {
                conditions.push(format!("{} == {}", ours.name, field(instruction, same).name));
            }
        }
        (!conditions.is_empty()).then_some(conditions)
    }

    /// Returns the conditions for operands without bits of their own.
    fn said(&self, instruction: &Instruction) -> Vec<String> {
        let (encoding, name) = (&instruction.encoding, |at: usize| &self.isa.field(instruction.operands[at]).name);
        let said = (0..instruction.operands.len()).filter_map(|at| {
            let segments = &encoding.operands[at];
            if segments.is_empty() {
                return Some(format!("{} == {:#x}", name(at), encoding.constants[at]));
            }
            let same = encoding.operands[..at].iter().position(|other| other == segments)?;
            Some(format!("{} == {}", name(at), name(same)))
        });
        said.collect()
    }

    fn check(&self, instruction: &Instruction, cube: Cube) -> Option<String> {
        let mut conditions = Vec::new();
        for (index, id) in instruction.operands.iter().enumerate() {
            let field = self.isa.field(*id);
            let segments = &instruction.encoding.operands[index];
            let (mask, value) = (gather(segments, cube.mask), gather(segments, cube.value));
            if mask == 0 {
                continue;
            }
            // A code without a register or name cannot be written anyway.
            let is_listed = !matches!(field.domain, Domain::Number(_));
            let matches = |code: &u64| code & mask == value && field.admits(*code);
            if is_listed && field.width.bits() <= 16 && !(0..=field.width.mask()).any(|code| matches(&code)) {
                return None;
            }
            conditions.push(format!("({} & {mask:#x}) == {value:#x}", field.name));
        }
        (!conditions.is_empty()).then(|| format!("!({})", conditions.join(" && ")))
    }

    /// Reports lines that customasm confuses because it ignores spaces: `rlc a` and `rlca`.
    fn find_alike(&mut self) {
        let mut known: BTreeMap<String, String> = BTreeMap::new();
        for instruction in in_first_modes(self.isa) {
            for written in self.written(instruction) {
                let squeezed = written.replace(' ', "").to_lowercase();
                match known.get(&squeezed).filter(|other| **other != written) {
                    Some(other) => self.missing.push(format!("`{other}` and `{written}`: customasm ignores the space")),
                    None => drop(known.insert(squeezed, written)),
                }
            }
        }
    }

    /// Returns all ways to write an instruction without numbers.
    fn written(&self, instruction: &Instruction) -> Vec<String> {
        let names = |id: &FieldId| match &self.isa.field(*id).domain {
            Domain::Registers(list) => Some(list.iter().flatten().map(|(name, _)| name.clone()).collect()),
            Domain::Names(list) => Some(list.iter().map(|(name, _)| name.clone()).collect()),
            Domain::Number(_) | Domain::Values(_) => None,
        };
        let Some(lists) = instruction.operands.iter().map(names).collect::<Option<Vec<Vec<String>>>>() else {
            return Vec::new();
        };
        let count = lists.iter().map(Vec::len).product::<usize>();
        let choice = |number: usize| {
            let choose = |(rest, mut all): (usize, Vec<String>), list: &Vec<String>| {
                all.push(list[rest % list.len()].clone());
                (rest / list.len(), all)
            };
            let (_, chosen) = lists.iter().fold((number, Vec::new()), choose);
            instruction.syntax.render(|index| chosen[index].clone())
        };
        (0..count.min(MOST_SPELLED_OUT as usize)).map(choice).collect()
    }

    fn pseudo(&mut self, pseudo: &Pseudo) {
        let lines: Option<Vec<String>> = pseudo.expansion.iter().map(|template| self.line(pseudo, template)).collect();
        let Some(lines) = lines else {
            let written = pseudo.syntax.render(|index| pseudo.parameters[index].name.clone());
            let line = format!("`{written}`: which instruction it becomes depends on its operands");
            return self.missing.push(line);
        };
        for head in &pseudo.syntax.heads {
            let Head::Word(word) = head else { continue };
            for sign in signs(&pseudo.syntax) {
                let pattern = pattern(word, &pseudo.syntax, sign, |index| {
                    let field = &pseudo.parameters[index];
                    // The instructions of the expansion measure distances.
                    match field.is_number() {
                        true => format!("{{{}}}", field.name),
                        false => format!("{{{}: {}}}", field.name, self.kind(field, 0)),
                    }
                });
                let lines: String = lines.iter().map(|line| format!("        {line}\n")).collect();
                let _ = writeln!(self.rules, "    {pattern} => asm {{\n{lines}    }}");
            }
        }
    }

    /// Returns one instruction of an expansion as a line, if its form does not depend on the operands.
    fn line(&self, pseudo: &Pseudo, template: &Template) -> Option<String> {
        let [(id, arguments)] = &template.forms[..] else { return None };
        let instruction = self.isa.instruction(*id);
        if instruction.syntax.glued().is_some() {
            return None;
        }
        let written: Option<Vec<String>> = arguments
            .iter()
            .zip(&instruction.operands)
            .map(|(argument, id)| self.argument(pseudo, argument, self.isa.field(*id)))
            .collect();
        let written = written?;
        Some(instruction.syntax.render(|index| written[index].clone()))
    }

    fn argument(&self, pseudo: &Pseudo, argument: &Argument, field: &Field) -> Option<String> {
        match argument {
            Argument::Parameter(index) => Some(format!("{{{}}}", pseudo.parameters[*index].name)),
            Argument::Value(value) => arithmetic(pseudo, value),
            Argument::Bits(bits) => match &field.domain {
                Domain::Registers(list) => Some(list.get(*bits as usize)?.as_ref()?.0.clone()),
                Domain::Names(list) => Some(list.iter().find(|(_, code)| code == bits)?.0.clone()),
                Domain::Number(Numeric { target: Some(Target::Relative { .. } | Target::Within(_)), .. }) => None,
                Domain::Number(Numeric { signed: true, .. }) => Some(field.width.signed(*bits).to_string()),
                Domain::Number(_) => Some(bits.to_string()),
                Domain::Values(values) => Some(values.number(*bits)?.to_string()),
            },
        }
    }
}

/// Yields what the conditions of an instruction rule out for one operand, whatever the other operands are.
fn excluded_alone(instruction: &Instruction, operand: usize) -> impl Iterator<Item = Excluded> {
    let encoding = &instruction.encoding;
    let segments = &encoding.operands[operand];
    let own = scatter(segments, u64::MAX);
    let alone = move |cube: &&Cube| {
        let free = cube.mask & !encoding.fixed.mask;
        free != 0 && free & !own == 0
    };
    let bits = |cube: &Cube| Excluded { mask: gather(segments, cube.mask), value: gather(segments, cube.value) };
    encoding.excluded.iter().filter(alone).map(bits)
}

/// Bits of an operand that a condition rules out: those under the mask, if they have this value.
struct Excluded {
    mask: u64,
    value: u64,
}

/// Whether the conditions of an instruction rule out these bits of an operand.
fn excludes(instruction: &Instruction, operand: usize, bits: u64) -> bool {
    excluded_alone(instruction, operand).any(|excluded| bits & excluded.mask == excluded.value)
}

/// Returns the bits of `field` that mean the same as these bits of `other`, if any.
fn same_operand(field: &Field, other: &Field, bits: u64) -> Option<u64> {
    if field.domain == other.domain {
        return Some(bits);
    }
    if !other.admits(bits) || bits & ((1 << other.unstored_bits()) - 1) != 0 {
        return None;
    }
    let number = match &other.domain {
        Domain::Number(numeric) if numeric.target.is_some() => return None,
        Domain::Number(numeric) if numeric.signed => i128::from(other.width.signed(bits)),
        Domain::Number(_) => i128::from(bits),
        Domain::Values(values) => values.number(bits)?,
        _ => {
            let name = other.names().find(|name| other.bits_named(name) == Some(bits))?;
            return field.bits_named(name);
        }
    };
    field.bits_of(number, Location { pc: 0, next: 0, width: other.width })
}

/// Returns what may replace a sign: `+`, or nothing before a number with its own `-`.
fn signs(syntax: &Syntax) -> &'static [&'static str] {
    if syntax.pieces.iter().any(|piece| piece.kind == PieceKind::Sign) { &["+", ""] } else { &["+"] }
}

/// Returns how a line of this syntax is written, given its operands.
fn pattern(word: &str, syntax: &Syntax, sign: &str, mut operand: impl FnMut(usize) -> String) -> String {
    let mut pattern = word.to_owned();
    for piece in &syntax.pieces {
        if piece.space {
            pattern.push(' ');
        }
        match &piece.kind {
            PieceKind::Text(text) => pattern.push_str(text),
            PieceKind::Sign => pattern.push_str(sign),
            PieceKind::Operand(index) => pattern.push_str(&operand(*index)),
        }
    }
    pattern
}

/// Returns a mark of the syntax that cannot be in a rule, if any.
fn unreadable(syntax: &Syntax) -> Option<char> {
    let texts = syntax.pieces.iter().filter_map(|piece| piece.kind.text());
    texts.flat_map(|text| text.chars()).find(|mark| ['\'', '"', ';', '`', '{', '}', '\\'].contains(mark))
}

/// Returns the type of a number that needs no more than a range.
fn plain(field: &Field, numeric: Numeric) -> String {
    let kind = match numeric {
        Numeric { signed: true, .. } => 's',
        Numeric { wraps: true, target: None, .. } => 'i',
        _ => 'u',
    };
    format!("{kind}{}", field.width.bits())
}

/// Returns the least and the greatest number that a field holds.
fn range(field: &Field, numeric: Numeric) -> (i128, i128) {
    let half = i128::from(field.width.sign_bit());
    if numeric.signed { (-half, half - 1) } else { (0, i128::from(field.width.mask())) }
}

/// Returns one rule for each name.
fn spellings(field: &Field, names: impl Iterator<Item = (String, u64)>) -> String {
    let names: Vec<(String, u64)> = names.collect();
    let longest = names.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let rule = |(name, code): (String, u64)| format!("    {name:longest$} => {}\n", literal(code, field.width.bits()));
    names.into_iter().map(rule).collect()
}

/// Returns rules that find the code of a number: one for each run of numbers that count up with their codes.
fn listed(field: &Field, values: &Values) -> String {
    let mut rows: Vec<(i128, i128, i128)> = Vec::new();
    for (code, number) in values.numbers() {
        let below = number - i128::from(code);
        match rows.last_mut().filter(|(_, last, known)| *known == below && *last + 1 == number) {
            Some((_, last, _)) => *last = number,
            None => rows.push((number, number, below)),
        }
    }
    // If -1 and the highest number are the same, both can be written.
    let (all, half) = (i128::from(values.width.mask()) + 1, i128::from(values.width.sign_bit()));
    let other = |(first, last, below): &(i128, i128, i128)| match (*first < 0, *first >= half) {
        (true, _) => Some((first + all, last + all, below + all)),
        (_, true) => Some((first - all, last - all, below - all)),
        _ => None,
    };
    let others: Vec<(i128, i128, i128)> = rows.iter().filter(|_| values.wraps).filter_map(other).collect();
    let rule = |(first, last, below): (i128, i128, i128)| {
        let bits = field.width.bits();
        format!(
            "    {{number}} => {{\n        $assert(number >= {first} && number <= {last})\n        (number - ({below}))`{bits}\n    }}\n"
        )
    };
    rows.into_iter().chain(others).map(rule).collect()
}

/// Returns a number with exactly this many bits.
fn literal(value: u64, bits: u32) -> String {
    format!("{value:#x}`{bits}")
}

/// Returns the bits of an instruction, first to last.
fn production(isa: &Isa, instruction: &Instruction) -> String {
    let encoding = &instruction.encoding;
    let end = 128 - encoding.cells * isa.code_memory().cell.bits();
    let mut parts = Vec::new();
    let mut top = 128;
    while top > end {
        let operands = encoding.operands.iter().enumerate();
        let all = operands.flat_map(|(index, list)| list.iter().map(move |segment| (index, segment)));
        // The next operand's bits at or below here, after the fixed bits before them.
        let next = all.filter(|(_, segment)| above(segment) <= top).max_by_key(|(_, segment)| above(segment));
        let stop = next.map_or(end, |(_, segment)| above(segment));
        if stop < top {
            parts.push(fixed(encoding.fixed.value, top, stop));
        }
        if let Some((index, segment)) = next {
            let field = isa.field(instruction.operands[index]);
            parts.push(slice(field, segment));
            top = segment.shift;
        } else {
            top = end;
        }
    }
    parts.join(" @ ")
}

/// Returns the bit above the highest of a segment.
fn above(segment: &Segment) -> u32 {
    segment.shift + segment.width.bits()
}

fn fixed(window: u128, top: u32, stop: u32) -> String {
    let bits = top - stop;
    let value = (window >> stop) & (u128::MAX >> (128 - bits));
    match bits.is_multiple_of(8) {
        true => format!("0x{value:0digits$x}", digits = bits as usize / 4),
        false => format!("0b{value:0digits$b}", digits = bits as usize),
    }
}

fn slice(field: &Field, segment: &Segment) -> String {
    if segment.width == field.width {
        return field.name.clone();
    }
    format!("{}[{}:{}]", field.name, segment.low + segment.width.bits() - 1, segment.low)
}

/// Returns arithmetic on the parameters of a pseudo-instruction; `None` if customasm would read it differently.
fn arithmetic(pseudo: &Pseudo, value: &Arithmetic) -> Option<String> {
    Some(match value {
        Arithmetic::Number(number) => number.to_string(),
        Arithmetic::Parameter(index) => format!("{{{}}}", pseudo.parameters[*index].name),
        Arithmetic::Slice(inner, high, low) => format!("({})[{high}:{low}]", arithmetic(pseudo, inner)?),
        Arithmetic::Unary(operator, inner) => {
            let operator = match operator {
                ast::Unary::Complement => '!',
                ast::Unary::Negate => '-',
                ast::Unary::Not => return None,
            };
            format!("({operator}({}))", arithmetic(pseudo, inner)?)
        }
        Arithmetic::Binary(operator, x, y) => {
            let (x, y) = (arithmetic(pseudo, x)?, arithmetic(pseudo, y)?);
            format!("({x} {} {y})", symbol(*operator)?)
        }
    })
}

fn symbol(operator: ast::Binary) -> Option<&'static str> {
    use ast::Binary::*;
    Some(match operator {
        Or => "|",
        Xor => "^",
        And => "&",
        ShiftLeft => "<<",
        ShiftRight => ">>",
        Add => "+",
        Subtract => "-",
        Multiply => "*",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_that_are_always_the_same_keep_their_zeros() {
        assert_eq!(fixed(0x01 << 120, 128, 120), "0x01");
        assert_eq!(fixed(0x10 << 120, 128, 124), "0b0001");
    }
}
