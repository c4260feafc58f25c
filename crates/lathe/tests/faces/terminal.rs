//! The debugger's screen, and displays of machines, in a real terminal: tmux sends the keys and captures the screen.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::{binary, folder};

/// How long to wait until the screen shows what it should.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// A terminal on a separate tmux server, so that nothing else is touched.
pub(super) struct Terminal {
    tmux: PathBuf,
    socket: PathBuf,
}

impl Terminal {
    pub(super) fn start(tmux: PathBuf, folder: &Path, command: &str, size: (&str, &str)) -> Terminal {
        let terminal = Terminal { tmux, socket: folder.join("tmux") };
        let shell = format!("{command}; echo left with $?; exec sh");
        terminal.tmux(&["new-session", "-d", "-x", size.0, "-y", size.1, "-c", &folder.to_string_lossy(), &shell]);
        terminal
    }

    pub(super) fn tmux(&self, arguments: &[&str]) -> String {
        let mut command = Command::new(&self.tmux);
        command.env_remove("TMUX").arg("-S").arg(&self.socket).args(["-f", "/dev/null"]).args(arguments);
        let output = command.output().expect("tmux runs");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    pub(super) fn keys(&self, keys: &[&str]) {
        let mut arguments = vec!["send-keys"];
        arguments.extend(keys);
        self.tmux(&arguments);
    }

    pub(super) fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p"])
    }

    /// Waits until the screen shows something.
    pub(super) fn shows(&self, text: &str) -> String {
        self.shows_all(&[text])
    }

    /// Waits until the screen shows all of these at once; it may be captured while it is being drawn.
    pub(super) fn shows_all(&self, texts: &[&str]) -> String {
        self.waits(&format!("does not show all of {texts:?}"), |screen| texts.iter().all(|text| screen.contains(text)))
    }

    /// Waits until the screen no longer shows something.
    fn shows_no_longer(&self, text: &str) {
        self.waits(&format!("still shows {text:?}"), |screen| !screen.contains(text));
    }

