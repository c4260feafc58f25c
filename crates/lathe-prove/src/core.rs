//! The core of `lathe hdl` as Yosys' `write_smt2` gives it, beside memories and devices that do what they should, for as many
//! clock cycles as an instruction can take; and what is claimed of it.

use lathe_hdl::{DevicePort, Interface};
use lathe_isa::Isa;
use lathe_isa::model::{InstructionId, MemoryId};

use crate::compare::{self, Same};
use crate::meaning::{self, Outcome, Row, State};
use crate::module::Module;
use crate::script::{Condition, Script, Table, Term};
use crate::{Query, Watch};

/// Something about a core that is to be proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// From any state, with any memory, this instruction ends as the definition says.
    Instruction(InstructionId),
    /// Bits that no row has do what the definition says.
    Undefined,
    /// Reset begins where it is told, whatever the state was.
    Reset,
    /// A core that has halted or faulted stays as it is and asks for nothing but instructions.
    Stopped,
    /// While something is not ready the core stays as it is and goes on asking.
    Waiting,
}

/// A core that claims are made about.
#[derive(Clone, Copy, Debug)]
pub struct Core<'a> {
    /// The definition it was made from.
    pub isa: &'a Isa,
    /// What Yosys made of it.
    pub module: &'a Module,
    /// Its ports.
    pub interface: &'a Interface,
    /// What the numbers of its faults mean.
    pub messages: &'a [String],
}

/// Everything that makes a core what the definition says.
pub fn claims(isa: &Isa, interface: &Interface) -> Vec<Claim> {
    let rows = (0..isa.instructions.len() as u32).map(InstructionId).map(Claim::Instruction);
    let mut all: Vec<Claim> = rows.chain([Claim::Undefined, Claim::Reset, Claim::Stopped]).collect();
    let waits = interface.operations.iter().any(|port| port.may_wait);
    if waits || isa.memories.iter().any(|memory| memory.is_large()) {
        all.push(Claim::Waiting);
    }
    all
}

impl Claim {
    /// How many clock cycles the claim looks at.
    pub fn cycles(self, interface: &Interface) -> u32 {
        match self {
            Claim::Instruction(id) => interface.accesses[id.index()] + 1,
            Claim::Undefined => interface.accesses.last().map_or(1, |accesses| accesses + 1),
            Claim::Reset | Claim::Stopped | Claim::Waiting => 1,
        }
    }

    /// The slices of the core ([`lathe_hdl::Design::slice`]) that decide it: for what is about every instruction, all.
    pub fn slices(self, isa: &Isa) -> std::ops::RangeInclusive<usize> {
        let undefined = isa.instructions.len();
        match self {
            Claim::Instruction(id) => id.index()..=id.index(),
            Claim::Undefined | Claim::Reset => undefined..=undefined,
            Claim::Stopped | Claim::Waiting => 0..=undefined,
        }
    }
}

impl<'a> Core<'a> {
    /// Everything that makes the core what the definition says.
    pub fn claims(&self) -> Vec<Claim> {
        claims(self.isa, self.interface)
    }

    /// What a solver is asked. It follows the text of the module, and has no answer if the claim is true.
    pub fn query(&self, claim: Claim) -> Query {
        let mut script = Script::default();
        let watched = match claim {
            Claim::Instruction(id) => self.instruction(&mut script, Row::Instruction(id), claim.cycles(self.interface)),
            Claim::Undefined => self.instruction(&mut script, Row::Undefined, claim.cycles(self.interface)),
            Claim::Reset => self.reset(&mut script),
            Claim::Stopped => self.stopped(&mut script),
            Claim::Waiting => self.waiting(&mut script),
        };
        Query::new(script, watched)
    }

