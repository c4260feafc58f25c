//! The server: requests in, responses out. Each request is one method of [`Server`].

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use lathe_base::{FileId, Span};
use lathe_edit::assembly::{self, Role};
use lathe_edit::completion::{self, Suggestion, SuggestionKind};
use lathe_edit::definition::{self, Kind};
use lathe_edit::signature::{self, Signature};
use lathe_edit::{description, hover, operands};
use lathe_isa::Written;
use lathe_machines::WithShipped;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, Response};
use lsp_types::notification::{
    DidChangeTextDocument, DidChangeWatchedFiles, DidCloseTextDocument, DidOpenTextDocument, DidSaveTextDocument,
    Notification as _, PublishDiagnostics,
};
use lsp_types::request::{
    CodeActionRequest, CodeLensRequest, Completion, DocumentSymbolRequest, FoldingRangeRequest, Formatting,
    GotoDefinition, HoverRequest, InlayHintRequest, PrepareRenameRequest, References, Rename, Request as _,
    SemanticTokensFullDeltaRequest, SemanticTokensFullRequest, SemanticTokensRangeRequest, SignatureHelpRequest,
    WorkspaceSymbolRequest,
};
#[allow(clippy::wildcard_imports, reason = "a server speaks of nearly all types of its protocol")]
use lsp_types::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::document::Document;
use crate::workspace::{Machine, Workspace, is_definition};
use crate::{stdio, wire};

/// Serves one editor over standard input and output until it says goodbye.
///
/// # Errors
/// If the connection breaks, or the editor violates the protocol.
pub fn run() -> Result<(), String> {
    let (connection, threads) = stdio::connect();
    serve(&connection).map_err(|error| threads.problem().unwrap_or(error))?;
    drop(connection);
    threads.join()
}

/// Serves one editor over a connection until it says goodbye.
///
/// # Errors
/// If the connection breaks, or the editor violates the protocol.
pub fn serve(connection: &Connection) -> Result<(), String> {
    let capabilities = serde_json::to_value(capabilities()).map_err(|error| error.to_string())?;
    let params = connection.initialize(capabilities).map_err(|error| error.to_string())?;
    let mut server = Server::default();
    server.workspace.folders = folders(&params);
    for message in &connection.receiver {
        match message {
            Message::Request(request) => {
                if connection.handle_shutdown(&request).map_err(|error| error.to_string())? {
                    return Ok(());
                }
                let response = server.answer(request);
                connection.sender.send(response.into()).map_err(|error| error.to_string())?;
            }
            Message::Notification(notification) => server.notice(&notification),
            Message::Response(_) => {}
        }
        // While the user types, only the last text is worth checking.
        if connection.receiver.is_empty() {
            for notification in server.findings() {
                connection.sender.send(notification.into()).map_err(|error| error.to_string())?;
            }
        }
    }
    Ok(())
}

/// Returns the folders that an editor has open, from its first message.
fn folders(params: &serde_json::Value) -> Vec<PathBuf> {
    let several = params["workspaceFolders"].as_array().into_iter().flatten().map(|folder| &folder["uri"]);
    let mut folders: Vec<PathBuf> =
        several.chain([&params["rootUri"]]).filter_map(|uri| wire::path(&uri.as_str()?.parse().ok()?)).collect();
    folders.sort();
    folders.dedup();
    folders
}

fn capabilities() -> ServerCapabilities {
    let legend = SemanticTokensLegend {
        token_types: wire::CLASSES.iter().map(|(_, name)| name.clone()).collect(),
        token_modifiers: Vec::new(),
    };
    let tokens = SemanticTokensOptions {
        legend,
        full: Some(SemanticTokensFullOptions::Delta { delta: Some(true) }),
        range: Some(true),
        ..SemanticTokensOptions::default()
    };
    ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncKind::INCREMENTAL.into()),
        hover_provider: Some(true.into()),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some([".", "%", "{"].map(str::to_owned).to_vec()),
            ..CompletionOptions::default()
        }),
        signature_help_provider: Some(SignatureHelpOptions {
            trigger_characters: Some([" ", ","].map(str::to_owned).to_vec()),
            ..SignatureHelpOptions::default()
        }),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: WorkDoneProgressOptions::default(),
        })),
        document_symbol_provider: Some(OneOf::Left(true)),
        workspace_symbol_provider: Some(OneOf::Left(true)),
        folding_range_provider: Some(true.into()),
        semantic_tokens_provider: Some(tokens.into()),
        inlay_hint_provider: Some(OneOf::Left(true)),
        code_lens_provider: Some(CodeLensOptions { resolve_provider: Some(false) }),
        code_action_provider: Some(true.into()),
        document_formatting_provider: Some(OneOf::Left(true)),
        ..ServerCapabilities::default()
    }
}

#[derive(Default)]
struct Server {
    workspace: Workspace,
    /// Files with outdated findings.
    dirty: BTreeSet<PathBuf>,
    /// Findings by the program or definition that was checked, and by file.
    found: BTreeMap<PathBuf, BTreeMap<PathBuf, Vec<lsp_types::Diagnostic>>>,
    /// The colours last sent to the editor, with their names: it asks for changes since then.
    colours: BTreeMap<PathBuf, (String, Vec<SemanticToken>)>,
    answers: u64,
}

