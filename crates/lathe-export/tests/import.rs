//! Rules of customasm as definitions: programs assemble as customasm does with the rules.

use lathe_asm::{Image, LineKind, Options, Segment, assemble, disassembler};
use lathe_base::Source;
use lathe_base::files::MemoryFiles;
use lathe_export::{Finding, Import, import_customasm};
use lathe_isa::Isa;
use lathe_isa::encoding::window;
use lathe_tests::random::Random;

fn import(rules: &str) -> Import {
    import_customasm("rules.asm", rules).unwrap_or_else(|findings| panic!("{findings:?}\n{rules}"))
}

fn isa(import: &Import) -> Isa {
    let loaded = lathe_isa::load(&import.text);
    let errors: Vec<String> = loaded.diagnostics.into_sorted().into_iter().map(|one| one.message).collect();
    loaded.isa.unwrap_or_else(|| panic!("{errors:?}\n{}", import.text))
}

fn messages(findings: &[Finding]) -> Vec<&str> {
    findings.iter().map(|finding| finding.message.as_str()).collect()
}

/// Returns the cells that customasm makes, from the beginning of the output.
fn theirs(rules: &str, program: &str, cell: u32) -> Vec<u64> {
    let source = format!("{rules}\n{program}\n");
    let (made, report) = customasm::assemble_str_to_binary(&source);
    let made = made.unwrap_or_else(|| {
        let (mut message, mut files) = (Vec::new(), customasm::util::FileServerMock::new());
        files.add("str", source);
        report.print_all(&mut message, &files, false);
        panic!("customasm does not take it:\n{}", String::from_utf8_lossy(&message))
    });
    made.chunks((cell / 8) as usize).map(|cell| cell.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte))).collect()
}

fn ours(isa: &Isa, program: &str) -> Vec<u64> {
    let assembled = assemble(isa, &MemoryFiles::default(), Source::new("p", program), &Options::default());
    let errors: Vec<String> = assembled.diagnostics.into_sorted().into_iter().map(|one| one.message).collect();
    let image = assembled.image.unwrap_or_else(|| panic!("{errors:?}\n{program}"));
    image.segments.iter().flat_map(|segment| segment.cells.clone()).collect()
}

/// Checks that a program comes out the same, and that nothing of the rules was lost.
fn check_all(rules: &str, program: &str) {
    let import = check(rules, program);
    assert_eq!(messages(&import.findings), [""; 0], "{}", import.text);
}

fn check(rules: &str, program: &str) -> Import {
    let import = import(rules);
    let isa = isa(&import);
    assert_eq!(ours(&isa, program), theirs(rules, program, isa.code_memory().cell.bits()), "{}", import.text);
    import
}

/// Names without a size take the size required where they are used; a name that always fails exists only to fail.
#[test]
fn names_without_a_size() {
    check_all(
        "#subruledef reg {\n zr => 0\n r1 => 1\n r2 => 2\n sp => 14\n}\n\
         #subruledef pair {\n bc => 0`2\n de => 1`2\n af => assert(0 != 0, \"not here\")\n}\n\
         #ruledef {\n in {d: reg} => 1`4 @ d`4\n add {d: reg}, {a: reg} => 2`8 @ d`4 @ a`4\n\
         inc {p: pair} => 0xF @ p @ 0b11\n clr {d: reg} => asm\n {\n add {d}, zr\n }\n}\n",
        " in sp\n add r2, sp\n inc de\n clr r1\n",
    );
}

#[test]
fn registers_and_numbers() {
    check_all(
        "
#subruledef reg
{
    r0 => 0b00
    r1 => 0b01
    r2 => 0b10
    sp => 0b11
}
#ruledef
{
    nop                     => 0x00
    HLT                     => 0x01
    mov {d: reg}, {s: reg}  => 0x1 @ d @ s
    ldi {d: reg}, {v: i8}   => 0b001000 @ d @ v   ; a number
    ld  {d: reg}, [{a:u16}] => 0b001100 @ d @ a
    st  [{a: u16}], {s:reg} => 0b001110 @ s @ $le(a)
    jmp {a: u16}            => 0x40 @ a[15:8] @ a[7:0]
    add {d: reg}, #{v: s4}  => 0x5 @ v[3:2] @ d @ 0b000000 @ v[1:0]
}",
        "
start: ldi r1, -1
       ldi sp, 255
       mov r2, sp
       ld r0, [0x1234]
       st [start], r2
       add r1, #-3
       HLT
       jmp start",
    );
}

