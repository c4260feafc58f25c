//! What each operation does, and how it goes on from there. [`flow`](super::flow) says how one leads to the next.

use std::hint::select_unpredictable;

use lathe_base::Width;

use super::Event;
use super::burst::Work;
use super::flow::{Flow, PAUSED, Ready, block, next, operations};
use super::memories::{set_word, word};
use super::ops::{Code, EntryId, Op, Shape, Slots};
use super::outside::ARGUMENTS;
use super::volatile::Found;
use crate::code_map::NOT_CODE;

/// Continues with the next operation.
#[inline(always)]
fn go_on<'a>(ops: &'a [Ready], slots: &mut Slots, work: &mut Work<'a>) -> Flow<'a> {
    let [ready, rest @ ..] = ops else { return PAUSED };
    next(ready, rest, slots, work)
}

/// Continues with the next operation after putting a result where it belongs.
#[inline(always)]
fn put<'a>(ops: &'a [Ready], value: u64, slots: &mut Slots, work: &mut Work<'a>) -> Flow<'a> {
    let [ready, rest @ ..] = ops else { return PAUSED };
    slots[ready.op.into] = value;
    next(ready, rest, slots, work)
}

/// Continues at the exit.
#[inline(always)]
fn leave<'a>(ops: &'a [Ready], slots: &mut Slots, work: &mut Work<'a>) -> Flow<'a> {
    let [Ready { op, .. }, ..] = ops else { return PAUSED };
    go_on(ops.get(usize::from(op.exit)..).unwrap_or_default(), slots, work)
}

#[inline(always)]
fn leave_if<'a>(ops: &'a [Ready], leaves: bool, slots: &mut Slots, work: &mut Work<'a>) -> Flow<'a> {
    if leaves { leave(ops, slots, work) } else { go_on(ops, slots, work) }
}

/// Returns to whoever can do something about this.
#[inline(always)]
fn pause<'a>(work: &mut Work<'a>, event: Event) -> Flow<'a> {
    work.event = Some(event);
    PAUSED
}

/// Continues with another block.
#[inline(always)]
fn go<'a>(op: &Op, target: u64, work: &mut Work<'a>) -> Flow<'a> {
    work.steps_left -= u64::from(op.into);
    work.take_cycles(u64::from(op.exit));
    block(target as EntryId, work)
}

/// Continues with one of two blocks.
#[inline(always)]
fn branch<'a>(op: &Op, is_other: bool, work: &mut Work<'a>) -> Flow<'a> {
    go(op, if is_other { op.extra >> 32 } else { op.extra }, work)
}

/// Continues wherever a computed jump leads.
#[inline(always)]
fn jump<'a>(op: &Op, slots: &Slots, work: &mut Work<'a>) -> Flow<'a> {
    let (jump, pc) = (op.extra as u32, slots[op.x]);
    go(op, 0, work);
    match work.jump_cache.find(jump, pc) {
        Some(target) => block(target, work),
        None => pause(work, Event::Jump(jump, pc)),
    }
}

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

#[inline(always)]
fn add(op: &Op, slots: &Slots) -> u64 {
    slots[op.x].wrapping_add(slots[op.y]) & op.extra
}

#[inline(always)]
fn add_number(op: &Op, slots: &Slots) -> u64 {
    offset(slots[op.x], op.extra)
}

#[inline(always)]
fn slice(op: &Op, value: u64) -> u64 {
    (value >> (op.z % 64)) & op.extra
}

#[inline(always)]
fn join(op: &Op, slots: &Slots) -> u64 {
    ((slots[op.x] << (op.z % 64)) | slots[op.y]) & op.extra
}

#[inline(always)]
fn equal_number(op: &Op, slots: &Slots) -> u64 {
    u64::from(slots[op.x] == op.extra)
}

/// Does what takes longer at an address.
#[inline(always)]
fn at<'a>(
    address: u64,
    execute: for<'b> fn(&'a [Ready], &'b mut Slots, &'b mut Work<'a>) -> Flow<'a>,
    ops: &'a [Ready],
    slots: &mut Slots,
    work: &mut Work<'a>,
) -> Flow<'a> {
    work.address = address;
    execute(ops, slots, work)
}

/// The cells of a small memory are bytes or words.
const BYTES: bool = false;
const WORDS: bool = true;

