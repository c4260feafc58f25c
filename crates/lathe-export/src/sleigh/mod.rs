//! A processor module for Ghidra: the instruction set in SLEIGH, and the small files around it.
//!
//! Each instruction is a constructor, each register operand a table of its own. Meanings become p-code completely;
//! whatever else a machine has (devices, memory maps, hooks) has no place in SLEIGH: devices become named operations,
//! the rest is reported as missing.

mod pcode;
mod tokens;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use lathe_isa::Isa;
use lathe_isa::encoding::scatter;
use lathe_isa::model::{Base, Domain, Field, Instruction, Numeric, Order, Place, RegisterId, Target};
use lathe_isa::semantics::{ExprKind, OperandId};
use lathe_isa::syntax::{Head, PieceKind};

use crate::{Export, File, in_first_modes, modes_missing};
use pcode::size;
use tokens::{Bits, Layout, definitions};

/// The most constructors that one instruction may become.
const MOST_SPREAD: usize = 1 << 12;

/// Words reserved by SLEIGH, or used in every exported file.
#[rustfmt::skip]
const RESERVED: [&str; 71] = [
    "abs", "alignment", "attach", "big", "bitrange", "build", "call", "carry", "ceil", "const", "context", "cpool",
    "crossbuild", "dec", "default", "define", "delayslot", "endian", "epsilon", "export", "fault", "float2float",
    "floor", "globalset", "goto", "halt", "hex", "if", "inst_next", "inst_next2", "inst_ref", "inst_start",
    "instruction", "int2float", "is", "little", "local", "lzcount", "macro", "names", "nan", "newobject", "noflow",
    "number", "offset", "pcodeop", "popcount", "ram_space", "register", "register_space", "return", "round", "rom_space",
    "sborrow", "scarry", "sext", "signed", "size", "space", "sqrt", "target", "token", "trunc", "type", "unique",
    "unimpl", "values", "variables", "with", "wordsize", "zext",
];

/// Returns a name in a form that SLEIGH accepts.
fn name(name: &str) -> String {
    if RESERVED.contains(&name) { format!("{name}_") } else { name.to_owned() }
}

/// Returns the name of a register in SLEIGH.
fn register_name(isa: &Isa, id: RegisterId) -> String {
    name(&isa.register(id).name)
}

/// How a constructor reaches an operand.
#[derive(Clone, Debug)]
enum Operand {
    /// A table that exports the register, and one that exports its code if the meaning asks for it.
    Table(String, Option<String>),
    /// A number, computed from the bits.
    Number(String),
    /// A table that exports the place in the code to jump to.
    Address(String),
    /// This constructor is for one register only: its name, place and code.
    Spread(String, Place, u64),
}

/// Exports the processor module of a machine.
///
/// # Errors
/// If the cells that hold code are not made of bytes, which SLEIGH needs, or a memory has more bytes than Ghidra
/// counts.
pub fn ghidra(isa: &Isa) -> Result<Export, String> {
    let code = isa.code_memory();
    if !matches!(code.cell.bits(), 8 | 16 | 32 | 64) {
        let bits = code.cell.bits();
        return Err(format!("the cells of `{}` have {bits} bits, and SLEIGH needs 8, 16, 32 or 64", code.name));
    }
    if let Some(memory) = isa.memories.iter().find(|memory| size(memory.address) == 8 && size(memory.cell) > 1) {
        let bits = memory.address.bits();
        return Err(format!(
            "`{}` has addresses of {bits} bits, and its bytes are more than Ghidra counts",
            memory.name
        ));
    }
    let lengths = isa.instructions.iter().map(|instruction| instruction.encoding.cells);
    let layout = Layout::new(isa.code_memory().cell.bits(), is_big(isa), lengths);
    let mut writer =
        Writer { isa, layout, fields: BTreeSet::new(), tables: Vec::new(), rules: String::new(), missing: Vec::new() };
    in_first_modes(isa).for_each(|instruction| writer.instruction(instruction));
    writer.name_missing();
    let name = &isa.name;
    let folder = "data/languages";
    let file = |ending: &str, text: String| File { name: format!("{folder}/{name}.{ending}"), text };
    let files = vec![
        file("slaspec", writer.specification()),
        file("ldefs", definitions_of_languages(isa)),
        file("pspec", processor(isa)),
        file("cspec", compiler(isa)),
        File { name: "Module.manifest".to_owned(), text: String::new() },
    ];
    Ok(Export { files, missing: writer.missing })
}

