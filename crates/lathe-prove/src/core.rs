//! The core of `lathe hdl` as Yosys' `write_smt2` gives it, beside memories and devices that work correctly, for as
//! many clock cycles as an instruction can take; and the claims about it.

use lathe_hdl::{DevicePort, Interface};
use lathe_isa::Isa;
use lathe_isa::model::{InstructionId, MemoryId};
use lathe_isa::operators::BinaryOperator;

use crate::compare::{self, Same};
use crate::graph::{Facts, Node};
use crate::meaning::{self, Outcome, Row, State};
use crate::module::{Module, Moment};
use crate::script::{Condition, Script, Table, Term};
use crate::{Query, Watch};

/// Names of signals, with their widths.
type Signals = Vec<(String, u32)>;

/// The stem of the signals between the core and the division unit.
const DIVIDE: &str = "divide";

/// A property of a core to be proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// From any state, with any memory, this instruction ends as the definition says, unless `on step` jumps in its
    /// place.
    Instruction(InstructionId),
    /// Bits that no row has do what the definition says.
    Undefined,
    /// Where `on step` jumps, the core does what it says and nothing else, whatever instruction stands there.
    Replaced,
    /// Reset starts at the given address, whatever the state was.
    Reset,
    /// A core that has halted or faulted keeps its state and requests nothing but instructions.
    Stopped,
    /// While something is not ready, the core keeps its state and its request, unless `on step` jumps.
    Waiting,
    /// The same where `on step` jumps.
    ReplacedWaiting,
}

/// A core that claims are made about.
#[derive(Clone, Copy, Debug)]
pub struct Core<'a> {
    /// The definition it was made from.
    pub isa: &'a Isa,
    /// Yosys' translation of it.
    pub module: &'a Module,
    /// Its ports.
    pub interface: &'a Interface,
    /// The meanings of its fault numbers.
    pub messages: &'a [String],
}

/// Returns the claims that make a core what the definition says.
pub fn claims(isa: &Isa, interface: &Interface) -> Vec<Claim> {
    let rows = (0..isa.instructions.len() as u32).map(InstructionId).map(Claim::Instruction);
    let jumps = isa.on_step.as_ref().is_some_and(|hook| hook.body.effects().jumps);
    let replaced = jumps.then_some(Claim::Replaced);
    let mut all: Vec<Claim> =
        rows.chain([Claim::Undefined]).chain(replaced).chain([Claim::Reset, Claim::Stopped]).collect();
    let waits = interface.division.is_some() || interface.operations.iter().any(|port| port.may_wait);
    if waits || isa.memories.iter().any(|memory| memory.is_large()) {
        all.push(Claim::Waiting);
        all.extend(jumps.then_some(Claim::ReplacedWaiting));
    }
    all
}

impl Claim {
    /// Returns how many clock cycles the claim covers.
    pub fn cycles(self, interface: &Interface) -> u32 {
        match self {
            Claim::Instruction(id) => interface.accesses[id.index()] + 1,
            Claim::Undefined | Claim::Replaced => interface.accesses.last().map_or(1, |accesses| accesses + 1),
            Claim::Reset | Claim::Stopped | Claim::Waiting | Claim::ReplacedWaiting => 1,
        }
    }

    /// Returns the slices of the core ([`lathe_hdl::Design::slice`]) that decide the claim: all slices, if it is about
    /// every instruction.
    pub fn slices(self, isa: &Isa) -> std::ops::RangeInclusive<usize> {
        let undefined = isa.instructions.len();
        match self {
            Claim::Instruction(id) => id.index()..=id.index(),
            // Where `on step` jumps, the instruction does not matter.
            Claim::Undefined | Claim::Replaced | Claim::ReplacedWaiting | Claim::Reset => undefined..=undefined,
            Claim::Stopped | Claim::Waiting => 0..=undefined,
        }
    }
}

impl<'a> Core<'a> {
    /// Returns the claims that make the core what the definition says.
    pub fn claims(&self) -> Vec<Claim> {
        claims(self.isa, self.interface)
    }

    /// Returns the query for a solver. It has no solution if the claim is true.
    pub fn query(&self, claim: Claim) -> Query {
        self.ask(claim, false)
    }

    /// Returns the same query with everything that is reported about a counterexample, which takes longer to write.
    pub fn query_with_case(&self, claim: Claim) -> Query {
        self.ask(claim, true)
    }

    fn ask(&self, claim: Claim, is_told: bool) -> Query {
        let mut script = Script::default();
        let watched = match claim {
            Claim::Instruction(_) | Claim::Undefined | Claim::Replaced => self.instruction(&mut script, claim, is_told),
            Claim::Reset => self.reset(&mut script),
            Claim::Stopped => self.stopped(&mut script),
            Claim::Waiting => self.waiting(&mut script, false),
            Claim::ReplacedWaiting => self.waiting(&mut script, true),
        };
        Query::new(script, watched)
    }

