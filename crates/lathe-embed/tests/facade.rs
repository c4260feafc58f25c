//! What the guide does not show: every mistake has a message, every engine does the same, and instances and machines
//! can move between threads.

use lathe_embed::{EngineKind, Error, Format, Instance, Machine, Stop, Unavailable};

fn hex8() -> Machine {
    Machine::built_in("hex8").unwrap()
}

#[test]
fn machines_are_shared_and_instances_sent() {
    fn shared<T: Send + Sync>() {}
    fn sent<T: Send>() {}
    shared::<Machine>();
    shared::<Error>();
    sent::<Instance>();
}

#[test]
fn every_mistake_has_a_cause_and_a_next_step() {
    let machine = hex8();
    let mut instance = machine.instance();
    let said = |error: Error| error.to_string();
    assert_eq!(
        said(Machine::built_in("hexx8").unwrap_err()),
        "no machine `hexx8` comes with Lathe; did you mean `hex8`?"
    );
    assert_eq!(said(instance.memory("rma").unwrap_err()), "the machine has no memory `rma`; did you mean `ram`?");
    assert_eq!(
        said(instance.attach("disk", lathe_embed::Console::default()).unwrap_err()),
        "the machine has no device `disk`"
    );
    assert_eq!(said(instance.set("pc", 0x10000).unwrap_err()), "65536 does not fit in `pc`, which has 16 bits");
    let program = said(machine.assemble("nop\n adimm r1, r1, 1\n").unwrap_err());
    assert!(program.starts_with("the program cannot be assembled:\nprogram:2:2: "), "{program}");
    assert!(program.contains("[A301]") && program.contains("\n  help: "), "{program}");
    let image = said(machine.read_image(Format::IntelHex, b":00000001FE\n").unwrap_err());
    assert!(image.starts_with("line 1: "), "{image}");
    let duo16 = Machine::built_in("duo16").unwrap();
    assert_eq!(said(duo16.instance().set("r0", 1).unwrap_err()), "`r0` is constant and cannot be set");
}

#[test]
fn an_example_that_fails_makes_a_definition_unusable() {
    let text = r#"
machine wrong "Its example is"
memory ram : u8 -> u8
pc pc : u8 in ram
register a : u8
instructions { inc | 0x01 | a = a + 1 }
examples { inc : a = 1 -> a = 3 }
"#;
    let Err(Error::Definition(findings)) = Machine::define(text) else { panic!("the example fails") };
    assert_eq!((findings.len(), findings[0].line, findings[0].diagnostic.code.name), (1, 7, "E502"));
}

#[test]
fn reset_and_load_begin_anew_and_devices_stay() {
    let machine = hex8();
    let program = machine.assemble("addimm r1, r1, 1\n output r1\n jmp $").unwrap();
    let mut instance = machine.instance();
    for expected in [[1], [1]] {
        instance.reset();
        instance.load(&program);
        assert_eq!(instance.run_for(100).stop, Stop::Idle);
        assert_eq!(instance.take_output(), expected);
    }
    instance.load(&program);
    instance.run_for(100);
    assert_eq!(instance.take_output(), [2], "without a reset the registers stay");
}

/// A loop long enough to be compiled, on every engine, with limits that end anywhere.
#[test]
fn every_engine_stops_at_the_same_instruction() {
    let machine = hex8();
    let program =
        machine.assemble("loop: addimm r1, r1, 3\n storeind r1, r15, r1\n xor r2, r1\n jmp loop\n .org 0x100\n");
    let program = program.unwrap();
    for limit in [0, 1, 7_999, 40_001, 1_000_003] {
        let state = |kind: EngineKind| {
            let mut instance = machine.instance_on(kind).ok()?;
            instance.load(&program);
            instance.set("r15", 0x20).unwrap();
            let run = instance.run_for(limit);
            Some((run, instance.state().clone()))
        };
        let expected = state(EngineKind::Interpreter).unwrap();
        for kind in [EngineKind::Auto, EngineKind::Fast, EngineKind::Jit] {
            assert!(state(kind).is_none_or(|found| found == expected), "{kind:?} {limit}");
        }
    }
}

#[test]
fn the_jit_is_there_or_says_why_not() {
    let large = r#"
machine large "A great deal of memory"
memory ram : u24 -> u8
pc pc : u24 in ram
instructions { halt | 0x00 | halt }
"#;
    let large = Machine::define(large).unwrap();
    let refused = |machine: &Machine| machine.instance_on(EngineKind::Jit).err();
    for machine in [hex8(), large] {
        if cfg!(feature = "jit") {
            assert_eq!(machine.instance().engine(), EngineKind::Jit);
            assert_eq!(refused(&machine), None);
        } else {
            assert_eq!(machine.instance().engine(), EngineKind::Fast);
            assert_eq!(refused(&machine), Some(Error::Engine(Unavailable::NotBuilt)));
        }
    }
}

