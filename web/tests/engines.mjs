// Code compiled in WebAssembly, in Node: every operator on all operands of small widths, and generated programs of all
// machines, compared with the reference interpreter. `node web/tests/engines.mjs MODULE [PROGRAMS [SEED]]`
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { start } from "../src/compiler.js";

const [path, programs = "60", seed = "1"] = process.argv.slice(2);

const bytes = readFileSync(path);
const { exports, count } = await start(async (imports) => (await WebAssembly.instantiate(bytes, imports)).instance);
const told = () => Buffer.from(new Uint8Array(exports.memory.buffer, exports.told(), exports.told_length())).toString();

function check(name, test) {
  try {
    test();
  } catch (error) {
    console.error(`${name}: ${told()}`);
    throw error;
  }
}

exports.begin();
check("operators", exports.check_operators);
assert(count.compiled > 0, "operators are compiled");
check("numbers with their high byte first", () => exports.check_big(Number(seed), 4 * Number(programs)));
check("numbers across the ends of pages", () => exports.check_pages(Number(seed), 4 * Number(programs)));
for (let number = 0; number < exports.machines(); number += 1) {
  const before = count.compiled;
  check(`machine ${number}`, () => exports.check_machine(number, Number(seed), Number(programs)));
  assert(count.compiled > before, `${told()} is compiled`);
}
assert.equal(count.released, count.compiled, "what is not used any more is released");
console.log(`${exports.machines()} machines, ${programs} programs each: ${count.compiled} regions as WebAssembly do what they should`);