    fn instruction(&self, script: &mut Script, claim: Claim, is_told: bool) -> Vec<Watch> {
        let cycles = claim.cycles(self.interface);
        let row = if let Claim::Instruction(id) = claim { Row::Instruction(id) } else { Row::Undefined };
        let before = State::with(self.isa, script, row);
        let (stands, meant) = meaning::step(self.isa, script, &before, row, self.isa.longest());
        let supposed = match claim {
            Claim::Replaced => meant.replaced,
            _ => {
                let goes_on = script.not(&meant.replaced);
                script.and(&stands, &goes_on)
            }
        };
        script.suppose(supposed);
        let mut facts = Facts::default();
        script.graph.learn(&mut facts, supposed.0, true);
        // The claim is that no path through the core ends otherwise.
        let mut wrong = Condition::never();
        for mut way in Way::all(*self, script, &before, facts, cycles) {
            let meant = meant.under(script, &mut way.facts);
            let done = way.done.under(script, &mut way.facts);
            let same = self.compare(script, &before, &meant, &done);
            let same = script.all(same.into_iter().map(|(_, condition)| condition));
            let same = script.condition_under(&mut way.facts, same);
            let fails = script.not(&same);
            let fails = script.and(&way.path, &fails);
            wrong = script.or(&wrong, &fails);
        }
        script.suppose(wrong);
        if is_told { self.case(script, &before, &meant, cycles) } else { Vec::new() }
    }

    /// Returns the report on a counterexample: the core in one piece, whichever path it takes.
    fn case(&self, script: &mut Script, before: &State, meant: &Outcome, cycles: u32) -> Vec<Watch> {
        let mut facts = Facts::default();
        let mut run = Run::new(*self, script, before, &mut facts);
        let mut waves = Vec::new();
        for _ in 0..cycles {
            run.cycle(script, &mut facts);
            waves.extend(run.last.waves());
        }
        run.now.settle(&mut script.graph, &mut facts);
        waves.extend(run.now.waves());
        let done = run.finish();
        let same = self.compare(script, before, meant, &done);
        let mut told = compare::before(self.isa, before, meant);
        let (halted, faulted) = (script.bit(&meant.halted), self.faulted(script, meant));
        told.push(Watch::Status("halted", halted.node, done.halted.node));
        told.push(Watch::Status("fault", faulted.node, done.faulted.node));
        told.extend(compare::after(self.isa, script, &meant.state, &done.state));
        told.extend(compare::held(same));
        told.extend(waves);
        told
    }

    /// Returns what must be the same in the definition and in the core.
    fn compare(&self, script: &mut Script, before: &State, meant: &Outcome, done: &Done) -> Vec<Same> {
        let mut same = vec![("the instruction ends in time".to_owned(), done.ended)];
        let start = script.constant(done.step.bits, 0);
        same.push(("the core is at the beginning of an instruction".to_owned(), script.equal(&done.step, &start)));
        same.extend(compare::states(self.isa, script, &meant.state, &done.state));
        let fault = meant.fault.as_ref().map_or(Condition::never(), |fault| fault.condition);
        let faulted = self.faulted(script, meant);
        same.push(("faulted".to_owned(), script.equal(&faulted, &done.faulted)));
        same.extend(self.causes(script, meant, done));
        let works = script.not(&fault);
        for (name, condition) in self.retired(script, before, meant, done) {
            same.push((name, script.implies(&works, &condition)));
        }
        same
    }

    /// Returns one bit: whether there should be a fault.
    fn faulted(&self, script: &mut Script, meant: &Outcome) -> Term {
        let fault = meant.fault.as_ref().map_or(Condition::never(), |fault| fault.condition);
        script.bit(&fault)
    }

    /// Returns the conditions on faults: each has its number, and the right detail number.
    fn causes(&self, script: &mut Script, meant: &Outcome, done: &Done) -> Vec<Same> {
        let mut same = Vec::new();
        for (condition, message, detail) in meant.fault.iter().flat_map(|fault| &fault.causes) {
            let number = self.messages.iter().position(|known| known == message).unwrap_or(0);
            let number = script.constant(done.fault_code.bits, number as u64);
            let holds = script.equal(&done.fault_code, &number);
            same.push((format!("the fault `{message}`"), script.implies(condition, &holds)));
            let detail = match detail {
                Some(detail) => script.zero_extend(self.interface.detail_bits, detail),
                None => script.constant(self.interface.detail_bits, 0),
            };
            let holds = script.equal(&done.fault_detail, &detail);
            same.push((format!("the number of the fault `{message}`"), script.implies(condition, &holds)));
        }
        same
    }

