//! Proves whole cores of small machines, and finds deliberate errors in cores.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lathe_base::Source;
use lathe_hdl::{Design, Form, Interface};
use lathe_isa::Isa;
use lathe_prove::{Answer, Case, Claim, Core, Module, Query, decoder};
use lathe_tests::tools;

struct Tools {
    yosys: PathBuf,
    z3: PathBuf,
}

fn tools(test: &str) -> Option<Tools> {
    Some(Tools { yosys: tools::find(test, "yosys")?, z3: tools::find(test, "z3")? })
}

fn machine(name: &str) -> Isa {
    let source = lathe_machines::find(name).expect("it ships").source();
    lathe_isa::load_with(source, &lathe_machines::Shipped).isa.expect("it is right")
}

fn design(isa: &Isa) -> Design {
    lathe_hdl::generate(isa, &[], &lathe_hdl::Program::default()).expect("it can be hardware")
}

fn run(tool: &Path, arguments: &[&str], input: &str) -> String {
    let mut child = Command::new(tool)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it is there");
    let mut stdin = child.stdin.take().expect("it is a pipe");
    std::thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(input.as_bytes()).expect("it reads"));
        let output = child.wait_with_output().expect("it ends");
        String::from_utf8(output.stdout).expect("it is text")
    })
}

fn module(tools: &Tools, design: &Design, verilog: &str) -> Module {
    let script = lathe_prove::yosys_script(&design.module, verilog);
    let text = run(&tools.yosys, &["-q", "-s", "/dev/stdin"], &script);
    Module::read(&design.module, &text).unwrap_or_else(|reason| panic!("{reason}"))
}

fn decide(tools: &Tools, core: &Core, claim: Claim) -> Answer {
    match ask(tools, &core.query(claim)) {
        Answer::Refuted(_) => ask(tools, &core.query_with_case(claim)),
        answer => answer,
    }
}

fn ask(tools: &Tools, query: &Query) -> Answer {
    query.read(&run(&tools.z3, &["-in"], query.script())).unwrap_or_else(|said| panic!("{said}"))
}

#[test]
fn the_cores_of_small_machines_are_what_their_definitions_say() {
    let Some(tools) = tools("proofs of cores") else { return };
    for name in ["quad8", "stack8a"] {
        let isa = machine(name);
        let design = design(&isa);
        let module = module(&tools, &design, &design.files[0].text);
        let core = Core { isa: &isa, module: &module, interface: &design.interface, messages: &design.messages };
        for claim in core.claims() {
            assert_eq!(decide(&tools, &core, claim), Answer::Proven, "{name}, {claim:?}");
        }
    }
}

/// A slice has the whole text of the core except the actions and the decoding of other instructions, so what is proven
/// of it is proven of the core, if that decodes correctly. All slices together have the whole text. msp430's
/// instructions are in parts.
#[test]
fn slices_are_the_core_without_other_instructions() {
    for (name, is_replaced) in
        [("quad8", false), ("rv32i", false), ("chip8", false), ("i8080", true), ("sm83", false), ("msp430", true)]
    {
        let isa = machine(name);
        let design = design(&isa);
        let is_code = |line: &&str| !line.trim_start().starts_with("//");
        let whole: Vec<&str> = design.files[0].text.lines().filter(is_code).collect();
        let mut is_there = vec![false; whole.len()];
        let arms = isa.instructions.len() + 1;
        assert_eq!(design.slice(arms), None);
        for at in 0..arms {
            let slice = design.slice(at).expect("there is one");
            let mut rest = whole.iter().enumerate();
            let mut own = 0;
            for line in slice.lines().filter(is_code) {
                let is_last = at + 1 == arms && line.ends_with("'d0: begin");
                let line = if is_last { "        default: begin" } else { line };
                if line.contains("is left out") {
                    own += 1;
                } else {
                    let found = rest.find(|(_, known)| **known == line);
                    let found =
                        found.unwrap_or_else(|| panic!("{name}, slice {at}: `{line}` is not there in the core"));
                    is_there[found.0] = true;
                }
            }
            assert_eq!(own, if is_replaced && at + 1 < arms { 2 } else { 1 }, "{name}, slice {at}");
        }
        let missing = is_there.iter().position(|is_there| !is_there);
        assert_eq!(missing.map(|at| whole[at]), None, "{name}: a line that no slice has");
    }
}