    fn instruction(&self, script: &mut Script, row: Row, cycles: u32) -> Vec<Watch> {
        let before = State::with(self.isa, script, row);
        let mut run = Run::new(*self, script, &before);
        for _ in 0..cycles {
            run.cycle();
        }
        let done = run.finish();
        let waves = (0..=cycles).flat_map(|cycle| self.module.waves(&format!("s{cycle}")));
        let (stands, meant) = meaning::step(self.isa, script, &before, row, self.isa.longest());
        // Where the hook goes elsewhere, the row is not looked at: any claim covers that.
        script.line(format!("(assert (or {} {}))", stands.0, meant.replaced.0));
        let same = self.compare(script, &before, &meant, &done);
        compare::refute(script, &same);
        let mut told = compare::before(self.isa, &before, &meant);
        let (halted, faulted) = (script.bit(&meant.halted), self.faulted(script, &meant));
        told.push(Watch::Status("halted", halted.text, done.halted.text.clone()));
        told.push(Watch::Status("fault", faulted.text, done.faulted.text.clone()));
        told.extend(compare::after(self.isa, script, &meant.state, &done.state));
        told.extend(compare::held(same));
        told.extend(waves);
        told
    }

    /// What must be the same in the definition and in the core.
    fn compare(&self, script: &mut Script, before: &State, meant: &Outcome, done: &Done) -> Vec<Same> {
        let mut same = vec![("the instruction ends in time".to_owned(), done.ended.clone())];
        let start = Term::constant(done.step.bits, 0);
        same.push(("the core is at the beginning of an instruction".to_owned(), script.equal(&done.step, &start)));
        same.extend(compare::states(self.isa, script, &meant.state, &done.state));
        let fault = meant.fault.as_ref().map_or(Condition::never(), |fault| fault.condition.clone());
        let faulted = self.faulted(script, meant);
        same.push(("faulted".to_owned(), script.equal(&faulted, &done.faulted)));
        same.extend(self.causes(script, meant, done));
        let works = script.not(&fault);
        for (name, condition) in self.retired(script, before, meant, done) {
            same.push((name, script.implies(&works, &condition)));
        }
        same
    }

    /// One bit: whether there should be a fault.
    fn faulted(&self, script: &mut Script, meant: &Outcome) -> Term {
        let fault = meant.fault.as_ref().map_or(Condition::never(), |fault| fault.condition.clone());
        script.bit(&fault)
    }

    /// Each fault has its number, and the number that goes with it.
    fn causes(&self, script: &mut Script, meant: &Outcome, done: &Done) -> Vec<Same> {
        let mut same = Vec::new();
        for (condition, message, detail) in meant.fault.iter().flat_map(|fault| &fault.causes) {
            let number = self.messages.iter().position(|known| known == message).unwrap_or(0);
            let number = Term::constant(done.fault_code.bits, number as u64);
            let holds = script.equal(&done.fault_code, &number);
            same.push((format!("the fault `{message}`"), script.implies(condition, &holds)));
            let detail = match detail {
                Some(detail) => script.zero_extend(self.interface.detail_bits, detail),
                None => Term::constant(self.interface.detail_bits, 0),
            };
            let holds = script.equal(&done.fault_detail, &detail);
            same.push((format!("the number of the fault `{message}`"), script.implies(condition, &holds)));
        }
        same
    }

    /// What holds if there is no fault: the machine has halted or not, and the retire port tells what was done.
    fn retired(&self, script: &mut Script, before: &State, meant: &Outcome, done: &Done) -> Vec<Same> {
        let halted = script.bit(&meant.halted);
        let replaced = script.bit(&meant.replaced);
        let mut pairs = vec![
            ("halted", halted, done.halted.clone()),
            ("retire_pc", before.pc.clone(), done.retire_pc.clone()),
            ("retire_next", meant.state.pc.clone(), done.retire_next.clone()),
            ("retire_replaced", replaced, done.retire_replaced.clone()),
        ];
        if let Some(told) = &done.retire_registers {
            // The first is lowest.
            let registers: Vec<Term> = self
                .interface
                .registers
                .iter()
                .rev()
                .map(|(id, _)| meant.state.registers[id.index()].clone())
                .collect();
            pairs.push(("retire_registers", script.join_all(&registers), told.clone()));
        }
        if let Some(told) = &done.retire_cycles {
            pairs.push(("retire_cycles", meant.cycles.clone(), told.clone()));
        }
        let mut same: Vec<Same> =
            pairs.into_iter().map(|(name, mine, its)| (name.to_owned(), script.equal(&mine, &its))).collect();
        let fetched = script.not(&meant.replaced);
        let window = script.join_all(&meant.window);
        let holds = script.equal(&window, &done.retire_bits);
        same.push(("retire_bits".to_owned(), script.implies(&fetched, &holds)));
        same
    }

