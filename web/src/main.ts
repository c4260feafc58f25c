// The page: two editors, a machine, and what connects them.

import { Bench } from "./bench";
import { byId, element, grouped, prose } from "./dom";
import { Editor } from "./editor";
import { MachinePane } from "./machine";
import type { Answer, Checked, Edited, Finding, Gallery, Machine, Pane, Report, Row, Sheet, Speed, Status, View } from "./protocol";
import { problemOf } from "./protocol";
import { opcodeMap, reference } from "./reference";
import { LINK_LIMIT, Unreadable, draft, fromFragment, fromText, toFragment, toText } from "./share";
import type { Project } from "./share";
import { START, Tour } from "./tour";
import { zip } from "./zip";

const embedded = new URLSearchParams(location.search).has("embed");

/** The panels beside the memory. */
const TALK = ["console", "ports", "debugger"];

/** A machine to begin with nothing but the frame. */
const BLANK: Project = {
  definition: `machine mine "What is it?"

memory ram : u8 -> u8            # 256 cells of 8 bits
pc     pc  : u8 in ram
register a : u8
field N : u8
device console : stream

instructions {
  # syntax   encoding             meaning
  halt     | 0000 0000          | halt
  ldi N    | 0001 0000 NNNNNNNN | a = N
  out      | 0010 0000          | console.write(a)
}
`,
  program: ".machine mine\n\n        ldi '!'\n        out\n        halt\n",
  library: "",
  input: "",
  ports: "",
  tab: "program",
};

const state = {
  gallery: null as Gallery | null,
  machine: null as Machine | null,
  checked: { definition: null as Checked | null, program: null as Checked | null },
  sheet: null as Sheet | null,
  sheetIsOld: true,
  library: "",
  /** What the program has been given to read since it began, and what it is given at every start. */
  input: "",
  given: "",
  tab: "program",
  status: { kind: "stopped", reason: "ready", message: "" } as Status,
  breakpoints: [] as number[],
  /** Whether the texts replace others, so that nothing of the last machine is kept. */
  anew: true,
  /** Whether the texts came with a link; then the draft is the user's own work. */
  fromLink: false,
};

/** The check in progress, and whether the texts have changed since it began. */
let checking: Promise<void> | null = null;
let isDirty = false;
let isSettingText = false;

const bench = new Bench({ ready, view: show, failed, lost });
const events = { changed: textChanged, breakpoints: setBreakpoints };
const editors: Record<Pane, Editor> = {
  definition: new Editor("definition", byId("definition"), "Definition of the machine", bench, events),
  program: new Editor("program", byId("program"), "Program in assembly", bench, events),
};
const machinePane = new MachinePane(bench, say, keepDraft);
const tour = new Tour(
  () => ({ definition: editors.definition.text, program: editors.program.text }),
  (texts) => {
    for (const pane of ["definition", "program"] as const) {
      const text = texts[pane];
      if (text !== undefined) editors[pane].replace(text);
    }
  },
);

// Texts and what is said about them

function textChanged(): void {
  if (isSettingText) return;
  if (state.fromLink) {
    state.fromLink = false;
    history.replaceState(null, "", location.pathname + location.search);
  }
  void recheck();
}

function project(): Project {
  const { library, input, tab } = state;
  return { definition: editors.definition.text, program: editors.program.text, library, input, ports: machinePane.ports, tab };
}

/** Saves the draft for the next visit. What was typed for the program belongs to this run, and not to the draft. */
function keepDraft(): Project {
  const now = { ...project(), input: state.given };
  if (!embedded && !state.fromLink) draft.write(now);
  return now;
}

/** Checks and assembles the texts; changes made meanwhile are checked together afterwards. Resolves at the end. */
function recheck(): Promise<void> {
  isDirty = true;
  checking ??= checkWhileDirty();
  return checking;
}

async function checkWhileDirty(): Promise<void> {
  const main = document.querySelector("main") as HTMLElement;
  main.ariaBusy = "true";
  try {
    while (isDirty) {
      isDirty = false;
      await check();
    }
  } finally {
    main.ariaBusy = "false";
    checking = null;
  }
}

