//! The datasheet as one self-contained HTML file: no scripts, no fonts, no requests.

use crate::diagram;
use crate::grouped;
use crate::markup::{code, escape, paragraphs, prose, table, table_with_prose};
use crate::sheet::{ExampleData, FieldData, InstructionData, RegisterData, RowData, Sheet};

/// How many characters of the index by opcode fit in half the width of a printed page.
const HALF_PAGE: usize = 52;
const STYLE: &str = include_str!("style.css");

/// Returns the page of a machine.
pub fn html(sheet: &Sheet) -> String {
    let sections = sections(sheet);
    let contents: String =
        sections.iter().map(|(id, title, _)| format!("<a href=\"#{id}\">{}</a>\n", escape(title))).collect();
    let body: String =
        sections.iter().map(|(id, title, body)| format!("<h2 id=\"{id}\">{}</h2>\n{body}", escape(title))).collect();
    page(
        &format!("{}: {}", sheet.name, sheet.title),
        STYLE,
        &format!(
            "<main>\n{}<nav class=\"contents\">\n{contents}</nav>\n{body}{}</main>\n",
            header(sheet),
            footer(sheet)
        ),
    )
}

/// Returns a whole HTML document.
pub(crate) fn page(title: &str, style: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n<style>\n{style}</style>\n</head>\n\
         <body>\n{body}</body>\n</html>\n",
        escape(title)
    )
}

fn sections(sheet: &Sheet) -> Vec<(&'static str, &'static str, String)> {
    let all = [
        ("registers", "Registers", registers(sheet)),
        ("memories", "Memory", memories(sheet)),
        ("devices", "Devices", devices(sheet)),
        ("reset", "Reset, traps and interrupts", reset(sheet)),
        ("operands", "Operands", operands(sheet)),
        ("encoding", "Encoding", encoding(sheet)),
        ("summary", "Instruction summary", summary(sheet)),
        ("instructions", "Instructions", instructions(sheet)),
        ("functions", "Functions used in meanings", functions(sheet)),
        ("pseudos", "Pseudo-instructions", pseudos(sheet)),
        ("assembly", "Assembly habits", habits(sheet)),
        ("index", "Index by mnemonic", index(sheet)),
        ("opcodes", "Index by opcode", opcodes(sheet)),
    ];
    all.into_iter().filter(|(_, _, body)| !body.is_empty()).collect()
}

fn header(sheet: &Sheet) -> String {
    let paragraphs = paragraphs(&sheet.documentation);
    let code_memory = sheet.memories.iter().find(|memory| memory.code);
    let lengths: Vec<u32> =
        sheet.rows.iter().flat_map(|row| row.instructions.iter().flat_map(|one| [one.cells, one.longest])).collect();
    let (shortest, longest) = (lengths.iter().min().copied().unwrap_or(0), lengths.iter().max().copied().unwrap_or(0));
    let length = if shortest == longest { shortest.to_string() } else { format!("{shortest}–{longest}") };
    let flags = sheet.flags().count();
    let registers = sheet.registers.iter().filter(|register| !register.flag).count();
    let rows = match sheet.rows.len() {
        rows if rows == sheet.instruction_count() => "instructions".to_owned(),
        rows => format!("instructions, from {rows} rows"),
    };
    let cells = if length == "1" { "cell" } else { "cells" };
    let mut facts = vec![
        (sheet.instruction_count().to_string(), rows),
        (length, format!("{cells} an instruction, of {} bits each", code_memory.map_or(0, |memory| memory.cell_bits))),
        (registers.to_string(), "registers".to_owned()),
        (size(code_memory.map_or(0, |memory| memory.cells)), "cells of code memory".to_owned()),
    ];
    if flags > 0 {
        facts.insert(3, (flags.to_string(), if flags == 1 { "flag" } else { "flags" }.to_owned()));
    }
    if let Some(share) = sheet.coverage.share {
        facts.push((percent(share), "of encodings defined".to_owned()));
    }
    let facts: String =
        facts.iter().map(|(number, what)| format!("<div><b>{number}</b><span>{what}</span></div>")).collect();
    format!(
        "<header>\n<h1>{}</h1>\n<p class=\"title\">{}</p>\n{paragraphs}<div class=\"facts\">{facts}</div>\n</header>\n",
        escape(&sheet.name),
        escape(&sheet.title)
    )
}