/// Instructions in shared parts: operands in registers and in memory, and the result. Errors in any of the parts are
/// found.
#[test]
fn instructions_in_parts_are_what_the_definition_says() {
    let Some(tools) = tools("proofs of parts") else { return };
    let isa = machine("msp430");
    let design = design(&isa);
    let proven = |at: usize, verilog: &str| {
        let module = module(&tools, &design, verilog);
        let core = Core { isa: &isa, module: &module, interface: &design.interface, messages: &design.messages };
        [core.claims()[at], Claim::Stopped, Claim::Waiting].map(|claim| decide(&tools, &core, claim) == Answer::Proven)
    };
    for mnemonic in ["mov", "add.b", "push", "call", "reti", "jne"] {
        let (at, slice) = slice_of(&isa, &design, mnemonic);
        assert_eq!(proven(at, &slice), [true; 3], "{mnemonic}");
    }
    // Slices of choices are joined again here.
    let is_rrc = |at: &usize| isa.instructions[*at].syntax.mnemonic() == "rrc";
    for at in (0..isa.instructions.len()).filter(is_rrc).take(2) {
        assert_eq!(proven(at, &design.slice(at).expect("there is a slice")), [true; 3], "rrc");
    }
    let add = isa.instructions.iter().position(|row| row.syntax.mnemonic() == "add" && row.operands.len() == 4);
    let at = add.expect("both operands are in memory");
    let slice = design.slice(at).expect("there is a slice");
    assert_eq!(proven(at, &slice), [true; 3]);
    let mistakes = [
        ("next = pc + 16'd6;", "next = pc + 16'd4;"),
        ("in16_0 = {t8_1, t8_0};", "in16_0 = {t8_0, t8_1};"),
        ("place16_0 = ((D_Q + D_X_2)", "place16_0 = ((S_Q + D_X_2)"),
        ("in16_1 = {t8_1, t8_0};", "in16_1 = in16_0;"),
        ("out16_0 = ((in16_0 + in16_1)", "out16_0 = ((in16_0 - in16_1)"),
        ("t8_1 = out16_0[15:8];", "t8_1 = out16_0[7:0];"),
    ];
    for (old, new) in mistakes {
        assert!(slice.contains(old), "`{old}` is not in the core");
        assert!(!proven(at, &slice.replacen(old, new, 1))[0], "`{old}`");
    }
}

/// The claims of a core slice by slice, on a machine for which Yosys needs minutes in one piece.
#[test]
fn slices_of_a_large_core_are_what_the_definition_says() {
    let Some(tools) = tools("proofs of slices") else { return };
    let isa = machine("rv32i");
    let design = design(&isa);
    let at = isa.instructions.iter().position(|row| row.syntax.mnemonic() == "lui").expect("there is one");
    let slice = design.slice(at).expect("there is a slice");
    let right = module(&tools, &design, &slice);
    let core = Core { isa: &isa, module: &right, interface: &design.interface, messages: &design.messages };
    let claims: Vec<Claim> = core.claims().into_iter().filter(|claim| claim.slices(&isa).contains(&at)).collect();
    assert_eq!(claims, [core.claims()[at], Claim::Stopped, Claim::Waiting]);
    for claim in &claims {
        assert_eq!(decide(&tools, &core, *claim), Answer::Proven, "{claim:?}");
    }
    // Decoding these bits as another instruction is found out, although that instruction is left out.
    let wrong = module(&tools, &design, &slice.replace("instruction = LUI_D_U", "instruction = ILLEGAL"));
    let core = Core { module: &wrong, ..core };
    assert!(matches!(decide(&tools, &core, claims[0]), Answer::Refuted(_)));
}

