//! Addresses as people know them: the nearest label, and the source line.

use lathe_asm::{Image, SymbolKind};
use lathe_base::Source;
use lathe_isa::Isa;

/// A label this many cells away or further says nothing.
const NEAR: u64 = 1 << 12;

/// Where the code of a program comes from.
pub(crate) struct Places<'p> {
    pub(crate) isa: &'p Isa,
    pub(crate) image: &'p Image,
    pub(crate) sources: &'p [Source],
}

impl Places<'_> {
    /// Describes an address as `loop+2, deep.asm:6`, as far as it is known.
    pub(crate) fn describe(&self, address: u64) -> Option<String> {
        let parts: Vec<String> = self.label(address).into_iter().chain(self.line(address)).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    /// Returns the nearest label at or before a code address: `loop+2`.
    pub(crate) fn label(&self, address: u64) -> Option<String> {
        let of_code = |kind: &SymbolKind| matches!(kind, SymbolKind::Label(memory) if *memory == self.isa.pc.memory);
        let labels = self.image.symbols.iter().filter(|symbol| of_code(&symbol.kind));
        let before = labels.filter_map(|symbol| Some((u64::try_from(symbol.value).ok()?, symbol)));
        let before = before.filter(|(value, _)| *value <= address && address - value < NEAR);
        let (value, symbol) = before.max_by_key(|(value, _)| *value)?;
        let distance = address - value;
        Some(if distance == 0 { symbol.name.clone() } else { format!("{}+{distance}", symbol.name) })
    }

    /// Returns the source line of the code at an address: `deep.asm:6`.
    fn line(&self, address: u64) -> Option<String> {
        let line = self.image.line_at(self.isa.pc.memory, address)?;
        let source = self.sources.get(line.span.file.0 as usize)?;
        Some(format!("{}:{}", source.name, source.line_column(line.span.start).0))
    }
}
