// The page's engine, in Node: requests in, answers out, as in the worker.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { start } from "../src/compiler.js";

export const root = fileURLToPath(new URL("../..", import.meta.url));
const part = (name) => readFileSync(join(root, "web/generated", name));
const instantiate = async (imports) => (await WebAssembly.instantiate(part("lathe.wasm"), imports)).instance;
const { exports, count } = await start(instantiate, () => part("later.wasm"));
const { memory, lathe_room, lathe_answer, lathe_text } = exports;

/** How many regions it has compiled and released. */
export { count };

/** Returns the answer to a request, both as texts. */
export function answer(request) {
  const bytes = new TextEncoder().encode(request);
  const at = lathe_room(bytes.length);
  new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
  const length = lathe_answer();
  return new TextDecoder().decode(new Uint8Array(memory.buffer, lathe_text(), length));
}

export const ask = (request) => JSON.parse(answer(JSON.stringify(request)));