/// The decoder is the same in a module of its own as in the core; and the proof rejects one that mistakes a row for
/// another, forgets one, or accepts bits that no row has or that a row excludes. duo16 has cells of one byte and rows
/// of several, sm83 has rows with exclusions, and both have bits that no row has.
#[test]
fn every_row_is_decoded_as_what_it_is() {
    let Some(tools) = tools("proofs of decoding") else { return };
    let decide = |isa: &Isa, interface: &Interface, verilog: &str| {
        let text = run(&tools.yosys, &["-q", "-s", "/dev/stdin"], &decoder::yosys_script(verilog));
        let module = Module::read(lathe_hdl::DECODER, &text).unwrap_or_else(|reason| panic!("{reason}"));
        ask(&tools, &decoder::decoding(isa, interface, &module))
    };
    for name in ["duo16", "sm83"] {
        let isa = machine(name);
        let design = design(&isa);
        let right = design.decoder();
        let (_, inside) = right.split_once('\n').expect("it begins with its ports");
        let inside = inside.strip_suffix("endmodule\n").expect("it ends");
        assert!(design.files[0].text.contains(inside), "{name}");
        assert_eq!(decide(&isa, &design.interface, &right), Answer::Proven, "{name}");
        let mut mistakes = vec![("default: ;", "default: instruction = 1;", "bits that no row has")];
        mistakes.extend(match name {
            "duo16" => [("= NOP;", "= HALT;", "`nop`"), ("instruction = HALT;", ";", "`halt`")],
            _ => {
                let (excepted, kept) = ("24'h800000 && !((window & 24'h070000) == 24'h060000)", "24'h800000");
                [("= STOP;", "= HALT;", "`stop`"), (excepted, kept, "`add`")]
            }
        });
        for (old, new, finder) in mistakes {
            assert!(right.contains(old), "{name}: `{old}` is not there");
            let answer = decide(&isa, &design.interface, &right.replacen(old, new, 1));
            let Answer::Refuted(case) = answer else { panic!("{name}, `{old}`: {answer:?}") };
            assert!(case.broken.iter().any(|what| what.contains(finder)), "{name}, `{old}`: {case:?}");
            // The definition agrees.
            let row = isa.decode(lathe_isa::encoding::window(case.code.iter().copied(), isa.code_memory().cell));
            let row = row.map_or("bits that no row has", |row| isa.instruction(row.instruction).syntax.mnemonic());
            assert_eq!(row, finder.trim_matches('`'), "{name}, `{old}`: {case:?}");
        }
    }
    // The numbers of instructions in parts consist of the numbers of their parts.
    let isa = machine("mos6502");
    let parts = lathe_hdl::generate_as(&isa, &[], &lathe_hdl::Program::default(), Form::Parts).expect("it is hardware");
    let right = parts.decoder();
    assert_eq!(decide(&isa, &parts.interface, &right), Answer::Proven);
    let number = |name: &str| {
        let line = right.lines().find(|line| line.contains(&format!(" {name} = "))).expect("it has a number");
        line.split_once(" = ").expect("it is given there").1
    };
    let wrong = right.replace(&format!(" TAX = {}", number("TAX")), &format!(" TAX = {}", number("TAY")));
    let answer = decide(&isa, &parts.interface, &wrong);
    let Answer::Refuted(case) = answer else { panic!("{answer:?}") };
    assert!(case.broken.iter().any(|what| what.contains("`tax`")), "{case:?}");
}

/// A core that has asked a device whether there is input, and then waits for it, goes on as if it had not waited.
/// i8080's `in` does so; a core that forgets the answer while it waits is rejected.
#[test]
fn an_answer_is_kept_while_the_core_waits() {
    let Some(tools) = tools("proofs of waiting") else { return };
    let isa = machine("i8080");
    let design = design(&isa);
    let at = isa.instructions.iter().position(|row| row.syntax.mnemonic() == "in").expect("there is one");
    let slice = design.slice(at).expect("there is a slice");
    let kept = "load1_0_q <= load1_0;";
    assert!(slice.contains(kept));
    for (verilog, is_right) in [(slice.clone(), true), (slice.replace(kept, "load1_0_q <= 1'b0;"), false)] {
        let module = module(&tools, &design, &verilog);
        let core = Core { isa: &isa, module: &module, interface: &design.interface, messages: &design.messages };
        let answer = decide(&tools, &core, Claim::Waiting);
        assert_eq!(answer == Answer::Proven, is_right, "{answer:?}");
    }
}

