//! What the debugger's screen looks like: code on the left, the machine's state on the right, the
//! program's output and the answers below, a timeline and the command line at the bottom.

use lathe_debug::command::{code_from, registers};
use lathe_isa::model::MemoryId;
use lathe_vm::Display;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Clear, Paragraph};

use super::{Kind, Screen};

const FRAME: Style = Style::new().fg(Color::DarkGray);
const TITLE: Style = Style::new().fg(Color::Cyan).add_modifier(Modifier::BOLD);
const QUIET: Style = Style::new().fg(Color::DarkGray);
const CHANGED: Style = Style::new().fg(Color::Yellow).add_modifier(Modifier::BOLD);
const HERE: Style = Style::new().bg(Color::Rgb(38, 56, 84)).fg(Color::White).add_modifier(Modifier::BOLD);
const MARK: Style = Style::new().fg(Color::Red).add_modifier(Modifier::BOLD);
const LABEL: Style = Style::new().fg(Color::Green);

/// Where things were drawn last, for the mouse.
#[derive(Debug, Default)]
pub(super) struct Areas {
    code: Rect,
    /// The address of each line of the code pane, if it has one.
    lines: Vec<Option<u64>>,
    timeline: Rect,
}

impl Areas {
    pub(super) fn code_at(&self, x: u16, y: u16) -> Option<u64> {
        let inside = self.code.contains((x, y).into());
        inside.then(|| self.lines.get(usize::from(y - self.code.y)).copied().flatten()).flatten()
    }

    /// How far along the timeline a click is, from 0 to 1.
    pub(super) fn timeline_at(&self, x: u16, y: u16) -> Option<f64> {
        let inside = self.timeline.contains((x, y).into());
        inside.then(|| f64::from(x - self.timeline.x) / f64::from(self.timeline.width.max(2) - 1))
    }
}

fn pane(title: &str) -> Block<'static> {
    Block::bordered()
        .border_type(BorderType::Rounded)
        .border_style(FRAME)
        .title(Line::styled(format!(" {title} "), TITLE))
}