async function check(): Promise<void> {
  const now = keepDraft();
  const anew = state.anew;
  state.anew = false;
  const answer = await bench.ask<Edited>({ call: "edit", definition: now.definition, program: now.program, library: now.library, anew });
  const problem = problemOf(answer);
  if (problem) notice(`That could not be checked: ${problem.message}.`);
  else edited(answer as Edited, now, anew);
}

function edited(answer: Edited, now: Project, anew: boolean): void {
  state.machine = answer.machine;
  machinePane.machine = answer.machine;
  byId("machine-title").textContent = answer.machine?.title ?? "";
  const name = answer.machine?.name.slice(0, 40) ?? "";
  const chosen = byId("chosen").textContent ?? "";
  if (name && !anew && chosen.split(" · ")[0] !== name) byId("chosen").textContent = name;
  const hasConsole = answer.machine?.console !== false;
  const hasPorts = (answer.machine?.buses.length ?? 0) > 0;
  byId("tab-console").hidden = !hasConsole;
  byId("tab-ports").hidden = !hasPorts;
  const isGone = (!hasPorts && !byId("ports-part").hidden) || (!hasConsole && !byId("console-part").hidden);
  if (anew || isGone) selectTalk(hasConsole ? "console" : "debugger");
  for (const pane of ["definition", "program"] as const) {
    const checked = answer[pane];
    if (!checked) continue;
    state.checked[pane] = checked;
    if (editors[pane].text === now[pane]) editors[pane].show(checked);
    showProblems(pane, checked);
  }
  if (answer.restarted) giveAgain();
  if (answer.definition) state.sheetIsOld = true;
  byId("definition-status").classList.toggle("stale", answer.stale_machine);
  if (anew) {
    if (state.breakpoints.length > 0) setBreakpoints(state.breakpoints);
    chooseSpeed(answer.machine);
  }
  void refreshSheet();
}

function showProblems(pane: Pane, checked: Checked): void {
  const errors = checked.diagnostics.filter((one) => one.severity === "error").length;
  const warnings = checked.diagnostics.length - errors;
  const chip = byId(`${pane}-status`);
  const count = (number: number, word: string) => `${number} ${word}${number === 1 ? "" : "s"}`;
  chip.className = errors > 0 ? "chip error" : warnings > 0 ? "chip warning" : "chip";
  chip.textContent = errors > 0 ? count(errors, "error") : warnings > 0 ? count(warnings, "warning") : "no errors";
  if (pane === "program" && !state.machine) chip.textContent = "";
  const list = byId(`${pane}-problems`);
  const appears = list.hidden && checked.diagnostics.length > 0;
  list.hidden = checked.diagnostics.length === 0;
  list.replaceChildren(...checked.diagnostics.slice(0, 50).map((finding) => problemItem(pane, finding)));
  if (appears) editors[pane].keepCursor();
}

function problemItem(pane: Pane, finding: Finding): HTMLElement {
  const place = finding.file ? `${finding.file}:${finding.line}` : `line ${finding.line}`;
  return element(
    "li",
    { class: finding.severity },
    element("button", { type: "button", class: "place", title: finding.code, onclick: () => !finding.file && editors[pane].go(finding.from) }, place),
    element("div", { class: "message" }, ...prose(finding.message)),
    ...finding.help.map((help) => element("div", { class: "help" }, ...prose(help))),
    finding.fixes.length > 0 && !finding.file
      ? element(
          "div",
          { class: "fixes" },
          ...finding.fixes.map((fix) => element("button", { type: "button", onclick: () => editors[pane].apply(fix) }, ...prose(fix.title).flatMap((block) => [...block.childNodes]))),
        )
      : null,
  );
}

async function refreshSheet(): Promise<void> {
  const isWanted = state.tab !== "program" || tour.isOpen;
  if (isWanted && state.sheetIsOld && state.machine) {
    state.sheetIsOld = false;
    const answer = await bench.ask<Sheet>({ call: "reference" });
    state.sheet = problemOf(answer) ? null : (answer as Sheet);
  }
  const go = (row: Row) => {
    const at = editors.definition.text.indexOf(row.syntax);
    setPane("definition");
    if (at >= 0) editors.definition.go(at);
  };
  if (state.sheet && state.tab === "map") byId("panel-map").replaceChildren(...opcodeMap(state.sheet, go));
  if (state.sheet && state.tab === "reference") byId("panel-reference").replaceChildren(...reference(state.sheet, go));
  checkTour();
}

