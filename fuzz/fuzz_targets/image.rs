//! No bytes make a reader of images panic, and what is read can be written again.
#![no_main]

use std::sync::LazyLock;

use lathe_asm::formats;
use lathe_isa::Isa;
use libfuzzer_sys::fuzz_target;

static HEX8: LazyLock<Isa> =
    LazyLock::new(|| lathe_isa::load_with(lathe_machines::find("hex8").unwrap().source(), &lathe_machines::Shipped).isa.unwrap());

fuzz_target!(|bytes: &[u8]| {
    let format = formats::guess("image", bytes);
    if let Ok(image) = formats::read(format, bytes, &HEX8) {
        let _ = formats::write(format, &image, &HEX8, &[], &formats::Options::default());
    }
});
