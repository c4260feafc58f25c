// Splits the page's module: `node web/build/split.mjs MODULE FOLDER` writes what opening the page, a first step and a
// first look need to FOLDER/lathe.wasm, everything else to FOLDER/later.wasm, and the gallery's answer to
// FOLDER/opening.json. The page fetches the second module as soon as it has checked its first texts.
//
// Opening it shows what opening needs: every function notes that it was called. A function of the second module has a
// stand-in in the first, which fetches that module if it is not there yet, and calls the function through the table.
// Constants that only such functions can reach, according to the linker's relocations, move with them. So the split
// decides how soon something is available, and never whether it works.
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { start } from "../src/compiler.js";
import { HEADER, called, codeBegins, concatenated, list, number, parameters, parse, renumbered, section, signed, text } from "./binary.mjs";

/** What is open on a first visit: `openFirst` in `src/main.ts`. */
const FIRST = { machine: "quad8", program: "hello" };
/** Programs whose speed is measured, by machine. */
const MEASURED = fileURLToPath(new URL("../../benches/programs", import.meta.url));
/** Crates that execute programs: what a run uses of them stays together, because calls between modules are slower. */
const ENGINES = /lathe_(fast|vm)(?![a-z_])/;

const I32 = 0x7f;
const KINDS = { function: 0, table: 1, memory: 2, global: 3 };

/** Encodes a module with these parts. */
function written(module) {
  const at = (place) => concatenated([[0, 0x41], signed(place | 0), [0x0b]]);
  const parts = [
    [1, module.types],
    [2, module.imports.map(({ from, name, description }) => concatenated([text(from), text(name), description]))],
    [3, module.functions.map(({ type }) => number(type))],
    [4, module.tables.map(({ kind, minimum, maximum }) => [kind, maximum === null ? 0 : 1, ...number(minimum), ...(maximum === null ? [] : number(maximum))])],
    [5, module.memories],
    [6, module.globals.map(({ type, mutable, initial }) => concatenated([[type, mutable], initial]))],
    [7, module.exports.map(({ name, kind, index }) => concatenated([text(name), [kind], number(index)]))],
    [9, module.elements.map((one) => concatenated([at(one.at), list(one.functions.map(number))]))],
    [10, module.functions.map(({ body }) => concatenated([number(body.length), body]))],
    [11, module.data.map(({ at: place, bytes }) => concatenated([at(place), number(bytes.length), bytes]))],
  ];
  return concatenated([HEADER, ...parts.filter(([, entries]) => entries.length > 0).map(([id, entries]) => section(id, list(entries)))]);
}

const importedFunction = ({ from, name, type }) => ({ from, name, description: [KINDS.function, ...number(type)] });

/** Returns the module with a note in every function that it was called. */
function noting(module) {
  const first = module.globals.length;
  const note = ({ body }, at) => {
    const begin = codeBegins(body);
    return concatenated([body.subarray(0, begin), [0x41, 1, 0x24, ...number(first + at)], body.subarray(begin)]);
  };
  return {
    ...module,
    imports: module.imports.map(importedFunction),
    globals: [...module.globals, ...module.functions.map(() => ({ type: I32, mutable: 1, initial: [0x41, 0, 0x0b] }))],
    exports: [...module.exports, ...module.functions.map((_, at) => ({ name: `called ${at}`, kind: KINDS.global, index: first + at }))],
    functions: module.functions.map((one, at) => ({ ...one, body: note(one, at) })),
  };
}

/** Creates an instance that notes calls; returns how to ask it, and how to list the calls since the last list. */
async function noticed(module) {
  const bytes = written(noting(module));
  const { exports } = await start(async (imports) => (await WebAssembly.instantiate(bytes, imports)).instance);
  const ask = (request) => {
    const bytes = new TextEncoder().encode(JSON.stringify(request));
    const place = exports.lathe_room(bytes.length);
    new Uint8Array(exports.memory.buffer, place, bytes.length).set(bytes);
    const length = exports.lathe_answer();
    return JSON.parse(new TextDecoder().decode(new Uint8Array(exports.memory.buffer, exports.lathe_text(), length)));
  };
  const calls = () => {
    const marks = module.functions.map((_, at) => exports[`called ${at}`]);
    const called = marks.map((mark) => mark.value === 1);
    marks.forEach((mark) => (mark.value = 0));
    return called;
  };
  return { ask, calls };
}

