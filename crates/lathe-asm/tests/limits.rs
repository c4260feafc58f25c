//! Programs written to grow: each is assembled or refused with a message, on a small stack and without taking much
//! memory.

use lathe_asm::{Image, Options, assemble};
use lathe_base::{Source, files::MemoryFiles, limits};
use lathe_isa::Isa;

/// As little as a thread of a server or a web page may have.
const STACK: usize = 512 << 10;

fn shipped(name: &str) -> Isa {
    lathe_isa::load_with(lathe_machines::find(name).unwrap().source(), &lathe_machines::Shipped).isa.unwrap()
}

/// Returns a program's cells from address 0 on, or the codes and messages of its errors.
fn outcome(isa: &Isa, files: &MemoryFiles, text: &str) -> Result<Image, Vec<String>> {
    let result = assemble(isa, files, Source::new("main.asm", text), &Options::default());
    let messages = result.diagnostics.into_sorted();
    let describe = |found: &lathe_base::Diagnostic| format!("{} {}", found.code.name, found.message);
    result.image.ok_or_else(|| messages.iter().map(describe).collect())
}

fn on_a_small_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work).unwrap().join().unwrap()
    })
}

fn assembled(machine: &str, text: &str) -> Result<Image, Vec<String>> {
    let isa = shipped(machine);
    on_a_small_stack(|| outcome(&isa, &MemoryFiles::default(), text))
}

fn cells(machine: &str, text: &str) -> Vec<u64> {
    let image = assembled(machine, text).unwrap_or_else(|found| panic!("{found:?}"));
    image.segments.iter().flat_map(|segment| segment.cells.clone()).collect()
}

#[test]
fn an_expression_may_be_as_long_as_it_likes() {
    let operators = ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "&&", "||", "==", "!=", "<", "<=", ">", ">="];
    for operator in operators {
        let terms = vec!["1"; 30_000].join(operator);
        let value = match operator {
            "+" => 30_000 % 256,
            "-" => (1 - 29_999i64).rem_euclid(256),
            "%" => 0,
            "<<" => 0,
            _ => i64::from(!matches!(operator, "^" | ">>" | "!=" | "<" | ">")),
        };
        if operator == "<<" {
            let refused = assembled("quad8", &format!(".byte {terms}")).unwrap_err();
            assert!(refused[0].starts_with("A305"), "{refused:?}");
            continue;
        }
        assert_eq!(cells("quad8", &format!(".byte ({terms}) & 255")), [value as u64], "{operator}");
    }
    let sum = vec!["0"; 30_000].join("+");
    assert_eq!(cells("quad8", &format!(".if 1+{sum}\n.byte 7\n.endif")), [7]);
    assert_eq!(cells("quad8", &format!("li a, 0x12+{sum}")), [0xC1, 0xC2]);
    assert_eq!(cells("quad8", &format!("x = {sum}+y\ny: .byte x+9")), [9]);
    let slices = "[7:0]".repeat(30_000);
    assert_eq!(cells("quad8", &format!("x = 5\n.byte x{slices}")), [5]);
}

#[test]
fn nesting_has_a_limit_and_fits_a_small_stack() {
    let nested = |before: &str, after: &str, depth| format!("{}1{}", before.repeat(depth), after.repeat(depth));
    let constants = |depth: usize, value: &str| {
        let chain: String =
            (0..depth).map(|at| format!("c{at} = {}\n", value.replace('?', &format!("c{}", at + 1)))).collect();
        format!(".byte c0\n{chain}c{depth} = 1\n")
    };
    for (before, after) in
        [("(", ")"), ("-", ""), ("~", ""), ("!", ""), ("<", ""), ("lo(", ")"), ("1?", ":1"), ("1+(", ")")]
    {
        assert!(assembled("quad8", &format!(".byte ({})&1", nested(before, after, 12))).is_ok(), "{before}");
        for line in [".byte", "li a,", ".endif\n.if", "x ="] {
            let text = format!(".if 1\n{line} {}\n.endif", nested(before, after, 30_000));
            let refused = assembled("quad8", &text).unwrap_err();
            assert!(refused[0].starts_with("A902"), "{line} {before}: {refused:?}");
        }
    }
    assert_eq!(cells("quad8", &constants(60, &nested("(", ")", 20).replace('1', "?"))), [1]);
    assert!(assembled("quad8", &constants(100, "?")).unwrap_err()[0].starts_with("A902"));
}

