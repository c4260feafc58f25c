// The engine in WebAssembly, in Node, beside the native fast interpreter on the same programs:
// `node web/tests/speed.mjs [PATH TO lathe]`. The figures are instructions a second, in millions.
import { spawnSync } from "node:child_process";
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

/** Seconds of the processor that this process has used: a machine with other work to do does not count. */
const used = () => process.cpuUsage().user / 1e6;

function inPage(machine, program) {
  const definition = readFileSync(join(root, `machines/${machine}/${machine}.isa`), "utf8");
  ask({ call: "edit", definition, program, library: machine, anew: true });
  const first = ask({ call: "command", line: "run", limit: STEPS }).step;
  const begin = used();
  const report = ask({ call: "command", line: "run", limit: STEPS });
  return (report.step - first) / (used() - begin) / 1e6;
}

function natively(machine, program) {
  if (!existsSync(native)) return null;
  const file = join(mkdtempSync(join(tmpdir(), "lathe-")), "program.asm");
  writeFileSync(file, program);
  const time = (steps) => {
    const script = `TIMEFORMAT=%U; time "$0" run -m ${machine} "$1" --engine fast --max-steps ${steps} >/dev/null 2>&1`;
    return Number(spawnSync("bash", ["-c", script, native, file]).stderr.toString().trim());
  };
  const least = time(STEPS);
  return STEPS / (time(2 * STEPS) - least) / 1e6;
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
