//! The actions of instructions, in the core's combinational block.

use std::collections::{BTreeMap, BTreeSet};

use lathe_base::{Source, Width};
use lathe_isa::Isa;
use lathe_isa::model::{InstructionId, RegisterId};
use lathe_isa::semantics::{Block, Statement};

use crate::Form;
use crate::body::{Common, Doing, Lowering, Way};
use crate::core::{computed, loaded, ports};
use crate::divide;
use crate::expression::number;
use crate::maps;
use crate::parts::PARTS;
use crate::shape::{self, Shape};
use crate::text::{CASES, Case, OTHERWISE, Text};
use crate::writer::Writer;

/// Writes the actions of instructions in the given form; returns what this has found out as well.
pub(crate) fn execution(isa: &Isa, sources: &[Source], shape: &Shape, form: Form) -> (Text, Common) {
    let write = |in_parts| written(isa, sources, shape, in_parts);
    match form {
        Form::Whole => write(false),
        Form::Parts => write(true),
        Form::Best => {
            let (whole, parts) = (write(false), write(true));
            let is_worth_it = parts.0.length() * WORTH < whole.0.length() && parts.0.number_bits() <= u64::BITS;
            if is_worth_it { parts } else { whole }
        }
    }
}

/// Instructions are written in parts if that makes them this many times shorter. In one piece they are easier to read,
/// and faster: mos6502, 3.3 times shorter in parts, loses a fifth of its LUTs, but a fifth of its clock as well.
const WORTH: usize = 5;

fn written(isa: &Isa, sources: &[Source], shape: &Shape, in_parts: bool) -> (Text, Common) {
    let mut common = Common { step_bits: 1, ..Common::default() };
    // The first pass finds out how many steps there are, which the second needs to know.
    Execution { isa, sources, shape, common: &mut common, in_parts }.write();
    let bits = u32::BITS - common.steps.leading_zeros();
    let mut common = Common { step_bits: bits.max(1), ..Common::default() };
    let text = Execution { isa, sources, shape, common: &mut common, in_parts }.write();
    (text, common)
}

/// The block that executes instructions.
struct Execution<'a> {
    isa: &'a Isa,
    sources: &'a [Source],
    shape: &'a Shape,
    common: &'a mut Common,
    in_parts: bool,
}

