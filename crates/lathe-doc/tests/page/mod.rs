//! The shipped machines, and reading pages back.

use lathe_isa::{Isa, Written};

pub(crate) fn machines() -> Vec<(Isa, Written)> {
    let all = lathe_machines::every();
    let loaded = all.map(|machine| lathe_isa::load_with(machine.source(), &lathe_machines::Shipped));
    loaded.map(|loaded| (loaded.isa.expect("it ships"), loaded.written)).collect()
}

/// Returns the cells of a page's table without tags, row by row.
pub(crate) fn table(page: &str, class: &str) -> Vec<Vec<String>> {
    tables(page, class).into_iter().next().unwrap_or_default()
}

/// Returns the tables of one class on a page.
pub(crate) fn tables(page: &str, class: &str) -> Vec<Vec<Vec<String>>> {
    let start = format!("<table class=\"{class}\">");
    let rows = |rest: &str| {
        let body = rest.split_once("<tbody>").expect("it has a body").1.split_once("</tbody>").expect("it ends").0;
        let cell = |cell: &str| text(cell.split_once('>').expect("a tag").1);
        body.split("<tr>").skip(1).map(|row| row.split("<td").skip(1).map(cell).collect()).collect()
    };
    page.split(&start).skip(1).map(rows).collect()
}

pub(crate) fn text(markup: &str) -> String {
    let mut result = String::new();
    let mut inside = false;
    for c in markup.chars() {
        match c {
            '<' => inside = true,
            '>' => inside = false,
            _ if !inside => result.push(c),
            _ => {}
        }
    }
    let entities = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    entities.iter().fold(result, |text, (entity, character)| text.replace(entity, character)).trim().to_owned()
}

pub(crate) fn number(text: &str) -> u64 {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    digits.map_or_else(|| text.parse(), |digits| u64::from_str_radix(digits, 16)).unwrap_or_else(|_| panic!("`{text}`"))
}

/// Reads a number as the machine's users write it: with `0x`, or octal without a prefix.
pub(crate) fn written(isa: &Isa, text: &str) -> u64 {
    assert_eq!(text.starts_with("0x"), !isa.assembly.octal_numbers, "{}: `{text}`", isa.name);
    digits(isa, text.trim_start_matches("0x"))
}

/// Reads the digits of such a number.
pub(crate) fn digits(isa: &Isa, text: &str) -> u64 {
    let base = if isa.assembly.octal_numbers { 8 } else { 16 };
    u64::from_str_radix(text, base).unwrap_or_else(|_| panic!("{}: `{text}`", isa.name))
}

/// Checks that the mapped addresses are those of the model, in its order; several adjacent ones may share a line.
pub(crate) fn assert_mapped(isa: &Isa, told: impl Iterator<Item = (u64, u64)>) {
    let mut maps = isa.maps.iter();
    for (first, last) in told {
        let mut next = maps.next().unwrap_or_else(|| panic!("{}: {first:#x} is not mapped", isa.name));
        assert_eq!(first, next.first, "{}", isa.name);
        while next.last < last {
            let after = maps.next().filter(|after| after.memory == next.memory && after.first == next.last + 1);
            next = after.unwrap_or_else(|| panic!("{}: {:#x} is not mapped", isa.name, next.last + 1));
        }
        assert_eq!(last, next.last, "{}", isa.name);
    }
    assert!(maps.next().is_none(), "{}: not all mapped addresses are told", isa.name);
}
