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
pub(crate) mod meaning;
mod names;
mod pictures;
mod pseudos;
mod rows;
mod source_line;
mod syntaxes;

use std::borrow::Cow;
use std::cell::Cell;

use lathe_base::{Diagnostic, Diagnostics, FileId, Span, Width};

use crate::codes;
use crate::decode::Decoder;
use crate::language::ast;
use crate::model::{Device, Field, Function, Isa, Memory, Pc, Register, View};
use crate::semantics::Body;

use names::Names;

/// The model of a definition, if nothing is wrong with it.
pub(crate) fn elaborate(definition: &ast::Definition, text: &str, diagnostics: &mut Diagnostics) -> Option<Isa> {
    let declarations = Declarations::declare(definition, text, diagnostics);
    let machine = definition.machine.as_ref();
    if machine.is_none() && !definition.broken.contains("machine") {
        missing(diagnostics, "no `machine` line", "begin with `machine name \"one line about it\"`");
    }
    let Some(pc) = declarations.pc.clone() else {
        let written = definition.items.iter().any(|item| matches!(item, ast::Item::Pc(_)));
        if !written && !definition.broken.contains("pc") {
            let help = match declarations.memories.first() {
                Some(memory) => format!("add a line such as `pc pc : {} in {}`", memory.address, memory.name),
                None => "add lines such as `memory ram : u16 -> u8` and `pc pc : u16 in ram`".to_owned(),
            };
            missing(diagnostics, "no program counter", &help);
        }
        return None;
    };
    let drafts = rows::drafts(&declarations, definition, diagnostics);
    let instructions = rows::instructions(&declarations, &drafts, diagnostics);
    if drafts.is_empty() && !diagnostics.has_errors() {
        let help = "add a block such as `instructions { nop | 0000 0000 | }`";
        missing(diagnostics, "no instructions", help);
    }
    let maps = declarations::maps(&declarations, definition, diagnostics);
    let on_illegal = declarations::on_illegal(&declarations, definition, diagnostics);
    let on_step = declarations::on_step(&declarations, definition, diagnostics);
    let contents = declarations::contents(&declarations, definition, diagnostics);
    rows::check_disjoint(&declarations, &instructions, diagnostics);
    rows::check_syntax(&declarations, &instructions, diagnostics);
    let pseudos = pseudos::pseudos(&declarations, definition, &instructions, diagnostics);
    let assembly = pseudos::assembly(&declarations, definition, diagnostics);
    let examples = examples::examples(&declarations, definition, &instructions, diagnostics);
    let mapped = maps.iter().flat_map(|map| [&map.read, &map.write]);
    let hooks = on_step.iter().flat_map(|hook| [&hook.when, &hook.body]);
    let others: Vec<&Body> = mapped.chain(hooks).chain(&on_illegal).collect();
    lints::lint(&declarations, &instructions, &others, diagnostics);
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
        memories: declarations.memories.into_owned(),
        pc,
        registers: declarations.registers.into_owned(),
        views: declarations.views.into_owned(),
        fields: declarations.fields.into_owned(),
        devices: declarations.devices.into_owned(),
        functions: declarations.functions.into_iter().map(Function::from).collect(),
        maps,
        traps: declarations.traps.into_owned(),
        on_illegal,
        on_step,
        contents,
        instructions,
        has_cycles,
        pseudos,
        assembly,
        examples,
        decoder,
        names: declarations.names.into_resolved(),
    })
}

fn missing(diagnostics: &mut Diagnostics, what: &str, help: &str) {
    let message = format!("this definition has {what}");
    diagnostics.push(Diagnostic::new(codes::MISSING_ITEM, Span::new(FileId(0), 0, 0), message).help(help));
}

/// Everything declared, before any row is looked at.
pub(crate) struct Declarations<'a> {
    pub(crate) text: &'a str,
    pub(crate) names: Names<'a>,
    /// Whether a row could not be understood, so that its instruction is not missing.
    pub(crate) rows_lost: Cell<bool>,
    /// What is left of the effort to tell rows apart.
    pub(crate) effort: Cell<usize>,
    /// Statements and expressions of all meanings so far.
    pub(crate) nodes: Cell<usize>,
    pub(crate) memories: Cow<'a, [Memory]>,
    pub(crate) pc: Option<Pc>,
    pub(crate) registers: Cow<'a, [Register]>,
    pub(crate) views: Cow<'a, [View]>,
    pub(crate) fields: Cow<'a, [Field]>,
    pub(crate) devices: Cow<'a, [Device]>,
    pub(crate) traps: Cow<'a, [(String, u64)]>,
    pub(crate) functions: Vec<&'a ast::Function>,
    pub(crate) families: Vec<Family<'a>>,
}

/// A family with its codes worked out.
pub(crate) struct Family<'a> {
    pub(crate) tree: &'a ast::Family,
    pub(crate) width: Width,
    pub(crate) codes: Vec<u64>,
}

impl<'a> Declarations<'a> {
    /// What a definition declares that has been read already, for meanings written in another text.
    pub(crate) fn of(isa: &'a Isa, text: &'a str) -> Declarations<'a> {
        Declarations {
            text,
            names: Names::known(&isa.names),
            rows_lost: Cell::new(false),
            effort: Cell::new(0),
            nodes: Cell::new(0),
            memories: Cow::Borrowed(&isa.memories),
            pc: Some(isa.pc.clone()),
            registers: Cow::Borrowed(&isa.registers),
            views: Cow::Borrowed(&isa.views),
            fields: Cow::Borrowed(&isa.fields),
            devices: Cow::Borrowed(&isa.devices),
            traps: Cow::Borrowed(&isa.traps),
            functions: isa.functions.iter().map(|function| &function.tree).collect(),
            families: Vec::new(),
        }
    }

    /// The width of a cell of the code memory.
    pub(crate) fn code_cell(&self) -> Width {
        self.pc.as_ref().map_or(Width::BIT, |pc| self.memories[pc.memory.index()].cell)
    }

    pub(crate) fn pc_width(&self) -> Width {
        self.pc.as_ref().map_or(Width::BIT, |pc| pc.width)
    }
}