impl Screen<'_> {
    pub(super) fn draw(&mut self, frame: &mut Frame) {
        // A display wants all of its rows; what else there is wants most of the screen.
        let shown = self.display_size().map_or(0, |(_, rows)| rows + 2).min(frame.area().height / 2);
        let [bar, middle, below, timeline, prompt] = Layout::vertical([
            Constraint::Length(1),
            Constraint::Min(8),
            Constraint::Length((frame.area().height / 4).max(5).max(shown)),
            Constraint::Length(1),
            Constraint::Length(1),
        ])
        .areas(frame.area());
        let right = (frame.area().width / 3).clamp(34, 52);
        let [code, state] = Layout::horizontal([Constraint::Min(30), Constraint::Length(right)]).areas(middle);
        let [answers, output] = Layout::horizontal([Constraint::Min(30), Constraint::Length(right)]).areas(below);
        let lines = self.register_lines(right);
        let calls = (state.height / 5).clamp(4, 9);
        let room = state.height.saturating_sub(calls + 3).max(3);
        let [registers, stack, memory] = Layout::vertical([
            Constraint::Length((lines.len() as u16 + 2).min(room)),
            Constraint::Length(calls),
            Constraint::Min(3),
        ])
        .areas(state);
        self.draw_bar(frame, bar);
        self.draw_code(frame, code);
        let title = if lines.len() + 2 > usize::from(registers.height) { "registers …" } else { "registers" };
        frame.render_widget(Paragraph::new(lines).block(pane(title)), registers);
        self.draw_stack(frame, stack);
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
        let left = Span::styled(format!(" lathe debug  {} ", self.name), Style::new().fg(Color::Black).bg(Color::Cyan));
        let middle = Span::styled(format!(" {} on {engine} ", isa.name), Style::new().fg(Color::Gray));
        let state = match self.debugger.is_halted() {
            true => Span::styled(" halted ", Style::new().fg(Color::Black).bg(Color::Yellow)),
            false => Span::raw(""),
        };
        let keys = "F1 help  ←→ step  F5 run  F6 run back  F10 over ";
        let used = left.width() + middle.width() + state.width();
        let room = usize::from(area.width).saturating_sub(used);
        let keys = if keys.len() <= room { format!("{keys:>room$}") } else { String::new() };
        frame.render_widget(Line::from(vec![left, middle, state, Span::styled(keys, QUIET)]), area);
    }

    fn draw_code(&mut self, frame: &mut Frame, area: Rect) {
        let height = usize::from(area.height.saturating_sub(2));
        let here = self.debugger.program().source_line(self.debugger.state().pc);
        let (title, lines) = match here.filter(|_| self.shows_source) {
            Some(here) => {
                let title = format!("{}:{}", here.file, here.line);
                (title, self.source_lines(here.source, here.line, height))
            }
            None => ("disassembly".to_owned(), self.disassembly(height)),
        };
        self.areas.code =
            Rect { x: area.x + 1, y: area.y + 1, width: area.width.saturating_sub(2), height: height as u16 };
        self.areas.lines = lines.iter().map(|(address, _)| *address).collect();
        let lines: Vec<Line> = lines.into_iter().map(|(_, line)| line).collect();
        frame.render_widget(Paragraph::new(lines).block(pane(&title)), area);
    }

    fn source_lines(&self, source: usize, current: usize, height: usize) -> Vec<(Option<u64>, Line<'static>)> {
        let program = self.debugger.program();
        let text = &program.sources()[source].text;
        let count = text.lines().count();
        let first = (current as i64 - height as i64 / 2 + self.scrolled).clamp(1, count.max(1) as i64) as usize;
        let shown = text.lines().zip(1..).skip(first - 1).take(height);
        let line = |(text, number): (&str, usize)| {
            let stops = program.stops_of_line(source, number).ok().filter(|(at, _)| *at == number);
            let address = stops.and_then(|(_, stops)| stops.first().copied());
            let text = text.replace('\t', "        ");
            (address, self.code_line(address, number == current, &format!("{number:>4} "), text))
        };
        shown.map(line).collect()
    }

    fn disassembly(&self, height: usize) -> Vec<(Option<u64>, Line<'static>)> {
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
            lines.push((
                Some(address),
                self.code_line(Some(address), address == pc, &format!("{} ", line.place.hex), text),
            ));
        }
        lines.truncate(height);
        lines
    }

    fn code_line(&self, address: Option<u64>, is_here: bool, number: &str, text: String) -> Line<'static> {
        let breakpoint = address.and_then(|address| self.debugger.breakpoint_at(address));
        let mark = match breakpoint {
            Some(breakpoint) if breakpoint.enabled => Span::styled("●", MARK),
            Some(_) => Span::styled("○", MARK),
            None => Span::raw(" "),
        };
        let arrow = Span::styled(if is_here { "▶" } else { " " }, CHANGED);
        let style = if is_here { HERE } else { Style::new() };
        let number = Span::styled(number.to_owned(), if is_here { HERE } else { QUIET });
        let (code, comment) = match text.find(';') {
            Some(at) if !text[..at].contains(['"', '\'']) => text.split_at(at),
            _ => (text.as_str(), ""),
        };
        let comment = Span::styled(comment.to_owned(), if is_here { HERE } else { QUIET });
        Line::from(vec![mark, arrow, number, Span::styled(code.to_owned(), style), comment])
    }

    /// Registers in as many columns as there is room for, then the flags.
    fn register_lines(&self, width: u16) -> Vec<Line<'static>> {
        let now = registers(self.debugger);
        let (flags, wide): (Vec<_>, Vec<_>) = now.iter().zip(&self.before).partition(|(now, _)| now.bits == 1);
        let sizes: Vec<(usize, usize)> = wide.iter().map(|(now, _)| (now.name.len(), now.shown().len())).collect();
        let room = usize::from(width.saturating_sub(2));
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
                    Span::styled(format!("{:<gap$}", now.shown()), style),
                ]
            });
            lines.push(Line::from(spans.collect::<Vec<_>>()));
        }
        if !flags.is_empty() {
            let spans = flags.iter().map(|(now, before)| {
                let set = if now.value == 1 { Style::new().add_modifier(Modifier::BOLD) } else { QUIET };
                let style = if now.value == before.value { set } else { CHANGED };
                let name = if now.value == 1 { now.name.to_uppercase() } else { now.name.clone() };
                Span::styled(format!(" {name}"), style)
            });
            lines.push(Line::from(spans.collect::<Vec<_>>()));
        }
        lines
    }

    fn draw_stack(&mut self, frame: &mut Frame, area: Rect) {
        let lines = match self.debugger.call_lines(&mut ()) {
            Ok((calls, cut)) => {
                let mut lines: Vec<Line> = calls
                    .iter()
                    .map(|call| {
                        let at = call.called_at.map(|step| format!("  at step {step}")).unwrap_or_default();
                        Line::from(vec![
                            Span::styled(format!("{} ", call.place.hex), QUIET),
                            Span::styled(call.routine.clone(), LABEL),
                            Span::styled(at, QUIET),
                        ])
                    })
                    .collect();
                if cut {
                    lines.push(Line::styled("… not known before", QUIET));
                }
                lines
            }
            Err(problem) => vec![Line::raw(problem.to_string())],
        };
        frame.render_widget(Paragraph::new(lines).block(pane("calls")), area);
    }

    fn draw_memory(&mut self, frame: &mut Frame, area: Rect) {
        let isa = self.debugger.program().isa().clone();
        let (at, start) = self.memory;
        let described = &isa.memories[at];
        let memory = self.debugger.state().memory(MemoryId(at as u32));
        let digits = described.cell.bits().div_ceil(4) as usize;
        let room = usize::from(area.width).saturating_sub(10);
        let per_row = if room / (digits + 1) >= 8 { 8 } else { 4 };
        let rows = u64::from(area.height.saturating_sub(2));
        let lines = (0..rows).map(|row| {
            let first = start + row * per_row as u64;
            let cells = (first..first + per_row as u64).filter(|address| *address < described.cells());
            let mut spans = vec![Span::styled(format!("{first:04X}  "), QUIET)];
            for address in cells {
                let value = memory.get(address);
                let style = if value == 0 { QUIET } else { Style::new() };
                spans.push(Span::styled(format!("{value:0digits$X} "), style));
            }
            Line::from(spans)
        });
        let title = format!("{} (F3)", described.name);
        frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()).block(pane(&title)), area);
    }

    fn draw_answers(&self, frame: &mut Frame, area: Rect) {
        let height = usize::from(area.height.saturating_sub(2));
        let choices = self.prompt.choices();
        let lines: Vec<Line> = match choices.is_empty() {
            false => vec![Line::raw(choices.iter().take(40).cloned().collect::<Vec<_>>().join("   "))],
            true => {
                let first = self.messages.len().saturating_sub(height);
                let line = |(text, kind): &(String, Kind)| {
                    let style = match kind {
                        Kind::Typed => QUIET,
                        Kind::Answer => Style::new(),
                        Kind::Problem => Style::new().fg(Color::LightRed),
                    };
                    let width = usize::from(area.width.saturating_sub(2));
                    let parts = wrapped(text, width).into_iter();
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

    /// What the program shows: its display, or what it has written. Control characters are shown, not obeyed.
    fn draw_output(&self, frame: &mut Frame, area: Rect) {
        if let Some(display) = self.debugger.instance().devices().find::<Display>() {
            let roomy =
                u32::from(area.width) >= display.width() + 2 && u32::from(area.height) >= display.height() / 2 + 2;
            let rows = if roomy { half_blocks(display) } else { braille(display) };
            frame.render_widget(Paragraph::new(rows).block(pane("display")), area);
            return;
        }
        let (_, bytes) = self.debugger.output();
        let recent = &bytes[bytes.len().saturating_sub(1 << 14)..];
        let width = usize::from(area.width.saturating_sub(2));
        let lines = recent.split(|byte| *byte == b'\n').flat_map(|line| {
            let shown = lathe_debug::printable(line).replace("\\\"", "\"").replace("\\\\", "\\");
            cut(&shown.replace("\\t", "    "), width)
        });
        let lines = lines.map(Line::raw).collect();
        let height = usize::from(area.height.saturating_sub(2));
        frame.render_widget(Paragraph::new(last(lines, height)).block(pane("output")), area);
    }

    /// Columns and rows that the smallest picture of the display takes.
    fn display_size(&self) -> Option<(u16, u16)> {
        let display = self.debugger.instance().devices().find::<Display>()?;
        Some((display.width().div_ceil(2) as u16, display.height().div_ceil(4) as u16))
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
        cells.iter_mut().take(column(position)).for_each(|cell| cell.1 = cell.1.fg(Color::Cyan));
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

/// The widths of names and values in each of this many columns, filled row by row.
fn column_widths(sizes: &[(usize, usize)], columns: usize) -> Vec<(usize, usize)> {
    let column = |at: usize| {
        let cells = || sizes.iter().skip(at).step_by(columns);
        (cells().map(|(name, _)| *name).max().unwrap_or(0), cells().map(|(_, value)| *value).max().unwrap_or(0))
    };
    (0..columns.min(sizes.len())).map(column).collect()
}

/// The last lines, as many as there is room for.
fn last(mut lines: Vec<Line<'static>>, height: usize) -> Vec<Line<'static>> {
    lines.split_off(lines.len().saturating_sub(height))
}

/// A text in lines of a width, broken at blanks where there are some; what follows the first is indented.
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

/// A text in lines of a width, as a terminal would break it.
fn cut(text: &str, width: usize) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let lines = characters.chunks(width.max(1)).map(|line| line.iter().collect());
    if characters.is_empty() { vec![String::new()] } else { lines.collect() }
}

/// Two columns and four rows of pixels for each character, for displays that would not fit otherwise.
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

/// Two rows of pixels for each line of the terminal.
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
    frame.render_widget(Paragraph::new(HELP).block(pane("help")), area);
}