/** Opens the first machine as the page does, and runs programs; returns the functions needed and opening.json. */
async function opened(module) {
  // The worker answers these two requests itself.
  const { ask: askBefore } = await noticed(module);
  const gallery = askBefore({ call: "gallery" });
  const texts = askBefore({ call: "shipped", ...FIRST });

  const { ask, calls } = await noticed(module);
  // As the worker asks: for the code memory before there is one, by its name, and again for the same moment.
  const view = () => {
    for (const [memory, count] of [["", 192], ["", 96], ["ram", 96]]) {
      const window = { memory, from: "0", count, before: 3, after: 9 };
      for (const settle of [false, true]) ask({ call: "view", ...window, written: 0, settle });
    }
  };
  view();
  ask({ call: "edit", ...texts, library: FIRST.machine, anew: true });
  view();
  ask({ call: "breakpoints", lines: [] });
  ask({ call: "command", line: "step", limit: 10_000_000 });
  view();
  for (let slice = 0; slice < 3; slice += 1) {
    ask({ call: "command", line: "run", limit: 20_000 });
    view();
  }
  const first = calls();
  const run = (machine, texts) => {
    ask({ call: "edit", ...texts, library: machine, anew: true });
    ask({ call: "command", line: "run", limit: 20_000 });
  };
  for (const { name: machine, programs } of gallery.machines) {
    for (const { name: program } of programs) run(machine, ask({ call: "shipped", machine, program }));
  }
  for (const machine of readdirSync(MEASURED)) {
    const { definition } = ask({ call: "shipped", machine });
    for (const name of readdirSync(join(MEASURED, machine))) run(machine, { definition, program: readFileSync(join(MEASURED, machine, name), "utf8") });
  }
  const running = calls();
  const isEngine = (at) => ENGINES.test(module.names.get(module.imports.length + at) ?? "");
  const needed = first.map((is, at) => is || (running[at] && isEngine(at)));
  return { needed, opening: { gallery, first: { asked: FIRST, texts } } };
}

/** Finds the bytes in each segment that early functions can reach: what they mention, what that mentions, and so on. */
function earlyData(module, isNeeded) {
  const holder = (parts, length) => {
    const ends = parts.map((part) => part.offset + length(part));
    return (offset) => {
      let [low, high] = [0, parts.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (ends[middle] <= offset) low = middle + 1;
        else high = middle;
      }
      return low;
    };
  };
  const functionAt = holder(module.functions, ({ body }) => body.length);
  const segmentAt = holder(module.data, ({ bytes }) => bytes.length);
  const isData = ({ symbol }) => symbol !== null && module.symbols[symbol];

  // Mentions in data, by position.
  const mentions = module.data.map(() => []);
  for (const { offset, symbol } of module.relocations.DATA.filter(isData)) {
    const segment = segmentAt(offset);
    mentions[segment].push({ at: offset - module.data[segment].offset, symbol });
  }
  const early = module.data.map(({ bytes }) => new Uint8Array(bytes.length));
  const known = new Set();
  const waiting = module.relocations.CODE.filter(isData).filter(({ offset }) => isNeeded[functionAt(offset)]).map(({ symbol }) => symbol);
  while (waiting.length > 0) {
    const number = waiting.pop();
    if (known.has(number)) continue;
    known.add(number);
    const { segment, offset, size } = module.symbols[number];
    early[segment]?.fill(1, offset, offset + size);
    for (const one of mentions[segment] ?? []) if (one.at >= offset && one.at < offset + size) waiting.push(one.symbol);
  }
  // Data that no symbol covers also stays.
  const named = module.data.map(({ bytes }) => new Uint8Array(bytes.length));
  for (const symbol of module.symbols) if (symbol) named[symbol.segment]?.fill(1, symbol.offset, symbol.offset + symbol.size);
  return early.map((bytes, segment) => bytes.map((is, at) => is | (1 - named[segment][at])));
}

/** Pieces of data less than this many bytes apart are joined: a separate piece would take more. */
const GAP = 12;

/** Splits the data into what stays and what comes later. Only read-only data can come later. */
function dividedData(module, isNeeded) {
  const early = earlyData(module, isNeeded);
  const [stays, moves] = [[], []];
  module.data.forEach(({ at, bytes }, segment) => {
    if (!module.segmentNames.get(segment)?.startsWith(".rodata")) return void stays.push({ at, bytes });
    const blanked = bytes.map((byte, offset) => (early[segment][offset] ? byte : 0));
    for (const { from, to } of pieces(early[segment], 1)) stays.push({ at: at + from, bytes: blanked.subarray(from, to) });
    for (const { from, to } of pieces(early[segment], 0)) moves.push({ at: at + from, bytes: bytes.subarray(from, to) });
  });
  return { stays, moves };
}

/** Returns the ranges with the wanted mark, joined across short gaps. */
function pieces(marks, wanted) {
  const all = [];
  marks.forEach((mark, at) => {
    if (mark !== wanted) return;
    const last = all.at(-1);
    if (last && at - last.to < GAP) last.to = at + 1;
    else all.push({ from: at, to: at + 1 });
  });
  return all;
}