#[test]
fn a_program_begins_where_the_vectors_of_its_machine_lead() {
    let definition = |data: &str| {
        let text = "machine vectored \"Takes its first address and its stack from memory\"\n\
            memory ram : u16 -> u8 big\npc pc : u16 in ram = 0x100\nregister sp : u16\nregister a : u8 = 7\n\
            on reset { sp = ram.u16[0xFFFC]; if sp == 0 { sp = 0x80 }; pc = ram.u16[0xFFFE] }\n\
            instructions {\n  nop | 0x01 |\n  stop | 0x00 | halt\n}\n";
        Machine::define(&(text.to_owned() + data)).unwrap()
    };
    let begins = |machine: &Machine, program: &str| {
        let mut instance = machine.instance();
        instance.load(&machine.assemble(program).unwrap());
        let register = |name| instance.get(name).unwrap();
        (register("pc"), register("sp"), register("a"))
    };
    let plain = definition("");
    assert_eq!(
        begins(&plain, ".org 0x300\nnop\n.org 0x340\nstop\n.org 0xFFFC\n.byte 2, 1, 3, 0x40"),
        (0x340, 0x201, 7)
    );
    // The last cell alone is also a vector.
    assert_eq!(begins(&plain, ".org 0x40\nnop\n.org 0xFFFF\n.byte 0x40"), (0x40, 0x80, 7));
    // A program that names its entry begins there, and everything else happens as usual.
    assert_eq!(begins(&plain, ".entry on\n.org 0x300\nnop\non: nop\n.org 0xFFFC\n.byte 2, 1, 3, 0"), (0x301, 0x201, 7));
    // A vector that leads nowhere, and no vector.
    assert_eq!(begins(&plain, ".org 0x300\nnop\n.org 0xFFFE\n.byte 9, 9"), (0x300, 0x80, 7));
    assert_eq!(begins(&plain, ".org 0x300\nnop"), (0x300, 0, 7));
    assert_eq!(begins(&plain, ".org 0x80\nnop\n.org 0x100\nnop"), (0x100, 0, 7));
    // The definition's vector counts, unless the program replaces it.
    let with_data = definition("data ram 0xFFFE { 0x02, 0x00 }\n");
    assert_eq!(begins(&with_data, ".org 0x100\nnop\n.org 0x200\nnop"), (0x200, 0x80, 7));
    assert_eq!(begins(&with_data, ".org 0x100\nnop\n.org 0x200\nnop\n.org 0xFFFE\n.byte 1, 0"), (0x100, 0x80, 7));
    let mos6502 = Machine::built_in("mos6502").unwrap();
    let mut instance = mos6502.instance();
    instance.load(&mos6502.assemble(".org $E000\nnop\nstart: nop\n.org $FFFC\n.word start").unwrap());
    assert_eq!(instance.get("pc").unwrap(), 0xE001);
}

/// Modes that keep changing, and then stay: what was decoded in one mode must not be executed in another.
#[test]
fn restless_modes_are_the_same_on_every_engine() {
    let machine = Machine::define(include_str!("../../../tests/machines/wide8.isa")).unwrap();
    // The routine is `lda #6; nop; …` in one mode and `lda #0x0600; …` in the other.
    let program = "
        .org 0x200
start:  rep #8
        .mode i = 0
        ldx #3000
loop:   rep #4
        jsr both
        sep #4
        jsr both
        dex
        bne loop
        ldx #9000
calm:   jsr both
        dex
        bne calm
        rep #4
        ldx #9000
other:  jsr both
        dex
        bne other
        sep #4
        jmp start
both:   .byte 0x01, 0x06, 0x00
        .byte 0x03, 0x02, 0x00
        sta 0x300
        rts
";
    let program = machine.assemble(program).unwrap();
    let engines = [EngineKind::Interpreter, EngineKind::Fast, EngineKind::Jit, EngineKind::Auto];
    let mut instances: Vec<Instance> = engines.iter().filter_map(|kind| machine.instance_on(*kind).ok()).collect();
    instances.iter_mut().for_each(|instance| instance.load(&program));
    for part in 0..8 {
        let states = instances.iter_mut().map(|instance| {
            instance.run_for(100_003);
            let ram = instance.memory("ram").unwrap();
            let cells = [0x300, 0x301, 0x1FD].map(|address| ram.get(address));
            (["pc", "a", "x", "p", "sp"].map(|name| instance.get(name).unwrap()), cells)
        });
        let states: Vec<_> = states.collect();
        for (state, instance) in states.iter().zip(&instances) {
            assert_eq!(*state, states[0], "{:?}, part {part}", instance.engine());
        }
    }
}
