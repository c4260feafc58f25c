// The ports of a machine's buses: what the program has written there, and what it reads, which the user can set.

import type { Bench } from "./bench";
import { byId, element, numberOf } from "./dom";
import type { Machine, Port, View } from "./protocol";
import { problemOf } from "./protocol";

type Setting = { bus: string; port: number; value: number };

export class PortsPane {
  readonly #bench: Bench;
  /** Called when the user has set a port. */
  readonly #changed: () => void;
  readonly #rows = byId("ports-rows");
  readonly #bus = byId<HTMLSelectElement>("ports-bus");
  readonly #note = byId("ports-note");
  #buses: Machine["buses"] = [];
  /** What the user has set; a restarted machine is given it again. */
  #set = new Map<string, Setting>();
  /** The settings of a link or a draft, until its machine begins. */
  #brought = "";
  /** Which ports are on the screen, and the parts of their rows that change. */
  #shown = "";
  #cells: { written: HTMLElement; read: HTMLInputElement }[] = [];

  constructor(bench: Bench, changed: () => void) {
    this.#bench = bench;
    this.#changed = changed;
    const [port, value] = [byId<HTMLInputElement>("ports-port"), byId<HTMLInputElement>("ports-value")];
    byId<HTMLFormElement>("ports-form").addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#give(this.#bus.value, port.value, value.value).then((isDone) => {
        if (isDone) port.value = value.value = "";
      });
    });
  }

  /** Another machine, or the same one with other parts. */
  set machine(machine: Machine | null) {
    this.#buses = machine?.buses ?? [];
    this.#bus.replaceChildren(...this.#buses.map((bus) => element("option", { value: bus.name }, bus.name)));
    this.#bus.hidden = this.#buses.length < 2;
    this.#set.clear();
    this.#note.textContent = "";
  }

  /** The settings, one per line. */
  get settings(): string {
    if (this.#brought !== "") return this.#brought;
    return [...this.#set.values()].map(({ bus, port, value }) => `${bus}[${port}] = ${value}`).join("\n");
  }

  /** Sets the ports of the next machine. */
  bring(settings: string): void {
    this.#set.clear();
    this.#brought = settings;
  }

  /** A line that does not describe a port of this machine is dropped: it may come from a stranger. */
  #takeBrought(): void {
    for (const line of this.#brought.split("\n")) {
      const [, bus, port, value] = /^(\w+)\[(\d{1,15})\] = (\d{1,15})$/.exec(line) ?? [];
      if (!bus || !this.#buses.some((known) => known.name === bus)) continue;
      this.#set.set(`${bus} ${port}`, { bus, port: Number(port), value: Number(value) });
    }
    this.#brought = "";
  }

  /** The machine has restarted: all settings are applied again. */
  giveAgain(): void {
    this.#takeBrought();
    for (const setting of this.#set.values()) void this.#bench.ask({ call: "port", ...setting });
  }

  show(view: View | null): void {
    const ports = view?.ports ?? [];
    const shown = ports.map((port) => `${port.bus} ${port.port}`).join();
    if (shown !== this.#shown) {
      this.#shown = shown;
      this.#cells = ports.map(() => ({ written: element("td"), read: element("input", { type: "text", spellcheck: "false" }) }));
      this.#rows.replaceChildren(...ports.map((port, at) => this.#row(port, at)));
    }
    ports.forEach((port, at) => {
      const cells = this.#cells[at];
      if (!cells) return;
      cells.written.textContent = port.written ?? "–";
      if (document.activeElement !== cells.read) cells.read.value = port.read;
    });
    byId("ports-table").hidden = ports.length === 0;
    byId("ports-none").hidden = ports.length > 0;
  }

  #row(port: Port, at: number): HTMLElement {
    const digits = Math.ceil((this.#buses.find((bus) => bus.name === port.bus)?.port_bits ?? 8) / 4);
    const number = port.port.toString(16).toUpperCase().padStart(digits, "0");
    const name = this.#buses.length > 1 ? `${port.bus} ${number}` : number;
    const { written, read } = this.#cells[at] as { written: HTMLElement; read: HTMLInputElement };
    read.setAttribute("aria-label", `What is read from port ${name}`);
    read.addEventListener("change", () => void this.#give(port.bus, `${port.port}`, `0x${read.value.replace(/^(0x|\$)/i, "")}`));
    return element("tr", {}, element("th", { scope: "row" }, name), written, element("td", {}, read));
  }

  /** Sets a port; resolves to whether that was possible. */
  async #give(bus: string, portText: string, valueText: string): Promise<boolean> {
    const [port, value] = [numberOf(portText), numberOf(valueText)];
    if (port === null || value === null) {
      this.#note.textContent = "A port and a value are numbers: 12, 0x1F or $1F.";
      return false;
    }
    const setting = { bus, port, value };
    const problem = problemOf(await this.#bench.ask({ call: "port", ...setting }));
    this.#note.textContent = problem ? `${problem.message}${problem.help ? `; ${problem.help}` : ""}` : "";
    if (problem) return false;
    this.#set.set(`${bus} ${port}`, setting);
    this.#changed();
    return true;
  }
}
