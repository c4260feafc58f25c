//! Directives that lay down data: `.byte`, `.word`, `.le16` and its kin, `.ascii`.

use lathe_isa::model::Order;

use super::Reader;
use super::blocks::split;
use crate::codes;
use crate::program::{ItemKind, Texts};
use crate::tokens::{Kind, Token};

impl Reader<'_> {
    pub(super) fn is_data_directive(&self, word: &str) -> bool {
        matches!(word, ".byte" | ".cell" | ".ascii" | ".asciiz") || self.unit(word).is_some()
    }

    pub(super) fn data_directive(&mut self, word: &str, tokens: &[Token], texts: &Texts) -> Option<()> {
        match word {
            ".ascii" | ".asciiz" => self.ascii(word == ".asciiz", tokens, texts),
            ".byte" | ".cell" => self.values(tokens, 1, Order::Big, texts),
            _ => {
                let (bits, order) = self.unit(word)?;
                let cell = self.isa.memory(self.memory).cell.bits();
                if bits % cell != 0 {
                    let message = format!("{bits} bits do not fill whole {cell}-bit cells");
                    return self.fail(
                        codes::BAD_DIRECTIVE,
                        self.whole(tokens),
                        message,
                        "`.byte` fills one cell with each value",
                    );
                }
                self.values(tokens, (bits / cell) as u16, order, texts)
            }
        }
    }

    /// Returns the bits and the order of a directive such as `.le16`; `.word` has the machine's order, and as many
    /// cells as fit in 16 bits, or one cell of more than 8 bits.
    fn unit(&self, word: &str) -> Option<(u32, Order)> {
        let memory = self.isa.memory(self.memory);
        if word == ".word" {
            let cell = memory.cell.bits();
            return Some((if cell <= 8 { (16 / cell).max(1) * cell } else { cell }, memory.order));
        }
        let (order, bits) = match word.get(..3)? {
            ".le" => (Order::Little, &word[3..]),
            ".be" => (Order::Big, &word[3..]),
            _ => return None,
        };
        let bits = bits.parse().ok().filter(|bits| (1..=64).contains(bits))?;
        Some((bits, order))
    }

    fn values(&mut self, tokens: &[Token], cells: u16, order: Order, texts: &Texts) -> Option<()> {
        let parts = split(&tokens[1..]);
        if parts.is_empty() {
            return self.bad_directive(tokens, texts, "expected one or more values");
        }
        let (mut first, mut count) = (self.program.values.len() as u32, 0);
        for part in parts {
            match part {
                [text] if text.kind == Kind::Text && cells == 1 => {
                    self.flush(tokens, first, count, cells, order);
                    let bytes = self.quoted(*text, texts)?;
                    self.push_bytes(&bytes, self.whole(tokens));
                    (first, count) = (self.program.values.len() as u32, 0);
                }
                _ => {
                    let value = self.whole_expression(part, tokens[0].span, texts)?;
                    self.program.values.push(value);
                    count += 1;
                }
            }
        }
        self.flush(tokens, first, count, cells, order);
        Some(())
    }

    fn flush(&mut self, tokens: &[Token], first: u32, count: u32, cells: u16, order: Order) {
        if count > 0 {
            self.push(ItemKind::Data { first, count, cells, order }, self.whole(tokens));
        }
    }

    fn ascii(&mut self, zero: bool, tokens: &[Token], texts: &Texts) -> Option<()> {
        let parts = split(&tokens[1..]);
        if parts.is_empty() {
            return self.bad_directive(tokens, texts, "expected a text in quotes");
        }
        for part in parts {
            let [text] = part else { return self.bad_directive(tokens, texts, "expected a text in quotes") };
            if text.kind != Kind::Text {
                return self.bad_directive(tokens, texts, "expected a text in quotes");
            }
            let mut bytes = self.quoted(*text, texts)?;
            bytes.extend(zero.then_some(0));
            self.push_bytes(&bytes, self.whole(tokens));
        }
        Some(())
    }
}
