//! The editor's side: open files in one folder, and the server in another thread.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lsp_server::{Connection, Message, Notification, Request, RequestId, Response};
use serde_json::{Value, json};

/// An editor, connected to the server.
pub(crate) struct Editor {
    connection: Connection,
    server: Option<std::thread::JoinHandle<Result<(), String>>>,
    folder: PathBuf,
    files: BTreeMap<String, File>,
    requests: i32,
}

/// A file of the folder, open or not.
#[derive(Default)]
struct File {
    text: String,
    version: i64,
    colours: String,
    /// The newest findings, and the version they are about, if the file was open.
    found: Option<(Option<i64>, Value)>,
}

impl Editor {
    pub(crate) fn new(folder: &Path) -> Editor {
        let (server, connection) = Connection::memory();
        let server = Some(std::thread::spawn(move || lathe_lsp::serve(&server)));
        let mut editor = Editor { connection, server, folder: folder.to_owned(), files: BTreeMap::new(), requests: 0 };
        let folders = json!([{ "uri": format!("file://{}", folder.display()), "name": "folder" }]);
        editor.request("initialize", json!({ "capabilities": {}, "workspaceFolders": folders })).expect("it begins");
        editor.notify("initialized", json!({}));
        editor
    }

    pub(crate) fn open(&mut self, name: &str, text: &str) {
        let file = self.files.entry(name.to_owned()).or_default();
        (file.text, file.version) = (text.to_owned(), file.version + 1);
        let item =
            json!({ "uri": self.uri(name), "languageId": "lathe", "version": self.files[name].version, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": item }));
    }

    #[allow(dead_code, reason = "not every test closes files")]
    pub(crate) fn close(&mut self, name: &str) {
        self.notify("textDocument/didClose", json!({ "textDocument": { "uri": self.uri(name) } }));
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub(crate) fn uri(&self, name: &str) -> String {
        format!("file://{}", self.path(name).display())
    }

    pub(crate) fn text(&self, name: &str) -> &str {
        &self.files[name].text
    }

    /// Returns a place in a file, in the units of the protocol.
    pub(crate) fn place(&self, name: &str, offset: usize) -> Value {
        let before = &self.text(name)[..offset];
        let line = before.rsplit('\n').next().unwrap_or("");
        json!({ "line": before.matches('\n').count(), "character": line.encode_utf16().count() })
    }

    /// Replaces a part of a file.
    pub(crate) fn edit(&mut self, name: &str, start: usize, end: usize, piece: &str) {
        let range = json!({ "start": self.place(name, start), "end": self.place(name, end) });
        let uri = self.uri(name);
        let file = self.files.get_mut(name).expect("it is open");
        file.text.replace_range(start..end, piece);
        file.version += 1;
        let document = json!({ "uri": uri, "version": file.version });
        let change = json!({ "range": range, "text": piece });
        self.notify("textDocument/didChange", json!({ "textDocument": document, "contentChanges": [change] }));
    }

    /// Returns the findings for the newest version of an open file: line, column, code, message.
    pub(crate) fn findings(&mut self, name: &str) -> Vec<(u64, u64, String, String)> {
        loop {
            let file = &self.files[name];
            if let Some((Some(version), _)) = &file.found
                && *version == file.version
            {
                return self.last_findings(name);
            }
            self.receive();
        }
    }

    /// Returns the last findings in a file, open or not.
    pub(crate) fn last_findings(&self, name: &str) -> Vec<(u64, u64, String, String)> {
        let row = |one: &Value| {
            let start = &one["range"]["start"];
            let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
            let (line, character) = (start["line"].as_u64(), start["character"].as_u64());
            (line.unwrap_or(0), character.unwrap_or(0), text(&one["code"]), text(&one["message"]))
        };
        let found = self.files.get(name).and_then(|file| file.found.as_ref());
        found.and_then(|(_, found)| found.as_array()).into_iter().flatten().map(row).collect()
    }

    /// Asks about a place in a file, or about all of it. The error for an impossible name is an answer, too.
    pub(crate) fn ask(&mut self, method: &str, name: &str, offset: usize) -> Value {
        self.ask_with(method, name, offset, json!({ "newName": "fresh", "query": "a" })).unwrap_or_else(Value::from)
    }

    /// Asks with further parameters; fails with the text of the refusal.
    pub(crate) fn ask_with(&mut self, method: &str, name: &str, offset: usize, more: Value) -> Result<Value, String> {
        let whole = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 100_000, "character": 0 } });
        let mut params = json!({
            "textDocument": { "uri": self.uri(name) },
            "position": self.place(name, offset),
            "range": whole,
            "previousResultId": self.files[name].colours,
            "context": { "includeDeclaration": true, "triggerKind": 1, "isRetrigger": false, "diagnostics": [] },
            "options": { "tabSize": 8, "insertSpaces": true },
        });
        for (key, value) in more.as_object().into_iter().flatten() {
            params[key] = value.clone();
        }
        let area = if method.starts_with("workspace/") { "" } else { "textDocument/" };
        let answer = self.request(&format!("{area}{method}"), params)?;
        if let Some(id) = answer.get("resultId").and_then(Value::as_str) {
            self.files.get_mut(name).expect("it is open").colours = id.to_owned();
        }
        Ok(answer)
    }

    fn request(&mut self, method: &str, params: Value) -> Result<Value, String> {
        self.requests += 1;
        let id = RequestId::from(self.requests);
        self.send(Request { id: id.clone(), method: method.to_owned(), params }.into());
        loop {
            let Message::Response(Response { id: answered, result, error }) = self.receive() else { continue };
            if answered != id {
                continue;
            }
            let Some(error) = error else { return Ok(result.unwrap_or_default()) };
            // Rejecting a malformed request is not an answer.
            assert!(error.code != -32602 && error.code != -32601, "{method}: {error:?}");
            return Err(error.message);
        }
    }

    fn receive(&mut self) -> Message {
        let message = self.connection.receiver.recv().expect("the server is still there");
        if let Message::Notification(Notification { method, params }) = &message
            && method == "textDocument/publishDiagnostics"
            && let Some(name) = params["uri"].as_str().and_then(|uri| uri.rsplit('/').next())
        {
            let file = self.files.entry(name.to_owned()).or_default();
            file.found = Some((params["version"].as_i64(), params["diagnostics"].clone()));
        }
        message
    }

    fn notify(&self, method: &str, params: Value) {
        self.send(Notification { method: method.to_owned(), params }.into());
    }

    fn send(&self, message: Message) {
        self.connection.sender.send(message).expect("the server is still there");
    }

    /// Ends the session.
    pub(crate) fn end(mut self) {
        self.request("shutdown", Value::Null).expect("it ends");
        self.notify("exit", Value::Null);
        let server = self.server.take().map(std::thread::JoinHandle::join);
        assert!(matches!(server, Some(Ok(Ok(())))), "the server ends well");
    }
}
