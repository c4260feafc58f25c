// From opening the page, in a fresh profile, to the first instruction executed and shown:
// `node web/tests/start.mjs [TIMES]`. The figures are milliseconds; what is downloaded is listed after them.
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { launch } from "./browser.mjs";
import { folder, serve } from "./server.mjs";

const times = Number(process.argv[2] ?? 7);

/** Runs in the page: steps as soon as possible, and notes when the result is on screen. */
function stepAtOnce() {
  window.moments = {};
  addEventListener("DOMContentLoaded", () => {
    const step = document.getElementById("step");
    const position = document.getElementById("position");
    new MutationObserver(() => {
      if (step.disabled || window.moments.ready) return;
      window.moments.ready = performance.now();
      step.click();
    }).observe(document.body, { subtree: true, attributes: true, attributeFilter: ["disabled", "aria-busy"] });
    new MutationObserver(() => {
      if (position.textContent === "step 1") window.moments.stepped ??= performance.now();
    }).observe(position, { childList: true, characterData: true, subtree: true });
  });
}

const { address, close } = await serve();
const browser = await launch();
const found = { ready: [], stepped: [] };
for (let time = 0; time < times; time += 1) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.addInitScript(stepAtOnce);
  await page.goto(address);
  await page.waitForFunction(() => window.moments.stepped);
  const moments = await page.evaluate(() => window.moments);
  for (const name of Object.keys(found)) found[name].push(moments[name]);
  await context.close();
}
await browser.close();
close();

for (const [name, all] of Object.entries(found)) {
  all.sort((a, b) => a - b);
  const [best, median, worst] = [0, all.length >> 1, all.length - 1].map((at) => all[at].toFixed(0));
  console.log(`${name.padEnd(8)} median ${median} ms, best ${best}, worst ${worst}`);
}

const files = (path) => readdirSync(path).flatMap((name) => (statSync(join(path, name)).isDirectory() ? files(join(path, name)) : [join(path, name)]));
const totals = [0, 0, 0];
for (const path of files(folder).sort()) {
  const bytes = readFileSync(path);
  const sizes = [bytes.length, gzipSync(bytes, { level: 9 }).length, brotliCompressSync(bytes).length];
  sizes.forEach((size, at) => (totals[at] += size));
  console.log(`${path.slice(folder.length + 1).padEnd(34)}${sizes.map((size) => (size / 1000).toFixed(1).padStart(9)).join("")}`);
}
console.log(`${"in all, in KB: plain, gzip, brotli".padEnd(34)}${totals.map((size) => (size / 1000).toFixed(1).padStart(9)).join("")}`);