pub(crate) fn percent(share: f64) -> String {
    let text = format!("{:.1}", share * 100.0);
    format!("{}\u{202F}%", text.trim_end_matches(".0"))
}

/// Returns `2`, or `2–6` if the length depends on modes.
pub(crate) fn length(instruction: &InstructionData) -> String {
    match (instruction.cells, instruction.longest) {
        (shortest, longest) if shortest == longest => shortest.to_string(),
        (shortest, longest) => format!("{shortest}–{longest}"),
    }
}

pub(crate) fn size(cells: u128) -> String {
    let units = [(60, "Ei"), (50, "Pi"), (40, "Ti"), (30, "Gi"), (20, "Mi"), (10, "Ki")];
    let unit = units.into_iter().find(|(bits, _)| cells >= 1 << bits && cells.is_multiple_of(1 << bits));
    unit.map_or_else(|| cells.to_string(), |(bits, name)| format!("{} {name}", cells >> bits))
}

fn registers(sheet: &Sheet) -> String {
    let pc = &sheet.pc;
    let mut rows = vec![vec![
        code(&pc.name),
        pc.bits.to_string(),
        code(&sheet.number(pc.reset, pc.bits)),
        joined(&format!("program counter, in {}", code(&pc.memory)), &pc.documentation),
    ]];
    // Registers that differ only in their names share a line; if they share their prose, their values at reset may
    // differ too.
    let nameless = |one: &RegisterData| RegisterData {
        name: String::new(),
        spellings: Vec::new(),
        reset: if one.documentation.is_empty() { one.reset } else { 0 },
        ..one.clone()
    };
    let alike = |one: &RegisterData, next: &RegisterData| nameless(one) == nameless(next);
    rows.extend(sheet.registers.chunk_by(alike).map(|registers| {
        let register = &registers[0];
        let note = match () {
            () if register.constant => "constant: writes have no effect",
            () if register.mode => "mode: decides about encodings",
            () if register.flag => "flag",
            () => "",
        };
        let mut resets: Vec<String> = registers.iter().map(|one| code(&sheet.number(one.reset, one.bits))).collect();
        if registers.iter().all(|one| one.reset == register.reset) {
            resets.truncate(1);
        }
        vec![
            registers.iter().map(|one| code(&all_names(&one.name, &one.spellings))).collect::<Vec<_>>().join(" "),
            register.bits.to_string(),
            resets.join(" "),
            joined(note, &register.documentation),
        ]
    }));
    let mut text = table("registers", &["name", "bits", "at reset", ""], &rows);
    if !sheet.views.is_empty() {
        let rows: Vec<_> = sheet
            .views
            .iter()
            .map(|view| {
                let note = if view.clearing { "writing it clears the other bits" } else { "" };
                vec![code(&view.name), view.bits.to_string(), code(&view.value), joined(note, &view.documentation)]
            })
            .collect();
        text +=
            "<h3>Views</h3>\n<p class=\"note\">Names for parts of registers, read and written like registers.</p>\n";
        text += &table("views", &["name", "bits", "is", ""], &rows);
    }
    text
}

/// Joins a name and its other spellings as definitions write them: `x10/a0`.
pub(crate) fn all_names(name: &str, spellings: &[String]) -> String {
    std::iter::once(name).chain(spellings.iter().map(String::as_str)).collect::<Vec<_>>().join("/")
}

/// Joins a note and the prose after it.
fn joined(note: &str, documentation: &str) -> String {
    match (note, documentation) {
        (note, "") => note.to_owned(),
        ("", documentation) => prose(documentation),
        (note, documentation) => format!("{note}; {}", prose(documentation)),
    }
}

