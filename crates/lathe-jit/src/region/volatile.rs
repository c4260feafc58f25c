//! Volatile instructions: what each is depends on what its cells hold, so the contents that were seen often are compared,
//! and there is code for each of them. Any other is left to the interpreter.

use std::sync::Arc;

use lathe_fast::Lowerable;

use super::block::{BlockBuilder, Path};
use super::ways::DEPTH;
use super::{Edge, End, Event, Segment, Select};

impl BlockBuilder<'_, '_> {
    /// How a block ends with a volatile instruction.
    pub(super) fn select(&mut self, decoded: &Lowerable, path: &mut Path, events: &mut Vec<Event>) -> End {
        let before = self.snapshot(path, path.pc);
        let variants = self.discovery.variants(path.pc);
        if variants.is_empty() {
            return self.leave_to_interpreter(decoded, before);
        }
        let isa = self.discovery.isa;
        let (content, loads) = path.frame.content(isa, &mut self.graph, path.pc, isa.longest());
        for load in loads {
            self.flush_for(load, path, events);
            events.push(Event::Load(load));
        }
        let arm = |(content, variant): &(u64, Arc<Lowerable>)| Some((*content, self.variant(variant, path)?));
        let arms = variants.iter().filter_map(arm).collect();
        // What the interpreter goes on with after any other content.
        self.leave_to_interpreter(decoded, before.clone());
        End::Select(Select { content, arms, before })
    }

    /// The way through one variant, to wherever it leads; none if the interpreter must execute it.
    fn variant(&mut self, variant: &Lowerable, path: &Path) -> Option<Edge> {
        let mut path = Path { depth: DEPTH, ..path.clone() };
        let mut events = Vec::new();
        let end = match self.decoded(variant, &mut path, &mut events) {
            Some(End::Leave(_)) => return None,
            Some(end) => end,
            None => End::Goto(self.way_to_leader(&path)),
        };
        self.longest = self.longest.max(path.count);
        Some(Edge::Segment(Box::new(Segment { events, end })))
    }
}
