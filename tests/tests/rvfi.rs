//! rv32i's core behind the RISC-V Formal Interface (`machines/rv32i/rvfi.v`), beside the reference interpreter: every
//! signal of every instruction of some programs.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use lathe_asm::{Image, Options, assemble};
use lathe_base::Source;
use lathe_base::files::MemoryFiles;
use lathe_hdl::Program;
use lathe_isa::Isa;
use lathe_isa::model::MemoryId;
use lathe_tests::cosim::{tool, write};
use lathe_tests::tools;
use lathe_vm::stops::AccessKind;
use lathe_vm::{Console, Devices, Interpreter, State, Stop};

const RAM: MemoryId = MemoryId(0);
const CSR: MemoryId = MemoryId(1);
const MEPC: u64 = 0x341;

/// Jumps and branches to half words, which trap, with and without a handler.
const JUMPS: &str = "
.machine rv32i
        la t0, handler
        csrw mtvec, t0
        li a0, 2
        jalr ra, 0(a0)          # traps
        beq a0, a0, skip + 2    # traps
skip:   bne a0, a0, skip + 2    # does not
        jal ra, skip + 2        # traps
        csrw mtvec, zero
        jr a0                   # ends the program
handler: csrr t1, mepc
        addi t1, t1, 4
        csrw mepc, t1
        addi s0, s0, 1
        mret
";

/// The programs: their names, and texts for those that do not ship. They end by themselves or at the limit.
const PROGRAMS: [(&str, Option<&str>); 4] =
    [("selftest.asm", None), ("traps.asm", None), ("quicksort.asm", None), ("jumps.asm", Some(JUMPS))];

fn image(isa: &Isa, name: &str, text: Option<&str>) -> Image {
    let machine = lathe_machines::find("rv32i").expect("it ships");
    let file = |program: &lathe_machines::Program| (format!("{}.asm", program.name), program.text.into());
    let files = MemoryFiles(machine.programs.iter().map(file).collect());
    let text = text.or_else(|| machine.program(name).map(|program| program.text)).expect("it ships");
    let result = assemble(isa, &files, Source::new(name, text), &Options::default());
    result.image.unwrap_or_else(|| panic!("{name}: {:?}", result.diagnostics))
}

/// Returns the expected report of the interface, a line for each instruction.
fn expected(isa: &Arc<Isa>, image: &Image) -> Vec<String> {
    let mut state = State::new(isa);
    for segment in &image.segments {
        let memory = state.memory_mut(segment.memory);
        (segment.start..).zip(&segment.cells).for_each(|(at, cell)| memory.set(at, *cell));
    }
    let mut devices = Devices::new(isa, Console::with_input([]));
    let mut interpreter = Interpreter::new(isa);
    let mut lines = Vec::new();
    loop {
        let order = lines.len() as u64;
        let (pc, before) = (state.pc, state.registers().to_vec());
        let insn = (0..4).fold(0, |insn, at| insn | state.memory(RAM).get(pc + at) << (8 * at));
        devices.catch_up(order, 0);
        let step = interpreter.step(&mut state, &mut devices);
        let faults = matches!(step.stop, Some(Stop::Fault(_)));
        let accesses: Vec<_> = interpreter.accesses().filter(|_| !faults).collect();
        let to_ram: Vec<_> = accesses.iter().filter(|access| access.memory == RAM).collect();
        let is_csr_instruction = insn & 0x7F == 0x73 && insn >> 12 & 7 != 0;
        let saves_pc = accesses.iter().any(|access| {
            (access.memory, access.address, access.kind) == (CSR, MEPC, AccessKind::Write) && access.value == pc
        });
        let trap = faults || saves_pc && !is_csr_instruction;
        let changed = (1..32).find(|at| state.registers()[*at] != before[*at]);
        // A result equal to the register's old value is reported as well.
        let writes = [0x37, 0x17, 0x6F, 0x67, 0x03, 0x13, 0x33].contains(&(insn & 0x7F)) || is_csr_instruction;
        let named = (insn >> 7 & 31) as usize;
        let rd = match () {
            () if trap => 0,
            () if writes => named,
            () if insn == 0x73 => 10,
            () => 0,
        };
        assert!(changed.is_none_or(|changed| changed == rd), "x{changed:?} changes, not x{rd}, at {pc:#x}");
        let mask =
            |kind: AccessKind| to_ram.iter().filter(|access| access.kind == kind).fold(0, |mask, _| mask << 1 | 1);
        let (rmask, wmask): (u64, u64) = (mask(AccessKind::Read), mask(AccessKind::Write));
        let bytes = to_ram.iter().rev().fold(0, |bytes, access| bytes << 8 | access.value);
        let halt = step.stop.is_some();
        let mut line = format!(
            "{order} {insn:08x} {} {} {:08x} {:08x} {rd:02x} {:08x} {pc:08x} {:08x} {rmask:x} {wmask:x}",
            u8::from(trap),
            u8::from(halt),
            before[(insn >> 15 & 31) as usize],
            before[(insn >> 20 & 31) as usize],
            if rd == 0 { 0 } else { state.registers()[rd] },
            state.pc,
        );
        if let Some(first) = to_ram.first() {
            let _ = write!(line, " {:08x} {bytes:x}", first.address);
        }
        lines.push(line);
        if halt || lines.len() == 4_000 {
            return lines;
        }
    }
}