struct Writer<'i> {
    isa: &'i Isa,
    layout: Layout,
    fields: BTreeSet<Bits>,
    /// The tables of operands: their names and constructors.
    tables: Vec<(String, Vec<String>)>,
    rules: String,
    missing: Vec<String>,
}

impl Writer<'_> {
    fn specification(&self) -> String {
        let isa = self.isa;
        let mut text = format!("# {}: {}\n", isa.name, isa.title);
        let _ = writeln!(text, "# Made by `lathe export ghidra -m {}`.\n", isa.name);
        let endian = if is_big(isa) { "big" } else { "little" };
        let _ = writeln!(text, "define endian={endian};\ndefine alignment=1;\n");
        for (index, memory) in isa.memories.iter().enumerate() {
            let default = if isa.pc.memory.index() == index { " default" } else { "" };
            let (bytes, unit) = (size(memory.address), size(memory.cell));
            let _ = writeln!(
                text,
                "define space {} type=ram_space size={bytes} wordsize={unit}{default};",
                name(&memory.name)
            );
        }
        let _ = writeln!(text, "define space register type=register_space size=4;\n");
        let _ = writeln!(text, "define register offset=0 size={} [ {} ];", size(isa.pc.width), name(&isa.pc.name));
        for (index, register) in isa.registers.iter().enumerate().filter(|(_, register)| !register.constant) {
            let name = register_name(isa, RegisterId(index as u32));
            let _ =
                writeln!(text, "define register offset={:#x} size={} [ {name} ];", offset(index), size(register.width));
        }
        text.push_str("\ndefine pcodeop halt;\ndefine pcodeop fault;\n");
        for device in &isa.devices {
            for operation in device.kind.operations() {
                let _ = writeln!(text, "define pcodeop {}_{};", device.name, operation.operation.name());
            }
        }
        text.push('\n');
        text.push_str(&definitions(&self.fields));
        for (name, rules) in &self.tables {
            rules.iter().for_each(|rule| text.push_str(&format!("{name}: {rule}\n")));
            text.push('\n');
        }
        text.push_str(&self.rules);
        text
    }

    fn name_missing(&mut self) {
        let isa = self.isa;
        if !isa.maps.is_empty() {
            self.missing.push("the memory map: mapped addresses are plain memory".to_owned());
        }
        self.missing.extend(modes_missing(isa));
        if isa.on_step.is_some() {
            self.missing.push("`on step`: p-code knows only instructions".to_owned());
        }
        if isa.on_reset.is_some() {
            self.missing.push("`on reset`: Ghidra does not begin to run programs".to_owned());
        }
        if isa.on_illegal.is_some() {
            self.missing.push("`on illegal`: encodings that are not defined stay undefined".to_owned());
        }
    }

    fn instruction(&mut self, instruction: &Instruction) {
        let isa = self.isa;
        let written = instruction.body.effects().operands_written;
        let (encoding, field) = (&instruction.encoding, |index: usize| isa.field(instruction.operands[index]));
        let is_said = |index: &usize| encoding.operands[*index].is_empty();
        let mut said = (0..instruction.operands.len()).filter(is_said);
        if said.any(|index| field(index).is_number()) {
            let shown = instruction.syntax.render(|index| field(index).name.clone());
            return self.missing.push(format!("`{shown}`: a number that is always the same"));
        }
        // Registers that cannot be exported as they are get constructors of their own where they are written, and so do
        // registers that are always the same.
        let spread: Vec<usize> = (0..instruction.operands.len())
            .filter(|index| {
                is_said(index) || written.contains(&OperandId(*index as u8)) && !is_plain(isa, field(*index))
            })
            .collect();
        let may_be = |index: usize, code: u64| !is_said(&index) || encoding.constants[index] == code;
        let list = |index: usize| entries(field(index)).into_iter().filter(move |(code, ..)| may_be(index, *code));
        let lists: Vec<Vec<(u64, String, Place)>> = spread.iter().map(|index| list(*index).collect()).collect();
        let count = lists.iter().map(Vec::len).product::<usize>();
        if count > MOST_SPREAD {
            let line = format!("`{}`: {count} combinations of registers", instruction.syntax.mnemonic());
            return self.missing.push(line);
        }
        for number in 0..count {
            let mut rest = number;
            let mut chosen = vec![None; instruction.operands.len()];
            for (index, list) in spread.iter().zip(&lists) {
                chosen[*index] = Some(list[rest % list.len()].clone());
                rest /= list.len();
            }
            if !is_excluded(instruction, &chosen) {
                self.constructor(instruction, &chosen);
            }
        }
    }

    fn constructor(&mut self, instruction: &Instruction, chosen: &[Option<(u64, String, Place)>]) {
        let isa = self.isa;
        let encoding = &instruction.encoding;
        let layout = self.layout.of(encoding.cells, &encoding.operands);
        let mut tokens: Vec<Vec<String>> = vec![Vec::new(); (encoding.cells / layout.cells) as usize];
        for (token, list) in tokens.iter_mut().enumerate() {
            for (bits, value) in layout.runs(encoding.fixed.mask, encoding.fixed.value, token as u32) {
                self.fields.insert(bits);
                list.push(format!("{bits}={value:#x}"));
            }
        }
        let mut operands: Vec<Operand> = Vec::new();
        // Tokens covered by a table that begins in an earlier token.
        let mut covered = BTreeSet::new();
        for (index, id) in instruction.operands.iter().enumerate() {
            let field = isa.field(*id);
            if let Some(same) = encoding.operands[..index].iter().position(|other| *other == encoding.operands[index])
                && !encoding.operands[index].is_empty()
            {
                operands.push(match &operands[same] {
                    Operand::Table(table, code) => {
                        let again = self.again(table);
                        let first = layout.pieces(&encoding.operands[index])[0].0.token;
                        tokens[first as usize].push(again.clone());
                        Operand::Table(again, code.clone())
                    }
                    other => other.clone(),
                });
                continue;
            }
            let all = layout.pieces(&encoding.operands[index]);
            if let Some((code, name, place)) = &chosen[index] {
                for (bits, low) in &all {
                    let value = code >> low & (u64::MAX >> (63 - (bits.high - bits.low)));
                    self.fields.insert(*bits);
                    tokens[bits.token as usize].push(format!("{bits}={value:#x}"));
                }
                operands.push(Operand::Spread(name.clone(), place.clone(), *code));
                continue;
            }
            match &field.domain {
                Domain::Number(numeric) => {
                    let Some((first, last, table)) = self.number(instruction, index, *numeric, &all) else {
                        return self.missing.push(apart(instruction, field));
                    };
                    tokens[first].push(table.clone());
                    covered.extend(first + 1..=last);
                    operands.push(match is_code(isa, *numeric) {
                        true => Operand::Address(table),
                        false => Operand::Number(table),
                    });
                }
                _ => {
                    let token = all[0].0.token;
                    if all.iter().any(|(bits, _)| bits.token != token) {
                        return self.missing.push(apart(instruction, field));
                    }
                    let table = self.table(field, &all);
                    let code = uses_code(instruction, index).then(|| self.code(field, &all));
                    tokens[token as usize].push(table.clone());
                    tokens[token as usize].extend(code.clone());
                    operands.push(Operand::Table(table, code));
                }
            }
        }
        self.exclude(instruction, layout, &mut tokens);
        let mut pattern = Vec::new();
        for (token, mut list) in (0..).zip(tokens).filter(|(token, _)| !covered.contains(&(*token as usize))) {
            if list.is_empty() {
                let bits = layout.token(token);
                self.fields.insert(bits);
                list.push(bits.to_string());
            }
            list.sort();
            list.dedup();
            pattern.push(list.join(" & "));
        }
        let display = display(instruction, &operands);
        let statements = pcode::statements(isa, instruction, &operands);
        let pattern = pattern.join("; ");
        let _ = writeln!(self.rules, ":{display} is {pattern}\n{{\n{statements}}}\n");
    }

    /// Excludes encodings that are not this instruction, if one run of bits tells them apart.
    fn exclude(&mut self, instruction: &Instruction, layout: Layout, tokens: &mut [Vec<String>]) {
        for cube in &instruction.encoding.excluded {
            let mask = cube.mask & !instruction.encoding.fixed.mask;
            let found: Vec<(Bits, u64)> =
                (0..tokens.len() as u32).flat_map(|token| layout.runs(mask, cube.value & mask, token)).collect();
            if let [(bits, value)] = found[..] {
                self.fields.insert(bits);
                tokens[bits.token as usize].push(format!("{bits}!={value:#x}"));
            }
        }
    }

    /// Returns the table of a number, and its first and last token, if its bits share no token with others or are all
    /// in one. An address of code exports the place that it names, so that jumps are seen to go there.
    fn number(
        &mut self,
        instruction: &Instruction,
        index: usize,
        numeric: Numeric,
        all: &[(Bits, u32)],
    ) -> Option<(usize, usize, String)> {
        let isa = self.isa;
        let field = isa.field(instruction.operands[index]);
        let first = all.iter().map(|(bits, _)| bits.token).min()?;
        let last = all.iter().map(|(bits, _)| bits.token).max()?;
        if !self.layout.holds(&instruction.encoding.operands[index]) && !all[0].0.whole {
            return None;
        }
        let place = all.iter().map(|(bits, _)| match bits.whole {
            true => format!("w{}_{}", bits.size, bits.low),
            false => format!("{}_{}", bits.token, bits.low),
        });
        let place: Vec<String> = place.collect();
        let mut pattern = vec![Vec::new(); (last - first) as usize + 1];
        let mut terms = Vec::new();
        for (bits, low) in all {
            let is_top = low + bits.high - bits.low + 1 == field.width.bits();
            let bits = Bits { signed: numeric.signed && is_top, ..*bits };
            self.fields.insert(bits);
            pattern[(bits.token - first) as usize].push(bits.to_string());
            terms.push(if *low == 0 { bits.to_string() } else { format!("({bits} << {low})") });
        }
        let pattern: Vec<String> = pattern.iter().map(|list| list.join(" & ")).collect();
        let pattern = pattern.join("; ");
        let value = self.value(field, numeric, &terms.join(" | "));
        let export = match is_code(isa, numeric) {
            true => format!("*[{}]:{}", name(&isa.code_memory().name), size(isa.pc.width)),
            false => format!("*[const]:{}", size(field.value_width(isa.pc.width))),
        };
        // A field by itself is its own number; SLEIGH's compiler fails on an assignment of nothing else.
        let rule = match value == pattern {
            true => format!("{value} is {pattern} {{ export {export} {value}; }}"),
            false => format!("number is {pattern} [ number = {value}; ] {{ export {export} number; }}"),
        };
        let name = self.add_table(&format!("{}_{}", field.name, place.join("_")), vec![rule]);
        Some((first as usize, last as usize, name))
    }

    /// Returns the expression for a number with these bits.
    fn value(&self, field: &Field, numeric: Numeric, bits: &str) -> String {
        let origin = |base| match base {
            Base::Pc => "inst_start".to_owned(),
            Base::Next => "inst_next".to_owned(),
            Base::Ahead(cells) => format!("(inst_start + {cells})"),
            Base::Address(address) => format!("{address:#x}"),
        };
        let all = self.isa.pc.width.mask();
        match numeric.target {
            None | Some(Target::Absolute(_)) => bits.to_owned(),
            Some(Target::Relative { back: false, from, .. }) => format!("({} + ({bits})) & {all:#x}", origin(from)),
            Some(Target::Relative { back: true, from, .. }) => format!("({} - ({bits})) & {all:#x}", origin(from)),
            Some(Target::Within(from)) => {
                let page = all & !field.width.mask();
                format!("({} & {page:#x}) | {bits}", origin(from))
            }
        }
    }

    /// Adds the table of a register operand at these bits; returns its name.
    fn table(&mut self, field: &Field, all: &[(Bits, u32)]) -> String {
        self.fields.extend(all.iter().map(|(bits, _)| *bits));
        let matches = |code: u64| {
            let piece = |(bits, low): &(Bits, u32)| {
                format!("{bits}={:#x}", code >> low & (u64::MAX >> (63 - (bits.high - bits.low))))
            };
            all.iter().map(piece).collect::<Vec<_>>().join(" & ")
        };
        let registers = entries(field).into_iter().map(|(code, shown, place)| {
            format!("\"{shown}\" is {} {{ {} }}", matches(code), pcode::exported(self.isa, &place))
        });
        let mut rules: Vec<String> = registers.collect();
        if let Domain::Names(list) = &field.domain {
            let bytes = size(field.width);
            let rule = |(shown, code): &(String, u64)| {
                format!("\"{shown}\" is {} {{ export {code:#x}:{bytes}; }}", matches(*code))
            };
            rules.extend(list.iter().map(rule));
        }
        if let Domain::Values(values) = &field.domain {
            let bytes = size(field.width);
            let rule = |(code, number): (u64, i128)| {
                format!("\"{number}\" is {} {{ export {code:#x}:{bytes}; }}", matches(code))
            };
            rules.extend(values.numbers().map(rule));
        }
        self.add_table(&format!("{}_{}", field.name, place(all)), rules)
    }

    /// Adds the table of an operand's own bits; returns its name. The same field twice in a pattern would be an error.
    fn code(&mut self, field: &Field, all: &[(Bits, u32)]) -> String {
        let pattern: Vec<String> = all.iter().map(|(bits, _)| bits.to_string()).collect();
        let terms: Vec<String> = all.iter().map(|(bits, low)| format!("({bits} << {low})")).collect();
        let export = format!("export *[const]:{}", size(field.width));
        let rule = match all {
            [(bits, 0)] => format!("{bits} is {bits} {{ {export} {bits}; }}"),
            _ => {
                format!("number is {} [ number = {}; ] {{ {export} number; }}", pattern.join(" & "), terms.join(" | "))
            }
        };
        self.add_table(&format!("{}_code_{}", field.name, place(all)), vec![rule])
    }

    /// Adds a table once more, for an operand that is written twice: SLEIGH takes each name once.
    fn again(&mut self, table: &str) -> String {
        let rules = self.tables.iter().find(|(name, _)| name == table).map(|(_, rules)| rules.clone());
        self.add_table(&format!("{table}_again"), rules.unwrap_or_default())
    }

    /// Adds a table, unless it is there; returns its name. Fields that prefixes change share their names with others.
    fn add_table(&mut self, name: &str, rules: Vec<String>) -> String {
        let names = std::iter::once(name.to_owned()).chain((2..).map(|number| format!("{name}_or_{number}")));
        for name in names {
            match self.tables.iter().find(|(known, _)| *known == name) {
                Some((_, known)) if *known == rules => return name,
                Some(_) => {}
                None => {
                    self.tables.push((name.clone(), rules));
                    return name;
                }
            }
        }
        unreachable!("there is always another number")
    }
}

