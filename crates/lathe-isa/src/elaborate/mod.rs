//! From the tree of a definition to its model: names, widths, encodings, meanings.
//!
//! Everything that can be reported is reported; a model comes out only if nothing was
//! wrong. The order is that of dependence: declarations, then the encodings of all rows
//! (a `skip` must know their lengths), then meanings.

mod constants;
mod declarations;
mod examples;
mod fields;
mod lints;
mod meaning;
mod names;
mod pictures;
mod pseudos;
mod rows;
mod source_line;
mod syntaxes;

use std::cell::Cell;

use lathe_base::{Diagnostic, Diagnostics, FileId, Span, Width};

use crate::codes;
use crate::decode::Decoder;
use crate::language::ast;
use crate::model::{Device, Field, Isa, Memory, Pc, Register, View};
use crate::semantics::Body;

use names::Names;

/// The model of a definition, if nothing is wrong with it.
pub(crate) fn elaborate(definition: &ast::Definition, text: &str, diagnostics: &mut Diagnostics) -> Option<Isa> {
    let world = World::declare(definition, text, diagnostics);
    let machine = definition.machine.as_ref();
    if machine.is_none() && !definition.broken.contains("machine") {
        missing(diagnostics, "no `machine` line", "begin with `machine name \"one line about it\"`");
    }
    let Some(pc) = world.pc.clone() else {
        let written = definition.items.iter().any(|item| matches!(item, ast::Item::Pc(_)));
        if !written && !definition.broken.contains("pc") {
            let help = match world.memories.first() {
                Some(memory) => format!("add a line such as `pc pc : {} in {}`", memory.address, memory.name),
                None => "add lines such as `memory ram : u16 -> u8` and `pc pc : u16 in ram`".to_owned(),
            };
            missing(diagnostics, "no program counter", &help);
        }
        return None;
    };
    let drafts = rows::drafts(&world, definition, diagnostics);
    let instructions = rows::instructions(&world, &drafts, diagnostics);
    if drafts.is_empty() && !diagnostics.has_errors() {
        let help = "add a block such as `instructions { nop | 0000 0000 | }`";
        missing(diagnostics, "no instructions", help);
    }
    let maps = declarations::maps(&world, definition, diagnostics);
    let on_illegal = declarations::on_illegal(&world, definition, diagnostics);
    let on_step = declarations::on_step(&world, definition, diagnostics);
    let contents = declarations::contents(&world, definition, diagnostics);
    rows::check_disjoint(&world, &instructions, diagnostics);
    rows::check_syntax(&world, &instructions, diagnostics);
    let pseudos = pseudos::pseudos(&world, definition, &instructions, diagnostics);
    let assembly = pseudos::assembly(&world, definition, diagnostics);
    let examples = examples::examples(&world, definition, &instructions, diagnostics);
    let mapped = maps.iter().flat_map(|map| [&map.read, &map.write]);
    let hooks = on_step.iter().flat_map(|hook| [&hook.when, &hook.body]);
    let others: Vec<&Body> = mapped.chain(hooks).chain(&on_illegal).collect();
    lints::lint(&world, &instructions, &others, diagnostics);
    if diagnostics.has_errors() {
        return None;
    }
    let decoder = Decoder::new(instructions.iter().map(|instruction| &instruction.encoding));
    let machine = machine?;
    let has_cycles = definition.items.iter().any(
        |item| matches!(item, ast::Item::Instructions(block) if block.rows.iter().any(|row| row.cycles.is_some())),
    );
    Some(Isa {
        name: machine.name.text.clone(),
        title: machine.title.clone(),
        documentation: machine.documentation.clone(),
        memories: world.memories,
        pc,
        registers: world.registers,
        views: world.views,
        fields: world.fields,
        devices: world.devices,
        maps,
        traps: world.traps,
        on_illegal,
        on_step,
        contents,
        instructions,
        has_cycles,
        pseudos,
        assembly,
        examples,
        decoder,
    })
}

fn missing(diagnostics: &mut Diagnostics, what: &str, help: &str) {
    let message = format!("this definition has {what}");
    diagnostics.push(Diagnostic::new(codes::MISSING_ITEM, Span::new(FileId(0), 0, 0), message).help(help));
}

/// Everything declared, before any row is looked at.
pub(crate) struct World<'a> {
    pub(crate) text: &'a str,
    pub(crate) names: Names,
    /// Whether a row could not be understood, so that its instruction is not missing.
    pub(crate) rows_lost: Cell<bool>,
    /// What is left of the effort to tell rows apart.
    pub(crate) effort: Cell<usize>,
    /// Statements and expressions of all meanings so far.
    pub(crate) nodes: Cell<usize>,
    pub(crate) memories: Vec<Memory>,
    pub(crate) pc: Option<Pc>,
    pub(crate) registers: Vec<Register>,
    pub(crate) views: Vec<View>,
    pub(crate) fields: Vec<Field>,
    pub(crate) devices: Vec<Device>,
    pub(crate) traps: Vec<(String, u64)>,
    pub(crate) functions: Vec<&'a ast::Function>,
    pub(crate) families: Vec<Family<'a>>,
}

/// A family with its codes worked out.
pub(crate) struct Family<'a> {
    pub(crate) tree: &'a ast::Family,
    pub(crate) width: Width,
    pub(crate) codes: Vec<u64>,
}

impl World<'_> {
    /// The width of a cell of the code memory.
    pub(crate) fn code_cell(&self) -> Width {
        self.pc.as_ref().map_or(Width::BIT, |pc| self.memories[pc.memory.index()].cell)
    }

    pub(crate) fn pc_width(&self) -> Width {
        self.pc.as_ref().map_or(Width::BIT, |pc| pc.width)
    }
}
