/** Lets Enter end a line whose last word is complete: then the completion offers nothing new. */
function leaveWhatIsWritten(view: EditorView): boolean {
  const offered = selectedCompletion(view.state);
  const { head } = view.state.selection.main;
  if (offered && view.state.sliceDoc(Math.max(0, head - offered.label.length), head) === offered.label) closeCompletion(view);
  return false;
}

// An editor for one of the two texts. Colours, completion and hovers come from the workbench, so they know the machine
// being designed. It lives in a shadow root, where its styles need no exception from the Content-Security-Policy.

import { autocompletion, closeBrackets, closeCompletion, completionKeymap, selectedCompletion, snippetCompletion } from "@codemirror/autocomplete";
import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { forceLinting, setDiagnostics } from "@codemirror/lint";
import type { Diagnostic } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState, Prec, RangeSet, StateEffect, StateField } from "@codemirror/state";
import type { Extension, Text } from "@codemirror/state";
import {
  Decoration,
  EditorView,
  GutterMarker,
  drawSelection,
  gutter,
  highlightActiveLine,
  highlightSpecialChars,
  hoverTooltip,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import type { DecorationSet } from "@codemirror/view";

import type { Bench } from "./bench";
import { element, prose } from "./dom";
import type { Checked, Finding, Pane, Suggestion } from "./protocol";
import { problemOf } from "./protocol";

export interface EditorEvents {
  changed(): void;
  breakpoints(lines: number[]): void;
}

const setPieces = StateEffect.define<DecorationSet>();
const pieces = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(value, transaction) {
    for (const effect of transaction.effects) if (effect.is(setPieces)) return effect.value;
    return value.map(transaction.changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});

const setCurrent = StateEffect.define<number | null>();
const current = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(value, transaction) {
    for (const effect of transaction.effects) {
      if (effect.is(setCurrent)) return lineDecoration(transaction.state.doc, effect.value);
    }
    return value.map(transaction.changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});

function lineDecoration(text: Text, line: number | null): DecorationSet {
  if (line === null || line > text.lines) return Decoration.none;
  return Decoration.set(Decoration.line({ class: "cm-current" }).range(text.line(line).from));
}

class Dot extends GutterMarker {
  override toDOM(): Node {
    return element("span", { class: "dot" });
  }
}

class Ghost extends GutterMarker {
  override toDOM(): Node {
    return element("span", { class: "dot ghost" });
  }
}

const dot = new Dot();
const toggle = StateEffect.define<number>({ map: (at, changes) => changes.mapPos(at) });
const breakpoints = StateField.define<RangeSet<GutterMarker>>({
  create: () => RangeSet.empty,
  update(value, transaction) {
    let set = value.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (!effect.is(toggle)) continue;
      let has = false;
      set.between(effect.value, effect.value, () => void (has = true));
      set = has
        ? set.update({ filter: (from) => from !== effect.value })
        : set.update({ add: [dot.range(effect.value)] });
    }
    return set;
  },
});

class Cells extends GutterMarker {
  constructor(readonly text: string) {
    super();
  }
  override eq(other: Cells): boolean {
    return other.text === this.text;
  }
  override toDOM(): Node {
    return document.createTextNode(this.text);
  }
}

const setCells = StateEffect.define<RangeSet<GutterMarker>>();
const cells = StateField.define<RangeSet<GutterMarker>>({
  create: () => RangeSet.empty,
  update(value, transaction) {
    for (const effect of transaction.effects) if (effect.is(setCells)) return effect.value;
    return value.map(transaction.changes);
  },
});

export class Editor {
  readonly view: EditorView;
  readonly #pane: Pane;
  readonly #bench: Bench;
  #classes: Decoration[] = [];

