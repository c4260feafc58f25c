//! The real programs write the right checksums. These are computed here once more, by models that know nothing of the
//! machines. Test suites for processors have no such model: they compute whatever the processor does. For them, two
//! interpreters that share nothing must agree: the reference interpreter and the hand-written one.

use std::collections::BTreeMap;

use lathe_benches::by_hand;
use lathe_benches::measure::{Baselines, Job, leaves};
use lathe_benches::real::{self, MOST_ROUNDS, Program};
use lathe_embed::{EngineKind, Instance, Machine, Stop};

/// Enough for every program to end, with a few rounds.
const LIMIT: u64 = 20_000_000;
const ROUNDS: u32 = 3;

#[test]
fn every_program_writes_the_checksum_that_a_model_computes() {
    for program in real::ALL.iter().filter(|program| program.name != "suite") {
        for rounds in 1..=ROUNDS {
            assert_eq!(run(program, rounds).output, expected(program, rounds), "{program}, {rounds} rounds");
        }
    }
}

#[test]
fn the_interpreters_by_hand_agree_to_the_last_cell() {
    for program in real::ALL {
        let machine = Machine::built_in(program.machine).unwrap();
        let ran = run(program, ROUNDS);
        let image = program.assemble(&machine, ROUNDS).unwrap();
        let code = image.flat(machine.isa().pc.memory, 0).unwrap();
        let cells: Vec<u64> = std::iter::repeat_n(0, code.start as usize).chain(code.cells).collect();
        let mut by_hand = by_hand::load(program.machine, &cells, image.start(machine.isa())).unwrap();
        by_hand.run(ran.steps);
        assert!(leaves(&*by_hand, machine.isa(), ran.instance.state()), "{program}");
        assert!(by_hand.cycles().is_none_or(|cycles| cycles == ran.cycles), "{program}");
    }
}

#[test]
fn every_engine_does_the_same_on_every_program() {
    let engines = [EngineKind::Interpreter, EngineKind::Fast, EngineKind::Jit, EngineKind::Auto];
    for program in real::ALL {
        let machine = Machine::built_in(program.machine).unwrap();
        let image = program.assemble(&machine, MOST_ROUNDS).unwrap();
        let job = Job {
            isa: machine.isa(),
            image: &image,
            baselines: Baselines::ByHand,
            engines: &engines,
            steps: 150_000,
            rounds: 1,
        };
        let measured = job.measure(&mut |_, _| {}).unwrap_or_else(|trouble| panic!("{program}: {trouble}"));
        assert_eq!(measured.scores[0].contestant.name(), "by hand", "{program}");
        assert!(measured.scores.iter().all(|score| score.compiling >= 0.0));
    }
}

#[test]
fn every_machine_and_every_kind_is_there_twice() {
    let mut machines: BTreeMap<&str, usize> = BTreeMap::new();
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for program in real::ALL {
        *machines.entry(program.machine).or_default() += 1;
        *kinds.entry(program.name).or_default() += 1;
    }
    assert_eq!(machines.len(), 6, "{machines:?}");
    assert_eq!(kinds.len(), 7, "{kinds:?}");
    assert!(machines.values().chain(kinds.values()).all(|count| *count >= 2), "{machines:?} {kinds:?}");
}

/// A program that has ended.
struct Ran {
    output: String,
    steps: u64,
    cycles: u64,
    instance: lathe_embed::Instance,
}

/// Each of 256 states leads to two others, so each could take in all of them when it is compiled again, and 66 of them
/// did: compiling took ten times as long as running.
#[test]
fn where_all_code_is_equally_warm_little_is_compiled_twice() {
    let mut instance = on_the_jit("hex8", "states");
    instance.run_for(50_000_000);
    let done = instance.statistics().unwrap();
    assert!(done.regions > 50 && done.compiled_steps > 45_000_000, "it is compiled: {done:?}");
    assert!(done.improved < 8, "{done:?}");
    let mut entered = |steps| times_entered(&mut instance, steps);
    // A transition to another state follows every 27 steps, and compiled code makes it by itself. Compiled code is left
    // only for transitions not taken before, and when it is time to examine one of its regions.
    for steps in [20_000_000, 200_000_000, 20_000_000] {
        let times = entered(steps);
        assert!(times < steps / 5_000, "left {times} times");
    }
}