/// A text that a request is about.
struct Asked<'s> {
    path: PathBuf,
    document: &'s Document,
    offset: usize,
}

impl Server {
    fn answer(&mut self, request: Request) -> Response {
        let Request { id, method, params } = request;
        let result = match method.as_str() {
            HoverRequest::METHOD => with(params, |params| self.hover(&params)),
            Completion::METHOD => with(params, |params| self.completion(&params)),
            SignatureHelpRequest::METHOD => with(params, |params| self.signature(&params)),
            GotoDefinition::METHOD => with(params, |params| self.definition(&params)),
            References::METHOD => with(params, |params| self.references(&params)),
            PrepareRenameRequest::METHOD => with(params, |params| self.prepare_rename(&params)),
            Rename::METHOD => match serde_json::from_value(params) {
                Ok(params) => match self.rename(&params) {
                    Ok(edit) => to_value(edit),
                    Err(message) => return Response::new_err(id, ErrorCode::InvalidRequest as i32, message),
                },
                Err(error) => Err(error.to_string()),
            },
            DocumentSymbolRequest::METHOD => with(params, |params| self.symbols(&params)),
            WorkspaceSymbolRequest::METHOD => with(params, |params| self.workspace_symbols(&params)),
            FoldingRangeRequest::METHOD => with(params, |params| self.folds(&params)),
            SemanticTokensFullRequest::METHOD => with(params, |params| self.colours(&params)),
            SemanticTokensFullDeltaRequest::METHOD => with(params, |params| self.changed_colours(&params)),
            SemanticTokensRangeRequest::METHOD => with(params, |params| self.colours_of_range(&params)),
            InlayHintRequest::METHOD => with(params, |params| self.hints(&params)),
            CodeLensRequest::METHOD => with(params, |params| self.lenses(&params)),
            CodeActionRequest::METHOD => with(params, |params| self.actions(&params)),
            Formatting::METHOD => with(params, |params| self.format(&params)),
            _ => {
                return Response::new_err(id, ErrorCode::MethodNotFound as i32, format!("there is no `{method}` here"));
            }
        };
        match result {
            Ok(value) => Response::new_ok(id, value),
            Err(message) => Response::new_err(id, ErrorCode::InvalidParams as i32, message),
        }
    }

    fn notice(&mut self, notification: &Notification) {
        let params = || notification.params.clone();
        match notification.method.as_str() {
            DidOpenTextDocument::METHOD => {
                let Ok(params) = serde_json::from_value::<DidOpenTextDocumentParams>(params()) else { return };
                let Some(path) = wire::path(&params.text_document.uri) else { return };
                let document = Document::new(params.text_document.text, params.text_document.version);
                self.workspace.documents.insert(path.clone(), document);
                self.touch(path);
            }
            DidChangeTextDocument::METHOD => {
                let Ok(params) = serde_json::from_value::<DidChangeTextDocumentParams>(params()) else { return };
                let Some(path) = wire::path(&params.text_document.uri) else { return };
                let Some(document) = self.workspace.documents.get_mut(&path) else { return };
                for change in params.content_changes {
                    let range = change.range.map(|range| (wire::place(range.start), wire::place(range.end)));
                    document.change(range, &change.text);
                }
                document.version = params.text_document.version;
                self.touch(path);
            }
            DidCloseTextDocument::METHOD => {
                let Ok(params) = serde_json::from_value::<DidCloseTextDocumentParams>(params()) else { return };
                if let Some(path) = wire::path(&params.text_document.uri) {
                    self.workspace.close(&path);
                    self.colours.remove(&path);
                    self.touch(path);
                }
            }
            // Something on disk has changed, perhaps a file that is not open.
            DidSaveTextDocument::METHOD | DidChangeWatchedFiles::METHOD => {
                let open: Vec<PathBuf> = self.workspace.documents.keys().cloned().collect();
                open.into_iter().for_each(|path| self.touch(path));
            }
            _ => {}
        }
    }

    /// Notes that a text has changed, and with it what includes it and, for a definition, every open file.
    fn touch(&mut self, path: PathBuf) {
        self.workspace.forget(&path);
        if is_definition(&path) {
            // Programs may be for this machine, and other definitions may extend it.
            self.dirty.extend(self.workspace.documents.keys().cloned());
        }
        let including = self.found.iter().filter(|(_, files)| files.contains_key(&path));
        self.dirty.extend(including.map(|(main, _)| main.clone()));
        self.dirty.insert(path);
    }

    /// Returns the findings in the changed texts, and in what belongs to them. A file that several programs include has
    /// the findings of all of them, each once.
    fn findings(&mut self) -> Vec<Notification> {
        let dirty = std::mem::take(&mut self.dirty);
        let mut told: BTreeSet<PathBuf> = BTreeSet::new();
        let mut mains: BTreeSet<PathBuf> = BTreeSet::new();
        for path in dirty {
            // A closed file is checked only on behalf of open ones.
            mains.insert(if is_definition(&path) { path.clone() } else { self.workspace.main_of(&path) });
            told.insert(path);
        }
        for main in mains {
            let found = self.findings_of(&main);
            told.extend(found.keys().cloned());
            let is_wanted = found.keys().any(|path| self.workspace.documents.contains_key(path));
            let before = self.found.remove(&main);
            told.extend(before.into_iter().flatten().map(|(path, _)| path));
            if is_wanted {
                self.found.insert(main, found);
            }
        }
        let notification = |path: PathBuf| {
            let mut diagnostics: Vec<lsp_types::Diagnostic> = Vec::new();
            for found in self.found.values().filter_map(|files| files.get(&path)) {
                let new: Vec<_> = found.iter().filter(|one| !diagnostics.contains(one)).cloned().collect();
                diagnostics.extend(new);
            }
            let version = self.workspace.documents.get(&path).map(|document| document.version);
            let params = PublishDiagnosticsParams { uri: wire::uri(&path)?, diagnostics, version };
            Some(Notification::new(PublishDiagnostics::METHOD.to_owned(), params))
        };
        told.into_iter().filter_map(notification).collect()
    }

