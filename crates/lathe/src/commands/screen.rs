//! The display and the keypad of a machine: on the terminal while it runs, and as a text or a picture at the end.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use crossterm::terminal::{self, Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen};
use crossterm::{execute, queue};
use lathe_isa::Isa;
use lathe_isa::model::DeviceKind;
use lathe_vm::{Devices, Display, Keypad, Random};

use crate::arguments::PanelArguments;
use crate::exit::Failure;
use crate::files::{self, Whole};
use crate::png;

/// Frames per second, and how long a frame takes.
const FRAMES: u64 = 60;
const FRAME: Duration = Duration::from_micros(1_000_000 / FRAMES);
/// Terminals report that a key goes down, not up: it counts as down for this long.
const HELD: Duration = Duration::from_millis(150);
/// The keys of a sixteen-key keypad, by their positions on a keyboard.
const KEYBOARD: [char; 16] = ['x', '1', '2', '3', 'q', 'w', 'e', 'a', 's', 'd', 'z', 'c', '4', 'r', 'f', 'v'];
/// How many pixels of a picture stand for one of the display's, in both directions.
const SCALE: u32 = 8;

/// Whether the machine has a display.
pub(super) fn has_display(isa: &Isa) -> bool {
    isa.devices.iter().any(|device| matches!(device.kind, DeviceKind::Display { .. }))
}

/// Prepares keypad and random numbers from the command line, and checks that there is a display to write.
pub(super) fn prepare(arguments: &PanelArguments, devices: &mut Devices) -> Result<(), Failure> {
    if arguments.screen.is_some() && devices.find::<Display>().is_none() {
        return Err(Failure::usage("this machine has no display").help("leave out --screen"));
    }
    if let Some(seed) = arguments.seed
        && let Some(random) = devices.find_mut::<Random>()
    {
        *random = Random::new(seed);
    }
    let Some(keys) = &arguments.keys else { return Ok(()) };
    let script: Option<Vec<u32>> = keys.chars().map(|key| key.to_digit(16)).collect();
    let Some(script) = script else {
        let message = format!("`{keys}` are not keys of a keypad");
        return Err(Failure::usage(message).help("write one hexadecimal digit for each key, as in `--keys 5a5`"));
    };
    match devices.find_mut::<Keypad>() {
        Some(keypad) => *keypad = keypad.clone().with_script(&script),
        None => return Err(Failure::usage("this machine has no keypad").help("leave out --keys")),
    }
    Ok(())
}

/// Writes the display where the command line says.
pub(super) fn save(arguments: &PanelArguments, devices: &Devices) -> Result<(), Failure> {
    let (Some(name), Some(display)) = (&arguments.screen, devices.find::<Display>()) else { return Ok(()) };
    if name == files::STANDARD {
        return crate::output::answer(&display.text());
    }
    let bytes =
        if name.to_ascii_lowercase().ends_with(".png") { picture(display) } else { display.text().into_bytes() };
    files::write_all(&[Whole { name: name.clone(), bytes }])
}

/// Encodes a black-and-white picture.
fn picture(display: &Display) -> Vec<u8> {
    let (width, height) = (display.width() * SCALE, display.height() * SCALE);
    png::black_and_white(width, height, |x, y| display.pixel(x / SCALE, y / SCALE))
}

/// What the user wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    GoOn,
    Stop,
}

/// A terminal that shows the display and takes keys.
pub(super) struct Live {
    shown: Option<u64>,
    held: Vec<(u32, Instant)>,
    next: Instant,
    /// Instructions per frame.
    pub(super) steps: u64,
}

impl Live {
    /// Takes over the terminal, if there is one and the machine has a display to show.
    pub(super) fn start(isa: &Isa, arguments: &PanelArguments) -> Result<Option<Live>, Failure> {
        let on_terminal = io::stdout().is_terminal() && io::stdin().is_terminal();
        if !has_display(isa) || !on_terminal || arguments.screen.is_some() {
            return Ok(None);
        }
        terminal::enable_raw_mode()
            .and_then(|()| execute!(io::stdout(), EnterAlternateScreen, Hide))
            .map_err(trouble)?;
        let per_frame = arguments.speed.map_or_else(|| steps_of_a_frame(isa), |speed| speed / FRAMES);
        Ok(Some(Live { shown: None, held: Vec::new(), next: Instant::now(), steps: per_frame.max(1) }))
    }

