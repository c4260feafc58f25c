// The page in a real browser, driven like a user. `cargo xtask web test` builds it and runs this.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { deflateRawSync, gzipSync } from "node:zlib";
import { launch } from "./browser.mjs";
import { folder, serve } from "./server.mjs";

/** How many KB opening the page may fetch: `cargo xtask web test` knows which standard library it was built with. */
const MOST = Number(process.argv[2] ?? 615);

const DEFINITION = `machine tiny "One accumulator"

memory ram : u8 -> u8
pc     pc  : u8 in ram
register a : u8
field N : u8
field M : u8 address
device console : stream

instructions {
  halt   | 0000 0000          | halt
  ldi N  | 0001 0000 NNNNNNNN | a = N
  out    | 0010 0000          | console.write(a)
  in     | 0010 0001          | a = console.read()
  addi N | 0011 0000 NNNNNNNN | a = a + N
  jmp M  | 0100 0000 MMMMMMMM | pc = M
}
`;
const PROGRAM = ".machine tiny\n        ldi 'A'\nagain:  out\n        addi 1\n        jmp again\n";

let server, browser;
before(async () => {
  server = await serve();
  browser = await launch();
});
after(async () => {
  await browser.close();
  server.close();
});

/** Opens a page in a fresh profile; its errors and its network requests are recorded. */
async function open({ hash = "", query = "", width = 1280, context } = {}) {
  const profile = context ?? (await browser.newContext({ viewport: { width, height: 800 } }));
  profile.setDefaultTimeout(60_000);
  const page = await profile.newPage();
  const errors = [];
  const requests = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("request", (request) => requests.push(request.url()));
  await page.goto(`${server.address}${query}${hash}`);
  await checked(page);
  return { page, profile, errors, requests };
}

/** Waits until the page has shown its verdict on both current texts. */
async function checked(page) {
  await page.waitForSelector("#definition-status:not(:empty)", { state: "attached" });
  await page.waitForSelector('main[aria-busy="false"]', { state: "attached" });
}

const text = (page, selector) => page.locator(selector).textContent();

/** Waits until a text is as it should be. The machine's state is shown with some delay: nothing is read only once. */
async function until(page, selector, pattern) {
  try {
    await page.locator(selector, { hasText: pattern }).waitFor({ state: "attached" });
  } catch (error) {
    throw new Error(`${selector} should match ${pattern}, and says: ${await page.locator(selector).allTextContents()}`, { cause: error });
  }
}

/** Presses Share, and returns the link. */
async function share(page) {
  await page.click("#share");
  await page.waitForSelector("#link[open]");
  return page.inputValue("#link-text");
}

async function write(page, pane, content) {
  await page.locator(`#${pane} .cm-content`).click();
  await page.keyboard.press("Control+A");
  // Pasted, as large texts are.
  await page.locator(`#${pane} .cm-content`).evaluate((node, pasted) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", pasted);
    node.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  }, content);
  await checked(page);
}

async function tiny(page, program = PROGRAM, definition = DEFINITION) {
  await write(page, "definition", definition);
  await write(page, "program", program);
  await until(page, "#machine-title", /One accumulator/);
  await until(page, "#program-status", /no errors/);
  await page.waitForSelector("#run:not([disabled])");
}

async function choose(page, program) {
  await page.click("#open-gallery");
  await page.click(`[data-program="${program}"]`);
  await until(page, "#chosen", new RegExp(program.replace("/", " · ")));
  await checked(page);
}

async function content(page, pane) {
  return page.locator(`#${pane} .cm-content`).evaluate((node) => node.innerText);
}

const link = (data, version = "1") => `#${version}.${deflateRawSync(typeof data === "string" ? data : JSON.stringify(data)).toString("base64url")}`;