/// i8080's `on step` takes an interrupt in place of an instruction.
#[test]
fn where_on_step_jumps_nothing_else_is_done() {
    let Some(tools) = tools("proofs of on step") else { return };
    let isa = machine("i8080");
    let design = design(&isa);
    let slice = design.slice(isa.instructions.len()).expect("there is a slice");
    let mistakes = [
        ("", ""),
        ("if (!stop && !replaced) begin", "if (!stop) begin"),
        ("target = 16'h38;", "target = 16'h30;"),
        ("replaced = jump;", "replaced = 1'b0;"),
        ("inte = 1'd0;", ""),
    ];
    for (old, new) in mistakes {
        assert!(slice.contains(old), "`{old}` is not in the core");
        let module = module(&tools, &design, &slice.replacen(old, new, 1));
        let core = Core { isa: &isa, module: &module, interface: &design.interface, messages: &design.messages };
        assert!(core.claims().contains(&Claim::Replaced));
        let answer = decide(&tools, &core, Claim::Replaced);
        assert_eq!(answer == Answer::Proven, old.is_empty(), "`{old}`: {answer:?}");
    }
}

/// Each cell that `push` writes may belong to a device, and facts about one of them decide about the other. What `pop`
/// reads may be a byte from the console, and then whether there is another.
#[test]
fn neighbours_of_a_device_are_followed_one_by_one() {
    let Some(tools) = tools("proofs beside devices") else { return };
    let isa = machine("duo16");
    let design = design(&isa);
    let is_wanted = |row: &lathe_isa::model::Instruction| ["push", "pop"].contains(&row.syntax.mnemonic());
    for at in (0..isa.instructions.len()).filter(|at| is_wanted(&isa.instructions[*at])) {
        let module = module(&tools, &design, &design.slice(at).expect("there is a slice"));
        let core = Core { isa: &isa, module: &module, interface: &design.interface, messages: &design.messages };
        for claim in [core.claims()[at], Claim::Stopped, Claim::Waiting] {
            assert_eq!(decide(&tools, &core, claim), Answer::Proven, "{claim:?}");
        }
    }
}

/// Maps of every kind: those that a core has once for all instructions, and those that it cannot share.
#[test]
fn what_is_mapped_is_done_in_its_place() {
    let Some(tools) = tools("proofs of maps") else { return };
    let definition = include_str!("../../../tests/machines/mapped8.isa");
    let isa = lathe_isa::load(definition).isa.expect("the definition is right");
    for form in [Form::Whole, Form::Parts] {
        let design = lathe_hdl::generate_as(&isa, &[], &lathe_hdl::Program::default(), form).expect("it is hardware");
        for at in 0..=isa.instructions.len() {
            let module = module(&tools, &design, &design.slice(at).expect("there is a slice"));
            let core = Core { isa: &isa, module: &module, interface: &design.interface, messages: &design.messages };
            for claim in core.claims().into_iter().filter(|claim| claim.slices(&isa).contains(&at)) {
                let name = isa.instructions.get(at).map_or("no row", |row| row.syntax.mnemonic());
                assert_eq!(decide(&tools, &core, claim), Answer::Proven, "{form:?}, {name}: {claim:?}");
            }
        }
    }
}

