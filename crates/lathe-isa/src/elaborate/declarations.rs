//! Memories, registers, views, devices, traps, functions, families, maps.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use lathe_base::{Diagnostic, Diagnostics, Span, Width, limits};

use super::constants::{constant_in, declared, is_broken, plural, width, width_with};
use super::fetches;
use super::homes;
use super::meaning::{self, Around, Setting};
use super::names::Names;
use super::{CodedFamily, Declarations};
use crate::codes;
use crate::encoding::EFFORT;
use crate::language::ast::{self, DeclaredRegisters, ExprKind, Item, Name, NameRange, Order, RegisterKind};
use crate::language::parser::is_type;
use crate::model::*;
use crate::names::Named;
use crate::reset;
use crate::semantics::{Body, Statement};
use crate::values::Asked;
use crate::written::Written;

impl<'a> Declarations<'a> {
    /// Declares everything that has a name. Views and fields come after the registers they are made of, wherever they
    /// stand in the text.
    pub(crate) fn declare(
        written: &'a Written,
        asked: Option<Rc<Asked>>,
        diagnostics: &mut Diagnostics,
    ) -> Declarations<'a> {
        let definition = &written.tree;
        let mut declarations = Declarations {
            texts: written.sources.iter().map(|source| source.text.as_str()).collect(),
            names: Names::without(&definition.broken, asked),
            rows_lost: Cell::new(definition.rows_lost),
            effort: Cell::new(EFFORT),
            nodes: Cell::new(0),
            memories: Cow::default(),
            pc: None,
            registers: Cow::default(),
            views: Cow::default(),
            fields: Cow::default(),
            devices: Cow::default(),
            traps: Cow::default(),
            functions: Vec::new(),
            families: Vec::new(),
            operands: Vec::new(),
            counters: BTreeMap::new(),
            from_here: BTreeSet::new(),
            fields_for_rows: BTreeMap::new(),
            made_fields: None,
            sequences: BTreeMap::new(),
        };
        for item in &definition.items {
            if let Item::Width(letter) = item {
                declarations.width_letter(letter, diagnostics);
            }
        }
        for item in &definition.items {
            match item {
                Item::Memory(memory) => declarations.memory(memory, diagnostics),
                Item::Registers(registers) => declarations.registers(registers, diagnostics),
                Item::Device(device) => declarations.device(device, diagnostics),
                Item::Traps(traps) => declarations.traps(&traps.names, diagnostics),
                Item::Function(function) => declarations.function(function, diagnostics),
                _ => {}
            }
        }
        for item in &definition.items {
            match item {
                Item::Pc(pc) => declarations.pc(pc, diagnostics),
                Item::View(view) => declarations.view(view, diagnostics),
                _ => {}
            }
        }
        for item in &definition.items {
            match item {
                Item::Fields(fields) => declarations.fields(fields, diagnostics),
                Item::Family(family) => declarations.family(family, diagnostics),
                _ => {}
            }
        }
        declarations.modes(definition, diagnostics);
        declarations.prefixes(definition, diagnostics);
        declarations
    }

    fn memory(&mut self, memory: &ast::Memory, diagnostics: &mut Diagnostics) {
        let address = width(&memory.address, &self.names, diagnostics);
        let cell = width(&memory.cell, &self.names, diagnostics);
        let (Some(address), Some(cell)) = (address, cell) else { return self.names.mark_broken(&memory.name.text) };
        if self.memories.len() >= limits::MEMORIES {
            self.names.mark_broken(&memory.name.text);
            let message = format!("a machine has at most {} memories", limits::MEMORIES);
            let help = "use one memory with more address bits";
            diagnostics.push(Diagnostic::new(codes::TOO_MANY, memory.name.span, message).help(help));
            return;
        }
        let id = MemoryId(self.memories.len() as u32);
        if self.names.declare(&memory.name, Named::Memory(id), diagnostics) {
            let order = memory.order.unwrap_or(Order::Big);
            self.memories.to_mut().push(Memory {
                name: memory.name.text.clone(),
                address,
                cell,
                order,
                documentation: memory.documentation.clone(),
                span: memory.name.span,
            });
        }
    }

    fn pc(&mut self, pc: &ast::Pc, diagnostics: &mut Diagnostics) {
        let width = width(&pc.ty, &self.names, diagnostics);
        let memory = self.memory_of(&pc.memory, diagnostics);
        let (Some(width), Some(memory)) = (width, memory) else { return self.names.mark_broken(&pc.name.text) };
        let address = self.memories[memory.index()].address;
        if address != width {
            let message = format!(
                "`{}` has {} bits, but addresses in `{}` have {}",
                pc.name.text,
                width.bits(),
                pc.memory.text,
                address.bits()
            );
            let help = format!("write `pc {} : {address} in {}`", pc.name.text, pc.memory.text);
            let diagnostic = Diagnostic::new(codes::WIDTH_MISMATCH, pc.ty.span, message).help(help);
            diagnostics.push(diagnostic.fix(pc.ty.span, address.to_string()));
        }
        if let Some(first) = &self.pc {
            let message = format!("a second program counter; `{}` is one already", first.name);
            diagnostics.push(
                Diagnostic::new(codes::DECLARED_TWICE, pc.name.span, message)
                    .help("a machine has one program counter; remove this one"),
            );
        } else if self.names.declare(&pc.name, Named::Pc, diagnostics) {
            let reset = pc.reset.as_ref().and_then(|reset| constant_in(address, reset, &self.names, diagnostics));
            self.pc = Some(Pc {
                name: pc.name.text.clone(),
                width: address,
                memory,
                reset: reset.unwrap_or(0),
                documentation: pc.documentation.clone(),
                span: pc.name.span,
            });
        }
    }

    pub(crate) fn memory_of(&self, name: &Name, diagnostics: &mut Diagnostics) -> Option<MemoryId> {
        match self.names.find(&name.text, name.span) {
            Some(Named::Memory(id)) => Some(id),
            _ => {
                let is_memory = |named| matches!(named, Named::Memory(_));
                let declare = format!("declare it with `memory {} : u16 -> u8`", name.text);
                self.names.report_wrong(name, "memory", is_memory, declare, diagnostics);
                None
            }
        }
    }

    fn registers(&mut self, registers: &ast::Registers, diagnostics: &mut Diagnostics) {
        let Some(width) = width(&registers.ty, &self.names, diagnostics) else {
            let names = registers.names.iter().take(limits::LIST).flat_map(|names| spread(&names.range, diagnostics));
            return names.for_each(|name| self.names.mark_broken(&name.text));
        };
        for DeclaredRegisters { range, reset, .. } in &registers.names {
            if self.names.is_full() && diagnostics.has_errors() {
                return;
            }
            let reset = match reset {
                Some(expr) => constant_in(width, expr, &self.names, diagnostics).unwrap_or(0),
                None => 0,
            };
            if is_type(&range.first.text) {
                self.types_as_names(range, diagnostics);
                continue;
            }
            for name in spread(range, diagnostics) {
                let id = RegisterId(self.registers.len() as u32);
                if self.names.declare(&name, Named::Register(id), diagnostics) {
                    let (name, span) = (name.text, name.span);
                    let is_mode = registers.kind == RegisterKind::Mode;
                    let mode = if is_mode { self.mode_bits(width, span, diagnostics) } else { None };
                    self.registers.to_mut().push(Register {
                        name,
                        width,
                        reset,
                        constant: registers.kind == RegisterKind::Constant,
                        mode,
                        documentation: registers.documentation.clone(),
                        span,
                    });
                }
            }
        }
    }

    /// Returns where the next mode has its bits in the window of an encoding: above those of the modes before it, at
    /// the end that cells reach last.
    fn mode_bits(&self, width: Width, span: Span, diagnostics: &mut Diagnostics) -> Option<u32> {
        let modes = self.registers.iter().filter_map(|register| Some(register.mode? + register.width.bits()));
        let first = modes.max().unwrap_or(0);
        if first + width.bits() > limits::MODE_BITS {
            let message = format!("the modes of a machine have at most {} bits together", limits::MODE_BITS);
            let help = "make what does not decide about encodings a `register`";
            diagnostics.push(Diagnostic::new(codes::TOO_MANY, span, message).help(help));
            return None;
        }
        Some(first)
    }

    /// Reports registers named like types, once per range.
    fn types_as_names(&self, range: &NameRange, diagnostics: &mut Diagnostics) {
        let name = &range.first;
        let last = range.last.as_ref().map_or(name.span, |last| last.span);
        let message = format!("`{}` is a type, as in `register a : u8`, and cannot be a name", name.text);
        let help = format!("choose another name, such as `{}`", name.text.replacen(['s', 'u'], "r", 1));
        diagnostics.push(Diagnostic::new(codes::DECLARED_TWICE, name.span.to(last), message).help(help));
        spread(range, &mut Diagnostics::default()).iter().for_each(|name| self.names.mark_broken(&name.text));
    }

    fn view(&mut self, view: &ast::View, diagnostics: &mut Diagnostics) {
        let mut parts = Vec::new();
        if self.view_parts(&view.value, &mut parts, diagnostics).is_none() {
            return self.names.mark_broken(&view.name.text);
        }
        let repeated = |(at, part): (usize, &Part)| parts[..at].iter().any(|other| other.register == part.register);
        if view.clearing && parts.iter().enumerate().any(repeated) {
            let message = "a view that has a register twice cannot be `clearing`";
            let help = "what one part writes, the other would clear; remove `clearing`";
            diagnostics.push(Diagnostic::new(codes::WRONG_KIND, view.value.span, message).help(help));
            return self.names.mark_broken(&view.name.text);
        }
        let bits: u64 = parts.iter().map(|part| u64::from(part.width.bits())).sum();
        let Some(width) = Width::new(bits) else {
            let message = format!("a view of {bits} bits is too wide");
            let help = "a view has at most 64 bits; inside a meaning, registers joined with `++` may have 128";
            diagnostics.push(Diagnostic::new(codes::BAD_WIDTH, view.value.span, message).help(help));
            return self.names.mark_broken(&view.name.text);
        };
        if self.names.declare(&view.name, Named::View(self.views.len()), diagnostics) {
            let place = Place { parts, width, clearing: view.clearing };
            self.views.to_mut().push(View {
                name: view.name.text.clone(),
                place,
                documentation: view.documentation.clone(),
                span: view.name.span,
            });
        }
    }

    /// Collects the slices of registers that a view is made of.
    fn view_parts(&self, expr: &ast::Expr, parts: &mut Vec<Part>, diagnostics: &mut Diagnostics) -> Option<()> {
        let not_a_view = |diagnostics: &mut Diagnostics| {
            let message = "a view can only join registers and bits of registers";
            let help = "as in `view r1l = r1[7:0]` or `view bc = b ++ c`";
            diagnostics.push(Diagnostic::new(codes::WRONG_KIND, expr.span, message).help(help));
        };
        match &expr.kind {
            ExprKind::Binary(ast::Binary::Join, high, low) => {
                self.view_parts(high, parts, diagnostics)?;
                self.view_parts(low, parts, diagnostics)
            }
            ExprKind::Name(text) => {
                let name = Name { text: text.clone(), span: expr.span };
                let id = self.register_of(&name, diagnostics)?;
                parts.push(Part { register: id, low: 0, width: self.registers[id.index()].width });
                Some(())
            }
            ExprKind::Slice(..) | ExprKind::Index(..) => {
                let (inner, high, low) = match &expr.kind {
                    ExprKind::Slice(inner, high, low) => (inner, high, low),
                    ExprKind::Index(inner, bit) => (inner, bit, bit),
                    _ => return None,
                };
                let ExprKind::Name(text) = &inner.kind else {
                    not_a_view(diagnostics);
                    return None;
                };
                let id = self.register_of(&Name { text: text.clone(), span: inner.span }, diagnostics)?;
                let high = constant_in(Width::MAX, high, &self.names, diagnostics)?;
                let low = constant_in(Width::MAX, low, &self.names, diagnostics)?;
                let (low, width) = slice_of(self.registers[id.index()].width, high, low, expr.span, diagnostics)?;
                parts.push(Part { register: id, low, width });
                Some(())
            }
            _ => {
                not_a_view(diagnostics);
                None
            }
        }
    }

    fn register_of(&self, name: &Name, diagnostics: &mut Diagnostics) -> Option<RegisterId> {
        match self.names.find(&name.text, name.span) {
            Some(Named::Register(id)) => Some(id),
            _ => {
                let is_register = |named| matches!(named, Named::Register(_));
                let declare = format!("declare it with `register {} : u8`", name.text);
                self.names.report_wrong(name, "register", is_register, declare, diagnostics);
                None
            }
        }
    }

    fn device(&mut self, device: &ast::Device, diagnostics: &mut Diagnostics) {
        let Some(kind) = self.device_kind(device, diagnostics) else {
            return self.names.mark_broken(&device.name.text);
        };
        let id = DeviceId(self.devices.len() as u32);
        if self.names.declare(&device.name, Named::Device(id), diagnostics) {
            self.devices.to_mut().push(Device {
                name: device.name.text.clone(),
                kind,
                documentation: device.documentation.clone(),
                span: device.name.span,
            });
        }
    }

    fn device_kind(&self, device: &ast::Device, diagnostics: &mut Diagnostics) -> Option<DeviceKind> {
        let mut size = |expr: &ast::Expr, most: u64| {
            let value = constant_in(Width::MAX, expr, &self.names, diagnostics)?;
            if (1..=most).contains(&value) {
                return Some(value as u32);
            }
            let message = format!("a `{}` cannot have {value} here", device.word.text);
            let help = format!("1 to {most} are possible");
            diagnostics.push(Diagnostic::new(codes::DOES_NOT_FIT, expr.span, message).help(help));
            None
        };
        match &device.kind {
            ast::DeviceKind::Stream => Some(DeviceKind::Stream),
            ast::DeviceKind::Bus(address, value) => {
                let (address, value) =
                    (width(address, &self.names, diagnostics), width(value, &self.names, diagnostics));
                Some(DeviceKind::Bus { address: address?, value: value? })
            }
            ast::DeviceKind::Display(across, down) => {
                let (across, down) = (size(across, limits::DISPLAY), size(down, limits::DISPLAY));
                Some(DeviceKind::Display { width: across?, height: down? })
            }
            ast::DeviceKind::Keypad(keys) => Some(DeviceKind::Keypad { keys: size(keys, limits::KEYS)? }),
            ast::DeviceKind::Timer(ty, every) => {
                let every = size(every, u64::from(u32::MAX));
                Some(DeviceKind::Timer { width: width(ty, &self.names, diagnostics)?, every: every? })
            }
            ast::DeviceKind::Random(ty) => Some(DeviceKind::Random { width: width(ty, &self.names, diagnostics)? }),
            ast::DeviceKind::Counter => Some(DeviceKind::Counter),
            ast::DeviceKind::Unknown => {
                let message = format!("there is no kind of device called `{}`", device.word.text);
                let help = "the kinds are `stream`, `bus u8 -> u8`, `display 64 by 32`, `keypad 16`, \
                            `timer u8 every 10`, `random u8` and `counter`";
                diagnostics.push(Diagnostic::new(codes::UNKNOWN_DEVICE, device.word.span, message).help(help));
                None
            }
        }
    }

    fn width_letter(&mut self, letter: &ast::WidthLetter, diagnostics: &mut Diagnostics) {
        let ast::WidthLetter { name, bits, .. } = letter;
        if !is_type(&format!("u{}", name.text)) || name.text.parse::<u64>().is_ok() {
            self.names.mark_broken(&name.text);
            let message = format!("`{}` is not a letter for a width", name.text);
            let help = "write one capital letter, as in `width X = 32`";
            diagnostics.push(Diagnostic::new(codes::WRONG_KIND, name.span, message).help(help));
            return;
        }
        if is_broken(bits, &self.names) {
            return self.names.mark_broken(&name.text);
        }
        let ty = ast::Type { signed: false, width: Box::new(bits.clone()), span: bits.span };
        match width_with(&ty, Width::MAX, &|name, span| declared(&self.names, name, span), diagnostics) {
            Some(width) => drop(self.names.declare(name, Named::Width(width), diagnostics)),
            None => self.names.mark_broken(&name.text),
        }
    }

    fn traps(&mut self, traps: &[(Name, ast::Expr)], diagnostics: &mut Diagnostics) {
        for (name, value) in traps {
            let Some(value) = constant_in(Width::MAX, value, &self.names, diagnostics) else {
                self.names.mark_broken(&name.text);
                continue;
            };
            if self.names.declare(name, Named::Trap(value), diagnostics) {
                self.traps.to_mut().push((name.text.clone(), value));
            }
        }
    }

    fn function(&mut self, function: &'a ast::Function, diagnostics: &mut Diagnostics) {
        if self.names.declare(&function.name, Named::Function(self.functions.len()), diagnostics) {
            self.functions.push(function);
        }
    }

    fn family(&mut self, family: &'a ast::Family, diagnostics: &mut Diagnostics) {
        let Some(width) = width(&family.ty, &self.names, diagnostics) else {
            return self.names.mark_broken(&family.name.text);
        };
        if family.members.len() > limits::LIST {
            let message = format!("a family has at most {} members", limits::LIST);
            diagnostics.push(Diagnostic::new(codes::TOO_MANY, family.name.span, message).help("make two families"));
            return self.names.mark_broken(&family.name.text);
        }
        let mut codes: Vec<u64> = Vec::new();
        for member in &family.members {
            let last = codes.last().copied();
            let follows = last.map_or(0, |last| last.wrapping_add(1));
            let code = match &member.code {
                Some(expr) => constant_in(width, expr, &self.names, diagnostics).unwrap_or(follows),
                None => follows,
            };
            if !width.holds(code) || (member.code.is_none() && last == Some(u64::MAX)) {
                let message = format!(
                    "`{}` has the code {code}, which does not fit in {} {}",
                    member.name.text,
                    width.bits(),
                    plural(width.bits(), "bit")
                );
                let help = format!("a family of `{width}` has at most {} members", 1u64 << width.bits().min(63));
                diagnostics.push(Diagnostic::new(codes::DOES_NOT_FIT, member.name.span, message).help(help));
            } else if let Some(at) = codes.iter().position(|known| *known == code) {
                let other = &family.members[at].name;
                let message = format!("`{}` and `{}` have the same code {code}", other.text, member.name.text);
                let diagnostic = Diagnostic::new(codes::DECLARED_TWICE, member.name.span, message);
                diagnostics.push(diagnostic.also(other.span, "the other one").help("give one of them another code"));
            }
            codes.push(code);
        }
        if self.names.declare(&family.name, Named::Family(self.families.len()), diagnostics) {
            self.families.push(CodedFamily { tree: family, width, codes });
        }
    }
}