    /// Returns the findings in a program or a definition, by file.
    fn findings_of(&self, main: &Path) -> BTreeMap<PathBuf, Vec<lsp_types::Diagnostic>> {
        let (sources, paths, diagnostics) = if is_definition(main) {
            let Some(checked) = self.workspace.check(main) else { return BTreeMap::new() };
            let sources = checked.written.sources.clone();
            // A shipped definition is not a file; its findings are about how it is extended.
            let paths = sources.iter().map(|source| main.with_file_name(&source.name)).collect::<Vec<_>>();
            (sources, paths, checked.diagnostics.clone())
        } else {
            let Some(program) = self.workspace.program(main) else {
                return [(main.to_owned(), Vec::new())].into();
            };
            let sources = program.assembled.sources.clone();
            let paths = (0..sources.len()).map(|number| program.path(number).unwrap_or_default()).collect();
            (sources, paths, program.assembled.diagnostics.clone().into_sorted())
        };
        let mut found: BTreeMap<PathBuf, Vec<lsp_types::Diagnostic>> =
            paths.iter().map(|path| (path.clone(), Vec::new())).collect();
        let mut on_disk: BTreeMap<usize, Document> = BTreeMap::new();
        for one in &diagnostics {
            let number = one.primary.span.file.0 as usize;
            let Some(path) = paths.get(number) else { continue };
            let document = self.workspace.documents.get(path).unwrap_or_else(|| {
                on_disk.entry(number).or_insert_with(|| Document::new(sources[number].text.clone(), 0))
            });
            found.entry(path.clone()).or_default().push(wire::diagnostic(document, one));
        }
        found
    }

