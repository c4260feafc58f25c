//! What a person sees and touches, and what runs by itself: displays, keypads, timers, random numbers, counters. None
//! of them knows a clock; timers count instructions.

use lathe_base::Width;
use lathe_isa::model::DeviceOperation;

use super::Device;

/// Pixels that are on or off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Display {
    width: u32,
    height: u32,
    /// The pixels of each row, 64 per word, the leftmost in the highest bit. Bits to the right of the last pixel are 0.
    words: Vec<u64>,
    changes: u64,
}

impl Display {
    /// Makes a dark display.
    pub fn new(width: u32, height: u32) -> Display {
        let words = width.div_ceil(u64::BITS) as usize * height as usize;
        Display { width, height, words: vec![0; words], changes: 0 }
    }

    /// Returns the number of pixels in a row.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Returns the number of rows.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// Whether a pixel is on; pixels outside never are.
    pub fn pixel(&self, x: u32, y: u32) -> bool {
        self.row(x, 1, y) != 0
    }

    /// Returns how often the display has been written, so that a viewer can tell whether to redraw it.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Returns one line of text per row: `#` for a pixel that is on, `.` for one that is off.
    pub fn text(&self) -> String {
        let pixel = |x, y| if self.pixel(x, y) { '#' } else { '.' };
        (0..self.height).flat_map(|y| (0..self.width).map(move |x| pixel(x, y)).chain(['\n'])).collect()
    }

    /// Returns the position of the word that contains a column of a row.
    fn word(&self, x: u32, y: u32) -> Option<usize> {
        let words = self.width.div_ceil(u64::BITS) as usize;
        (x < self.width && y < self.height).then(|| y as usize * words + (x / u64::BITS) as usize)
    }

    /// Returns this many pixels of a row, from a column on; pixels outside are off.
    fn row(&self, first: u32, count: u32, y: u32) -> u64 {
        let shift = first % u64::BITS;
        let word = |x| self.word(x, y).map_or(0, |at| self.words[at]);
        let high = word(first) << shift;
        let low = word(first.saturating_add(u64::BITS - shift)).checked_shr(u64::BITS - shift).unwrap_or(0);
        (high | low) >> (u64::BITS - count.clamp(1, u64::BITS))
    }

    /// Sets this many pixels of a row, from a column on; pixels outside stay off.
    fn set_row(&mut self, first: u32, count: u32, y: u32, row: u64) {
        let unused = u64::BITS - count.clamp(1, u64::BITS);
        let (pixels, mask) = (row << unused, u64::MAX << unused);
        let shift = first % u64::BITS;
        let rest = u64::BITS - shift;
        let left = |word: u64| word.checked_shl(rest).unwrap_or(0);
        let parts = [(first, pixels >> shift, mask >> shift), (first.saturating_add(rest), left(pixels), left(mask))];
        for (x, pixels, mask) in parts {
            if let Some(at) = self.word(x, y) {
                let inside = (self.width - x / u64::BITS * u64::BITS).min(u64::BITS);
                let mask = mask & u64::MAX << (u64::BITS - inside);
                self.words[at] = self.words[at] & !mask | pixels & mask;
            }
        }
    }

    /// Moves everything to the right and down; the distances have one bit more than the numbers of columns and rows.
    fn scroll(&mut self, dx: u64, dy: u64) {
        let distance = |value: u64, size: u32| {
            Width::to_tell_apart(size as usize).plus(Width::BIT).map_or(0, |width| width.signed(value))
        };
        let (dx, dy) = (distance(dx, self.width), distance(dy, self.height));
        let old = self.clone();
        for (y, x) in (0..old.height).flat_map(|y| (0..old.width).map(move |x| (y, x))) {
            let from = (u32::try_from(i64::from(x) - dx), u32::try_from(i64::from(y) - dy));
            let is_on = matches!(from, (Ok(x), Ok(y)) if old.pixel(x, y));
            self.set_row(x, 1, y, u64::from(is_on));
        }
    }
}

impl Device for Display {
    type Saved = Display;

    fn read(&mut self, operation: DeviceOperation, arguments: &[u64]) -> Option<u64> {
        Some(match (operation, arguments) {
            (DeviceOperation::Get, [x, y]) => u64::from(self.pixel(*x as u32, *y as u32)),
            (DeviceOperation::Row, [y]) => self.row(0, self.width, *y as u32),
            (DeviceOperation::Row, [x, y]) => self.row(*x as u32, u64::BITS, *y as u32),
            _ => 0,
        })
    }

    fn write(&mut self, operation: DeviceOperation, arguments: &[u64]) {
        self.changes += 1;
        match (operation, arguments) {
            (DeviceOperation::Set, [x, y, on]) => self.set_row(*x as u32, 1, *y as u32, u64::from(*on != 0)),
            (DeviceOperation::Clear, []) => self.words.fill(0),
            (DeviceOperation::Scroll, [dx, dy]) => self.scroll(*dx, *dy),
            (DeviceOperation::SetRow, [y, row]) => self.set_row(0, self.width, *y as u32, *row),
            (DeviceOperation::SetRow, [x, y, row]) => self.set_row(*x as u32, u64::BITS, *y as u32, *row),
            _ => {}
        }
    }