function checkTour(): void {
  tour.check({
    ...state.checked,
    sheet: state.sheet,
    view: machinePane.view,
    output: machinePane.output,
    reason: state.status.kind === "stopped" ? state.status.reason : state.status.kind,
  });
}

// The machine

function show(view: View | null, status: Status): void {
  state.status = status;
  machinePane.show(view);
  const isRunning = status.kind === "running";
  const isActive = isRunning || status.kind === "waiting";
  const run = byId("run");
  run.classList.toggle("running", isActive);
  byId("run-word").textContent = isActive ? "Pause" : "Run";
  byId<HTMLButtonElement>("run").disabled = view === null;
  for (const id of ["restart", "run-back", "step-back"]) byId<HTMLButtonElement>(id).disabled = !view || view.position === 0;
  for (const id of ["step", "step-over"]) byId<HTMLButtonElement>(id).disabled = !view || view.halted;
  const timeline = byId<HTMLInputElement>("timeline");
  timeline.disabled = !view || view.end === 0;
  if (view) {
    timeline.max = String(view.end);
    if (!isDragging) timeline.value = String(view.position);
    timeline.setAttribute("aria-valuetext", `step ${view.position} of ${view.end}`);
    const end = view.end > view.position ? ` of ${grouped(view.end)}` : "";
    byId("position").textContent = `step ${grouped(view.position)}${end}`;
    const isShown = !isRunning || (currentSpeed() ?? Infinity) <= 60;
    editors.program.mark(isShown ? view.line : null, isShown && view.position > 0);
  } else editors.program.mark(null, false);
  showStatus(status, view);
  checkTour();
}