/// The error, the claim that finds it, the text in the core, and its replacement.
const MUTATIONS: &[(&str, &str, &str, &str)] = &[
    ("a borrow too much", "sub", "(D - S)", "(D - S - 8'd1)"),
    ("operands the wrong way round", "sub", "(D - S)", "(S - D)"),
    ("the stack grows the wrong way", "pop", "sp = (sp + 8'd1)", "sp = (sp - 8'd1)"),
    ("the halves of an address are swapped", "load", "{page, S}", "{S, page}"),
    (
        "no cycle is spent waiting for a load",
        "load",
        "step_next = AT + 2'd1; end \\\n      stop = 1'b1;",
        "step_next = AT + 2'd1; end",
    ),
    ("a loaded value is taken too early", "load", "if (step == 2'd2) load8_0", "if (step == 2'd1) load8_0"),
    ("the next instruction is too far", "nop", "next = pc + 16'd1", "next = pc + 16'd2"),
    ("halt does not halt", "halt", "halt = 1'b1", "halt = 1'b0"),
    ("compared with another number", "skipz", "(D == 8'd0)", "(D == 8'd1)"),
    ("compared without a sign", "skipl", "($signed(D) < $signed(8'd0))", "(D < 8'd0)"),
    ("decoded as another instruction", "sub", "instruction = SUB_D_S", "instruction = ADD_D_S"),
    ("another register is read", "add", "2'd2: value = c", "2'd2: value = b"),
    ("another register is written", "add", "2'd3: d = value", "2'd3: c = value"),
    ("what is written at the end is forgotten", "add", "D_write = 1'b1", "D_write = 1'b0"),
    ("the register that is written is not the one that is named", "jmpfar", "D_address = S_code", "D_address = D_code"),
    ("a store writes nothing", "store", "ram_write = LANES", "ram_write = 1'b0"),
    ("a store writes something else", "store", "ram_data = DATA", "ram_data = ram_address[7:0]"),
    ("a register never takes its new value", "page", "page_q <= page;", "page_q <= page_q;"),
    ("jumps are forgotten", "skipz", "pc <= retire_next", "pc <= next"),
    ("another byte is printed", "out", "console_write_data = DATA", "console_write_data = 8'd0"),
    ("input is looked at and not taken", "in", "console_read = 1'b1", "console_read = 1'b0"),
    ("an instruction begins in its middle", "nop", "halted <= halt;", "halted <= halt; step <= 2'd1;"),
    ("undefined bits are no fault", "", "fault = 1'b1; // undefined instruction", "halt = 1'b1;"),
    ("the retire port tells another address", "jalr", "jump ? target : next", "jump ? next : target"),
    ("reset begins with a fault", "(reset)", "faulted <= 1'b0", "faulted <= 1'b1"),
    ("the core goes on after it stopped", "(stopped)", "stop = halted || faulted;", "stop = 1'b0;"),
    (
        "nobody waits for the console",
        "(waiting)",
        "if (console_write_ready) step_next = AT + 2'd1; else stop = 1'b1;",
        "step_next = AT + 2'd1;",
    ),
];

#[test]
fn cores_that_were_broken_on_purpose_are_found_out() {
    let Some(tools) = tools("mutations of cores") else { return };
    let isa = machine("quad8");
    let design = design(&isa);
    let whole = &design.files[0].text;
    let mut shown = 0;
    for (what, finder, old, new) in MUTATIONS {
        assert!(whole.contains(old), "{what}: `{old}` is not in the core");
        let module = module(&tools, &design, &whole.replace(old, new));
        let core = Core { isa: &isa, module: &module, interface: &design.interface, messages: &design.messages };
        let is_finder = |claim: &Claim| match claim {
            Claim::Instruction(id) => isa.instruction(*id).syntax.mnemonic() == *finder,
            Claim::Undefined => finder.is_empty(),
            Claim::Replaced => *finder == "(on step jumps)",
            Claim::Reset => *finder == "(reset)",
            Claim::Stopped => *finder == "(stopped)",
            Claim::Waiting => *finder == "(waiting)",
            Claim::ReplacedWaiting => *finder == "(waiting while on step jumps)",
        };
        let claims: Vec<Claim> = core.claims().into_iter().filter(is_finder).collect();
        assert!(!claims.is_empty(), "{what}: nothing is called `{finder}`");
        let case = claims.iter().find_map(|claim| match decide(&tools, &core, *claim) {
            Answer::Refuted(case) => Some(case),
            _ => None,
        });
        let case = case.unwrap_or_else(|| panic!("{what}: `{finder}` is proven although it is wrong"));
        shown += u32::from(is_example(&isa, &case, what));
    }
    // Examples cannot express errors in signals, output and bits that no row has, and the solver chooses which
    // counterexample it finds.
    assert!(shown >= 15, "{shown} of {} mistakes", MUTATIONS.len());
}