#[test]
fn the_picture_is_readable() {
    let import = import(
        "#bankdef code\n{\n bits = 8\n addr = 0x8000\n size = 0x8000\n}\n#subruledef reg { \nr0 => 0x0`3\nr1 => 0x1`3\nr2 => 0x2`3\n r7 => 7`3\n}\n#ruledef main\n{\n  ld {d: reg}, {a: u16} => 0b00001 @ d @ $le(a)\n  bra {t} => { \n d = t - $ - 2\n $assert(d >= -128 && d <= 127)\n 0x20 @ d`8 }\n}\n",
    );
    let lines: Vec<&str> = import.text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).collect();
    assert_eq!(
        lines,
        [
            "machine rules \"TODO: one line about it\"",
            "memory ram : u16 -> u8",
            "pc pc : u16 in ram = 0x8000",
            "register r0..r2, r7 : u8",
            "field D : register { r0..r2, _, _, _, _, r7 }",
            "field A : u16 little",
            "field T : s8 address from next",
            "instructions {",
            "  ld D, A | 00001 {D} {A} | fault \"TODO\"",
            "  bra T | 0x20 {T} | fault \"TODO\"",
            "}",
        ]
    );
    assert_eq!(import.findings, []);
}

#[test]
fn registers_inside_of_words_and_conditions_as_first_words() {
    check_all(
        "
#subruledef number
{
    0 => 0b000
    1 => 0b001
    5 => 0b101
}
#subruledef cond
{
    z  => 0x1
    nz => 0x2
}
#ruledef
{
    mov r{d: number}, r{s: number} => 0b10 @ d @ s
    j{c: cond} {a: u8}             => 0x4 @ c @ a
    set {c: cond}                  => 0x5 @ c
    twice r{d: number}             => 0x6 @ 0b00 @ d @ d @ 0b0000
}",
        "a: mov r5, r1\n jz a\n jnz 7\n set nz\n set z\n twice r5\n twice r0",
    );
}

#[test]
fn addressing_modes_and_names_with_numbers() {
    check_all(
        "
#subruledef mode
{
    #{v: u8}    => 0x0 @ v
    [{v: u8}]   => 0x1 @ v
    [{v: u8}, x] => 0x2 @ v
}
#subruledef port
{
    status   => 0x40
    {n: u8}  => n
}
#ruledef
{
    lda {m: mode} => 0xa @ m
    in {p: port}  => 0xb0 @ p
}",
        "lda #5\n lda [5]\n lda [0x77, x]\n in status\n in 3",
    );
}

#[test]
fn two_ways_to_write_one_encoding() {
    let import = check(
        "
#subruledef reg
{
    a => 0b0
    b => 0b1
}
#ruledef
{
    nop                     => 0x10
    mov {d: reg}, {s: reg}  => 0b000100 @ d @ s
    je {a: u8}              => 0x20 @ a
    jz {a: u8}              => 0x20 @ a
    push {v: i8}            => 0x30 @ v
    push #{v: i8}           => 0x30 @ v
    dup {d: reg}            => asm {
        push 1
        mov {d}, b
    }
}",
        "nop\n mov b, a\n je 5\n jz 6\n push 3\n push #3\n dup a",
    );
    assert_eq!(messages(&import.findings), [""; 0]);
    for line in ["je/jz A | 0x20 {A} |", "nop => mov a, a", "push #V => push V", "dup D => push 1; mov D, b"] {
        assert!(import.text.contains(line), "{line}:\n{}", import.text);
    }
}

