// The machine: registers, the code around the next instruction, cells, console, display and keys.

import type { Bench } from "./bench";
import { addressOf, byId, element } from "./dom";
import { PortsPane } from "./ports";
import type { Machine, View, Window } from "./protocol";

const ROW_HEIGHT = 20;
/** The most cells of a large memory to scroll through; the address box goes anywhere. */
const REACH = 1 << 16;
/** The most output kept on the screen, in characters. */
const OUTPUT = 100_000;
/** The rows of a keyboard that stand for a 16-key keypad, as CHIP-8 players expect. */
const KEYS = "x123qweasdzc4rfv";

export class MachinePane {
  #bench: Bench;
  #machine: Machine | null = null;
  #memory = "";
  #base = 0n;
  #columns = 16;
  #view: View | null = null;
  /** How many bytes the program had written when the console was last shown, and how much of it is on the screen. */
  #written = 0;
  #shown = 0;
  #decoder = new TextDecoder();
  /** The data each part was last drawn from. */
  #made = new Map<HTMLElement, string>();
  #sent = "";
  readonly #registers = byId("registers");
  readonly #code = byId("code");
  readonly #scroller = byId("memory-scroller");
  readonly #rows = byId("memory-rows");
  readonly #spacer = byId("memory-spacer");
  readonly #choice = byId<HTMLSelectElement>("memory-choice");
  readonly #address = byId<HTMLInputElement>("memory-address");
  readonly #follow = byId<HTMLInputElement>("memory-follow");
  readonly #console = byId("console-output");
  readonly #canvas = byId<HTMLCanvasElement>("display");
  readonly #keypad = byId("keypad");
  readonly #ports: PortsPane;

  /** `said` receives what the user typed for the program; `portsChanged` is called when a port was set. */
  constructor(bench: Bench, said: (text: string) => void, portsChanged: () => void) {
    this.#bench = bench;
    this.#ports = new PortsPane(bench, portsChanged);
    this.#scroller.addEventListener("scroll", () => this.look());
    new ResizeObserver(() => this.#resize()).observe(this.#scroller);
    new ResizeObserver(() => this.look()).observe(this.#code);
    this.#choice.addEventListener("change", () => this.#choose(this.#choice.value));
    this.#address.addEventListener("change", () => {
      const address = addressOf(this.#address.value);
      if (address !== null) this.#goTo(address);
    });
    const input = byId<HTMLInputElement>("console-input");
    byId<HTMLFormElement>("console-form").addEventListener("submit", (event) => {
      event.preventDefault();
      said(`${input.value}\n`);
      input.value = "";
    });
    byId("console-end").addEventListener("click", () => bench.endInput());
  }

  /** The number of cells in the memory on the screen. */
  #cells(): bigint {
    const memory = this.#machine?.memories.find((one) => one.name === this.#memory);
    return memory ? 1n << BigInt(memory.address_bits) : 0n;
  }

  /** Another machine, or the same one with other parts. */
  set machine(machine: Machine | null) {
    const before = JSON.stringify(this.#machine);
    this.#machine = machine;
    if (JSON.stringify(machine) === before) return;
    this.#made.clear();
    const memories = machine?.memories ?? [];
    this.#choice.replaceChildren(...memories.map((memory) => element("option", { value: memory.name }, memory.name)));
    this.#choice.disabled = memories.length < 2;
    byId("display-part").hidden = !machine?.display;
    document.body.classList.toggle("has-display", Boolean(machine?.display));
    this.#makeKeypad(machine?.keys ?? 0);
    this.#ports.machine = machine;
    this.#choose(memories.find((memory) => memory.code)?.name ?? "");
  }

  #choose(name: string): void {
    this.#memory = name;
    this.#choice.value = name;
    this.#base = 0n;
    this.#scroller.scrollTop = 0;
    this.#resize();
  }

