//! TextMate grammars for editors that colour a text before the server answers. They are made from the word lists that
//! completion uses; `editors/vscode/syntaxes` holds them, and a test keeps them up to date.

use lathe_asm::words::DIRECTIVES;
use lathe_edit::assembly::FUNCTIONS;
use lathe_edit::definition::{ITEMS, KEYWORDS};
use serde_json::{Value, json};

/// Returns the grammar of definitions.
pub fn definition_grammar() -> String {
    let items: Vec<&str> = ITEMS.iter().map(|(word, _)| *word).collect();
    let patterns = json!([
        rule("comment.line.documentation.isa", "##.*$"),
        // In a syntax column, `#N` is not a comment.
        rule("comment.line.number-sign.isa", "(?:^\\s*|(?<=\\s))#(?=\\s|$|#).*$|^\\s*#.*$"),
        rule("string.quoted.double.isa", "\"[^\"\\n]*\"?"),
        rule("keyword.declaration.isa", &format!("^\\s*(?:{})\\b", items.join("|"))),
        rule("keyword.control.isa", &format!("\\b(?:{})\\b", KEYWORDS.join("|"))),
        rule("storage.type.isa", "\\b[us](?:[0-9]+|[A-Z])\\b"),
        rule("constant.numeric.isa", "\\b(?:0[xX][0-9A-Fa-f_]+|0[bB][01_]+|0[oO][0-7_]+|[0-9][0-9_]*)\\b"),
        rule("variable.parameter.isa", "\\b[A-Z][A-Z0-9_]*\\b"),
        rule("entity.name.function.isa", "\\b[a-z_][A-Za-z0-9_]*(?=\\()"),
        rule("keyword.operator.isa", "->|=>|\\+\\+|<<|>>|[=!<>]=|&&|\\|\\||[=<>+*/%&|^~!?-]"),
    ]);
    document("Lathe definition", "source.isa", &patterns)
}

/// Returns the grammar of programs. It knows no machine, so the first word of a statement is a mnemonic.
pub fn assembly_grammar() -> String {
    let directives: Vec<String> = DIRECTIVES.iter().map(|one| one.name.replace('.', "\\.")).collect();
    let functions = FUNCTIONS.map(|(name, _)| name);
    let patterns = json!([
        rule("comment.line.semicolon.lathe-asm", ";.*$"),
        rule("comment.line.double-slash.lathe-asm", "//.*$"),
        json!({ "name": "comment.block.lathe-asm", "begin": "/\\*", "end": "\\*/" }),
        rule("comment.line.number-sign.lathe-asm", "^\\s*#.*$|(?<=\\s)#\\s.*$"),
        rule("string.quoted.double.lathe-asm", "\"(?:\\\\.|[^\"\\\\\\n])*\"?"),
        rule("string.quoted.single.lathe-asm", "'(?:\\\\x[0-9A-Fa-f]{2}|\\\\.|[^'\\\\\\n])'"),
        rule("keyword.control.directive.lathe-asm", &format!("(?i)(?<![\\w.])(?:{})\\b", directives.join("|"))),
        rule("entity.name.label.lathe-asm", "^\\s*[.A-Za-z_][\\w.]*:"),
        rule("variable.other.constant.lathe-asm", "^\\s*[A-Za-z_]\\w*(?=\\s*=(?!=))"),
        rule(
            "constant.numeric.lathe-asm",
            "(?i)(?:0x[0-9a-f_]+|0b[01_]+|0o[0-7_]+|\\$[0-9a-f_]+|(?<![\\w.])%[01]+|(?<![\\w.])[0-9][0-9_]*)\\b"
        ),
        rule("support.function.lathe-asm", &format!("(?i)\\b(?:{})(?=\\()", functions.join("|"))),
        rule("entity.name.function.mnemonic.lathe-asm", "(?:(?<=:)|^)\\s+[A-Za-z_][\\w.]*"),
    ]);
    document("Lathe assembly", "source.lathe-asm", &patterns)
}

fn rule(name: &str, pattern: &str) -> Value {
    json!({ "name": name, "match": pattern })
}

fn document(name: &str, scope: &str, patterns: &Value) -> String {
    let comment = "Made from the words of the language by crates/lathe-lsp/src/grammar.rs; LATHE_BLESS=1 cargo test -p lathe-lsp writes it.";
    let grammar = json!({ "comment": comment, "name": name, "scopeName": scope, "patterns": patterns });
    serde_json::to_string_pretty(&grammar).unwrap_or_default() + "\n"
}