    fn reset(&self, script: &mut Script) -> Vec<Watch> {
        let [now, then] = self.two_states(script);
        script.line(format!("(assert {})", now.flag("reset")));
        let mut same = vec![
            format!(
                "(= {} {})",
                then.bits("retire_pc", self.isa.pc.width.bits()),
                now.bits("reset_pc", self.isa.pc.width.bits())
            ),
            format!("(not {})", then.flag("halted")),
            format!("(not {})", then.flag("faulted")),
            format!("(= {} {})", then.bits("step", self.step_bits()), Term::constant(self.step_bits(), 0).text),
        ];
        let mut low = 0;
        for (id, name) in &self.interface.registers {
            let bits = self.isa.register(*id).width.bits();
            let all = now.bits("reset_registers", self.register_bits());
            let part =
                if self.register_bits() == 1 { all } else { format!("((_ extract {} {low}) {all})", low + bits - 1) };
            same.push(format!("(= {} {part})", then.bits(name, bits)));
            low += bits;
        }
        script.line(format!("(assert (not (and {})))", same.join(" ")));
        same.into_iter().map(|one| Watch::Same(one.clone(), one)).collect()
    }

    fn stopped(&self, script: &mut Script) -> Vec<Watch> {
        let [now, then] = self.two_states(script);
        script.line(format!("(assert (not {}))", now.flag("reset")));
        script.line(format!("(assert (or {} {}))", now.flag("halted"), now.flag("faulted")));
        // Instructions end with this, as is claimed of each of them.
        script.line(format!(
            "(assert (= {} {}))",
            now.bits("step", self.step_bits()),
            Term::constant(self.step_bits(), 0).text
        ));
        let mut same = self.kept(&now, &then);
        let start = Term::constant(self.step_bits(), 0).text;
        same.push(format!("(= {} {start})", then.bits("step", self.step_bits())));
        same.push(format!("(not {})", now.flag("retire")));
        for (memory, lanes) in &self.interface.memories {
            same.push(format!(
                "(= {} {})",
                now.bits(&format!("{memory}_write"), *lanes),
                Term::constant(*lanes, 0).text
            ));
        }
        let asked = self.interface.operations.iter().filter(|port| port.is_asked);
        same.extend(asked.map(|port| format!("(not {})", now.flag(&port.name))));
        script.line(format!("(assert (not (and {})))", same.join(" ")));
        same.into_iter().map(|one| Watch::Same(one.clone(), one)).collect()
    }