function showStatus(status: Status, view: View | null): void {
  const line = byId("status");
  line.className = "status";
  line.textContent = "";
  if (!view) {
    line.textContent = state.machine ? "The program has errors" : "The definition has errors";
  } else if (status.kind === "running") {
    line.textContent = status.rate > 5000 ? `${rateText(status.rate)} a second` : "Running";
  } else if (status.kind === "waiting" || status.reason === "waiting") {
    line.textContent = "Waiting for input";
    line.classList.add("waiting");
  } else if (["fault", "refused"].includes(status.reason)) {
    line.textContent = capital(status.message);
    line.title = status.message;
    line.classList.add("error");
  } else if (status.reason === "idle") line.textContent = "Stopped: it jumps to itself for ever";
  else if (status.reason === "halted" || view.halted) line.textContent = "Halted";
  else if (status.message && status.reason !== "paused") line.textContent = capital(status.message);
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function rateText(rate: number): string {
  if (rate >= 1e6) return `${(rate / 1e6).toFixed(rate >= 1e7 ? 0 : 1)} million`;
  return `${Math.round(rate / 1000)} thousand`;
}

function currentSpeed(): Speed {
  const value = byId<HTMLSelectElement>("speed").value;
  return value === "full" ? null : Number(value);
}

/** Sets the speed that games expect for a machine with keys. */
function chooseSpeed(machine: Machine | null): void {
  byId<HTMLSelectElement>("speed").value = machine && machine.keys > 0 ? "600" : "full";
}

function isActive(): boolean {
  return state.status.kind !== "stopped";
}

/** Executes a line of the debugger's language, with the current program. */
async function command(line: string): Promise<Answer<Report>> {
  await checking;
  return bench.do(line);
}

async function runOrPause(): Promise<void> {
  if (isActive()) return bench.pause();
  await checking;
  const view = machinePane.view;
  const ended = view !== null && state.status.kind === "stopped" && (view.halted || state.status.reason === "idle");
  if (ended) await restart();
  bench.run(currentSpeed());
}

/** Gives the program a line that the user typed. */
function say(text: string): void {
  state.input = (state.input + text).slice(-4096);
  bench.input(text);
}

/** Gives a restarted program what came with the link, and nothing typed since. */
function giveAgain(): void {
  state.input = state.given;
  machinePane.giveAgain();
  if (state.given !== "") bench.input(state.given);
}

async function restart(): Promise<void> {
  await command("restart");
  giveAgain();
}

function setBreakpoints(lines: number[]): void {
  state.breakpoints = lines;
  void bench.ask({ call: "breakpoints", lines });
}

let isDragging = false;
let wanted: number | null = null;
let isGoing = false;

/** Goes where the timeline points; during a move, only the last position counts. */
async function dragTo(position: number): Promise<void> {
  wanted = position;
  if (isGoing) return;
  isGoing = true;
  while (wanted !== null) {
    const next: number = wanted;
    wanted = null;
    await command(`goto ${next}`);
  }
  isGoing = false;
}

// What can be opened

function open(next: Project): void {
  isSettingText = true;
  editors.definition.text = next.definition;
  editors.program.text = next.program;
  isSettingText = false;
  state.library = next.library;
  state.input = next.input;
  state.given = next.input;
  machinePane.bringPorts(next.ports);
  state.anew = true;
  state.sheetIsOld = true;
  state.breakpoints = [];
  selectTab(next.tab);
  const name = /^\s*machine\s+(\S+)/m.exec(next.definition)?.[1] ?? "blank";
  byId("chosen").textContent = name.slice(0, 40);
  void recheck();
}

async function openShipped(machine: string, program?: string): Promise<void> {
  const answer: Answer<{ definition: string; program: string }> = await bench.ask({ call: "shipped", machine, program });
  const problem = problemOf(answer);
  if (problem) return notice(`${problem.message}.`);
  const texts = answer as { definition: string; program: string };
  open({ ...texts, library: machine, input: "", ports: "", tab: "program" });
  byId("chosen").textContent = program ? `${machine} · ${program}` : machine;
  if (state.machine?.display) setPane("machine");
}

function leaveLink(): void {
  state.fromLink = false;
  notice("");
  if (location.hash) history.replaceState(null, "", location.pathname + location.search);
}

async function ready(gallery: Gallery): Promise<void> {
  const isFirst = state.gallery === null;
  state.gallery = gallery;
  for (const pane of ["definition", "program"] as const) editors[pane].classes = gallery.classes;
  machinePane.look();
  if (!isFirst) {
    state.anew = true;
    return recheck();
  }
  drawGallery(gallery);
  drawFiles(gallery);
  await openFirst();
}

/** Opens the first texts: from a link, the draft, or a machine with something to show. */
async function openFirst(): Promise<void> {
  try {
    const linked = await fromFragment(location.hash);
    if (linked) return openLinked(linked);
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    notice(`${capital(error.message)}. Ask whoever made it for a new link, or for the file.`);
    history.replaceState(null, "", location.pathname + location.search);
  }
  const kept = embedded ? null : draft.read();
  if (kept) return open(kept);
  await openShipped("quad8", "hello");
}

function openLinked(linked: Project): void {
  const own = embedded ? null : draft.read();
  state.fromLink = true;
  if (own && toText(own) !== toText(linked)) {
    draft.writePrevious(own);
    notice("Opened from a link.", "Back to my own work", () => {
      const previous = draft.readPrevious();
      leaveLink();
      if (previous) open(previous);
    });
  }
  open(linked);
}

/** The worker was replaced: its state is lost, the texts are not. */
function failed(message: string): void {
  notice(`The machine had to be started again (${message}). Your texts are as they were.`);
  state.status = { kind: "stopped", reason: "ready", message: "" };
}

/** The machine cannot be loaded at all. */
function lost(message: string): void {
  byId("chosen").textContent = "No machine";
  notice(`The machine could not be loaded (${message}). Your texts are kept; reload the page to try again.`);
}

function notice(text: string, action?: string, perform?: () => void): void {
  const line = byId("notice");
  line.hidden = text === "";
  const button = action && perform ? element("button", { type: "button", onclick: perform }, action) : null;
  const dismiss = element("button", { type: "button", "aria-label": "Dismiss", onclick: () => notice("") }, "Dismiss");
  line.replaceChildren(element("span", {}, text), ...(button ? [button] : []), dismiss);
}

// Gallery, files, links

function drawGallery(gallery: Gallery): void {
  const dialog = byId<HTMLDialogElement>("gallery");
  const choose = (perform: () => void) => () => {
    dialog.close();
    tour.close();
    leaveLink();
    perform();
  };
  const card = (title: string, about: string, perform: () => void) =>
    element("button", { type: "button", class: "card", onclick: choose(perform) }, element("strong", {}, title), element("span", {}, about));
  const groups = gallery.machines.map((machine) =>
    element(
      "section",
      { class: "machine-group" },
      element("h3", {}, machine.name, element("span", {}, machine.title)),
      element(
        "div",
        { class: "programs" },
        ...machine.programs.map((program) =>
          element(
            "button",
            { type: "button", title: program.title, "data-program": `${machine.name}/${program.name}`, onclick: choose(() => void openShipped(machine.name, program.name)) },
            program.name,
            element("span", {}, program.title),
          ),
        ),
      ),
    ),
  );
  byId("gallery-list").replaceChildren(
    element(
      "div",
      { class: "cards" },
      card("Design a CPU in an hour", "A tour that builds one with you, step by step", startTour),
      card("A blank machine", "A frame of three instructions, and the rest is yours", () => open(BLANK)),
      card("CHIP-8: a ball that bounces", "A display, keys, and a game machine of 1977", () => void openShipped("chip8", "ball")),
    ),
    ...groups,
  );
}

function startTour(): void {
  leaveLink();
  open({ ...START, library: "", input: "", ports: "", tab: "program" });
  tour.open();
  void refreshSheet();
}

function save(name: string, bytes: Uint8Array<ArrayBuffer>): void {
  const url = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

function saveText(name: string, text: string): void {
  save(name, new TextEncoder().encode(text));
}

async function download(what: string): Promise<void> {
  const answer = await bench.ask<{ name: string; bytes: string }[]>({ call: "download", what });
  const problem = problemOf(answer);
  byId<HTMLDialogElement>("files").close();
  if (problem) return notice(`${capital(problem.message)}${problem.help ? `; ${problem.help}` : ""}.`);
  const files = (answer as { name: string; bytes: string }[]).map(({ name, bytes }) => ({ name, bytes: Uint8Array.from(bytes, (character) => character.charCodeAt(0)) }));
  const [first, ...others] = files;
  if (first && others.length === 0) save(first.name, first.bytes);
  else if (first) save(`${state.machine?.name ?? "machine"}-${what}.zip`, zip(files));
}

function drawFiles(gallery: Gallery): void {
  const name = () => state.machine?.name ?? "machine";
  const button = (word: string, about: string, perform: () => void) =>
    element("button", { type: "button", class: "card", onclick: perform }, element("strong", {}, word), element("span", {}, about));
  byId("files-list").replaceChildren(
    element(
      "div",
      { class: "cards" },
      button("Open a file…", "A definition (.isa), a program (.asm) or a project (.json)", () => byId("file-input").click()),
      button("The project", "Everything in one file, to be opened here again", () => saveText(`${name()}.lathe.json`, toText(project()))),
      button("The definition", "For the command line: lathe check", () => saveText(`${name()}.isa`, editors.definition.text)),
      button("The program", "For the command line: lathe run", () => saveText("program.asm", editors.program.text)),
      button("The datasheet", "A page to read and print", () => void download("datasheet")),
      button("The reference card", "One page to look things up", () => void download("card")),
      button("The hardware", "Verilog: the core, a bench and a board, with the program", () => void download("hardware")),
    ),
    element("h3", {}, "The program for other tools"),
    element("div", { class: "programs" }, ...gallery.formats.map((format) => element("button", { type: "button", title: format.about, onclick: () => void download(format.name) }, format.name, element("span", {}, format.about)))),
  );
}

async function readFile(file: File): Promise<void> {
  const text = await file.text();
  if (text.length > 1 << 20) return notice(`${file.name} is larger than a megabyte.`);
  leaveLink();
  if (file.name.endsWith(".json")) {
    try {
      return open(fromText(text));
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      return notice(`${capital(error.message)}.`);
    }
  }
  if (file.name.endsWith(".isa")) return open({ ...project(), definition: text });
  open({ ...project(), program: text });
}

async function share(): Promise<void> {
  const fragment = await toFragment(project());
  const base = location.origin + location.pathname;
  const link = `${base}#${fragment}`;
  const isTooLong = link.length > LINK_LIMIT;
  const about = isTooLong
    ? `These texts make a link of ${grouped(link.length)} characters. Beyond ${grouped(LINK_LIMIT)}, chat programs and browsers cut links. Send the project as a file instead: Files, then The project.`
    : `The definition, the program, its input and its ports are in the link itself, ${grouped(link.length)} characters of it. No server sees them.`;
  byId("link-about").textContent = about;
  byId<HTMLInputElement>("link-text").value = isTooLong ? "" : link;
  byId<HTMLInputElement>("link-embed").value = isTooLong ? "" : `<iframe src="${base}?embed#${fragment}" width="100%" height="640" title="Lathe"></iframe>`;
  byId<HTMLButtonElement>("link-copy").disabled = isTooLong;
  byId<HTMLButtonElement>("embed-copy").disabled = isTooLong;
  byId<HTMLDialogElement>("link").showModal();
}

function copy(from: string, button: HTMLElement): void {
  const field = byId<HTMLInputElement>(from);
  field.select();
  const word = button.textContent;
  void navigator.clipboard.writeText(field.value).then(() => {
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = word), 1500);
  }, () => undefined);
}