    fn asked(&self, at: &TextDocumentPositionParams) -> Option<Asked<'_>> {
        let path = wire::path(&at.text_document.uri)?;
        let document = self.workspace.documents.get(&path)?;
        let offset = document.offset(wire::place(at.position));
        Some(Asked { path, document, offset })
    }

    fn document(&self, uri: &Uri) -> Option<(PathBuf, &Document)> {
        let path = wire::path(uri)?;
        let document = self.workspace.documents.get(&path)?;
        Some((path, document))
    }

    fn hover(&self, params: &HoverParams) -> Option<Hover> {
        let asked = self.asked(&params.text_document_position_params)?;
        let text =
            if is_definition(&asked.path) { self.hover_definition(&asked)? } else { self.hover_assembly(&asked)? };
        let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value: text });
        Some(Hover { contents, range: None })
    }

    fn machine_of_definition(&self, path: &Path) -> Option<Rc<Machine>> {
        self.workspace.check(path)?.machine.clone()
    }

    fn hover_definition(&self, asked: &Asked) -> Option<String> {
        let machine = self.machine_of_definition(&asked.path);
        let sheet = machine.as_ref().map(|machine| machine.sheet());
        let project = self.workspace.project(&asked.path);
        hover::definition(&asked.document.text, asked.offset, &WithShipped(&project), sheet)
    }

    fn hover_assembly(&self, asked: &Asked) -> Option<String> {
        let machine = self.workspace.machine(&asked.path)?;
        let program = self.workspace.program(&asked.path);
        let assembled = program.as_ref().map(|program| &program.assembled);
        let cells = || self.cells_of_line(asked);
        hover::assembly(&asked.document.text, asked.offset, (machine.sheet(), &machine.words), assembled, cells)
    }

    /// Returns the address and the cells of the line at a place, if the program can be assembled.
    fn cells_of_line(&self, asked: &Asked) -> Option<String> {
        let line = asked.document.place(asked.offset).line;
        self.encodings(&asked.path, asked.document, line..=line).into_iter().next().map(|(_, text)| text)
    }

    /// Returns the address and the cells of each of these lines that laid down cells.
    fn encodings(&self, path: &Path, document: &Document, lines: RangeInclusive<u32>) -> Vec<(u32, String)> {
        let (Some(program), Some(machine)) = (self.workspace.program(path), self.workspace.machine(path)) else {
            return Vec::new();
        };
        let (Some(image), Some(file)) = (&program.assembled.image, program.file(path)) else { return Vec::new() };
        let bytes = document.bytes(lines);
        let mut found: Vec<(u32, String)> = Vec::new();
        let is_here = |span: Span| span.file == file && bytes.contains(&(span.start as usize));
        for line in image.lines.iter().filter(|line| is_here(line.span)) {
            let memory = machine.isa.memory(line.memory);
            let holds = |segment: &&lathe_asm::Segment| segment.memory == line.memory && segment.contains(line.address);
            let Some(segment) = image.segments.iter().find(holds) else { continue };
            let start = (line.address - segment.start) as usize;
            let digits = memory.cell.bits().div_ceil(4) as usize;
            let shown = segment.cells.iter().skip(start).take((line.cells as usize).min(8));
            let cells: Vec<String> = shown.map(|cell| format!("{cell:0digits$X}")).collect();
            let more = if line.cells > 8 { " …" } else { "" };
            let address = memory.address.bits().div_ceil(4) as usize;
            let text = format!("{:0address$X}: {}{more}", line.address, cells.join(" "));
            found.push((document.place(line.span.start as usize).line, text));
        }
        found.dedup_by_key(|(line, _)| *line);
        found
    }

    fn completion(&self, params: &CompletionParams) -> Option<CompletionResponse> {
        let asked = self.asked(&params.text_document_position)?;
        let text = &asked.document.text;
        let suggestions = if is_definition(&asked.path) {
            completion::definition(text, asked.offset)
        } else {
            let machine = self.workspace.machine(&asked.path);
            completion::assembly(text, asked.offset, machine.as_ref().map(|machine| (machine.sheet(), &machine.words)))
        };
        Some(CompletionResponse::Array(suggestions.into_iter().map(item).collect()))
    }

    fn signature(&self, params: &SignatureHelpParams) -> Option<SignatureHelp> {
        let asked = self.asked(&params.text_document_position_params)?;
        let text = &asked.document.text;
        let (found, active) = if is_definition(&asked.path) {
            let machine = self.machine_of_definition(&asked.path);
            signature::definition(text, asked.offset, machine.as_ref().map(|machine| machine.sheet()))?
        } else {
            let machine = self.workspace.machine(&asked.path)?;
            signature::assembly(text, asked.offset, (machine.sheet(), &machine.words))?
        };
        let active_parameter = Some(active as u32);
        let documentation = |text: String| Some(text).filter(|text| !text.is_empty()).map(Documentation::String);
        let parameter = |(label, about): (String, String)| ParameterInformation {
            label: ParameterLabel::Simple(label),
            documentation: documentation(about),
        };
        let signature = |one: Signature| SignatureInformation {
            label: one.label,
            documentation: documentation(one.documentation),
            parameters: Some(one.parameters.into_iter().map(parameter).collect()),
            active_parameter,
        };
        let signatures = found.into_iter().map(signature).collect();
        Some(SignatureHelp { signatures, active_signature: None, active_parameter })
    }

    fn definition(&self, params: &GotoDefinitionParams) -> Option<GotoDefinitionResponse> {
        let asked = self.asked(&params.text_document_position_params)?;
        let found = if is_definition(&asked.path) { self.declaration(&asked)? } else { self.label(&asked)? };
        Some(GotoDefinitionResponse::Scalar(found))
    }

    fn declaration(&self, asked: &Asked) -> Option<Location> {
        let reading = definition::Reading::new(&asked.document.text);
        let word = reading.word_at(asked.offset)?;
        let Some(declared) = reading.named(word.text) else { return self.inherited(asked, word.text) };
        Some(Location { uri: wire::uri(&asked.path)?, range: wire::span(asked.document, declared.span) })
    }

    /// Returns where a file that this definition extends or includes declares a name.
    fn inherited(&self, asked: &Asked, name: &str) -> Option<Location> {
        let main = self.workspace.main_definition_of(&asked.path);
        let checked = self.workspace.check(&main)?;
        let span = checked.names.get(name)?.span;
        self.in_definition(&checked.written, &main, span)
    }

    /// Returns a label's line, the row of a mnemonic, the mode of an operand, or the declaration of a register.
    fn label(&self, asked: &Asked) -> Option<Location> {
        let machine = self.workspace.machine(&asked.path)?;
        let reading = assembly::Reading::new(&asked.document.text, &machine.words);
        if let Some(name) = reading.name_at(asked.offset) {
            return self
                .occurrences(&asked.path, &name.name)
                .into_iter()
                .find(|(_, _, role)| *role != Role::Use)
                .map(|(path, range, _)| Some(Location { uri: wire::uri(&path)?, range }))?;
        }
        let statement = reading.statement_at(asked.offset)?;
        let word = &reading.text[statement.operation.0..statement.operation.1];
        let path = machine.path.clone()?;
        if let Some(operand) = operands::operand_at(&reading, statement, asked.offset) {
            let mode = operands::mode((machine.sheet(), &machine.words), word, operand);
            let mode = mode.and_then(|(operand, mode)| {
                let declared = machine.isa.operands.iter().find(|one| one.name == operand.name)?;
                Some(declared.modes.iter().find(|one| one.syntax == mode.syntax)?.span)
            });
            let register = || machine.isa.names.get(reading.word_at(asked.offset)?).map(|known| known.span);
            if let Some(span) = mode.or_else(register) {
                return self.in_definition(&machine.written, &path, span);
            }
        }
        let (row, _) = *description::forms(machine.sheet(), word).first()?;
        let span = machine.isa.instructions.iter().find(|one| format!("row-{}", one.row) == row.id)?.span;
        let syntax = Span { end: span.start + row.syntax.len() as u32, ..span };
        self.in_definition(&machine.written, &path, syntax)
    }

    /// Returns a place in one of a definition's files. A shipped definition is not a file.
    fn in_definition(&self, written: &Written, path: &Path, span: Span) -> Option<Location> {
        let source = written.sources.get(span.file.0 as usize)?;
        let path = path.with_file_name(&source.name);
        let document = Document::new(source.text.clone(), 0);
        self.workspace
            .text(&path)
            .is_some()
            .then_some(Location { uri: wire::uri(&path)?, range: wire::span(&document, span) })
    }

    /// Returns every occurrence of a name in all files of the program.
    fn occurrences(&self, path: &Path, name: &str) -> Vec<(PathBuf, Range, Role)> {
        let Some(machine) = self.workspace.machine(path) else { return Vec::new() };
        let mut files: Vec<PathBuf> = vec![path.to_owned()];
        if let Some(program) = self.workspace.program(path) {
            files.extend((0..program.assembled.sources.len()).filter_map(|number| program.path(number)));
        }
        files.sort();
        files.dedup();
        let mut found = Vec::new();
        for file in files {
            let Some(text) = self.workspace.text(&file) else { continue };
            let document = Document::new(text.into_owned(), 0);
            let reading = assembly::Reading::new(&document.text, &machine.words);
            for one in reading.names.iter().filter(|one| one.name == name) {
                found.push((file.clone(), wire::range(&document, one.start, one.end), one.role));
            }
        }
        found
    }

    fn references(&self, params: &ReferenceParams) -> Option<Vec<Location>> {
        let asked = self.asked(&params.text_document_position)?;
        let places = self.places(&asked)?;
        let location = |(path, range): &(PathBuf, Range)| Some(Location { uri: wire::uri(path)?, range: *range });
        Some(places.iter().filter_map(location).collect())
    }

    /// Returns every occurrence of the name at a place.
    fn places(&self, asked: &Asked) -> Option<Vec<(PathBuf, Range)>> {
        if is_definition(&asked.path) {
            let reading = definition::Reading::new(&asked.document.text);
            let word = reading.word_at(asked.offset).filter(|word| word.is_name)?;
            return self.places_in_definition(asked, word.text);
        }
        let machine = self.workspace.machine(&asked.path)?;
        let reading = assembly::Reading::new(&asked.document.text, &machine.words);
        let name = reading.name_at(asked.offset)?;
        Some(self.occurrences(&asked.path, &name.name).into_iter().map(|(path, range, _)| (path, range)).collect())
    }

    /// Returns every occurrence of a name in all files of a definition, if one of them declares it.
    fn places_in_definition(&self, asked: &Asked, name: &str) -> Option<Vec<(PathBuf, Range)>> {
        let main = self.workspace.main_definition_of(&asked.path);
        let checked = self.workspace.check(&main)?;
        let mut files: BTreeSet<PathBuf> =
            checked.written.sources.iter().map(|source| main.with_file_name(&source.name)).collect();
        files.insert(asked.path.clone());
        let (mut places, mut is_declared) = (Vec::new(), false);
        for path in files {
            // A shipped definition is not a file.
            let Some(text) = self.workspace.text(&path) else { continue };
            let document = Document::new(text.into_owned(), 0);
            let reading = definition::Reading::new(&document.text);
            is_declared |= reading.named(name).is_some();
            let range = |word: definition::Word| wire::range(&document, word.start, word.start + word.text.len());
            places.extend(reading.references(name).into_iter().map(|word| (path.clone(), range(word))));
        }
        is_declared.then_some(places)
    }

    fn prepare_rename(&self, params: &TextDocumentPositionParams) -> Option<PrepareRenameResponse> {
        let asked = self.asked(params)?;
        let places = self.places(&asked)?;
        let here = wire::position(asked.document, asked.offset);
        let (_, range) =
            places.into_iter().find(|(path, range)| *path == asked.path && range.start <= here && here <= range.end)?;
        Some(PrepareRenameResponse::Range(range))
    }

    fn rename(&self, params: &RenameParams) -> Result<Option<WorkspaceEdit>, String> {
        let Some(asked) = self.asked(&params.text_document_position) else { return Ok(None) };
        let Some(places) = self.places(&asked) else { return Ok(None) };
        let mut new = params.new_name.clone();
        let is_word = |name: &str| {
            !name.is_empty()
                && !name.starts_with(|c: char| c.is_ascii_digit())
                && name.chars().all(|c| c.is_alphanumeric() || c == '_')
        };
        if is_definition(&asked.path) {
            let reading = definition::Reading::new(&asked.document.text);
            let old = reading.word_at(asked.offset).map_or("", |word| word.text);
            if !is_word(&new) {
                return Err(format!("`{new}` is not a name: use letters, digits and _, and no digit first"));
            }
            if reading.named(&new).is_some() {
                return Err(format!("`{new}` is declared already"));
            }
            if new.chars().count() > 1 && reading.references(old).iter().any(|word| word.in_picture) {
                return Err(format!(
                    "`{old}` stands for bits in a picture, one letter a bit; a longer name needs `{{{new}}}` there first"
                ));
            }
        } else {
            let plain = new.trim_start_matches('.').to_owned();
            if !plain.split('.').all(is_word) {
                return Err(format!("`{new}` is not a name: use letters, digits and _, and no digit first"));
            }
            let line =
                asked.document.text[..asked.offset].rfind([' ', '\t', '\n', ',', '(', ':']).map_or(0, |at| at + 1);
            if asked.document.text[line..].starts_with('.') && !new.starts_with('.') {
                new.insert(0, '.');
            }
        }
        let mut files: BTreeMap<PathBuf, Vec<Range>> = BTreeMap::new();
        places.into_iter().for_each(|(path, range)| files.entry(path).or_default().push(range));
        self.check_rename(&asked.path, &files, &new)?;
        #[allow(clippy::mutable_key_type, reason = "the protocol's own choice of a key")]
        let mut changes: std::collections::HashMap<Uri, Vec<TextEdit>> = std::collections::HashMap::new();
        for (path, ranges) in files {
            let edits = ranges.into_iter().map(|range| TextEdit { range, new_text: new.clone() });
            if let Some(uri) = wire::uri(&path) {
                changes.insert(uri, edits.collect());
            }
        }
        Ok(Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }))
    }

    /// Tries a new name: what was sound must stay sound, and a program must stay the same.
    fn check_rename(&self, path: &Path, files: &BTreeMap<PathBuf, Vec<Range>>, new: &str) -> Result<(), String> {
        let mut changed: BTreeMap<PathBuf, String> = BTreeMap::new();
        for (path, ranges) in files {
            let Some(text) = self.workspace.text(path) else { continue };
            let mut document = Document::new(text.into_owned(), 0);
            // From the end, so that earlier places do not move.
            let mut ranges = ranges.clone();
            ranges.sort_by_key(|range| std::cmp::Reverse(range.start));
            for range in ranges {
                document.change(Some((wire::place(range.start), wire::place(range.end))), new);
            }
            changed.insert(path.clone(), document.text);
        }
        match self.workspace.problem_with(path, changed) {
            Some(problem) => Err(format!("with the name `{new}`, {problem}")),
            None => Ok(()),
        }
    }

    fn outline(&self, path: &Path, document: &Document) -> Vec<(String, SymbolKind, Range)> {
        if is_definition(path) {
            let reading = definition::Reading::new(&document.text);
            let listed = reading.declared.iter();
            return listed
                .map(|one| (one.name.clone(), symbol_kind(one.kind), wire::span(document, one.span)))
                .collect();
        }
        let machine = self.workspace.machine(path);
        let default = assembly::Words::default();
        let reading =
            assembly::Reading::new(&document.text, machine.as_ref().map_or(&default, |machine| &machine.words));
        let kind = |role: Role| match role {
            Role::Constant => SymbolKind::CONSTANT,
            Role::Macro => SymbolKind::FUNCTION,
            _ => SymbolKind::CLASS,
        };
        reading
            .definitions()
            .map(|one| (one.name.clone(), kind(one.role), wire::range(document, one.start, one.end)))
            .collect()
    }

    fn symbols(&self, params: &DocumentSymbolParams) -> Option<DocumentSymbolResponse> {
        let (path, document) = self.document(&params.text_document.uri)?;
        #[allow(deprecated, reason = "the protocol's type has a field that is no longer used")]
        let symbol = |(name, kind, range): (String, SymbolKind, Range)| DocumentSymbol {
            name: if name.is_empty() { "?".to_owned() } else { name },
            detail: None,
            kind,
            tags: None,
            deprecated: None,
            range,
            selection_range: range,
            children: None,
        };
        Some(DocumentSymbolResponse::Nested(self.outline(&path, document).into_iter().map(symbol).collect()))
    }

    fn workspace_symbols(&self, params: &WorkspaceSymbolParams) -> Option<WorkspaceSymbolResponse> {
        let query = params.query.to_lowercase();
        let mut found = Vec::new();
        for path in self.workspace.files() {
            let Some(text) = self.workspace.text(&path) else { continue };
            let document = Document::new(text.into_owned(), 0);
            for (name, kind, range) in self.outline(&path, &document) {
                if !name.to_lowercase().contains(&query) {
                    continue;
                }
                let Some(uri) = wire::uri(&path) else { continue };
                #[allow(deprecated, reason = "the protocol's type has a field that is no longer used")]
                found.push(SymbolInformation {
                    name,
                    kind,
                    tags: None,
                    deprecated: None,
                    location: Location { uri, range },
                    container_name: None,
                });
            }
        }
        Some(WorkspaceSymbolResponse::Flat(found))
    }

    fn folds(&self, params: &FoldingRangeParams) -> Option<Vec<FoldingRange>> {
        let (path, document) = self.document(&params.text_document.uri)?;
        let blocks = if is_definition(&path) {
            definition::Reading::new(&document.text).blocks()
        } else {
            let machine = self.workspace.machine(&path);
            let default = assembly::Words::default();
            let words = machine.as_ref().map_or(&default, |machine| &machine.words);
            assembly::Reading::new(&document.text, words).blocks(words, |at| document.place(at).line as usize)
        };
        let fold = |(start, end): (usize, usize)| FoldingRange {
            start_line: start as u32,
            end_line: end as u32,
            ..FoldingRange::default()
        };
        Some(blocks.into_iter().map(fold).collect())
    }

    /// Returns the colours of a part of a text.
    fn coloured(&self, uri: &Uri, lines: RangeInclusive<u32>) -> Option<(PathBuf, Vec<SemanticToken>)> {
        let (path, document) = self.document(uri)?;
        let bytes = document.bytes(lines);
        let mut pieces = if is_definition(&path) {
            definition::Reading::new(&document.text).pieces().0
        } else {
            let machine = self.workspace.machine(&path);
            let default = assembly::Words::default();
            let words = machine.as_ref().map_or(&default, |machine| &machine.words);
            assembly::pieces(&document.text, bytes.clone(), words)
        };
        pieces.retain(|piece| piece.start < bytes.end && bytes.start < piece.end);
        Some((path, wire::tokens(document, &pieces)))
    }

    fn colours_of_range(&self, params: &SemanticTokensRangeParams) -> Option<SemanticTokensRangeResult> {
        let lines = params.range.start.line..=params.range.end.line;
        let (_, data) = self.coloured(&params.text_document.uri, lines)?;
        Some(SemanticTokensRangeResult::Tokens(SemanticTokens { result_id: None, data }))
    }

    fn colours(&mut self, params: &SemanticTokensParams) -> Option<SemanticTokensResult> {
        let (path, data) = self.coloured(&params.text_document.uri, 0..=u32::MAX)?;
        let (result_id, _) = self.told(path, data.clone());
        Some(SemanticTokensResult::Tokens(SemanticTokens { result_id: Some(result_id), data }))
    }

    /// Notes the colours sent to an editor, under a new name; returns that name and what was sent before.
    fn told(&mut self, path: PathBuf, data: Vec<SemanticToken>) -> (String, Option<(String, Vec<SemanticToken>)>) {
        self.answers += 1;
        let name = self.answers.to_string();
        let before = self.colours.insert(path, (name.clone(), data));
        (name, before)
    }

    fn changed_colours(&mut self, params: &SemanticTokensDeltaParams) -> Option<SemanticTokensFullDeltaResult> {
        let (path, data) = self.coloured(&params.text_document.uri, 0..=u32::MAX)?;
        let (result_id, before) = self.told(path, data.clone());
        let result_id = Some(result_id);
        Some(match before.filter(|(name, _)| *name == params.previous_result_id) {
            Some((_, old)) => SemanticTokensDelta { result_id, edits: wire::changed_tokens(&old, &data) }.into(),
            None => SemanticTokens { result_id, data }.into(),
        })
    }

    fn hints(&self, params: &InlayHintParams) -> Option<Vec<InlayHint>> {
        let (path, document) = self.document(&params.text_document.uri)?;
        let lines = params.range.start.line..=params.range.end.line;
        let hint = |line: u32, text: String| InlayHint {
            position: Position { line, character: document.line(line as usize).encode_utf16().count() as u32 },
            label: InlayHintLabel::String(text),
            kind: None,
            text_edits: None,
            tooltip: None,
            padding_left: Some(true),
            padding_right: None,
            data: None,
        };
        if is_definition(&path) {
            let checked = self.workspace.check(&path)?;
            let machine = checked.machine.as_ref()?;
            let bytes = document.bytes(lines);
            let is_here = |span: Span| span.file == FileId(0) && bytes.contains(&(span.start as usize));
            let declared = checked.names.iter().filter(|(_, entry)| is_here(entry.span));
            let mut found: Vec<(u32, String)> = declared
                .filter_map(|(name, entry)| {
                    let field = machine.isa.fields.iter().find(|field| field.name == name)?;
                    let stored = field.width.bits() - field.unstored_bits();
                    let bits = if stored == 1 { "1 bit".to_owned() } else { format!("{stored} bits") };
                    Some((document.place(entry.span.start as usize).line, bits))
                })
                .collect();
            found.sort();
            found.dedup_by_key(|(line, _)| *line);
            return Some(found.into_iter().map(|(line, text)| hint(line, text)).collect());
        }
        let all = self.encodings(&path, document, lines);
        Some(all.into_iter().map(|(line, text)| hint(line, text)).collect())
    }

    fn lenses(&self, params: &CodeLensParams) -> Option<Vec<CodeLens>> {
        let (path, document) = self.document(&params.text_document.uri)?;
        let lens = |range: Range, title: String, command: &str| CodeLens {
            range,
            command: Some(Command {
                title,
                command: command.to_owned(),
                arguments: Some(vec![serde_json::Value::String(params.text_document.uri.as_str().to_owned())]),
            }),
            data: None,
        };
        let top = wire::range(document, 0, 0);
        if !is_definition(&path) {
            let named = document.text.contains(".machine");
            return Some(if named {
                vec![lens(top, "Run".into(), "lathe.run"), lens(top, "Debug".into(), "lathe.debug")]
            } else {
                Vec::new()
            });
        }
        let reading = definition::Reading::new(&document.text);
        let machine = self.machine_of_definition(&path);
        let mut lenses = Vec::new();
        for one in &reading.declared {
            let range = wire::span(document, one.span);
            match one.kind {
                Kind::Machine => {
                    lenses.push(lens(range, "Opcode map".into(), "lathe.opcodeMap"));
                    lenses.push(lens(range, "Datasheet".into(), "lathe.datasheet"));
                }
                Kind::Example => {
                    let examples = machine.iter().flat_map(|machine| &machine.sheet().examples);
                    let found = examples
                        .filter(|example| example.source == one.name)
                        .map(|example| example.passed)
                        .reduce(|all, one| all && one);
                    let title = match found {
                        Some(true) => "as written",
                        Some(false) => "comes out differently",
                        None => continue,
                    };
                    lenses.push(lens(range, title.into(), "lathe.check"));
                }
                _ => {}
            }
        }
        Some(lenses)
    }

    /// Returns the fixes of diagnostics as code actions.
    fn actions(&self, params: &CodeActionParams) -> Option<CodeActionResponse> {
        let (path, document) = self.document(&params.text_document.uri)?;
        let found: Vec<lathe_base::Diagnostic> = if is_definition(&path) {
            let checked = self.workspace.check(&path)?;
            checked.diagnostics.iter().filter(|one| one.primary.span.file == FileId(0)).cloned().collect()
        } else {
            let program = self.workspace.program(&path)?;
            let file = program.file(&path);
            let sorted = program.assembled.diagnostics.clone().into_sorted();
            sorted.into_iter().filter(|one| Some(one.primary.span.file) == file).collect()
        };
        let mut actions = Vec::new();
        for one in &found {
            let range = wire::span(document, one.primary.span);
            if range.end < params.range.start || params.range.end < range.start {
                continue;
            }
            for fix in one.fixes.iter().filter(|fix| fix.span.file == one.primary.span.file) {
                let place = wire::span(document, fix.span);
                let old = document.text.get(fix.span.range()).unwrap_or("");
                let title = match () {
                    () if old.is_empty() => format!("Insert `{}`", fix.text.trim()),
                    () if fix.text.trim().is_empty() => format!("Remove `{}`", old.trim()),
                    () => format!("Replace `{}` with `{}`", old.trim(), fix.text.trim()),
                };
                #[allow(clippy::mutable_key_type, reason = "the protocol's own choice of a key")]
                let changes =
                    [(params.text_document.uri.clone(), vec![TextEdit { range: place, new_text: fix.text.clone() }])];
                actions.push(CodeActionOrCommand::CodeAction(CodeAction {
                    title,
                    kind: Some(CodeActionKind::QUICKFIX),
                    diagnostics: Some(vec![wire::diagnostic(document, one)]),
                    edit: Some(WorkspaceEdit { changes: Some(changes.into()), ..WorkspaceEdit::default() }),
                    ..CodeAction::default()
                }));
            }
        }
        Some(actions)
    }

    fn format(&self, params: &DocumentFormattingParams) -> Option<Vec<TextEdit>> {
        let (path, document) = self.document(&params.text_document.uri)?;
        let new = if is_definition(&path) {
            lathe_fmt::definition(&document.text)
        } else {
            let machine = self.workspace.machine(&path);
            lathe_fmt::assembly(&document.text, machine.as_ref().map(|machine| &machine.isa))
        };
        Some(wire::replace_all(document, &new))
    }
}

