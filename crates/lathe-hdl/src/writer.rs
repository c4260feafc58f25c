//! Lines of Verilog with their indentation. Knows the syntax of macros, and nothing else about the language.

/// Text under construction.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    text: String,
    depth: usize,
}

impl Writer {
    /// Starts at a depth of indentation.
    pub(crate) fn at(depth: usize) -> Writer {
        Writer { text: String::new(), depth }
    }

    /// Writes one line or several.
    pub(crate) fn line(&mut self, line: impl AsRef<str>) {
        for line in line.as_ref().lines() {
            if !line.is_empty() {
                (0..self.depth).for_each(|_| self.text.push_str("  "));
                self.text.push_str(line);
            }
            self.text.push('\n');
        }
    }

    /// Writes an empty line.
    pub(crate) fn blank(&mut self) {
        self.text.push('\n');
    }

    /// Writes a line that opens a block: what follows is indented.
    pub(crate) fn open(&mut self, line: impl AsRef<str>) {
        self.line(line);
        self.depth += 1;
    }

    /// Writes a line that closes a block.
    pub(crate) fn close(&mut self, line: impl AsRef<str>) {
        self.depth -= 1;
        self.line(line);
    }

    /// Writes a macro, which is called like a task and expanded where it is called.
    pub(crate) fn define(&mut self, call: &str, body: &str) {
        let lines: Vec<&str> = body.lines().collect();
        self.line(format!("`define {call} \\"));
        self.line(lines.iter().map(|line| format!("  {line}")).collect::<Vec<_>>().join(" \\\n"));
        self.blank();
    }

    /// Writes a line that closes one block and opens the next, such as `end else begin`.
    pub(crate) fn turn(&mut self, line: impl AsRef<str>) {
        self.depth -= 1;
        self.open(line);
    }

    /// Returns the current depth.
    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// Writes text that is already indented.
    pub(crate) fn raw(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Returns everything written.
    pub(crate) fn finish(self) -> String {
        self.text
    }
}