/// Returns the memory that an operation accesses. Most access the first one, and need not look for it.
#[inline(always)]
fn memory<const FIRST: bool>(op: &Op) -> u8 {
    if FIRST { 0 } else { op.z }
}

/// Whether any of this many adjacent code cells has a mark among these; `None` if that is not known here.
#[inline(always)]
fn has_marks(work: &Work, address: u64, count: usize, among: u64) -> Option<bool> {
    let marks = work.flat.get(address as usize..)?.first_chunk()?;
    Some(u64::from_le_bytes(*marks) << (64 - 8 * count as u32) & among != 0)
}

/// Loads a cell of a memory of bytes, or of words.
#[inline(always)]
fn load<'a, const FIRST: bool, const OF_WORDS: bool>(
    ops: &'a [Ready],
    slots: &mut Slots,
    work: &mut Work<'a>,
    address: u64,
) -> Flow<'a> {
    let [Ready { op, .. }, ..] = ops else { return PAUSED };
    let memory = memory::<FIRST>(op);
    let cell = if OF_WORDS { work.memories.word(memory, address) } else { work.memories.byte(memory, address) };
    match cell {
        Some(cell) => put(ops, cell, slots, work),
        None => at(address, load_otherwise, ops, slots, work),
    }
}

/// Loads adjacent cells.
#[inline(always)]
fn load_wide<'a, const FIRST: bool>(
    ops: &'a [Ready],
    slots: &mut Slots,
    work: &mut Work<'a>,
    address: u64,
) -> Flow<'a> {
    let [Ready { op, .. }, ..] = ops else { return PAUSED };
    match wide::<FIRST>(op, work, address) {
        Some(word) => put(ops, word, slots, work),
        None => at(address, load_wide_otherwise, ops, slots, work),
    }
}

/// Reads adjacent cells of a small memory.
#[inline(always)]
fn wide<const FIRST: bool>(op: &Op, work: &Work, address: u64) -> Option<u64> {
    work.memories.wide(memory::<FIRST>(op), address, op.extra >> 32, Shape(op.exit))
}

/// Stores in a cell of a memory of bytes, or of words.
#[inline(always)]
fn store<'a, const FIRST: bool, const OF_WORDS: bool>(
    ops: &'a [Ready],
    slots: &mut Slots,
    work: &mut Work<'a>,
    address: u64,
) -> Flow<'a> {
    let [Ready { op, .. }, ..] = ops else { return PAUSED };
    let (memory, value) = (memory::<FIRST>(op), slots[op.y]);
    let is_there = match OF_WORDS {
        true => work.memories.set_word(memory, address, value),
        false => work.memories.set_byte(memory, address, value),
    };
    match is_there {
        true => go_on(ops, slots, work),
        false => at(address, store_otherwise, ops, slots, work),
    }
}

/// Stores in a code cell unless it is marked.
#[inline(always)]
fn store_unmarked<'a, const FIRST: bool, const OF_WORDS: bool>(
    ops: &'a [Ready],
    slots: &mut Slots,
    work: &mut Work<'a>,
    address: u64,
) -> Flow<'a> {
    match work.flat.get(address as usize) {
        Some(0) => store::<FIRST, OF_WORDS>(ops, slots, work, address),
        Some(_) => leave(ops, slots, work),
        None => at(address, store_unmarked_otherwise, ops, slots, work),
    }
}

/// Stores in adjacent code cells unless any of them is marked.
#[inline(always)]
fn store_wide<'a, const FIRST: bool>(
    ops: &'a [Ready],
    slots: &mut Slots,
    work: &mut Work<'a>,
    address: u64,
) -> Flow<'a> {
    let [Ready { op, .. }, ..] = ops else { return PAUSED };
    let shape = Shape(u16::from(op.into));
    match has_marks(work, address, shape.count(), u64::MAX) {
        Some(false) if work.memories.set_wide(memory::<FIRST>(op), address, op.extra >> 32, shape, slots[op.y]) => {
            go_on(ops, slots, work)
        }
        Some(true) => leave(ops, slots, work),
        _ => at(address, store_wide_otherwise, ops, slots, work),
    }
}

/// Leaves if a code cell is marked.
#[inline(always)]
fn leave_if_marked<'a>(ops: &'a [Ready], slots: &mut Slots, work: &mut Work<'a>, address: u64) -> Flow<'a> {
    match work.flat.get(address as usize) {
        Some(mark) => leave_if(ops, *mark != 0, slots, work),
        None => at(address, leave_if_marked_otherwise, ops, slots, work),
    }
}

