//! What the debugger's screen looks like: code on the left, the machine's state on the right, the
//! program's output and the answers below, a timeline and the command line at the bottom.

use lathe_base::numbers::addresses_from;
use lathe_debug::answer::RegisterLine;
use lathe_debug::command::{code_from, registers};
use lathe_debug::watching::CallLine;
use lathe_isa::model::MemoryId;
use lathe_vm::Display;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::{border, line};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Clear, Paragraph};

use super::{Kind, Screen};

// The terminal may be light or dark, and its theme defines the sixteen basic colours. So these are of the fixed 256,
// and readable on black and on white: a test computes their contrast.
const GREY: Color = Color::Indexed(243);
const BLUE: Color = Color::Indexed(31);
const ORANGE: Color = Color::Indexed(130);
const RED: Color = Color::Indexed(161);
const GREEN: Color = Color::Indexed(28);
const PAPER: Color = Color::Indexed(231);

const QUIET: Style = Style::new().fg(GREY);
const TITLE: Style = Style::new().fg(BLUE).add_modifier(Modifier::BOLD);
const CHANGED: Style = Style::new().fg(ORANGE).add_modifier(Modifier::BOLD);
const HERE: Style = Style::new().bg(Color::Indexed(24)).fg(PAPER).add_modifier(Modifier::BOLD);
const PROBLEM: Style = Style::new().fg(RED);
const MARK: Style = Style::new().fg(RED).add_modifier(Modifier::BOLD);
const LABEL: Style = Style::new().fg(GREEN);

/// Keys worth a reminder, as many as there is room for.
const KEYS: [&str; 3] = ["F1 help  ←→ step  F5 run  F6 run back  F10 over ", "F1 help  ←→ step  F5 run ", "F1 help "];

/// Where things were last drawn, for the mouse.
#[derive(Debug, Default)]
pub(super) struct Areas {
    code: Rect,
    /// The address of each line of the code pane, if it has one.
    lines: Vec<Option<u64>>,
    timeline: Rect,
    memory: Rect,
    /// The addresses in the memory pane, and how many are in a row.
    pub(super) cells: Vec<u64>,
    pub(super) cells_per_row: u64,
}

impl Areas {
    pub(super) fn code_at(&self, x: u16, y: u16) -> Option<u64> {
        let inside = self.code.contains((x, y).into());
        inside.then(|| self.lines.get(usize::from(y - self.code.y)).copied().flatten()).flatten()
    }

    pub(super) fn is_memory(&self, x: u16, y: u16) -> bool {
        self.memory.contains((x, y).into())
    }

    /// Returns how far along the timeline a click is, from 0 to 1.
    pub(super) fn timeline_at(&self, x: u16, y: u16) -> Option<f64> {
        let inside = self.timeline.contains((x, y).into());
        inside.then(|| f64::from(x - self.timeline.x) / f64::from(self.timeline.width.max(2) - 1))
    }
}

/// Draws a pane on the left: only a line with its title, because rows are scarce.
fn pane(title: &str) -> Block<'static> {
    Block::new().borders(Borders::TOP).border_style(QUIET).title(Line::styled(format!(" {title} "), TITLE))
}