    fn save(&mut self) -> Display {
        self.clone()
    }

    fn restore(&mut self, saved: &Display) {
        self.clone_from(saved);
    }
}

/// Keys that are down or up. The host presses them, or provides a list of keys to be pressed one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keypad {
    down: Vec<bool>,
    /// The keys still to be pressed, the next one last.
    script: Vec<u32>,
    /// The key of the script that is down.
    held: Option<u32>,
}

impl Keypad {
    /// How many instructions each key of a script stays down, and then up.
    pub const HOLD: u32 = 1_000;

    /// Makes a keypad with no key down.
    pub fn new(keys: u32) -> Keypad {
        Keypad { down: vec![false; keys as usize], script: Vec::new(), held: None }
    }

    /// Adds a script: these keys will be pressed, each for a while.
    pub fn with_script(mut self, keys: &[u32]) -> Keypad {
        self.script = keys.iter().rev().copied().collect();
        self
    }

    /// Presses or releases a key; ignores one that does not exist.
    pub fn set(&mut self, key: u32, down: bool) {
        if let Some(known) = self.down.get_mut(key as usize) {
            *known = down;
        }
    }

    /// Releases the key of the script, or presses the next.
    fn tick(&mut self) {
        if let Some(held) = self.held.take() {
            self.set(held, false);
        } else if let Some(next) = self.script.pop() {
            self.set(next, true);
            self.held = Some(next);
        }
    }
}

impl Device for Keypad {
    type Saved = Keypad;

    fn read(&mut self, operation: DeviceOperation, arguments: &[u64]) -> Option<u64> {
        let first = self.down.iter().position(|down| *down);
        Some(match (operation, arguments) {
            (DeviceOperation::Down, [key]) => u64::from(self.down.get(*key as usize).is_some_and(|down| *down)),
            (DeviceOperation::Any, []) => u64::from(first.is_some()),
            _ => first.unwrap_or(0) as u64,
        })
    }

    fn write(&mut self, _operation: DeviceOperation, _arguments: &[u64]) {}

    fn ticks(&mut self, count: u64) {
        // Nothing more happens once every key of the script has gone down and up.
        let last = 2 * self.script.len() as u64 + u64::from(self.held.is_some());
        (0..count.min(last)).for_each(|_| self.tick());
    }

    fn save(&mut self) -> Keypad {
        self.clone()
    }

    fn restore(&mut self, saved: &Keypad) {
        self.clone_from(saved);
    }
}

/// A number that counts down to 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timer {
    left: u64,
}

impl Timer {
    /// Returns what is left.
    pub fn left(&self) -> u64 {
        self.left
    }
}

impl Device for Timer {
    type Saved = Timer;

    fn read(&mut self, _operation: DeviceOperation, _arguments: &[u64]) -> Option<u64> {
        Some(self.left)
    }

    fn write(&mut self, _operation: DeviceOperation, arguments: &[u64]) {
        self.left = arguments.first().copied().unwrap_or(0);
    }

    fn ticks(&mut self, count: u64) {
        self.left = self.left.saturating_sub(count);
    }

    fn save(&mut self) -> Timer {
        self.clone()
    }

    fn restore(&mut self, saved: &Timer) {
        self.clone_from(saved);
    }
}

/// Pseudo-random numbers, the same for the same seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Random {
    state: u64,
}

impl Random {
    /// Makes a sequence of numbers from a seed.
    pub fn new(seed: u64) -> Random {
        Random { state: seed }
    }
}

impl Device for Random {
    type Saved = Random;

    /// Returns the next number by SplitMix64: a counter, and a function that hides it.
    fn read(&mut self, _operation: DeviceOperation, _arguments: &[u64]) -> Option<u64> {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.state ^ self.state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        Some(mixed ^ mixed >> 31)
    }

    fn write(&mut self, _operation: DeviceOperation, _arguments: &[u64]) {}

    fn save(&mut self) -> Random {
        self.clone()
    }

    fn restore(&mut self, saved: &Random) {
        self.clone_from(saved);
    }
}

/// How many instructions have been executed since the reset, and how many cycles they took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counter {
    instructions: u64,
    cycles: u64,
}

impl Device for Counter {
    type Saved = Counter;

    fn read(&mut self, operation: DeviceOperation, _arguments: &[u64]) -> Option<u64> {
        Some(match operation {
            DeviceOperation::Cycles => self.cycles,
            _ => self.instructions,
        })
    }

    fn write(&mut self, _operation: DeviceOperation, _arguments: &[u64]) {}

    fn passed(&mut self, instructions: u64, cycles: u64) {
        self.instructions = self.instructions.wrapping_add(instructions);
        self.cycles = self.cycles.wrapping_add(cycles);
    }

    fn save(&mut self) -> Counter {
        self.clone()
    }

