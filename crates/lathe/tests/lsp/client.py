"""The language server driven by pygls, a client that was not written for it.

    python3 client.py LATHE FOLDER [EDITS]

Asks every request on shipped and on broken files, then makes random edits and compares the findings with
those of `lathe check` and `lathe asm`. Prints its seed; ends with an error at the first difference."""

import asyncio
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from lsprotocol import types as t
from pygls.lsp.client import LanguageClient

LATHE, ROOT = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]).resolve()
EDITS = int(sys.argv[3]) if len(sys.argv) > 3 else 200
SEED = 0x5EED


class Editor:
    """One open file, and what the server said about it last."""

    def __init__(self, client, path):
        self.client, self.path, self.uri = client, path, path.as_uri()
        self.text, self.version = path.read_text(), 1
        self.found = asyncio.Queue()

    def open(self):
        item = t.TextDocumentItem(uri=self.uri, language_id="lathe", version=1, text=self.text)
        self.client.text_document_did_open(t.DidOpenTextDocumentParams(text_document=item))

    def edit(self, start, end, text):
        """Replaces the characters from start to end, and tells the server so."""
        where = t.Range(start=self.position(start), end=self.position(end))
        self.text = self.text[:start] + text + self.text[end:]
        self.version += 1
        change = t.TextDocumentContentChangePartial(range=where, text=text)
        document = t.VersionedTextDocumentIdentifier(uri=self.uri, version=self.version)
        params = t.DidChangeTextDocumentParams(text_document=document, content_changes=[change])
        self.client.text_document_did_change(params)

    def position(self, offset):
        before = self.text[:offset]
        line = before.rsplit("\n", 1)[-1]
        return t.Position(line=before.count("\n"), character=len(line.encode("utf-16-le")) // 2)

    async def findings(self):
        """The findings for the newest version."""
        while True:
            params = await asyncio.wait_for(self.found.get(), 60)
            if params.version == self.version:
                return [(d.range.start.line + 1, d.code) for d in params.diagnostics]

    def at(self, needle, inside=0):
        offset = self.text.index(needle) + inside
        document = t.TextDocumentIdentifier(uri=self.uri)
        return {"text_document": document, "position": self.position(offset)}


def expected(path, text):
    """What the command line says about this text, which lies beside the file in a scratch folder."""
    scratch = path.with_name("scratch" + path.suffix)
    scratch.write_text(text)
    command = ["check", scratch.name, "--format", "json"] if path.suffix == ".isa" else ["asm", scratch.name, "-o", "-"]
    run = subprocess.run([LATHE, *command], capture_output=True, text=True, errors="replace", cwd=path.parent)
    scratch.unlink()
    if path.suffix == ".isa":
        return [(d["primary"]["start"]["line"], d["code"]) for d in json.loads(run.stdout)["diagnostics"]]
    found = re.findall(r"^(?:error|warning)\[(\w+)\].*?\n *--> scratch\.asm:(\d+):", run.stderr, re.M | re.S)
    return [(int(line), code) for code, line in found]


async def requests(editor, client, name, needle):
    """Every request, once. Answers must come; what they say is checked where it is known."""
    document = t.TextDocumentIdentifier(uri=editor.uri)
    here = editor.at(needle, 1)
    whole = t.Range(start=t.Position(line=0, character=0), end=t.Position(line=10_000, character=0))
    context = t.CodeActionContext(diagnostics=[])
    answers = {
        "hover": await client.text_document_hover_async(t.HoverParams(**here)),
        "completion": await client.text_document_completion_async(t.CompletionParams(**here)),
        "signature": await client.text_document_signature_help_async(t.SignatureHelpParams(**here)),
        "definition": await client.text_document_definition_async(t.DefinitionParams(**here)),
        "references": await client.text_document_references_async(
            t.ReferenceParams(**here, context=t.ReferenceContext(include_declaration=True))
        ),
        "symbols": await client.text_document_document_symbol_async(t.DocumentSymbolParams(text_document=document)),
        "workspace": await client.workspace_symbol_async(t.WorkspaceSymbolParams(query="")),
        "folds": await client.text_document_folding_range_async(t.FoldingRangeParams(text_document=document)),
        "colours": await client.text_document_semantic_tokens_full_async(t.SemanticTokensParams(text_document=document)),
        "hints": await client.text_document_inlay_hint_async(t.InlayHintParams(text_document=document, range=whole)),
        "lenses": await client.text_document_code_lens_async(t.CodeLensParams(text_document=document)),
        "actions": await client.text_document_code_action_async(
            t.CodeActionParams(text_document=document, range=whole, context=context)
        ),
        "format": await client.text_document_formatting_async(
            t.DocumentFormattingParams(
                text_document=document, options=t.FormattingOptions(tab_size=8, insert_spaces=True)
            )
        ),
    }
    for what in ("completion", "symbols", "workspace", "colours"):
        assert answers[what], f"{name}: no {what}"
    return answers


async def known_answers(client, editors):
    """What the answers say, on files that are known."""
    isa, asm = editors["quad8.isa"], editors["hello.asm"]
    hover = await client.text_document_hover_async(t.HoverParams(**isa.at("DDSS | D = D - S", 1)))
    assert "register { a, b, c, d }" in hover.contents.value, hover
    for needle, inside, wanted in [
        ("pc[15:8] ++ S", 9, "`pc[15:8] ++ S` is 16 bits wide"),
        ("D = ~(D & S)", 8, "`D & S` is 8 bits wide"),
        ("D == 0", 5, "`0` = 0 (0x0) is 8 bits wide"),
        ("D == 0", 2, "`D == 0` is 1 bit wide"),
    ]:
        hover = await client.text_document_hover_async(t.HoverParams(**isa.at(needle, inside)))
        assert hover.contents.value.startswith(wanted), (needle, hover)
    refs = t.ReferenceParams(**isa.at("stackpage, sp", 1), context=t.ReferenceContext(include_declaration=True))
    found = await client.text_document_references_async(refs)
    lines = isa.text.split("\n")
    assert all("stackpage" in lines[place.range.start.line] for place in found) and len(found) >= 4, found
    rename = await client.text_document_rename_async(t.RenameParams(**isa.at("field I ", 6), new_name="J"))
    edits = sorted(next(iter(rename.changes.values())), key=lambda edit: (edit.range.start.line, edit.range.start.character))
    for edit in reversed(edits):
        start = sum(len(line) + 1 for line in lines[: edit.range.start.line]) + edit.range.start.character
        assert isa.text[start] == "I", (edit, isa.text[start - 5 : start + 5])
    assert len(edits) == 1 + 1 + 4 + 1, edits

    hover = await client.text_document_hover_async(t.HoverParams(**asm.at("loadimm", 2)))
    assert "0001 AAAA VVVVVVVV" in hover.contents.value and "11" in hover.contents.value, hover
    place = await client.text_document_definition_async(t.DefinitionParams(**asm.at("jmp .again", 5)))
    assert asm.text.split("\n")[place.range.start.line].startswith(".again:"), place
    hints = await client.text_document_inlay_hint_async(
        t.InlayHintParams(
            text_document=t.TextDocumentIdentifier(uri=asm.uri),
            range=t.Range(start=t.Position(line=0, character=0), end=t.Position(line=99, character=0)),
        )
    )
    assert any(hint.label == "0000: 11 48" for hint in hints), hints
    rename = await client.text_document_rename_async(t.RenameParams(**asm.at("start:", 1), new_name="begin"))
    assert len(next(iter(rename.changes.values()))) == 2, rename
    help_ = await client.text_document_signature_help_async(t.SignatureHelpParams(**asm.at("loadimm r1, 72", 12)))
    assert help_.signatures[0].label == "loadimm A, V" and help_.active_parameter == 1, help_
    items = await client.text_document_completion_async(t.CompletionParams(**asm.at("loadimm", 3)))
    assert {"loadimm", "storemem", ".byte", "mov"} <= {item.label for item in items}


async def modes(client, editors):
    """Operands that can be written in several ways, in a program and in the definition."""
    asm, isa = editors["modes.asm"], editors["mine.isa"]
    lines = isa.text.split("\n")
    for needle, inside, mode in [("(r1)+", 1, "(Q)+"), ("4(r2)", 0, "X(Q)"), ("@#0xFF76", 3, "@#A"), ("-(sp)", 0, "-(Q)")]:
        hover = await client.text_document_hover_async(t.HoverParams(**asm.at(needle, inside)))
        assert hover.contents.value.startswith(f"**`{mode}`** of "), (needle, hover)
        place = await client.text_document_definition_async(t.DefinitionParams(**asm.at(needle, inside)))
        row = lines[place.range.start.line]
        assert place.uri == isa.uri and row.split("|")[0].strip() == mode, (needle, row)
    items = await client.text_document_completion_async(t.CompletionParams(**asm.at("4(r2)")))
    assert {item.insert_text for item in items} >= {"(${1:Q})+", "${1:X}(${2:Q})"}, items
    help_ = await client.text_document_signature_help_async(t.SignatureHelpParams(**asm.at("4(r2)")))
    assert help_.active_parameter == 1 and "@X(Q)" in help_.signatures[0].parameters[1].documentation, help_
    hover = await client.text_document_hover_async(t.HoverParams(**isa.at("mov S, D", 4)))
    assert "operand S, T : u6 of uK {" in hover.contents.value and "What is only read." in hover.contents.value, hover
    place = await client.text_document_definition_async(t.DefinitionParams(**isa.at("mov S, D", 4)))
    assert lines[place.range.start.line].startswith("operand S, T"), place
    help_ = await client.text_document_signature_help_async(t.SignatureHelpParams(**isa.at("size(code(Q), K)", 14)))
    assert help_.signatures[0].label.startswith("size(register: u3, bits: u16)") and help_.active_parameter == 1, help_


async def quick_fix(client, editors):
    """A next step of a diagnostic, as an edit."""
    isa = editors["quad8.isa"]
    at = isa.text.index("stackpage ++ sp")
    isa.edit(at, at + 9, "stackpge")
    assert [code for _, code in await isa.findings()] == ["E201"]
    document = t.TextDocumentIdentifier(uri=isa.uri)
    where = t.Range(start=isa.position(at), end=isa.position(at + 3))
    params = t.CodeActionParams(text_document=document, range=where, context=t.CodeActionContext(diagnostics=[]))
    actions = await client.text_document_code_action_async(params)
    assert actions[0].title == "Replace `stackpge` with `stackpage`", actions
    isa.edit(at, at + 8, "stackpage")
    assert await isa.findings() == [], "the definition is sound again"
    return actions


async def random_edits(editor, choice, count):
    """Random edits; the findings are always those of the command line."""
    original = editor.text
    pieces = ["\n", " ", "|", "{", "}", "(", "a", "D", "0", "#", ":", "=", ",", '"', "é", "𝄞", "register ", "pc = ", ".byte "]
    for number in range(count):
        if number % 25 == 24:
            editor.edit(0, len(editor.text), original)
        start = choice.randrange(len(editor.text) + 1)
        end = min(len(editor.text), start + choice.choice([0, 0, 0, 1, 1, 2, 7]))
        editor.edit(start, end, choice.choice(["", choice.choice(pieces), choice.choice(pieces)]))
        if number % 10 == 9 or number == count - 1:
            found, wanted = await editor.findings(), expected(editor.path, editor.text)
            assert sorted(found) == sorted(wanted), (editor.path.name, number, found, wanted)


HELLO = """.machine hex8
start:  loadimm r1, 72
.again: output r1
        dec r1
        jmp .again
        .entry start
"""


MODES = """.machine mine
start:  mov (r1)+, 4(r2)
        movb #72, @#0xFF76
        inc -(sp)
        br start
"""


async def main():
    client = LanguageClient("lathe-tests", "1")
    editors = {}

    @client.feature(t.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    def published(params):
        for editor in editors.values():
            if editor.uri == params.uri:
                editor.found.put_nowait(params)

    await client.start_io(LATHE, "lsp")
    answer = await client.initialize_async(t.InitializeParams(capabilities=t.ClientCapabilities()))
    assert answer.capabilities.rename_provider, answer
    client.initialized(t.InitializedParams())
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "hello.asm").write_text(HELLO)
        (folder / "broken.asm").write_text(HELLO.replace("output r1", "outptu r1, (").replace("jmp .again", "jmp nowhere"))
        (folder / "broken.isa").write_text("machine x\nmemory ram : u8 -> \ninstructions {\n  a D | 00\n  b | 0000 0000 |\n")
        for machine in ("quad8", "sm83", "rv32i"):
            (folder / f"{machine}.isa").write_text((ROOT / f"machines/{machine}/{machine}.isa").read_text())
        pdp11 = (ROOT / "machines/pdp11/pdp11.isa").read_text()
        (folder / "mine.isa").write_text(pdp11.replace("machine pdp11", "machine mine"))
        (folder / "modes.asm").write_text(MODES)
        (folder / "lib.asm").write_text((ROOT / "machines/hex8/programs/lib.asm").read_text())
        needles = {"hello.asm": "loadimm", "modes.asm": "mov", "broken.asm": "start", "broken.isa": "ram", "lib.asm": "pop     r12"}
        for path in sorted(folder.iterdir()):
            editors[path.name] = Editor(client, path)
            editors[path.name].open()
        for name, editor in editors.items():
            found = await editor.findings()
            assert bool(found) == name.startswith("broken") or name == "lib.asm", (name, found)
            await requests(editor, client, name, needles.get(name, "register"))
        await known_answers(client, editors)
        await modes(client, editors)
        actions = await quick_fix(client, editors)
        assert actions, "there is a quick fix"
        choice = random.Random(SEED)
        print(f"seed {SEED:#x}, {EDITS} edits of each file")
        for name in ("quad8.isa", "hello.asm", "broken.isa", "broken.asm"):
            await random_edits(editors[name], choice, EDITS)
    await client.shutdown_async(None)
    client.exit(None)
    print("every request was answered, and the findings were those of the command line")


asyncio.run(asyncio.wait_for(main(), 500))