#[test]
fn a_macro_that_grows_its_argument_is_stopped() {
    for body in ["m (a+a)", "m a", ".rept 2\n.byte 1\n.endr\nm (a+a)"] {
        let refused = assembled("quad8", &format!(".macro m a\n{body}\n.endm\nm 1")).unwrap_err();
        assert!(refused[0].starts_with("A90"), "{body}: {refused:?}");
    }
    let line = format!(".byte {}", vec!["1"; limits::LINE_TOKENS].join(","));
    let refused = assembled("quad8", &line).unwrap_err();
    assert_eq!(refused, ["A901 this line has more than 1048576 words and marks"]);
}

#[test]
fn text_that_is_read_again_and_again_has_a_limit() {
    let comment = format!(";{}\n", " ".repeat(1 << 20)).repeat(4);
    let files = MemoryFiles([("long.inc".to_owned(), comment.into_bytes())].into());
    let text = ".rept 1000000\n.include \"long.inc\"\n.endr";
    let refused = on_a_small_stack(|| outcome(&shipped("quad8"), &files, text)).unwrap_err();
    assert_eq!(refused, ["A903 macros, repetitions and includes make more than 268435456 bytes of text"]);
}

#[test]
fn a_file_is_kept_once_however_often_it_is_included() {
    let files = MemoryFiles([("one.inc".to_owned(), b".byte 1\n".to_vec())].into());
    let text = ".include \"one.inc\"\n".repeat(2_000);
    let result = assemble(&shipped("quad8"), &files, Source::new("main.asm", text), &Options::default());
    assert_eq!(result.image.unwrap().segments[0].cells.len(), 2_000);
    assert_eq!(result.sources.len(), 2);
}

#[test]
fn what_does_not_fit_is_refused_before_it_is_made() {
    let refused = |text: &str| assembled("rv32i", text).unwrap_err();
    let too_many = "A901 the program has more than 33554432 cells";
    assert_eq!(refused(".space 0xFFFFFFF0"), [too_many]);
    assert_eq!(refused(".fill 0x7FFFFFFF, 1\n.fill 0x7FFFFFFF, 1"), [too_many]);
    assert_eq!(refused(".byte 1\n.align 31"), [too_many]);
    assert_eq!(refused(".space 0x1000000\n.space 0x1000000\n.byte 1"), [too_many]);
    let files = MemoryFiles([("big.bin".to_owned(), vec![1; 1 << 20])].into());
    let isa = shipped("rv32i");
    let found = on_a_small_stack(|| outcome(&isa, &files, ".rept 1000\n.incbin \"big.bin\"\n.endr")).unwrap_err();
    assert!(found[0].starts_with("A901"), "{found:?}");
}

#[test]
fn execution_begins_inside_the_code_memory() {
    let refused = |machine: &str, text: &str| assembled(machine, text).unwrap_err();
    assert_eq!(refused("hex8", ".entry 0x12345"), ["A502 execution cannot begin at 74565"]);
    assert_eq!(refused("hex8", ".entry -1"), ["A502 execution cannot begin at -1"]);
    assert_eq!(refused("hex8", ".entry 1 << 100").len(), 1);
    let found = refused("stack8b", ".data\nx: .byte 1\n.entry x");
    assert_eq!(found, ["A304 this label is in `data`, but programs run in `prog`"]);
    assert_eq!(assembled("hex8", ".entry 0xFFFF\nnop").unwrap().entry, Some(0xFFFF));
}

/// A jump of two cells, or of three if two do not reach.
const JUMPS: &str = "
machine jumps \"Short and long jumps\"
memory ram : u16 -> u8
pc pc : u16 in ram
field S : s8 from next
field L : u16
instructions {
  nop   | 0000 0000 |
  jmp S | 0000 0001 SSSS SSSS | pc = S
  jmp L | 0000 0010 LLLL LLLL LLLL LLLL | pc = L
}
";

/// Each jump just reaches its target, which lies after the next jump; the last jump does not, so the one before it does
/// not either, and so on.
#[test]
fn a_chain_of_jumps_settles_however_long_it_is() {
    let isa = lathe_isa::load(JUMPS);
    let isa = isa.isa.unwrap_or_else(|| panic!("{:?}", isa.diagnostics));
    let links = 300;
    let mut text = String::new();
    for link in 0..links {
        text += &format!("  jmp t{link}\n{}t{}:\n", "  nop\n".repeat(62 + link % 2), link as i32 - 1);
    }
    // The target of the last jump lies one cell too far.
    text += &format!("{}t{}:\n  nop\n", "  nop\n".repeat(66), links - 1);
    text = text.replace("t-1:", "first: jmp first");
    let image = outcome(&isa, &MemoryFiles::default(), &text).unwrap();
    let jumps = image.lines.iter().filter(|line| text[line.span.range()].starts_with("jmp t"));
    let lengths: Vec<u32> = jumps.map(|line| line.cells).collect();
    assert_eq!(lengths, vec![3; links]);
}