/// Leaves if something is mapped over one of some adjacent code cells.
#[inline(always)]
fn leave_if_mapped<'a>(ops: &'a [Ready], slots: &mut Slots, work: &mut Work<'a>, address: u64) -> Flow<'a> {
    let [Ready { op, .. }, ..] = ops else { return PAUSED };
    match has_marks(work, address, usize::from(op.z), NOT_CODE) {
        Some(is_mapped) => leave_if(ops, is_mapped, slots, work),
        None => at(address, leave_if_mapped_otherwise, ops, slots, work),
    }
}

// What takes longer: large memories and far ones, and devices. Never inlined, because each operation that may come to
// this would save registers at its beginning. Large memories of bytes are reached here, all others one step later.

/// Loads a cell of a large memory.
#[inline(never)]
fn load_otherwise<'a>(ops: &'a [Ready], slots: &mut Slots, work: &mut Work<'a>) -> Flow<'a> {
    let [Ready { op, .. }, ..] = ops else { return PAUSED };
    match work.memories.paged(op.z) {
        Some(pages) => put(ops, u64::from(pages.bytes(work.address)[0]), slots, work),
        None => load_anywhere(ops, slots, work),
    }
}

/// Loads a cell of any memory.
#[inline(never)]
fn load_anywhere<'a>(ops: &'a [Ready], slots: &mut Slots, work: &mut Work<'a>) -> Flow<'a> {
    let [Ready { op, .. }, ..] = ops else { return PAUSED };
    let value = work.memories.any(op.z, work.address);
    put(ops, value, slots, work)
}

/// Loads adjacent cells of a large memory.
#[inline(never)]
fn load_wide_otherwise<'a>(ops: &'a [Ready], slots: &mut Slots, work: &mut Work<'a>) -> Flow<'a> {
    let [Ready { op, .. }, ..] = ops else { return PAUSED };
    let shape = Shape(op.exit);
    let pages = work.memories.paged_together(op.z, work.address, shape.count());
    match pages.and_then(|pages| word(pages.bytes(work.address), shape)) {
        Some(word) => put(ops, word, slots, work),
        None => load_wide_anywhere(ops, slots, work),
    }
}

/// Loads adjacent cells of any near memory of bytes.
#[inline(never)]
fn load_wide_anywhere<'a>(ops: &'a [Ready], slots: &mut Slots, work: &mut Work<'a>) -> Flow<'a> {
    let [Ready { op, .. }, ..] = ops else { return PAUSED };
    let value = work.memories.any_wide(op.z, work.address, op.extra >> 32, Shape(op.exit));
    put(ops, value, slots, work)
}

/// Stores in a cell of a large memory.
#[inline(never)]
fn store_otherwise<'a>(ops: &'a [Ready], slots: &mut Slots, work: &mut Work<'a>) -> Flow<'a> {
    let [Ready { op, .. }, ..] = ops else { return PAUSED };
    match work.memories.paged(op.z) {
        Some(pages) => pages.bytes_mut(work.address)[0] = slots[op.y] as u8,
        None => return store_anywhere(ops, slots, work),
    }
    go_on(ops, slots, work)
}

/// Stores in a cell of any memory.
#[inline(never)]
fn store_anywhere<'a>(ops: &'a [Ready], slots: &mut Slots, work: &mut Work<'a>) -> Flow<'a> {
    let [Ready { op, .. }, ..] = ops else { return PAUSED };
    work.memories.set_any(op.z, work.address, slots[op.y]);
    go_on(ops, slots, work)
}

/// Stores in a cell of a large code memory unless it is marked. Another engine may have moved it into one piece.
#[inline(never)]
fn store_unmarked_otherwise<'a>(ops: &'a [Ready], slots: &mut Slots, work: &mut Work<'a>) -> Flow<'a> {
    match work.marks.is_marked(work.address) {
        true => leave(ops, slots, work),
        false => store::<false, BYTES>(ops, slots, work, work.address),
    }
}

