//! The engine for tests that look after every step: every instruction that can be compiled is executed in its compiled
//! form.

use std::sync::Arc;

use lathe_fast::Fast;
use lathe_isa::Isa;
use lathe_isa::encoding::cells;
use lathe_isa::model::{InstructionId, Place, RegisterId};
use lathe_jit::Jit;
use lathe_tests::random::Random;
use lathe_values::{Graph, SymbolicState, execute};
use lathe_vm::{Console, Devices, Engine, Interpreter, State};

/// Test vectors of each machine.
const VECTORS: u64 = 1_500;

/// Returns all machines that ship.
fn machines() -> impl Iterator<Item = Arc<Isa>> {
    lathe_machines::ALL.iter().map(|machine| {
        Arc::new(lathe_isa::load_with(machine.source(), &lathe_machines::Shipped).isa.expect("it is right"))
    })
}

/// Makes a state with one instruction with arbitrary operands at an arbitrary address, and arbitrary registers.
fn vector(isa: &Isa, random: &mut Random) -> State {
    let mut state = State::new(isa);
    let id = InstructionId(random.below(isa.instructions.len() as u64) as u32);
    let encoding = &isa.instruction(id).encoding;
    let operands: Vec<u64> = encoding.operands.iter().map(|_| random.number()).collect();
    let pc = isa.pc.width.wrap(random.number());
    state.pc = pc;
    let instruction = cells(encoding.encode(&operands), isa.code_memory().cell).take(encoding.cells as usize);
    for (cell, offset) in instruction.zip(0..) {
        state.memory_mut(isa.pc.memory).set(pc.wrapping_add(offset), cell);
    }
    for id in (0..isa.registers.len() as u32).map(RegisterId).filter(|id| !isa.register(*id).constant) {
        let width = isa.register(id).width;
        state.set_place(isa, &Place::whole(id, width), width.wrap(random.number()));
    }
    state
}

/// Whether the next instruction works on registers and memory only, and does not go on at itself.
fn can_be_compiled(isa: &Arc<Isa>, state: &State) -> bool {
    let mut fast = Fast::eager(isa);
    fast.revalidate(state);
    let decoded = fast.decode(state, state.pc);
    if fast.is_due() {
        return false;
    }
    let mut graph = Graph::default();
    let frame = SymbolicState::new(isa, &mut graph);
    let effects = decoded.meaning().and_then(|meaning| execute(isa, &mut graph, &frame, &meaning));
    effects.is_some_and(|effects| !effects.has_devices() && graph.as_constant(effects.next) != Some(state.pc))
}

#[test]
fn single_steps_are_steps_of_compiled_code() {
    for isa in machines() {
        let mut random = Random(0x2545_F491_4F6C_DD1D);
        let mut jit = Jit::stepping(&isa);
        let mut possible = 0;
        for _ in 0..VECTORS {
            let mut state = vector(&isa, &mut random);
            let mut expected = state.clone();
            let devices = || Devices::new(&isa, Console::with_input([1, 2, 3]));
            possible += u64::from(can_be_compiled(&isa, &state));
            let wanted = Interpreter::new(&isa).run(&mut expected, &mut devices(), 1);
            let found = jit.run(&mut state, &mut devices(), 1);
            assert_eq!((found, &state), (wanted, &expected), "{}", isa.name);
        }
        let steps = jit.statistics().steps;
        // Some instructions are left to the interpreter when they are executed: stores into code or into closed pages
        // of a large memory (such as every store to an arbitrary address), accesses to mapped addresses.
        assert!(steps * 20 >= possible * 17, "{}: {steps} of {possible} in compiled code", isa.name);
        assert!(possible * 4 > VECTORS, "{}: only {possible} can be compiled", isa.name);
        assert!(steps <= possible, "{}: {steps} of {possible}", isa.name);
    }
}
