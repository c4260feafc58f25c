// The machine's thread, started before the page is there: a browser compiles the machine while it reads the rest.

function startWorker(): Worker {
  return new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
}

let first: Worker | null = startWorker();

/** The worker that is there already, or another. */
export function nextWorker(): Worker {
  const worker = first ?? startWorker();
  first = null;
  return worker;
}
