// The engine in WebAssembly, in Node, beside the native fast interpreter on the same programs:
// `node web/tests/speed.mjs [PATH TO lathe]`. The figures are instructions a second, in millions.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const native = process.argv[2] ?? join(root, "target/release/lathe");
const STEPS = 50_000_000;
const PROGRAMS = [
  ["hex8", "fib"], ["hex8", "lfsr"], ["hex8", "sieve"],
  ["quad8", "fib"], ["quad8", "lfsr"], ["duo16", "fib"], ["duo16", "sieve"],
];

const { instance } = await WebAssembly.instantiate(readFileSync(join(root, "web/generated/lathe.wasm")), {});
const { memory, lathe_room, lathe_answer, lathe_text } = instance.exports;

function ask(request) {
  const bytes = new TextEncoder().encode(JSON.stringify(request));
  const at = lathe_room(bytes.length);
  new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
  const length = lathe_answer();
  return JSON.parse(new TextDecoder().decode(new Uint8Array(memory.buffer, lathe_text(), length)));
}

function inPage(machine, program) {
  const definition = readFileSync(join(root, `machines/${machine}/${machine}.isa`), "utf8");
  ask({ call: "edit", definition, program, library: machine, anew: true });
  ask({ call: "command", line: "run", limit: 1_000_000 });
  const begin = performance.now();
  const report = ask({ call: "command", line: "run", limit: STEPS });
  const seconds = (performance.now() - begin) / 1000;
  return (report.step - 1_000_000) / seconds / 1e6;
}

function natively(machine, program) {
  if (!existsSync(native)) return null;
  const file = join(mkdtempSync(join(tmpdir(), "lathe-")), "program.asm");
  writeFileSync(file, program);
  const arguments_ = (steps) => ["run", "-m", machine, file, "--engine", "fast", "--max-steps", String(steps)];
  const time = (steps) => {
    const begin = performance.now();
    try {
      execFileSync(native, arguments_(steps), { stdio: "ignore" });
    } catch (error) {
      if (error.status !== 4) throw error;
    }
    return performance.now() - begin;
  };
  const idle = time(1);
  return STEPS / ((time(STEPS) - idle) / 1000) / 1e6;
}

console.log("program         in WebAssembly   native fast   ratio");
for (const [machine, name] of PROGRAMS) {
  const path = join(root, `benches/programs/${machine}/${name}.asm`);
  if (!existsSync(path)) continue;
  const program = readFileSync(path, "utf8");
  const page = inPage(machine, program);
  const here = natively(machine, program);
  const shown = here === null ? "-" : here.toFixed(0);
  console.log(`${`${machine} ${name}`.padEnd(16)}${page.toFixed(1).padStart(14)}${shown.padStart(14)}${here === null ? "" : (page / here).toFixed(2).padStart(8)}`);
}
