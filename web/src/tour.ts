// "Design a CPU in an hour": a tour that builds the machine of docs/tutorial.md step by step, and detects when a step
// is done.

import { byId, element, prose } from "./dom";
import type { Checked, Sheet, View } from "./protocol";

/** What a step can check. */
export interface Progress {
  definition: Checked | null;
  program: Checked | null;
  sheet: Sheet | null;
  view: View | null;
  output: string;
  reason: string;
}

export interface Texts {
  definition: string;
  program: string;
}

interface Step {
  title: string;
  text: string;
  task: string;
  /** Whether the task is done. Once done, it stays done. */
  done(progress: Progress): boolean;
  /** Returns how to do it, from the current texts. */
  show(texts: Texts): Partial<Texts>;
}

export const START: Texts = {
  definition: `machine pebble "One accumulator, 256 bytes, and a console"

memory ram : u8 -> u8
pc     pc  : u8 in ram

register a : u8

field N : u8

device console : stream

instructions {
  # syntax   encoding             meaning
  halt     | 0000 0000          | halt
  ldi N    | 0001 0000 NNNNNNNN | a = N
}
`,
  program: `.machine pebble

        ldi 42
        halt
`,
};

const has = (sheet: Sheet | null, ...mnemonics: string[]): boolean =>
  mnemonics.every((name) => sheet?.rows.some((row) => row.instructions.some((one) => one.mnemonic === name)) ?? false);

const sound = (progress: Progress): boolean => progress.definition?.diagnostics.every((one) => one.severity !== "error") ?? false;

/** Appends rows to the first table of instructions. */
function withRows(definition: string, rows: string): string {
  const end = definition.indexOf("\n}", definition.indexOf("instructions {"));
  return end < 0 ? definition : `${definition.slice(0, end + 1)}${rows}${definition.slice(end + 1)}`;
}

let broken = false;

const STEPS: Step[] = [
  {
    title: "Three instructions",
    text: "A CPU reads an instruction from memory, does what it says, and goes on to the next. This one is called `pebble`: 256 bytes of memory and one register, `a`.\n\nEach row of the table is one instruction: how it is **written**, which **bits** it has, and what it **does**. Two are there. Add a third, which sends `a` to the console:\n\n```\n  out      | 0010 0000          | console.write(a)\n```",
    task: "Add the row `out` to the table on the left.",
    done: ({ sheet }) => has(sheet, "out"),
    show: ({ definition }) => ({ definition: withRows(definition, "  out      | 0010 0000          | console.write(a)\n") }),
  },
  {
    title: "The first program",
    text: "Three instructions are enough to say hello. `ldi 'H'` puts the number of a letter into `a`, `out` prints it.\n\nNobody wrote an assembler for your machine, and nobody wrote an emulator. Both come out of the table.",
    task: "Write a program that prints `Hi`, and press Run.",
    done: ({ output }) => output.includes("Hi"),
    show: () => ({ program: ".machine pebble\n\n        ldi 'H'\n        out\n        ldi 'i'\n        out\n        ldi '\\n'\n        out\n        halt\n" }),
  },
  {
    title: "A mistake",
    text: "You will make mistakes, so make one on purpose: take one `N` away from the encoding of `ldi`. The message says what is wrong, where, and what you can do. The machine below stays as it was until the table is sound again.",
    task: "Break the row, read the message, and put the `N` back.",
    done: (progress) => {
      broken ||= progress.definition?.diagnostics.some((one) => one.severity === "error") ?? false;
      return broken && sound(progress);
    },
    show: ({ definition }) => {
      const isBroken = /0001 0000 N{7}\s/.test(definition);
      return { definition: isBroken ? definition.replace(/0001 0000 N{7}\s+/, "0001 0000 NNNNNNNN ") : definition.replace("0001 0000 NNNNNNNN", "0001 0000 NNNNNNN ") };
    },
  },
  {
    title: "Count and jump",
    text: "Our machine cannot add, and it cannot repeat. `M` below is a number too, but one that names a place, so a program can say `jmp again`. Writing `pc` says where execution goes on.\n\n```\nfield M : u8 address\n```\n```\n  addi N   | 0011 0000 NNNNNNNN | a = a + N\n  jmp M    | 0100 0000 MMMMMMMM | pc = M\n  jz M     | 0100 0001 MMMMMMMM | if a == 0 { pc = M }\n```\n\nThe tab **Opcode map** shows how the first bytes fill up.",
    task: "Add `addi`, `jmp` and `jz`.",
    done: ({ sheet }) => has(sheet, "addi", "jmp", "jz"),
    show: ({ definition }) => ({
      definition: withRows(
        definition.includes("field M") ? definition : definition.replace("field N : u8\n", "field N : u8\nfield M : u8 address\n"),
        "  addi N   | 0011 0000 NNNNNNNN | a = a + N\n  jmp M    | 0100 0000 MMMMMMMM | pc = M\n  jz M     | 0100 0001 MMMMMMMM | if a == 0 { pc = M }\n",
      ),
    }),
  },
  {
    title: "A loop",
    text: "`again:` is a label: a name for the address of what follows. `addi -1` adds 255, which in eight bits is the same as taking 1 away. The digit 9 is the character `'9'`, so count from `'9'` down to the character before `'0'`.",
    task: "Write a program that prints `9876543210`.",
    done: ({ output }) => output.includes("9876543210"),
    show: () => ({ program: ".machine pebble\n; Counts down from 9 to 0.\n\n        ldi '9'\nagain:  out\n        addi -1\n        addi -47        ; below '0'?\n        jz done\n        addi 47\n        jmp again\ndone:   halt\n" }),
  },
  {
    title: "Look inside, and back",
    text: "Press **Step** a few times and watch `a` and the marked line. Then press **Step back**: the machine remembers everything it did. Drag the timeline to any moment, or click into the margin of the program for a breakpoint.",
    task: "Run the program, then go back to an earlier step.",
    done: ({ view }) => view !== null && view.end > 3 && view.position < view.end,
    show: () => ({}),
  },
  {
    title: "Say what you mean",
    text: "Is every row what you meant? An example is one instruction: what is left of `->` is set before it, what is right of it must be so afterwards. Examples are run at every change.\n\n```\nexamples {\n  addi 3 : a = 4 -> a = 7\n  jz 40  : a = 0 -> pc = 40\n  jz 40  : a = 1 -> pc = pc + 2\n}\n```\n\nThe last one is wrong on purpose: say `pc = 2`.",
    task: "Add at least three examples that come out as written.",
    done: (progress) => sound(progress) && (progress.sheet?.examples.filter((one) => one.passed).length ?? 0) >= 3,
    show: ({ definition }) => ({ definition: `${definition.trimEnd()}\n\nexamples {\n  addi 3 : a = 4 -> a = 7\n  jz 40  : a = 0 -> pc = 40\n  jz 40  : a = 1 -> pc = 2\n}\n` }),
  },
  {
    title: "Instructions that are not there",
    text: "Each row costs a place in the map, and in hardware it costs gates. Names that only the assembler knows are free:\n\n```\npseudo {\n  dec      => addi -1\n  say C:u8 => ldi C; out\n}\n```\n\nA program can use what is left of `=>`, and gets what is right of it.",
    task: "Add a pseudo-instruction.",
    done: ({ sheet }) => (sheet?.pseudos.length ?? 0) > 0,
    show: ({ definition }) => ({ definition: `${definition.trimEnd()}\n\npseudo {\n  dec      => addi -1\n  say C:u8 => ldi C; out\n}\n` }),
  },
  {
    title: "Yours",
    text: "You have a machine of your own, programs for it, and examples that guard it. **Share** puts all of it into a link; **Files** has its datasheet, and its program for Logisim, an EPROM or an FPGA.\n\nSome ideas: `and`, `or` and `not`; a stack with `push`, `pop`, `call` and `ret`; a second register. The gallery has ten machines to learn from.",
    task: "Give it an instruction of your own.",
    done: ({ sheet }) => (sheet?.rows.length ?? 0) > 6,
    show: ({ definition }) => ({ definition: withRows(definition, "  not      | 0110 0000          | a = ~a\n") }),
  },
];

