// Pictures of the page at desktop and phone width, light and dark: `node web/tests/pictures.mjs FOLDER [NAME]`. Makes
// those whose name contains NAME; `playground` is docs/playground.png.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { launch } from "./browser.mjs";
import { serve } from "./server.mjs";

const folder = process.argv[2] ?? "../target/pictures";
mkdirSync(folder, { recursive: true });
const { address, close } = await serve();
const browser = await launch();

async function picture(name, { width, height, theme, scene, touch = false, scale = 1.5 }) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, deviceScaleFactor: touch ? 2 : scale, hasTouch: touch });
  const page = await context.newPage();
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && console.log(name, message.text()));
  page.on("pageerror", (error) => console.log(name, String(error)));
  await page.goto(address);
  await page.waitForSelector("#definition-status:not(:empty)", { state: "attached" });
  await scene?.(page);
  await page.waitForTimeout(400);
  await page.screenshot({ path: join(folder, `${name}.png`) });
  await context.close();
}

async function openProgram(page, name) {
  await page.click("#open-gallery");
  await page.click(`[data-program="${name}"]`);
  await page.waitForTimeout(500);
}

async function stepped(page) {
  await openProgram(page, "hex8/selfmod");
  for (let step = 0; step < 23; step += 1) await page.keyboard.press("F8");
}

/** Shows a machine in the middle of a run, with its table in view. */
async function shown(page) {
  await openProgram(page, "hex8/selfmod");
  await page.click("#run");
  await page.waitForFunction(() => document.getElementById("status").textContent.startsWith("Stopped"));
  await page.locator("#timeline").fill("1010");
  await page.waitForFunction(() => document.getElementById("position").textContent.includes(" of "));
  await page.evaluate(() => document.activeElement.blur());
  for (let step = 0; step < 60 && (await page.locator("#program .cm-current").count()) === 0; step += 1) {
    await page.keyboard.press("F8");
    await page.waitForTimeout(50);
  }
  await page.mouse.move(300, 300);
  await page.mouse.wheel(0, 700);
  await page.mouse.move(700, 530);
}

async function mistake(page) {
  await page.click("#program");
  await page.keyboard.press("Control+End");
  await page.keyboard.type("\n        lii a, 300\n        hallt\n");
}

const desktop = { width: 1440, height: 900 };
const phone = { width: 390, height: 844, touch: true };
const only = process.argv[3];
const scenes = {
  playground: { ...desktop, scale: 1, theme: "light", scene: shown },
  "desktop-light": { ...desktop, theme: "light", scene: stepped },
  "desktop-dark": { ...desktop, theme: "dark", scene: stepped },
  "first-light": { ...desktop, theme: "light", scene: async (page) => page.click("#run") },
  "mistake-light": { ...desktop, theme: "light", scene: mistake },
  "map-light": { ...desktop, theme: "light", scene: async (page) => { await openProgram(page, "mos6502/hello"); await page.click("#tab-map"); await page.click("#run"); } },
  "reference-dark": { ...desktop, theme: "dark", scene: async (page) => { await openProgram(page, "duo16/mandelbrot"); await page.click("#tab-reference"); await page.click("#run"); await page.waitForTimeout(2000); } },
  "chip8-dark": { ...desktop, theme: "dark", scene: async (page) => { await openProgram(page, "chip8/maze"); await page.click("#run"); await page.waitForTimeout(3000); } },
  "gallery-light": { ...desktop, theme: "light", scene: async (page) => page.click("#open-gallery") },
  "files-light": { ...desktop, theme: "light", scene: async (page) => page.click("#open-files") },
  "share-light": { ...desktop, theme: "light", scene: async (page) => page.click("#share") },
  "tour-light": { ...desktop, theme: "light", scene: async (page) => page.click("#open-tour") },
  "phone-program-light": { ...phone, theme: "light", scene: async (page) => { await stepped(page); await page.waitForTimeout(300); } },
  "phone-machine-dark": { ...phone, theme: "dark", scene: async (page) => { await page.click('#panes [data-pane="machine"]'); await page.click("#run"); } },
  "phone-definition-dark": { ...phone, theme: "dark", scene: async (page) => page.click('#panes [data-pane="definition"]') },
  "phone-chip8-light": { ...phone, theme: "light", scene: async (page) => { await openProgram(page, "chip8/ball"); await page.click('#panes [data-pane="machine"]'); await page.click("#run"); await page.waitForTimeout(1500); } },
};
for (const [name, scene] of Object.entries(scenes)) {
  if (!only || name.includes(only)) await picture(name, scene);
}
await browser.close();
close();