/// Expands a range of names: `r0..r3` is r0, r1, r2, r3; `r3..r0` is the reverse; `r08..r10` is r08, r09, r10.
pub(crate) fn spread(range: &NameRange, diagnostics: &mut Diagnostics) -> Vec<Name> {
    let Some(last) = &range.last else { return vec![range.first.clone()] };
    let span = range.first.span.to(last.span);
    let mut report = |code, message: String| {
        let help = "write a range as in `r0..r15`";
        diagnostics.push(Diagnostic::new(code, span, message).help(help));
        Vec::new()
    };
    let (Some((stem, from)), Some((other, to))) = (numbered(&range.first.text), numbered(&last.text)) else {
        return report(codes::BAD_RANGE, "names in a range must end in a number".into());
    };
    if stem != other {
        return report(
            codes::BAD_RANGE,
            format!("a range must keep one name, but this goes from `{stem}…` to `{other}…`"),
        );
    }
    if from.abs_diff(to) as usize >= limits::LIST {
        return report(codes::TOO_MANY, format!("a range has at most {} names", limits::LIST));
    }
    let digits = if range.first.text.len() == last.text.len() { last.text.len() - stem.len() } else { 1 };
    let name = |number: u32| Name { text: format!("{stem}{number:0digits$}"), span };
    if from <= to { (from..=to).map(name).collect() } else { (to..=from).rev().map(name).collect() }
}

