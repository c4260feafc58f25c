// WebAssembly modules, as far as taking one apart requires: sections, functions, and the numbers inside code.

const FUNCTION = 0x60;
const CONTROL_END = 0x0b;

/** Reads a module in order. */
export class Reader {
  /** @param {Uint8Array} bytes */
  constructor(bytes, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  get isAtEnd() {
    return this.at >= this.bytes.length;
  }

  byte() {
    return this.bytes[this.at++];
  }

  /** Reads an unsigned number of up to 32 bits. */
  number() {
    let [value, scale] = [0, 1];
    for (;;) {
      const byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 128;
    }
  }

  /** Reads a signed number of up to 32 bits. */
  signed() {
    let [value, shift] = [0, 0];
    for (;;) {
      const byte = this.byte();
      value |= (byte & 0x7f) << shift;
      shift += 7;
      if (byte < 0x80) return shift < 32 && byte & 0x40 ? value | (-1 << shift) : value;
    }
  }

  take(length) {
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  text() {
    return new TextDecoder().decode(this.take(this.number()));
  }

  /** Reads a number, then that many items. */
  list(read) {
    return Array.from({ length: this.number() }, () => read(this));
  }

  /** Returns the bytes that a reading passes over. */
  passed(read) {
    const begin = this.at;
    read(this);
    return this.bytes.subarray(begin, this.at);
  }
}

/** Encodes an unsigned number. */
export function number(value) {
  const bytes = [];
  do {
    const rest = Math.floor(value / 128);
    bytes.push((value % 128) + (rest > 0 ? 128 : 0));
    value = rest;
  } while (value > 0);
  return bytes;
}

/** Encodes a signed number. */
export function signed(value) {
  const bytes = [];
  for (;;) {
    const low = value & 0x7f;
    value >>= 7;
    const isLast = (value === 0 && !(low & 0x40)) || (value === -1 && (low & 0x40) !== 0);
    bytes.push(isLast ? low : low | 0x80);
    if (isLast) return bytes;
  }
}

export function text(value) {
  const bytes = [...new TextEncoder().encode(value)];
  return [...number(bytes.length), ...bytes];
}

/** Encodes a list of byte sequences. */
export function list(parts) {
  return concatenated([number(parts.length), ...parts]);
}

export function concatenated(parts) {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

export function section(id, body) {
  return concatenated([[id], number(body.length), body]);
}

export const HEADER = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];

/** Reads a constant expression of one i32. */
function constant(reader) {
  if (reader.byte() !== 0x41) throw new Error("a place that is not a constant");
  const value = reader.signed() >>> 0;
  if (reader.byte() !== CONTROL_END) throw new Error("a place that is computed");
  return value;
}

/** Takes a module apart. Functions keep their numbers: imported ones come first. */
export function parse(bytes) {
  const module = {
    types: [], imports: [], functions: [], tables: [], memories: [], globals: [], exports: [], start: null,
    elements: [], data: [], names: new Map(), segmentNames: new Map(), symbols: [], relocations: { CODE: [], DATA: [] },
  };
  const reader = new Reader(bytes, HEADER.length);
  let declared = [];
  while (!reader.isAtEnd) {
    const id = reader.byte();
    const inner = new Reader(reader.take(reader.number()));
    switch (id) {
      case 0: {
        const name = inner.text();
        if (name === "name") readNames(inner, module);
        else if (name === "linking") module.symbols = readSymbols(inner);
        else if (name === "reloc.CODE" || name === "reloc.DATA") module.relocations[name.slice(6)] = readRelocations(inner);
        break;
      }
      case 1:
        module.types = inner.list((one) => one.passed(skipType));
        break;
      case 2:
        module.imports = inner.list((one) => {
          const [from, name, kind] = [one.text(), one.text(), one.byte()];
          if (kind !== 0) throw new Error(`it imports ${from}.${name}, which is no function`);
          return { from, name, type: one.number() };
        });
        break;
      case 3:
        declared = inner.list((one) => one.number());
        break;
      case 4:
        module.tables = inner.list((one) => {
          const [kind, flags, minimum] = [one.byte(), one.byte(), one.number()];
          return { kind, minimum, maximum: flags & 1 ? one.number() : null };
        });
        break;
      case 5:
        module.memories = inner.list((one) => one.passed(skipLimits));
        break;
      case 6:
        module.globals = inner.list((one) => {
          const [type, mutable] = [one.byte(), one.byte()];
          return { type, mutable, initial: one.passed(skipConstant) };
        });
        break;
      case 7:
        module.exports = inner.list((one) => ({ name: one.text(), kind: one.byte(), index: one.number() }));
        break;
      case 8:
        module.start = inner.number();
        break;
      case 9:
        module.elements = inner.list((one) => {
          if (one.number() !== 0) throw new Error("elements of a kind that is not known here");
          return { at: constant(one), functions: one.list((index) => index.number()) };
        });
        break;
      case 10:
        module.functions = inner.list((one) => {
          const length = one.number();
          return { offset: one.at, body: one.take(length) };
        });
        break;
      case 11:
        module.data = inner.list((one) => {
          if (one.number() !== 0) throw new Error("data of a kind that is not known here");
          const [at, length] = [constant(one), one.number()];
          return { at, offset: one.at, bytes: one.take(length) };
        });
        break;
      case 12:
        // The number of segments matters only to code that names segments, and `walk` refuses such code.
        break;
      default:
        throw new Error(`section ${id} is not known here`);
    }
  }
  declared.forEach((type, at) => (module.functions[at].type = type));
  return module;
}

function readNames(reader, { names, segmentNames }) {
  while (!reader.isAtEnd) {
    const id = reader.byte();
    const inner = new Reader(reader.take(reader.number()));
    const kind = { 1: names, 9: segmentNames }[id];
    if (kind) inner.list((one) => kind.set(one.number(), one.text()));
  }
}

const DATA_SYMBOL = 1;
const SECTION_SYMBOL = 3;
const UNDEFINED = 0x10;
const NAMED = 0x40;

/** Reads what the linker put where, by the numbers that relocations use: data in its segment, all else unplaced. */
function readSymbols(reader) {
  if (reader.number() !== 2) throw new Error("the linker's notes are of a version that is not known here");
  let symbols = [];
  while (!reader.isAtEnd) {
    const id = reader.byte();
    const inner = new Reader(reader.take(reader.number()));
    if (id !== 8) continue;
    symbols = inner.list((one) => {
      const [kind, flags] = [one.byte(), one.number()];
      if (kind === DATA_SYMBOL) {
        one.text();
        return flags & UNDEFINED ? null : { segment: one.number(), offset: one.number(), size: one.number() };
      }
      one.number();
      if (kind !== SECTION_SYMBOL && (!(flags & UNDEFINED) || flags & NAMED)) one.text();
      return null;
    });
  }
  return symbols;
}

/** Kinds of relocations that add a number to their symbol. */
const ADDING = new Set([3, 4, 5, 8, 9, 11, 14, 15, 16, 17, 21, 22, 23, 25]);

/** Reads where a section mentions symbols. */
function readRelocations(reader) {
  reader.number();
  return reader.list((one) => {
    const [kind, offset, symbol] = [one.byte(), one.number(), one.number()];
    if (kind > 26) throw new Error(`relocation ${kind} is not known here`);
    if (ADDING.has(kind)) skip(1)(one);
    // Type relocations name a type, not a symbol.
    return { offset, symbol: kind === 6 ? null : symbol };
  });
}

function skipType(reader) {
  if (reader.byte() !== FUNCTION) throw new Error("a type that is no function");
  for (let side = 0; side < 2; side += 1) reader.take(reader.number());
}

function skipLimits(reader) {
  const flags = reader.byte();
  reader.number();
  if (flags & 1) reader.number();
}

function skipConstant(reader) {
  const code = reader.byte();
  if (code === 0x41 || code === 0x42) while (reader.byte() >= 0x80);
  else if (code === 0x43) reader.take(4);
  else if (code === 0x44) reader.take(8);
  else throw new Error("a global that is computed");
  if (reader.byte() !== CONTROL_END) throw new Error("a global that is computed");
}

/** Returns how many parameters a type has. */
export function parameters(type) {
  const reader = new Reader(type, 1);
  return reader.number();
}

const skip = (times) => (reader) => {
  for (let time = 0; time < times; time += 1) while (reader.byte() >= 0x80);
};
const CALL = 0x10;
const CALL_INDIRECT = 0x11;
const GLOBALS = [0x23, 0x24];
const CONSTANT = 0x41;
const [FIRST_ACCESS, LAST_ACCESS] = [0x28, 0x3e];

/** The operands after an opcode, if it has any. */
const OPERANDS = new Map([
  [0x02, skip(1)], [0x03, skip(1)], [0x04, skip(1)], [0x0c, skip(1)], [0x0d, skip(1)],
  [0x0e, (reader) => void reader.list(skip(1)) ?? skip(1)(reader)],
  [0x1c, (reader) => void reader.list((one) => one.byte())],
  [0x20, skip(1)], [0x21, skip(1)], [0x22, skip(1)], [0x25, skip(1)], [0x26, skip(1)],
  [0x3f, skip(1)], [0x40, skip(1)], [0x42, skip(1)],
  [0x43, (reader) => reader.take(4)], [0x44, (reader) => reader.take(8)],
  [0xd0, skip(1)],
  [0xfc, (reader) => {
    const code = reader.number();
    // Refuses codes that name a segment or are unknown: initialising one, dropping it, and everything from 18 on.
    if ([8, 9, 12, 13].includes(code) || code > 17) throw new Error(`code fc ${code} is not expected here`);
    // Saturating conversions have no operands; copying has two.
    if (code >= 8) skip([10, 14].includes(code) ? 2 : 1)(reader);
  }],
]);
const PLAIN = new Set([0x00, 0x01, 0x05, 0x0b, 0x0f, 0x1a, 0x1b, 0xd1, ...Array.from({ length: 0xc5 - 0x45 }, (_, at) => 0x45 + at)]);

/** Walks through a function's body, and visits every number in it that can change, or that the linker has padded. */
function walk(body, visit) {
  const reader = new Reader(body);
  reader.list((one) => [one.number(), one.byte()]);
  while (!reader.isAtEnd) {
    const code = reader.byte();
    const tell = (kind, read) => {
      const from = reader.at;
      visit(kind, read.call(reader), from, reader.at);
    };
    if (code === CALL) tell("function", reader.number);
    else if (code === CONSTANT) tell("constant", reader.signed);
    else if (code === CALL_INDIRECT || (code >= FIRST_ACCESS && code <= LAST_ACCESS)) {
      tell("number", reader.number);
      tell("number", reader.number);
    } else if (GLOBALS.includes(code)) tell("number", reader.number);
    else if (OPERANDS.has(code)) OPERANDS.get(code)(reader);
    else if (!PLAIN.has(code)) throw new Error(`code ${code.toString(16)} is not known here`);
  }
}

/** Returns the numbers of the functions that a body calls directly. */
export function called(body) {
  const found = new Set();
  walk(body, (kind, index) => kind === "function" && found.add(index));
  return found;
}

/** Returns a body with other function numbers, and every number as short as possible. */
export function renumbered(body, functionIndex) {
  const parts = [];
  let done = 0;
  walk(body, (kind, value, from, to) => {
    const bytes = kind === "constant" ? signed(value) : number(kind === "function" ? functionIndex(value) : value);
    parts.push(body.subarray(done, from), bytes);
    done = to;
  });
  parts.push(body.subarray(done));
  return concatenated(parts);
}

/** Returns where the code of a body begins, after its variables. */
export function codeBegins(body) {
  const reader = new Reader(body);
  reader.list((one) => [one.number(), one.byte()]);
  return reader.at;
}