  #resize(): void {
    const digits = Math.ceil((this.#machine?.memories.find((memory) => memory.name === this.#memory)?.cell_bits ?? 8) / 4);
    const room = this.#scroller.clientWidth - 95;
    const fitting = room / (digits === 2 ? 27 : digits * 7.4 + 6);
    this.#columns = fitting >= 16 ? 16 : fitting >= 8 ? 8 : 4;
    const rest = this.#cells() - this.#base;
    const reach = rest < REACH ? Number(rest) : REACH;
    this.#spacer.style.height = `${Math.ceil(reach / this.#columns) * ROW_HEIGHT}px`;
    this.look();
  }

  #goTo(address: bigint): void {
    if (address >= this.#cells()) return;
    const offset = Number(address % BigInt(REACH));
    this.#base = address - BigInt(offset);
    this.#resize();
    this.#scroller.scrollTop = Math.floor(offset / this.#columns) * ROW_HEIGHT;
    this.look();
  }

  /** Tells the worker what is on the screen. */
  look(): void {
    const first = Math.floor(this.#scroller.scrollTop / ROW_HEIGHT);
    const rows = Math.ceil(this.#scroller.clientHeight / ROW_HEIGHT) + 1;
    const lines = Math.max(8, Math.floor(this.#code.clientHeight / ROW_HEIGHT) - 1);
    const before = Math.floor(lines / 3);
    const window: Window = {
      memory: this.#memory,
      from: (this.#base + BigInt(first * this.#columns)).toString(16),
      count: rows * this.#columns,
      before,
      // There may be fewer instructions before; those that do not fit are not seen.
      after: lines,
    };
    const text = JSON.stringify(window);
    if (text === this.#sent) return;
    this.#sent = text;
    this.#bench.look(window);
  }

  /** What the user has set at the ports. */
  get ports(): string {
    return this.#ports.settings;
  }

  bringPorts(settings: string): void {
    this.#ports.bring(settings);
  }

  /** The machine has restarted: what was set from outside is set again. */
  giveAgain(): void {
    this.#ports.giveAgain();
  }

  show(view: View | null): void {
    this.#view = view;
    this.#ports.show(view);
    if (!view) {
      for (const part of [this.#registers, this.#code, this.#rows]) part.replaceChildren();
      this.#made.clear();
      return;
    }
    this.#make(this.#registers, view.registers, () => this.#showRegisters(view));
    this.#make(this.#code, view.code, () => this.#showCode(view));
    this.#make(this.#rows, [view.memory, this.#memory, String(this.#base), this.#columns], () => this.#showMemory(view));
    this.#showConsole(view);
    this.#showDisplay(view);
    if (this.#follow.checked && view.memory.first_change !== null) this.#reveal(BigInt(`0x${view.memory.first_change}`));
  }

  /** Redraws a part of the pane if its data has changed. */
  #make(part: HTMLElement, from: unknown, make: () => void): void {
    const text = JSON.stringify(from);
    if (this.#made.get(part) === text) return;
    this.#made.set(part, text);
    make();
  }

  #reveal(address: bigint): void {
    const row = Math.floor(Number(address - this.#base) / this.#columns);
    const first = Math.ceil(this.#scroller.scrollTop / ROW_HEIGHT);
    const rows = Math.floor(this.#scroller.clientHeight / ROW_HEIGHT);
    if (row < first || row >= first + rows) this.#goTo(address);
  }

  #showRegisters(view: View): void {
    const shown = view.registers.map((register) => {
      const value = BigInt(`0x${register.value}`);
      const half = 1n << BigInt(register.bits - 1);
      const signed = value >= half ? value - (half << 1n) : value;
      const decimal = signed < 0n ? `${value}  ${signed}` : String(value);
      const isFlag = register.bits === 1;
      const classes = ["register", register.changed && "changed", isFlag && "flag", isFlag && value === 1n && "set"];
      return element(
        "div",
        { class: classes.filter(Boolean).join(" "), title: `${register.name}: ${register.bits} bits` },
        element("span", { class: "name" }, register.name),
        element("span", { class: "value" }, register.value),
        isFlag ? null : element("span", { class: "decimal" }, decimal),
      );
    });
    this.#registers.replaceChildren(...shown);
  }

  #showCode(view: View): void {
    const shown = view.code.map((line) =>
      element(
        "div",
        { role: "listitem", class: line.current ? "code-line current" : "code-line", "aria-current": line.current ? "step" : undefined },
        element("span", { class: "address" }, line.hex.slice(2)),
        element("span", { class: "label" }, line.label ?? ""),
        element("span", { class: line.text === "??" ? "text unknown" : "text" }, line.text),
        element("span", { class: "cells" }, line.cells),
      ),
    );
    this.#code.replaceChildren(...shown);
  }

  #showMemory(view: View): void {
    const { memory } = view;
    if (memory.name !== this.#memory) return;
    const described = this.#machine?.memories.find((one) => one.name === memory.name);
    const digits = Math.ceil((described?.address_bits ?? 8) / 4);
    const changed = new Set(memory.changed);
    const from = BigInt(`0x${memory.from}`);
    const count = memory.cells.length / memory.digits;
    const rows: HTMLElement[] = [];
    for (let at = 0; at < count; at += this.#columns) {
      const row = element("div", { class: "memory-row" });
      row.append(element("span", { class: "address" }, (from + BigInt(at)).toString(16).toUpperCase().padStart(digits, "0")));
      const cells = element("span", { class: "cells" });
      let text = "";
      for (let column = at; column < Math.min(at + this.#columns, count); column += 1) {
        const cell = memory.cells.slice(column * memory.digits, (column + 1) * memory.digits);
        const zero = /^0+$/.test(cell);
        const kind = changed.has(column) ? "changed" : zero ? "zero" : "";
        cells.append(element("span", kind ? { class: kind } : {}, cell));
        const code = Number.parseInt(cell, 16);
        text += code >= 32 && code < 127 ? String.fromCharCode(code) : "·";
      }
      row.append(cells);
      if (memory.digits === 2) row.append(element("span", { class: "characters" }, text));
      rows.push(row);
    }
    this.#rows.style.transform = `translateY(${Math.floor(Number(from - this.#base) / this.#columns) * ROW_HEIGHT}px)`;
    this.#rows.replaceChildren(...rows);
  }

  #showConsole(view: View): void {
    const { from, text } = view.console;
    const isContinued = from === this.#written;
    if (isContinued && text === "") return;
    if (!isContinued) {
      // Another run, or a step back: only the new text remains.
      this.#console.replaceChildren();
      this.#shown = 0;
      this.#decoder = new TextDecoder();
    }
    this.#written = view.console.written;
    // Only new output is added to the screen: laying out all of a long output again takes longer than a frame.
    const decoded = this.#decoder.decode(Uint8Array.from(text, (character) => character.charCodeAt(0)), { stream: true });
    this.#console.append(decoded);
    this.#shown += decoded.length;
    for (let first = this.#console.firstChild; first && this.#shown - (first.textContent?.length ?? 0) > OUTPUT; first = this.#console.firstChild) {
      this.#shown -= first.textContent?.length ?? 0;
      first.remove();
    }
    this.#console.scrollTop = this.#console.scrollHeight;
  }

  get output(): string {
    return this.#console.textContent ?? "";
  }

  #showDisplay(view: View): void {
    const { display } = view;
    if (!display) return;
    const canvas = this.#canvas;
    if (canvas.width !== display.width) canvas.width = display.width;
    if (canvas.height !== display.height) canvas.height = display.height;
    const context = canvas.getContext("2d");
    if (!context) return;
    const picture = context.createImageData(display.width, display.height);
    for (let at = 0; at < display.rows.length; at += 1) {
      const on = display.rows[at] === "#";
      picture.data.set(on ? [255, 214, 150, 255] : [28, 27, 25, 255], at * 4);
    }
    context.putImageData(picture, 0, 0);
    canvas.dataset["on"] = String(display.rows.split("#").length - 1);
  }

  #makeKeypad(keys: number): void {
    const order = keys === 16 ? [1, 2, 3, 12, 4, 5, 6, 13, 7, 8, 9, 14, 10, 0, 11, 15] : [...Array(Math.min(keys, 64)).keys()];
    const buttons = keys === 0 ? [] : order.map((key) => {
      const letter = keys === 16 ? KEYS[key] : "";
      const name = key.toString(16).toUpperCase();
      const button = element("button", { type: "button", "aria-label": `key ${name}`, "data-key": key }, name, letter ? element("kbd", {}, letter) : null);
      const press = (down: boolean) => () => {
        button.classList.toggle("down", down);
        this.#bench.key(key, down);
      };
      button.addEventListener("pointerdown", press(true));
      for (const end of ["pointerup", "pointerleave", "pointercancel"]) button.addEventListener(end, press(false));
      return button;
    });
    this.#keypad.replaceChildren(...buttons);
    this.#keypad.hidden = keys === 0;
  }

  /** Handles a key of the keyboard, which may stand for one of the keypad. */
  key(letter: string, down: boolean): boolean {
    const key = this.#machine?.keys === 16 ? KEYS.indexOf(letter.toLowerCase()) : -1;
    if (key < 0 || letter.length !== 1) return false;
    this.#bench.key(key, down);
    this.#keypad.querySelector(`[data-key="${key}"]`)?.classList.toggle("down", down);
    return true;
  }

  get view(): View | null {
    return this.#view;
  }
}
