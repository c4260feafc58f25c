//! No source makes the assembler panic or hang, and what it accepts can be disassembled.
#![no_main]

use std::sync::LazyLock;

use lathe_asm::{Method, Options, assemble, disassemble};
use lathe_base::Source;
use lathe_base::files::MemoryFiles;
use lathe_isa::Isa;
use libfuzzer_sys::fuzz_target;

static HEX8: LazyLock<Isa> =
    LazyLock::new(|| lathe_isa::load_with(lathe_machines::find("hex8").unwrap().source(), &lathe_machines::Shipped).isa.unwrap());

fuzz_target!(|text: &str| {
    let result = assemble(&HEX8, &MemoryFiles::default(), Source::new("fuzz.asm", text), &Options::default());
    if let Some(image) = result.image {
        let again = disassemble(&HEX8, &image, Method::Follow);
        let second = assemble(&HEX8, &MemoryFiles::default(), Source::new("again.asm", again), &Options::default());
        assert_eq!(second.image.unwrap().flat(HEX8.pc.memory, 0), image.flat(HEX8.pc.memory, 0));
    }
});
