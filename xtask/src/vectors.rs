//! Single-step vectors from the hand-written models: random states, one step, the state after it. They do not come from
//! a definition, so `lathe verify` with them is an independent check.

use std::collections::BTreeSet;
use std::path::Path;

use lathe_tests::random::Random;
use oracle::{Console, Model, Outcome};
use serde_json::{Map, Value, json};

/// Writes a file for each machine into a folder.
pub(crate) fn write(folder: &str, count: u64, seed: u64) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    for model in oracle::all() {
        let name = model.name();
        let vectors = of_machine(name, count, seed);
        let path = Path::new(folder).join(format!("{name}.json"));
        std::fs::write(&path, serde_json::to_string(&vectors)?)?;
        println!("{}: {} vectors", path.display(), vectors.len());
    }
    Ok(())
}

fn of_machine(name: &str, count: u64, seed: u64) -> Vec<Value> {
    let cases = (0..256).flat_map(|opcode| (0..count).map(move |case| (opcode, case)));
    cases
        .filter_map(|(opcode, case)| {
            let mut model = oracle::by_name(name)?;
            let mut random = Random(seed ^ (opcode << 32) ^ case.wrapping_mul(0x9E37_79B9));
            Some(vector(model.as_mut(), opcode, case, &mut random))
        })
        .collect()
}

fn vector(model: &mut dyn Model, opcode: u64, case: u64, random: &mut Random) -> Value {
    for (register, width) in model.registers() {
        model.set_register(register, random.value(*width));
    }
    let (memories, pc) = (model.memories(), model.register("pc") as usize);
    let (code, size) = memories[0];
    let (data, data_size) = memories[memories.len() - 1];
    for _ in 0..24 {
        model.memory_mut(data)[random.number() as usize % data_size] = random.number() as u8;
    }
    model.memory_mut(code)[pc % size] = opcode as u8;
    for ahead in 1..4 {
        model.memory_mut(code)[(pc + ahead) % size] = random.value(8) as u8;
    }
    let input: Vec<u8> = (0..random.number() % 3).map(|_| random.number() as u8).collect();
    let initial = state(model, None);
    let mut console = Console::with_input(&input);
    let status = match model.step(&mut console) {
        Outcome::Running => "running",
        Outcome::Halted => "halted",
        Outcome::Fault(_) => "fault",
    };
    let takes_input = !matches!(model.name(), "stack8a");
    let given = if takes_input { input } else { Vec::new() };
    json!({
        "name": format!("{opcode:02x} {case}"), "initial": initial, "final": state(model, Some(&initial)),
        "in": given, "out": console.output, "status": status,
    })
}

/// Returns registers by name, and every cell that is not zero, or that an earlier state lists: a cell that is not
/// listed afterwards has not changed.
fn state(model: &dyn Model, before: Option<&Value>) -> Value {
    let mut state = Map::new();
    for (register, _) in model.registers() {
        state.insert((*register).to_owned(), json!(model.register(register)));
    }
    for (memory, _) in model.memories() {
        let listed = before.and_then(|before| before[memory].as_array()).into_iter().flatten();
        let listed: BTreeSet<u64> = listed.filter_map(|cell| cell[0].as_u64()).collect();
        let cells = model.memory(memory).iter().zip(0u64..);
        let cells = cells.filter(|(cell, address)| **cell != 0 || listed.contains(address));
        let cells: Vec<Value> = cells.map(|(cell, address)| json!([address, cell])).collect();
        state.insert((*memory).to_owned(), json!(cells));
    }
    Value::Object(state)
}