/// Splits a name into its stem and the number at its end.
fn numbered(name: &str) -> Option<(&str, u32)> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    name[stem.len()..].parse().ok().map(|number| (stem, number))
}

/// Returns the lowest bit and the width of `[high:low]` of a value, or reports that the value has no such bits.
pub(crate) fn slice_of(
    width: Width,
    high: u64,
    low: u64,
    span: Span,
    diagnostics: &mut Diagnostics,
) -> Option<(u32, Width)> {
    if high >= low && high < u64::from(width.bits()) {
        return Width::computed(high - low + 1).map(|width| (low as u32, width));
    }
    let (message, help) = if high < low {
        let message = format!("bits {high} to {low} are the wrong way round");
        (message, format!("the higher bit comes first: `[{low}:{high}]`"))
    } else {
        let message = format!("there is no bit {high}: the value has {} {}", width.bits(), plural(width.bits(), "bit"));
        (message, format!("its bits are numbered {} to 0", width.bits() - 1))
    };
    diagnostics.push(Diagnostic::new(codes::SLICE_OUTSIDE, span, message).help(help));
    None
}

/// Elaborates the mapped addresses, in order.
pub(crate) fn maps(
    declarations: &Declarations,
    definition: &ast::Definition,
    diagnostics: &mut Diagnostics,
) -> Vec<Mapping> {
    let mut maps: Vec<(Mapping, Span)> = Vec::new();
    for item in &definition.items {
        let Item::Map(map) = item else { continue };
        let Some(memory) = declarations.memory_of(&map.memory, diagnostics) else { continue };
        for row in &map.rows {
            if maps.len() >= limits::ROWS {
                let message = format!("at most {} rows of mapped addresses", limits::ROWS);
                diagnostics.push(Diagnostic::new(codes::TOO_MANY, row.span, message).help("use ranges of addresses"));
                break;
            }
            let Some(mut mapping) = mapping(declarations, memory, row, diagnostics) else { continue };
            if map.code {
                mapping.code = fetches::fetch(declarations, &mapping, row, diagnostics);
            }
            maps.push((mapping, row.span));
        }
    }
    for (memory, row) in homes::rows(declarations, definition, diagnostics) {
        maps.extend(mapping(declarations, memory, &row, diagnostics).map(|mapping| (mapping, row.span)));
    }
    maps.sort_by_key(|(mapping, _)| (mapping.memory, mapping.first));
    for pair in maps.windows(2) {
        let ((one, first), (other, second)) = (&pair[0], &pair[1]);
        if one.memory == other.memory && other.first <= one.last {
            let message = format!("the address 0x{:X} is mapped twice", other.first);
            let diagnostic = Diagnostic::new(codes::DECLARED_TWICE, *second, message);
            diagnostics.push(diagnostic.also(*first, "the other row").help("make the two ranges disjoint"));
        }
    }
    maps.into_iter().map(|(mapping, _)| mapping).collect()
}

