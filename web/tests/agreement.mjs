// Every shipped program in WebAssembly and natively: the same requests must have the same answers, to the last
// register, cell and byte of output, forward and back. `node web/tests/agreement.mjs` builds the native side itself.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { answer, ask, count, root } from "./engine.mjs";

const STEPS = 150_000;

const view = { call: "view", from: "0", count: 4096, before: 8, after: 8, settle: true };
const command = (line) => ({ call: "command", line, limit: STEPS });
const requests = [];
for (const machine of ask({ call: "gallery" }).machines) {
  for (const program of machine.programs) {
    const texts = ask({ call: "shipped", machine: machine.name, program: program.name });
    const place = `${machine.name}/${program.name}`;
    const add = (...all) => requests.push(...all.map((request) => ({ place, text: JSON.stringify(request) })));
    add({ call: "edit", definition: texts.definition, program: texts.program, library: machine.name }, view);
    add(command("run"), view, { call: "input", text: "12 + 30\n" }, { call: "end_input" }, command("run"), view);
    add(command("back 1000"), view, command("step 7"), view, command("goto 3"), view);
  }
}

const native = spawnSync("cargo", ["run", "--quiet", "--locked", "--package", "lathe-web", "--example", "answer"], {
  cwd: root,
  input: requests.map((request) => `${request.text}\n`).join(""),
  maxBuffer: 1 << 30,
  stdio: ["pipe", "pipe", "inherit"],
});
assert.equal(native.status, 0, "the native side could not be run");
const answers = native.stdout.toString().trimEnd().split("\n");
assert.equal(answers.length, requests.length);
requests.forEach((request, at) => {
  assert.equal(answer(request.text), answers[at], `${request.place}: ${request.text.slice(0, 80)}`);
});
const programs = new Set(requests.map((request) => request.place)).size;
assert(count.compiled > 0, "hot code is compiled");
console.log(`${programs} programs: ${requests.length} answers of WebAssembly are those of the native build, ${count.compiled} regions compiled`);
