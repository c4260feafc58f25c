//! The difference between two texts.

use crate::render;

/// The most lines of either text to show.
const SHOWN: usize = 6;
/// The most characters of a line to show.
const WIDTH: usize = 100;

/// Shows what differs: `-` is expected, `+` was found, and the line before says where.
pub(in crate::commands) fn text(what: &str, expected: &[u8], found: &[u8]) -> String {
    let (wanted, real) = (lines(expected), lines(found));
    let same = wanted.iter().zip(&real).take_while(|(wanted, real)| wanted == real).count();
    let left = wanted.len().min(real.len()) - same;
    let ends = wanted.iter().rev().zip(real.iter().rev()).take(left);
    let tail = ends.take_while(|(wanted, real)| wanted == real).count();
    let mut lines = vec![format!("{what} from line {}:", same + 1)];
    lines.extend(same.checked_sub(1).map(|before| format!("    {}", shown(wanted[before]))));
    lines.extend(side('-', &wanted[same..wanted.len() - tail]));
    lines.extend(side('+', &real[same..real.len() - tail]));
    lines.join("\n")
}

fn side(mark: char, lines: &[&[u8]]) -> Vec<String> {
    let mut shown: Vec<String> = lines.iter().take(SHOWN).map(|line| format!("  {mark} {}", shown(line))).collect();
    if lines.len() > SHOWN {
        shown.push(format!("  {mark} … and {} more lines", lines.len() - SHOWN));
    }
    shown
}

/// Splits a text into lines with their ends, so that a missing end is seen.
fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

/// Renders a line without its end, with invisible characters as escapes.
fn shown(line: &[u8]) -> String {
    let (text, end) = match line.strip_suffix(b"\n") {
        Some(text) => (text, ""),
        None => (line, "  (no newline at the end)"),
    };
    let text = String::from_utf8_lossy(text);
    let visible = render::visible(&text).replace('\t', "\\t");
    let blank = visible.len() - visible.trim_end().len();
    let visible = format!("{}{}", visible.trim_end(), "·".repeat(blank));
    let cut: String = visible.chars().take(WIDTH).collect();
    let more = if cut.len() < visible.len() { "…" } else { "" };
    format!("{cut}{more}{end}")
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn only_what_differs_is_shown() {
        let shown = text("the output differs", b"1\n2\n3\n4\n", b"1\nx\n3\n4\n");
        assert_eq!(shown, "the output differs from line 2:\n    1\n  - 2\n  + x");
    }

    #[test]
    fn what_cannot_be_seen_is_written_out() {
        assert_eq!(text("it differs", b"a\n", b"a"), "it differs from line 1:\n  - a\n  + a  (no newline at the end)");
        assert_eq!(text("it differs", b"a\n", b"a \r\n"), "it differs from line 1:\n  - a\n  + a \\r");
        assert_eq!(text("it differs", b"a\n", b"a  \n"), "it differs from line 1:\n  - a\n  + a··");
        assert_eq!(text("it differs", b"a\n", b""), "it differs from line 1:\n  - a");
    }

    #[test]
    fn much_is_cut_short() {
        let long = b"x\n".repeat(1000);
        assert!(text("it differs", b"", &long).ends_with("  + … and 994 more lines"));
        assert!(text("it differs", b"", &b"y".repeat(10_000)).len() < 400);
    }
}