// Layout

function selectTab(name: string): void {
  const known = ["program", "map", "reference"].includes(name) ? name : "program";
  state.tab = known;
  selectIn(["program", "map", "reference"], known, (one) => [byId(`tab-${one}`), byId(`panel-${one}`)]);
  byId("program-tidy").hidden = known !== "program";
  byId("program-status").hidden = known !== "program";
  void refreshSheet();
}

function selectTalk(name: string): void {
  selectIn(TALK, name, (one) => [byId(`tab-${one}`), byId(`${one}-part`)]);
}

function selectIn(all: string[], chosen: string, parts: (name: string) => [HTMLElement, HTMLElement]): void {
  for (const one of all) {
    const [tab, panel] = parts(one);
    const isChosen = one === chosen;
    tab.setAttribute("aria-selected", String(isChosen));
    tab.tabIndex = isChosen ? 0 : -1;
    panel.hidden = !isChosen;
  }
}

function tabs(all: string[], select: (name: string) => void): void {
  all.forEach((name) => {
    const tab = byId(`tab-${name}`);
    tab.addEventListener("click", () => select(name));
    tab.addEventListener("keydown", (event) => {
      const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
      const there = all.filter((one) => one === name || !byId(`tab-${one}`).hidden);
      const next = there[(there.indexOf(name) + by + there.length) % there.length];
      if (by === 0 || next === undefined) return;
      select(next);
      byId(`tab-${next}`).focus();
    });
  });
}