/// Whether a case can be expressed as an example: then the interpreter does something else, namely what it should.
fn is_example(isa: &Isa, case: &Case, what: &str) -> bool {
    let Some((_, pc)) = case.before.first() else { return false };
    let window = lathe_isa::encoding::window(case.code.iter().copied(), isa.code_memory().cell);
    let Some(decoded) = isa.decode(window) else { return false };
    let text = lathe_asm::disassembler::instruction(isa, &decoded, *pc, |_, at| Some(format!("{at:#x}")));
    let Some(wrong) = case.example(&text) else { return false };
    let right = Case {
        after: case.after.iter().map(|(name, expected, _)| (name.clone(), *expected, *expected)).collect(),
        status: None,
        ..case.clone()
    };
    let fails = |row: &str| {
        let source = lathe_machines::find(&isa.name).expect("it ships").source();
        let source = Source::new("with-case.isa", format!("{}\nexamples {{\n  {row}\n}}\n", source.text));
        let loaded = lathe_isa::load_with(source, &lathe_machines::Shipped);
        let isa = loaded.isa.unwrap_or_else(|| panic!("{what}: {row}: {:?}", loaded.diagnostics));
        !lathe_vm::examples::check(&isa).is_empty()
    };
    assert!(fails(&wrong), "{what}: {wrong}");
    assert!(right.example(&text).is_none_or(|row| !fails(&row)), "{what}: {:?}", right.example(&text));
    true
}

/// Returns the slice of an instruction: the only one with this mnemonic, or the first of several.
fn slice_of(isa: &Isa, design: &Design, mnemonic: &str) -> (usize, String) {
    let at = isa.instructions.iter().position(|row| row.syntax.mnemonic() == mnemonic).expect("there is one");
    (at, design.slice(at).expect("there is a slice"))
}

fn decide_division(tools: &Tools, design: &Design, verilog: &str) -> Answer {
    let (script, unit) = lathe_prove::division::yosys_script(&design.module, verilog);
    let text = run(&tools.yosys, &["-q", "-s", "/dev/stdin"], &script);
    let unit = Module::read(&unit, &text).unwrap_or_else(|reason| panic!("{reason}"));
    ask(tools, &lathe_prove::division::division(&unit))
}

/// Signed and unsigned, of one width and of several, quotient and remainder of one division and of two.
#[test]
fn instructions_that_divide_are_what_the_definition_says() {
    let Some(tools) = tools("proofs of divisions") else { return };
    let rows =
        [("hex8", "div"), ("hex8", "mod"), ("i8051", "div"), ("rv32i", "div"), ("rv32i", "remu"), ("rv64i", "remw")];
    for (name, mnemonic) in rows {
        let isa = machine(name);
        let design = design(&isa);
        let (at, slice) = slice_of(&isa, &design, mnemonic);
        let module = module(&tools, &design, &slice);
        let core = Core { isa: &isa, module: &module, interface: &design.interface, messages: &design.messages };
        for claim in [core.claims()[at], Claim::Stopped, Claim::Waiting] {
            assert_eq!(decide(&tools, &core, claim), Answer::Proven, "{name}, {mnemonic}, {claim:?}");
        }
        assert_eq!(decide_division(&tools, &design, &slice), Answer::Proven, "{name}");
    }
}

/// The error around the division unit, the claim that finds it, the text in the core, and its replacement.
const DIVISION_MUTATIONS: &[(&str, &str, &str, &str)] = &[
    ("the numbers of a division are swapped", "div", "divide_x = X; divide_y = Y;", "divide_x = Y; divide_y = X;"),
    ("a remainder is taken for a quotient", "div", "load8_0 = divide_quotient;", "load8_0 = divide_remainder;"),
    ("the answer is taken a step late", "div", "if (step == 2'd2) load8_0", "if (step == 2'd3) load8_0"),
    ("nobody waits for the unit", "(waiting)", "step_next = AT + 2'd2; else stop = 1'b1;", "step_next = AT + 2'd2;"),
    (
        "the answer is not kept",
        "(waiting)",
        "if (step == 2'd2) load8_0 = divide_quotient;",
        "if (step == 2'd2 && !divide_ready) load8_0 = divide_quotient;",
    ),
    (
        "the unit is ready a cycle early",
        "(division)",
        "assign ready = left == {COUNT{1'b0}};",
        "assign ready = left <= 1;",
    ),
    ("the unit is ready a cycle late", "(division)", "left <= W[COUNT-1:0];", "left <= W[COUNT-1:0] + 1'b1;"),
    ("the unit forgets a borrow", "(division)", "wire fits = !rest[W];", "wire fits = 1'b1;"),
    ("the unit goes on when it is done", "(division)", "else if (!ready)", "else"),
];