    fn waiting(&self, script: &mut Script) -> Vec<Watch> {
        let [now, then] = self.two_states(script);
        script.line(format!(
            "(assert (not (or {} {} {})))",
            now.flag("reset"),
            now.flag("halted"),
            now.flag("faulted")
        ));
        let mut blocked = Vec::new();
        for (at, (memory, lanes)) in self.interface.memories.iter().enumerate() {
            if self.isa.memory(MemoryId(at as u32)).is_large() {
                let idle = Term::constant(*lanes, 0).text;
                let writes = format!("(distinct {} {idle})", now.bits(&format!("{memory}_write"), *lanes));
                let asked = format!("(or {} {writes})", now.flag(&format!("{memory}_read")));
                blocked.push(format!("(and {asked} (not {}))", now.flag(&format!("{memory}_ready"))));
            }
        }
        for port in self.interface.operations.iter().filter(|port| port.may_wait) {
            blocked.push(format!("(and {} (not {}))", now.flag(&port.name), now.flag(&format!("{}_ready", port.name))));
        }
        script.line(format!("(assert (or {}))", blocked.join(" ")));
        let mut same = self.kept(&now, &then);
        same.push(format!("(not {})", now.flag("retire")));
        same.push(format!("(= {} {})", now.bits("step", self.step_bits()), then.bits("step", self.step_bits())));
        // What it is given stays the same, and so does what it asks for.
        for port in &self.interface.operations {
            let described = self.isa.devices[port.device.index()].kind.operations();
            let known = described.into_iter().find(|known| known.operation == port.operation);
            if let Some(width) = known.as_ref().and_then(|known| known.result) {
                let name = format!("{}_value", port.name);
                script.line(format!(
                    "(assert (= {} {}))",
                    now.bits(&name, width.bits()),
                    then.bits(&name, width.bits())
                ));
            }
            if port.may_wait {
                same.push(format!("(= {} {})", now.flag(&port.name), then.flag(&port.name)));
            }
            let widths = known.map(|known| known.arguments).unwrap_or_default();
            for (name, width) in port.arguments.iter().zip(widths) {
                same.push(format!("(= {} {})", now.bits(name, width.bits()), then.bits(name, width.bits())));
            }
        }
        for (at, (memory, lanes)) in self.interface.memories.iter().enumerate() {
            let described = self.isa.memory(MemoryId(at as u32));
            let (value, cells) = (format!("{memory}_value"), lanes * described.cell.bits());
            script.line(format!("(assert (= {} {}))", now.bits(&value, cells), then.bits(&value, cells)));
            for (end, bits) in [("address", described.address.bits()), ("write", *lanes), ("data", cells)] {
                let name = format!("{memory}_{end}");
                same.push(format!("(= {} {})", now.bits(&name, bits), then.bits(&name, bits)));
            }
        }
        script.line(format!("(assert (not {}))", then.flag("reset")));
        script.line(format!("(assert (not (and {})))", same.join(" ")));
        same.into_iter().map(|one| Watch::Same(one.clone(), one)).collect()
    }

    /// The conditions that nothing of the state has changed.
    fn kept(&self, now: &Moment, then: &Moment) -> Vec<String> {
        let mut same: Vec<String> =
            ["halted", "faulted"].iter().map(|name| format!("(= {} {})", now.flag(name), then.flag(name))).collect();
        let pc = self.isa.pc.width.bits();
        same.push(format!("(= {} {})", now.bits("retire_pc", pc), then.bits("retire_pc", pc)));
        for (id, name) in &self.interface.registers {
            let bits = self.isa.register(*id).width.bits();
            same.push(format!("(= {} {})", now.bits(name, bits), then.bits(name, bits)));
        }
        same
    }

    fn two_states(&self, script: &mut Script) -> [Moment<'a>; 2] {
        let states = ["now", "then"].map(|name| self.moment(script, name));
        script.line(self.module.edge("now", "then"));
        states
    }

    fn moment(&self, script: &mut Script, name: &str) -> Moment<'a> {
        script.line(self.module.cycle(name));
        Moment { module: self.module, state: name.to_owned() }
    }

    fn register_bits(&self) -> u32 {
        self.interface.registers.iter().map(|(id, _)| self.isa.register(*id).width.bits()).sum()
    }

    fn step_bits(&self) -> u32 {
        let most = self.interface.accesses.iter().copied().max().unwrap_or(1);
        (u32::BITS - most.leading_zeros()).max(1)
    }
}

/// The core in one clock cycle.
struct Moment<'a> {
    module: &'a Module,
    state: String,
}

