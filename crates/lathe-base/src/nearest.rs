//! "Did you mean": finds the known name nearest to a misspelt one.

/// Names longer than this many characters are not compared: it would take too long.
const LONGEST: usize = 64;

/// Returns the candidate with the fewest edits from `name`, if it is close enough for `name` to be a slip.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = name.to_lowercase();
    let length = wanted.chars().count();
    if length > LONGEST {
        return None;
    }
    let allowed = (length / 3).clamp(1, 3);
    candidates
        .into_iter()
        .filter(|candidate| candidate.chars().count().abs_diff(length) <= allowed)
        .map(|candidate| (edits(&wanted, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= allowed && *distance < candidate.chars().count())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Counts the insertions, deletions, replacements and swaps of neighbours that turn one into the other.
fn edits(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    let mut before = vec![0; to.len() + 1];
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.iter().enumerate() {
        let mut row = vec![i + 1; to.len() + 1];
        for (j, b) in to.iter().enumerate() {
            let replaced = last[j] + usize::from(a != b);
            row[j + 1] = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            let swapped = i > 0 && j > 0 && *a == to[j - 1] && from[i - 1] == *b;
            if swapped {
                row[j + 1] = row[j + 1].min(before[j - 1] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_found_and_strangers_are_not() {
        let names = ["load", "store", "skipz", "page"];
        assert_eq!(nearest("laod", names), Some("load"));
        assert_eq!(nearest("STOR", names), Some("store"));
        assert_eq!(nearest("skip", names), Some("skipz"));
        assert_eq!(nearest("multiply", names), None);
    }

    #[test]
    fn a_single_letter_is_not_near_to_another() {
        assert_eq!(nearest("x", ["a", "b"]), None);
        assert_eq!(nearest("r16", ["r15", "r1"]), Some("r15"));
    }
}
