//! The processor modules for Ghidra, compiled and lifted by Ghidra's own SLEIGH: every instruction of every machine is
//! shown as Lathe shows it, and its p-code does what the reference interpreter does, from random states.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::Arc;

use lathe_asm::disassembler;
use lathe_base::Source;
use lathe_isa::Isa;
use lathe_isa::encoding::cells;
use lathe_isa::model::{Instruction, MemoryId};
use lathe_tests::random::Random;
use lathe_tests::tools;
use lathe_vm::{Console, Devices, Interpreter, State, Step};
use serde_json::{Value, json};

/// The number of cells of each memory that are not zero at the beginning.
const FILLED: u64 = 1 << 16;
/// Cases for each instruction.
const TURNS: usize = 12;

/// Returns a machine without what p-code lacks: maps and hooks.
fn machine(source: Source) -> Isa {
    let mut isa = lathe_isa::load_with(source, &lathe_machines::Shipped).isa.expect("it is right");
    isa.maps.clear();
    isa.on_step = None;
    isa
}

/// Returns a value at one of the ends, a small one, or any.
fn value(random: &mut Random, mask: u64) -> u64 {
    let any = random.number();
    mask & match random.below(6) {
        0 => 0,
        1 => mask,
        2 => mask >> 1,
        3 => any & 0xFF,
        4 => any & 0xFFFF,
        _ => any,
    }
}

/// Returns an instruction with random operands, if one decodes as itself.
fn window(isa: &Isa, instruction: &Instruction, random: &mut Random) -> Option<u128> {
    let operands: Vec<u64> = instruction
        .operands
        .iter()
        .map(|id| {
            let field = isa.field(*id);
            value(random, field.width.mask()) & !((1 << field.unstored_bits()) - 1)
        })
        .collect();
    let window = instruction.encoding.encode(&operands);
    let decoded = isa.decode(window)?;
    std::ptr::eq(isa.instruction(decoded.instruction), instruction).then_some(window)
}

/// Executes one instruction from a random state; returns the case as data, or `None` if it stops the machine or reaches
/// a device.
fn case(isa: &Arc<Isa>, instruction: &Instruction, window: u128, start: &State, random: &mut Random) -> Option<Value> {
    let count = instruction.encoding.cells as usize;
    let code: Vec<u64> = cells(window, isa.code_memory().cell).take(count).collect();
    let mut state = start.clone();
    for (register, value_before) in isa.registers.iter().zip(state.registers_mut()) {
        if !register.constant {
            *value_before = value(random, register.width.mask());
        }
    }
    // SLEIGH must begin where no instruction can run past the end of memory.
    state.pc = value(random, isa.pc.width.mask() >> 1) & !0xF;
    for (cell, at) in code.iter().zip(state.pc..) {
        state.memory_mut(isa.pc.memory).set(at, *cell);
    }
    let named = |state: &State| -> Value {
        let all = isa.registers.iter().zip(state.registers()).filter(|(register, _)| !register.constant);
        all.map(|(register, value)| (sleigh_name(&register.name), json!(value)))
            .collect::<serde_json::Map<_, _>>()
            .into()
    };
    let (pc, before) = (state.pc, named(&state));
    let mut interpreter = Interpreter::new(isa);
    let mut devices = Devices::new(isa, Console::with_input([]));
    if !matches!(interpreter.step(&mut state, &mut devices), Step { stop: None, .. }) {
        return None;
    }
    let stores: Vec<Value> = interpreter
        .changes(&state)
        .cells
        .iter()
        .map(|change| {
            json!([
                sleigh_name(&isa.memory(change.memory).name),
                change.address,
                state.memory(change.memory).get(change.address)
            ])
        })
        .collect();
    let decoded = isa.decode(window)?;
    let text = disassembler::instruction(isa, &decoded, pc, |_, at| Some(format!("{at:#x}")));
    let has_names = instruction.operands.iter().any(|id| !isa.field(*id).spellings.is_empty());
    Some(json!({
        "text": text,
        "comparable": !has_names && instruction.syntax.glued().is_none(),
        "pc": pc,
        "next": isa.pc.width.wrap(pc + count as u64),
        "cells": code,
        "before": before,
        "after": state.pc,
        "registers": named(&state),
        "stores": stores,
    }))
}

