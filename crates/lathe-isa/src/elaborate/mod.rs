//! Turns the tree of a definition into its model: names, widths, encodings, meanings.
//!
//! Everything that can be reported is reported, and the model holds what could be understood; the caller makes sure
//! that only a model without errors is run. The order follows the dependencies: declarations, then the encodings of all
//! rows (a `skip` must know their lengths), then meanings.

mod constants;
mod declarations;
mod examples;
mod fetches;
mod fields;
mod homes;
mod known;
mod lengths;
mod lints;
pub(crate) mod meaning;
mod modes;
mod names;
mod pictures;
mod prefixes;
mod pseudos;
mod readable;
mod rows;
mod signs;
mod source_line;
mod syntaxes;

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use lathe_base::{Diagnostic, Diagnostics, FileId, Span, Width};

use crate::codes;
use crate::decode::Decoder;
use crate::encoding::EFFORT;
use crate::language::ast;
use crate::model;
use crate::model::{
    Assembly, Contents, Device, Example, Field, FieldId, Function, Group, Hook, Instruction, Isa, Mapping, Memory, Pc,
    Register, RegisterId, View,
};
use crate::names::Resolved;
use crate::pseudo::Pseudo;
use crate::semantics::Body;
use crate::values::Asked;
use crate::written::Written;

pub(crate) use declarations::spread;
pub use known::KnownMeanings;
use known::Recall;
use modes::{Counter, DeclaredModes, MadeField};
pub(crate) use names::EVERYTHING;
use names::Names;
use prefixes::Sequence;
use source_line::Heads;

/// The result of elaborating a definition: as much of it as could be understood.
pub(crate) struct Elaborated {
    /// The model. It is sound only if no error has been reported.
    pub(crate) isa: Option<Isa>,
    /// All names, whether there is a model or not.
    pub(crate) names: Resolved,
}

/// Makes the model of a definition. Without a program counter, or a memory for it, there is none. Also notes what is
/// `asked` about expressions.
pub(crate) fn elaborate(
    written: &Written,
    asked: Option<Rc<Asked>>,
    known: Option<&mut KnownMeanings>,
    diagnostics: &mut Diagnostics,
) -> Elaborated {
    let definition = &written.tree;
    let mut declarations = Declarations::declare(written, asked.clone(), diagnostics);
    if definition.machine.is_none() && !definition.broken.contains("machine") {
        missing(diagnostics, "no `machine` line", "begin with `machine name \"one line about it\"`");
    }
    let Some(pc) = declarations.pc.clone() else {
        check_pc(&declarations, definition, diagnostics);
        return Elaborated { isa: None, names: declarations.names.into_resolved(&declarations.texts) };
    };
    let before = known.is_some().then(|| diagnostics.clone());
    let mut recall = Recall::new(&declarations, definition, known);
    let (rows, groups) = rows::drafts(&mut declarations, definition, &mut recall, diagnostics);
    let around = declarations::around(definition, diagnostics);
    let instructions = rows::instructions(&declarations, &rows, &around, &mut recall, diagnostics);
    // Which question exhausts the effort first depends on the order of the questions.
    if let Some(before) = before.filter(|_| recall.is_used && declarations.effort.get() < EFFORT / 2) {
        *diagnostics = before;
        return elaborate(written, asked, None, diagnostics);
    }
    if instructions.is_empty() && !diagnostics.has_errors() {
        let help = "add a block such as `instructions { nop | 0000 0000 | }`";
        missing(diagnostics, "no instructions", help);
    }
    drop(rows);
    recall.end();
    let made = Made::new(&declarations, definition, instructions, groups, diagnostics);
    let isa = made.into_isa(declarations, definition, pc);
    Elaborated { names: isa.names.clone(), isa: Some(isa) }
}

/// Reports a missing program counter, unless its declaration has been reported.
fn check_pc(declarations: &Declarations, definition: &ast::Definition, diagnostics: &mut Diagnostics) {
    let written = definition.items.iter().any(|item| matches!(item, ast::Item::Pc(_)));
    if written || definition.broken.contains("pc") {
        return;
    }
    let help = match declarations.memories.first() {
        Some(memory) => format!("add a line such as `pc pc : {} in {}`", memory.address, memory.name),
        None => "add lines such as `memory ram : u16 -> u8` and `pc pc : u16 in ram`".to_owned(),
    };
    missing(diagnostics, "no program counter", &help);
}