test("the first program runs, nothing is asked of others, and no policy is broken", async () => {
  const { page, profile, errors, requests } = await open();
  const loaded = requests.length;
  await page.click("#run");
  await until(page, "#status", /Halted/);
  await until(page, "#console-output", /Hello from quad8/);
  await page.click("#step-back");
  await choose(page, "hex8/mandelbrot");
  await page.click("#run");
  await until(page, "#console-output", /@|#|\*/);
  assert.equal(requests.length, loaded, "nothing is fetched after loading");
  assert.ok(requests.every((url) => url.startsWith(server.address)), requests.join(" "));
  assert.deepEqual(errors, []);
  await profile.close();
});

test("opening the page fetches no more than it may", async () => {
  const { profile, requests } = await open();
  const fetched = [...new Set(requests)].map((url) => {
    const path = new URL(url).pathname;
    return { path, size: gzipSync(readFileSync(join(folder, path.endsWith("/") ? "index.html" : path)), { level: 9 }).length };
  });
  // The rest of the machine is fetched once the first texts have been checked.
  const [first, rest] = ["lathe", "later"].map((part) => fetched.filter(({ path }) => path.startsWith(`/assets/${part}-`)));
  assert.equal(first.length, 1, "the first module is fetched");
  const opening = fetched.filter((one) => !rest.includes(one));
  const size = opening.reduce((sum, one) => sum + one.size, 0) / 1000;
  assert.ok(size <= MOST, `${size.toFixed(1)} KB instead of ${MOST} at most: ${opening.map(({ path, size }) => `${path} ${size}`).join(", ")}`);
  await profile.close();
});

test("a row that is written changes the machine", async () => {
  const { page, profile } = await open();
  await tiny(page);
  await page.click("#tab-map");
  await until(page, ".map-note", /6 of 256/);
  await write(page, "definition", DEFINITION.replace("  jmp M", "  dec    | 0101 0000          | a = a - 1\n  jmp M"));
  await until(page, ".map-note", /7 of 256/);
  await page.waitForSelector('.map button[title^="50: dec"]');
  await page.click("#tab-program");
  await write(page, "program", ".machine tiny\n ldi 5\n dec\n halt\n");
  await until(page, "#program-status", /no errors/);
  await page.click("#run");
  await until(page, "#status", /Halted/);
  await until(page, "#registers", /a•?04/);
  await profile.close();
});

test("a machine is written from nothing", async () => {
  const { page, profile, errors } = await open();
  await write(page, "program", " ");
  await write(page, "definition", " ");
  await until(page, "#definition-status", /error/);
  const rows = 'machine mine "Mine"\nmemory ram : u8 -> u8\npc pc : u8 in ram\nregister a : u8\ninstructions {\nhalt | 0000 0000 | halt\ninc | 0000 0001 | a = a + 1';
  await page.locator("#definition .cm-content").click();
  await page.keyboard.press("Control+A");
  await page.keyboard.type(rows, { delay: 20 });
  await checked(page);
  await until(page, "#definition-status", /no errors/);
  assert.match(await content(page, "definition"), /\| halt\n/, "Enter after a word that is written ends the line");
  await until(page, "#chosen", /^mine$/);
  assert.equal(await page.isVisible("#console-form"), false, "it has no console");
  await write(page, "program", "inc\ninc\nhalt\n");
  await page.click("#run");
  await until(page, "#registers", /a\W*02/);
  await until(page, "#memory-rows .memory-row:nth-child(2) .address", /^(04|08|10)$/);
  assert.deepEqual(errors, []);
  await profile.close();
});

test("a mistake is read where it is made, and its way out is one click", async () => {
  const { page, profile } = await open();
  await tiny(page);
  await write(page, "program", ".machine tiny\n ldi 5\n haltt\n");
  await until(page, "#program-problems", /haltt/);
  await until(page, "#program-problems", /line 3/);
  await until(page, "#program .cm-lintRange-error", /^haltt$/);
  await page.click("#program-problems .fixes button");
  await checked(page);
  await until(page, "#program-status", /no errors/);
  assert.match(await content(page, "program"), /^ halt$/m);
  await write(page, "definition", DEFINITION.replace("NNNNNNNN | a = N", "NNNNNNN | a = N"));
  await until(page, "#definition-problems", /8 bits/);
  await page.click("#step");
  await until(page, "#position", /step 1/);
  await profile.close();
});

test("steps go forward and back, and the timeline goes anywhere", async () => {
  const { page, profile } = await open();
  await tiny(page);
  for (let step = 0; step < 4; step += 1) await page.click("#step");
  await until(page, "#position", /^step 4$/);
  await until(page, "#registers", /a\W*42/);
  await page.click("#step-back");
  await page.click("#step-back");
  await until(page, "#position", /^step 2 of 4$/);
  await until(page, "#registers", /a\W*41/);
  await until(page, "#program .cm-current", /addi 1/);
  await page.locator("#timeline").fill("1");
  await until(page, "#position", /^step 1 of 4$/);
  await until(page, "#console-output", /^$/);
  await page.click("#restart");
  await until(page, "#position", /^step 0$/);
  await profile.close();
});

test("a breakpoint of the margin stops the run, forward and back", async () => {
  const { page, profile } = await open();
  await tiny(page);
  const row = await page.locator("#program .cm-line").nth(3).boundingBox();
  const margin = await page.locator("#program .cm-breakpoints").boundingBox();
  await page.mouse.click(margin.x + 10, row.y + row.height / 2);
  await page.waitForSelector("#program .dot:not(.ghost)");
  for (const output of ["A", "AB", "ABC"]) {
    await page.click("#run");
    await until(page, "#console-output", new RegExp(`^${output}$`));
    await until(page, "#status", /reached/);
  }
  await page.click("#run-back");
  await until(page, "#console-output", /^AB$/);
  await until(page, "#program .cm-current", /addi 1/);
  await profile.close();
});

test("a program waits for input and goes on with it", async () => {
  const { page, profile } = await open();
  await tiny(page, ".machine tiny\nagain:  in\n        out\n        jmp again\n");
  await page.click("#run");
  await until(page, "#status", /Waiting for input/);
  await page.fill("#console-input", "echo");
  await page.press("#console-input", "Enter");
  await until(page, "#console-output", /^echo\n$/);
  await until(page, "#status", /Waiting for input/);
  const other = await open({ hash: new URL(await share(page)).hash });
  await other.page.click("#run");
  await until(other.page, "#console-output", /^echo\n$/);
  await other.page.click("#restart");
  await until(other.page, "#position", /^step 0$/);
  await other.page.click("#run");
  await until(other.page, "#console-output", /^echo\n$/);
  await other.profile.close();
  await profile.close();
});

test("CHIP-8 draws what its keys say", async () => {
  const { page, profile } = await open();
  await choose(page, "chip8/keypad");
  await page.waitForSelector("#keypad button");
  await page.selectOption("#speed", "10000");
  await page.click("#run");
  await page.waitForFunction(() => Number(document.getElementById("display").dataset.on) === 0);
  const key = page.locator('#keypad [data-key="8"]');
  const box = await key.boundingBox();
  await page.mouse.move(box.x + 5, box.y + 5);
  await page.mouse.down();
  await page.waitForSelector('#keypad [data-key="8"].down');
  const at = Number((await text(page, "#position")).replace(/\D/g, ""));
  await page.waitForFunction((from) => Number(document.getElementById("position").textContent.replace(/\D/g, "")) > from + 2000, at);
  await page.mouse.up();
  await page.waitForFunction(() => Number(document.getElementById("display").dataset.on) > 8);
  await profile.close();
});

test("a shared link shows the same in a fresh profile", async () => {
  const { page, profile } = await open();
  await tiny(page);
  const shared = await share(page);
  assert.ok(shared.length < 1500, `${shared.length}`);
  assert.match(await page.inputValue("#link-embed"), /^<iframe src="http/);
  const other = await open({ hash: new URL(shared).hash });
  await until(other.page, "#machine-title", /One accumulator/);
  assert.equal((await content(other.page, "definition")).trim(), (await content(page, "definition")).trim());
  assert.equal((await content(other.page, "program")).trim(), (await content(page, "program")).trim());
  await other.page.click("#step");
  await until(other.page, "#position", /^step 1$/);
  const embedded = await open({ query: "?embed", hash: new URL(shared).hash });
  await until(embedded.page, "#machine-title", /One accumulator/);
  assert.equal(await embedded.page.isVisible("#share"), false);
  assert.equal(await embedded.page.isVisible("#open-whole"), true);
  for (const one of [profile, other.profile, embedded.profile]) await one.close();
});

test("a link that is too long says what to do instead", async () => {
  const { page, profile } = await open();
  await tiny(page);
  const noise = Array.from({ length: 3000 }, (_, at) => `; ${Math.imul(at, 2654435761) >>> 0} ${Math.imul(at, 40503) ^ 0x5bd1e995}`).join("\n");
  await write(page, "program", `${PROGRAM}${noise}\n`);
  await page.click("#share");
  await until(page, "#link-about", /as a file instead/);
  assert.equal(await page.isDisabled("#link-copy"), true);
  await profile.close();
});

test("hostile links do nothing but say so", async () => {
  const markup = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>`;
  const strings = { lathe: 1, definition: `machine ${markup} "${markup}"\n${markup}`, program: `${markup}\n"${markup}"`, library: markup, input: markup, ports: `${markup}\nports[99999999999999999999] = 1`, tab: markup };
  const good = link({ lathe: 1, definition: DEFINITION, program: PROGRAM });
  const cases = [
    [link({ lathe: 2 }), /another version/],
    ["#9.abc", /another version/],
    ["#nonsense", /another version/],
    [good.slice(0, good.length / 2), /damaged|not whole/],
    ["#1.!!!!", /damaged/],
    [link("x".repeat(5_000_000)), /more than a megabyte/],
    [link({ lathe: 1, definition: 7, program: ["x"] }), /not a text/],
    [link("[]"), /another version|no Lathe project/],
  ];
  for (const [hash, message] of cases) {
    const { page, profile, errors } = await open({ hash });
    await until(page, "#notice", message);
    await until(page, "#chosen", /quad8/);
    assert.deepEqual(errors, []);
    await profile.close();
  }
  const { page, profile, errors } = await open({ hash: link(strings) });
  await until(page, "#definition-status", /error/);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await page.locator("img[src], body script").count(), 0);
  assert.match(await content(page, "program"), /onerror/);
  assert.deepEqual(errors, []);
  await profile.close();
});

test("markup in output, labels and messages stays text", async () => {
  const { page, profile, errors } = await open();
  const program = ".machine tiny\n        ldi '<'\n        out\n        ldi 'b'\n        out\n        ldi '>'\n        out\n        halt\n";
  await tiny(page, program);
  await page.click("#run");
  await until(page, "#console-output", /^<b>$/);
  await write(page, "program", ".machine tiny\n <b>bold</b>\n");
  await until(page, "#program-status", /error/);
  assert.equal(await page.locator("#program-problems b, #console-output b").count(), 0);
  assert.deepEqual(errors, []);
  await profile.close();
});

test("a definition beyond the limits is refused, and the page goes on", async () => {
  const { page, profile } = await open();
  const rows = Array.from({ length: 17_000 }, (_, at) => `  x${at} | ${at.toString(2).padStart(16, "0")} | halt`).join("\n");
  await write(page, "definition", `machine huge ""\nmemory ram : u16 -> u16\npc pc : u16 in ram\ninstructions {\n${rows}\n}\n`);
  await until(page, "#definition-status", /error/);
  await write(page, "definition", DEFINITION);
  await until(page, "#definition-status", /no errors/);
  await profile.close();
});

test("a program that never ends leaves the page free", async (context) => {
  const { page, profile } = await open();
  await tiny(page, ".machine tiny\nagain:  addi 1\n        jmp again\n");
  await page.click("#run");
  await until(page, "#status", /a second/);
  const busy = () =>
    page.evaluate(async () => {
      let worst = 0;
      for (let at = performance.now(), turn = 0; turn < 60; turn += 1) {
        await new Promise((resolve) => setTimeout(resolve, 0));
        const now = performance.now();
        worst = Math.max(worst, now - at);
        at = now;
      }
      return worst;
    });
  const rounds = [await busy(), await busy(), await busy()];
  context.diagnostic(`the page was busy for at most ${rounds.map((gap) => gap.toFixed(0)).join(", ")} ms at a time; ${await text(page, "#status")}`);
  // A busy computer may delay one round; the page's own delay is in all of them.
  assert(Math.min(...rounds) < 100, "the page responds within 100 ms");
  await page.click("#run");
  await until(page, "#run-word", /Run/);
  const reached = await text(page, "#position");
  await page.click("#step-back");
  await page.waitForFunction((before) => document.getElementById("position").textContent !== before, reached);
  await profile.close();
});

test("a reload keeps the draft", async () => {
  const { page, profile } = await open();
  await tiny(page);
  await page.reload();
  await checked(page);
  await until(page, "#machine-title", /One accumulator/);
  assert.match(await content(page, "program"), /again:\s+out/);
  await page.goto(`${server.address}${link({ lathe: 1, definition: DEFINITION.replace("One accumulator", "Another"), program: PROGRAM })}`);
  await page.reload();
  await checked(page);
  await until(page, "#machine-title", /Another/);
  await page.click("#notice button");
  await until(page, "#machine-title", /One accumulator/);
  await profile.close();
});

test("ports are seen and set", async () => {
  const { page, profile } = await open();
  const rows = "  put N  | 0110 0000 NNNNNNNN | ports.write(N, a)\n  get N  | 0110 0001 NNNNNNNN | a = ports.read(N)\n}";
  const definition = DEFINITION.replace("device console : stream", "device console : stream\ndevice ports : bus u8 -> u8").replace("}", rows);
  await tiny(page, ".machine tiny\nagain:  get 4\n        put 5\n        jmp again\n", definition);
  await page.click("#tab-ports");
  await page.fill("#ports-port", "4");
  await page.fill("#ports-value", "300");
  await page.click("#ports-form button");
  await until(page, "#ports-note", /300 does not fit in 8 bits/);
  await page.fill("#ports-value", "0x2A");
  await page.click("#ports-form button");
  await until(page, "#ports-rows", /^04/);
  for (let step = 0; step < 2; step += 1) await page.click("#step");
  await until(page, "#ports-rows tr:nth-child(2)", /^052A$/);
  await page.click("#restart");
  await until(page, "#position", /^step 0$/);
  assert.equal(await page.inputValue("#ports-rows input"), "2A", "what is set stays set");
  const other = await open({ hash: new URL(await share(page)).hash });
  await other.page.click("#tab-ports");
  await until(other.page, "#ports-rows", /^04/);
  assert.equal(await other.page.inputValue("#ports-rows input"), "2A", "and is in the link");
  await other.profile.close();
  await page.keyboard.press("Escape");
  await page.reload();
  await checked(page);
  await page.click("#tab-ports");
  await until(page, "#ports-rows", /^04/);
  assert.equal(await page.inputValue("#ports-rows input"), "2A", "and in the draft");
  await write(page, "definition", DEFINITION);
  await page.waitForSelector("#console-part:not([hidden])");
  assert.equal(await page.isVisible("#tab-ports"), false);
  await profile.close();
});

test("a machine can be had as hardware, in one file", async () => {
  const { page, profile } = await open();
  await tiny(page);
  await page.click("#open-files");
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#files-list .card:has-text('hardware')")]);
  assert.equal(download.suggestedFilename(), "tiny-hardware.zip");
  const listed = spawnSync("python3", ["-m", "zipfile", "-t", await download.path()]);
  assert.equal(listed.status, 0, String(listed.stdout) + String(listed.stderr));
  assert.match(readFileSync(await download.path(), "latin1"), /module tiny/);
  await profile.close();
});

test("a machine that cannot be loaded is told, and the texts are kept", async () => {
  const profile = await browser.newContext();
  const page = await profile.newPage();
  await page.route("**/*.wasm", (route) => route.abort());
  await page.goto(server.address);
  await until(page, "#notice", /could not be loaded/);
  await profile.close();
});

test("opening and stepping do not wait for the rest of the machine, and everything else does", async () => {
  const profile = await browser.newContext();
  let release;
  const released = new Promise((resolve) => (release = resolve));
  const asked = [];
  await profile.route("**/later*.wasm", async (route) => {
    asked.push(route.request().url());
    await released;
    await route.continue();
  });
  const { page, errors } = await open({ context: profile });
  await page.click("#step");
  await until(page, "#position", /^step 1$/);
  await page.click("#run");
  await until(page, "#console-output", /Hello from quad8/);
  await page.click("#open-gallery");
  await page.click('[data-program="hex8/fibonacci"]');
  assert.match(await text(page, "#chosen"), /quad8/);
  release();
  await until(page, "#chosen", /hex8 · fibonacci/);
  assert.equal(asked.length, 1, "it is fetched once");
  assert.deepEqual(errors, []);
  await profile.close();
});

test("a rest of the machine that cannot be loaded is told when it is needed, and the texts are kept", async () => {
  const profile = await browser.newContext();
  let isCut = true;
  await profile.route("**/later*.wasm", (route) => (isCut ? route.abort() : route.continue()));
  const { page } = await open({ context: profile });
  await page.click("#step");
  await until(page, "#position", /^step 1$/);
  await page.click("#step-back");
  await until(page, "#notice", /had to be started again/);
  await until(page, "#program .cm-content", /Hello from quad8/);
  isCut = false;
  await page.reload();
  await checked(page);
  await page.click("#step");
  await page.click("#step-back");
  await until(page, "#position", /^step 0 of 1$/);
  await profile.close();
});

test("the debugger answers, and completion knows the machine", async () => {
  const { page, profile } = await open();
  await tiny(page);
  await page.click("#step");
  await page.click("#tab-debugger");
  await page.fill("#debugger-input", "print a + 1");
  await page.press("#debugger-input", "Enter");
  await until(page, "#debugger-output", /0x42|66/);
  await page.locator("#program .cm-content").click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type("        ad");
  await page.locator("#program .cm-tooltip-autocomplete li", { hasText: "addi" }).waitFor();
  await profile.close();
});

test("the tour can be walked to its end", async () => {
  const { page, profile } = await open();
  await page.click("#open-tour");
  await until(page, "#chosen", /pebble/);
  for (let step = 1; step <= 9; step += 1) {
    await until(page, "#tour .count", new RegExp(`${step} of 9`));
    await page.click("#tour .actions button:nth-child(2)");
    if (step === 3) {
      await until(page, "#definition-status", /error/);
      await page.click("#tour .actions button:nth-child(2)");
    }
    if ([2, 5, 6].includes(step)) {
      await checked(page);
      await until(page, "#program-status", /no errors/);
      await page.waitForSelector("#run:not([disabled])");
      await page.click("#run");
      await until(page, "#status", /Halted/);
    }
    if (step === 6) await page.click("#step-back");
    await page.waitForSelector("#tour .task.done");
    if (step < 9) await page.click("#tour .next");
  }
  await profile.close();
});

test("a phone shows one pane at a time", async () => {
  const { page, profile } = await open({ width: 390 });
  assert.deepEqual([await page.isVisible("#program"), await page.isVisible("#definition"), await page.isVisible("#machine")], [true, false, false]);
  await page.click('#panes [data-pane="machine"]');
  await page.click("#run");
  await until(page, "#console-output", /Hello/);
  await page.click('#panes [data-pane="definition"]');
  assert.equal(await page.isVisible("#definition"), true);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.equal(overflow, 0, "nothing is wider than the screen");
  await profile.close();
});