impl Moment<'_> {
    /// A signal of one bit, as a condition.
    fn flag(&self, name: &str) -> String {
        self.module.signal(name, &self.state)
    }

    /// A signal as a bit vector; Yosys gives single bits as conditions.
    fn bits(&self, name: &str, bits: u32) -> String {
        if bits == 1 { format!("(ite {} #b1 #b0)", self.flag(name)) } else { self.flag(name) }
    }

    fn term(&self, script: &mut Script, name: &str, bits: u32) -> Term {
        script.define(bits, self.bits(name, bits))
    }

    fn condition(&self, script: &mut Script, name: &str) -> Condition {
        script.condition(self.flag(name))
    }
}

/// The core, its memories and its devices while an instruction is executed.
struct Run<'a, 's> {
    core: Core<'a>,
    script: &'s mut Script,
    now: Moment<'a>,
    cycle: u32,
    memories: Vec<Table>,
    devices: Vec<meaning::DeviceState>,
    /// What memories and devices answer in this cycle.
    values: Vec<Term>,
    answers: Vec<Option<Term>>,
    /// Whether the instruction has not ended before this cycle.
    active: Condition,
    done: Option<Done>,
}

/// What the core has made of an instruction.
struct Done {
    ended: Condition,
    state: State,
    halted: Term,
    faulted: Term,
    step: Term,
    fault_code: Term,
    fault_detail: Term,
    retire_pc: Term,
    retire_next: Term,
    retire_bits: Term,
    retire_replaced: Term,
    retire_registers: Option<Term>,
    retire_cycles: Option<Term>,
}

impl<'a, 's> Run<'a, 's> {
    /// The core at the beginning of an instruction, in a state that the definition knows too.
    fn new(core: Core<'a>, script: &'s mut Script, before: &State) -> Run<'a, 's> {
        let now = core.moment(script, "s0");
        script.line(format!("(assert (not (or {} {})))", now.flag("halted"), now.flag("faulted")));
        let step = Term::constant(core.step_bits(), 0);
        script.line(format!("(assert (= {} {}))", now.bits("step", step.bits), step.text));
        script.line(format!("(assert (= {} {}))", now.bits("retire_pc", core.isa.pc.width.bits()), before.pc.text));
        for (id, name) in &core.interface.registers {
            let known = &before.registers[id.index()];
            script.line(format!("(assert (= {} {}))", now.bits(name, known.bits), known.text));
        }
        let mut values = Vec::new();
        for (at, (memory, lanes)) in core.interface.memories.iter().enumerate() {
            let bits = lanes * core.isa.memory(MemoryId(at as u32)).cell.bits();
            values.push(now.term(script, &format!("{memory}_value"), bits));
        }
        let answers = core.interface.operations.iter().map(|_| None).collect();
        Run {
            core,
            script,
            now,
            cycle: 0,
            memories: before.memories.clone(),
            devices: before.devices.clone(),
            values,
            answers,
            active: Condition::always(),
            done: None,
        }
    }

    fn cycle(&mut self) {
        self.inputs();
        let retire = self.now.condition(self.script, "retire");
        let asked = std::mem::take(&mut self.answers);
        let memories = self.memories();
        let devices = self.devices(asked);
        self.cycle += 1;
        let then = self.core.moment(self.script, &format!("s{}", self.cycle));
        self.script.line(self.core.module.edge(&self.now.state, &then.state));
        let faulted = then.condition(self.script, "faulted");
        let ends = self.script.or(&retire, &faulted);
        (self.memories, self.values) = memories;
        (self.devices, self.answers) = devices;
        self.take(&then, &ends);
        let goes_on = self.script.not(&ends);
        self.active = self.script.and(&self.active.clone(), &goes_on);
        self.now = then;
    }

