//! How an instruction is written: its first word, then texts and operands.

use std::fmt;

/// The syntax of one instruction or pseudo-instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Syntax {
    /// The first word; the first of several alternatives is the preferred one.
    pub heads: Vec<Head>,
    /// What follows it.
    pub pieces: Vec<Piece>,
}

/// The first word of an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Head {
    /// A mnemonic.
    Word(String),
    /// A mnemonic with an operand in it, such as `x2A`. It is the first operand of the instruction.
    Glued {
        /// The text before the operand.
        prefix: String,
        /// How the operand is written.
        digits: Digits,
        /// The text after the operand.
        suffix: String,
    },
    /// An operand with names, alone, of the field with this name. It is the first operand of the instruction.
    Named(String),
}

/// How a glued operand is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Digits {
    /// Exactly this many hexadecimal digits, upper case when written by Lathe.
    Hexadecimal(u8),
    /// Decimal, as many digits as needed.
    Decimal,
    /// One of the field's names, which is then the whole word.
    Name,
}

/// A piece of the syntax after the first word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// What it is.
    pub kind: PieceKind,
    /// Whether Lathe prints a space before it.
    pub space: bool,
}

/// What a piece is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PieceKind {
    /// A fixed word or mark.
    Text(String),
    /// A `+` before an operand that may be negative: a `-` in its place belongs to the operand.
    Sign,
    /// The operand with this number.
    Operand(usize),
}

impl PieceKind {
    /// Returns the word or mark, if the piece is one.
    pub fn text(&self) -> Option<&str> {
        match self {
            PieceKind::Text(text) => Some(text),
            PieceKind::Sign => Some("+"),
            PieceKind::Operand(_) => None,
        }
    }
}

impl Syntax {
    /// Writes the syntax with the preferred first word; `operand` writes an operand.
    pub fn render(&self, operand: impl Fn(usize) -> String) -> String {
        let mut line = match &self.heads[0] {
            Head::Word(word) => word.clone(),
            Head::Glued { prefix, suffix, .. } => format!("{prefix}{}{suffix}", operand(0)),
            Head::Named(_) => operand(0),
        };
        let mut sign = None;
        for piece in &self.pieces {
            if piece.space {
                line.push(' ');
            }
            if let PieceKind::Operand(index) = piece.kind {
                let written = operand(index);
                let negative = sign.take().zip(written.strip_prefix('-'));
                if let Some((at, _)) = negative {
                    line.replace_range(at..=at, "-");
                }
                line.push_str(negative.map_or(&written, |(_, rest)| rest));
            }
            if piece.kind == PieceKind::Sign {
                sign = Some(line.len());
            }
            line.push_str(piece.kind.text().unwrap_or_default());
        }
        line
    }

    /// Returns how many words and marks there are besides the operands. If a line fits several syntaxes, the one with
    /// the most is meant: the brackets of `jmp (W)` are not part of an expression.
    pub fn texts(&self) -> usize {
        self.pieces.iter().filter(|piece| piece.kind.text().is_some()).count()
    }

    /// Returns the preferred first word, as far as it is fixed, or the field that it is a name of.
    pub fn mnemonic(&self) -> &str {
        match &self.heads[0] {
            Head::Word(word) | Head::Named(word) => word,
            Head::Glued { prefix, .. } => prefix,
        }
    }

    /// Returns how a glued operand is written, if the first word has one.
    pub fn glued(&self) -> Option<Digits> {
        match &self.heads[0] {
            Head::Word(_) | Head::Named(_) => None,
            Head::Glued { digits, .. } => Some(*digits),
        }
    }

    /// Returns the texts and the places of the operands, whatever the operands are: one shape for each first word. Two
    /// syntaxes that share a shape look the same.
    pub fn shapes(&self) -> Vec<String> {
        let shape = |head: &Head| {
            let mut shape = match head {
                Head::Word(word) => word.clone(),
                Head::Glued { prefix, digits, suffix } => format!("{prefix}{{{digits}}}{suffix}"),
                Head::Named(_) => "{}".to_owned(),
            };
            for piece in &self.pieces {
                shape.push(' ');
                shape.push_str(piece.kind.text().unwrap_or("{}"));
            }
            shape.make_ascii_lowercase();
            shape
        };
        self.heads.iter().map(shape).collect()
    }
}

impl Digits {
    /// Reads the digits at the beginning of a text: returns the value, and how many bytes they take.
    pub fn read(self, text: &str) -> Option<(u64, usize)> {
        match self {
            Digits::Hexadecimal(count) => {
                let digits = text.get(..usize::from(count))?;
                let all_digits = digits.bytes().all(|b| b.is_ascii_hexdigit());
                all_digits.then(|| u64::from_str_radix(digits, 16).ok().map(|value| (value, digits.len())))?
            }
            Digits::Decimal => {
                let length = text.bytes().take_while(u8::is_ascii_digit).count();
                text[..length].parse().ok().map(|value| (value, length))
            }
            Digits::Name => None,
        }
    }

    /// Writes a value.
    pub fn write(self, value: u64) -> String {
        match self {
            Digits::Hexadecimal(count) => format!("{value:0width$X}", width = usize::from(count)),
            Digits::Decimal | Digits::Name => value.to_string(),
        }
    }
}

impl fmt::Display for Digits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Digits::Hexadecimal(count) => write!(f, "hex{count}"),
            Digits::Decimal => write!(f, "dec"),
            Digits::Name => write!(f, "name"),
        }
    }
}