/** Splits the module in two. */
function divided(module, isNeeded) {
  const imported = module.imports.length;
  const indices = module.functions.map((_, at) => imported + at);
  const [early, late] = [indices.filter((index) => isNeeded[index - imported]), indices.filter((index) => !isNeeded[index - imported])];
  const isLate = new Set(late);
  const functionOf = (index) => module.functions[index - imported];

  // Late functions that the first module mentions have an entry in the table, for their stand-ins.
  const mentioned = new Set();
  for (const index of early) for (const one of called(functionOf(index).body)) if (isLate.has(one)) mentioned.add(one);
  for (const { index, kind } of module.exports) if (kind === KINDS.function && isLate.has(index)) mentioned.add(index);
  const places = new Map();
  for (const { at, functions } of module.elements) functions.forEach((index, offset) => isLate.has(index) && places.set(index, at + offset));
  for (const index of places.keys()) mentioned.add(index);
  const [table] = module.tables;
  let size = table.minimum;
  const standIns = late.filter((index) => mentioned.has(index));
  for (const index of standIns) if (!places.has(index)) places.set(index, size++);

  const types = [...module.types];
  const nothing = types.push([0x60, 0, 0]) - 1;
  const isComplete = module.globals.length;
  const later = imported;
  const numbers = new Map([...module.imports.keys(), null, ...early].map((index, at) => [index, at]));
  const ready = numbers.size;
  standIns.forEach((index, at) => numbers.set(index, ready + 1 + at));
  const standIn = (index) => {
    const { type } = functionOf(index);
    const passed = Array.from({ length: parameters(types[type]) }, (_, at) => [0x20, ...number(at)]).flat();
    return { type, body: [0, 0x10, ...number(ready), ...passed, 0x41, ...signed(places.get(index)), 0x11, ...number(type), 0, 0x0b] };
  };

  // What the second module uses of the first: its memory, table and globals, and functions by short names.
  const used = new Set(late.flatMap((index) => [...called(functionOf(index).body)]).filter((index) => !isLate.has(index)));
  const shared = [...used].sort((one, other) => one - other);
  const nameOf = new Map(shared.map((index, at) => [index, at.toString(36)]));
  const exported = (name, kind, index) => ({ name, kind, index });
  const first = {
    ...module,
    types,
    imports: [...module.imports, { from: "lathe", name: "later", type: nothing }].map(importedFunction),
    tables: [{ ...table, minimum: size }],
    globals: [...module.globals, { type: I32, mutable: 1, initial: [0x41, 0, 0x0b] }],
    functions: [
      ...early.map((index) => ({ type: functionOf(index).type, body: renumbered(functionOf(index).body, (one) => numbers.get(one)) })),
      { type: nothing, body: [0, 0x23, ...number(isComplete), 0x45, 0x04, 0x40, 0x10, ...number(later), 0x0b, 0x0b] },
      ...standIns.map(standIn),
    ],
    exports: [
      ...module.exports.map((one) => (one.kind === KINDS.function ? { ...one, index: numbers.get(one.index) } : one)),
      exported("complete", KINDS.global, isComplete),
      ...module.globals.map((_, at) => exported(`g${at}`, KINDS.global, at)),
      ...shared.map((index) => exported(`f${nameOf.get(index)}`, KINDS.function, numbers.get(index))),
    ],
    elements: module.elements.map((one) => ({ ...one, functions: one.functions.map((index) => numbers.get(index)) })),
  };

  const order = new Map([...shared, ...late].map((index, at) => [index, at]));
  const typeOf = (index) => (index < imported ? module.imports[index].type : functionOf(index).type);
  const from = "lathe";
  const byPlace = [...places].sort(([, one], [, other]) => one - other);
  const elements = [];
  for (const [index, place] of byPlace) {
    const last = elements.at(-1);
    if (last && last.at + last.functions.length === place) last.functions.push(order.get(index));
    else elements.push({ at: place, functions: [order.get(index)] });
  }
  const { stays, moves } = dividedData(module, isNeeded);
  const second = {
    types: module.types,
    imports: [
      { from, name: "memory", description: [KINDS.memory, 0, 1] },
      { from, name: "table", description: [KINDS.table, table.kind, 0, 1] },
      ...module.globals.map(({ type, mutable }, at) => ({ from, name: `g${at}`, description: [KINDS.global, type, mutable] })),
      ...shared.map((index) => importedFunction({ from, name: `f${nameOf.get(index)}`, type: typeOf(index) })),
    ],
    functions: late.map((index) => ({ type: functionOf(index).type, body: renumbered(functionOf(index).body, (one) => order.get(one)) })),
    tables: [], memories: [], globals: [], exports: [], elements, data: moves,
  };
  return [{ ...first, data: stays }, second];
}

const [path, folder] = process.argv.slice(2);
const module = parse(readFileSync(path));
if (module.tables.length !== 1 || module.memories.length !== 1 || module.start !== null) throw new Error("it is not as the linker makes it");
const { needed, opening } = await opened(module);
const [first, second] = divided(module, needed);
writeFileSync(join(folder, "lathe.wasm"), written(first));
writeFileSync(join(folder, "later.wasm"), written(second));
writeFileSync(join(folder, "opening.json"), JSON.stringify(opening));