/// Whether a number names an address of code.
fn is_code(isa: &Isa, numeric: Numeric) -> bool {
    match numeric.target {
        None => false,
        Some(Target::Absolute(memory)) => memory == isa.pc.memory,
        Some(_) => true,
    }
}

/// Returns bits as a part of a name.
fn place(all: &[(Bits, u32)]) -> String {
    all.iter().map(|(bits, _)| bits.to_string()).collect::<Vec<_>>().join("_")
}

fn apart(instruction: &Instruction, field: &Field) -> String {
    format!("`{}`: the bits of `{}` are apart", instruction.syntax.mnemonic(), field.name)
}

/// Returns where a register is kept.
fn offset(index: usize) -> usize {
    0x10 + index * 8
}

fn is_big(isa: &Isa) -> bool {
    isa.code_memory().order == Order::Big || isa.code_memory().cell.bits() > 8
}

/// Returns the registers of a field with their codes and names.
fn entries(field: &Field) -> Vec<(u64, String, Place)> {
    let Domain::Registers(list) = &field.domain else { return Vec::new() };
    let entry = |(entry, code): (&Option<(String, Place)>, u64)| entry.clone().map(|(name, place)| (code, name, place));
    list.iter().zip(0..).filter_map(entry).collect()
}

/// Whether every register of a field is a whole register, so that its table can export it for writing.
fn is_plain(isa: &Isa, field: &Field) -> bool {
    entries(field).iter().all(|(_, _, place)| match &place.parts[..] {
        [part] => isa.whole_register(place).is_some() || (isa.register(part.register).constant && part.low == 0),
        _ => false,
    })
}