/// Draws a pane on the right, whose corner continues the lines around it.
fn side_pane(title: &str, corner: &'static str) -> Block<'static> {
    let set = border::Set { top_left: corner, ..border::PLAIN };
    pane(title).borders(Borders::TOP | Borders::LEFT).border_set(set)
}

impl Screen<'_> {
    pub(super) fn draw(&mut self, frame: &mut Frame) {
        let area = frame.area();
        let (display_width, display_height) = self.display_room(area);
        let [bar, middle, below, timeline, prompt] = Layout::vertical([
            Constraint::Length(1),
            Constraint::Min(8),
            Constraint::Length((area.height / 5).max(5).max(display_height)),
            Constraint::Length(1),
            Constraint::Length(1),
        ])
        .areas(area);
        let calls = self.call_lines();
        // Calls and memory need a title and a row each; calls get more where registers leave room.
        let room = middle.height.saturating_sub(4).max(2);
        let (right, lines) = self.registers_in(room - 1, area.width, display_width);
        let registers_height = (lines.len() as u16 + 1).min(room);
        let spare = (middle.height / 5).min(middle.height.saturating_sub(registers_height + 2)).max(2);
        let calls_height = (calls.len() as u16 + 1).clamp(2, spare);
        let [code, state] = Layout::horizontal([Constraint::Min(30), Constraint::Length(right)]).areas(middle);
        let [answers, output] = Layout::horizontal([Constraint::Min(30), Constraint::Length(right)]).areas(below);
        let [registers, stack, memory] = Layout::vertical([
            Constraint::Length(registers_height),
            Constraint::Length(calls_height),
            Constraint::Min(2),
        ])
        .areas(state);
        self.draw_bar(frame, bar);
        self.draw_code(frame, code);
        let title = if lines.len() + 1 > usize::from(registers.height) { "registers …" } else { "registers" };
        frame.render_widget(Paragraph::new(lines).block(side_pane(title, line::HORIZONTAL_DOWN)), registers);
        frame.render_widget(Paragraph::new(calls).block(side_pane("calls", line::VERTICAL_RIGHT)), stack);
        self.draw_memory(frame, memory);
        self.draw_answers(frame, answers);
        self.draw_output(frame, output);
        self.draw_timeline(frame, timeline);
        self.draw_prompt(frame, prompt);
        if self.shows_help {
            draw_help(frame);
        }
    }

    fn draw_bar(&self, frame: &mut Frame, area: Rect) {
        let isa = self.debugger.program().isa();
        let engine = format!("{:?}", self.debugger.instance().engine()).to_lowercase();
        let left = Span::styled(format!(" lathe debug  {} ", self.name), Style::new().fg(PAPER).bg(BLUE));
        let middle = Span::raw(format!(" {} on {engine} ", isa.name));
        let state = match self.debugger.is_halted() {
            true => Span::styled(" halted ", Style::new().fg(PAPER).bg(ORANGE)),
            false => Span::raw(""),
        };
        let used = left.width() + middle.width() + state.width();
        let room = usize::from(area.width).saturating_sub(used);
        let keys = KEYS.iter().find(|keys| keys.chars().count() <= room).unwrap_or(&"");
        let keys = Span::styled(format!("{keys:>room$}"), QUIET);
        frame.render_widget(Line::from(vec![left, middle, state, keys]), area);
    }

    fn draw_code(&mut self, frame: &mut Frame, area: Rect) {
        let (height, width) = (usize::from(area.height.saturating_sub(1)), usize::from(area.width));
        let here = self.debugger.program().source_line(self.debugger.state().pc);
        let (title, lines) = match here.filter(|_| self.shows_source) {
            Some(here) => {
                let title = format!("{}:{}", here.file, here.line);
                (title, self.source_lines(here.source, here.line, (height, width)))
            }
            None => ("disassembly".to_owned(), self.disassembly((height, width))),
        };
        self.areas.code = Rect { y: area.y + 1, height: height as u16, ..area };
        self.areas.lines = lines.iter().map(|(address, _)| *address).collect();
        let lines: Vec<Line> = lines.into_iter().map(|(_, line)| line).collect();
        frame.render_widget(Paragraph::new(lines).block(pane(&title)), area);
    }

    fn source_lines(
        &self,
        source: usize,
        current: usize,
        (height, width): (usize, usize),
    ) -> Vec<(Option<u64>, Line<'static>)> {
        let program = self.debugger.program();
        let text = &program.sources()[source].text;
        let count = text.lines().count();
        let first = (current as i64 - height as i64 / 2 + self.scrolled).clamp(1, count.max(1) as i64) as usize;
        let shown = text.lines().zip(1..).skip(first - 1).take(height);
        let line = |(text, number): (&str, usize)| {
            let stops = program.stops_of_line(source, number).ok().filter(|(at, _)| *at == number);
            let address = stops.and_then(|(_, stops)| stops.first().copied());
            let text = text.replace('\t', "        ");
            (address, self.code_line(address, number == current, &format!("{number:>4} "), &text, width))
        };
        shown.map(line).collect()
    }

    fn disassembly(&self, (height, width): (usize, usize)) -> Vec<(Option<u64>, Line<'static>)> {
        let debugger = &*self.debugger;
        let pc = debugger.state().pc;
        let above = (height as i64 / 3 - self.scrolled).clamp(0, 500) as usize;
        let before = debugger.program().lines_before(debugger.state(), pc, above);
        let skip = (self.scrolled - height as i64 / 3).max(0) as usize;
        let all = before.into_iter().chain(code_from(debugger, pc, (height + skip) as u64)).skip(skip);
        let mut lines = Vec::new();
        for line in all {
            if let Some(label) = line.place.label.as_ref().filter(|label| !label.contains('+')) {
                lines.push((None, Line::styled(format!("   {label}:"), LABEL)));
            }
            let address = line.place.address;
            let text = format!("{:<12} {}", line.cells, line.text);
            let number = format!("{} ", line.place.hex);
            lines.push((Some(address), self.code_line(Some(address), address == pc, &number, &text, width)));
        }
        lines.truncate(height);
        lines
    }

    fn code_line(&self, address: Option<u64>, is_here: bool, number: &str, text: &str, width: usize) -> Line<'static> {
        let breakpoint = address.and_then(|address| self.debugger.breakpoint_at(address));
        let mark = match breakpoint {
            Some(breakpoint) if breakpoint.enabled => Span::styled("●", MARK),
            Some(_) => Span::styled("○", MARK),
            None => Span::raw(" "),
        };
        let arrow = Span::styled(if is_here { "▶" } else { " " }, CHANGED);
        let style = if is_here { HERE } else { Style::new() };
        let number = Span::styled(number.to_owned(), if is_here { HERE } else { QUIET });
        let room = width.saturating_sub(number.content.chars().count() + 2);
        // The next line to execute is marked up to the edge.
        let text = if is_here { format!("{:<room$}", shortened(text, room)) } else { shortened(text, room) };
        let (code, comment) = match text.find(';') {
            Some(at) if !text[..at].contains(['"', '\'']) => text.split_at(at),
            _ => (text.as_str(), ""),
        };
        let comment = Span::styled(comment.to_owned(), if is_here { HERE } else { QUIET });
        Line::from(vec![mark, arrow, number, Span::styled(code.to_owned(), style), comment])
    }

    /// Returns the width of the right side and the registers on it: a third of the screen, or up to half of it if they
    /// all fit only then.
    fn registers_in(&self, height: u16, width: u16, at_least: u16) -> (u16, Vec<Line<'static>>) {
        let third = (width / 3).clamp(34, 52).max(at_least);
        let fits = |right: &u16| self.register_lines(*right).len() <= usize::from(height);
        let right = (third..=width / 2 + 1).find(fits).unwrap_or(third);
        (right, self.register_lines(right))
    }

    /// Lays out registers in as many columns as fit, then the flags.
    fn register_lines(&self, width: u16) -> Vec<Line<'static>> {
        let now = registers(self.debugger);
        let (flags, wide): (Vec<_>, Vec<_>) = now.iter().zip(&self.before).partition(|(now, _)| now.bits == 1);
        let sizes: Vec<(usize, usize)> = wide.iter().map(|(now, _)| (now.name.len(), shown(now).len())).collect();
        let room = usize::from(width.saturating_sub(1));
        let fits = |columns: &usize| {
            let columns = column_widths(&sizes, *columns);
            columns.iter().map(|(name, value)| name + value + 3).sum::<usize>() <= room + 2
        };
        let columns = column_widths(&sizes, (1..=8).rev().find(fits).unwrap_or(1));
        let mut lines: Vec<Line> = Vec::new();
        for row in wide.chunks(columns.len().max(1)) {
            let spans = row.iter().zip(&columns).flat_map(|((now, before), (name, value))| {
                let style = if now.value == before.value { Style::new() } else { CHANGED };
                let gap = value + 2;
                [
                    Span::styled(format!("{:>name$} ", now.name), QUIET),
                    Span::styled(format!("{:<gap$}", shown(now)), style),
                ]
            });
            lines.push(Line::from(spans.collect::<Vec<_>>()));
        }
        if !flags.is_empty() {
            let spans = flags.iter().map(|(now, before)| {
                let set = if now.value == 1 { Style::new().add_modifier(Modifier::BOLD) } else { QUIET };
                let style = if now.value == before.value { set } else { CHANGED };
                let name = if now.value == 1 { now.name.to_uppercase() } else { now.name.clone() };
                Span::styled(format!("{name} "), style)
            });
            lines.push(Line::from(spans.collect::<Vec<_>>()));
        }
        lines
    }

    /// Returns the calls that have not returned, innermost first.
    fn call_lines(&mut self) -> Vec<Line<'static>> {
        let (calls, cut) = match self.debugger.call_lines(&mut ()) {
            Ok(known) => known,
            Err(problem) => return vec![Line::raw(problem.to_string())],
        };
        let line = |call: &CallLine| {
            let at = call.called_at.map(|step| format!("  at step {step}")).unwrap_or_default();
            Line::from(vec![
                Span::styled(format!("{} ", call.place.hex), QUIET),
                Span::styled(call.routine.clone(), LABEL),
                Span::styled(at, QUIET),
            ])
        };
        let mut lines: Vec<Line> = calls.iter().map(line).collect();
        if cut {
            lines.push(Line::styled("… not known before", QUIET));
        }
        lines
    }

    fn draw_memory(&mut self, frame: &mut Frame, area: Rect) {
        let isa = self.debugger.program().isa().clone();
        let (at, start) = self.memory;
        let described = &isa.memories[at];
        let memory = self.debugger.state().memory(MemoryId(at as u32));
        let digits = described.cell.bits().div_ceil(4) as usize;
        let address_digits = described.address.bits().div_ceil(4) as usize;
        let room = usize::from(area.width).saturating_sub(address_digits + 3);
        let per_row = [16, 8, 4, 2].into_iter().find(|count| count * (digits + 1) <= room).unwrap_or(1);
        let has_text = digits == 2 && per_row * (digits + 2) < room;
        let rows = u64::from(area.height.saturating_sub(1));
        let addresses = addresses_from(start).take(rows as usize * per_row);
        let addresses: Vec<u64> = addresses.take_while(|at| (start..=described.last()).contains(at)).collect();
        let cells: Vec<u64> = addresses.iter().map(|address| memory.get(*address)).collect();
        let before = &self.cells_before;
        let row = |(row, first): (&[u64], u64)| {
            let mut spans = vec![Span::styled(format!("{first:0address_digits$X}  "), QUIET)];
            for (value, address) in row.iter().zip(addresses_from(first)) {
                let style = match before.get(&(at, address)) {
                    Some(before) if before != value => CHANGED,
                    _ if *value == 0 => QUIET,
                    _ => Style::new(),
                };
                spans.push(Span::styled(format!("{value:0digits$X} "), style));
            }
            if has_text {
                spans.push(Span::styled(row.iter().map(|value| character(*value)).collect::<String>(), QUIET));
            }
            Line::from(spans)
        };
        let lines: Vec<Line> = cells.chunks(per_row).zip(addresses_from(start).step_by(per_row)).map(row).collect();
        let title = if isa.memories.len() > 1 { format!("{} (F3)", described.name) } else { described.name.clone() };
        frame.render_widget(Paragraph::new(lines).block(side_pane(&title, line::VERTICAL_RIGHT)), area);
        self.areas.memory = Rect { y: area.y + 1, height: rows as u16, ..area };
        self.areas.cells = addresses;
        self.areas.cells_per_row = per_row as u64;
    }

    fn draw_answers(&self, frame: &mut Frame, area: Rect) {
        let height = usize::from(area.height.saturating_sub(1));
        let choices = self.prompt.choices();
        let lines: Vec<Line> = match choices.is_empty() {
            false => vec![Line::raw(choices.iter().take(40).cloned().collect::<Vec<_>>().join("   "))],
            true => {
                let first = self.messages.len().saturating_sub(height);
                let line = |(text, kind): &(String, Kind)| {
                    let style = match kind {
                        Kind::Typed => QUIET,
                        Kind::Answer => Style::new(),
                        Kind::Problem => PROBLEM,
                    };
                    let parts = wrapped(text, usize::from(area.width)).into_iter();
                    parts.map(|part| Line::styled(part, style)).collect::<Vec<_>>()
                };
                let lines: Vec<Line> = self.messages[first..].iter().flat_map(line).collect();
                last(lines, height)
            }
        };
        frame.render_widget(
            Paragraph::new(lines).block(pane(if choices.is_empty() { "debugger" } else { "completions" })),
            area,
        );
    }

    /// Draws what the program shows: its display, or its output. Control characters are shown, not obeyed.
    fn draw_output(&self, frame: &mut Frame, area: Rect) {
        if let Some(display) = self.debugger.instance().devices().find::<Display>() {
            let roomy =
                u32::from(area.width) > display.width() && u32::from(area.height) > display.height().div_ceil(2);
            let rows = if roomy { half_blocks(display) } else { braille(display) };
            frame.render_widget(Paragraph::new(rows).block(side_pane("display", line::CROSS)), area);
            return;
        }
        let (_, bytes) = self.debugger.output();
        let recent = &bytes[bytes.len().saturating_sub(1 << 14)..];
        let width = usize::from(area.width.saturating_sub(1));
        let lines = recent.split(|byte| *byte == b'\n').flat_map(|line| {
            let shown = lathe_debug::printable(line).replace("\\\"", "\"").replace("\\\\", "\\");
            cut(&shown.replace("\\t", "    "), width)
        });
        let lines = lines.map(Line::raw).collect();
        let height = usize::from(area.height.saturating_sub(1));
        frame.render_widget(Paragraph::new(last(lines, height)).block(side_pane("output", line::CROSS)), area);
    }

    /// Returns columns and rows for the display: large where enough room is left for everything else. A small display
    /// gets all of its rows, but no more than half of the screen.
    fn display_room(&self, screen: Rect) -> (u16, u16) {
        let Some(display) = self.debugger.instance().devices().find::<Display>() else { return (0, 0) };
        let (width, height) = (display.width() as u16, display.height() as u16);
        let large = (width + 1, height.div_ceil(2) + 1);
        match screen.width >= large.0 + 60 && screen.height >= large.1 + 17 {
            true => large,
            false => (0, (height.div_ceil(4) + 1).min(screen.height / 2)),
        }
    }

    fn draw_timeline(&mut self, frame: &mut Frame, area: Rect) {
        let (position, end) = (self.debugger.position(), self.debugger.history().end());
        let label = format!(" step {position} of {end} ");
        let width = usize::from(area.width).saturating_sub(label.len());
        let column = |at: u64| (at as f64 / end.max(1) as f64 * (width.max(2) - 1) as f64) as usize;
        let mut cells = vec![("─", QUIET); width];
        for event in self.debugger.history().events() {
            if let Some(cell) = cells.get_mut(column(event.at)) {
                *cell = ("┼", LABEL);
            }
        }
        cells.iter_mut().take(column(position)).for_each(|cell| cell.1 = cell.1.fg(BLUE));
        if let Some(cell) = cells.get_mut(column(position)) {
            *cell = ("◆", CHANGED);
        }
        let mut spans: Vec<Span> = cells.into_iter().map(|(text, style)| Span::styled(text, style)).collect();
        spans.push(Span::styled(label, TITLE));
        self.areas.timeline = Rect { width: width as u16, ..area };
        frame.render_widget(Line::from(spans), area);
    }

    fn draw_prompt(&self, frame: &mut Frame, area: Rect) {
        let (mark, style) = match self.gives_input {
            true => ("input> ", CHANGED),
            false => ("> ", TITLE),
        };
        let text = self.prompt.text();
        frame.render_widget(Line::from(vec![Span::styled(mark, style), Span::raw(text)]), area);
        let column = mark.len() + self.prompt.cursor();
        frame.set_cursor_position((area.x + (column as u16).min(area.width.saturating_sub(1)), area.y));
    }
}

