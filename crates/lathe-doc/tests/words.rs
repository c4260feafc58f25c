//! The words on a page are where they belong: flags, links, indexes, meanings, members and examples. Each of these
//! tests was added because a page with a deliberate mistake had passed all others.

#[allow(dead_code, reason = "other tests read the numbers of a page")]
mod page;

use std::collections::BTreeSet;

use lathe_doc::{RowData, Sheet};
use lathe_isa::coverage::coverage;
use lathe_isa::syntax::Head;
use page::{machines, table, text};

/// Returns a text without blanks and line ends.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

/// Returns the links in a piece of markup: the target and text of each.
fn links(markup: &str) -> Vec<(String, String)> {
    let link = |rest: &str| {
        let (target, rest) = rest.split_once('"').expect("a target");
        let inside = rest.split_once('>').expect("a tag").1.split("</a>").next().unwrap_or("");
        (target.to_owned(), text(inside))
    };
    markup.split("<a href=\"#").skip(1).map(link).collect()
}

fn sections(page: &str) -> Vec<&str> {
    page.split("<section class=\"instruction\"")
        .skip(1)
        .map(|rest| rest.split("</section>").next().unwrap_or(""))
        .collect()
}

/// Returns what a row does to a flag.
fn effect(row: &RowData, flag: &str) -> String {
    let one = |instruction: &lathe_doc::InstructionData| {
        let found = instruction.flags.iter().find(|found| found.name == flag);
        found.map_or("–".to_owned(), |found| found.effect.replace("changed", "↕"))
    };
    let all: BTreeSet<String> = row.instructions.iter().map(one).collect();
    if all.len() == 1 { all.into_iter().collect() } else { "*".to_owned() }
}

#[test]
fn flags_of_every_instruction() {
    for (isa, written) in machines() {
        let sheet = Sheet::new(&isa, &written);
        let page = lathe_doc::html(&sheet);
        for (section, row) in sections(&page).iter().zip(&sheet.rows) {
            let Some((_, flags)) = section.split_once("<table class=\"flags\">") else {
                assert!(row.instructions.iter().all(|one| one.flags.is_empty()), "{} {}", isa.name, row.syntax);
                continue;
            };
            let flags = flags.split("</table>").next().unwrap_or("");
            let cells = |tag: &str| -> Vec<String> {
                flags.split(tag).skip(1).map(|rest| text(rest.split("</t").next().unwrap_or(""))).collect()
            };
            let told: Vec<(String, String)> = cells("<th>").into_iter().zip(cells("<td>")).collect();
            let expected: Vec<(String, String)> =
                sheet.flags().map(|flag| (flag.to_owned(), effect(row, flag))).collect();
            assert_eq!(told, expected, "{} {}", isa.name, row.syntax);
        }
    }
}

#[test]
fn links_lead_to_the_row() {
    for (isa, written) in machines() {
        let sheet = Sheet::new(&isa, &written);
        let page = lathe_doc::html(&sheet);
        let part = |start: &str, end: &str| {
            page.split_once(start).and_then(|(_, rest)| rest.split(end).next()).expect("it is there")
        };
        let names: BTreeSet<(String, String)> = isa
            .instructions
            .iter()
            .flat_map(|one| one.look().0.heads.iter().map(move |head| (one.row, head)))
            .filter_map(|(row, head)| match head {
                Head::Word(word) => Some((format!("row-{row}"), word.clone())),
                _ => None,
            })
            .collect();
        let index: BTreeSet<(String, String)> = links(part("<div class=\"index\">", "</div>")).into_iter().collect();
        assert!(names.is_subset(&index), "{}: {:?}", isa.name, names.difference(&index).collect::<Vec<_>>());
        let map = part("<table class=\"map\">", "</table>");
        let firsts = coverage(&isa).slots.into_iter().filter_map(|slot| slot.instructions.first().copied());
        let firsts: Vec<String> = firsts.map(|id| format!("row-{}", isa.instruction(id).row)).collect();
        assert_eq!(links(map).into_iter().map(|(row, _)| row).collect::<Vec<_>>(), firsts, "{}", isa.name);
        let all: BTreeSet<(String, String, String)> = sheet
            .rows
            .iter()
            .flat_map(|row| row.instructions.iter().map(|one| (one.bits.clone(), row.id.clone(), one.syntax.clone())))
            .collect();
        let opcodes = part("<table class=\"opcodes\">", "</table>");
        let bits = table(&page, "opcodes").into_iter().map(|row| row[0].clone());
        let told = bits.zip(links(opcodes)).map(|(bits, (row, syntax))| (bits, row, syntax)).collect();
        assert_eq!(all, told, "{}", isa.name);
    }
}

#[test]
fn meanings_members_and_examples() {
    for (isa, written) in machines() {
        let sheet = Sheet::new(&isa, &written);
        let page = lathe_doc::html(&sheet);
        let whole = squeezed(&written.whole());
        let summary = table(&page, "summary");
        for ((row, line), section) in sheet.rows.iter().zip(&summary).zip(sections(&page)) {
            let number: u32 = row.id.trim_start_matches("row-").parse().expect("a number");
            let all: Vec<_> = isa.instructions.iter().filter(|one| one.row == number).collect();
            let source = squeezed(written.at(all[0].span));
            let meaning =
                text(section.split_once("<pre>").map_or("", |(_, rest)| rest.split("</pre>").next().unwrap_or("")));
            assert!(source.contains(&squeezed(&meaning)), "{} {}: {meaning}", isa.name, row.syntax);
            assert_eq!(line.last(), Some(&meaning), "{} {}", isa.name, row.syntax);
            for one in &row.instructions {
                let told: Vec<&str> = one.members.iter().filter_map(|member| member.split(" = ").next()).collect();
                let is_it = |known: &&&lathe_isa::model::Instruction| {
                    let chosen =
                        known.chosen.iter().map(|one| isa.families[one.family].members[one.member].name.as_str());
                    chosen.eq(told.iter().copied())
                };
                assert!(
                    told.is_empty() || all.iter().any(|known| is_it(&known)),
                    "{} {}: {told:?}",
                    isa.name,
                    one.syntax
                );
            }
        }
        for example in &sheet.examples {
            let facts = squeezed(&format!("{}->{}", example.before, example.after));
            let facts = if example.before.is_empty() { facts.trim_start_matches("->").to_owned() } else { facts };
            assert!(whole.contains(&facts), "{} {}: {facts}", isa.name, example.source);
        }
        let mut pseudos: Vec<_> = isa.pseudos.iter().collect();
        pseudos.dedup_by_key(|pseudo| pseudo.span);
        let told = table(&page, "pseudos");
        assert_eq!(told.len(), pseudos.len(), "{}", isa.name);
        for (row, pseudo) in told.iter().zip(pseudos) {
            assert_eq!(row[1].split("; ").count(), pseudo.expansion.len(), "{} {row:?}", isa.name);
            assert!(whole.contains(&squeezed(&row[1])), "{} {row:?}", isa.name);
        }
    }
}
