//! Pictures of encodings, as SVG: boxes with their bits numbered, a line for each word of up to 32 bits.

use std::fmt::Write;

use crate::bits::Part;
use crate::markup::escape;

const HEIGHT: u32 = 30;
const NUMBERS: u32 = 13;
const GAP: u32 = 6;
/// Bits per line.
const LINE: u32 = 32;

/// Draws an instruction's bits. Words are side by side while there is room.
pub(crate) fn svg(parts: &[Part], word: u32, text: &str) -> String {
    let total: u32 = parts.iter().map(|part| part.width).sum();
    let per_line = (LINE / word).max(1) * word;
    let bit = if per_line.min(total) > 16 { 20 } else { 24 };
    let lines = total.div_ceil(per_line);
    let line_height = HEIGHT + NUMBERS + GAP;
    let words = (per_line.min(total)).div_ceil(word);
    let width = per_line.min(total) * bit + (words - 1) * GAP + 2;
    let mut body = String::new();
    let mut at = 0;
    for part in parts {
        let (line, column) = (at / per_line, at % per_line);
        let x = column * bit + column / word * GAP + 1;
        let y = line * line_height + NUMBERS;
        body += &boxed(part, x, y, bit);
        let high = word - 1 - column % word;
        let low = high + 1 - part.width;
        let _ = write!(body, "<text class=\"n\" x=\"{}\" y=\"{}\">{high}</text>", x + bit / 2, y - 3);
        if low != high {
            let _ =
                write!(body, "<text class=\"n\" x=\"{}\" y=\"{}\">{low}</text>", x + part.width * bit - bit / 2, y - 3);
        }
        at += part.width;
    }
    let height = lines * line_height;
    format!(
        "<svg class=\"bits\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\" \
         aria-label=\"{0}\" data-bits=\"{0}\">{body}</svg>",
        escape(text)
    )
}

fn boxed(part: &Part, x: u32, y: u32, bit: u32) -> String {
    let width = part.width * bit;
    let class = match part.operand {
        Some(operand) => format!("o o{}", operand % 4),
        None if part.label.starts_with('-') => "g".to_owned(),
        None if part.label.starts_with('*') => "m".to_owned(),
        None => "f".to_owned(),
    };
    let mut text = format!("<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{HEIGHT}\"/>");
    let middle = y + HEIGHT / 2 + 5;
    if part.operand.is_some() {
        let label = escape(&part.label);
        let center = x + width / 2;
        // A long name in a narrow box takes two lines: `J` above `[20]`.
        match part.label.split_once('[') {
            Some((name, bits)) if part.label.chars().count() as u32 * 8 + 4 > width => {
                let (name, bits) = (escape(name), escape(&format!("[{bits}")));
                let _ = write!(text, "<text x=\"{center}\" y=\"{}\">{name}</text>", middle - 6);
                let _ = write!(text, "<text class=\"n\" x=\"{center}\" y=\"{}\">{bits}</text>", middle + 6);
            }
            _ => {
                let _ = write!(text, "<text x=\"{center}\" y=\"{middle}\">{label}</text>");
            }
        }
        return text;
    }
    for (at, c) in part.label.chars().enumerate() {
        let at = at as u32;
        let _ = write!(text, "<text x=\"{}\" y=\"{middle}\">{c}</text>", x + at * bit + bit / 2);
        if at > 0 {
            let line = x + at * bit;
            let _ = write!(text, "<path class=\"t\" d=\"M{line} {y}v4M{line} {}v-4\"/>", y + HEIGHT);
        }
    }
    text
}