fn memories(sheet: &Sheet) -> String {
    let rows: Vec<_> = sheet
        .memories
        .iter()
        .map(|memory| {
            let last = sheet.number((memory.cells - 1) as u64, memory.address_bits);
            let range = format!("<code>{}</code> to <code>{last}</code>", sheet.number(0, memory.address_bits));
            let order = if memory.order == "little" { "low cell first" } else { "high cell first" };
            let holds = joined(if memory.code { "code" } else { "" }, &memory.documentation);
            vec![
                code(&memory.name),
                memory.cells.to_string(),
                memory.cell_bits.to_string(),
                range,
                order.to_owned(),
                holds,
            ]
        })
        .collect();
    let mut text = table("memories", &["name", "cells", "bits of a cell", "addresses", "wider values", "holds"], &rows);
    if !sheet.maps.is_empty() {
        let maps = grouped::maps(sheet);
        let rows: Vec<_> = maps
            .iter()
            .map(|map| {
                let bits = sheet.address_bits(&map.memory);
                let last = if map.last == map.first {
                    String::new()
                } else {
                    format!(" to {}", code(&sheet.number(map.last, bits)))
                };
                let shown = |text: &str, empty: &str| {
                    if text.is_empty() { format!("<span class=\"note\">{empty}</span>") } else { code(text) }
                };
                vec![
                    code(&map.memory),
                    code(&sheet.number(map.first, bits)) + &last,
                    shown(&map.read, "gives 0") + if map.code { " <span class=\"note\">code, too</span>" } else { "" },
                    shown(&map.write, "does nothing"),
                ]
            })
            .collect();
        text += &format!("<h3>Memory map</h3>\n{}", paragraphs(&sheet.blocks.maps));
        let about = maps.iter().map(|map| &map.documentation);
        text += &table_with_prose("maps", &["memory", "address", "a read gives", "a write does"], rows, about);
    }
    if !sheet.contents.is_empty() {
        let rows: Vec<_> = sheet
            .contents
            .iter()
            .map(|contents| {
                let memory = sheet.memories.iter().find(|memory| memory.name == contents.memory);
                let (address, cell) = memory.map_or((16, 8), |memory| (memory.address_bits, memory.cell_bits));
                let cells: Vec<String> = contents.cells.iter().map(|value| sheet.digits(*value, cell)).collect();
                vec![
                    code(&contents.memory),
                    code(&sheet.number(contents.address, address)),
                    contents.cells.len().to_string(),
                    code(&cells.join(" ")),
                ]
            })
            .collect();
        text += "<h3>Contents at reset</h3>\n<p class=\"note\">All other cells are 0.</p>\n";
        let about = sheet.contents.iter().map(|contents| &contents.documentation);
        text += &table_with_prose("contents", &["memory", "from", "cells", ""], rows, about);
    }
    text
}

fn devices(sheet: &Sheet) -> String {
    if sheet.devices.is_empty() {
        return String::new();
    }
    let rows: Vec<_> = sheet
        .devices
        .iter()
        .map(|device| {
            let operations: Vec<String> = device
                .operations
                .iter()
                .map(|operation| {
                    let arguments: Vec<String> = operation.arguments.iter().map(|bits| format!("u{bits}")).collect();
                    let result = operation.result.map_or(String::new(), |bits| format!(" -> u{bits}"));
                    code(&format!("{}({}){result}", operation.name, arguments.join(", ")))
                })
                .collect();
            vec![code(&device.name), code(&device.kind), operations.join(" "), prose(&device.documentation)]
        })
        .collect();
    table("devices", &["name", "kind", "operations", ""], &rows)
}

fn reset(sheet: &Sheet) -> String {
    let start = code(&sheet.number(sheet.pc.reset, sheet.pc.bits));
    let has_reset = sheet.hooks.iter().any(|hook| hook.contains("on reset"));
    let or_where = if has_reset { ", or where <code>on reset</code> says" } else { "" };
    let mut text = format!(
        "<p>Execution begins at {start} in {}{or_where}. Registers have the values of the table above; memory is 0 where nothing else is said.</p>\n",
        code(&sheet.pc.memory)
    );
    if !sheet.traps.is_empty() {
        let rows: Vec<_> = sheet.traps.iter().map(|trap| vec![code(&trap.name), trap.value.to_string()]).collect();
        let about = sheet.traps.iter().map(|trap| &trap.documentation);
        text += &table_with_prose("traps", &["trap", "number"], rows, about);
    }
    let is_full = sheet.coverage.share.is_some_and(|share| share >= 1.0);
    if !is_full && !sheet.hooks.iter().any(|hook| hook.contains("illegal")) {
        text += "<p>An encoding that no instruction has stops the machine with a fault.</p>\n";
    }
    for hook in &sheet.hooks {
        text += &format!("<pre>{}</pre>\n", escape(hook));
    }
    text
}