/// Whether a meaning asks for the code of an operand.
fn uses_code(instruction: &Instruction, index: usize) -> bool {
    let code = ExprKind::Code(OperandId(index as u8));
    let mut found = false;
    for statement in &instruction.body.block {
        statement.visit(&mut |inner| {
            inner.expressions().for_each(|expr| expr.visit(&mut |part| found |= part.kind == code));
        });
    }
    found
}

/// Whether the chosen registers alone make this another encoding.
fn is_excluded(instruction: &Instruction, chosen: &[Option<(u64, String, Place)>]) -> bool {
    let encoding = &instruction.encoding;
    let codes: Vec<u64> = chosen.iter().map(|entry| entry.as_ref().map_or(0, |(code, ..)| *code)).collect();
    let known = chosen.iter().zip(&encoding.operands).filter(|(entry, _)| entry.is_some());
    let known = known.fold(encoding.fixed.mask, |mask, (_, segments)| mask | scatter(segments, u64::MAX));
    let window = encoding.encode(&codes);
    encoding.excluded.iter().any(|cube| cube.mask & !known == 0 && cube.contains(window))
}

/// Returns how an instruction is shown.
fn display(instruction: &Instruction, operands: &[Operand]) -> String {
    let shown = |index: usize| match &operands[index] {
        Operand::Table(name, _) | Operand::Number(name) | Operand::Address(name) => name.clone(),
        Operand::Spread(name, ..) => format!("\"{name}\""),
    };
    let mut text = match &instruction.syntax.heads[0] {
        Head::Word(word) => quoted(word),
        Head::Glued { prefix, suffix, .. } => {
            let suffix = if suffix.is_empty() { String::new() } else { format!("^\"{suffix}\"") };
            format!("{}^{}{suffix}", quoted(prefix), shown(0))
        }
        // Alone, the name would be the mnemonic.
        Head::Named(_) => format!("^{}", shown(0)),
    };
    for (at, piece) in instruction.syntax.pieces.iter().enumerate() {
        text.push_str(if piece.space || at == 0 { " " } else { "^" });
        match &piece.kind {
            PieceKind::Text(mark) => text.push_str(&format!("\"{mark}\"")),
            PieceKind::Sign => text.push_str("\"+\""),
            PieceKind::Operand(index) => text.push_str(&shown(*index)),
        }
    }
    text
}

