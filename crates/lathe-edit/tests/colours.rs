//! Some lines alone have the same colours as in the whole text.

use lathe_edit::assembly::{Words, pieces};

#[test]
fn lines_alone_have_the_colours_of_the_whole() {
    let texts = [
        "a: lda #1 ; one\n b: ldx 2\n",
        "x /* in one line */ y\n z 1\n",
        "x /* over\n lines */ y\n z 1\n",
        "x ; /* not open\n y 1\n z 2\n",
        "x /* a */ /* b\n y 1 */ 2\n z 3\n",
        "x \"/*\" 1\n y 2\n*/ 3\n",
    ];
    let words = Words::default();
    for text in texts {
        let whole = pieces(text, 0..text.len(), &words);
        let starts = text.match_indices('\n').map(|(at, _)| at + 1).chain([0]);
        for start in starts {
            let end = text[start..].find('\n').map_or(text.len(), |length| start + length + 1);
            let inside = |all: &[lathe_edit::Piece]| -> Vec<_> {
                all.iter().filter(|piece| piece.start < end && start < piece.end).copied().collect()
            };
            assert_eq!(inside(&pieces(text, start..end, &words)), inside(&whole), "{text:?} from {start}");
        }
    }
}
