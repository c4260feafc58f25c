// How long the page's engine takes for a keystroke, in Node: `node web/tests/keystroke.mjs [MACHINE...]`. For each
// shipped machine, letters are typed at the end of a row in the middle of the definition, first as part of its meaning
// and then as a comment, and as a comment in the middle of the longest program. The figures are medians in
// milliseconds.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { ask, root } from "./engine.mjs";

const wanted = process.argv.slice(2);
const KEYSTROKES = 21;
/** Returns the median time that a request takes over these texts. */
function median(texts, request) {
  const times = texts.map((text) => {
    const begin = performance.now();
    ask(request(text));
    return performance.now() - begin;
  });
  return times.sort((one, other) => one - other)[times.length >> 1];
}

const shipped = (machine) => readdirSync(join(root, "machines", machine, "programs")).filter((name) => name.endsWith(".asm"));
const read = (...path) => readFileSync(join(root, "machines", ...path), "utf8");
const typed = Array.from({ length: KEYSTROKES }, (_, at) => "# typed letter by letter, as people do".slice(0, at + 1));

console.log("machine      lines   meaning   comment   program lines   comment");
for (const machine of readdirSync(join(root, "machines")).sort()) {
  if (wanted.length > 0 && !wanted.includes(machine)) continue;
  const definition = read(machine, `${machine}.isa`);
  const programs = shipped(machine).map((name) => read(machine, "programs", name));
  const program = programs.sort((one, other) => other.length - one.length)[0];
  ask({ call: "edit", definition, program, library: machine, anew: true });
  const edit = (definition, program) => ({ call: "edit", definition, program, library: machine, anew: false });
  const rows = [...definition.matchAll(/^ .*\|.*\|.*$/gm)];
  const row = rows[rows.length >> 1];
  const end = row.index + row[0].length;
  const grown = (typed) => definition.slice(0, end) + typed + definition.slice(end);
  const meanings = typed.map((_, at) => grown("; " + "x".repeat(at + 1)));
  const comments = typed.map((text) => grown(`  ${text}`));
  const middle = program.indexOf("\n", program.length >> 1);
  const texts = typed.map((text) => `${program.slice(0, middle)} ${text.replace("#", ";")}${program.slice(middle)}`);
  const [meaning, comment] = [meanings, comments].map((texts) => median(texts, (text) => edit(text, program)));
  ask(edit(definition, program));
  const inProgram = median(texts, (text) => edit(definition, text));
  const lines = (text) => String(text.split("\n").length);
  const figures = [lines(definition).padStart(8), meaning.toFixed(1).padStart(10), comment.toFixed(1).padStart(10), lines(program).padStart(16), inProgram.toFixed(1).padStart(10)];
  console.log(machine.padEnd(10) + figures.join(""));
}
