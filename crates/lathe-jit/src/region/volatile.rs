//! Volatile instructions. What such an instruction is depends on the content of its cells, so compiled code compares
//! them with the frequent contents and has code for each. Any other content is left to the interpreter.

use std::sync::Arc;

use lathe_fast::Lowerable;

use super::block::{BlockBuilder, Path};
use super::ways::DEPTH;
use super::{Edge, End, Event, Segment, Select};

impl BlockBuilder<'_, '_> {
    /// Ends a block with a volatile instruction.
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
        // The interpreter goes on after the instruction for any other content.
        self.leave_to_interpreter(decoded, before.clone());
        End::Select(Select { content, arms, before })
    }

    /// Returns the path through one variant, to wherever it leads; `None` if the interpreter must execute it.
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