/// Everything made from the declarations.
struct Made {
    instructions: Vec<Instruction>,
    groups: Vec<Group>,
    maps: Vec<Mapping>,
    on_reset: Option<Body>,
    on_illegal: Option<Body>,
    on_step: Option<Hook>,
    contents: Vec<Contents>,
    pseudos: Vec<Pseudo>,
    assembly: Assembly,
    examples: Vec<Example>,
}

impl Made {
    fn new(
        declarations: &Declarations,
        definition: &ast::Definition,
        mut instructions: Vec<Instruction>,
        groups: Vec<Group>,
        diagnostics: &mut Diagnostics,
    ) -> Made {
        signs::of_instructions(declarations, &mut instructions);
        rows::check_modes(declarations, &instructions, diagnostics);
        let maps = declarations::maps(declarations, definition, diagnostics);
        let on_reset = declarations::on_reset(declarations, definition, diagnostics);
        let on_illegal = declarations::on_illegal(declarations, definition, diagnostics);
        let on_step = declarations::on_step(declarations, definition, diagnostics);
        let contents = declarations::contents(declarations, definition, diagnostics);
        rows::check_disjoint(declarations, &instructions, diagnostics);
        let by_shape = rows::by_shape(&instructions);
        rows::check_syntax(declarations, &by_shape, diagnostics);
        let heads = Heads::new(&instructions);
        let mut pseudos = pseudos::pseudos(declarations, definition, &heads, diagnostics);
        signs::of_pseudos(&mut pseudos);
        pseudos::check_syntax(declarations, &pseudos, &by_shape, diagnostics);
        let assembly = pseudos::assembly(declarations, definition, diagnostics);
        check_readable(declarations, &instructions, &pseudos, &assembly, diagnostics);
        let examples = examples::examples(declarations, definition, &heads, diagnostics);
        let made =
            Made { instructions, groups, maps, on_reset, on_illegal, on_step, contents, pseudos, assembly, examples };
        lints::lint(declarations, &made.instructions, &made.other_bodies(), diagnostics);
        made
    }

    /// Returns all meanings.
    fn bodies(&self) -> impl Iterator<Item = &Body> {
        self.instructions.iter().map(|instruction| &*instruction.body).chain(self.other_bodies())
    }

    /// Returns the meanings that belong to no instruction.
    fn other_bodies(&self) -> Vec<&Body> {
        let mapped = self.maps.iter().flat_map(|map| [&map.read, &map.write]);
        let hooks = self.on_step.iter().flat_map(|hook| [&hook.when, &hook.body]);
        mapped.chain(hooks).chain(&self.on_reset).chain(&self.on_illegal).collect()
    }

    fn into_isa(self, declarations: Declarations, definition: &ast::Definition, pc: Pc) -> Isa {
        let machine = definition.machine.as_ref();
        let decoder = Decoder::new(self.instructions.iter().map(|instruction| &instruction.encoding));
        let has_column = definition.items.iter().any(
            |item| matches!(item, ast::Item::Instructions(block) if block.rows.iter().any(|row| row.cycles.is_some())),
        );
        let has_cycles = has_column || self.bodies().any(Body::adds_cycles);
        let registers = (0..).map(RegisterId).zip(declarations.registers.iter());
        let modes: Vec<(RegisterId, u32)> = registers.filter_map(|(id, register)| Some((id, register.mode?))).collect();
        Isa {
            name: machine.map_or(String::new(), |machine| machine.name.text.clone()),
            title: machine.map_or(String::new(), |machine| machine.title.clone()),
            documentation: machine.map_or(String::new(), |machine| machine.documentation.clone()),
            memories: declarations.memories.into_owned(),
            pc,
            registers: declarations.registers.into_owned(),
            views: declarations.views.into_owned(),
            fields: declarations.fields.into_owned(),
            devices: declarations.devices.into_owned(),
            functions: declarations.functions.into_iter().map(Function::from).collect(),
            families: declarations.families.iter().map(CodedFamily::model).collect(),
            operands: declarations.operands.iter().map(DeclaredModes::model).collect(),
            groups: self.groups,
            has_mapped_code: self.maps.iter().any(|mapping| mapping.code.is_some()),
            banked_by: fetches::banked_by(&self.maps, &modes),
            modes,
            maps: self.maps,
            traps: declarations.traps.into_owned(),
            on_reset: self.on_reset,
            on_illegal: self.on_illegal,
            on_step: self.on_step,
            contents: self.contents,
            instructions: self.instructions,
            has_cycles,
            pseudos: self.pseudos,
            assembly: self.assembly,
            examples: self.examples,
            decoder,
            names: declarations.names.into_resolved(&declarations.texts),
        }
    }
}

