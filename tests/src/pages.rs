//! What must hold for every reference page, whatever its subject.

use std::collections::BTreeSet;
use std::path::Path;

/// Checks that the page has a row for each limit, with its number.
///
/// # Panics
/// If it does not.
pub fn check_limits(page: &str, limits: &[(u64, &str)]) {
    for (number, words) in limits {
        let row = format!("| {} | {words} |", with_commas(*number));
        assert!(page.lines().any(|line| line == row), "the page has no row {row}");
    }
}

fn with_commas(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| std::str::from_utf8(group).unwrap_or("")).collect();
    groups.join(",")
}

/// Checks that the links of a page lead to headings, of the page itself or of another.
///
/// # Panics
/// If one does not.
pub fn check_links(path: &Path) {
    let read =
        |path: &Path| std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let page = read(path);
    let anchor = |heading: &str| heading.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
    for link in page.split("](").skip(1).filter_map(|part| part.split(')').next()) {
        let (file, place) = link.split_once('#').unwrap_or((link, ""));
        let other = if file.is_empty() { page.clone() } else { read(&path.with_file_name(file)) };
        let anchors: BTreeSet<String> = other.lines().filter(|line| line.starts_with('#')).map(anchor).collect();
        assert!(place.is_empty() || anchors.contains(place), "no heading for {link}");
    }
}