/// Stores in adjacent cells of a large code memory unless any of them is marked.
#[inline(never)]
fn store_wide_otherwise<'a>(ops: &'a [Ready], slots: &mut Slots, work: &mut Work<'a>) -> Flow<'a> {
    let [Ready { op, .. }, ..] = ops else { return PAUSED };
    let shape = Shape(u16::from(op.into));
    if work.marks.is_any_marked(work.address, shape.count() as u64) {
        return leave(ops, slots, work);
    }
    if work.memories.set_wide(op.z, work.address, op.extra >> 32, shape, slots[op.y]) {
        return go_on(ops, slots, work);
    }
    match work.memories.paged_together(op.z, work.address, shape.count()) {
        Some(pages) => set_word(pages.bytes_mut(work.address), shape, slots[op.y]),
        None => return store_wide_anywhere(ops, slots, work),
    }
    go_on(ops, slots, work)
}

/// Stores in adjacent cells of any code memory of bytes.
#[inline(never)]
fn store_wide_anywhere<'a>(ops: &'a [Ready], slots: &mut Slots, work: &mut Work<'a>) -> Flow<'a> {
    let [Ready { op, .. }, ..] = ops else { return PAUSED };
    work.memories.set_any_wide(op.z, work.address, op.extra >> 32, Shape(u16::from(op.into)), slots[op.y]);
    go_on(ops, slots, work)
}

/// Leaves if a cell of a large code memory is marked.
#[inline(never)]
fn leave_if_marked_otherwise<'a>(ops: &'a [Ready], slots: &mut Slots, work: &mut Work<'a>) -> Flow<'a> {
    let is_marked = work.marks.is_marked(work.address);
    leave_if(ops, is_marked, slots, work)
}

/// Leaves if something is mapped over one of some adjacent cells of a large code memory.
#[inline(never)]
fn leave_if_mapped_otherwise<'a>(ops: &'a [Ready], slots: &mut Slots, work: &mut Work<'a>) -> Flow<'a> {
    let [Ready { op, .. }, ..] = ops else { return PAUSED };
    let is_mapped = (0..u64::from(op.z)).any(|at| work.marks.is_mapped(work.address.wrapping_add(at)));
    leave_if(ops, is_mapped, slots, work)
}

/// Leaves if the page of a cell is closed.
#[inline(never)]
fn leave_if_closed<'a>(ops: &'a [Ready], slots: &mut Slots, work: &mut Work<'a>) -> Flow<'a> {
    let [Ready { op, .. }, ..] = ops else { return PAUSED };
    let is_open = work.memories.is_open(op.z, work.address);
    leave_if(ops, !is_open, slots, work)
}

/// Asks a device.
#[inline(never)]
fn read_device<'a>(ops: &'a [Ready], slots: &mut Slots, work: &mut Work<'a>) -> Flow<'a> {
    let [Ready { op, .. }, ..] = ops else { return PAUSED };
    let operation = work.device_operations[usize::from(op.z)];
    match work.outside.read(operation, &work.arguments, work.steps_left - op.extra, work.cycles) {
        Some(answer) => put(ops, answer, slots, work),
        None => leave(ops, slots, work),
    }
}

/// Tells a device something.
#[inline(never)]
fn write_device<'a>(ops: &'a [Ready], slots: &mut Slots, work: &mut Work<'a>) -> Flow<'a> {
    let [Ready { op, .. }, ..] = ops else { return PAUSED };
    let operation = work.device_operations[usize::from(op.z)];
    work.outside.write(operation, &work.arguments, work.steps_left - op.extra, work.cycles);
    go_on(ops, slots, work)
}

/// Continues with the operations for what the cells of a volatile instruction hold now.
#[inline(never)]
fn select<'a>(ops: &'a [Ready], slots: &mut Slots, work: &mut Work<'a>) -> Flow<'a> {
    let [Ready { op, .. }, ..] = ops else { return PAUSED };
    let number = op.extra as u32;
    let volatile = &mut work.volatiles[number as usize];
    let content = work.memories.cells(op.z, work.code_memory, volatile.pc, op.y);
    match volatile.find(content) {
        Found::Start(start, count) if u64::from(count) <= work.steps_left => start.flow(slots, work),
        Found::Start(..) => {
            let pc = volatile.pc;
            pause(work, Event::Interpret(pc))
        }
        Found::Unknown => pause(work, Event::Unknown(work.current, number)),
        Found::Settled => pause(work, Event::Settled(work.current)),
    }
}

/// An operation that has a result.
macro_rules! value {
    (|$op:ident, $slots:ident| $value:expr) => {
        |ops, $slots, work| {
            let [Ready { op: $op, .. }, ..] = ops else { return PAUSED };
            let value: u64 = $value;
            put(ops, value, $slots, work)
        }
    };
}