#[test]
fn words_of_sixteen_bits_and_distances() {
    check_all(
        "
#bankdef code
{
    #bits 16
    #addr 0
    #size 0x1000
    #outp 0
}
#ruledef
{
    ldi {v: u12}  => 0x1 @ v
    bra {a: u16}  => {
        offset = a - $ - 1
        $assert(offset <= 0x7ff)
        $assert(offset >= !0x7ff)
        0x2 @ offset`12
    }
    here {a: u16} => 0x3 @ (a - $)`12
    far {a: u16}  => 0x4000 @ a
}",
        "start: ldi 0xabc\n bra start\n bra end\n here start\n far end\n end: ldi 1",
    );
}

/// Assertions about operands: values in a list, two equal operands, ranges, and names.
#[test]
fn asserted_operands() {
    let rules = "
#subruledef reg
{
    r0 => 0b00
    r1 => 0b01
    r2 => 0b10
    sp => 0b11
}
#subruledef quick
{
    {n} => {
        $assert(n >= 0 && n <= 2)
        n`2
    }
    {n} => {
        $assert(n >= -1 && n <= -1)
        (n - (-4))`2
    }
}
#ruledef
{
    add {d: reg}, {s: reg}, {t: reg} => 0b0001 @ d @ s @ t @ 0b00 @ 0x0
    add {d: reg}, {s: reg}, {t: reg} => {
        $assert(s == d)
        0b0010 @ d @ t
    }
    add {d: reg}, {s: reg}, {t: reg} => {
        $assert(s == 3)
        $assert(!(s == d))
        0b0011 @ d @ t
    }
    swap {d: reg}, {s: reg} => {
        $assert(d != s)
        0x4 @ d @ s
    }
    mul {n: u4} => {
        $assert(n == 1 || n == 2 || n == 4 || n == 8)
        0x5 @ n
    }
    rot {n: u4} => {
        $assert(n >= 1)
        $assert(n < 6)
        0x6 @ n
    }
    psh {d: reg} => {
        $assert(d == 0 || d == 3)
        0b011100 @ d
    }
    ldi {n: quick} => 0b100000 @ n
    ldi {n: i8}    => 0x90 @ n
    odd {d: reg} => {
        $assert((d & 1) != 0)
        0b101000 @ d
    }
}";
    check_all(
        rules,
        "add r1, r2, sp\n add r1, r1, sp\n add r1, sp, r2\n add sp, sp, r2\n swap r1, r2\n mul 8\n mul 1\n rot 1\n rot 5\n \
         psh sp\n psh r0\n ldi 2\n ldi -1\n ldi 3\n odd r1\n odd sp",
    );
    let import = import(rules);
    let back = isa(&import);
    for line in ["swap r1, r1", "mul 3", "mul 0", "rot 0", "rot 6", "psh r1", "odd r2"] {
        let image = assemble(&back, &MemoryFiles::default(), Source::new("p", line), &Options::default()).image;
        assert!(image.is_none(), "`{line}` is taken:\n{}", import.text);
    }
    for part in ["where S == D", "where S == sp", "where S != D", "s3 in { 0..2, -1 }", "u3 in { _, 1..5 }"] {
        assert!(import.text.contains(part), "{part}:\n{}", import.text);
    }
}

/// Assertions that no row can express are reported; the row is there without them.
#[test]
fn assertions_that_cannot_be_said() {
    let import = import(
        "#ruledef\n{\n a {x: u8}, {y: u8} => { $assert(x != y) 0x01 @ x @ y }\n b {x: u8}, {y: u8} => { $assert(!(x == 1 && y == 2)) 0x02 @ x @ y }\n c {x: i8} => { $assert(x < 5) 0x03 @ x }\n}\n",
    );
    let wanted = ["a {x: u8}, {y: u8}", "b {x: u8}, {y: u8}", "c {x: i8}"]
        .map(|rule| format!("`{rule}`: its assertion; the row is there without it"));
    assert_eq!(messages(&import.findings), wanted);
    assert_eq!(isa(&import).instructions.len(), 3);
}

#[test]
fn short_and_long_forms() {
    check_all(
        "
#subruledef near
{
    {addr: u16} =>
    {
        distance = addr - $ - 2
        $assert(distance <=  0x7f)
        $assert(distance >= !0x7f)
        distance`8
    }
}
#ruledef
{
    lda #{imm:  i8 }     => 0xa9 @ imm
    lda <{zero: u8 }     => 0xa5 @ zero
    lda  {zero: u8 }     => 0xa5 @ zero
    lda  {addr: u16}     => 0xad @ $le(addr)
    lda  {addr: u16}, x  => 0xbd @ $le(addr)
    lda ({zero: u8 }), y => 0xb1 @ zero
    bne  {addr: near}    => 0xd0 @ addr
    asl a                => 0x0a
}",
        "start: lda #5\n lda 0x10\n lda <0x10\n lda 0x1234\n lda start, x\n lda (0x20), y\n bne start\n asl a",
    );
}

#[test]
fn a_number_before_an_operator() {
    let import = import("#ruledef\n{\n  lda [{v: u8}+x] => 0x12 @ v\n  nop => 0x00\n}\n");
    assert_eq!(
        messages(&import.findings),
        ["`lda [{v: u8}+x]`: in a program `+` would be part of the number before it"]
    );
}

#[test]
fn what_cannot_be_carried_over_is_named_with_its_place() {
    let rules = "#include \"other.asm\"\n#ruledef\n{\n  nop => 0x00\n  odd {v: u8} => 0x10 @ (v * 3)`8\n  half => 0x1\n  none {r: missing} => 0x20 @ r\n  far {a: u16} => 0x30 @ (a - $ - 7)`8\n}\nstart: nop\n";
    let import = import(rules);
    let places: Vec<(usize, &str)> = import
        .findings
        .iter()
        .map(|finding| (rules[..finding.at].matches('\n').count() + 1, finding.message.as_str()))
        .collect();
    assert_eq!(
        places,
        [
            (1, "#include \"other.asm\": put its rules into this file"),
            (5, "`odd {v: u8}`: it computes `*` with an operand"),
            (6, "`half`: its 4 bits are no whole cells of 8"),
            (7, "`none {r: missing}`: there is no block of rules `missing`"),
            (
                8,
                "`far {a: u16}`: `a` is counted from `$ + 7`; distances here are from the instruction or from the next one"
            ),
            (10, "the program from here on: only rules become a definition"),
        ]
    );
    isa(&import);
}

/// Returns the instructions of a program: the address, text and cells of each.
fn instructions(isa: &Isa, image: &Image) -> Vec<(u64, String, Vec<u64>)> {
    let digits = isa.pc.width.bits().div_ceil(4) as usize;
    let mut instructions = Vec::new();
    for segment in image.segments.iter().filter(|segment| segment.memory == isa.pc.memory) {
        let mut at = 0;
        while let Some(rest) = segment.cells.get(at..).filter(|rest| !rest.is_empty()) {
            let address = segment.start + at as u64;
            let is_code = image.line_at(segment.memory, address).is_some_and(|line| line.kind == LineKind::Code);
            let decoded = isa.decode(window(rest.iter().copied(), isa.code_memory().cell)).filter(|_| is_code);
            let Some(decoded) = decoded else {
                at += 1;
                continue;
            };
            let count = isa.instruction(decoded.instruction).encoding.cells as usize;
            let line = disassembler::instruction(isa, &decoded, address, |_, at| Some(format!("0x{at:0digits$x}")));
            instructions.push((address, line, rest[..count].to_vec()));
            at += count;
        }
    }
    instructions
}

/// Counts those of these instructions that the machine that came back has, with the same cells. They are assembled
/// together, since a machine takes time to set up, and in halves if that fails.
fn carried_over(back: &Isa, instructions: &[(u64, String, Vec<u64>)], name: &str) -> usize {
    let text: String = instructions.iter().map(|(address, line, _)| format!(".org {address}\n{line}\n")).collect();
    let made = assemble(back, &MemoryFiles::default(), Source::new("lines", text), &Options::default()).image;
    let Some(made) = made else {
        let (first, second) = instructions.split_at(instructions.len() / 2);
        return if first.is_empty() { 0 } else { carried_over(back, first, name) + carried_over(back, second, name) };
    };
    for (address, line, cells) in instructions {
        let made = made.segments.iter().find(|segment| segment.contains(*address));
        let at = |segment: &Segment| (address - segment.start) as usize;
        let made = made.and_then(|segment| segment.cells.get(at(segment)..at(segment) + cells.len()));
        assert_eq!(made, Some(cells.as_slice()), "{name}: {line}");
    }
    instructions.len()
}

/// Every shipped machine is exported and imported again, and its programs assemble to the same cells.
#[test]
fn what_was_exported_comes_back() {
    for machine in lathe_machines::every() {
        let isa = lathe_isa::load_with(machine.source(), &lathe_machines::Shipped).isa.expect("it is right");
        let rules = lathe_export::customasm(&isa);
        let import = import_customasm(&format!("{}.asm", machine.name), &rules.files[0].text)
            .unwrap_or_else(|findings| panic!("{}: {findings:?}", machine.name));
        let back = self::isa(&import);
        let (mut all, mut same) = (0, 0);
        for program in machine.programs {
            let mut files = MemoryFiles::default();
            for file in machine.programs {
                files.0.insert(format!("{}.asm", file.name), file.text.as_bytes().to_vec());
            }
            let source = Source::new(format!("{}.asm", program.name), program.text);
            let Some(image) = assemble(&isa, &files, source, &Options::default()).image else { continue };
            let instructions = instructions(&isa, &image);
            all += instructions.len();
            same += carried_over(&back, &instructions, machine.name);
        }
        let lost = all - same;
        println!("{}: {same} instructions the same, {lost} not carried over: {:#?}", machine.name, import.findings);
        // There, `ld b, c` is several rules, of which customasm takes the shortest; rows must not look alike.
        let most_lost = if machine.name == "z80" { 9 } else { 0 };
        assert!(lost <= most_lost && same > 0, "{}: {same} the same, {lost} lost", machine.name);
    }
}

/// Broken rules never do harm: any resulting definition passes the check.
#[test]
fn broken_rules() {
    let seed = std::env::var("LATHE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(13);
    let rounds = std::env::var("LATHE_EDITS").ok().and_then(|count| count.parse().ok()).unwrap_or(40);
    let hex8 = lathe_machines::find("hex8").expect("it ships").source();
    let hex8 = lathe_isa::load_with(hex8, &lathe_machines::Shipped).isa.expect("it is right");
    let hex8 = lathe_export::customasm(&hex8).files[0].text.clone();
    let small = "#bankdef b { #bits 8 }\n#subruledef m\n{\n #{v: u8} => 0x0 @ v\n {a: m} => a\n}\n#ruledef\n{\n x {m: m}, {v} => { q = v - $\n $assert(q < 5) 0x1 @ m @ q`8 }\n y{a: m} => asm { x {a}, 1 }\n z {v: u16} => le(v) @ (v >> 3)`8\n}\n";
    let pieces = [
        "{", "}", "=>", "@", "`", "\n", "#", "(", ")", "0x", "$", "!", "é", "𝄞", "u64", "u99", ";*", "\"", "asm",
        "le(", "[3:0]", "<<", "{m: m}", " ",
    ];
    for (name, text) in [("hex8", hex8.as_str()), ("small", small)] {
        let mut random = Random(seed);
        let mut broken = text.to_owned();
        for round in 0..rounds {
            if round % 6 == 0 {
                text.clone_into(&mut broken);
            }
            let boundaries: Vec<usize> = broken.char_indices().map(|(at, _)| at).chain([broken.len()]).collect();
            let start = random.below(boundaries.len() as u64) as usize;
            let end = (start + random.below(8) as usize).min(boundaries.len() - 1);
            let piece = if random.once_in(3) { "" } else { random.pick(&pieces) };
            broken.replace_range(boundaries[start]..boundaries[end], piece);
            if let Ok(import) = import_customasm("broken.asm", &broken) {
                let sound = lathe_isa::load(&import.text).isa.is_some();
                assert!(sound, "seed {seed}, {name}, round {round}:\n{broken}\n--\n{}", import.text);
                assert!(import.findings.iter().all(|finding| finding.at <= broken.len()));
            }
        }
    }
}

#[test]
fn depth_and_size_have_limits() {
    let nested = format!("#ruledef\n{{\n a => {}0x00{}\n b => 0x01\n}}\n", "(".repeat(5000), ")".repeat(5000));
    assert!(import(&nested).text.contains("b | 0x01"));
    let signs = format!("#ruledef\n{{\n a => {}1`8\n b => 0x01\n}}\n", "-".repeat(100_000));
    assert!(import(&signs).text.contains("b | 0x01"));
    let long = format!("#ruledef\n{{\n a => {}0x00\n b => 0x01\n}}\n", "0x00 @ ".repeat(50_000));
    assert!(import(&long).text.contains("b | 0x01"));
    let circle = "#subruledef a\n{\n {x: b} {y: b} => x @ y\n}\n#subruledef b\n{\n {x: a} {y: a} => x @ y\n 1 => 0x01\n}\n#ruledef\n{\n t {x: a} => x\n u => 0x02\n}\n";
    assert!(import(circle).text.contains("u | 0x02"));
}