#[test]
fn cores_that_divide_wrong_are_found_out() {
    let Some(tools) = tools("mutations of divisions") else { return };
    let isa = machine("hex8");
    let design = design(&isa);
    let (at, slice) = slice_of(&isa, &design, "div");
    for (what, finder, old, new) in DIVISION_MUTATIONS {
        assert!(slice.contains(old), "{what}: `{old}` is not in the core");
        let wrong = slice.replace(old, new);
        let answer = if *finder == "(division)" {
            decide_division(&tools, &design, &wrong)
        } else {
            let module = module(&tools, &design, &wrong);
            let core = Core { isa: &isa, module: &module, interface: &design.interface, messages: &design.messages };
            decide(&tools, &core, if *finder == "(waiting)" { Claim::Waiting } else { core.claims()[at] })
        };
        let Answer::Refuted(case) = answer else { panic!("{what}: `{finder}` is proven although it is wrong") };
        assert!(*finder != "div" || is_example(&isa, &case, what), "{what}: {case:?}");
    }
}

#[test]
fn a_case_tells_what_the_core_did() {
    let Some(tools) = tools("cases of cores") else { return };
    let isa = machine("quad8");
    let design = design(&isa);
    let module = module(&tools, &design, &design.files[0].text.replace("(D - S)", "(D - S - 8'd1)"));
    let core = Core { isa: &isa, module: &module, interface: &design.interface, messages: &design.messages };
    let is_sub =
        |claim: &Claim| matches!(claim, Claim::Instruction(id) if isa.instruction(*id).syntax.mnemonic() == "sub");
    let claim = core.claims().into_iter().find(is_sub).expect("there is one");
    let Answer::Refuted(case) = decide(&tools, &core, claim) else { panic!("it is wrong") };
    // Exactly one register is different, and by the one that was subtracted too much.
    let [(name, expected, found)] = case.after.as_slice() else { panic!("{case:?}") };
    assert!(["a", "b", "c", "d"].contains(&name.as_str()), "{case:?}");
    assert_eq!((expected.wrapping_sub(1)) & 0xFF, *found, "{case:?}");
    assert_eq!(case.code[0] >> 4, 1, "{case:?}");
    // The waves end with the actual value, after the cycle in which the instruction retired.
    let wave = |name: &str| &case.waves.iter().find(|wave| wave.name == name).expect("it is a signal").values;
    assert_eq!(wave(&format!("{}_q", name)).last(), Some(found), "{:?}", case.waves);
    assert_eq!(wave("retire")[..2], [0, 1]);
    assert_eq!(wave("step")[..3], [0, 1, 0]);
    assert!(case.vcd("quad8").is_some_and(|text| text.contains(&format!(" {name}_q [7:0] $end\n"))));
}

#[test]
fn a_definition_equals_itself_and_no_other() {
    let Some(tools) = tools("equal definitions") else { return };
    let z3 = |query: &Query| ask(&tools, query);
    let text = |meaning: &str| {
        format!(
            "machine two \"Two\"\nmemory ram : u8 -> u8\npc pc : u8 in ram\nregister a, b : u8\nfield N : u8\n\
             instructions {{\n  add N | 0000 0001 NNNNNNNN | {meaning}\n  halt | 0000 0000 | halt\n}}\n"
        )
    };
    let load = |meaning: &str| lathe_isa::load(&text(meaning)).isa.expect("it is right");
    let (one, same, other) = (load("a = a + N"), load("a = ~(~a - N)"), load("a = a + N; b = a"));
    let all = |a: &Isa, b: &Isa| {
        let pairs = lathe_prove::pairs(a, b).expect("they can be compared");
        pairs.into_iter().filter(|pair| z3(&lathe_prove::equal(a, b, *pair)) != Answer::Proven).count()
    };
    assert_eq!(all(&one, &one), 0);
    assert_eq!(all(&one, &same), 0);
    assert_eq!(all(&one, &other), 1);
    let b = lathe_isa::model::RegisterId(1);
    let add = lathe_isa::model::InstructionId(0);
    assert_eq!(z3(&lathe_prove::keeps(&one, add, &[b])), Answer::Proven);
    assert!(matches!(z3(&lathe_prove::keeps(&other, add, &[b])), Answer::Refuted(_)));
    assert_eq!(lathe_prove::pairs(&one, &machine("quad8")).unwrap_err().0, "memory `ram` is not the same in both");
}
