//! Which line of which source made which cells, and the other way round: for debuggers, traces, profiles and listings.
//! Nothing here looks at the text of a source.
//!
//! ```
//! use lathe_asm::{LineKind, Options, assemble};
//! use lathe_base::{FileId, Source, files::MemoryFiles};
//!
//! let isa = lathe_isa::load_with(lathe_machines::find("hex8").unwrap().source(), &lathe_machines::Shipped).isa.unwrap();
//! let source = Source::new("hello.asm", "start: loadimm r1, 'H'\n output r1\n jmp $\n.byte 7");
//! let assembled = assemble(&isa, &MemoryFiles::default(), source, &Options::default());
//! let (image, source) = (assembled.image.unwrap(), &assembled.sources[0]);
//!
//! // The second cell of the jump comes from line 3.
//! let line = image.line_at(isa.pc.memory, 4).unwrap();
//! assert_eq!((line.address, line.kind), (3, LineKind::Code));
//! assert_eq!(source.line_column(line.span.start).0, 3);
//!
//! // A breakpoint on line 3 stops at address 3; line 4 is data, where nothing stops.
//! let line = |number| source.line(FileId(0), number).unwrap();
//! assert_eq!(image.stops_of(line(3)).iter().map(|line| line.address).collect::<Vec<_>>(), [3]);
//! assert!(image.stops_of(line(4)).is_empty());
//! assert_eq!(image.lines_of(line(4))[0].kind, LineKind::Data);
//! ```

use std::collections::BinaryHeap;
use std::ops::{Deref, Range};
use std::sync::OnceLock;

use lathe_base::{FileId, Span};
use lathe_isa::model::MemoryId;

use crate::Image;

/// The cells that one statement of the source made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// The memory.
    pub memory: MemoryId,
    /// The first cell's address.
    pub address: u64,
    /// How many cells.
    pub cells: u32,
    /// What the cells are.
    pub kind: LineKind,
    /// The line, or the part of it, that made them. The file is a position in the list of sources that came with the
    /// image.
    pub span: Span,
    /// The innermost call around it, as a position in the list of calls plus one; 0 if there is none.
    pub call: u32,
}

/// What cells were written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LineKind {
    /// One instruction.
    Code,
    /// Values or text.
    Data,
    /// Cells left free by `.space`, `.fill` or `.align`.
    Space,
}

impl LineKind {
    /// All kinds.
    pub const ALL: [LineKind; 3] = [LineKind::Code, LineKind::Data, LineKind::Space];

    /// Returns its name in files.
    pub fn name(self) -> &'static str {
        match self {
            LineKind::Code => "code",
            LineKind::Data => "data",
            LineKind::Space => "space",
        }
    }
}

/// Why a piece of text was read where it was: a use of a macro, a turn of a repetition, an include.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The kind of call.
    pub kind: CallKind,
    /// The macro's name, the file's name, or `.rept`.
    pub name: String,
    /// Where the call is written.
    pub span: Span,
    /// The call around this one, as a position in the list of calls plus one; 0 if there is none.
    pub parent: u32,
}

/// What a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CallKind {
    /// A use of a macro.
    Macro,
    /// One turn of a repetition.
    Repetition,
    /// An `.include`.
    Include,
}

impl CallKind {
    /// All kinds.
    pub const ALL: [CallKind; 3] = [CallKind::Macro, CallKind::Repetition, CallKind::Include];

    /// Returns its name in files.
    pub fn name(self) -> &'static str {
        match self {
            CallKind::Macro => "macro",
            CallKind::Repetition => "repetition",
            CallKind::Include => "include",
        }
    }
}

/// The lines of a program in the order they were read, and the calls around them. They do not change, so an index over
/// them is built once, on first use.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    list: Vec<Line>,
    calls: Vec<Call>,
    index: OnceLock<Index>,
}