/// Quotes a mnemonic unless it is a plain word.
fn quoted(word: &str) -> String {
    let is_plain = word.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    if is_plain && !RESERVED.contains(&word) { word.to_owned() } else { format!("\"{word}\"") }
}

fn definitions_of_languages(isa: &Isa) -> String {
    let name = &isa.name;
    let (endian, short) = if is_big(isa) { ("big", "BE") } else { ("little", "LE") };
    let bits = size(isa.pc.width) * 8;
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\n<language_definitions>\n  <language processor=\"{name}\" \
         endian=\"{endian}\" size=\"{bits}\" variant=\"default\" version=\"1.0\" slafile=\"{name}.sla\" \
         processorspec=\"{name}.pspec\" id=\"{name}:{short}:{bits}:default\">\n    \
         <description>{}</description>\n    <compiler name=\"default\" spec=\"{name}.cspec\" id=\"default\"/>\n  \
         </language>\n</language_definitions>\n",
        escaped(&isa.title)
    )
}

fn processor(isa: &Isa) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\n<processor_spec>\n  <programcounter register=\"{}\"/>\n</processor_spec>\n",
        name(&isa.pc.name)
    )
}

fn compiler(isa: &Isa) -> String {
    let memory = name(&isa.code_memory().name);
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\n<compiler_spec>\n  <global>\n    <range space=\"{memory}\"/>\n  \
         </global>\n  <default_proto>\n    <prototype name=\"default\" extrapop=\"unknown\" stackshift=\"0\">\n      \
         <input/>\n      <output/>\n    </prototype>\n  </default_proto>\n</compiler_spec>\n"
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
