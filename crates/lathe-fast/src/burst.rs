//! The inner loop of the fast interpreter.

use std::hint::select_unpredictable;

use lathe_base::Width;
use lathe_vm::state::State;
use lathe_vm::stops::Run;

use super::memories::Memories;
use super::ops::{Code, EntryId, Op, Shape, Slot};
use super::outside::{ARGUMENTS, Outside};
use super::volatile::Found;
use super::{Event, Fast};
use crate::code_map::{CodeMap, NOT_CODE, View};

/// Why there is a next operation.
const NEVER_LAST: &str = "the last operation of a block leads to another one";

/// Returns the width of this many bits, which came from a width.
#[inline(always)]
fn width(bits: u64) -> Width {
    Width::new(bits).unwrap_or(Width::MAX)
}

/// Adds an offset, a number and the mask of the sum, to an address.
#[inline(always)]
fn offset(base: u64, extra: u64) -> u64 {
    base.wrapping_add(extra & 0xFFFF_FFFF) & extra >> 32
}

/// Shifts by any count. Returns zero if the count is too large.
#[inline(always)]
fn shift(value: u64, count: u64, shift: impl FnOnce(u64, u32) -> Option<u64>) -> u64 {
    u32::try_from(count).ok().and_then(|count| shift(value, count)).unwrap_or(0)
}

/// Whether any of this many adjacent code cells is marked, or they are not contiguous.
#[inline(always)]
fn any_marked(flat: &[u8], marks: &CodeMap, address: u64, count: usize) -> bool {
    match flat.get(address as usize..).and_then(|marks| marks.first_chunk()) {
        Some(marks) => u64::from_le_bytes(*marks) << (64 - 8 * count as u32) != 0,
        None => marks.is_any_marked(address, count as u64),
    }
}

/// Whether something is mapped over any of this many adjacent code cells, or they extend past the last cell of a small
/// memory.
#[inline(always)]
fn any_mapped(flat: &[u8], marks: &CodeMap, address: u64, count: u8) -> bool {
    match flat.get(address as usize..).and_then(|marks| marks.first_chunk()) {
        Some(marks) => u64::from_le_bytes(*marks) << (64 - 8 * u32::from(count)) & NOT_CODE != 0,
        None => (0..u64::from(count)).any(|at| marks.is_mapped(address.wrapping_add(at))),
    }
}

