// The machine's thread, started before the page is loaded: the browser compiles the machine while it parses the rest.

import wasmUrl from "../generated/lathe.wasm?url";
import type { ToWorker } from "./protocol";

/** The machine, fetched while its thread starts, not only when the thread asks for it. */
let machine: Promise<WebAssembly.Module> | null = null;

function startWorker(): Worker {
  machine ??= WebAssembly.compileStreaming(fetch(wasmUrl));
  const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  const send = (message: ToWorker) => worker.postMessage(message);
  machine.then(
    (module) => send({ kind: "module", module }),
    (error: unknown) => {
      machine = null;
      send({ kind: "no-module", message: String(error) });
    },
  );
  return worker;
}

let first: Worker | null = startWorker();

/** Returns the worker already started, or a new one. */
export function nextWorker(): Worker {
  const worker = first ?? startWorker();
  first = null;
  return worker;
}