    /// Returns the conditions that hold without a fault: the machine has halted or not, and the retire port reports
    /// what was done.
    fn retired(&self, script: &mut Script, before: &State, meant: &Outcome, done: &Done) -> Vec<Same> {
        let halted = script.bit(&meant.halted);
        let replaced = script.bit(&meant.replaced);
        let mut pairs = vec![
            ("halted", halted, done.halted),
            ("retire_pc", before.pc, done.retire_pc),
            ("retire_next", meant.state.pc, done.retire_next),
            ("retire_replaced", replaced, done.retire_replaced),
        ];
        if let Some(told) = &done.retire_registers {
            // The first register is lowest.
            let registers: Vec<Term> =
                self.interface.registers.iter().rev().map(|(id, _)| meant.state.registers[id.index()]).collect();
            pairs.push(("retire_registers", script.join_all(&registers), *told));
        }
        if let Some(told) = &done.retire_cycles {
            pairs.push(("retire_cycles", meant.cycles, *told));
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
        let mut now = Moment::new(self.module, "now");
        now.give(&mut script.graph, "reset", Condition::always().0);
        let mut facts = Facts::default();
        let supposed = script.settle(&mut now, &mut facts);
        script.suppose(supposed);
        let then = now.next(&mut script.graph, "then", &mut facts);
        let pc = self.isa.pc.width.bits();
        let (wanted, found) = (script.look(&now, "reset_pc", pc), script.look(&then, "retire_pc", pc));
        let mut same = vec![(self.isa.pc.name.clone(), script.equal(&wanted, &found))];
        same.extend(self.runs(script, &then));
        let all = script.look(&now, "reset_registers", self.register_bits().max(1));
        let mut low = 0;
        for (id, name) in &self.interface.registers {
            let bits = self.isa.register(*id).width.bits();
            let (wanted, found) = (script.slice(&all, low, bits), script.look(&then, name, bits));
            same.push((self.isa.register(*id).name.clone(), script.equal(&wanted, &found)));
            low += bits;
        }
        self.told(script, &[&now, &then], same)
    }

    /// Returns the conditions that the core is at the beginning of an instruction and has not stopped.
    fn runs(&self, script: &mut Script, now: &Moment) -> Vec<Same> {
        let mut same = Vec::new();
        for (name, bits) in [("halted", 1), ("faulted", 1), ("step", self.step_bits())] {
            let (signal, zero) = (script.look(now, name, bits), script.constant(bits, 0));
            same.push((name.to_owned(), script.equal(&signal, &zero)));
        }
        same
    }

    fn stopped(&self, script: &mut Script) -> Vec<Watch> {
        let (no, yes) = (Condition::never().0, Condition::always().0);
        let start = script.constant(self.step_bits(), 0);
        let mut told = Vec::new();
        let mut wrong = Condition::never();
        for (at, stops) in [["halted", "faulted"], ["faulted", "halted"]].into_iter().enumerate() {
            let mut now = Moment::new(self.module, &format!("now {}", stops[0]));
            now.give(&mut script.graph, "reset", no);
            now.give(&mut script.graph, stops[0], yes);
            if at == 1 {
                now.give(&mut script.graph, stops[1], no);
            }
            // Instructions end with this step, as each instruction's claim says.
            now.give(&mut script.graph, "step", start.node);
            let mut facts = Facts::default();
            let supposed = script.settle(&mut now, &mut facts);
            let then = now.next(&mut script.graph, "then", &mut facts);
            let mut same = self.kept(script, &now, &then);
            let step = script.look(&then, "step", start.bits);
            same.push(("step".to_owned(), script.equal(&step, &start)));
            let mut idle = vec![("retire".to_owned(), 1)];
            idle.extend(self.interface.memories.iter().map(|(memory, lanes)| (format!("{memory}_write"), *lanes)));
            let asked = self.interface.operations.iter().filter(|port| port.is_asked);
            idle.extend(asked.map(|port| (port.name.clone(), 1)));
            for (name, bits) in idle {
                let (signal, zero) = (script.look(&now, &name, bits), script.constant(bits, 0));
                same.push((name, script.equal(&signal, &zero)));
            }
            let fails = self.fails(script, &supposed, &same);
            wrong = script.or(&wrong, &fails);
            told.extend(compare::held(same));
        }
        script.suppose(wrong);
        told
    }

    /// Returns the condition that one of these fails although the assumption holds.
    fn fails(&self, script: &mut Script, supposed: &Condition, same: &[Same]) -> Condition {
        let all = script.all(same.iter().map(|(_, condition)| *condition));
        let fails = script.not(&all);
        script.and(supposed, &fails)
    }

    /// Covers every step, and everything that can make the core wait.
    fn waiting(&self, script: &mut Script, is_replaced: bool) -> Vec<Watch> {
        let mut told = Vec::new();
        let mut wrong = Condition::never();
        for step in 0..=self.interface.steps {
            let (now, supposed) = self.at_step(script, step, None, &mut Facts::default());
            let replaced = script.flag(&now, "retire_replaced");
            let place = if is_replaced { replaced } else { script.not(&replaced) };
            let supposed = script.and(&supposed, &place);
            for (port, blocked) in self.blocked(script, &now) {
                for (path, mut facts) in ways_to(script, &supposed, &blocked) {
                    let now = now.under(&mut script.graph, &mut facts);
                    let (mut same, supposed) = self.stays(script, &now, &port, &mut facts);
                    let (goes_on, also) = self.goes_on(script, &now, (step, &port), &mut facts);
                    same.push(("it goes on as if it had not waited".to_owned(), goes_on));
                    let path = script.and(&path, &supposed);
                    let path = script.and(&path, &also);
                    let fails = self.fails(script, &path, &same);
                    wrong = script.or(&wrong, &fails);
                    told.extend(compare::held(same));
                }
            }
        }
        script.suppose(wrong);
        told
    }

    /// Returns any cycle in the middle of an instruction after the given number of accesses, with one thing known to be
    /// ready or none; and the assumption. Whatever is not known is the same in all cycles of one step.
    fn at_step(
        &self,
        script: &mut Script,
        step: u32,
        ready: Option<&str>,
        facts: &mut Facts,
    ) -> (Moment<'a>, Condition) {
        let mut now = Moment::new(self.module, &format!("now {step}"));
        for name in ["reset", "halted", "faulted"] {
            now.give(&mut script.graph, name, Condition::never().0);
        }
        let number = script.constant(self.step_bits(), u64::from(step));
        now.give(&mut script.graph, "step", number.node);
        if let Some(port) = ready {
            self.is_ready(script, &mut now, port);
        }
        let supposed = script.settle(&mut now, facts);
        (now, supposed)
    }

    /// Makes something ready that the core may have waited for. The outputs of the division unit are right only then.
    fn is_ready(&self, script: &mut Script, now: &mut Moment, port: &str) {
        now.give(&mut script.graph, &format!("{port}_ready"), Condition::always().0);
        if port == DIVIDE {
            for (name, bits) in self.divided() {
                let value = script.unknown(&format!("{name} when ready"), bits);
                now.give(&mut script.graph, &name, value.node);
            }
        }
    }

    /// Returns the ports that can make the core wait, each with the condition that it is requested and not ready.
    fn blocked(&self, script: &mut Script, now: &Moment) -> Vec<(String, Condition)> {
        let mut all = Vec::new();
        for (at, (memory, lanes)) in self.interface.memories.iter().enumerate() {
            if self.isa.memory(MemoryId(at as u32)).is_large() {
                let (writes, none) = (script.look(now, &format!("{memory}_write"), *lanes), script.constant(*lanes, 0));
                let idle = script.equal(&writes, &none);
                let (writes, reads) = (script.not(&idle), script.flag(now, &format!("{memory}_read")));
                let asked = script.or(&reads, &writes);
                all.push((memory.clone(), self.is_not_ready(script, now, memory, &asked)));
            }
        }
        for port in self.interface.operations.iter().filter(|port| port.may_wait) {
            let asked = script.flag(now, &port.name);
            all.push((port.name.clone(), self.is_not_ready(script, now, &port.name, &asked)));
        }
        if self.interface.division.is_some() {
            let asked = script.flag(now, "divide_take");
            all.push((DIVIDE.to_owned(), self.is_not_ready(script, now, DIVIDE, &asked)));
        }
        all.retain(|(_, condition)| !condition.is_never());
        all
    }

    /// Returns what must hold after a cycle in which the core had to wait, and the assumption. `step` may have changed:
    /// an answer that a device gives at any time need not be requested again.
    fn stays(&self, script: &mut Script, now: &Moment<'a>, port: &str, facts: &mut Facts) -> (Vec<Same>, Condition) {
        let (then, supposed) = self.after_waiting(script, now, (port, false), facts);
        let mut same = self.kept(script, now, &then);
        let retire = script.flag(now, "retire");
        same.push(("retire".to_owned(), script.not(&retire)));
        for (name, bits) in self.asked().1 {
            let (one, other) = (script.look(now, &name, bits), script.look(&then, &name, bits));
            same.push((name, script.equal(&one, &other)));
        }
        let same = same.into_iter().map(|(name, one)| (name, script.condition_under(facts, one))).collect();
        (same, supposed)
    }

    /// Returns the condition that the core reaches the same state whether it had to wait for something in this cycle or
    /// that was ready at once; and the assumption.
    fn goes_on(
        &self,
        script: &mut Script,
        now: &Moment<'a>,
        (step, port): (u32, &str),
        facts: &mut Facts,
    ) -> (Condition, Condition) {
        let (at_once, supposed) = self.at_step(script, step, Some(port), facts);
        let (late, also) = self.after_waiting(script, now, (port, true), facts);
        // Slices differ only in what instructions do, provided that whether an instruction is executed stays the same.
        let replaced = [now, &at_once, &late].map(|moment| script.flag(moment, "retire_replaced"));
        let mut same: Vec<Condition> =
            replaced[1..].iter().map(|one| Condition(script.graph.equal(replaced[0].0, one.0))).collect();
        for (name, bits) in self.asked().1.into_iter().chain([("retire".to_owned(), 1)]) {
            let (one, other) = (script.look(&at_once, &name, bits), script.look(&late, &name, bits));
            same.push(script.equal(&one, &other));
        }
        let one = at_once.next(&mut script.graph, "at once", facts);
        let other = late.next(&mut script.graph, "late", facts);
        for (one, other) in one.state().zip(other.state()) {
            same.push(Condition(script.graph.equal(one, other)));
        }
        let same = script.all(same);
        (script.condition_under(facts, same), script.and(&supposed, &also))
    }

    /// Returns the cycle after one in which the core had to wait for something, with that ready or unknown. The other
    /// inputs stay the same, except that the outputs of the division unit are unknown while it is not ready.
    fn after_waiting(
        &self,
        script: &mut Script,
        now: &Moment<'a>,
        (port, is_ready): (&str, bool),
        facts: &mut Facts,
    ) -> (Moment<'a>, Condition) {
        let mut then = now.next(&mut script.graph, "then", facts);
        then.give(&mut script.graph, "reset", Condition::never().0);
        let quotients = if port == DIVIDE { self.divided() } else { Signals::new() };
        for (name, bits) in self.asked().0.into_iter().filter(|signal| !quotients.contains(signal)) {
            let value = script.look(now, &name, bits);
            then.give(&mut script.graph, &name, value.node);
        }
        for name in self.waits().into_iter().filter(|_| is_ready) {
            if name == port {
                self.is_ready(script, &mut then, port);
            } else {
                let value = script.flag(now, &format!("{name}_ready"));
                then.give(&mut script.graph, &format!("{name}_ready"), value.0);
            }
        }
        let supposed = script.settle(&mut then, facts);
        (then, supposed)
    }

    /// Returns the ports of everything that can make the core wait.
    fn waits(&self) -> Vec<String> {
        let memories = self.interface.memories.iter().zip(&self.isa.memories);
        let memories = memories.filter(|(_, described)| described.is_large()).map(|((name, _), _)| name.clone());
        let ports = self.interface.operations.iter().filter(|port| port.may_wait).map(|port| port.name.clone());
        memories.chain(ports).chain(self.interface.division.map(|_| DIVIDE.to_owned())).collect()
    }

    /// Returns the outputs of the division unit.
    fn divided(&self) -> Signals {
        let names = ["divide_quotient", "divide_remainder"];
        self.interface.division.map_or(Vec::new(), |bits| names.map(|name| (name.to_owned(), bits)).into())
    }

    fn is_not_ready(&self, script: &mut Script, now: &Moment, port: &str, asked: &Condition) -> Condition {
        let ready = script.flag(now, &format!("{port}_ready"));
        let late = script.not(&ready);
        script.and(asked, &late)
    }

    /// Returns the answers of memories and devices, and the requests to them, with their widths.
    fn asked(&self) -> (Signals, Signals) {
        let (mut given, mut asked) = (Vec::new(), Vec::new());
        for port in &self.interface.operations {
            let described = self.isa.devices[port.device.index()].kind.operations();
            let known = described.into_iter().find(|known| known.operation == port.operation);
            if let Some(width) = known.as_ref().and_then(|known| known.result) {
                given.push((format!("{}_value", port.name), width.bits()));
            }
            if port.may_wait {
                asked.push((port.name.clone(), 1));
            }
            let widths = known.map(|known| known.arguments).unwrap_or_default();
            asked.extend(port.arguments.iter().cloned().zip(widths.iter().map(|width| width.bits())));
        }
        for (at, (memory, lanes)) in self.interface.memories.iter().enumerate() {
            let described = self.isa.memory(MemoryId(at as u32));
            let cells = lanes * described.cell.bits();
            given.push((format!("{memory}_value"), cells));
            let ends = [("address", described.address.bits()), ("write", *lanes), ("data", cells)];
            asked.extend(ends.map(|(end, bits)| (format!("{memory}_{end}"), bits)));
        }
        if let Some(bits) = self.interface.division {
            given.extend(self.divided());
            asked.extend([("divide_start", 1), ("divide_x", bits), ("divide_y", bits)].map(owned));
        }
        (given, asked)
    }

    /// Returns the conditions that the state has not changed.
    fn kept(&self, script: &mut Script, now: &Moment, then: &Moment) -> Vec<Same> {
        let registers =
            self.interface.registers.iter().map(|(id, name)| (name.clone(), self.isa.register(*id).width.bits()));
        let others = [("halted", 1), ("faulted", 1), ("retire_pc", self.isa.pc.width.bits())];
        let all = others.into_iter().map(|(name, bits)| (name.to_owned(), bits)).chain(registers);
        let same = |(name, bits): (String, u32)| {
            let (one, other) = (script.look(now, &name, bits), script.look(then, &name, bits));
            (name, script.equal(&one, &other))
        };
        all.map(same).collect()
    }

    /// Claims that all of these hold, and returns what to report if one does not.
    fn told(&self, script: &mut Script, moments: &[&Moment], same: Vec<Same>) -> Vec<Watch> {
        compare::refute(script, &same);
        let waves = moments.iter().flat_map(|moment| moment.waves());
        compare::held(same).chain(waves).collect()
    }

    fn register_bits(&self) -> u32 {
        self.interface.registers.iter().map(|(id, _)| self.isa.register(*id).width.bits()).sum()
    }

    fn step_bits(&self) -> u32 {
        (u32::BITS - self.interface.steps.leading_zeros()).max(1)
    }
}

impl Script {
    /// Returns a signal of a core.
    pub(crate) fn look(&mut self, moment: &Moment, name: &str, bits: u32) -> Term {
        let node = moment.signal(&mut self.graph, name, bits);
        Term { bits, node }
    }

