// The page's side of the worker: requests with promises for answers, and a new worker if the old one fails or takes too
// long.

import { nextWorker } from "./first";
import type { Answer, FromWorker, Gallery, Report, Speed, Status, ToWorker, View, Window } from "./protocol";

/** After this time, a request and its worker are given up. */
const PATIENCE_MS = 20_000;

/** How many workers may fail in a row before the whole machine is loaded. */
const RETRIES = 2;

export interface Listener {
  ready(gallery: Gallery): void;
  view(view: View | null, status: Status): void;
  failed(message: string): void;
  /** There is no worker any more, and another would do no better. */
  lost(message: string): void;
}

interface Waiting {
  resolve(answer: unknown): void;
  timer: number | undefined;
}

export class Bench {
  #worker: Worker;
  #waiting = new Map<number, Waiting>();
  #last = 0;
  /** How many workers have failed since the whole machine was last loaded. */
  #failures = 0;
  /** Whether the whole machine is loaded. Until then there is no time limit: a slow network is not a failure. */
  #isComplete = false;
  #listener: Listener;

  constructor(listener: Listener) {
    this.#listener = listener;
    this.#worker = this.#start();
  }

  #start(): Worker {
    const worker = nextWorker();
    this.#isComplete = false;
    worker.onmessage = (event: MessageEvent<FromWorker>) => this.#receive(event.data);
    worker.onerror = (event) => this.#fail(event.message || "the worker could not be started");
    // The worker may have been ready before the page listened.
    worker.postMessage({ kind: "hello" } satisfies ToWorker);
    return worker;
  }

  #receive(message: FromWorker): void {
    switch (message.kind) {
      case "ready":
        return this.#listener.ready(message.gallery);
      case "complete":
        this.#isComplete = true;
        this.#failures = 0;
        for (const waiting of this.#waiting.values()) waiting.timer = this.#patience();
        return;
      case "view":
        this.#listener.view(message.view, message.status);
        // A page that draws slowly gets fewer views, not ever later ones.
        requestAnimationFrame(() => this.#send({ kind: "seen" }));
        return;
      case "failed":
        return this.#fail(message.message);
      case "answer": {
        const waiting = this.#waiting.get(message.id);
        this.#waiting.delete(message.id);
        if (waiting) clearTimeout(waiting.timer);
        waiting?.resolve(message.answer);
      }
    }
  }

  /** Starts another worker; all pending requests are told that there will be no answer. */
  #fail(message: string): void {
    this.#worker.terminate();
    for (const waiting of this.#waiting.values()) {
      clearTimeout(waiting.timer);
      waiting.resolve({ problem: { message, help: null } });
    }
    this.#waiting.clear();
    this.#failures += 1;
    if (this.#failures > RETRIES) return this.#listener.lost(message);
    this.#worker = this.#start();
    this.#listener.failed(message);
  }

  #send(message: ToWorker): void {
    this.#worker.postMessage(message);
  }

  #expect<T>(make: (id: number) => ToWorker): Promise<Answer<T>> {
    const id = ++this.#last;
    return new Promise((resolve) => {
      const timer = this.#isComplete ? this.#patience() : undefined;
      this.#waiting.set(id, { resolve: resolve as (answer: unknown) => void, timer });
      this.#send(make(id));
    });
  }

  #patience(): number {
    return window.setTimeout(() => this.#fail("it took longer than 20 seconds"), PATIENCE_MS);
  }

  ask<T>(request: Record<string, unknown>): Promise<Answer<T>> {
    return this.#expect((id) => ({ kind: "ask", id, request }));
  }

  /** Executes a line of the debugger's language. */
  do(line: string): Promise<Answer<Report>> {
    return this.#expect((id) => ({ kind: "do", id, line }));
  }

  run(speed: Speed): void {
    this.#send({ kind: "run", speed });
  }

  pause(): void {
    this.#send({ kind: "pause" });
  }

  input(text: string): void {
    this.#send({ kind: "input", text });
  }

  endInput(): void {
    this.#send({ kind: "end-input" });
  }

  key(key: number, down: boolean): void {
    this.#send({ kind: "key", key, down });
  }

  look(window: Window): void {
    this.#send({ kind: "window", window });
  }
}