fn mapping(
    declarations: &Declarations,
    memory: MemoryId,
    row: &ast::MapRow,
    diagnostics: &mut Diagnostics,
) -> Option<Mapping> {
    let Memory { address, cell, .. } = declarations.memories[memory.index()];
    let first = constant_in(address, &row.first, &declarations.names, diagnostics)?;
    let last = match &row.last {
        Some(last) => constant_in(address, last, &declarations.names, diagnostics)?,
        None => first,
    };
    if last < first {
        let message = "this range of addresses is the wrong way round";
        diagnostics.push(Diagnostic::new(codes::BAD_RANGE, row.span, message).help("the lower address comes first"));
        return None;
    }
    let reading = Setting::reading(address);
    let zero = ast::Expr { kind: ExprKind::Number(0), span: row.span };
    let read = meaning::give(declarations, reading, row.read.as_ref().unwrap_or(&zero), cell, diagnostics)?;
    let writing = Setting::writing(address, cell);
    let nothing = ast::Block::default();
    let write = meaning::perform(declarations, writing, row.write.as_ref().unwrap_or(&nothing), diagnostics)?;
    Some(Mapping { memory, first, last, read, write, code: None, span: row.span })
}

/// Elaborates the contents of memories at reset.
pub(crate) fn contents(
    declarations: &Declarations,
    definition: &ast::Definition,
    diagnostics: &mut Diagnostics,
) -> Vec<Contents> {
    let mut all = Vec::new();
    let mut cells = 0;
    for item in &definition.items {
        let Item::Contents(tree) = item else { continue };
        let Some(id) = declarations.memory_of(&tree.memory, diagnostics) else { continue };
        let memory = &declarations.memories[id.index()];
        let Some(address) = constant_in(memory.address, &tree.address, &declarations.names, diagnostics) else {
            continue;
        };
        let values = tree.values.iter().map(|value| constant_in(memory.cell, value, &declarations.names, diagnostics));
        let values: Vec<u64> = values.flatten().collect();
        cells += values.len();
        if values.len() as u128 > memory.cells() - u128::from(address) {
            let message = format!("{} cells from 0x{address:X} on are more than `{}` has", values.len(), memory.name);
            let help = format!("its last address is 0x{:X}", memory.last());
            diagnostics.push(Diagnostic::new(codes::DOES_NOT_FIT, tree.address.span, message).help(help));
        } else if cells > limits::CONTENTS {
            let message = format!("a definition gives at most {} cells a value", limits::CONTENTS);
            let help = "load the rest as a program";
            diagnostics.push(Diagnostic::new(codes::TOO_MANY, tree.address.span, message).help(help));
        }
        all.push(Contents { memory: id, address, values, documentation: tree.documentation.clone() });
    }
    all
}