    fn restore(&mut self, saved: &Counter) {
        self.clone_from(saved);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_their_leftmost_pixel_highest() {
        let mut display = Display::new(4, 2);
        display.write(DeviceOperation::SetRow, &[1, 0b1010]);
        display.write(DeviceOperation::Set, &[1, 0, 1]);
        assert_eq!(display.text(), ".#..\n#.#.\n");
        assert_eq!(display.read(DeviceOperation::Row, &[1]), Some(0b1010));
        let mut get = |x, y| display.read(DeviceOperation::Get, &[x, y]);
        assert_eq!((get(2, 1), get(3, 1), get(9, 9)), (Some(1), Some(0), Some(0)));
        display.write(DeviceOperation::Clear, &[]);
        assert_eq!((display.text(), display.changes()), ("....\n....\n".to_owned(), 3));
    }

    #[test]
    fn wide_rows_have_parts() {
        let mut display = Display::new(70, 1);
        display.write(DeviceOperation::SetRow, &[4, 0, 1 << 63 | 1]);
        display.write(DeviceOperation::SetRow, &[68, 0, 0b101 << 61]);
        assert_eq!(display.text(), format!("....#{}##.\n", ".".repeat(62)));
        assert_eq!(display.read(DeviceOperation::Row, &[4, 0]), Some(1 << 63 | 1));
        assert_eq!(display.read(DeviceOperation::Row, &[67, 0]), Some(0b11 << 62));
    }

    /// Compares every part of rows of many widths, written over a pattern, with pixels kept one by one.
    #[test]
    fn words_hold_pixels() {
        let pattern = 0x9E37_79B9_7F4A_7C15_u64;
        for width in [1, 7, 63, 64, 65, 127, 128, 130] {
            for (first, count) in (0..width + 2).flat_map(|first| [1, 5, 64].map(|count| (first, count))) {
                let mut display = Display::new(width, 2);
                let mut pixels: Vec<bool> = (0..width).map(|x| pattern.rotate_left(x) & 1 != 0).collect();
                pixels.iter().zip(0..).for_each(|(on, x)| display.set_row(x, 1, 1, u64::from(*on)));
                display.set_row(first, count, 1, !pattern);
                let written = (first..).zip((0..count).rev().map(|bit| !pattern >> bit & 1 != 0));
                written.for_each(|(x, on)| pixels.iter_mut().skip(x as usize).take(1).for_each(|pixel| *pixel = on));
                assert!((0..width).all(|x| display.pixel(x, 1) == pixels[x as usize]), "{width}, {first}, {count}");
                let pixel = |x| pixels.get(x as usize).copied().unwrap_or(false);
                let row = (first..first + count).fold(0, |row, x| row << 1 | u64::from(pixel(x)));
                assert_eq!(display.row(first, count, 1), row, "{width}, {first}, {count}");
                assert!((0..width).all(|x| !display.pixel(x, 0)), "{width}, {first}, {count}");
            }
        }
    }

    #[test]
    fn what_scrolls_out_is_gone() {
        let mut display = Display::new(4, 2);
        display.write(DeviceOperation::SetRow, &[0, 0b1011]);
        let mut scrolled = |dx: i64, dy: i64| {
            display.write(DeviceOperation::Scroll, &[dx as u64 & 7, dy as u64 & 3]);
            display.text()
        };
        assert_eq!(scrolled(1, 1), "....\n.#.#\n");
        assert_eq!(scrolled(-2, 0), "....\n.#..\n");
        assert_eq!(scrolled(0, -1), ".#..\n....\n");
        assert_eq!(scrolled(0, -2), "....\n....\n");
    }

    #[test]
    fn a_script_presses_one_key_after_the_other() {
        let mut keypad = Keypad::new(16).with_script(&[5, 7]);
        let ask = |keypad: &mut Keypad, operation| keypad.read(operation, &[]).unwrap_or_default();
        let mut seen = Vec::new();
        for _ in 0..5 {
            seen.push((ask(&mut keypad, DeviceOperation::Any), ask(&mut keypad, DeviceOperation::Key)));
            keypad.ticks(1);
        }
        assert_eq!(seen, [(0, 0), (1, 5), (0, 0), (1, 7), (0, 0)]);
        keypad.set(99, true);
        assert_eq!(ask(&mut keypad, DeviceOperation::Any), 0);
    }

    #[test]
    fn a_timer_stays_at_zero() {
        let mut timer = Timer::default();
        timer.write(DeviceOperation::Write, &[2]);
        let left: Vec<Option<u64>> = (0..4)
            .map(|_| {
                timer.ticks(1);
                timer.read(DeviceOperation::Read, &[])
            })
            .collect();
        assert_eq!(left, [Some(1), Some(0), Some(0), Some(0)]);
    }

    #[test]
    fn random_numbers_depend_on_the_seed_alone() {
        let numbers = |seed| {
            let mut random = Random::new(seed);
            (0..8).map(|_| random.read(DeviceOperation::Read, &[])).collect::<Vec<_>>()
        };
        assert_eq!(numbers(1), numbers(1));
        assert_ne!(numbers(1), numbers(2));
    }
}