function setPane(pane: string): void {
  document.body.dataset["pane"] = pane;
  for (const button of byId("panes").querySelectorAll("button")) {
    button.setAttribute("aria-current", String(button.dataset["pane"] === pane));
  }
  machinePane.look();
}

/** A bar to drag, or to move with the arrow keys. */
function splitter(id: string, variable: string, share_of: (event: { clientX: number; clientY: number }) => number, keys: [string, string]): void {
  const bar = byId(id);
  let percent = 50;
  const set = (value: number) => {
    percent = Math.min(85, Math.max(15, value));
    document.documentElement.style.setProperty(variable, `${percent}%`);
    bar.setAttribute("aria-valuenow", String(Math.round(percent)));
  };
  bar.addEventListener("pointerdown", (event) => {
    bar.setPointerCapture(event.pointerId);
    const move = (moved: PointerEvent) => set(share_of(moved));
    bar.addEventListener("pointermove", move);
    bar.addEventListener("pointerup", () => bar.removeEventListener("pointermove", move), { once: true });
  });
  bar.addEventListener("keydown", (event) => {
    if (event.key === keys[0]) set(percent - 4);
    else if (event.key === keys[1]) set(percent + 4);
  });
}

function setTheme(theme: string): void {
  document.documentElement.dataset["theme"] = theme;
}