/// Elaborates what is done between two instructions.
pub(crate) fn on_step(
    declarations: &Declarations,
    definition: &ast::Definition,
    diagnostics: &mut Diagnostics,
) -> Option<Hook> {
    let hooks = definition.items.iter().filter_map(|item| match item {
        Item::OnStep(hook) => Some(hook),
        _ => None,
    });
    let tree = only(hooks, "on step", "write one with `if` and `else`", diagnostics)?;
    let always = ast::Expr { kind: ExprKind::Number(1), span: tree.span };
    let when = tree.when.as_ref().unwrap_or(&always);
    let condition = meaning::give(declarations, Setting::condition(), when, Width::BIT, diagnostics);
    let body = meaning::perform(declarations, Setting::hook(), &tree.body, diagnostics);
    let (condition, body) = (condition?, body?);
    let lets_only = condition.block.iter().all(|statement| matches!(statement, Statement::Let(..)));
    if !lets_only {
        let message = "this looks at more than registers, or changes something";
        let help = "compute the condition from registers; what reaches memory or devices belongs into the block";
        diagnostics.push(Diagnostic::new(codes::NOT_HERE, when.span, message).help(help));
        return None;
    }
    Some(Hook { when: condition, body })
}

/// Finds what is done around every instruction.
pub(crate) fn around(definition: &ast::Definition, diagnostics: &mut Diagnostics) -> Around {
    let mut block = |moment: ast::Moment| {
        let hooks = definition.items.iter().filter_map(|item| match item {
            Item::Each(other, hook) if *other == moment => Some(hook),
            _ => None,
        });
        let words = format!("{} each", moment.word());
        let hook = only(hooks, &words, "put everything into one of them", diagnostics)?;
        let body = hook.body.clone();
        Some(match &hook.when {
            None => body,
            Some(when) => ast::Block { statements: vec![ast::Statement::If(when.clone(), body, None)], value: None },
        })
    };
    Around { before: block(ast::Moment::Before), after: block(ast::Moment::After) }
}

