//! Labels by address: what people call places in a running program.

use lathe_isa::model::MemoryId;

use crate::{Image, Symbol, SymbolKind};

/// The labels of an image in the order of their addresses.
#[derive(Clone, Debug, Default)]
pub struct Labels(Vec<(MemoryId, u64, Symbol)>);

impl Labels {
    /// Collects the labels of an image.
    pub fn new(image: &Image) -> Self {
        let label = |symbol: &Symbol| match symbol.kind {
            SymbolKind::Label(memory) => Some((memory, u64::try_from(symbol.value).ok()?, symbol.clone())),
            SymbolKind::Constant => None,
        };
        let mut labels: Vec<_> = image.symbols.iter().filter_map(label).collect();
        labels.sort_by_key(|(memory, address, _)| (*memory, *address));
        Labels(labels)
    }

    /// Yields the labels at an address, in order of definition.
    pub fn at(&self, memory: MemoryId, address: u64) -> impl Iterator<Item = &Symbol> {
        let first = self.0.partition_point(|label| (label.0, label.1) < (memory, address));
        self.0[first..].iter().take_while(move |label| (label.0, label.1) == (memory, address)).map(|label| &label.2)
    }

    /// Returns the nearest label at or before an address, and its distance in cells: `sub1+2`. Of several at one
    /// address, a full label precedes a local one, and an earlier precedes a later. Labels that each use of a macro
    /// makes for itself do not count: nobody has written their names.
    pub fn before(&self, memory: MemoryId, address: u64) -> Option<(&Symbol, u64)> {
        let after = self.0.partition_point(|label| (label.0, label.1) <= (memory, address));
        let written = |symbol: &Symbol| !symbol.name.contains('@');
        let mut here = self.0[..after].iter().rev().take_while(|label| label.0 == memory);
        let nearest = here.find(|label| written(&label.2))?.1;
        let at_nearest = self.at(memory, nearest).filter(|symbol| written(symbol));
        let symbol = at_nearest.min_by_key(|symbol| symbol.name.contains('.'))?;
        Some((symbol, address - nearest))
    }
}