    /// Returns a signal of one bit as a condition.
    fn flag(&mut self, moment: &Moment, name: &str) -> Condition {
        Condition(moment.signal(&mut self.graph, name, 1))
    }

    /// Computes all signals of a cycle; returns the assumption.
    pub(crate) fn settle(&mut self, moment: &mut Moment, facts: &mut Facts) -> Condition {
        let supposed = moment.settle(&mut self.graph, facts);
        self.all(supposed.into_iter().map(Condition))
    }
}

fn owned((name, bits): (&str, u32)) -> (String, u32) {
    (name.to_owned(), bits)
}

/// The core, its memories and its devices while an instruction is executed.
#[derive(Clone)]
struct Run<'a> {
    core: Core<'a>,
    now: Moment<'a>,
    cycle: u32,
    memories: Vec<Table>,
    devices: Vec<meaning::DeviceState>,
    /// The answers of memories and devices in this cycle.
    values: Vec<Term>,
    answers: Vec<Option<Term>>,
    /// The quotient and remainder of the last operands given to the division unit.
    divided: Vec<Term>,
    /// Whether the instruction had not ended before this cycle.
    active: Condition,
    /// The assumptions about signals that are more than inputs and state.
    supposed: Condition,
    /// The cycle before this one.
    last: Moment<'a>,
    done: Option<Done>,
}

