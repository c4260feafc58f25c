//! Text as HTML: everything is escaped, and code in prose is marked up.

/// Escapes the characters that have a meaning in HTML.
pub(crate) fn escape(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => result.push_str("&amp;"),
            '<' => result.push_str("&lt;"),
            '>' => result.push_str("&gt;"),
            '"' => result.push_str("&quot;"),
            '\'' => result.push_str("&#39;"),
            _ => result.push(c),
        }
    }
    result
}

/// Marks up a line of prose: text between backticks is code.
pub(crate) fn prose(text: &str) -> String {
    let mut result = String::new();
    for (at, part) in text.split('`').enumerate() {
        let part = escape(part);
        result += &if at % 2 == 1 { format!("<code>{part}</code>") } else { part };
    }
    result
}

/// Marks up code.
pub(crate) fn code(text: &str) -> String {
    format!("<code>{}</code>", escape(text))
}

/// Returns a table; the cells are already markup.
pub(crate) fn table(class: &str, heads: &[&str], rows: &[Vec<String>]) -> String {
    let head: String = heads.iter().map(|head| format!("<th>{head}</th>")).collect();
    let row = |cells: &Vec<String>| {
        let cells: String = cells.iter().map(|cell| format!("<td>{cell}</td>")).collect();
        format!("<tr>{cells}</tr>\n")
    };
    let body: String = rows.iter().map(row).collect();
    format!("<table class=\"{class}\">\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n")
}

/// Returns a table with prose about its rows in a last column, if there is any.
pub(crate) fn table_with_prose<'p>(
    class: &str,
    heads: &[&str],
    mut rows: Vec<Vec<String>>,
    documentation: impl Iterator<Item = &'p String> + Clone,
) -> String {
    if documentation.clone().all(String::is_empty) {
        return table(class, heads, &rows);
    }
    rows.iter_mut().zip(documentation).for_each(|(row, text)| row.push(prose(text)));
    table(class, &[heads, &[""]].concat(), &rows)
}

/// Marks up prose in paragraphs.
pub(crate) fn paragraphs(text: &str) -> String {
    let paragraphs = text.split("\n\n").filter(|text| !text.is_empty());
    paragraphs.map(|text| format!("<p>{}</p>\n", prose(text))).collect()
}

#[cfg(test)]
mod tests {
    use super::prose;

    #[test]
    fn everything_is_escaped() {
        assert_eq!(prose("a < `b & \"c\"`"), "a &lt; <code>b &amp; &quot;c&quot;</code>");
    }
}