  constructor(pane: Pane, host: HTMLElement, label: string, bench: Bench, events: EditorEvents) {
    this.#pane = pane;
    this.#bench = bench;
    const root = host.attachShadow({ mode: "open" });
    const parent = element("div");
    parent.style.height = "100%";
    root.append(parent);
    const margin: Extension[] = pane === "program" ? this.#margin(events) : [];
    this.view = new EditorView({
      root,
      parent,
      state: EditorState.create({
        extensions: [
          margin,
          lineNumbers(),
          pieces,
          current,
          highlightSpecialChars(),
          history(),
          drawSelection(),
          closeBrackets(),
          highlightActiveLine(),
          highlightSelectionMatches(),
          // Before autocompletion's own keys, which would otherwise come first.
          Prec.highest(keymap.of([{ key: "Enter", run: leaveWhatIsWritten }])),
          autocompletion({ override: [(context) => this.#complete(context)], icons: false }),
          hoverTooltip((_, at) => this.#hover(at), { hoverTime: 350 }),
          EditorState.tabSize.of(8),
          EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false", autocapitalize: "off" }),
          keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap, ...searchKeymap, indentWithTab]),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) events.changed();
          }),
          theme,
        ],
      }),
    });
  }

  #margin(events: EditorEvents): Extension[] {
    const lines = (view: EditorView): number[] => {
      const found: number[] = [];
      view.state.field(breakpoints).between(0, view.state.doc.length, (from) => {
        found.push(view.state.doc.lineAt(from).number);
      });
      return found;
    };
    const flip = (view: EditorView, at: number): boolean => {
      view.dispatch({ effects: toggle.of(view.state.doc.lineAt(at).from) });
      events.breakpoints(lines(view));
      return true;
    };
    return [
      breakpoints,
      cells,
      keymap.of([{ key: "F9", run: (view) => flip(view, view.state.selection.main.head) }]),
      gutter({
        class: "cm-breakpoints",
        markers: (view) => view.state.field(breakpoints),
        initialSpacer: () => new Ghost(),
        domEventHandlers: {
          mousedown: (view, line) => flip(view, line.from),
        },
      }),
      gutter({ class: "cm-cells", markers: (view) => view.state.field(cells) }),
      EditorView.updateListener.of((update) => {
        const moved = update.docChanged && update.startState.field(breakpoints).size > 0;
        if (moved) events.breakpoints(lines(update.view));
      }),
    ];
  }

  get text(): string {
    return this.view.state.doc.toString();
  }

  set text(text: string) {
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text }, selection: { anchor: 0 } });
    this.view.scrollDOM.scrollTop = 0;
  }

  /** The names of the colour classes, by number. */
  set classes(names: string[]) {
    this.#classes = names.map((name) => Decoration.mark({ class: `lathe-${name}` }));
  }

  /** Shows what the workbench says about the current text. */
  show(checked: Checked): void {
    const text = this.view.state.doc;
    const marks = [];
    for (let at = 0; at + 2 < checked.pieces.length; at += 3) {
      const [from, to, kind] = checked.pieces.slice(at, at + 3) as [number, number, number];
      const mark = this.#classes[kind];
      if (mark && from < to && to <= text.length) marks.push(mark.range(from, to));
    }
    const margin = checked.lines
      .filter(([line]) => line <= text.lines)
      .map(([line, shown]) => new Cells(shown).range(text.line(line).from));
    const effects: StateEffect<unknown>[] = [setPieces.of(Decoration.set(marks, true))];
    if (this.#pane === "program") effects.push(setCells.of(RangeSet.of(margin, true)));
    this.view.dispatch({ effects });
    const own = checked.diagnostics.filter((finding) => !finding.file);
    this.view.dispatch(setDiagnostics(this.view.state, own.map((finding) => this.#diagnostic(finding))));
    forceLinting(this.view);
  }

  #diagnostic(finding: Finding): Diagnostic {
    const length = this.view.state.doc.length;
    const from = Math.min(finding.from, length);
    return {
      from,
      to: Math.min(Math.max(finding.to, from), length),
      severity: finding.severity,
      message: finding.message,
      renderMessage: () =>
        element("div", {}, ...prose(finding.message), ...finding.help.map((help) => element("p", { class: "help" }, ...prose(help)))),
      actions: finding.fixes.map((fix) => ({ name: fix.title.replaceAll("`", ""), apply: () => this.apply(fix) })),
    };
  }

  apply(fix: { from: number; to: number; text: string }): void {
    this.view.dispatch({ changes: { from: fix.from, to: fix.to, insert: fix.text } });
    this.view.focus();
  }

  /** Replaces the text with a formatted one, moving as little as possible. */
  replace(text: string): void {
    if (text === this.text) return;
    const line = this.view.state.doc.lineAt(this.view.state.selection.main.head).number;
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text } });
    this.view.dispatch({ selection: { anchor: this.view.state.doc.line(Math.min(line, this.view.state.doc.lines)).from } });
  }

  /** Marks the next line to execute, and scrolls it into view if asked. */
  mark(line: number | null, reveal: boolean): void {
    if (line === null && this.view.state.field(current).size === 0) return;
    this.view.dispatch({ effects: setCurrent.of(line) });
    if (line !== null && reveal && line <= this.view.state.doc.lines) {
      const at = this.view.state.doc.line(line).from;
      const block = this.view.lineBlockAt(at);
      const { scrollTop, clientHeight } = this.view.scrollDOM;
      const isVisible = block.top >= scrollTop && block.bottom <= scrollTop + clientHeight;
      if (!isVisible) this.view.dispatch({ effects: EditorView.scrollIntoView(at, { y: "center" }) });
    }
  }

  /** Keeps the cursor in view when there is suddenly less room. */
  keepCursor(): void {
    const { head } = this.view.state.selection.main;
    if (this.view.hasFocus) requestAnimationFrame(() => this.view.dispatch({ effects: EditorView.scrollIntoView(head) }));
  }

  /** Goes to a position. */
  go(at: number): void {
    const place = Math.min(at, this.view.state.doc.length);
    this.view.dispatch({ selection: { anchor: place }, effects: EditorView.scrollIntoView(place, { y: "center" }) });
    this.view.focus();
  }

  async #complete(context: CompletionContext): Promise<CompletionResult | null> {
    const word = context.matchBefore(/[.\w]*/);
    if (!word || (word.from === word.to && !context.explicit)) return null;
    const answer = await this.#bench.ask<Suggestion[]>({ call: "complete", pane: this.#pane, at: context.pos });
    if (problemOf(answer) || !Array.isArray(answer)) return null;
    const options = answer.map((one): Completion => {
      const shown: Completion = { label: one.label, detail: one.detail, type: one.kind };
      return one.template ? snippetCompletion(one.template.replace(/\$(\d)/g, "$${$1}"), shown) : shown;
    });
    const dot = word.text.lastIndexOf(".");
    const isMethod = this.#pane === "definition" && dot >= 0;
    return { from: isMethod ? word.from + dot + 1 : word.from, options, validFor: /^[\w]*$/ };
  }

  async #hover(at: number) {
    const answer = await this.#bench.ask<string | null>({ call: "hover", pane: this.#pane, at });
    if (typeof answer !== "string") return null;
    const word = this.view.state.wordAt(at);
    return {
      pos: word?.from ?? at,
      end: word?.to ?? at,
      above: true,
      create: () => ({ dom: element("div", { class: "cm-hover" }, ...prose(answer)) }),
    };
  }
}