/// Words reserved by SLEIGH that somebody may have named a register.
const TAKEN: [&str; 8] = ["carry", "const", "unique", "goto", "instruction", "target", "register_space", "number"];

fn sleigh_name(name: &str) -> String {
    if TAKEN.contains(&name) || name == "space" { format!("{name}_") } else { name.to_owned() }
}

/// Returns a machine whose every name is a word of SLEIGH.
fn unlucky() -> Source {
    let rows: Vec<String> = TAKEN
        .iter()
        .zip(0..)
        .map(|(word, code)| format!("  export {word} | 0000 {code:04b} | {word} = {word} + space[carry]\n"))
        .collect();
    let text = format!(
        "machine macro \"\"\nmemory space : u8 -> u8\npc return : u8 in space\nregister {} : u8\ninstructions {{\n{}\
         \x20 is | 0001 0000 | space[const] = unique; return = target\n}}\n",
        TAKEN.join(", "),
        rows.concat(),
    );
    Source::new("macro.isa", text)
}

#[test]
fn ghidra_shows_and_executes_what_lathe_does() {
    let Some(python) = tools::find_python_with("ghidra_shows_and_executes_what_lathe_does", "pypcode") else { return };
    let mut failed = Vec::new();
    for source in lathe_machines::every().map(|shipped| shipped.source()).chain([unlucky()]) {
        let isa = Arc::new(machine(source));
        let folder = tempfile::tempdir().expect("a folder can be made");
        let Ok(export) = lathe_export::ghidra(&isa) else {
            assert_eq!(isa.name, "pdp8", "only cells of 12 bits are none for SLEIGH");
            continue;
        };
        for file in &export.files {
            let path = folder.path().join(&file.name);
            std::fs::create_dir_all(path.parent().expect("it is in the folder")).expect("folders can be made");
            std::fs::write(path, &file.text).expect("files can be written");
        }
        let mut random = Random(1);
        let mut start = State::new(&isa);
        let mut memories = Vec::new();
        for (index, memory) in isa.memories.iter().enumerate() {
            let filled: Vec<u64> =
                (0..=memory.last().min(FILLED - 1)).map(|_| memory.cell.wrap(random.number())).collect();
            let own = start.memory_mut(MemoryId(index as u32));
            filled.iter().zip(0..).for_each(|(value, at)| own.set(at, *value));
            let unit = memory.cell.bits().div_ceil(8).next_power_of_two();
            let bytes = memory.cells() as u64 * u64::from(unit);
            let name = sleigh_name(&memory.name);
            memories.push(json!({ "name": name, "unit": unit, "bytes": bytes, "cells": filled }));
        }
        assert!(!export.missing.iter().any(|line| line.contains("`: the bits")), "{}: {:?}", isa.name, export.missing);
        // Instructions that the export reports as missing are not compared, and there are few of them.
        let is_missing = |instruction: &&Instruction| {
            let shown = instruction.syntax.render(|index| isa.field(instruction.operands[index]).name.clone());
            export.missing.contains(&format!("`{shown}`: a number that is always the same"))
        };
        let missing = isa.instructions.iter().filter(is_missing).count();
        assert_eq!(missing, if isa.name == "rv32imc" { 2 } else { 0 }, "{}: {:?}", isa.name, export.missing);
        let mut cases = Vec::new();
        for instruction in isa.instructions.iter().filter(|instruction| !is_missing(instruction)) {
            for _ in 0..TURNS {
                let Some(window) = window(&isa, instruction, &mut random) else { continue };
                cases.extend(case(&isa, instruction, window, &start, &mut random));
            }
        }
        let told = json!({
            "folder": folder.path(),
            "machine": isa.name,
            "code": sleigh_name(&isa.code_memory().name),
            "big": export.files[0].text.contains("define endian=big"),
            "memories": memories,
            "cases": cases,
        });
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/pcode.py");
        let mut child = Command::new(&python)
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Python can be started");
        let mut input = child.stdin.take().expect("it is piped");
        input.write_all(told.to_string().as_bytes()).expect("Python reads it");
        drop(input);
        let output = child.wait_with_output().expect("Python ends");
        if !output.status.success() {
            failed.push(isa.name.clone());
        }
        println!("{}", String::from_utf8_lossy(&output.stdout).trim_end());
    }
    assert!(failed.is_empty(), "{failed:?}; see above");
}