/// An operation that does something else.
macro_rules! effect {
    (|$op:ident, $slots:ident, $work:ident| $effect:expr) => {
        |ops, $slots, $work| {
            let [Ready { op: $op, .. }, ..] = ops else { return PAUSED };
            $effect;
            go_on(ops, $slots, $work)
        }
    };
}

/// An operation that leaves if something is true.
macro_rules! leave_if {
    (|$op:ident, $slots:ident| $condition:expr) => {
        |ops, $slots, work| {
            let [Ready { op: $op, .. }, ..] = ops else { return PAUSED };
            let leaves: bool = $condition;
            leave_if(ops, leaves, $slots, work)
        }
    };
}

/// An operation that a function executes, given the address.
macro_rules! at {
    ($function:expr, |$op:ident, $slots:ident| $address:expr) => {
        |ops, $slots, work| {
            let [Ready { op: $op, .. }, ..] = ops else { return PAUSED };
            let address: u64 = $address;
            $function(ops, $slots, work, address)
        }
    };
}

/// An operation that a function executes, at the address in `x`, if a slot is not zero.
macro_rules! at_if {
    ($function:expr, |$op:ident, $slots:ident| $condition:expr) => {
        |ops, $slots, work| {
            let [Ready { op: $op, .. }, ..] = ops else { return PAUSED };
            if $condition == 0 { go_on(ops, $slots, work) } else { at($slots[$op.x], $function, ops, $slots, work) }
        }
    };
}

/// As `at!`, for a function that always takes longer.
macro_rules! slowly_at {
    ($function:expr) => {
        |ops, slots, work| {
            let [Ready { op, .. }, ..] = ops else { return PAUSED };
            at(slots[op.x], $function, ops, slots, work)
        }
    };
}

/// The last operation of a block.
macro_rules! end {
    (|$op:ident, $slots:ident, $work:ident| $end:expr) => {
        |ops, $slots, $work| {
            let [Ready { op: $op, .. }, ..] = ops else { return PAUSED };
            $end
        }
    };
}

/// Two operations. The result of the first is put where it belongs, and is at hand for the second.
///
/// If the first loads something that takes longer, the function after `else` does that, and goes on to the second as if
/// they were not a pair.
macro_rules! pair {
    (|$op:ident, $slots:ident| $value:expr, |$result:pat_param, $second:ident, $ops:ident, $work:ident| $then:expr) => {
        |ops, $slots, $work| {
            let [Ready { op: $op, .. }, $ops @ ..] = ops else { return PAUSED };
            let value: u64 = $value;
            $slots[$op.into] = value;
            let [Ready { op: $second, .. }, ..] = $ops else { return PAUSED };
            let $result = value;
            $then
        }
    };
    (
        |$op:ident, $slots:ident, $work:ident, $address:ident| $value:expr,
        else $otherwise:ident,
        |$result:pat_param, $second:ident, $ops:ident| $then:expr
    ) => {
        |ops, $slots, $work| {
            let [Ready { op: $op, .. }, $ops @ ..] = ops else { return PAUSED };
            let $address = add_number($op, $slots);
            let Some(value) = $value else { return at($address, $otherwise, ops, $slots, $work) };
            $slots[$op.into] = value;
            let [Ready { op: $second, .. }, ..] = $ops else { return PAUSED };
            let $result = value;
            $then
        }
    };
}