/// Returns a line of the bench in the form of [`expected`]: address and bytes only where there is an access, and only
/// the bytes accessed.
fn told(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [order, insn, trap, halt, rs1, rs2, rd, result, pc, next, address, rmask, wmask, bytes] = words[..] else {
        panic!("{line}");
    };
    let mut text = format!("{order} {insn} {trap} {halt} {rs1} {rs2} {rd} {result} {pc} {next} {rmask} {wmask}");
    let hex = |text: &str| u64::from_str_radix(text, 16).unwrap_or_else(|_| panic!("{line}"));
    let mask = hex(rmask) | hex(wmask);
    if mask != 0 {
        let bits = (0..4).filter(|at| mask >> at & 1 == 1).fold(0, |bits, at| bits | 0xFF << (8 * at));
        let _ = write!(text, " {address} {:x}", hex(bytes) & bits);
    }
    text
}

#[test]
fn the_formal_interface_tells_what_every_instruction_does() {
    let test = "the RISC-V Formal Interface";
    let (Some(iverilog), Some(vvp)) = (tools::find(test, "iverilog"), tools::find(test, "vvp")) else { return };
    let machine = lathe_machines::find("rv32i").expect("it ships");
    let isa = Arc::new(lathe_isa::load(machine.definition).isa.expect("its definition is right"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rvfi");
    write(&isa, machine.definition, &Program::default(), &folder).expect("it can be written");
    std::fs::write(folder.join("rvfi.v"), include_str!("../../machines/rv32i/rvfi.v")).expect("it can be written");
    std::fs::write(folder.join("rvfi_bench.v"), include_str!("rvfi_bench.v")).expect("it can be written");
    let sources = ["-g2005", "-o", "rvfi", "rv32i.v", "rvfi.v", "rvfi_bench.v"];
    tool(&iverilog, &folder, &sources).expect("Icarus takes it");
    for (name, text) in PROGRAMS {
        let image = image(&isa, name, text);
        let mut hex = String::new();
        for segment in &image.segments {
            let _ = writeln!(hex, "@{:x}", segment.start);
            for cell in &segment.cells {
                let _ = writeln!(hex, "{cell:02x}");
            }
        }
        std::fs::write(folder.join("program.hex"), hex).expect("it can be written");
        let expected = expected(&isa, &image);
        let printed = tool(&vvp, &folder, &["-n", "rvfi", &format!("+count={}", expected.len())]).expect("it runs");
        let told: Vec<String> = printed.lines().map(told).collect();
        for (expected, told) in expected.iter().zip(&told) {
            assert_eq!(told, expected, "{name}");
        }
        assert_eq!(told.len(), expected.len(), "{name}");
    }
}