fn operands(sheet: &Sheet) -> String {
    let alike = |one: &FieldData, next: &FieldData| FieldData { name: next.name.clone(), ..one.clone() } == *next;
    let mut rows: Vec<_> = sheet
        .fields
        .chunk_by(alike)
        .map(|fields| {
            let field = &fields[0];
            let names: Vec<String> = fields.iter().map(|field| code(&field.name)).collect();
            let values: Vec<String> = grouped::names_and_codes(&field.values)
                .into_iter()
                .map(|(name, value)| format!("<code>{}</code>\u{00A0}{value}", escape(&name)))
                .collect();
            let bits = if field.bits == field.stored_bits {
                field.bits.to_string()
            } else {
                format!("{}, {} stored", field.bits, field.stored_bits)
            };
            let is = joined(&prose(&field.description), &field.documentation);
            vec![names.join(" "), bits, is, values.join(", ")]
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    let mut heads = vec!["name", "bits", "is", "names and codes"];
    if rows.iter().all(|row| row[3].is_empty()) {
        rows.iter_mut().for_each(|row| drop(row.pop()));
        heads.pop();
    }
    let mut text = table("fields", &heads, &rows);
    for operand in grouped::shared_modes(sheet) {
        let included = operand
            .includes
            .iter()
            .map(|name| vec![format!("all modes of {}", code(name)), String::new(), String::new()]);
        let own = operand.modes.iter().map(|mode| {
            vec![code(&mode.syntax), code(&mode.encoding()), joined(&code(&mode.meaning), &mode.documentation)]
        });
        let rows: Vec<_> = included.chain(own).collect();
        let names: Vec<String> = operand.names.iter().map(|name| code(name)).collect();
        text += &format!("<h3>Modes of {}</h3>\n{}", names.join(", "), paragraphs(operand.documentation));
        text += &table("modes", &["written", "bits", "is"], &rows);
    }
    if !sheet.prefixes.is_empty() {
        let rows: Vec<_> = sheet
            .prefixes
            .iter()
            .map(|prefix| {
                let changes: Vec<String> = prefix.changes.iter().map(|change| code(change)).collect();
                vec![code(&prefix.name), code(&prefix.picture), changes.join(" "), prose(&prefix.documentation)]
            })
            .collect();
        text += "<h3>Prefixes</h3>\n<p class=\"note\">Cells before an instruction that change which registers it works with.</p>\n";
        text += &table("prefixes", &["name", "bits", "after it", ""], &rows);
    }
    text
}

fn encoding(sheet: &Sheet) -> String {
    let coverage = &sheet.coverage;
    let low = coverage.bits.min(4);
    let columns = 1usize << low;
    // Four bits are not an octal digit.
    let digits = |number: usize| if sheet.octal_numbers { format!("{number:04b}") } else { format!("{number:X}") };
    let heads: String = (0..columns).map(|column| format!("<th>_{}</th>", digits(column))).collect();
    let mut rows = String::new();
    for (number, slots) in coverage.slots.chunks(columns).enumerate() {
        rows += &format!("<tr><th>{}_</th>", digits(number));
        for slot in slots {
            let more =
                if slot.mnemonics.len() > 1 { format!("<br>+{}", slot.mnemonics.len() - 1) } else { String::new() };
            let name = slot.mnemonics.first().map_or("", String::as_str);
            let link = slot.rows.first().and_then(|row| sheet.rows.get(*row)).map_or(String::new(), |row| {
                format!(
                    "<a href=\"#{}\" title=\"{}\">{}</a>{more}",
                    row.id,
                    escape(&slot.mnemonics.join(", ")),
                    escape(name)
                )
            });
            rows += &format!("<td class=\"{}\">{link}</td>", slot.filling);
        }
        rows += "</tr>\n";
    }
    let cell = sheet.memories.iter().find(|memory| memory.code).map_or(8, |memory| memory.cell_bits);
    let what =
        if cell == coverage.bits { "the first cell".to_owned() } else { format!("the first {} bits", coverage.bits) };
    let share =
        coverage.share.map_or(String::new(), |share| format!(" {} of all encodings are defined.", percent(share)));
    format!(
        "<h3>Opcode map</h3>\n<p class=\"note\">By {what}. Striped: what follows decides whether it is an instruction. \
         +1: one more instruction begins so.{share}</p>\n\
         <div class=\"scroll\"><table class=\"map\">\n<thead><tr><th></th>{heads}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n"
    )
}

fn cycles(instruction: &InstructionData) -> Option<String> {
    let (least, most) = instruction.cycles?;
    Some(if least == most { least.to_string() } else { format!("{least}–{most}") })
}

pub(crate) fn row_cycles(row: &RowData) -> Option<String> {
    let all: Vec<(u64, u64)> = row.instructions.iter().filter_map(|one| one.cycles).collect();
    let (least, most) = (all.iter().map(|one| one.0).min()?, all.iter().map(|one| one.1).max()?);
    Some(if least == most { least.to_string() } else { format!("{least}–{most}") })
}

/// Returns code that does not wrap if it has at most `longest` characters.
fn in_one_line(text: &str, longest: usize) -> String {
    if text.chars().count() > longest { code(text) } else { format!("<code class=\"line\">{}</code>", escape(text)) }
}

fn summary(sheet: &Sheet) -> String {
    let mut heads = vec!["instruction", "encoding", "cells"];
    if sheet.has_cycles {
        heads.push("cycles");
    }
    heads.push("meaning");
    let rows: Vec<_> = sheet
        .rows
        .iter()
        .map(|row| {
            let mut cells = vec![
                format!("<a href=\"#{}\">{}</a>", row.id, in_one_line(&row.syntax, 16)),
                in_one_line(&row.encoding(), 24),
                length(&row.instructions[0]),
            ];
            if sheet.has_cycles {
                cells.push(row_cycles(row).unwrap_or_default());
            }
            cells.push(code(&row.meaning));
            cells
        })
        .collect();
    table("summary", &heads, &rows)
}

fn instructions(sheet: &Sheet) -> String {
    let rows = sheet.rows.iter().enumerate();
    rows.map(|(number, row)| heading(row) + &instruction(sheet, row, number)).collect()
}

/// Returns the heading above a row, if it begins a group with one.
fn heading(row: &RowData) -> String {
    let (title, rest) = row.heading.split_once('\n').unwrap_or((&row.heading, ""));
    match (title, rest.trim()) {
        ("", _) => String::new(),
        (title, "") => format!("<h2 class=\"group\">{}</h2>\n", prose(title)),
        (title, rest) => format!("<h2 class=\"group\">{}</h2>\n<p>{}</p>\n", prose(title), prose(rest)),
    }
}

fn instruction(sheet: &Sheet, row: &RowData, number: usize) -> String {
    let first = &row.instructions[0];
    let cells = if first.longest == 1 { "1 cell".to_owned() } else { format!("{} cells", length(first)) };
    let mut tags = vec![cells];
    if let Some(cycles) = row_cycles(row) {
        tags.push(if cycles == "1" { "1 cycle".to_owned() } else { format!("{cycles} cycles") });
    }
    if row.instructions.len() > 1 {
        tags.push(format!("{} instructions", row.instructions.len()));
    }
    let tags: String = tags.iter().map(|tag| format!("<span class=\"tag\">{tag}</span>")).collect();
    let mut text = format!(
        "<section class=\"instruction\" id=\"{}\">\n<div class=\"head\">\n<h3><code>{}</code>{tags}</h3>\n",
        row.id,
        escape(&row.syntax)
    );
    if !row.documentation.is_empty() {
        text += &format!("<p>{}</p>\n", prose(&row.documentation));
    }
    text += &diagram::svg(&row.parts, row.word_bits, &row.bits);
    if !row.meaning.is_empty() {
        text += &format!("<pre>{}</pre>\n", escape(&row.meaning));
    }
    text += &details(sheet, row);
    text += "</div>\n";
    if row.instructions.len() > 1 {
        text += &members(row, sheet.has_cycles);
    }
    text += &examples(sheet, number);
    text + "</section>\n"
}

fn details(sheet: &Sheet, row: &RowData) -> String {
    let mut items: Vec<(&str, String)> = Vec::new();
    let operands: Vec<String> = row
        .operands
        .iter()
        .filter_map(|name| {
            if let Some(operand) = sheet.modes.iter().find(|operand| operand.name == *name) {
                let modes: Vec<String> = operand.modes.iter().map(|mode| code(&mode.syntax)).collect();
                return Some(format!("<div>{} {}</div>", code(name), modes.join(", ")));
            }
            let field = sheet.fields.iter().find(|field| field.name == *name)?;
            let names: Vec<&str> = field.values.iter().map(|value| value.name.as_str()).collect();
            let what = match names.as_slice() {
                [first, .., last] if names.len() > 8 => {
                    format!("{}, {} to {}", prose(&field.description), code(first), code(last))
                }
                [] => prose(&field.description),
                _ => format!(
                    "{}: {}",
                    prose(&field.description),
                    names.iter().map(|name| code(name)).collect::<Vec<_>>().join(", ")
                ),
            };
            Some(format!("<div>{} {what}</div>", code(name)))
        })
        .collect();
    if !operands.is_empty() {
        items.push(("Operands", operands.concat()));
    }
    if !row.condition.is_empty() {
        items.push(("Only", code(&row.condition)));
    }
    let spellings: Vec<String> =
        row.instructions.iter().flat_map(|one| &one.spellings).map(|name| code(name)).collect();
    if !spellings.is_empty() {
        items.push(("Also written", spellings.join(", ")));
    }
    if row.instructions.iter().any(|one| !one.flags.is_empty()) {
        items.push(("Flags", flags(sheet, row)));
    }
    let mut effects: Vec<&String> = row.instructions.iter().flat_map(|one| &one.effects).collect();
    effects.dedup();
    let mut seen: Vec<&String> = Vec::new();
    effects.retain(|effect| {
        !seen.contains(effect) && {
            seen.push(effect);
            true
        }
    });
    if !effects.is_empty() {
        items.push(("Effects", effects.iter().map(|effect| prose(effect)).collect::<Vec<_>>().join("; ")));
    }
    if items.is_empty() {
        return String::new();
    }
    let items: String = items.iter().map(|(what, text)| format!("<dt>{what}</dt><dd>{text}</dd>\n")).collect();
    format!("<dl>\n{items}</dl>\n")
}

/// Returns what a row does to each flag: the same for all of its instructions, or `*` if they differ.
pub(crate) fn flag_effects(sheet: &Sheet, row: &RowData) -> Vec<(String, &'static str)> {
    sheet
        .flags()
        .map(|name| {
            let effect = |one: &InstructionData| {
                let found = one.flags.iter().find(|flag| flag.name == name);
                found.map_or("–", |flag| match flag.effect.as_str() {
                    "0" => "0",
                    "1" => "1",
                    _ => "↕",
                })
            };
            let first = effect(&row.instructions[0]);
            let same = row.instructions.iter().all(|one| effect(one) == first);
            (name.to_owned(), if same { first } else { "*" })
        })
        .collect()
}

fn flags(sheet: &Sheet, row: &RowData) -> String {
    let effects = flag_effects(sheet, row);
    let heads: String = effects.iter().map(|(name, _)| format!("<th>{}</th>", escape(name))).collect();
    let cells: String = effects.iter().map(|(_, effect)| format!("<td>{effect}</td>")).collect();
    format!("<table class=\"flags\"><tr>{heads}</tr><tr>{cells}</tr></table>")
}

fn members(row: &RowData, has_cycles: bool) -> String {
    let mut heads = vec!["instruction", "bits"];
    if has_cycles {
        heads.push("cycles");
    }
    // If only prefixes tell the instructions apart, there are no members.
    let has_members = row.instructions.iter().any(|one| !one.members.is_empty());
    if has_members {
        heads.push("member");
    }
    let rows: Vec<_> = row
        .instructions
        .iter()
        .map(|one| {
            let mut cells = vec![escape(&one.syntax), escape(&one.bits)];
            if has_cycles {
                cells.push(cycles(one).unwrap_or_default());
            }
            if has_members {
                cells.push(escape(&one.members.join("; ")));
            }
            cells
        })
        .collect();
    table("members", &heads, &rows)
}

fn examples(sheet: &Sheet, number: usize) -> String {
    let examples = sheet.examples.iter().filter(|example| example.row == number);
    let rows: Vec<_> = examples.clone().map(|example| example_row(sheet, example)).collect();
    if rows.is_empty() {
        return String::new();
    }
    let about = examples.map(|example| &example.documentation);
    table_with_prose("examples", &["example", "cells", "before", "after", "executed"], rows, about)
}

fn example_row(sheet: &Sheet, example: &ExampleData) -> Vec<String> {
    let bits = sheet.memories.iter().find(|memory| memory.code).map_or(8, |memory| memory.cell_bits);
    let cells: Vec<String> = example.cells.iter().map(|cell| sheet.digits(*cell, bits)).collect();
    let passed = if example.passed {
        "<span class=\"ok\">as written</span>"
    } else {
        "<span class=\"failed\">not as written</span>"
    };
    vec![escape(&example.source), cells.join(" "), escape(&example.before), escape(&example.after), passed.to_owned()]
}

fn functions(sheet: &Sheet) -> String {
    if sheet.functions.is_empty() {
        return String::new();
    }
    format!("<pre class=\"functions\">{}</pre>\n", escape(&sheet.functions.join("\n")))
}

fn pseudos(sheet: &Sheet) -> String {
    let rows: Vec<_> =
        sheet.pseudos.iter().map(|pseudo| vec![code(&pseudo.syntax), code(&pseudo.expansion.join("; "))]).collect();
    if rows.is_empty() {
        return String::new();
    }
    let about = sheet.pseudos.iter().map(|pseudo| &pseudo.documentation);
    paragraphs(&sheet.blocks.pseudos) + &table_with_prose("pseudos", &["written", "stands for"], rows, about)
}

fn habits(sheet: &Sheet) -> String {
    let rows: Vec<_> = sheet.habits.iter().map(|habit| vec![code(&habit.written), prose(&habit.meaning)]).collect();
    if rows.is_empty() {
        return String::new();
    }
    let about = sheet.habits.iter().map(|habit| &habit.documentation);
    paragraphs(&sheet.blocks.assembly) + &table_with_prose("habits", &["written", "means"], rows, about)
}

fn index(sheet: &Sheet) -> String {
    let mut names: Vec<(String, &str)> = Vec::new();
    for row in &sheet.rows {
        for one in &row.instructions {
            for name in std::iter::once(&one.mnemonic).chain(&one.spellings) {
                if !names.iter().any(|(known, id)| known == name && *id == row.id) {
                    names.push((name.clone(), &row.id));
                }
            }
        }
    }
    names.sort_by_key(|(name, _)| name.to_lowercase());
    let links: String = names.iter().map(|(name, id)| format!("<a href=\"#{id}\">{}</a>\n", escape(name))).collect();
    format!("<div class=\"index\">\n{links}</div>\n")
}

fn opcodes(sheet: &Sheet) -> String {
    let mut all: Vec<(&str, &str, &str)> = sheet
        .rows
        .iter()
        .flat_map(|row| row.instructions.iter().map(|one| (one.bits.as_str(), one.syntax.as_str(), row.id.as_str())))
        .collect();
    // Operand bits come after both digits, as in a decoder's table.
    all.sort_by_key(|(bits, ..)| {
        bits.chars()
            .map(|c| match c {
                '0' => 0u8,
                '1' => 1,
                '-' => 2,
                _ => 3,
            })
            .collect::<Vec<_>>()
    });
    let rows: Vec<_> = all
        .iter()
        .map(|(bits, syntax, id)| vec![code(bits), format!("<a href=\"#{id}\">{}</a>", code(syntax))])
        .collect();
    let longest = all.iter().map(|(bits, syntax, _)| bits.len() + syntax.chars().count()).max().unwrap_or(0);
    let class = if longest <= HALF_PAGE { "half" } else { "whole" };
    format!("<div class=\"{class}\">\n{}</div>\n", table("opcodes", &["bits", "instruction"], &rows))
}

fn footer(sheet: &Sheet) -> String {
    let passed = sheet.examples.iter().filter(|example| example.passed).count();
    let examples = if sheet.examples.is_empty() {
        String::new()
    } else {
        format!(" {passed} of {} examples came out as written when they were executed.", sheet.examples.len())
    };
    let about = paragraphs(&sheet.blocks.examples);
    format!("<footer>{about}<p>Made by Lathe from the definition of {}.{examples}</p></footer>\n", escape(&sheet.name))
}