fn item(suggestion: Suggestion) -> CompletionItem {
    let kind = match suggestion.kind {
        SuggestionKind::Keyword => CompletionItemKind::KEYWORD,
        SuggestionKind::Instruction | SuggestionKind::Function => CompletionItemKind::FUNCTION,
        SuggestionKind::Macro => CompletionItemKind::SNIPPET,
        SuggestionKind::Register => CompletionItemKind::VARIABLE,
        SuggestionKind::Operand => CompletionItemKind::TYPE_PARAMETER,
        SuggestionKind::Label => CompletionItemKind::CLASS,
        SuggestionKind::Constant => CompletionItemKind::CONSTANT,
        SuggestionKind::Method => CompletionItemKind::METHOD,
    };
    CompletionItem {
        label: suggestion.label,
        kind: Some(kind),
        detail: Some(suggestion.detail).filter(|detail| !detail.is_empty()),
        insert_text_format: suggestion.template.as_ref().map(|_| InsertTextFormat::SNIPPET),
        insert_text: suggestion.template,
        ..CompletionItem::default()
    }
}

fn symbol_kind(kind: Kind) -> SymbolKind {
    match kind {
        Kind::Machine => SymbolKind::MODULE,
        Kind::Memory | Kind::Device => SymbolKind::OBJECT,
        Kind::Pc | Kind::Register | Kind::View => SymbolKind::VARIABLE,
        Kind::Field | Kind::Family | Kind::Operand => SymbolKind::TYPE_PARAMETER,
        Kind::Mode => SymbolKind::ENUM_MEMBER,
        Kind::Prefix => SymbolKind::OPERATOR,
        Kind::Trap => SymbolKind::ENUM_MEMBER,
        Kind::Width => SymbolKind::CONSTANT,
        Kind::Function => SymbolKind::FUNCTION,
        Kind::Row | Kind::Pseudo => SymbolKind::METHOD,
        Kind::Example => SymbolKind::EVENT,
    }
}

fn to_value<R: Serialize>(result: R) -> Result<serde_json::Value, String> {
    serde_json::to_value(result).map_err(|error| error.to_string())
}

/// Parses the parameters, and serializes the answer.
fn with<P: DeserializeOwned, R: Serialize>(
    params: serde_json::Value,
    answer: impl FnOnce(P) -> R,
) -> Result<serde_json::Value, String> {
    let params = serde_json::from_value(params).map_err(|error| error.to_string())?;
    to_value(answer(params))
}