/// Most of what a suite does in the middle of a region had not run when the region was discovered. It was interpreted
/// for more than ten million instructions, one in two hundred of them.
#[test]
fn what_is_interpreted_in_the_middle_of_a_region_becomes_part_of_it_soon() {
    let mut instance = on_the_jit("mos6502", "suite");
    let mut entered = |steps| times_entered(&mut instance, steps);
    let (soon, later) = (entered(5_000_000), entered(5_000_000));
    assert!(soon > 1_000, "it is compiled, and left now and then: {soon} times");
    assert!(later < 1_000, "left {later} times");
}

/// Returns an instance with a program that runs for very long.
fn on_the_jit(machine: &str, name: &str) -> Instance {
    let program = real::ALL.iter().find(|program| (program.machine, program.name) == (machine, name)).unwrap();
    let machine = Machine::built_in(machine).unwrap();
    let mut instance = machine.instance_on(EngineKind::Jit).unwrap();
    instance.load(&program.assemble(&machine, MOST_ROUNDS).unwrap());
    instance
}

/// Returns how often compiled code is entered in this many steps.
fn times_entered(instance: &mut Instance, steps: u64) -> u64 {
    let before = instance.statistics().unwrap().entries;
    assert_eq!(instance.run_for(steps).steps, steps, "it goes on");
    instance.statistics().unwrap().entries - before
}

/// Runs a program on the reference interpreter, to its end.
fn run(program: &Program, rounds: u32) -> Ran {
    let machine = Machine::built_in(program.machine).unwrap();
    let image = program.assemble(&machine, rounds).unwrap_or_else(|error| panic!("{program}: {error}"));
    let mut instance = machine.instance_on(EngineKind::Interpreter).unwrap();
    instance.load(&image);
    let run = instance.run_for(LIMIT);
    assert!(matches!(run.stop, Stop::Halted | Stop::Idle), "{program}: {:?}", run.stop);
    let output = String::from_utf8(instance.take_output()).unwrap();
    Ran { output, steps: run.steps, cycles: run.cycles, instance }
}

/// Returns what a program must write.
fn expected(program: &Program, rounds: u32) -> String {
    let sum = match (program.machine, program.name) {
        ("hex8", "states") => hex8_states(rounds),
        ("mos6502", "states") => mos6502_states(rounds),
        ("hex8", "text") => turned_words(text_of(program), rounds),
        (_, "compress") => compress(rounds),
        ("mos6502", "interpreter") => collatz::<16>(rounds) as u16,
        ("lc3", "sort") => shell_sort(rounds),
        ("lc3", "search") => queens(rounds),
        ("duo16", "search") => noughts_and_crosses(rounds),
        ("rv32i", name) => {
            let sum = match name {
                "interpreter" => collatz::<32>(rounds),
                "sort" => sort_and_find(rounds),
                "text" => most_frequent(text_of(program), rounds),
                _ => panic!("no model for {program}"),
            };
            return format!("{sum:08X}\n");
        }
        _ => panic!("no model for {program}"),
    };
    format!("{sum:04X}\n")
}

/// Returns the text between the quotes of the line with the label `text:`.
fn text_of(program: &Program) -> &'static str {
    let line = program.text.lines().find(|line| line.starts_with("text:")).unwrap();
    line.split('"').nth(1).unwrap()
}

fn mix(sum: &mut u16, value: u16) {
    *sum = sum.rotate_left(1).wrapping_add(value);
}

fn mix32(sum: &mut u32, value: u32) {
    *sum = sum.rotate_left(1).wrapping_add(value);
}

/// Returns the next random number, as on all machines of 8 and 16 bits.
fn next(random: &mut u16) -> u8 {
    *random = random.wrapping_mul(5).wrapping_add(0x3619);
    (*random >> 8) as u8
}

fn hex8_states(rounds: u32) -> u16 {
    let (mut random, mut high, mut low) = (0, 0u8, 0u8);
    for _ in 0..rounds {
        let mut state = 0u32;
        // The last random number of a round is unused.
        for _ in 1..2000 {
            let byte = next(&mut random);
            high = high.wrapping_add((state * 7) as u8);
            low = (low ^ high).rotate_left(state % 7 + 1);
            high = high.wrapping_add(byte);
            state = if byte >> (state % 8) & 1 == 1 { state * 5 + 3 } else { state * 3 + 11 } % 256;
        }
        next(&mut random);
    }
    u16::from_be_bytes([high, low])
}