impl Lines {
    /// Takes lines in the order they were read, and the calls that they refer to.
    pub fn new(list: Vec<Line>, calls: Vec<Call>) -> Self {
        Lines { list, calls, index: OnceLock::new() }
    }

    /// Returns the calls; the first is number 1.
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// Yields the calls around a line, innermost first, with their numbers. Each call must be inside an earlier one, so
    /// a damaged image cannot lead in circles.
    pub fn calls_around(&self, line: &Line) -> impl Iterator<Item = (u32, &Call)> {
        let numbered = |number: u32| Some((number, self.calls.get(number.checked_sub(1)? as usize)?));
        std::iter::successors(numbered(line.call), move |(number, call)| {
            numbered(call.parent).filter(|_| call.parent < *number)
        })
    }

    fn index(&self) -> &Index {
        self.index.get_or_init(|| Index::new(&self.list, &self.calls))
    }
}

impl Deref for Lines {
    type Target = [Line];

    fn deref(&self) -> &[Line] {
        &self.list
    }
}

impl<'l> IntoIterator for &'l Lines {
    type Item = &'l Line;
    type IntoIter = std::slice::Iter<'l, Line>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}

impl PartialEq for Lines {
    fn eq(&self, other: &Self) -> bool {
        self.list == other.list && self.calls == other.calls
    }
}

impl Eq for Lines {}

impl Image {
    /// Returns the line that made the cell at an address; of overlapping lines, the later one.
    pub fn line_at(&self, memory: MemoryId, address: u64) -> Option<&Line> {
        let pieces = &self.lines.index().pieces;
        let after = pieces.partition_point(|piece| (piece.memory, piece.start) <= (memory, u128::from(address)));
        let piece = pieces.get(after.checked_sub(1)?)?;
        (piece.memory == memory && u128::from(address) < piece.end).then(|| &self.lines[piece.line as usize])
    }

    /// Returns the lines that a place in a source made, in the order they were read: those whose text begins there, and
    /// those made by a macro, a repetition or an include called there.
    pub fn lines_of(&self, place: Span) -> Vec<&Line> {
        let index = self.lines.index();
        let called = index.calls_in(place).flat_map(|call| index.made_by[call as usize].clone());
        let mut lines: Vec<u32> = index.lines_in(place).chain(called).collect();
        lines.sort_unstable();
        lines.dedup();
        lines.into_iter().map(|at| &self.lines[at as usize]).collect()
    }

    /// Returns where a breakpoint on a place in a source stops: at the first instruction of each statement there, in
    /// every use of the macro it belongs to, and at the first of each call there.
    pub fn stops_of(&self, place: Span) -> Vec<&Line> {
        let index = self.lines.index();
        let is_code = |at: &u32| self.lines[*at as usize].kind == LineKind::Code;
        let called = index.calls_in(place).filter_map(|call| index.made_by[call as usize].clone().find(is_code));
        // A pseudo-instruction makes several instructions, all with the same place.
        let continues = |at: u32| {
            let line = self.lines[at as usize];
            let before = at.checked_sub(1).map(|before| self.lines[before as usize]);
            before.is_some_and(|before| (before.span, before.call, before.kind) == (line.span, line.call, line.kind))
        };
        let own = index.lines_in(place).filter(is_code).filter(|at| !continues(*at));
        let mut lines: Vec<u32> = own.chain(called).collect();
        lines.sort_unstable();
        lines.dedup();
        lines.into_iter().map(|at| &self.lines[at as usize]).collect()
    }
}

/// Indexes over the lists of lines and calls; entries are positions.
#[derive(Clone, Debug)]
struct Index {
    /// The cells of all memories in order, each in only one piece.
    pieces: Vec<Piece>,
    /// Lines by where their text begins.
    lines: Vec<Begins>,
    /// Calls by where their text begins.
    calls: Vec<Begins>,
    /// The lines that each call made, including those of calls inside it.
    made_by: Vec<Range<u32>>,
}

/// Cells of one line that no later line covers.
#[derive(Clone, Copy, Debug)]
struct Piece {
    memory: MemoryId,
    start: u128,
    end: u128,
    line: u32,
}

/// Where the text of a line or call begins.
type Begins = (FileId, u32, u32);

impl Index {
    fn new(lines: &[Line], calls: &[Call]) -> Self {
        Index {
            pieces: pieces(lines),
            lines: by_place(lines.iter().map(|line| line.span)),
            calls: by_place(calls.iter().map(|call| call.span)),
            made_by: made_by(lines, calls),
        }
    }