    /// Ends a frame: takes keys, draws, and waits for the next frame.
    pub(super) fn frame(&mut self, devices: &mut Devices) -> Result<Wish, Failure> {
        let wish = self.take_keys(devices).map_err(trouble)?;
        if let Some(display) = devices.find::<Display>().filter(|display| self.shown != Some(display.changes())) {
            draw(display).map_err(trouble)?;
            self.shown = Some(display.changes());
        }
        self.next += FRAME;
        let now = Instant::now();
        // After a pause, such as a suspended process, lost time is not caught up.
        self.next = self.next.max(now);
        std::thread::sleep(self.next - now);
        Ok(wish)
    }

    fn take_keys(&mut self, devices: &mut Devices) -> io::Result<Wish> {
        let now = Instant::now();
        let mut wish = Wish::GoOn;
        while event::poll(Duration::ZERO)? {
            let pressed = match event::read()? {
                Event::Key(pressed) => pressed,
                Event::Resize(..) => {
                    self.shown = None;
                    continue;
                }
                _ => continue,
            };
            let control = pressed.modifiers.contains(KeyModifiers::CONTROL);
            match pressed.code {
                KeyCode::Esc => wish = Wish::Stop,
                KeyCode::Char('c') if control => wish = Wish::Stop,
                KeyCode::Char(key) if pressed.kind != KeyEventKind::Release => {
                    let key = KEYBOARD.iter().position(|known| known.eq_ignore_ascii_case(&key));
                    self.held.extend(key.map(|key| (key as u32, now + HELD)));
                }
                _ => {}
            }
        }
        if let Some(keypad) = devices.find_mut::<Keypad>() {
            for (key, until) in &self.held {
                keypad.set(*key, *until > now);
            }
        }
        self.held.retain(|(_, until)| *until > now);
        Ok(wish)
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        // If the terminal does not respond, nothing more can be done.
        let _ = execute!(io::stdout(), Show, LeaveAlternateScreen);
        let _ = terminal::disable_raw_mode();
    }
}

/// Returns how many instructions make a frame: as many as its timers count, or else a generous number.
fn steps_of_a_frame(isa: &Isa) -> u64 {
    let periods = isa.devices.iter().filter_map(|device| match device.kind {
        DeviceKind::Timer { every, .. } => Some(u64::from(every)),
        _ => None,
    });
    periods.min().unwrap_or(100_000)
}

/// Draws two rows of pixels per line of text.
fn draw(display: &Display) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if let Some(text) = too_small(display, terminal::size()?) {
        queue!(out, Clear(ClearType::All), MoveTo(0, 0))?;
        write!(out, "{text}")?;
        return out.flush();
    }
    for y in (0..display.height()).step_by(2) {
        queue!(out, MoveTo(0, (y / 2) as u16))?;
        let half = |x: u32| match (display.pixel(x, y), display.pixel(x, y + 1)) {
            (true, true) => '█',
            (true, false) => '▀',
            (false, true) => '▄',
            (false, false) => ' ',
        };
        let line: String = (0..display.width()).map(half).collect();
        write!(out, "{line}")?;
    }
    queue!(out, MoveTo(0, display.height().div_ceil(2) as u16))?;
    write!(out, "Keys: 1234 qwer asdf zxcv. Esc stops.")?;
    out.flush()
}

/// Returns a message if the terminal has no room for the display and the line below it.
fn too_small(display: &Display, (columns, rows): (u16, u16)) -> Option<String> {
    let (width, height) = (display.width(), display.height().div_ceil(2) + 1);
    let fits = width <= u32::from(columns) && height <= u32::from(rows);
    (!fits).then(|| {
        format!("The display needs {width} by {height}, the terminal has {columns} by {rows}. Enlarge it; Esc stops.")
    })
}

fn trouble(error: io::Error) -> Failure {
    Failure::input(format!("the terminal cannot show the display: {}", files::reason(&error)))
        .help("`--screen -` prints it at the end instead")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_display_that_does_not_fit_says_so() {
        let display = Display::new(64, 32);
        assert_eq!(too_small(&display, (64, 17)), None);
        assert!(too_small(&display, (63, 17)).is_some());
        let text = too_small(&display, (80, 16)).expect("it is too low");
        assert!(text.contains("needs 64 by 17, the terminal has 80 by 16"), "{text}");
    }
}