fn mos6502_states(rounds: u32) -> u16 {
    let (mut random, mut sum) = (0, 0u16);
    for _ in 0..rounds {
        let mut state = 0u32;
        for _ in 1..2000 {
            let byte = next(&mut random);
            let [mut high, mut low] = sum.to_be_bytes();
            let (added, carry) = byte.overflowing_add((state * 7) as u8);
            low ^= added;
            // The carry goes only into the sum of the upper half.
            high = high.wrapping_add(state as u8).wrapping_add(u8::from(carry));
            sum = match state % 3 {
                0 => u16::from_be_bytes([high, low]) << 1,
                1 => u16::from_be_bytes([high, low]) >> 1,
                _ => u16::from_be_bytes([high.wrapping_add(1), low.wrapping_sub(1)]),
            };
            state = if byte >> (state % 8) & 1 == 1 { state * 5 + 3 } else { state * 3 + 11 } % 160;
        }
        next(&mut random);
    }
    sum
}

/// Returns the next letter.
fn shifted(letter: u8) -> u8 {
    match letter {
        b'z' => b'a',
        b'Z' => b'A',
        letter if letter.is_ascii_alphabetic() => letter + 1,
        other => other,
    }
}

fn turned_words(text: &str, rounds: u32) -> u16 {
    let mut text = text.as_bytes().to_vec();
    let mut sum = 0;
    for _ in 0..rounds {
        text.iter_mut().for_each(|letter| *letter = shifted(*letter));
        let mut counts = [0u16; 32];
        for byte in &text {
            counts[if byte.is_ascii_alphabetic() { usize::from(byte & 31) } else { 0 }] += 1;
        }
        let words = text.split_mut(|byte| !byte.is_ascii_alphabetic()).filter(|word| !word.is_empty());
        let lengths: Vec<u16> = words
            .map(|word| {
                word.reverse();
                word.len() as u16
            })
            .collect();
        text.iter().for_each(|byte| mix(&mut sum, u16::from(*byte)));
        counts.iter().for_each(|count| mix(&mut sum, *count));
        mix(&mut sum, lengths.len() as u16);
        mix(&mut sum, *lengths.iter().max().unwrap());
    }
    sum
}

fn compress(rounds: u32) -> u16 {
    let words: &[u8; 64] = b"the old compression and  of the or that reading, paper: theories";
    let (mut random, mut sum) = (0, 0);
    for _ in 0..rounds {
        let mut input = Vec::new();
        for _ in 0..128 {
            let word = usize::from(next(&mut random) & 7);
            input.extend(&words[word * 8..][..8]);
        }
        let packed = pack(&input);
        packed.iter().chain(&input).for_each(|byte| mix(&mut sum, u16::from(*byte)));
    }
    sum
}

fn pack(input: &[u8]) -> Vec<u8> {
    let byte = |at: usize| input.get(at).copied().unwrap_or(0);
    let mut last: [Option<usize>; 256] = [None; 256];
    let (mut packed, mut at) = (Vec::new(), 0);
    while at < input.len() {
        let key = byte(at) ^ byte(at + 1) << 1;
        let before = last[usize::from(key)].replace(at).filter(|before| at - before < 256);
        let same = before.map_or(0, |before| {
            (0..127)
                .take_while(|offset| at + offset < input.len() && byte(before + offset) == byte(at + offset))
                .count()
        });
        match before {
            Some(before) if same >= 3 => {
                packed.extend([0x80 | same as u8, (at - before) as u8]);
                at += same;
            }
            _ => {
                packed.push(byte(at));
                at += 1;
            }
        }
    }
    packed
}

/// Returns what the script computes on words of this width: the steps from 1, 2, … 26 to 1.
fn collatz<const BITS: u32>(rounds: u32) -> u32 {
    let mask = ((1u64 << BITS) - 1) as u32;
    let mut sum = 0u32;
    for _ in 0..rounds {
        for from in 1..27u32 {
            let mut at = from;
            let mut steps = 0;
            while at != 1 {
                at = if at % 2 == 1 { at * 3 + 1 } else { at / 2 };
                steps += 1;
            }
            sum = (sum << 1 | sum >> (BITS - 1)) & mask;
            sum = sum.wrapping_add(steps) & mask;
        }
    }
    sum
}

fn sort_and_find(rounds: u32) -> u32 {
    let (mut random, mut sum) = (0u32, 0);
    for _ in 0..rounds {
        let mut numbers = [0u32; 256];
        numbers.fill_with(|| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            random
        });
        numbers.sort_unstable();
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes());
        mix32(&mut sum, bytes.fold(0x811C_9DC5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)));
        let mut table = [0u32; 512];
        let mut probes = 0;
        let mut find = |table: &[u32; 512], number: u32| {
            let mut slot = ((number ^ number >> 15).wrapping_mul(0x9E37_79B1) >> 23) as usize;
            probes += 1;
            while table[slot] != 0 && table[slot] != number {
                slot = (slot + 1) % 512;
                probes += 1;
            }
            slot
        };
        for number in numbers {
            let slot = find(&table, number);
            table[slot] = number;
        }
        for pair in numbers.chunks(2) {
            find(&table, pair[0]);
            find(&table, pair[1].wrapping_add(1));
        }
        mix32(&mut sum, probes);
    }
    sum
}