/// The core's result of an instruction.
#[derive(Clone)]
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

impl<'a> Run<'a> {
    /// Starts the core at the beginning of an instruction, in a state that the definition knows too.
    fn new(core: Core<'a>, script: &mut Script, before: &State, facts: &mut Facts) -> Run<'a> {
        let mut now = Moment::new(core.module, "s0");
        let mut known = vec![("retire_pc".to_owned(), before.pc)];
        for (name, bits) in [("halted", 1), ("faulted", 1), ("step", core.step_bits())] {
            known.push((name.to_owned(), script.constant(bits, 0)));
        }
        let registers = core.interface.registers.iter().map(|(id, name)| (name.clone(), before.registers[id.index()]));
        known.extend(registers);
        for (name, value) in known {
            now.give(&mut script.graph, &name, value.node);
        }
        now.compute(&mut script.graph, facts);
        let mut values = Vec::new();
        for (at, (memory, lanes)) in core.interface.memories.iter().enumerate() {
            let bits = lanes * core.isa.memory(MemoryId(at as u32)).cell.bits();
            values.push(script.unknown(&format!("{memory}_value before"), bits));
        }
        let answers = core.interface.operations.iter().map(|_| None).collect();
        let divided = core.divided().into_iter().map(|(name, bits)| script.unknown(&format!("{name} before"), bits));
        let divided = divided.collect();
        Run {
            core,
            last: now.clone(),
            now,
            supposed: Condition::always(),
            cycle: 0,
            memories: before.memories.clone(),
            devices: before.devices.clone(),
            values,
            answers,
            divided,
            active: Condition::always(),
            done: None,
        }
    }

    fn cycle(&mut self, script: &mut Script, facts: &mut Facts) {
        self.inputs(script);
        for same in self.now.settle(&mut script.graph, facts) {
            self.supposed = script.and(&self.supposed, &Condition(same));
        }
        let retire = script.flag(&self.now, "retire");
        let asked = std::mem::take(&mut self.answers);
        let memories = self.memories(script);
        let devices = self.devices(script, asked);
        self.divided = self.division(script);
        self.cycle += 1;
        let then = self.now.next(&mut script.graph, &format!("s{}", self.cycle), facts);
        let faulted = script.flag(&then, "faulted");
        let ends = script.or(&retire, &faulted);
        (self.memories, self.values) = memories;
        (self.devices, self.answers) = devices;
        self.take(script, &then, &ends);
        let goes_on = script.not(&ends);
        self.active = script.and(&self.active, &goes_on);
        self.last = std::mem::replace(&mut self.now, then);
    }

    /// Simplifies the run by known facts.
    fn under(&self, script: &mut Script, facts: &mut Facts) -> Run<'a> {
        let state = State {
            pc: Condition::always().term(),
            registers: self.values.clone(),
            memories: self.memories.clone(),
            devices: self.devices.clone(),
        };
        let State { registers, memories, devices, .. } = state.under(script, facts);
        Run {
            now: self.now.under(&mut script.graph, facts),
            values: registers,
            memories,
            devices,
            answers: self.answers.iter().map(|one| one.as_ref().map(|term| script.under(facts, term))).collect(),
            divided: self.divided.iter().map(|term| script.under(facts, term)).collect(),
            supposed: script.condition_under(facts, self.supposed),
            done: self.done.as_ref().map(|done| done.under(script, facts)),
            ..self.clone()
        }
    }