impl Execution<'_> {
    fn write(mut self) -> Text {
        // Which signals need defaults is known only when everything else has been written.
        let mut mapped = Writer::at(2);
        maps::write(self.isa, self.shape, self.common, &mut mapped);
        let mut first = Writer::at(2);
        let (hook, way) = self.hook(&mut first);
        let mut rest = Writer::at(2);
        if self.isa.on_step.is_some() {
            rest.line("end\nreplaced = jump;");
            rest.blank();
        }
        let way = self.fetch(&mut rest, way);
        self.shape.operands.read(self.isa, self.shape, &mut rest);
        rest.blank();
        // During the fetch nothing can be done here, and after a jump by `on step` nothing is to be done. Skipping this
        // saves simulators and solvers much work.
        rest.open(if self.isa.on_step.is_some() { "if (!stop && !replaced) begin" } else { "if (!stop) begin" });
        let (cases, arms) = if self.in_parts { self.parts(&way) } else { self.instructions(&way) };
        let mut out = Writer::at(1);
        if self.isa.on_step.is_some() {
            out.line("reg replaced;");
        }
        out.open("always @* begin : execute");
        self.defaults(&mut out);
        let mut end = Writer::at(rest.depth());
        end.close("end");
        end.raw(&mapped.finish());
        for list in self.common.late.iter().map(|list| self.shape.names.field(*list)) {
            end.line(format!("if ({list}_write) write_{list}({list}_address, {list}_data);"));
        }
        end.close("end");
        end.blank();
        out.raw(&first.finish());
        let hook_jumps =
            self.isa.on_step.as_ref().is_some_and(|hook| always_jumps(&hook.body.block) && !hook.body.effects().faults);
        let (start, before, after) = (out.finish(), rest.finish(), end.finish());
        Text { start, hook, hook_jumps, before, cases, arms, after, ..Text::default() }
    }

    fn defaults(&self, out: &mut Writer) {
        let (isa, names) = (self.isa, &self.shape.names);
        for (id, _) in &self.shape.registers {
            out.line(format!("{0} = {0}_q;", names.register(*id)));
        }
        let (loaded, computed) = (loaded(isa, self.shape, self.common), computed(isa, self.shape, self.common));
        loaded.iter().for_each(|(_, name)| out.line(format!("{name} = {name}_q;")));
        computed.iter().for_each(|(bits, name)| out.line(format!("{name} = {};", number(*bits, 0))));
        for list in &self.common.late {
            let field = isa.field(*list);
            let (name, bits) = (names.field(*list), field.width.bits());
            let width = field.value_width(isa.pc.width).bits();
            out.line(format!(
                "{name}_write = 1'b0;\n{name}_address = {};\n{name}_data = {};",
                number(bits, 0),
                number(width, 0)
            ));
        }
        out.line(format!("step_next = step;\nstop = halted || faulted;\nbusy = 1'b0;\njump = 1'b0;\nhalt = 1'b0;\nfault = 1'b0;\ntarget = {0};\nnext = {0};", names.pc));
        out.line(format!(
            "fault_code = {};\nfault_detail = {};",
            number(self.shape.fault_bits(), 0),
            number(self.shape.detail_bits, 0)
        ));
        if isa.has_cycles {
            out.line("cycles = 64'd0;");
        }
        if isa.on_step.is_some() {
            out.line("replaced = 1'b0;");
        }
        let outputs = ports(isa, self.shape).into_iter().filter(|port| !port.is_input);
        for port in outputs.take_while(|port| port.name != "retire") {
            out.line(format!("{} = {};", port.name, number(port.bits, 0)));
        }
        if let Some(width) = self.shape.division {
            divide::defaults(out, width);
        }
        out.blank();
    }

    /// Writes the condition and the actions of `on step`.
    fn hook(&mut self, out: &mut Writer) -> (String, Way) {
        let Some(hook) = &self.isa.on_step else { return (String::new(), Way::default()) };
        out.line("// on step");
        let mut when = Lowering::new(self.isa, self.shape, self.common, Way::default(), out.depth());
        // The condition is computed before every instruction, and all of them would have to wait.
        when.may_divide_slowly = false;
        let condition = when.body(&hook.when, &[]).unwrap_or_else(|| "1'b0".to_owned());
        let (text, _) = when.finish();
        out.raw(&text);
        out.open(format!("if (!stop && {condition}) begin"));
        let mut body = Lowering::new(self.isa, self.shape, self.common, Way::default(), out.depth());
        body.whole(&hook.body);
        let (text, way) = body.finish();
        self.common.steps = self.common.steps.max(way.site);
        self.common.on_step = changed(self.isa, &hook.body.block);
        (text, way)
    }

    fn fetch(&mut self, out: &mut Writer, mut way: Way) -> Way {
        let (memory, pc) = (self.shape.names.memory(self.isa.pc.memory), &self.shape.names.pc);
        let access = format!("`{memory}_load({}, {pc})", number(self.common.step_bits, u64::from(way.site)));
        if self.isa.on_step.is_some() {
            out.open("if (!replaced) begin");
            out.line(access);
            out.close("end");
        } else {
            out.line(access);
        }
        way.site += 1;
        self.common.fetched = way.site;
        self.common.steps = self.common.steps.max(way.site);
        way
    }

    /// Writes each instruction in one piece.
    fn instructions(&mut self, way: &Way) -> (Vec<Case>, Vec<Vec<Option<usize>>>) {
        let mut arms = Vec::new();
        let mut row = None;
        for (id, instruction) in (0..).map(InstructionId).zip(&self.isa.instructions) {
            let mut out = Writer::at(CASES + 1);
            if row.replace(instruction.row) != Some(instruction.row) {
                self.row(&mut out, id);
            }
            out.open(format!("{}: begin", self.shape.names.instruction(id)));
            let mut lowering = Lowering::new(self.isa, self.shape, self.common, way.clone(), out.depth());
            lowering.length(id);
            lowering.instruction(id);
            let (text, done) = lowering.finish();
            self.common.steps = self.common.steps.max(done.site);
            self.common.accesses.push(done.site);
            out.raw(&text);
            out.close("end");
            arms.push(out.finish());
        }
        arms.push(self.undefined(way));
        let count = arms.len();
        let bits = Width::to_tell_apart(count).bits();
        (vec![Case { of: "instruction".to_owned(), bits, arms }], (0..count).map(|arm| vec![Some(arm)]).collect())
    }

    /// Writes each instruction in parts that others may share.
    fn parts(&mut self, way: &Way) -> (Vec<Case>, Vec<Vec<Option<usize>>>) {
        let ids: Vec<InstructionId> = (0..self.isa.instructions.len() as u32).map(InstructionId).collect();
        let mut doing: Vec<Doing> = ids.iter().map(|id| Doing::new(self.isa, *id)).collect();
        let mut accesses = vec![way.site; ids.len()];
        let (mut cases, mut arms) = (Vec::new(), vec![Vec::new(); ids.len()]);
        let mut start = way.clone();
        for (at, part) in PARTS.into_iter().enumerate() {
            let mut shared = Shared::default();
            let mut furthest = start.clone();
            for (index, (id, doing)) in ids.iter().zip(&mut doing).enumerate() {
                let mut lowering = Lowering::new(self.isa, self.shape, self.common, start.clone(), CASES + 2);
                lowering.part(doing, at);
                let (text, done) = lowering.finish();
                accesses[index] += done.site - start.site;
                furthest.join(&done);
                arms[index].push(shared.arm(text, *id));
            }
            let bits = Width::to_tell_apart(shared.texts.len() + 1).bits();
            let arm = |(number, text): (u64, &String)| {
                // Lengths are not specific to rows, so none is named.
                let users = if at == 0 { &[] } else { shared.users[number as usize - 1].as_slice() };
                self.shared(&crate::expression::number(bits, number), text, users)
            };
            cases.push(Case { of: part.to_owned(), bits, arms: (1..).zip(&shared.texts).map(arm).collect() });
            // Only named values are handed on.
            start = furthest.with_temporaries_of(way);
        }
        self.common.accesses = accesses;
        self.common.steps = self.common.steps.max(start.site);
        cases[0].arms.push(self.undefined(way));
        let mut undefined = vec![None; cases.len()];
        undefined[0] = Some(cases[0].arms.len() - 1);
        arms.push(undefined);
        (cases, arms)
    }

    /// Writes an arm that several instructions may share.
    fn shared(&self, number: &str, text: &str, users: &[InstructionId]) -> String {
        let mut out = Writer::at(CASES + 1);
        let mut rows: Vec<InstructionId> = users.to_vec();
        rows.dedup_by_key(|id| self.isa.instruction(*id).row);
        match rows.as_slice() {
            [] => {}
            [only] => self.row(&mut out, *only),
            several => {
                let shown = if several.len() > MOST_ROWS { MOST_ROWS - 1 } else { several.len() };
                let mut names: Vec<String> = several[..shown].iter().map(|id| self.syntax(*id).to_owned()).collect();
                if shown < several.len() {
                    names.push(format!("and {} other rows", several.len() - shown));
                }
                out.line(format!("// {}", names.join("; ")));
            }
        }
        out.open(format!("{number}: begin"));
        out.raw(text);
        out.close("end");
        out.finish()
    }

    /// Returns the text of an instruction's row.
    fn text(&self, id: InstructionId) -> &str {
        let span = self.isa.instruction(id).span;
        let file = self.sources.get(span.file.0 as usize);
        file.and_then(|file| file.text.get(span.range())).unwrap_or_default()
    }

    /// Returns the syntax of a row.
    fn syntax(&self, id: InstructionId) -> &str {
        let text = self.text(id);
        text.split_once('|').map_or(text, |(syntax, _)| syntax).trim()
    }

    /// Writes the row of an instruction as a comment.
    fn row(&self, out: &mut Writer, id: InstructionId) {
        self.text(id).lines().for_each(|line| out.line(format!("// {}", line.trim())));
    }

    /// Writes what happens for bits that no row has.
    fn undefined(&mut self, way: &Way) -> String {
        let mut out = Writer::at(CASES + 1);
        out.line("// no row has these bits");
        out.open(OTHERWISE);
        let mut lowering = Lowering::new(self.isa, self.shape, self.common, way.clone(), out.depth());
        match &self.isa.on_illegal {
            Some(body) => drop(lowering.whole(body)),
            None => lowering.fault(shape::UNDEFINED, None),
        }
        let (text, done) = lowering.finish();
        self.common.steps = self.common.steps.max(done.site);
        self.common.accesses.push(done.site);
        out.raw(&text);
        out.close("end");
        out.finish()
    }
}