    fn waits(&self, otherwise: &str, until: impl Fn(&str) -> bool) -> String {
        let start = Instant::now();
        loop {
            let screen = self.screen();
            if until(&screen) {
                return screen;
            }
            assert!(start.elapsed() < PATIENCE, "the screen {otherwise}:\n{screen}");
            std::thread::yield_now();
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

#[test]
fn the_screen_steps_forward_and_back_and_leaves_the_terminal_as_it_was() {
    let test = "the_screen_steps_forward_and_back_and_leaves_the_terminal_as_it_was";
    let Some(tmux) = lathe_tests::tools::find(test, "tmux") else { return };
    let folder = folder();
    let terminal =
        Terminal::start(tmux, folder.path(), &format!("{} debug program.asm", binary().display()), ("80", "24"));
    terminal.shows("step 0 of 0");
    terminal.keys(&["Right", "Right", "Right"]);
    terminal.shows_all(&["step 3 of 3", "▶   5 ", "registers", "calls"]);
    terminal.keys(&["Left", "Left"]);
    terminal.shows("step 1 of 3");
    // A breakpoint, a watch, a run to each, and back.
    terminal.keys(&["break double", "Enter"]);
    terminal.shows("1: break at");
    terminal.keys(&["F5"]);
    terminal.shows("breakpoint 1 reached");
    terminal.shows_all(&["library.asm:1", "●▶"]);
    terminal.keys(&["watch ram[0x80]", "Enter"]);
    terminal.shows("2: watch changes of ram[0x80]");
    terminal.keys(&["F5"]);
    terminal.shows("ram[0x0080] = 0x02 (was 0x00)");
    terminal.keys(&["F6"]);
    terminal.shows("step 5 of 8");
    // Completion and help.
    terminal.keys(&["breakp", "Tab"]);
    terminal.shows("> breakpoints");
    // Two keys must not come at once: the terminal would read them as `Esc`, `O` and `P`.
    terminal.keys(&["Escape"]);
    terminal.shows_no_longer("> breakpoints");
    terminal.keys(&["F1"]);
    terminal.shows("Any key closes this");
    terminal.keys(&["Space"]);
    // Another size.
    terminal.tmux(&["resize-window", "-x", "120", "-y", "40"]);
    terminal.shows("F1 help");
    terminal.keys(&["d", "Enter", "F5"]);
    terminal.shows("nothing can change any more");
    terminal.shows("│ab");
    terminal.keys(&["C-d"]);
    let screen = terminal.shows("left with 0");
    assert!(!screen.contains("registers"), "{screen}");
}

#[test]
fn whoever_kills_the_debugger_gets_the_terminal_back() {
    let test = "whoever_kills_the_debugger_gets_the_terminal_back";
    let Some(tmux) = lathe_tests::tools::find(test, "tmux") else { return };
    let folder = folder();
    let command = format!("sh -c 'echo $$ > pid; exec {} debug program.asm'", binary().display());
    let terminal = Terminal::start(tmux, folder.path(), &command, ("80", "24"));
    terminal.shows("step 0 of 0");
    // Once while the screen waits for a key, and once while a program runs.
    for keys in [&[][..], &["set pc = forever", "Enter", "F5"]] {
        if !keys.is_empty() {
            terminal.keys(&[&command, "Enter"]);
            terminal.shows("step 0 of 0");
            terminal.keys(keys);
            terminal.shows("running; Esc or Ctrl-C pauses");
        }
        let pid = std::fs::read_to_string(folder.path().join("pid")).expect("it has started");
        Command::new("kill").arg(pid.trim()).status().expect("it can be killed");
        terminal.shows("Terminated");
        terminal.keys(&["stty -a; echo the shell is back", "Enter"]);
        let screen = terminal.shows_all(&["\nthe shell is back", " icanon", " echo "]);
        assert!(!screen.contains("registers"), "{screen}");
        terminal.keys(&["clear", "Enter"]);
    }
}

#[test]
fn what_a_program_writes_is_shown_and_not_obeyed_and_input_can_be_typed() {
    let test = "what_a_program_writes_is_shown_and_not_obeyed_and_input_can_be_typed";
    let Some(tmux) = lathe_tests::tools::find(test, "tmux") else { return };
    let folder = folder();
    let program = ".machine quad8\n li a, 27\n out a\n li a, '['\n out a\n li a, '2'\n out a\n li a, 'J'\n out a\n in b\n out b\n halt\n";
    std::fs::write(folder.path().join("escape.asm"), program).unwrap();
    let terminal =
        Terminal::start(tmux, folder.path(), &format!("{} debug escape.asm", binary().display()), ("80", "24"));
    terminal.shows("step 0 of 0");
    terminal.keys(&["F5"]);
    terminal.shows("input>");
    terminal.shows_all(&["\\x1B[2J", "registers"]);
    terminal.keys(&["z", "Enter"]);
    terminal.shows("the machine halted");
    terminal.shows("\\x1B[2Jz");
    // An endless program is paused.
    terminal.keys(&["restart", "Enter"]);
    terminal.shows("step 0 of 0");
    terminal.keys(&["quit", "Enter"]);
    terminal.shows("left with 0");
}

/// Leaving a game with Esc does not halt its machine.
#[test]
fn esc_at_a_display_interrupts_the_run() {
    let Some(tmux) = lathe_tests::tools::find("esc_at_a_display_interrupts_the_run", "tmux") else { return };
    let folder = folder();
    std::fs::write(folder.path().join("game.asm"), ".machine chip8\nagain: drw v0, v0, 1\n jp again\n").unwrap();
    let command = format!("{} run game.asm --state", binary().display());
    let terminal = Terminal::start(tmux, folder.path(), &command, ("100", "50"));
    terminal.shows("Esc stops");
    terminal.keys(&["Escape"]);
    let screen = terminal.shows_all(&["left with 130", "interrupted after", "game.asm:"]);
    assert!(!screen.contains("halted"), "{screen}");
}