    /// Sets the inputs: memories, devices and the division unit are ready, and answer.
    fn inputs(&mut self, script: &mut Script) {
        self.now.give(&mut script.graph, "reset", Condition::never().0);
        for (at, (memory, _)) in self.core.interface.memories.iter().enumerate() {
            if self.core.isa.memory(MemoryId(at as u32)).is_large() {
                self.now.give(&mut script.graph, &format!("{memory}_ready"), Condition::always().0);
            }
            let value = self.values[at];
            self.now.give(&mut script.graph, &format!("{memory}_value"), value.node);
        }
        for (at, port) in self.core.interface.operations.iter().enumerate() {
            if port.may_wait {
                self.now.give(&mut script.graph, &format!("{}_ready", port.name), Condition::always().0);
            }
            if !port.has_answer {
                continue;
            }
            let value = if port.answers_later {
                self.answers[at]
            } else {
                let device = &self.core.isa.devices[port.device.index()];
                let state = &self.devices[port.device.index()];
                Some(meaning::answer(script, device, port.operation, state, &[]))
            };
            if let Some(value) = value {
                self.now.give(&mut script.graph, &format!("{}_value", port.name), value.node);
            }
        }
        for ((name, _), value) in self.core.divided().iter().zip(&self.divided) {
            self.now.give(&mut script.graph, name, value.node);
        }
        if self.core.interface.division.is_some() {
            self.now.give(&mut script.graph, "divide_ready", Condition::always().0);
        }
    }

