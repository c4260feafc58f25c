//! Searching backwards: the last hit before a position, who wrote a cell, where output came from.
//!
//! The past is searched in pieces, from its end. A piece is run again from its beginning, and the last hit in it is the
//! result. Long pieces are split first: a run through at full speed leaves snapshots on the way.

use crate::Problem;
use crate::breakpoints::{CellAccess, What};
use crate::debugger::{Debugger, Host, Outcome, Reason, Stopped, at_beginning};
use crate::plan::{Hit, Plan};

/// The longest piece, in instructions, that is run again with all stops.
const PIECE: u64 = 1 << 18;
/// How many pieces a long one is split into.
const CUTS: u64 = 32;

/// The result of a backward search.
pub(crate) enum Found {
    Hit(u64, Vec<Hit>),
    Nothing,
    Paused,
}

impl Debugger {
    /// Runs backwards to the last hit of a breakpoint, or to the beginning. Hit and ignore counts play no part,
    /// and nothing is logged.
    ///
    /// # Errors
    /// If this is the beginning already.
    pub fn run_back(&mut self, host: &mut dyn Host) -> Result<Stopped, Problem> {
        let mut plan = Plan::new(self.breakpoints.all());
        self.go_back_to(&mut plan, host)
    }

    /// Goes back to the last position at which something happened, or to the beginning.
    ///
    /// # Errors
    /// If this is the beginning already.
    pub fn back_to(&mut self, what: &What, host: &mut dyn Host) -> Result<Stopped, Problem> {
        let mut plan = Plan::only(what);
        self.go_back_to(&mut plan, host)
    }

    fn go_back_to(&mut self, plan: &mut Plan, host: &mut dyn Host) -> Result<Stopped, Problem> {
        let from = self.position;
        if from == 0 {
            return Err(at_beginning());
        }
        let (target, reason) = match self.last_hit(plan, from - 1, host)? {
            Found::Hit(at, hits) => (at, Reason::Hit(hits)),
            Found::Nothing => (0, Reason::Beginning),
            Found::Paused => (from, Reason::Paused),
        };
        self.go_to(target)?;
        Ok(Stopped { reason, from, position: target })
    }

    /// Goes back to before the last instruction that wrote one of these cells, and reports the write.
    ///
    /// # Errors
    /// If nothing has written them since the beginning.
    pub fn who_wrote(&mut self, what: &What, host: &mut dyn Host) -> Result<Stopped, Problem> {
        let from = self.position;
        let mut plan = Plan::only(what);
        match self.last_hit(&mut plan, from, host)? {
            Found::Hit(at, hits) => {
                self.go_to(at - 1)?;
                Ok(Stopped { reason: Reason::Hit(hits), from, position: at - 1 })
            }
            Found::Nothing => {
                self.go_to(from)?;
                let message = "nothing has written it since the beginning";
                Err(Problem::new(message).help("it holds what it held when the program was loaded"))
            }
            Found::Paused => {
                self.go_to(from)?;
                Ok(Stopped { reason: Reason::Paused, from, position: from })
            }
        }
    }

    /// Goes back to before the instruction that wrote this byte of the output.
    ///
    /// # Errors
    /// If the program has not written that much.
    pub fn who_printed(&mut self, byte: u64) -> Result<Stopped, Problem> {
        let from = self.position;
        if byte >= self.written() {
            let message = format!("the program has written {} bytes by now", self.written());
            return Err(Problem::new(message).help("go to where it has written more"));
        }
        let (mut low, high) = self.history.around_output(byte);
        let mut high = high.unwrap_or(from).min(from);
        // The amount of output only grows, so bisection finds the first position with enough of it.
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            self.go_to(middle)?;
            if self.written() > byte {
                high = middle;
            } else {
                low = middle;
                self.keep();
            }
        }
        self.go_to(high - 1)?;
        Ok(Stopped { reason: Reason::Done, from, position: high - 1 })
    }

    /// Finds the last hit at or before a position. The debugger's own position afterwards is unspecified.
    fn last_hit(&mut self, plan: &mut Plan, mut end: u64, host: &mut dyn Host) -> Result<Found, Problem> {
        while end > 0 {
            let start = self.piece_before(end, host)?;
            self.go_to(start)?;
            match self.scan(plan, end, host)? {
                Found::Nothing => end = start,
                other => return Ok(other),
            }
        }
        Ok(Found::Nothing)
    }

    /// Returns the start of a short enough piece that ends at `end`.
    fn piece_before(&mut self, end: u64, host: &mut dyn Host) -> Result<u64, Problem> {
        loop {
            let start = self.history.floor(end - 1).0;
            let length = end - start;
            if length <= PIECE || !host.goes_on() {
                return Ok(start);
            }
            let stride = (length / CUTS).max(PIECE);
            self.go_to(start)?;
            let mut at = start + stride;
            while at < end {
                self.repeat(at)?;
                self.keep();
                at += stride;
            }
            // Where memory has no room for more snapshots, the piece stays long.
            if self.history.floor(end - 1).0 == start {
                return Ok(start);
            }
        }
    }

    /// Finds the last hit between here and a position.
    fn scan(&mut self, plan: &mut Plan, end: u64, host: &mut dyn Host) -> Result<Found, Problem> {
        let mut last = Found::Nothing;
        while self.position < end {
            let before = self.position;
            match self.next_hit(plan, end, host)? {
                Outcome::Hit(hits) => last = Found::Hit(self.position, hits),
                Outcome::Paused => return Ok(Found::Paused),
                Outcome::Stopped(_) if self.position == before => break,
                Outcome::Stopped(_) | Outcome::End => {}
            }
        }
        Ok(last)
    }
}

/// Returns the stop at writes to these cells.
pub fn writes(memory: lathe_isa::model::MemoryId, first: u64, last: u64) -> What {
    What::Cells { memory, addresses: first..=last, access: CellAccess::Write }
}