impl Fast {
    /// Executes blocks until something comes up that needs more than slots and memory. At least as many steps must be
    /// left as the first block takes.
    ///
    /// Never inlined: the variables of its caller would take host registers that this loop needs.
    #[inline(never)]
    pub(super) fn burst(
        &mut self,
        entry: EntryId,
        left: &mut u64,
        state: &mut State,
        outside: &mut Outside,
        run: &mut Run,
    ) -> Event {
        let Fast { slots, ops, entries, jump_cache, marks, volatiles, isa, device_operations, .. } = self;
        // As slices, so that their beginnings need not be loaded every time.
        let (ops, entries): (&[Op], &mut [super::Entry]) = (ops, entries);
        let flat: &[u8] = match marks.view() {
            View::Flat(marks) => marks,
            View::Paged { .. } | View::Numbered => &[],
        };
        let (registers, memories) = state.parts_mut();
        let mut memories = Memories::new(memories, isa.pc.memory);
        let (mut steps_left, mut cycles) = (*left, run.cycles);
        let mut arguments = [0; ARGUMENTS];
        let mut current = entry;
        // The operations that come next. Iterating is faster than counting and indexing.
        let mut rest = ops[entries[current as usize].start as usize..].iter();
        loop {
            let mut op = rest.next().expect(NEVER_LAST);
            macro_rules! get {
                ($slot:expr) => {
                    slots[usize::from($slot)]
                };
            }
            macro_rules! pause {
                ($event:expr) => {{
                    (*left, run.cycles) = (steps_left, cycles);
                    return $event;
                }};
            }
            macro_rules! leave {
                () => {
                    rest = rest.as_slice()[usize::from(op.exit)..].iter()
                };
            }
            macro_rules! leave_if {
                ($condition:expr) => {{
                    if $condition {
                        leave!();
                    }
                    continue;
                }};
            }
            macro_rules! is_marked {
                ($address:expr) => {
                    match flat.get($address as usize) {
                        Some(mark) => *mark != 0,
                        None => marks.is_marked($address),
                    }
                };
            }
            // Writes a cell of the code memory, unless it is marked.
            macro_rules! store_unmarked {
                ($set:ident, $address:expr) => {{
                    let address = $address;
                    if is_marked!(address) {
                        leave!();
                    } else {
                        memories.$set(op.z, address, get!(op.y));
                    }
                    continue;
                }};
            }
            // Continues with another block.
            macro_rules! go {
                ($target:expr) => {{
                    let target: EntryId = $target;
                    steps_left -= u64::from(op.into);
                    cycles = cycles.wrapping_add(u64::from(op.exit));
                    let next = &mut entries[target as usize];
                    if steps_left < u64::from(next.count) {
                        pause!(Event::Short(target));
                    }
                    next.visits = next.visits.wrapping_add(1);
                    if next.visits == next.hot_at {
                        pause!(Event::Hot(target));
                    }
                    current = target;
                    rest = ops[next.start as usize..].iter();
                    continue;
                }};
            }
            // Writes the result of the first operation of a pair, and moves on to the second.
            macro_rules! then {
                ($value:expr) => {{
                    let value = $value;
                    slots[usize::from(op.into)] = value;
                    op = rest.next().expect(NEVER_LAST);
                    value
                }};
            }
            macro_rules! add {
                () => {
                    get!(op.x).wrapping_add(get!(op.y)) & op.extra
                };
            }
            macro_rules! slice {
                ($value:expr) => {
                    ($value >> (op.z % 64)) & op.extra
                };
            }
            macro_rules! join {
                () => {
                    ((get!(op.x) << (op.z % 64)) | get!(op.y)) & op.extra
                };
            }
            macro_rules! wide {
                () => {
                    memories.wide(op.z, offset(get!(op.x), op.extra), op.extra >> 32, Shape(op.exit))
                };
            }
            macro_rules! equal_number {
                () => {
                    u64::from(get!(op.x) == op.extra)
                };
            }
            macro_rules! jump {
                () => {{
                    let (jump, pc) = (op.extra as u32, get!(op.x));
                    let Some(target) = jump_cache.find(jump, pc) else {
                        steps_left -= u64::from(op.into);
                        cycles = cycles.wrapping_add(u64::from(op.exit));
                        pause!(Event::Jump(jump, pc));
                    };
                    go!(target)
                }};
            }
            macro_rules! branch {
                ($condition:expr) => {{
                    if $condition {
                        go!((op.extra >> 32) as EntryId)
                    }
                    go!(op.extra as EntryId)
                }};
            }
            let value = match op.code {
                Code::Set => op.extra,
                Code::Move => get!(op.x),
                Code::GetRegister => registers[op.extra as usize],
                Code::SetRegister => {
                    registers[op.extra as usize] = get!(op.x);
                    continue;
                }
                Code::Add => add!(),
                Code::AddNumber => offset(get!(op.x), op.extra),
                Code::Subtract => get!(op.x).wrapping_sub(get!(op.y)) & op.extra,
                Code::And => get!(op.x) & get!(op.y),
                Code::AndNumber => get!(op.x) & op.extra,
                Code::Or => get!(op.x) | get!(op.y),
                Code::OrNumber => get!(op.x) | op.extra,
                Code::Xor => get!(op.x) ^ get!(op.y),
                Code::XorNumber => get!(op.x) ^ op.extra,
                Code::Not => !get!(op.x) & op.extra,
                Code::Equal => u64::from(get!(op.x) == get!(op.y)),
                Code::EqualNumber => equal_number!(),
                Code::Unequal => u64::from(get!(op.x) != get!(op.y)),
                Code::UnequalNumber => u64::from(get!(op.x) != op.extra),
                Code::Less => u64::from(get!(op.x) < get!(op.y)),
                Code::LessNumber => u64::from(get!(op.x) < op.extra),
                Code::LessOrEqual => u64::from(get!(op.x) <= get!(op.y)),
                Code::LessSigned => {
                    let signed = |value: u64| (value << (op.z % 64)) as i64;
                    u64::from(signed(get!(op.x)) < signed(get!(op.y)))
                }
                Code::Multiply => get!(op.x).wrapping_mul(get!(op.y)) & op.extra,
                Code::ShiftLeftBy => shift(get!(op.x), get!(op.y), u64::checked_shl) & op.extra,
                Code::ShiftRightBy => shift(get!(op.x), get!(op.y), u64::checked_shr),
                Code::Positive => u64::from(get!(op.x).wrapping_sub(1) < op.extra),
                Code::Unary(operator) => operator.apply(width(op.extra), get!(op.x)),
                Code::Binary(operator) => operator.apply(width(op.extra), get!(op.x), get!(op.y)),
                Code::Slice => slice!(get!(op.x)),
                Code::ShiftLeft => (get!(op.x) << (op.z % 64)) & op.extra,
                Code::Join => join!(),
                Code::DiffersFromBoth => {
                    let (differs, too) = (get!(op.x) ^ get!(op.y) ^ op.extra, get!(op.x) ^ get!(op.z));
                    (differs & too) >> (op.exit % 64) & 1
                }
                Code::JoinNumber => (get!(op.x) << (op.z % 64)) | op.extra,
                Code::SignExtend => width(u64::from(op.z)).signed(get!(op.x)) as u64 & op.extra,
                // The condition is mostly a flag or a bit of data, which no host can predict.
                Code::Choose => select_unpredictable(get!(op.z) != 0, get!(op.x), get!(op.y)),
                Code::Load => memories.byte(op.z, get!(op.x)),
                Code::LoadOffset => memories.byte(op.z, offset(get!(op.x), op.extra)),
                Code::LoadJoined => memories.byte(op.z, get!(op.x) << (op.extra % 64) | get!(op.y)),
                Code::LoadWord => memories.word(op.z, get!(op.x)),
                Code::LoadWordOffset => memories.word(op.z, offset(get!(op.x), op.extra)),
                Code::LoadFar => memories.far(op.z, get!(op.x)),
                Code::LoadWide => wide!(),
                Code::Store => {
                    memories.set_byte(op.z, get!(op.x), get!(op.y));
                    continue;
                }
                Code::StoreOffset => {
                    memories.set_byte(op.z, offset(get!(op.x), op.extra), get!(op.y));
                    continue;
                }
                Code::StoreWord => {
                    memories.set_word(op.z, get!(op.x), get!(op.y));
                    continue;
                }
                Code::StoreWordOffset => {
                    memories.set_word(op.z, offset(get!(op.x), op.extra), get!(op.y));
                    continue;
                }
                Code::StoreFar => {
                    memories.set_any(op.z, get!(op.x), get!(op.y));
                    continue;
                }
                Code::StoreIf => {
                    if get!(op.into) != 0 {
                        memories.set_any(op.z, get!(op.x), get!(op.y));
                    }
                    continue;
                }
                Code::StoreUnmarked => store_unmarked!(set_byte, get!(op.x)),
                Code::StoreUnmarkedOffset => store_unmarked!(set_byte, offset(get!(op.x), op.extra)),
                Code::StoreUnmarkedJoined => {
                    store_unmarked!(set_byte, get!(op.x) << (op.extra % 64) | get!(op.into))
                }
                Code::StoreWideUnmarked => {
                    let (address, shape) = (offset(get!(op.x), op.extra), Shape(u16::from(op.into)));
                    if any_marked(flat, marks, address, shape.count()) {
                        leave!();
                    } else {
                        memories.set_wide(op.z, address, op.extra >> 32, shape, get!(op.y));
                    }
                    continue;
                }
                Code::StoreWordUnmarked => store_unmarked!(set_word, get!(op.x)),
                Code::StoreWordUnmarkedOffset => store_unmarked!(set_word, offset(get!(op.x), op.extra)),
                Code::LeaveIf => leave_if!(get!(op.x) != 0),
                Code::LeaveUnless => leave_if!(get!(op.x) == 0),
                Code::LeaveIfEqual => leave_if!(get!(op.x) == get!(op.y)),
                Code::LeaveUnlessEqual => leave_if!(get!(op.x) != get!(op.y)),
                Code::LeaveIfNumber => leave_if!(get!(op.x) == op.extra),
                Code::LeaveUnlessNumber => leave_if!(get!(op.x) != op.extra),
                Code::LeaveIfLess => leave_if!(get!(op.x) < get!(op.y)),
                Code::LeaveUnlessLess => leave_if!(get!(op.x) >= get!(op.y)),
                Code::LeaveIfBit => leave_if!(get!(op.x) >> (op.z % 64) & 1 != 0),
                Code::LeaveUnlessBit => leave_if!(get!(op.x) >> (op.z % 64) & 1 == 0),
                Code::LeaveIfMarked => leave_if!(is_marked!(get!(op.x))),
                Code::LeaveIfMarkedOffset => leave_if!(is_marked!(offset(get!(op.x), op.extra))),
                Code::LeaveIfBothMarked => leave_if!(get!(op.y) != 0 && is_marked!(get!(op.x))),
                Code::LeaveIfClosed => leave_if!(!memories.is_open(op.z, get!(op.x))),
                Code::LeaveIfMapped => leave_if!(any_mapped(flat, marks, offset(get!(op.x), op.extra), op.z)),
                Code::Argument => {
                    arguments[usize::from(op.z) % ARGUMENTS] = get!(op.x);
                    continue;
                }
                Code::DeviceRead if get!(op.x) == 0 => 0,
                Code::DeviceRead => {
                    let operation = device_operations[usize::from(op.z)];
                    match outside.read(operation, &arguments, steps_left - op.extra, cycles) {
                        Some(answer) => answer,
                        None => {
                            leave!();
                            continue;
                        }
                    }
                }
                Code::DeviceWrite => {
                    if get!(op.x) != 0 {
                        let operation = device_operations[usize::from(op.z)];
                        outside.write(operation, &arguments, steps_left - op.extra, cycles);
                    }
                    continue;
                }
                Code::Cycles => {
                    cycles = cycles.wrapping_add(get!(op.x));
                    continue;
                }
                Code::CyclesNumber => {
                    cycles = cycles.wrapping_add(op.extra);
                    continue;
                }
                Code::CyclesIf => {
                    cycles = cycles.wrapping_add(select_unpredictable(get!(op.x) != 0, op.extra, 0));
                    continue;
                }
                Code::CyclesIfLess => {
                    cycles = cycles.wrapping_add(select_unpredictable(get!(op.x) < get!(op.y), op.extra, 0));
                    continue;
                }
                Code::Select => {
                    let number = op.extra as u32;
                    let volatile = &mut volatiles[number as usize];
                    let content = memories.cells(op.z, isa.code_memory(), volatile.pc, op.y);
                    match volatile.find(content) {
                        Found::Start(start, count) if u64::from(count) <= steps_left => {
                            rest = ops[start as usize..].iter()
                        }
                        Found::Start(..) => pause!(Event::Interpret(volatile.pc)),
                        Found::Unknown => pause!(Event::Unknown(current, number)),
                        Found::Settled => pause!(Event::Settled(current)),
                    }
                    continue;
                }
                Code::Goto => go!(op.extra as EntryId),
                Code::BranchIf => branch!(get!(op.x) != 0),
                Code::BranchIfEqual => branch!(get!(op.x) == get!(op.y)),
                Code::BranchIfLess => branch!(get!(op.x) < get!(op.y)),
                Code::BranchIfBit => branch!(get!(op.x) >> (op.y % 64) & 1 != 0),
                Code::Jump => jump!(),
                Code::Interpret => {
                    steps_left -= u64::from(op.into);
                    pause!(Event::Interpret(op.extra));
                }
                Code::InterpretEntry => pause!(Event::Interpret(entries[current as usize].pc)),
                Code::Decode => pause!(Event::Decode(current)),
                Code::AddThenSlice => {
                    let sum = then!(add!());
                    slice!(sum)
                }
                Code::AddNumberThenSlice => {
                    let sum = then!(offset(get!(op.x), op.extra));
                    slice!(sum)
                }
                Code::AddNumberThenLoadOffset => {
                    let base = then!(offset(get!(op.x), op.extra));
                    memories.byte(op.z, offset(base, op.extra))
                }
                Code::AddNumberThenMove => {
                    then!(offset(get!(op.x), op.extra));
                    get!(op.x)
                }
                Code::AddNumberThenGoto => {
                    then!(offset(get!(op.x), op.extra));
                    go!(op.extra as EntryId)
                }
                Code::MoveThenMove => {
                    then!(get!(op.x));
                    get!(op.x)
                }
                Code::MoveThenGoto => {
                    then!(get!(op.x));
                    go!(op.extra as EntryId)
                }
                Code::MoveThenJump => {
                    then!(get!(op.x));
                    jump!()
                }
                Code::SliceThenEqualNumber => {
                    then!(slice!(get!(op.x)));
                    equal_number!()
                }
                Code::EqualNumberThenSlice => {
                    then!(equal_number!());
                    slice!(get!(op.x))
                }
                Code::SliceThenJoin => {
                    then!(slice!(get!(op.x)));
                    join!()
                }
                Code::LoadOffsetUnmapped => {
                    let address = offset(get!(op.x), op.extra);
                    then!(memories.byte(op.z, address));
                    leave_if!(any_mapped(flat, marks, address, op.z))
                }
                Code::LoadWideUnmapped => {
                    let address = offset(get!(op.x), op.extra);
                    then!(wide!());
                    leave_if!(any_mapped(flat, marks, address, op.z))
                }
                Code::AddNumberThenLeaveIfNumber => {
                    let sum = then!(offset(get!(op.x), op.extra));
                    leave_if!(sum == op.extra)
                }
                Code::LoadWideThenLeaveIfNumber => {
                    let word = then!(wide!());
                    leave_if!(word == op.extra)
                }
                Code::JoinThenAddNumber => {
                    let whole = then!(join!());
                    offset(whole, op.extra)
                }
                Code::StoreOffsetThenStoreOffset => {
                    memories.set_byte(op.z, offset(get!(op.x), op.extra), get!(op.y));
                    op = rest.next().expect(NEVER_LAST);
                    memories.set_byte(op.z, offset(get!(op.x), op.extra), get!(op.y));
                    continue;
                }
                Code::StoreUnmarkedOffsetThenStoreOffset => {
                    let address = offset(get!(op.x), op.extra);
                    if is_marked!(address) {
                        leave!();
                        continue;
                    }
                    memories.set_byte(op.z, address, get!(op.y));
                    op = rest.next().expect(NEVER_LAST);
                    memories.set_byte(op.z, offset(get!(op.x), op.extra), get!(op.y));
                    continue;
                }
            };
            slots[usize::from(op.into as Slot)] = value;
        }
    }
}
