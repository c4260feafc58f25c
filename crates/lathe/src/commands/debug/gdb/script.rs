//! The script that makes gdb at home on a machine it has never heard of: it connects, knows the labels, shows the
//! machine's own mnemonics, and adds `lathe` for all commands of Lathe's own debugger.

use std::fmt::Write as _;
use std::net::SocketAddr;

use lathe_asm::SymbolKind;
use lathe_debug::Program;

use super::guise::Guise;

/// Disassembles through `monitor`, and flushes gdb's caches when a command has moved the machine.
const PYTHON: &str = r#"
python
import gdb

class LatheCommand(gdb.Command):
    """All commands of Lathe's own debugger, such as `lathe who wrote a`; `lathe help` lists them."""
    def __init__(self):
        super().__init__("lathe", gdb.COMMAND_RUNNING)
    def invoke(self, line, from_tty):
        gdb.execute("monitor " + (line or "where"))
        gdb.execute("maintenance flush register-cache", to_string=True)

LatheCommand()

try:
    import gdb.disassembler

    class LatheDisassembler(gdb.disassembler.Disassembler):
        def __init__(self):
            super().__init__("lathe")
        def __call__(self, info):
            answer = gdb.execute("monitor instruction 0x%x" % info.address, to_string=True)
            length, text = answer.strip().split(" ", 1)
            return gdb.disassembler.DisassemblerResult(int(length), text)

    gdb.disassembler.register_disassembler(LatheDisassembler(), None)
except ImportError:
    print("this gdb is older than 13: `x/i` shows nonsense, `lathe disassemble` does not")
end
"#;

/// Returns the script for a program.
pub(super) fn text(program: &Program, guise: &Guise, address: SocketAddr) -> String {
    let mut text = format!(
        "# gdb on {}, made by `lathe debug --gdb-script`.\n\
         # Labels are convenience variables, so `break *$label` stops at one; `lathe help` lists Lathe's own commands.\n\
         set confirm off\nset architecture riscv:rv32\nset osabi none\n",
        guise.machine()
    );
    for (name, window) in guise.windows() {
        let cells = if window.scale == 1 { String::new() } else { format!(", {} bytes a cell", window.scale) };
        let _ = writeln!(text, "# {name} is at 0x{:x}{cells}", window.base);
    }
    for symbol in &program.image().symbols {
        let window = match symbol.kind {
            SymbolKind::Label(memory) => guise.windows().find(|(_, window)| window.memory == memory),
            SymbolKind::Constant => None,
        };
        let is_name = symbol.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if let (Some((_, window)), true, Ok(value)) = (window, is_name, u64::try_from(symbol.value)) {
            let _ = writeln!(text, "set ${} = 0x{:x}", symbol.name, window.base + value * window.scale);
        }
    }
    let _ = writeln!(text, "{PYTHON}\ntarget remote {address}\nset disassemble-next-line on");
    text
}