// `FIRST` says whether the operation is known to access the first memory only.
operations! {
    Code::Set => value!(|op, slots| op.extra),
    Code::Move => value!(|op, slots| slots[op.x]),
    Code::GetRegister => effect!(|op, slots, work| slots[op.into] = work.registers[op.extra as usize]),
    Code::SetRegister => effect!(|op, slots, work| work.registers[op.extra as usize] = slots[op.x]),
    Code::Add => value!(|op, slots| add(op, slots)),
    Code::AddNumber => value!(|op, slots| add_number(op, slots)),
    Code::Subtract => value!(|op, slots| slots[op.x].wrapping_sub(slots[op.y]) & op.extra),
    Code::And => value!(|op, slots| slots[op.x] & slots[op.y]),
    Code::AndNumber => value!(|op, slots| slots[op.x] & op.extra),
    Code::Or => value!(|op, slots| slots[op.x] | slots[op.y]),
    Code::OrNumber => value!(|op, slots| slots[op.x] | op.extra),
    Code::Xor => value!(|op, slots| slots[op.x] ^ slots[op.y]),
    Code::XorNumber => value!(|op, slots| slots[op.x] ^ op.extra),
    Code::Not => value!(|op, slots| !slots[op.x] & op.extra),
    Code::Equal => value!(|op, slots| u64::from(slots[op.x] == slots[op.y])),
    Code::EqualNumber => value!(|op, slots| equal_number(op, slots)),
    Code::Unequal => value!(|op, slots| u64::from(slots[op.x] != slots[op.y])),
    Code::UnequalNumber => value!(|op, slots| u64::from(slots[op.x] != op.extra)),
    Code::Less => value!(|op, slots| u64::from(slots[op.x] < slots[op.y])),
    Code::LessNumber => value!(|op, slots| u64::from(slots[op.x] < op.extra)),
    Code::LessOrEqual => value!(|op, slots| u64::from(slots[op.x] <= slots[op.y])),
    Code::LessSigned => value!(|op, slots| {
        let signed = |value: u64| (value << (op.z % 64)) as i64;
        u64::from(signed(slots[op.x]) < signed(slots[op.y]))
    }),
    Code::Multiply => value!(|op, slots| slots[op.x].wrapping_mul(slots[op.y]) & op.extra),
    Code::ShiftLeftBy => value!(|op, slots| shift(slots[op.x], slots[op.y], u64::checked_shl) & op.extra),
    Code::ShiftRightBy => value!(|op, slots| shift(slots[op.x], slots[op.y], u64::checked_shr)),
    Code::Positive => value!(|op, slots| u64::from(slots[op.x].wrapping_sub(1) < op.extra)),
    Code::Unary(_) => value!(|op, slots| match op.code {
        Code::Unary(operator) => operator.apply(width(op.extra), slots[op.x]),
        _ => 0,
    }),
    Code::Binary(_) => value!(|op, slots| match op.code {
        Code::Binary(operator) => operator.apply(width(op.extra), slots[op.x], slots[op.y]),
        _ => 0,
    }),
    Code::Slice => value!(|op, slots| slice(op, slots[op.x])),
    Code::ShiftLeft => value!(|op, slots| (slots[op.x] << (op.z % 64)) & op.extra),
    Code::Join => value!(|op, slots| join(op, slots)),
    Code::JoinNumber => value!(|op, slots| (slots[op.x] << (op.z % 64)) | op.extra),
    Code::DiffersFromBoth => value!(|op, slots| {
        let (differs, too) = (slots[op.x] ^ slots[op.y] ^ op.extra, slots[op.x] ^ slots[op.z]);
        (differs & too) >> (op.exit % 64) & 1
    }),
    Code::SignExtend => value!(|op, slots| width(u64::from(op.z)).signed(slots[op.x]) as u64 & op.extra),
    // The condition is mostly a flag or a bit of data, which no host can predict.
    Code::Choose => value!(|op, slots| select_unpredictable(slots[op.z] != 0, slots[op.x], slots[op.y])),
    Code::Load => at!(load::<FIRST, BYTES>, |op, slots| slots[op.x]),
    Code::LoadOffset => at!(load::<FIRST, BYTES>, |op, slots| offset(slots[op.x], op.extra)),
    Code::LoadJoined => at!(load::<FIRST, BYTES>, |op, slots| slots[op.x] << (op.extra % 64) | slots[op.y]),
    Code::LoadWord => at!(load::<FIRST, WORDS>, |op, slots| slots[op.x]),
    Code::LoadWordOffset => at!(load::<FIRST, WORDS>, |op, slots| offset(slots[op.x], op.extra)),
    Code::LoadFar => slowly_at!(load_anywhere),
    Code::LoadWide => at!(load_wide::<FIRST>, |op, slots| offset(slots[op.x], op.extra)),
    Code::Store => at!(store::<FIRST, BYTES>, |op, slots| slots[op.x]),
    Code::StoreOffset => at!(store::<FIRST, BYTES>, |op, slots| offset(slots[op.x], op.extra)),
    Code::StoreWord => at!(store::<FIRST, WORDS>, |op, slots| slots[op.x]),
    Code::StoreWordOffset => at!(store::<FIRST, WORDS>, |op, slots| offset(slots[op.x], op.extra)),
    Code::StoreFar => slowly_at!(store_anywhere),
    Code::StoreIf => at_if!(store_anywhere, |op, slots| slots[op.into]),
    Code::StoreUnmarked => at!(store_unmarked::<FIRST, BYTES>, |op, slots| slots[op.x]),
    Code::StoreUnmarkedOffset => at!(store_unmarked::<FIRST, BYTES>, |op, slots| offset(slots[op.x], op.extra)),
    Code::StoreUnmarkedJoined => {
        at!(store_unmarked::<FIRST, BYTES>, |op, slots| slots[op.x] << (op.extra % 64) | slots[op.into])
    },
    Code::StoreWideUnmarked => at!(store_wide::<FIRST>, |op, slots| offset(slots[op.x], op.extra)),
    Code::StoreWordUnmarked => at!(store_unmarked::<FIRST, WORDS>, |op, slots| slots[op.x]),
    Code::StoreWordUnmarkedOffset => at!(store_unmarked::<FIRST, WORDS>, |op, slots| offset(slots[op.x], op.extra)),
    Code::LeaveIf => leave_if!(|op, slots| slots[op.x] != 0),
    Code::LeaveUnless => leave_if!(|op, slots| slots[op.x] == 0),
    Code::LeaveIfEqual => leave_if!(|op, slots| slots[op.x] == slots[op.y]),
    Code::LeaveUnlessEqual => leave_if!(|op, slots| slots[op.x] != slots[op.y]),
    Code::LeaveIfNumber => leave_if!(|op, slots| slots[op.x] == op.extra),
    Code::LeaveUnlessNumber => leave_if!(|op, slots| slots[op.x] != op.extra),
    Code::LeaveIfLess => leave_if!(|op, slots| slots[op.x] < slots[op.y]),
    Code::LeaveUnlessLess => leave_if!(|op, slots| slots[op.x] >= slots[op.y]),
    Code::LeaveIfBit => leave_if!(|op, slots| slots[op.x] >> (op.z % 64) & 1 != 0),
    Code::LeaveUnlessBit => leave_if!(|op, slots| slots[op.x] >> (op.z % 64) & 1 == 0),
    Code::LeaveIfMarked => at!(leave_if_marked, |op, slots| slots[op.x]),
    Code::LeaveIfMarkedOffset => at!(leave_if_marked, |op, slots| offset(slots[op.x], op.extra)),
    Code::LeaveIfBothMarked => at_if!(leave_if_marked_otherwise, |op, slots| slots[op.y]),
    Code::LeaveIfMapped => at!(leave_if_mapped, |op, slots| offset(slots[op.x], op.extra)),
    Code::LeaveIfClosed => slowly_at!(leave_if_closed),
    Code::Argument => effect!(|op, slots, work| work.arguments[usize::from(op.z) % ARGUMENTS] = slots[op.x]),
    Code::DeviceRead => |ops, slots, work| match ops {
        [Ready { op, .. }, ..] if slots[op.x] == 0 => put(ops, 0, slots, work),
        _ => read_device(ops, slots, work),
    },
    Code::DeviceWrite => |ops, slots, work| match ops {
        [Ready { op, .. }, ..] if slots[op.x] == 0 => go_on(ops, slots, work),
        _ => write_device(ops, slots, work),
    },
    Code::Cycles => effect!(|op, slots, work| work.take_cycles(slots[op.x])),
    Code::CyclesNumber => effect!(|op, slots, work| work.take_cycles(op.extra)),
    Code::CyclesIf => effect!(|op, slots, work| work.take_cycles(select_unpredictable(slots[op.x] != 0, op.extra, 0))),
    Code::CyclesIfLess => effect!(|op, slots, work| {
        work.take_cycles(select_unpredictable(slots[op.x] < slots[op.y], op.extra, 0))
    }),
    Code::Select => |ops, slots, work| select(ops, slots, work),
    Code::Goto => end!(|op, _slots, work| go(op, op.extra, work)),
    Code::BranchIf => end!(|op, slots, work| branch(op, slots[op.x] != 0, work)),
    Code::BranchIfEqual => end!(|op, slots, work| branch(op, slots[op.x] == slots[op.y], work)),
    Code::BranchIfLess => end!(|op, slots, work| branch(op, slots[op.x] < slots[op.y], work)),
    Code::BranchIfBit => end!(|op, slots, work| branch(op, slots[op.x] >> (op.y % 64) & 1 != 0, work)),
    Code::Jump => end!(|op, slots, work| jump(op, slots, work)),
    Code::Interpret => end!(|op, _slots, work| {
        work.steps_left -= u64::from(op.into);
        pause(work, Event::Interpret(op.extra))
    }),
    Code::AddThenSlice => pair!(|op, slots| add(op, slots), |sum, op, ops, work| put(ops, slice(op, sum), slots, work)),
    Code::AddNumberThenSlice => pair!(|op, slots| add_number(op, slots), |sum, op, ops, work| {
        put(ops, slice(op, sum), slots, work)
    }),
    Code::AddNumberThenLoadOffset => pair!(|op, slots| add_number(op, slots), |base, op, ops, work| {
        load::<FIRST, BYTES>(ops, slots, work, offset(base, op.extra))
    }),
    Code::AddNumberThenMove => pair!(|op, slots| add_number(op, slots), |_, op, ops, work| {
        put(ops, slots[op.x], slots, work)
    }),
    Code::AddNumberThenGoto => pair!(|op, slots| add_number(op, slots), |_, op, ops, work| go(op, op.extra, work)),
    Code::MoveThenMove => pair!(|op, slots| slots[op.x], |_, op, ops, work| put(ops, slots[op.x], slots, work)),
    Code::MoveThenGoto => pair!(|op, slots| slots[op.x], |_, op, ops, work| go(op, op.extra, work)),
    Code::MoveThenJump => pair!(|op, slots| slots[op.x], |_, op, ops, work| jump(op, slots, work)),
    Code::SliceThenEqualNumber => pair!(|op, slots| slice(op, slots[op.x]), |_, op, ops, work| {
        put(ops, equal_number(op, slots), slots, work)
    }),
    Code::EqualNumberThenSlice => pair!(|op, slots| equal_number(op, slots), |_, op, ops, work| {
        put(ops, slice(op, slots[op.x]), slots, work)
    }),
    Code::SliceThenJoin => pair!(|op, slots| slice(op, slots[op.x]), |_, op, ops, work| {
        put(ops, join(op, slots), slots, work)
    }),
    Code::JoinThenAddNumber => pair!(|op, slots| join(op, slots), |whole, op, ops, work| {
        put(ops, offset(whole, op.extra), slots, work)
    }),
    Code::AddNumberThenLeaveIfNumber => pair!(|op, slots| add_number(op, slots), |sum, op, ops, work| {
        leave_if(ops, sum == op.extra, slots, work)
    }),
    Code::LoadOffsetUnmapped => pair!(
        |op, slots, work, address| work.memories.byte(memory::<FIRST>(op), address),
        else load_otherwise,
        |_, op, ops| leave_if_mapped(ops, slots, work, add_number(op, slots))
    ),
    Code::LoadWideUnmapped => pair!(
        |op, slots, work, address| wide::<FIRST>(op, work, address),
        else load_wide_otherwise,
        |_, op, ops| leave_if_mapped(ops, slots, work, add_number(op, slots))
    ),
    Code::LoadWideThenLeaveIfNumber => pair!(
        |op, slots, work, address| wide::<FIRST>(op, work, address),
        else load_wide_otherwise,
        |word, op, ops| leave_if(ops, word == op.extra, slots, work)
    ),
    Code::StoreOffsetThenStoreOffset => |ops, slots, work| {
        let [Ready { op, .. }, rest @ ..] = ops else { return PAUSED };
        let address = add_number(op, slots);
        if !work.memories.set_byte(memory::<FIRST>(op), address, slots[op.y]) {
            return at(address, store_otherwise, ops, slots, work);
        }
        let [Ready { op, .. }, ..] = rest else { return PAUSED };
        store::<FIRST, BYTES>(rest, slots, work, add_number(op, slots))
    },
    Code::StoreUnmarkedOffsetThenStoreOffset => |ops, slots, work| {
        let [Ready { op, .. }, rest @ ..] = ops else { return PAUSED };
        let address = add_number(op, slots);
        match work.flat.get(address as usize) {
            Some(0) if work.memories.set_byte(memory::<FIRST>(op), address, slots[op.y]) => {}
            Some(0) => return at(address, store_otherwise, ops, slots, work),
            Some(_) => return leave(ops, slots, work),
            None => return at(address, store_unmarked_otherwise, ops, slots, work),
        }
        let [Ready { op, .. }, ..] = rest else { return PAUSED };
        store::<FIRST, BYTES>(rest, slots, work, add_number(op, slots))
    },
}
