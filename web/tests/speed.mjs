// The engine in WebAssembly, in Node, compared with the native one on the programs of `lathe bench`:
// `node web/tests/speed.mjs [PATH TO lathe [MACHINE...]]`. The figures are millions of instructions per second.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { ask, root } from "./engine.mjs";

const [native = join(root, "target/release/lathe"), ...wanted] = process.argv.slice(2);
/** The first instructions are not counted: until then, code is still being compiled and improved. */
const FIRST = 300_000_000;
const STEPS = 1_000_000_000;
const folder = join(root, "benches/programs");
const machines = readdirSync(folder).filter((machine) => wanted.length === 0 || wanted.includes(machine));

/** Returns the processor time this process has used, in seconds: other work on the computer does not count. */
const used = () => process.cpuUsage().user / 1e6;

function inPage(machine, program) {
  const definition = readFileSync(join(root, `machines/${machine}/${machine}.isa`), "utf8");
  ask({ call: "edit", definition, program, library: machine, anew: true });
  const first = ask({ call: "command", line: "run", limit: FIRST }).step;
  const begin = used();
  const report = ask({ call: "command", line: "run", limit: STEPS });
  return (report.step - first) / (used() - begin) / 1e6;
}

function natively(machine, file) {
  const time = (steps) => {
    const script = `TIMEFORMAT=%U; time "$0" run -m ${machine} "$1" --engine jit --max-steps ${steps} >/dev/null 2>&1`;
    return Number(spawnSync("bash", ["-c", script, native, file]).stderr.toString().trim());
  };
  const first = time(FIRST);
  return STEPS / (time(FIRST + STEPS) - first) / 1e6;
}

console.log("program            in WebAssembly   native JIT   ratio");
for (const machine of machines) {
  for (const file of readdirSync(join(folder, machine)).sort()) {
    const path = join(folder, machine, file);
    const page = inPage(machine, readFileSync(path, "utf8"));
    const here = existsSync(native) ? natively(machine, path) : null;
    const name = `${machine} ${file.replace(".asm", "")}`.padEnd(19);
    const beside = here === null ? "" : `${here.toFixed(0).padStart(13)}${(page / here).toFixed(2).padStart(8)}`;
    console.log(`${name}${page.toFixed(0).padStart(14)}${beside}`);
  }
}