/// One part of all instructions: its distinct texts, and the users of each.
#[derive(Default)]
struct Shared {
    texts: Vec<String>,
    users: Vec<Vec<InstructionId>>,
    known: BTreeMap<String, usize>,
}

impl Shared {
    /// Returns the index of a text, or `None` if it is empty.
    fn arm(&mut self, text: String, user: InstructionId) -> Option<usize> {
        if text.is_empty() {
            return None;
        }
        let arm = *self.known.entry(text).or_insert_with_key(|text| {
            self.texts.push(text.clone());
            self.users.push(Vec::new());
            self.texts.len() - 1
        });
        self.users[arm].push(user);
        Some(arm)
    }
}

/// The most rows that a comment on a shared arm names.
const MOST_ROWS: usize = 5;

/// Whether every path through a block jumps.
fn always_jumps(block: &Block) -> bool {
    block.iter().any(|statement| match statement {
        Statement::Jump(_) => true,
        Statement::If { then, otherwise, .. } => always_jumps(then) && always_jumps(otherwise),
        _ => false,
    })
}

/// Returns the registers that a block may change if it does not jump.
fn changed(isa: &Isa, block: &Block) -> BTreeSet<RegisterId> {
    if always_jumps(block) {
        return BTreeSet::new();
    }
    let changed = |statement: &Statement| match statement {
        Statement::If { then, otherwise, .. } => &changed(isa, then) | &changed(isa, otherwise),
        _ => {
            let effects = statement.effects();
            let mapped = isa.maps.iter().filter(|map| effects.stores.contains(&map.memory));
            mapped.flat_map(|map| map.write.effects().writes).chain(effects.writes).collect()
        }
    };
    block.iter().flat_map(changed).collect()
}