export class Tour {
  #at = 0;
  #done = new Set<number>();
  readonly #aside = byId("tour");
  readonly #texts: () => Texts;
  readonly #apply: (texts: Partial<Texts>) => void;

  constructor(texts: () => Texts, apply: (texts: Partial<Texts>) => void) {
    this.#texts = texts;
    this.#apply = apply;
  }

  get isOpen(): boolean {
    return !this.#aside.hidden;
  }

  open(): void {
    broken = false;
    this.#at = 0;
    this.#done.clear();
    this.#aside.hidden = false;
    this.#draw();
  }

  close(): void {
    this.#aside.hidden = true;
  }

  /** Checks whether the step is done now. */
  check(progress: Progress): void {
    const step = STEPS[this.#at];
    if (!this.isOpen || !step || this.#done.has(this.#at) || !step.done(progress)) return;
    this.#done.add(this.#at);
    this.#draw();
  }

  #go(by: number): void {
    this.#at = Math.max(0, Math.min(STEPS.length - 1, this.#at + by));
    this.#draw();
  }

  #draw(): void {
    const step = STEPS[this.#at];
    if (!step) return;
    const isDone = this.#done.has(this.#at);
    const isLast = this.#at === STEPS.length - 1;
    const close = element("button", { type: "button", class: "icon close", "aria-label": "Close the tour", onclick: () => this.close() }, "×");
    this.#aside.replaceChildren(
      close,
      element("div", { class: "count" }, `Design a CPU in an hour · ${this.#at + 1} of ${STEPS.length}`),
      element("h2", {}, step.title),
      ...prose(step.text),
      element("div", { class: isDone ? "task done" : "task", role: "status" }, element("span", {}, ...inlineProse(step.task))),
      element(
        "div",
        { class: "actions" },
        element("button", { type: "button", class: "plain", disabled: this.#at === 0, onclick: () => this.#go(-1) }, "Back"),
        element("button", { type: "button", class: "plain", onclick: () => this.#apply(step.show(this.#texts())) }, "Show me"),
        element("span", { class: "gap" }),
        isLast
          ? element("button", { type: "button", class: "primary", onclick: () => this.close() }, "Finish")
          : element("button", { type: "button", class: isDone ? "primary next" : "plain next", onclick: () => this.#go(1) }, isDone ? "Next" : "Skip"),
      ),
    );
  }
}

/** Renders prose of one paragraph, without the paragraph. */
function inlineProse(text: string): Node[] {
  return prose(text).flatMap((block) => [...block.childNodes]);
}