fn most_frequent(text: &str, rounds: u32) -> u32 {
    /// A word as it is first written, and its count.
    type Slot<'t> = Option<(&'t [u8], u32)>;
    let mut text = text.as_bytes().to_vec();
    let mut sum = 0;
    for _ in 0..rounds {
        text.iter_mut().for_each(|letter| *letter = shifted(*letter));
        let mut table: [Slot; 128] = [None; 128];
        let words = text.split(|byte| !byte.is_ascii_alphabetic()).filter(|word| !word.is_empty());
        for word in words {
            let letter = |hash: u32, letter: &u8| hash.wrapping_mul(33).wrapping_add(u32::from(letter | 0x20));
            let mut slot = word.iter().fold(5381, letter) as usize % 128;
            while table[slot].is_some_and(|(known, _)| !known.eq_ignore_ascii_case(word)) {
                slot = (slot + 1) % 128;
            }
            table[slot].get_or_insert((word, 0)).1 += 1;
        }
        let words: Vec<(&[u8], u32)> = table.iter().flatten().copied().collect();
        let most = words.iter().map(|(_, count)| *count).max().unwrap();
        let (word, _) = words.iter().find(|(_, count)| *count == most).unwrap();
        mix32(&mut sum, most);
        word.iter().for_each(|letter| mix32(&mut sum, u32::from(*letter)));
        mix32(&mut sum, words.len() as u32);
    }
    sum
}

fn shell_sort(rounds: u32) -> u16 {
    let (mut random, mut sum) = (0u16, 0);
    for _ in 0..rounds {
        let mut numbers = [0u16; 64];
        numbers.fill_with(|| {
            next(&mut random);
            random & 0x3FFF
        });
        numbers.sort_unstable();
        numbers.iter().for_each(|number| mix(&mut sum, *number));
        let mut table = [0u16; 128];
        let mut probes = 0;
        for number in numbers {
            let mut slot = usize::from(number % 128);
            probes += 1;
            while table[slot] != 0 && table[slot] != number {
                slot = (slot + 1) % 128;
                probes += 1;
            }
            table[slot] = number;
        }
        mix(&mut sum, probes);
    }
    sum
}

fn queens(rounds: u32) -> u16 {
    fn place(columns: &mut Vec<i32>, sum: &mut u16, tried: &mut u16) {
        for column in 0..6 {
            *tried += 1;
            let row = columns.len() as i32;
            let attacks = |(at, other): (i32, &i32)| *other == column || (other - column).abs() == row - at;
            if (0..).zip(columns.iter()).any(attacks) {
                continue;
            }
            columns.push(column);
            if columns.len() == 6 {
                columns.iter().for_each(|column| mix(sum, *column as u16));
            } else {
                place(columns, sum, tried);
            }
            columns.pop();
        }
    }
    let mut sum = 0;
    for _ in 0..rounds {
        let mut tried = 0;
        place(&mut Vec::new(), &mut sum, &mut tried);
        mix(&mut sum, tried);
    }
    sum
}

fn noughts_and_crosses(rounds: u32) -> u16 {
    const ROWS: [[usize; 3]; 8] =
        [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]];
    fn search(board: &mut [u8; 9], player: u8, mut alpha: i16, beta: i16, positions: &mut u16) -> i16 {
        *positions = positions.wrapping_add(1);
        let other = 3 - player;
        if ROWS.iter().any(|row| row.iter().all(|field| board[*field] == other)) {
            return -10;
        }
        if board.iter().all(|field| *field != 0) {
            return 0;
        }
        for field in 0..9 {
            if board[field] == 0 {
                board[field] = player;
                let value = -search(board, other, -beta, -alpha, positions);
                board[field] = 0;
                if value > alpha {
                    alpha = value;
                    if alpha >= beta {
                        return alpha;
                    }
                }
            }
        }
        alpha
    }
    let mut sum = 0;
    for round in 0..rounds {
        let mut board = [0; 9];
        board[round as usize % 9] = 1;
        let mut positions = 0;
        let value = search(&mut board, 2, -100, 100, &mut positions);
        mix(&mut sum, value as u16);
        mix(&mut sum, positions);
    }
    sum
}