    /// Returns quotient and remainder after this cycle. That the unit computes them is proven separately.
    fn division(&mut self, script: &mut Script) -> Vec<Term> {
        let Some(bits) = self.core.interface.division else { return Vec::new() };
        let start = script.flag(&self.now, "divide_start");
        let (x, y) = (script.look(&self.now, "divide_x", bits), script.look(&self.now, "divide_y", bits));
        let new = [BinaryOperator::Divide, BinaryOperator::Remainder].map(|part| script.binary(part, &x, &y));
        new.iter().zip(&self.divided).map(|(new, old)| script.choose(&start, new, old)).collect()
    }

    /// Returns the memories after this cycle, and their answers in the next.
    fn memories(&mut self, script: &mut Script) -> (Vec<Table>, Vec<Term>) {
        let (mut tables, mut values) = (Vec::new(), Vec::new());
        for (at, (memory, lanes)) in self.core.interface.memories.iter().enumerate() {
            let described = self.core.isa.memory(MemoryId(at as u32));
            let cell = described.cell.bits();
            let first = script.look(&self.now, &format!("{memory}_address"), described.address.bits());
            let data = script.look(&self.now, &format!("{memory}_data"), lanes * cell);
            let write = script.look(&self.now, &format!("{memory}_write"), *lanes);
            let read = script.flag(&self.now, &format!("{memory}_read"));
            let mut table = self.memories[at].clone();
            let mut value: Option<Term> = None;
            for lane in 0..*lanes {
                let address = script.add(&first, u64::from(lane));
                let one = script.get(&self.memories[at].clone(), &address);
                value = Some(value.map_or_else(|| one, |low| script.join(&one, &low)));
                let bit = script.slice(&write, lane, 1);
                let written = script.holds(&bit);
                let written = script.and(&self.active.clone(), &written);
                let what = script.slice(&data, lane * cell, cell);
                table = script.set(&table, &written, &address, &what);
            }
            let old = self.values[at];
            values.push(value.map_or_else(|| old, |value| script.choose(&read, &value, &old)));
            tables.push(table);
        }
        (tables, values)
    }

    /// Returns the devices after this cycle, and their answers in the next to this cycle's requests.
    fn devices(
        &mut self,
        script: &mut Script,
        earlier: Vec<Option<Term>>,
    ) -> (Vec<meaning::DeviceState>, Vec<Option<Term>>) {
        let mut states = self.devices.clone();
        let mut answers = Vec::new();
        for (port, old) in self.core.interface.operations.iter().zip(earlier) {
            let device = &self.core.isa.devices[port.device.index()];
            let asked = if port.is_asked { script.flag(&self.now, &port.name) } else { Condition::never() };
            let done = script.and(&self.active.clone(), &asked);
            let arguments = self.arguments(script, port);
            let state = &mut states[port.device.index()];
            let answer = (port.has_answer && port.answers_later).then(|| {
                let now = &self.devices[port.device.index()];
                let answer = meaning::answer(script, device, port.operation, now, &arguments);
                match &old {
                    Some(old) => script.choose(&asked, &answer, old),
                    None => answer,
                }
            });
            answers.push(answer);
            if !port.has_answer {
                meaning::give(script, device.kind, state, &done, port.operation, &arguments);
            } else if meaning::takes(device.kind, port.operation) {
                let more = script.add(&state.reads, 1);
                state.reads = script.choose(&done, &more, &state.reads);
            }
        }
        (states, answers)
    }

    fn arguments(&mut self, script: &mut Script, port: &DevicePort) -> Vec<Term> {
        let operations = self.core.isa.devices[port.device.index()].kind.operations();
        let known = operations.into_iter().find(|known| known.operation == port.operation);
        let widths = known.map(|known| known.arguments).unwrap_or_default();
        let names = port.arguments.iter().zip(widths);
        names.map(|(name, width)| script.look(&self.now, name, width.bits())).collect()
    }

    /// Keeps the state after this cycle, if the instruction ends with it.
    fn take(&mut self, script: &mut Script, then: &Moment, ends: &Condition) {
        let new = self.look(script, then, ends);
        self.done = Some(match self.done.take() {
            None => new,
            Some(old) => Run::later(script, old, new),
        });
    }

    fn look(&mut self, script: &mut Script, then: &Moment, ends: &Condition) -> Done {
        let (core, isa) = (self.core, self.core.isa);
        let constant = |register: &lathe_isa::model::Register| script.constant(register.width.bits(), register.reset);
        let mut registers: Vec<Term> = isa.registers.iter().map(constant).collect();
        for (id, name) in &core.interface.registers {
            registers[id.index()] = script.look(then, name, isa.register(*id).width.bits());
        }
        let pc = isa.pc.width.bits();
        let state = State {
            pc: script.look(then, "retire_pc", pc),
            registers,
            memories: self.memories.clone(),
            devices: self.devices.clone(),
        };
        let fault_bits = lathe_base::Width::to_tell_apart(core.messages.len()).bits();
        let registers = core.register_bits();
        Done {
            ended: *ends,
            state,
            halted: script.look(then, "halted", 1),
            faulted: script.look(then, "faulted", 1),
            step: script.look(then, "step", core.step_bits()),
            fault_code: script.look(then, "faulted_code", fault_bits),
            fault_detail: script.look(then, "faulted_detail", core.interface.detail_bits),
            retire_pc: script.look(&self.now, "retire_pc", pc),
            retire_next: script.look(&self.now, "retire_next", pc),
            retire_bits: script.look(&self.now, "retire_bits", isa.longest() * isa.code_memory().cell.bits()),
            retire_replaced: script.look(&self.now, "retire_replaced", 1),
            retire_registers: (registers > 0).then(|| script.look(&self.now, "retire_registers", registers)),
            retire_cycles: isa.has_cycles.then(|| script.look(&self.now, "retire_cycles", 64)),
        }
    }