    /// Memories and devices are ready, and answer.
    fn inputs(&mut self) {
        let now = &self.now;
        self.script.line(format!("(assert (not {}))", now.flag("reset")));
        for (at, (memory, _)) in self.core.interface.memories.iter().enumerate() {
            if self.core.isa.memory(MemoryId(at as u32)).is_large() {
                self.script.line(format!("(assert {})", now.flag(&format!("{memory}_ready"))));
            }
            let value = &self.values[at];
            let port = now.bits(&format!("{memory}_value"), value.bits);
            self.script.line(format!("(assert (= {port} {}))", value.text));
        }
        for (at, port) in self.core.interface.operations.iter().enumerate() {
            if port.may_wait {
                self.script.line(format!("(assert {})", now.flag(&format!("{}_ready", port.name))));
            }
            if !port.has_answer {
                continue;
            }
            let value = if port.answers_later {
                self.answers[at].clone()
            } else {
                let device = &self.core.isa.devices[port.device.index()];
                let state = &self.devices[port.device.index()];
                Some(meaning::answer(self.script, device, port.operation, state, &[]))
            };
            if let Some(value) = value {
                let port = now.bits(&format!("{}_value", port.name), value.bits);
                self.script.line(format!("(assert (= {port} {}))", value.text));
            }
        }
    }

    /// The memories after this cycle, and what they answer in the next.
    fn memories(&mut self) -> (Vec<Table>, Vec<Term>) {
        let (mut tables, mut values) = (Vec::new(), Vec::new());
        for (at, (memory, lanes)) in self.core.interface.memories.iter().enumerate() {
            let described = self.core.isa.memory(MemoryId(at as u32));
            let cell = described.cell.bits();
            let first = self.now.term(self.script, &format!("{memory}_address"), described.address.bits());
            let data = self.now.term(self.script, &format!("{memory}_data"), lanes * cell);
            let write = self.now.term(self.script, &format!("{memory}_write"), *lanes);
            let read = self.now.condition(self.script, &format!("{memory}_read"));
            let mut table = self.memories[at].clone();
            let mut value: Option<Term> = None;
            for lane in 0..*lanes {
                let address = self.script.add(&first, u64::from(lane));
                let one = self.script.get(&self.memories[at].clone(), &address);
                value = Some(value.map_or_else(|| one.clone(), |low| self.script.join(&one, &low)));
                let bit = self.script.slice(&write, lane, 1);
                let written = self.script.holds(&bit);
                let written = self.script.and(&self.active.clone(), &written);
                let what = self.script.slice(&data, lane * cell, cell);
                table = self.script.set(&table, &written, &address, &what);
            }
            let old = self.values[at].clone();
            values.push(value.map_or_else(|| old.clone(), |value| self.script.choose(&read, &value, &old)));
            tables.push(table);
        }
        (tables, values)
    }

    /// The devices after this cycle, and what they answer in the next to what they were asked in this one.
    fn devices(&mut self, earlier: Vec<Option<Term>>) -> (Vec<meaning::DeviceState>, Vec<Option<Term>>) {
        let mut states = self.devices.clone();
        let mut answers = Vec::new();
        for (port, old) in self.core.interface.operations.iter().zip(earlier) {
            let device = &self.core.isa.devices[port.device.index()];
            let asked = if port.is_asked { self.now.condition(self.script, &port.name) } else { Condition::never() };
            let done = self.script.and(&self.active.clone(), &asked);
            let arguments = self.arguments(port);
            let state = &mut states[port.device.index()];
            let answer = (port.has_answer && port.answers_later).then(|| {
                let now = &self.devices[port.device.index()];
                let answer = meaning::answer(self.script, device, port.operation, now, &arguments);
                match &old {
                    Some(old) => self.script.choose(&asked, &answer, old),
                    None => answer,
                }
            });
            answers.push(answer);
            if !port.has_answer {
                meaning::give(self.script, device.kind, state, &done, port.operation, &arguments);
            } else if meaning::takes(device.kind, port.operation) {
                let more = self.script.add(&state.reads, 1);
                state.reads = self.script.choose(&done, &more, &state.reads);
            }
        }
        (states, answers)
    }

    fn arguments(&mut self, port: &DevicePort) -> Vec<Term> {
        let operations = self.core.isa.devices[port.device.index()].kind.operations();
        let known = operations.into_iter().find(|known| known.operation == port.operation);
        let widths = known.map(|known| known.arguments).unwrap_or_default();
        let names = port.arguments.iter().zip(widths);
        names.map(|(name, width)| self.now.term(self.script, name, width.bits())).collect()
    }

