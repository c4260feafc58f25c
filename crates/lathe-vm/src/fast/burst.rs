//! The inner loop of the fast interpreter.

use lathe_base::Width;

use super::ops::{Code, EntryId, Op, SLOTS, Slot, Way};
use super::{Entry, Event, Fast};
use crate::interpreter::Run;
use crate::state::State;

/// The width of so many bits, which came from a width.
#[inline(always)]
fn width(bits: u64) -> Width {
    Width::new(bits).unwrap_or(Width::MAX)
}

impl Fast<'_> {
    /// Executes blocks until something comes up that needs more than slots and memory. There must
    /// be as many steps left as the first block takes.
    pub(super) fn burst(&mut self, entry: EntryId, left: &mut u64, state: &mut State, run: &mut Run) -> Event {
        let Fast { slots, ops, entries, jumps, marks, .. } = self;
        // As slices, so that where they begin need not be looked up at every operation.
        let (ops, entries, slots): (&[Op], &mut [Entry], &mut [u64; SLOTS]) = (ops, entries, slots);
        let mut steps_left = *left;
        let mut current = entry;
        let mut at = entries[current as usize].start as usize;
        loop {
            let op = &ops[at];
            at += 1;
            macro_rules! get {
                ($slot:expr) => {
                    slots[usize::from($slot) % SLOTS]
                };
            }
            macro_rules! leave {
                ($event:expr) => {{
                    *left = steps_left;
                    return $event;
                }};
            }
            // Goes on with another block.
            macro_rules! go {
                ($target:expr, $back:expr) => {{
                    let target: EntryId = $target;
                    steps_left -= Way(op.into).count();
                    let next = &mut entries[target as usize];
                    if steps_left < u64::from(next.count) {
                        leave!(Event::Short(target));
                    }
                    if $back {
                        next.heat = next.heat.wrapping_add(1);
                        if next.heat == 0 {
                            leave!(Event::Hot(target));
                        }
                    }
                    current = target;
                    at = next.start as usize;
                    continue;
                }};
            }
            macro_rules! branch {
                ($condition:expr) => {{
                    let way = Way(op.into);
                    if $condition {
                        go!((op.extra >> 32) as EntryId, way.other_goes_back())
                    }
                    go!(op.extra as EntryId, way.goes_back())
                }};
            }
            let value = match op.code {
                Code::Move => get!(op.x),
                Code::Add => get!(op.x).wrapping_add(get!(op.y)) & op.extra,
                Code::Subtract => get!(op.x).wrapping_sub(get!(op.y)) & op.extra,
                Code::And => get!(op.x) & get!(op.y),
                Code::Or => get!(op.x) | get!(op.y),
                Code::Xor => get!(op.x) ^ get!(op.y),
                Code::Not => !get!(op.x) & op.extra,
                Code::Equal => u64::from(get!(op.x) == get!(op.y)),
                Code::Unequal => u64::from(get!(op.x) != get!(op.y)),
                Code::Less => u64::from(get!(op.x) < get!(op.y)),
                Code::Unary(operator) => operator.apply(width(op.extra), get!(op.x)),
                Code::Binary(operator) => operator.apply(width(op.extra), get!(op.x), get!(op.y)),
                Code::Slice => (get!(op.x) >> (op.y % 64)) & op.extra,
                Code::Join => (get!(op.x) << (op.extra % 64)) | get!(op.y),
                Code::SignExtend => width(u64::from(op.y)).signed(get!(op.x)) as u64 & op.extra,
                Code::Choose => {
                    if get!(op.extra as Slot) != 0 {
                        get!(op.x)
                    } else {
                        get!(op.y)
                    }
                }
                Code::Load => state.memory_at(op.extra).get(get!(op.x)),
                Code::Store => {
                    state.memory_at_mut(op.extra).set(get!(op.x), get!(op.y));
                    continue;
                }
                Code::StoreIf => {
                    if get!(op.into) != 0 {
                        state.memory_at_mut(op.extra).set(get!(op.x), get!(op.y));
                    }
                    continue;
                }
                Code::StoreUnmarked => {
                    if marks.is_marked(get!(op.x)) {
                        leave!(Event::Interpret(current, u32::from(op.into)));
                    }
                    state.memory_at_mut(op.extra).set(get!(op.x), get!(op.y));
                    continue;
                }
                Code::LeaveIf => {
                    if get!(op.x) != 0 {
                        leave!(Event::Interpret(current, op.extra as u32));
                    }
                    continue;
                }
                Code::LeaveIfMarked => {
                    if get!(op.y) != 0 && marks.is_marked(get!(op.x)) {
                        leave!(Event::Interpret(current, op.extra as u32));
                    }
                    continue;
                }
                Code::Cycles => {
                    run.cycles += get!(op.x);
                    continue;
                }
                Code::Goto => go!(op.extra as EntryId, Way(op.into).goes_back()),
                Code::BranchIf => branch!(get!(op.x) != 0),
                Code::BranchIfEqual => branch!(get!(op.x) == get!(op.y)),
                Code::BranchIfLess => branch!(get!(op.x) < get!(op.y)),
                Code::BranchIfBit => branch!(get!(op.x) >> (op.y % 64) & 1 != 0),
                Code::Jump => {
                    let (jump, pc) = (op.extra as u32, get!(op.x));
                    let known = jumps[jump as usize].iter().find(|(target, _)| *target == pc);
                    let Some((_, target)) = known else {
                        steps_left -= Way(op.into).count();
                        leave!(Event::Jump(jump, pc));
                    };
                    go!(*target, true)
                }
                Code::Interpret => leave!(Event::Interpret(current, 0)),
                Code::Decode => leave!(Event::Decode(current)),
            };
            slots[usize::from(op.into) % SLOTS] = value;
        }
    }
}
