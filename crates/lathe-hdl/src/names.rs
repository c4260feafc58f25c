//! Names: those of the definition unchanged, unless Verilog or the core already uses them.

use std::collections::BTreeSet;

use lathe_isa::Isa;
use lathe_isa::model::{DeviceId, FieldId, InstructionId, MemoryId, RegisterId};

/// Words that Verilog or SystemVerilog tools reserve.
const KEYWORDS: &str = "\
accept_on alias always always_comb always_ff always_latch and assert assign assume automatic before begin bind bins \
binsof bit break buf bufif0 bufif1 byte case casex casez cell chandle checker class clocking cmos config const \
constraint context continue cover covergroup coverpoint cross deassign default defparam design disable dist do edge \
else end endcase endchecker endclass endclocking endconfig endfunction endgenerate endgroup endinterface endmodule \
endpackage endprimitive endprogram endproperty endspecify endsequence endtable endtask enum event eventually expect \
export extends extern final first_match for force foreach forever fork forkjoin function generate genvar global \
highz0 highz1 if iff ifnone ignore_bins illegal_bins implements implies import incdir include initial inout input \
inside instance int integer interconnect interface intersect join join_any join_none large let liblist library local \
localparam logic longint macromodule matches medium modport module nand negedge nettype new nexttime nmos nor \
noshowcancelled not notif0 notif1 null or output package packed parameter pmos posedge primitive priority program \
property protected pull0 pull1 pulldown pullup pulsestyle_ondetect pulsestyle_onevent pure rand randc randcase \
randsequence rcmos real realtime ref reg reject_on release repeat restrict return rnmos rpmos rtran rtranif0 rtranif1 \
s_always s_eventually s_nexttime s_until s_until_with scalared sequence shortint shortreal showcancelled signed small \
soft solve specify specparam static string strong strong0 strong1 struct super supply0 supply1 sync_accept_on \
sync_reject_on table tagged task this throughout time timeprecision timeunit tran tranif0 tranif1 tri tri0 tri1 triand \
trior trireg type typedef union unique unique0 unsigned until until_with untyped use uwire var vectored virtual void \
wait wait_order wand weak weak0 weak1 while wildcard wire with within wor xnor xor";

/// Words that the core uses itself.
const OWN: &str = "\
clk reset reset_pc reset_registers step step_next stop busy jump target next halt fault fault_code fault_detail \
halted faulted retire retire_pc retire_bits retire_next retire_registers retire_cycles retire_replaced replaced window \
window_q instruction decode execute cycles address value at lanes data ready code x y n top bench core memory ILLEGAL \
held quotient remainder negative wide divide divider divide_start divide_x divide_y divide_take divide_ready \
divide_quotient divide_remainder which_length which_first which_second which_operation \
which_result";

/// The names of everything in one core.
#[derive(Debug)]
pub(crate) struct Names {
    /// The module.
    pub(crate) module: String,
    /// The program counter.
    pub(crate) pc: String,
    registers: Vec<String>,
    memories: Vec<String>,
    devices: Vec<String>,
    fields: Vec<String>,
    instructions: Vec<String>,
    taken: BTreeSet<String>,
}

impl Names {
    pub(crate) fn new(isa: &Isa) -> Names {
        let mut taken: BTreeSet<String> =
            KEYWORDS.split_whitespace().chain(OWN.split_whitespace()).map(str::to_owned).collect();
        let mut all = |names: Vec<&str>| -> Vec<String> {
            names.into_iter().map(|name| unique(&mut taken, plain(name))).collect()
        };
        let module = all(vec![&isa.name]).remove(0);
        let pc = all(vec![&isa.pc.name]).remove(0);
        let registers = all(isa.registers.iter().map(|register| register.name.as_str()).collect());
        let memories = all(isa.memories.iter().map(|memory| memory.name.as_str()).collect());
        let devices = all(isa.devices.iter().map(|device| device.name.as_str()).collect());
        let fields = all(isa.fields.iter().map(|field| field.name.as_str()).collect());
        let written = |instruction: &lathe_isa::model::Instruction| {
            instruction.syntax.render(|operand| isa.field(instruction.operands[operand]).name.clone()).to_uppercase()
        };
        let instructions: Vec<String> = isa.instructions.iter().map(written).collect();
        let instructions = all(instructions.iter().map(String::as_str).collect());
        Names { module, pc, registers, memories, devices, fields, instructions, taken }
    }

    /// Returns a name that nothing else has.
    pub(crate) fn fresh(&mut self, wanted: &str) -> String {
        unique(&mut self.taken, wanted.to_owned())
    }

    pub(crate) fn register(&self, id: RegisterId) -> &str {
        &self.registers[id.index()]
    }

    pub(crate) fn memory(&self, id: MemoryId) -> &str {
        &self.memories[id.index()]
    }

    pub(crate) fn device(&self, id: DeviceId) -> &str {
        &self.devices[id.index()]
    }

    pub(crate) fn field(&self, id: FieldId) -> &str {
        &self.fields[id.index()]
    }

    pub(crate) fn instruction(&self, id: InstructionId) -> &str {
        &self.instructions[id.index()]
    }
}

/// Reduces a name to letters, digits and single underscores, without a digit first.
fn plain(name: &str) -> String {
    let mut plain = String::new();
    for letter in name.chars() {
        if letter.is_ascii_alphanumeric() {
            plain.push(letter);
        } else if !plain.ends_with('_') {
            plain.push('_');
        }
    }
    let plain = plain.trim_matches('_');
    if plain.starts_with(|first: char| first.is_ascii_digit()) || plain.is_empty() {
        format!("m{plain}")
    } else {
        plain.to_owned()
    }
}

/// The suffixes that the core appends to a name to make names of its own, and the prefixes.
const ENDINGS: [&str; 18] = [
    "_q",
    "_address",
    "_read",
    "_write",
    "_data",
    "_value",
    "_ready",
    "_code",
    "_answer",
    "_found",
    "_found_q",
    "_found_value",
    "_found_value_q",
    "_mapped_read",
    "_mapped_write",
    "_mapped_at",
    "_mapped_address",
    "_mapped_data",
];
const BEGINNINGS: [&str; 2] = ["read_", "write_"];

/// Returns a name that is not taken, and takes it with all names that the core derives from it.
fn unique(taken: &mut BTreeSet<String>, wanted: String) -> String {
    let with_made = |name: &str| -> Vec<String> {
        let ends = ENDINGS.map(|ending| format!("{name}{ending}"));
        let begins = BEGINNINGS.map(|beginning| format!("{beginning}{name}"));
        [name.to_owned()].into_iter().chain(ends).chain(begins).collect()
    };
    let mut name = wanted.clone();
    let mut count = 1;
    while is_temporary(&name) || with_made(&name).iter().any(|made| taken.contains(made)) {
        count += 1;
        name = if count == 2 { format!("{wanted}_") } else { format!("{wanted}_{count}") };
    }
    taken.extend(with_made(&name));
    name
}

/// Whether the core gives such names to values that have none in the definition: `t8_0`, `load8_1`.
fn is_temporary(name: &str) -> bool {
    let Some((stem, number)) = name.split_once('_') else { return false };
    let Some(digit) = stem.find(|letter: char| letter.is_ascii_digit()) else { return false };
    let (stem, bits) = stem.split_at(digit);
    let mut number = bits.chars().chain(number.chars());
    matches!(stem, "t" | "load" | "kept" | "later" | "in" | "out" | "place" | "before")
        && number.all(|letter| letter.is_ascii_digit())
}
