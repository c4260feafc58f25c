//! What a person sees and touches, and what counts by itself: displays, keypads, timers, random
//! numbers. None of them knows a clock; timers count instructions.

use super::Device;

/// Pixels that are on or off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Display {
    width: u32,
    height: u32,
    pixels: Vec<bool>,
    changes: u64,
}

impl Display {
    /// A dark display.
    pub fn new(width: u32, height: u32) -> Display {
        Display { width, height, pixels: vec![false; width as usize * height as usize], changes: 0 }
    }

    /// Pixels of a row.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Rows.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// Whether a pixel is on; those outside never are.
    pub fn pixel(&self, x: u32, y: u32) -> bool {
        self.position(x, y).is_some_and(|at| self.pixels[at])
    }

    /// How often it was written so far, so that a viewer can tell whether to draw it again.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// One line of text for each row: `#` for a pixel that is on, `.` for one that is off.
    pub fn text(&self) -> String {
        let pixel = |on: &bool| if *on { '#' } else { '.' };
        let row = |row: &[bool]| row.iter().map(pixel).chain(['\n']).collect::<String>();
        self.pixels.chunks(self.width as usize).map(row).collect()
    }

    fn position(&self, x: u32, y: u32) -> Option<usize> {
        (x < self.width && y < self.height).then_some(y as usize * self.width as usize + x as usize)
    }

    fn set(&mut self, x: u32, y: u32, on: bool) {
        if let Some(at) = self.position(x, y) {
            self.pixels[at] = on;
        }
    }
}

impl Device for Display {
    fn read(&mut self, operation: u8, arguments: &[u64]) -> u64 {
        match (operation, arguments) {
            (0, [x, y]) => u64::from(self.pixel(*x as u32, *y as u32)),
            (3, [y]) => (0..self.width).fold(0, |row, x| row << 1 | u64::from(self.pixel(x, *y as u32))),
            _ => 0,
        }
    }

    fn write(&mut self, operation: u8, arguments: &[u64]) {
        self.changes += 1;
        match (operation, arguments) {
            (1, [x, y, on]) => self.set(*x as u32, *y as u32, *on != 0),
            (2, []) => self.pixels.fill(false),
            (4, [y, row]) => {
                for x in 0..self.width {
                    self.set(x, *y as u32, row >> (self.width - 1 - x) & 1 != 0);
                }
            }
            _ => {}
        }
    }
}

/// Keys that are down or up. Whoever runs the machine presses them, or gives it a list of keys that
/// are pressed one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keypad {
    down: Vec<bool>,
    /// Keys still to be pressed, the next one last.
    script: Vec<u32>,
    /// The key of the script that is down.
    held: Option<u32>,
}

impl Keypad {
    /// For how many instructions each key of a script is down, and then up.
    pub const HOLD: u32 = 1_000;

    /// A keypad that nobody touches.
    pub fn new(keys: u32) -> Keypad {
        Keypad { down: vec![false; keys as usize], script: Vec::new(), held: None }
    }

    /// The same keypad, on which these keys will be pressed, each for a while.
    pub fn with_script(mut self, keys: &[u32]) -> Keypad {
        self.script = keys.iter().rev().copied().collect();
        self
    }

    /// Presses a key or lets it go; one that does not exist is passed over.
    pub fn set(&mut self, key: u32, down: bool) {
        if let Some(known) = self.down.get_mut(key as usize) {
            *known = down;
        }
    }
}

impl Device for Keypad {
    fn read(&mut self, operation: u8, arguments: &[u64]) -> u64 {
        let first = self.down.iter().position(|down| *down);
        match (operation, arguments) {
            (0, [key]) => u64::from(self.down.get(*key as usize).is_some_and(|down| *down)),
            (1, []) => u64::from(first.is_some()),
            _ => first.unwrap_or(0) as u64,
        }
    }

    fn write(&mut self, _operation: u8, _arguments: &[u64]) {}

    fn tick(&mut self) {
        if let Some(held) = self.held.take() {
            self.set(held, false);
        } else if let Some(next) = self.script.pop() {
            self.set(next, true);
            self.held = Some(next);
        }
    }

    fn ticks(&mut self, count: u64) {
        // Nothing happens any more once every key of the script has gone down and up.
        let last = 2 * self.script.len() as u64 + u64::from(self.held.is_some());
        (0..count.min(last)).for_each(|_| self.tick());
    }
}

/// A number that goes down to 0, one at a time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timer {
    left: u64,
}

impl Timer {
    /// What is left.
    pub fn left(&self) -> u64 {
        self.left
    }
}

impl Device for Timer {
    fn read(&mut self, _operation: u8, _arguments: &[u64]) -> u64 {
        self.left
    }

    fn write(&mut self, _operation: u8, arguments: &[u64]) {
        self.left = arguments.first().copied().unwrap_or(0);
    }

    fn tick(&mut self) {
        self.ticks(1);
    }

    fn ticks(&mut self, count: u64) {
        self.left = self.left.saturating_sub(count);
    }
}

/// Numbers without a pattern, the same ones for the same seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Random {
    state: u64,
}

impl Random {
    /// Numbers that depend on this one.
    pub fn new(seed: u64) -> Random {
        Random { state: seed }
    }
}

impl Device for Random {
    /// SplitMix64: a counter, and a function that leaves no trace of it.
    fn read(&mut self, _operation: u8, _arguments: &[u64]) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.state ^ self.state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    fn write(&mut self, _operation: u8, _arguments: &[u64]) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_their_leftmost_pixel_highest() {
        let mut display = Display::new(4, 2);
        display.write(4, &[1, 0b1010]);
        display.write(1, &[1, 0, 1]);
        assert_eq!(display.text(), ".#..\n#.#.\n");
        assert_eq!(display.read(3, &[1]), 0b1010);
        assert_eq!((display.read(0, &[2, 1]), display.read(0, &[3, 1]), display.read(0, &[9, 9])), (1, 0, 0));
        display.write(2, &[]);
        assert_eq!((display.text(), display.changes()), ("....\n....\n".to_owned(), 3));
    }

    #[test]
    fn a_script_presses_one_key_after_the_other() {
        let mut keypad = Keypad::new(16).with_script(&[5, 7]);
        let mut seen = Vec::new();
        for _ in 0..5 {
            seen.push((keypad.read(1, &[]), keypad.read(2, &[])));
            keypad.tick();
        }
        assert_eq!(seen, [(0, 0), (1, 5), (0, 0), (1, 7), (0, 0)]);
        keypad.set(99, true);
        assert_eq!(keypad.read(1, &[]), 0);
    }

    #[test]
    fn a_timer_stays_at_zero() {
        let mut timer = Timer::default();
        timer.write(1, &[2]);
        let left: Vec<u64> = (0..4)
            .map(|_| {
                timer.tick();
                timer.read(0, &[])
            })
            .collect();
        assert_eq!(left, [1, 0, 0, 0]);
    }

    #[test]
    fn random_numbers_depend_on_the_seed_alone() {
        let numbers = |seed| {
            let mut random = Random::new(seed);
            (0..8).map(|_| random.read(0, &[])).collect::<Vec<u64>>()
        };
        assert_eq!(numbers(1), numbers(1));
        assert_ne!(numbers(1), numbers(2));
    }
}