    fn lines_in(&self, place: Span) -> impl Iterator<Item = u32> + '_ {
        begin_in(&self.lines, place)
    }

    fn calls_in(&self, place: Span) -> impl Iterator<Item = u32> + '_ {
        begin_in(&self.calls, place)
    }
}

fn by_place(spans: impl Iterator<Item = Span>) -> Vec<Begins> {
    let mut places: Vec<Begins> = spans.zip(0..).map(|(span, at)| (span.file, span.start, at)).collect();
    places.sort_unstable();
    places
}

/// Yields what begins in a place. An empty place contains what begins at it.
fn begin_in(places: &[Begins], place: Span) -> impl Iterator<Item = u32> + '_ {
    let end = place.end.max(place.start.saturating_add(1));
    let first = places.partition_point(|(file, start, _)| (*file, *start) < (place.file, place.start));
    let inside = move |(file, start, _): &&Begins| *file == place.file && *start < end;
    places[first..].iter().take_while(inside).map(|(_, _, at)| *at)
}

/// Sweeps over the addresses of each memory; `open` holds the lines there, the latest on top.
fn pieces(lines: &[Line]) -> Vec<Piece> {
    let mut order: Vec<u32> = (0..lines.len() as u32).filter(|at| lines[*at as usize].cells > 0).collect();
    let start = |at: u32| (lines[at as usize].memory, u128::from(lines[at as usize].address));
    order.sort_by_key(|at| start(*at));
    let mut pieces = Vec::with_capacity(order.len());
    let mut open = BinaryHeap::new();
    let mut position = 0;
    for (number, at) in order.iter().enumerate() {
        position = if open.is_empty() { start(*at).1 } else { position };
        open.push(*at);
        let next = order.get(number + 1).map(|next| start(*next));
        while let Some(line) = open.peek().copied() {
            let (memory, end) = (lines[line as usize].memory, lines[line as usize].end());
            let stop = next.filter(|next| next.0 == memory).map_or(end, |next| next.1.min(end));
            if position < stop {
                pieces.push(Piece { memory, start: position, end: stop, line });
                position = stop;
            }
            if position < end {
                break;
            }
            open.pop();
        }
    }
    pieces
}

/// Finds the lines of each call. Lines are in the order they were read, so those of one call are consecutive.
fn made_by(lines: &[Line], calls: &[Call]) -> Vec<Range<u32>> {
    let mut made: Vec<Range<u32>> = vec![0..0; calls.len()];
    for (line, at) in lines.iter().zip(0..) {
        widen(&mut made, line.call, at..at + 1);
    }
    for (at, call) in calls.iter().enumerate().rev() {
        let inner = made[at].clone();
        widen(&mut made[..at], call.parent, inner);
    }
    made
}

/// Adds lines to those of a call; it can find only earlier calls, whatever a file says.
fn widen(made: &mut [Range<u32>], call: u32, by: Range<u32>) {
    let own = call.checked_sub(1).and_then(|at| made.get_mut(at as usize));
    if let Some(own) = own.filter(|_| !by.is_empty()) {
        *own = if own.start == own.end { by } else { own.start.min(by.start)..own.end.max(by.end) };
    }
}

impl Line {
    /// Returns the address after its last cell, not wrapped.
    pub fn end(&self) -> u128 {
        u128::from(self.address) + u128::from(self.cells)
    }
}