/// Formats a register's value in hexadecimal without `0x`, like everything on this side.
fn shown(register: &RegisterLine) -> String {
    register.shown().trim_start_matches("0x").to_owned()
}

/// Returns a cell as a character, or a dot if it is not printable.
fn character(value: u64) -> char {
    u8::try_from(value).ok().map(char::from).filter(|c| c.is_ascii_graphic() || *c == ' ').unwrap_or('·')
}

/// Shortens a text to fit, and marks the cut.
fn shortened(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    text.chars().take(room.saturating_sub(1)).chain(['…']).collect()
}

/// Returns the widths of names and values in each of this many columns, filled row by row.
fn column_widths(sizes: &[(usize, usize)], columns: usize) -> Vec<(usize, usize)> {
    let column = |at: usize| {
        let cells = || sizes.iter().skip(at).step_by(columns);
        (cells().map(|(name, _)| *name).max().unwrap_or(0), cells().map(|(_, value)| *value).max().unwrap_or(0))
    };
    (0..columns.min(sizes.len())).map(column).collect()
}

/// Returns the last lines that fit.
fn last(mut lines: Vec<Line<'static>>, height: usize) -> Vec<Line<'static>> {
    lines.split_off(lines.len().saturating_sub(height))
}

/// Wraps a text at a width, at blanks where there are any; lines after the first are indented.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest: Vec<char> = text.chars().collect();
    while rest.len() > width.max(16) {
        let blank = rest[..width.max(16)].iter().rposition(|c| *c == ' ').filter(|at| *at > width / 2);
        let tail = rest.split_off(blank.map_or(width.max(16), |at| at + 1));
        lines.push(std::mem::take(&mut rest).into_iter().collect::<String>());
        rest = "      ".chars().chain(tail).collect();
    }
    lines.push(rest.into_iter().collect());
    lines
}

