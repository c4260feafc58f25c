//! The debugger's faces driven from outside: `lathe dap` by an independent client and by malformed messages,
//! `lathe debug --gdb` by gdb, the screen by keys in a real terminal.

mod dap;
#[cfg(feature = "gdb")]
mod gdb;
#[cfg(feature = "screen")]
mod picture;
#[cfg(feature = "screen")]
mod terminal;

use std::path::Path;

use tempfile::TempDir;

/// A program that calls a routine of an included file, writes to memory and prints `ab`.
const PROGRAM: &str = "\
.machine hex8
        loadimm r1, 0
next:   addimm r1, r1, 1
        mov r0, r1
        orimm r2, r1, 0
        call double
        storemem r0, 0x80
        addimm r0, r1, 0x60
        output r0
        eqimm r3, r1, 2
        jmpfwdo r3, end
        jmp next
end:    jmp $
forever: addimm r4, r4, 1
        jmp forever
.include \"library.asm\"
";

const LIBRARY: &str = "double: add r0, r0\n        return\n";

fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder can be made");
    std::fs::write(folder.path().join("program.asm"), PROGRAM).expect("it can be written");
    std::fs::write(folder.path().join("library.asm"), LIBRARY).expect("it can be written");
    folder
}

fn binary() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_lathe"))
}