/** All appearance comes from the variables of style.css, which reach into shadow roots. */
const theme = EditorView.theme({
  "&": { height: "100%", fontSize: "var(--code-size)", backgroundColor: "transparent", color: "var(--ink)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6", overscrollBehavior: "contain" },
  ".cm-content": { padding: "8px 0 40vh", caretColor: "var(--ink)" },
  ".cm-line": { padding: "0 12px 0 8px" },
  ".cm-cursor": { borderLeftColor: "var(--ink)", borderLeftWidth: "1.5px" },
  ".cm-gutters": { backgroundColor: "transparent", color: "var(--faint)", border: "none" },
  ".cm-lineNumbers .cm-gutterElement": { minWidth: "2.2em", padding: "0 6px 0 4px" },
  ".cm-activeLine": { backgroundColor: "var(--hover)" },
  ".cm-current": { backgroundColor: "var(--current) !important", boxShadow: "inset 2px 0 var(--accent)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--selection) !important",
  },
  ".cm-selectionMatch": { backgroundColor: "var(--match)" },
  ".cm-breakpoints": { width: "18px", cursor: "pointer" },
  ".cm-breakpoints .cm-gutterElement": { display: "grid", placeItems: "center", padding: "0 0 0 6px" },
  ".cm-breakpoints .cm-gutterElement:hover": { boxShadow: "inset 2px 0 var(--stop)" },
  ".dot": { width: "9px", height: "9px", borderRadius: "50%", backgroundColor: "var(--stop)" },
  ".dot.ghost": { visibility: "hidden" },
  ".cm-cells": { fontSize: "0.86em", minWidth: "9em" },
  ".cm-cells .cm-gutterElement": { padding: "0 4px", whiteSpace: "pre", overflow: "hidden", textOverflow: "ellipsis", maxWidth: "13em" },
  "@media (max-width: 1240px)": { ".cm-cells": { display: "none !important" } },
  ".cm-tooltip": {
    backgroundColor: "var(--raised)",
    color: "var(--ink)",
    border: "1px solid var(--edge)",
    borderRadius: "8px",
    boxShadow: "var(--shadow)",
    overflow: "hidden",
    zIndex: "30",
  },
  ".cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", maxHeight: "15em" },
  ".cm-tooltip-autocomplete > ul > li": { padding: "3px 10px !important", lineHeight: "1.5" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--accent-soft) !important", color: "var(--ink) !important" },
  ".cm-completionDetail": { fontStyle: "normal", color: "var(--muted)", marginLeft: "1.2em" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "600" },
  ".cm-hover": { padding: "8px 12px", maxWidth: "34em", fontFamily: "var(--sans)", fontSize: "13px", lineHeight: "1.5" },
  ".cm-hover p": { margin: "4px 0" },
  ".cm-hover pre": { margin: "4px 0", fontFamily: "var(--mono)", fontSize: "12px", whiteSpace: "pre-wrap" },
  ".cm-hover code": { fontFamily: "var(--mono)", fontSize: "12px" },
  ".cm-diagnostic": { padding: "8px 12px", fontFamily: "var(--sans)", fontSize: "13px", lineHeight: "1.5", borderLeft: "3px solid var(--error)", maxWidth: "36em", whiteSpace: "normal" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--warning)" },
  ".cm-diagnostic p": { margin: "0" },
  ".cm-diagnostic .help": { color: "var(--muted)" },
  ".cm-diagnostic code": { fontFamily: "var(--mono)", fontSize: "12px" },
  ".cm-diagnosticAction": {
    backgroundColor: "var(--accent-soft)", color: "var(--accent-ink)", font: "inherit", padding: "2px 8px", margin: "6px 8px 0 0", border: "none", borderRadius: "5px", cursor: "pointer",
  },
  ".cm-lintRange-error": { backgroundImage: "none", textDecoration: "underline wavy var(--error) 1.5px", textUnderlineOffset: "3px" },
  ".cm-lintRange-warning": { backgroundImage: "none", textDecoration: "underline wavy var(--warning) 1.5px", textUnderlineOffset: "3px" },
  ".cm-panels": { backgroundColor: "var(--raised)", color: "var(--ink)", borderColor: "var(--edge)" },
  ".cm-panel input, .cm-panel button": { font: "13px var(--sans)", backgroundImage: "none", backgroundColor: "var(--surface)", color: "var(--ink)", border: "1px solid var(--edge)", borderRadius: "5px", padding: "3px 8px" },
  ".lathe-comment": { color: "var(--c-comment)", fontStyle: "italic" },
  ".lathe-keyword": { color: "var(--c-keyword)" },
  ".lathe-type": { color: "var(--c-type)" },
  ".lathe-number": { color: "var(--c-number)" },
  ".lathe-text": { color: "var(--c-text)" },
  ".lathe-register": { color: "var(--c-register)" },
  ".lathe-operand": { color: "var(--c-operand)" },
  ".lathe-function": { color: "var(--c-function)" },
  ".lathe-mnemonic": { color: "var(--c-mnemonic)", fontWeight: "600" },
  ".lathe-directive": { color: "var(--c-keyword)" },
  ".lathe-label": { color: "var(--c-label)" },
});