/// Breaks a text into lines of a width, as a terminal would.
fn cut(text: &str, width: usize) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let lines = characters.chunks(width.max(1)).map(|line| line.iter().collect());
    if characters.is_empty() { vec![String::new()] } else { lines.collect() }
}

/// Draws two columns and four rows of pixels per character, for displays that would not fit otherwise.
fn braille(display: &Display) -> Vec<Line<'static>> {
    const DOTS: [(u32, u32, u32); 8] =
        [(0, 0, 1), (0, 1, 2), (0, 2, 4), (1, 0, 8), (1, 1, 16), (1, 2, 32), (0, 3, 64), (1, 3, 128)];
    let lit = |x: u32, y: u32| x < display.width() && y < display.height() && display.pixel(x, y);
    let character = |x: u32, y: u32| {
        let dots = DOTS.iter().filter(|(right, down, _)| lit(x + right, y + down)).map(|(_, _, dot)| dot).sum::<u32>();
        char::from_u32(0x2800 + dots).unwrap_or(' ')
    };
    let row = |y: u32| Line::raw((0..display.width()).step_by(2).map(|x| character(x, y)).collect::<String>());
    (0..display.height()).step_by(4).map(row).collect()
}

/// Draws two rows of pixels per terminal line.
fn half_blocks(display: &Display) -> Vec<Line<'static>> {
    let row = |y: u32| {
        let pixel = |x: u32, y: u32| y < display.height() && display.pixel(x, y);
        let block = |x: u32| match (pixel(x, y), pixel(x, y + 1)) {
            (true, true) => '█',
            (true, false) => '▀',
            (false, true) => '▄',
            (false, false) => ' ',
        };
        Line::raw((0..display.width()).map(block).collect::<String>())
    };
    (0..display.height()).step_by(2).map(row).collect()
}