    /// Keeps what there is after this cycle, if the instruction ends with it.
    fn take(&mut self, then: &Moment, ends: &Condition) {
        let new = self.look(then, ends);
        self.done = Some(match self.done.take() {
            None => new,
            Some(old) => self.later(old, new),
        });
    }

    fn look(&mut self, then: &Moment, ends: &Condition) -> Done {
        let (core, isa) = (self.core, self.core.isa);
        let script = &mut *self.script;
        let mut registers: Vec<Term> =
            isa.registers.iter().map(|register| Term::constant(register.width.bits(), register.reset)).collect();
        for (id, name) in &core.interface.registers {
            registers[id.index()] = then.term(script, name, isa.register(*id).width.bits());
        }
        let pc = isa.pc.width.bits();
        let state = State {
            pc: then.term(script, "retire_pc", pc),
            registers,
            memories: self.memories.clone(),
            devices: self.devices.clone(),
        };
        let fault_bits = lathe_base::Width::to_tell_apart(core.messages.len()).bits();
        let registers = core.register_bits();
        let (halted, faulted, replaced) = (then.flag("halted"), then.flag("faulted"), self.now.flag("retire_replaced"));
        let mut bit = |flag: String| script.define(1, format!("(ite {flag} #b1 #b0)"));
        let (halted, faulted, retire_replaced) = (bit(halted), bit(faulted), bit(replaced));
        Done {
            ended: ends.clone(),
            state,
            halted,
            faulted,
            step: then.term(script, "step", core.step_bits()),
            fault_code: then.term(script, "faulted_code", fault_bits),
            fault_detail: then.term(script, "faulted_detail", core.interface.detail_bits),
            retire_pc: self.now.term(script, "retire_pc", pc),
            retire_next: self.now.term(script, "retire_next", pc),
            retire_bits: self.now.term(script, "retire_bits", isa.longest() * isa.code_memory().cell.bits()),
            retire_replaced,
            retire_registers: (registers > 0).then(|| self.now.term(script, "retire_registers", registers)),
            retire_cycles: isa.has_cycles.then(|| self.now.term(script, "retire_cycles", 64)),
        }
    }

    /// What was there when the instruction ended: the old, if it had ended, else the new.
    fn later(&mut self, old: Done, new: Done) -> Done {
        let script = &mut *self.script;
        let was = old.ended.clone();
        let mut term = |x: &Term, y: &Term| script.choose(&was, x, y);
        let pc = term(&old.state.pc, &new.state.pc);
        let registers =
            old.state.registers.iter().zip(&new.state.registers).map(|(x, y)| term(x, y)).collect::<Vec<_>>();
        let both = |x: Option<Term>, y: Option<Term>| x.zip(y);
        let retire_registers = both(old.retire_registers, new.retire_registers).map(|(x, y)| term(&x, &y));
        let retire_cycles = both(old.retire_cycles, new.retire_cycles).map(|(x, y)| term(&x, &y));
        let done = Done {
            ended: was.clone(),
            // Memories and devices change only while the instruction is active.
            state: State { pc, registers, memories: new.state.memories, devices: new.state.devices },
            halted: term(&old.halted, &new.halted),
            faulted: term(&old.faulted, &new.faulted),
            step: term(&old.step, &new.step),
            fault_code: term(&old.fault_code, &new.fault_code),
            fault_detail: term(&old.fault_detail, &new.fault_detail),
            retire_pc: term(&old.retire_pc, &new.retire_pc),
            retire_next: term(&old.retire_next, &new.retire_next),
            retire_bits: term(&old.retire_bits, &new.retire_bits),
            retire_replaced: term(&old.retire_replaced, &new.retire_replaced),
            retire_registers,
            retire_cycles,
        };
        let ended = script.or(&was, &new.ended);
        Done { ended, ..done }
    }

    fn finish(self) -> Done {
        self.done.expect("an instruction takes at least one cycle")
    }
}