/// Reports syntaxes that the assembler cannot read back, once per row.
fn check_readable(
    declarations: &Declarations,
    instructions: &[Instruction],
    pseudos: &[Pseudo],
    assembly: &Assembly,
    diagnostics: &mut Diagnostics,
) {
    let mut told = None;
    for instruction in instructions {
        let field = |index: usize| &declarations.fields[instruction.operands[index].index()];
        let problem = readable::check(&instruction.syntax, field, assembly, instruction.span);
        if problem.is_some() && told.replace(instruction.row) != Some(instruction.row) {
            diagnostics.extend(problem);
        }
    }
    for pseudo in pseudos {
        let field = |index: usize| &pseudo.parameters[index];
        diagnostics.extend(readable::check(&pseudo.syntax, field, assembly, pseudo.span));
    }
}

fn missing(diagnostics: &mut Diagnostics, what: &str, help: &str) {
    let message = format!("this definition has {what}");
    diagnostics.push(Diagnostic::new(codes::MISSING_ITEM, Span::new(FileId(0), 0, 0), message).help(help));
}

/// All declarations, before any row is read.
pub(crate) struct Declarations<'a> {
    /// The texts of the definition, by file number.
    texts: Vec<&'a str>,
    pub(crate) names: Names<'a>,
    /// Whether a row could not be understood, so that a missing instruction is not reported.
    pub(crate) rows_lost: Cell<bool>,
    /// The remaining effort to tell rows apart.
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
    pub(crate) families: Vec<CodedFamily<'a>>,
    pub(crate) operands: Vec<DeclaredModes<'a>>,
    /// The fields that have the program counter among their registers.
    pub(crate) counters: BTreeMap<FieldId, Counter<'a>>,
    /// The fields that count from the cells that hold them.
    pub(crate) from_here: BTreeSet<FieldId>,
    /// The fields made for rows.
    fields_for_rows: BTreeMap<MadeField, FieldId>,
    /// The fields for rows needed since a certain moment, if they are being noted.
    made_fields: Option<Vec<(MadeField, FieldId)>>,
    /// What prefixes do, by their names; nothing for those that could not be understood.
    sequences: BTreeMap<Vec<String>, Option<Rc<Sequence<'a>>>>,
}

/// A family with its codes worked out.
pub(crate) struct CodedFamily<'a> {
    pub(crate) tree: &'a ast::Family,
    pub(crate) width: Width,
    pub(crate) codes: Vec<u64>,
}

impl CodedFamily<'_> {
    fn model(&self) -> model::Family {
        let member = |(member, code): (&ast::Member, &u64)| model::Member {
            name: member.name.text.clone(),
            code: *code,
            documentation: member.documentation.clone(),
            span: member.name.span,
        };
        model::Family {
            name: self.tree.name.text.clone(),
            width: self.width,
            members: self.tree.members.iter().zip(&self.codes).map(member).collect(),
            documentation: self.tree.documentation.clone(),
            span: self.tree.name.span,
        }
    }
}

impl<'a> Declarations<'a> {
    /// Makes the declarations of a definition that has been read already, for meanings in another text.
    pub(crate) fn of(isa: &'a Isa, text: &'a str) -> Declarations<'a> {
        Declarations {
            texts: vec![text],
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
            operands: Vec::new(),
            counters: BTreeMap::new(),
            from_here: BTreeSet::new(),
            fields_for_rows: BTreeMap::new(),
            made_fields: None,
            sequences: BTreeMap::new(),
        }
    }

    /// Returns the text of a file.
    pub(crate) fn text(&self, file: FileId) -> &'a str {
        self.texts.get(file.0 as usize).copied().unwrap_or("")
    }

    /// Returns the bits of a window that are modes.
    pub(crate) fn mode_mask(&self) -> u128 {
        let mask = |register: &Register| Some(u128::from(register.width.mask()) << register.mode?);
        self.registers.iter().filter_map(mask).fold(0, |all, one| all | one)
    }

    /// Returns the width of a cell of the code memory.
    pub(crate) fn code_cell(&self) -> Width {
        self.pc.as_ref().map_or(Width::BIT, |pc| self.memories[pc.memory.index()].cell)
    }

    pub(crate) fn pc_width(&self) -> Width {
        self.pc.as_ref().map_or(Width::BIT, |pc| pc.width)
    }
}