const HELP: &str = "\
→  F8        step               ←  F7        step back
Alt-→  F10   over a call        Alt-←  F12   back over a call
F11          out                Shift-F11    back to the call
F5           run                F6           run back
F9, click    breakpoint here    F2           source or disassembly
F3           next memory        PgUp PgDn    scroll the code
Tab          complete           ↑ ↓          earlier commands
Enter        the last again     Esc Ctrl-C   pause, or clear
click on the timeline to go there; Ctrl-D leaves

Commands: step over out run to back goto who when break watch
print set registers memory list disassemble stack trace profile
coverage input output history save restart help quit

`help COMMAND` tells more. Any key closes this.";

fn draw_help(frame: &mut Frame) {
    let area = frame.area();
    let (width, height) = (72.min(area.width), 18.min(area.height));
    let area = Rect { x: (area.width - width) / 2, y: (area.height - height) / 2, width, height };
    frame.render_widget(Clear, area);
    let block = Block::bordered().border_style(QUIET).title(Line::styled(" help ", TITLE));
    frame.render_widget(Paragraph::new(HELP).block(block), area);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the red, green and blue of one of the fixed 256 colours.
    fn parts(colour: Color) -> [u8; 3] {
        let Color::Indexed(number @ 16..) = colour else { panic!("{colour:?} is what the terminal makes of it") };
        match number {
            232.. => [8 + 10 * (number - 232); 3],
            _ => [36, 6, 1].map(|step| [0, 95, 135, 175, 215, 255][usize::from((number - 16) / step % 6)]),
        }
    }

    /// Returns how bright a colour looks, by the formula of the Web Content Accessibility Guidelines.
    fn luminance(colour: Color) -> f64 {
        let linear = |part: u8| match f64::from(part) / 255.0 {
            dark if dark <= 0.03928 => dark / 12.92,
            light => ((light + 0.055) / 1.055).powf(2.4),
        };
        let [red, green, blue] = parts(colour).map(linear);
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    fn contrast(one: Color, other: Color) -> f64 {
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    #[test]
    fn colours_can_be_read_on_light_and_on_dark_terminals() {
        let (black, white) = (Color::Indexed(16), Color::Indexed(231));
        for style in [QUIET, TITLE, CHANGED, PROBLEM, MARK, LABEL] {
            let colour = style.fg.expect("it has one");
            for background in [black, white] {
                assert!(contrast(colour, background) > 4.0, "{colour:?} on {background:?}");
            }
        }
        for (text, background) in [(HERE.fg, HERE.bg), (Some(PAPER), Some(BLUE)), (Some(PAPER), Some(ORANGE))] {
            assert!(contrast(text.unwrap(), background.unwrap()) > 4.0, "{text:?} on {background:?}");
        }
    }

    #[test]
    fn what_is_cut_says_so() {
        assert_eq!(shortened("add r1", 6), "add r1");
        assert_eq!(shortened("add r12", 6), "add r…");
        assert_eq!(shortened("add", 0), "…");
    }
}