/// Elaborates what is done before the first instruction.
pub(crate) fn on_reset(
    declarations: &Declarations,
    definition: &ast::Definition,
    diagnostics: &mut Diagnostics,
) -> Option<Body> {
    let hooks = definition.items.iter().filter_map(|item| match item {
        Item::OnReset(hook) => Some(hook),
        _ => None,
    });
    let hook = only(hooks, "on reset", "put everything into one of them", diagnostics)?;
    let body = meaning::perform(declarations, Setting::hook(), &hook.body, diagnostics)?;
    if let Some(what) = reset::beyond(&body.block) {
        let message = format!("`on reset` cannot {what}: the machine does not run yet");
        let help = "set registers and `pc`, from memory if need be; `data` gives cells a value";
        diagnostics.push(Diagnostic::new(codes::NOT_HERE, hook.span, message).help(help));
        return None;
    }
    Some(body)
}

/// Elaborates what an undefined encoding does.
pub(crate) fn on_illegal(
    declarations: &Declarations,
    definition: &ast::Definition,
    diagnostics: &mut Diagnostics,
) -> Option<Body> {
    let hooks = definition.items.iter().filter_map(|item| match item {
        Item::OnIllegal(hook) => Some(hook),
        _ => None,
    });
    let hook = only(hooks, "on illegal", "keep one of them", diagnostics)?;
    meaning::perform(declarations, Setting::hook(), &hook.body, diagnostics)
}

/// Returns the first of the blocks, and reports any others: there should be only one.
fn only<'h>(
    mut hooks: impl Iterator<Item = &'h ast::Hook>,
    words: &str,
    help: &str,
    diagnostics: &mut Diagnostics,
) -> Option<&'h ast::Hook> {
    let first = hooks.next()?;
    for other in hooks {
        let diagnostic = Diagnostic::new(codes::DECLARED_TWICE, other.span, format!("a second `{words}`"));
        diagnostics.push(diagnostic.also(first.span, "the first one").help(help));
    }
    Some(first)
}