function begin(): void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  setTheme(dark.matches ? "dark" : "light");
  dark.addEventListener("change", () => setTheme(dark.matches ? "dark" : "light"));
  document.documentElement.classList.toggle("embed", embedded);
  if (embedded) {
    const whole = byId<HTMLAnchorElement>("open-whole");
    whole.hidden = false;
    whole.href = `${location.pathname}${location.hash}`;
  }
  setPane("program");
  tabs(["program", "map", "reference"], selectTab);
  tabs(TALK, selectTalk);
  const work = byId("work");
  const main = document.querySelector("main") as HTMLElement;
  splitter("split-columns", "--definition-width", ({ clientX }) => ((clientX - work.getBoundingClientRect().left) / work.clientWidth) * 100, ["ArrowLeft", "ArrowRight"]);
  splitter("split-rows", "--machine-height", ({ clientY }) => ((main.getBoundingClientRect().bottom - clientY) / main.clientHeight) * 100, ["ArrowDown", "ArrowUp"]);
  connect();
}

function connect(): void {
  const click = (id: string, perform: () => void) => byId(id).addEventListener("click", perform);
  click("theme", () => setTheme(document.documentElement.dataset["theme"] === "dark" ? "light" : "dark"));
  click("open-gallery", () => byId<HTMLDialogElement>("gallery").showModal());
  click("open-files", () => byId<HTMLDialogElement>("files").showModal());
  click("open-tour", startTour);
  click("share", () => void share());
  click("link-copy", () => copy("link-text", byId("link-copy")));
  click("embed-copy", () => copy("link-embed", byId("embed-copy")));
  click("run", () => void runOrPause());
  click("restart", () => void restart());
  click("step", () => void command("step"));
  click("step-over", () => void command("over"));
  click("step-back", () => void command("back"));
  click("run-back", () => void command("back run"));
  for (const dialog of document.querySelectorAll("dialog")) {
    dialog.querySelector(".close")?.addEventListener("click", () => dialog.close());
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  }
  for (const pane of ["definition", "program"] as const) {
    click(`${pane}-tidy`, () => {
      void bench.ask<string>({ call: "tidy", pane }).then((text) => typeof text === "string" && editors[pane].replace(text));
    });
  }
  for (const button of byId("panes").querySelectorAll("button")) button.addEventListener("click", () => setPane(button.dataset["pane"] ?? "program"));
  byId("speed").addEventListener("change", () => isActive() && bench.run(currentSpeed()));
  const timeline = byId<HTMLInputElement>("timeline");
  timeline.addEventListener("input", () => {
    isDragging = true;
    void dragTo(Number(timeline.value));
  });
  timeline.addEventListener("change", () => (isDragging = false));
  byId("file-input").addEventListener("change", (event) => {
    const input = event.target as HTMLInputElement;
    const file = input.files?.[0];
    byId<HTMLDialogElement>("files").close();
    if (file) void readFile(file);
    input.value = "";
  });
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    const file = event.dataTransfer?.files[0];
    if (file) void readFile(file);
  });
  byId<HTMLFormElement>("debugger-form").addEventListener("submit", (event) => {
    event.preventDefault();
    void askDebugger();
  });
  document.addEventListener("keydown", (event) => keyDown(event));
  document.addEventListener("keyup", (event) => {
    if (!isTyping(event)) machinePane.key(event.key, false);
  });
  addEventListener("hashchange", () => void openFirst());
}

async function askDebugger(): Promise<void> {
  const field = byId<HTMLInputElement>("debugger-input");
  const line = field.value.trim();
  if (line === "") return;
  field.value = "";
  const answer = await command(line);
  const problem = problemOf(answer);
  const text = problem ? `${problem.message}${problem.help ? `\n${problem.help}` : ""}\n` : (answer as { shown: string }).shown;
  const log = byId("debugger-output");
  log.append(element("span", { class: "asked" }, `> ${line}\n`), element("span", problem ? { class: "wrong" } : {}, text));
  log.scrollTop = log.scrollHeight;
}

function isTyping(event: Event): boolean {
  const target = event.composedPath()[0];
  return target instanceof HTMLElement && (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName));
}

function keyDown(event: KeyboardEvent): void {
  const instead = (action: () => void) => {
    event.preventDefault();
    action();
  };
  if ((event.ctrlKey || event.metaKey) && event.key === "Enter") return instead(() => void runOrPause());
  if (event.key === "F8") return instead(() => void command(event.shiftKey ? "back" : "step"));
  if (event.key === "F10") return instead(() => void command(event.shiftKey ? "back over" : "over"));
  if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  machinePane.key(event.key, true);
}

begin();
