// The workbench's answers (crates/lathe-web), as types. The crate's documentation says what each call does.

export type Pane = "definition" | "program";

export interface Problem {
  message: string;
  help: string | null;
}

export type Answer<T> = T | { problem: Problem };

export function problemOf(answer: unknown): Problem | null {
  return answer !== null && typeof answer === "object" && "problem" in answer
    ? (answer as { problem: Problem }).problem
    : null;
}

export interface ProgramCard {
  name: string;
  title: string;
}

export interface MachineCard {
  name: string;
  title: string;
  programs: ProgramCard[];
}

export interface Gallery {
  machines: MachineCard[];
  classes: string[];
  formats: { name: string; about: string }[];
}

export interface Finding {
  from: number;
  to: number;
  line: number;
  severity: "error" | "warning";
  code: string;
  message: string;
  label: string;
  help: string[];
  others: { from: number; to: number; line: number; text: string }[];
  fixes: { from: number; to: number; text: string; title: string }[];
  file?: string;
}

export interface Checked {
  diagnostics: Finding[];
  pieces: number[];
  lines: [number, string][];
}

export interface Machine {
  name: string;
  title: string;
  memories: { name: string; cell_bits: number; address_bits: number; code: boolean }[];
  console: boolean;
  keys: number;
  display: [number, number] | null;
  buses: { name: string; port_bits: number; value_bits: number }[];
}

export interface Edited {
  definition: Checked | null;
  program: Checked | null;
  machine: Machine | null;
  stale_machine: boolean;
  stale_program: boolean;
  restarted: boolean;
}

export interface CodeLine {
  /** The address. */
  hex: string;
  label: string | null;
  cells: string;
  text: string;
  line: number | null;
  current: boolean;
}

/** A port that was set or written; values are hexadecimal. */
export interface Port {
  bus: string;
  port: number;
  read: string;
  written: string | null;
}

export interface View {
  position: number;
  end: number;
  halted: boolean;
  registers: { name: string; bits: number; value: string; changed: boolean }[];
  code: CodeLine[];
  memory: {
    name: string;
    /** In hexadecimal: JavaScript numbers do not hold every address. */
    from: string;
    cells: string;
    digits: number;
    changed: number[];
    first_change: string | null;
  };
  console: { written: number; from: number; text: string; unread: number };
  display?: { width: number; height: number; rows: string };
  ports?: Port[];
  line: number | null;
}

/** The answer to a command; `shown` is the text for people. */
export interface Report {
  answer: string;
  reason?: string;
  message?: string;
  step?: number;
  shown: string;
}

export interface Suggestion {
  label: string;
  kind: string;
  detail: string;
  template?: string;
}

export interface Part {
  label: string;
  width: number;
  operand: number | null;
}

export interface Row {
  id: string;
  group: number;
  syntax: string;
  picture: string;
  meaning: string;
  documentation: string;
  parts: Part[];
  instructions: { mnemonic: string; syntax: string; cells: number; flags: { name: string; effect: string }[] }[];
}

export interface Sheet {
  name: string;
  title: string;
  documentation: string;
  coverage: {
    bits: number;
    share: number | null;
    slots: { mnemonics: string[]; rows: number[]; filling: "full" | "partial" | "empty" }[];
  };
  rows: Row[];
  pseudos: { syntax: string; expansion: string[] }[];
  examples: { source: string; passed: boolean }[];
  registers: { name: string; bits: number; constant: boolean; flag: boolean }[];
}

/** Which part of the machine is on screen. */
export interface Window {
  memory: string;
  /** The first cell, in hexadecimal. */
  from: string;
  count: number;
  before: number;
  after: number;
}

/** Instructions per second; `null` is as fast as possible. */
export type Speed = number | null;

/** From the page to the worker. */
export type ToWorker =
  /** The first part of the machine, or why there is none. */
  | { kind: "module"; module: WebAssembly.Module }
  | { kind: "no-module"; message: string }
  /** The page is listening. */
  | { kind: "hello" }
  | { kind: "ask"; id: number; request: Record<string, unknown> }
  | { kind: "do"; id: number; line: string }
  | { kind: "run"; speed: Speed }
  | { kind: "pause" }
  | { kind: "input"; text: string }
  | { kind: "end-input" }
  | { kind: "key"; key: number; down: boolean }
  | { kind: "window"; window: Window }
  /** The last view is on screen: there may be another. */
  | { kind: "seen" };

/** What the machine is doing. */
export type Status =
  | { kind: "stopped"; reason: string; message: string }
  | { kind: "running"; rate: number }
  | { kind: "waiting" };

/** From the worker to the page. */
export type FromWorker =
  | { kind: "ready"; gallery: Gallery }
  /** The whole machine is loaded. */
  | { kind: "complete" }
  | { kind: "answer"; id: number; answer: unknown }
  | { kind: "view"; view: View | null; status: Status }
  | { kind: "failed"; message: string };
