//! The command line: a text with a cursor, a history of lines, completion.

use crossterm::event::KeyCode;

/// A line being typed.
#[derive(Debug, Default)]
pub(super) struct Prompt {
    text: Vec<char>,
    cursor: usize,
    earlier: Vec<String>,
    /// How many lines back in the history this one is; 0 for a new line.
    back: usize,
    /// The choices of the last completion.
    choices: Vec<String>,
}

impl Prompt {
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(super) fn text(&self) -> String {
        self.text.iter().collect()
    }

    pub(super) fn cursor(&self) -> usize {
        self.cursor
    }

    pub(super) fn choices(&self) -> &[String] {
        &self.choices
    }

    pub(super) fn clear(&mut self) {
        self.set(String::new());
    }

    pub(super) fn take(&mut self) -> String {
        let text = self.text();
        self.clear();
        text
    }

    fn set(&mut self, text: String) {
        self.text = text.chars().collect();
        self.cursor = self.text.len();
        self.choices.clear();
    }

    pub(super) fn remember(&mut self, line: &str) {
        if self.earlier.last().is_none_or(|last| last != line) {
            self.earlier.push(line.to_owned());
        }
        self.back = 0;
    }

    /// Returns the last line of the history.
    pub(super) fn last(&self) -> Option<String> {
        self.earlier.last().cloned()
    }

    pub(super) fn earlier(&mut self) {
        self.back = (self.back + 1).min(self.earlier.len());
        self.recall();
    }

    pub(super) fn later(&mut self) {
        self.back = self.back.saturating_sub(1);
        self.recall();
    }

    fn recall(&mut self) {
        let line = self.earlier.len().checked_sub(self.back).and_then(|at| self.earlier.get(at)).cloned();
        self.set(line.unwrap_or_default());
    }

    pub(super) fn edit(&mut self, code: KeyCode, control: bool) {
        self.choices.clear();
        match code {
            KeyCode::Char('a') if control => self.cursor = 0,
            KeyCode::Char('e') if control => self.cursor = self.text.len(),
            KeyCode::Char('u') if control => {
                self.text.drain(..self.cursor);
                self.cursor = 0;
            }
            KeyCode::Char('k') if control => self.text.truncate(self.cursor),
            KeyCode::Char(character) if !control => {
                self.text.insert(self.cursor, character);
                self.cursor += 1;
            }
            KeyCode::Backspace if self.cursor > 0 => {
                self.cursor -= 1;
                self.text.remove(self.cursor);
            }
            KeyCode::Delete if self.cursor < self.text.len() => {
                self.text.remove(self.cursor);
            }
            KeyCode::Left => self.cursor = self.cursor.saturating_sub(1),
            KeyCode::Right => self.cursor = (self.cursor + 1).min(self.text.len()),
            KeyCode::Home => self.cursor = 0,
            KeyCode::End => self.cursor = self.text.len(),
            _ => {}
        }
    }

    /// Completes as far as all choices agree; shows the choices if there are several.
    pub(super) fn complete(&mut self, find: impl Fn(&str) -> Vec<String>) {
        let found = find(&self.text());
        let Some(first) = found.first() else { return };
        let common = found.iter().fold(first.as_str(), |common, other| {
            let same = common.char_indices().zip(other.chars()).find(|((_, a), b)| a != b);
            let end = same.map_or(common.len().min(other.len()), |((at, _), _)| at);
            &common[..end]
        });
        let whole = if found.len() == 1 { format!("{common} ") } else { common.to_owned() };
        self.set(whole);
        self.choices = if found.len() > 1 { found } else { Vec::new() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completion_goes_as_far_as_choices_agree() {
        let mut prompt = Prompt::default();
        prompt.set("br".to_owned());
        prompt.complete(|_| vec!["break".to_owned(), "breakpoints".to_owned()]);
        assert_eq!((prompt.text().as_str(), prompt.choices().len()), ("break", 2));
        prompt.complete(|_| vec!["breakpoints".to_owned()]);
        assert_eq!(prompt.text(), "breakpoints ");
    }

    #[test]
    fn earlier_lines_come_back() {
        let mut prompt = Prompt::default();
        ["one", "two", "two"].iter().for_each(|line| prompt.remember(line));
        prompt.earlier();
        prompt.earlier();
        assert_eq!(prompt.text(), "one");
        prompt.later();
        prompt.later();
        assert_eq!(prompt.text(), "");
    }
}