    /// Returns the result at the end of the instruction: the old one if it had ended, else the new one.
    fn later(script: &mut Script, old: Done, new: Done) -> Done {
        let was = old.ended;
        let mut term = |x: &Term, y: &Term| script.choose(&was, x, y);
        let pc = term(&old.state.pc, &new.state.pc);
        let registers =
            old.state.registers.iter().zip(&new.state.registers).map(|(x, y)| term(x, y)).collect::<Vec<_>>();
        let both = |x: Option<Term>, y: Option<Term>| x.zip(y);
        let retire_registers = both(old.retire_registers, new.retire_registers).map(|(x, y)| term(&x, &y));
        let retire_cycles = both(old.retire_cycles, new.retire_cycles).map(|(x, y)| term(&x, &y));
        let done = Done {
            ended: was,
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

impl Done {
    fn under(&self, script: &mut Script, facts: &mut Facts) -> Done {
        let state = self.state.under(script, facts);
        let ended = script.condition_under(facts, self.ended);
        let mut term = |term: &Term| script.under(facts, term);
        Done {
            ended,
            state,
            halted: term(&self.halted),
            faulted: term(&self.faulted),
            step: term(&self.step),
            fault_code: term(&self.fault_code),
            fault_detail: term(&self.fault_detail),
            retire_pc: term(&self.retire_pc),
            retire_next: term(&self.retire_next),
            retire_bits: term(&self.retire_bits),
            retire_replaced: term(&self.retire_replaced),
            retire_registers: self.retire_registers.as_ref().map(&mut term),
            retire_cycles: self.retire_cycles.as_ref().map(&mut term),
        }
    }
}

/// Beyond this many paths, a condition no longer splits them.
const MOST_WAYS: usize = 500;

/// One path through an instruction: in each cycle it is known which accesses have been done, and whether the
/// instruction ends.
struct Way {
    /// The condition under which it is taken.
    path: Condition,
    facts: Facts,
    done: Done,
}

impl Way {
    /// Returns all paths. Together they cover every case.
    fn all<'a>(core: Core<'a>, script: &mut Script, before: &State, mut facts: Facts, cycles: u32) -> Vec<Way> {
        let run = Run::new(core, script, before, &mut facts).under(script, &mut facts);
        let mut left = vec![(run, Condition::always(), facts)];
        let mut ways = Vec::new();
        while let Some((mut run, path, mut facts)) = left.pop() {
            let is_much = ways.len() + left.len() > MOST_WAYS;
            let split = |script: &mut Script, run: &Run<'a>, condition: Node| {
                [true, false].map(|holds| {
                    let (path, mut facts) = learned(script, (&path, &facts), condition, holds);
                    (run.under(script, &mut facts), path, facts)
                })
            };
            let Some(done) = run.done.clone() else {
                let step = script.look(&run.now, "step", core.step_bits());
                match script.graph.decides(step.node).filter(|_| !is_much) {
                    Some(decides) => left.extend(split(script, &run, decides)),
                    None => {
                        run.cycle(script, &mut facts);
                        left.push((run.under(script, &mut facts), path, facts));
                    }
                }
                continue;
            };
            let ends = done.ended;
            if run.cycle == cycles || ends == Condition::always() {
                let path = script.and(&path, &run.supposed);
                ways.push(Way { path, facts, done });
            } else if ends == Condition::never() {
                left.push((Run { active: Condition::always(), done: None, ..run }, path, facts));
            } else {
                let decides = script.graph.decides(ends.0).filter(|_| !is_much);
                left.extend(split(script, &run, decides.unwrap_or(ends.0)));
            }
        }
        ways
    }
}

/// Returns the paths to a condition, each with the facts known on it. Together they cover every case in which the
/// condition holds.
fn ways_to(script: &mut Script, supposed: &Condition, wanted: &Condition) -> Vec<(Condition, Facts)> {
    let wanted = script.and(supposed, wanted);
    let mut left = vec![(Condition::always(), Facts::default())];
    let mut ways = Vec::new();
    while let Some((path, mut facts)) = left.pop() {
        let here = script.condition_under(&mut facts, wanted);
        if here.is_never() {
            continue;
        }
        match script.graph.decides(here.0).filter(|_| ways.len() + left.len() < MOST_WAYS) {
            Some(decides) => left.extend([true, false].map(|holds| learned(script, (&path, &facts), decides, holds))),
            None => {
                script.graph.learn(&mut facts, here.0, true);
                ways.push((script.and(&path, &here), facts));
            }
        }
    }
    ways
}

/// Returns a path and its facts with one fact more.
fn learned(
    script: &mut Script,
    (path, facts): (&Condition, &Facts),
    condition: Node,
    holds: bool,
) -> (Condition, Facts) {
    let mut facts = facts.clone_known();
    script.graph.learn(&mut facts, condition, holds);
    let condition = if holds { Condition(condition) } else { script.not(&Condition(condition)) };
    (script.and(path, &condition), facts)
}
