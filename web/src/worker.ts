// The machine's own thread: the workbench as WebAssembly, and the loop that runs it in slices, so that no program
// blocks the page.

import restUrl from "../generated/later.wasm?url";
import opening from "../generated/opening.json";
import { start as startEngine } from "./compiler.js";
import type { Edited, FromWorker, Gallery, Report, Speed, Status, ToWorker, View, Window } from "./protocol";
import { problemOf } from "./protocol";

interface Exports {
  memory: WebAssembly.Memory;
  lathe_room(length: number): number;
  lathe_answer(): number;
  lathe_text(): number;
}

/** How long a slice of a run should take; messages are handled between two slices. */
const SLICE_MS = 8;
/** How often the page gets an update. */
const FRAME_MS = 33;
/** How far a command may search before it gives up: about ten seconds of a watch that checks every instruction. */
const SEARCH = 10_000_000;

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const channel = new MessageChannel();

let engine: Awaited<ReturnType<typeof startEngine>> | null = null;
let lathe: Exports | null = null;
/** The part of the module that opening the page does not need, once requested. */
let rest: Promise<void> | null = null;
/** Why there will be no module. */
let failure: string | null = null;
/** Messages from the page before the module was loaded. */
const early: ToWorker[] = [];
/** Whether the rest of the module is still to come. */
let isIncomplete = true;
/** Later messages from the page that wait for the rest. */
const held: ToWorker[] = [];
let view: Window = { memory: "", from: "0", count: 256, before: 6, after: 24 };
let written = 0;
let running: { speed: Speed; since: number; done: number; limit: number } | null = null;
let status: Status = { kind: "stopped", reason: "ready", message: "" };
let shownAt = 0;
let isUnseen = false;
let rate = { at: 0, step: 0, value: 0 };

function ask<T>(request: Record<string, unknown>): T {
  if (!lathe) throw new Error("the module is not there yet");
  const bytes = encoder.encode(JSON.stringify(request));
  const at = lathe.lathe_room(bytes.length);
  new Uint8Array(lathe.memory.buffer, at, bytes.length).set(bytes);
  const length = lathe.lathe_answer();
  const answer = new Uint8Array(lathe.memory.buffer, lathe.lathe_text(), length);
  return JSON.parse(decoder.decode(answer)) as T;
}

function post(message: FromWorker): void {
  self.postMessage(message);
}

/** Shows the page the machine's current state. Changes count from the last state shown with `settle`. */
function show(settle: boolean): void {
  shownAt = performance.now();
  isUnseen = true;
  const answer = ask<View>({ call: "view", ...view, written, settle });
  if (problemOf(answer)) {
    post({ kind: "view", view: null, status });
    return;
  }
  written = answer.console.written;
  post({ kind: "view", view: answer, status });
}

function stop(reason: string, message: string): void {
  running = null;
  status = { kind: "stopped", reason, message };
}

function start(speed: Speed): void {
  running = { speed, since: performance.now(), done: 0, limit: 20_000 };
  rate = { at: performance.now(), step: 0, value: 0 };
  status = { kind: "running", rate: 0 };
  slice();
}

/** Returns how many instructions are due now. */
function due(run: NonNullable<typeof running>): number {
  if (run.speed === null) return run.limit;
  const wanted = Math.floor(((performance.now() - run.since) / 1000) * run.speed) + 1 - run.done;
  // Instructions that were not executed in time are not caught up.
  return Math.max(0, Math.min(wanted, run.limit));
}

function slice(): void {
  const run = running;
  if (!run) return;
  const count = due(run);
  if (count > 0) {
    const begin = performance.now();
    const report = ask<Report>({ call: "command", line: "run", limit: count });
    const took = performance.now() - begin;
    const problem = problemOf(report);
    if (problem) {
      stop("refused", problem.help ? `${problem.message}; ${problem.help}` : problem.message);
      return show(true);
    }
    adapt(run, count, took);
    if (report.reason === "waiting") {
      status = { kind: "waiting" };
      running = null;
      return show(true);
    }
    if (report.reason !== "paused") {
      stop(report.reason ?? "done", report.message ?? "");
      return show(true);
    }
    measure(report.step ?? 0);
  }
  const isDue = performance.now() - shownAt >= FRAME_MS || (run.speed !== null && run.speed <= 30 && count > 0);
  if (isDue && !isUnseen) show(true);
  if (run.speed === null) channel.port2.postMessage(null);
  else setTimeout(slice, 1000 / Math.max(30, Math.min(run.speed, 200)));
}

function adapt(run: NonNullable<typeof running>, count: number, took: number): void {
  run.done += count;
  if (run.speed !== null && run.done > run.speed * 10) {
    run.since = performance.now();
    run.done = 0;
  }
  if (count < run.limit) return;
  const fitting = run.limit * Math.min(4, SLICE_MS / Math.max(took, 0.1));
  run.limit = Math.round(Math.max(500, Math.min(fitting, 50_000_000)));
}

function measure(step: number): void {
  const now = performance.now();
  if (now - rate.at >= 500) {
    rate = { at: now, step, value: rate.step ? ((step - rate.step) / (now - rate.at)) * 1000 : rate.value };
    status = { kind: "running", rate: rate.value };
  } else if (!rate.step) rate.step = step;
}

channel.port1.onmessage = slice;

/** Between two slices, resumes a run that was waiting for input. */
function goOn(): void {
  if (status.kind === "waiting") start(lastSpeed);
  else show(false);
}

let lastSpeed: Speed = null;

function receive(message: ToWorker): void {
  switch (message.kind) {
    case "hello":
      return post({ kind: "ready", gallery: opening.gallery satisfies Gallery });
    case "ask": {
      const answer = known(message.request) ?? ask<unknown>(message.request);
      if (message.request["call"] === "edit") {
        edited(answer as Edited, message.request["anew"] === true);
        // Only now: what opening needs gets the network and the processor to itself.
        fetchRest();
      }
      post({ kind: "answer", id: message.id, answer });
      if (["edit", "port"].includes(String(message.request["call"]))) show(false);
      return;
    }
    case "do": {
      running = null;
      const answer = ask<Report>({ call: "command", line: message.line, limit: SEARCH });
      const problem = problemOf(answer);
      if (problem) stop("refused", problem.help ? `${problem.message}; ${problem.help}` : problem.message);
      else if (answer.answer === "stopped") {
        if (answer.reason === "waiting") stop("waiting", "");
        else if (answer.reason === "paused") stop("searching", "not reached yet; the same again goes on from here");
        else stop(answer.reason ?? "done", answer.message ?? "");
      } else if (status.kind !== "stopped") stop("done", "");
      post({ kind: "answer", id: message.id, answer });
      return show(true);
    }
    case "run":
      lastSpeed = message.speed;
      return start(message.speed);
    case "pause":
      if (running || status.kind === "waiting") stop("paused", "");
      return show(true);
    case "input":
      ask({ call: "input", text: message.text });
      return goOn();
    case "end-input":
      ask({ call: "end_input" });
      return goOn();
    case "key":
      ask({ call: "key", key: message.key, down: message.down });
      return;
    case "seen":
      isUnseen = false;
      return;
    case "module":
    case "no-module":
      return;
    case "window":
      view = message.window;
      if (!running) show(false);
      return;
  }
}

/** Returns the module's answer if it was recorded when the page was built, so that its texts can come later. */
function known(request: Record<string, unknown>): unknown {
  const { asked, texts } = opening.first;
  const isFirst = request["call"] === "shipped" && request["machine"] === asked.machine && request["program"] === asked.program;
  return isFirst ? texts : null;
}

/** Whether the first part of the module is enough for this message, as far as was tried when the page was built. */
function isOfOpening(message: ToWorker): boolean {
  if (message.kind === "do") return message.line === "step";
  if (message.kind !== "ask") return message.kind !== "input" && message.kind !== "end-input" && message.kind !== "key";
  const { call, definition, program } = message.request;
  const { texts } = opening.first;
  const isFirst = definition === texts.definition && program === texts.program;
  return call === "breakpoints" || (call === "edit" && isFirst) || known(message.request) !== null;
}

function edited(answer: Edited, anew: boolean): void {
  if (!answer.restarted && !anew) return;
  running = null;
  written = 0;
  status = { kind: "stopped", reason: "ready", message: "" };
}

function handle(message: ToWorker): void {
  try {
    receive(message);
  } catch (error) {
    post({ kind: "failed", message: String(error) });
  }
}

self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  if (data.kind === "module") begin(data.module).catch((error: unknown) => fail(String(error)));
  else if (data.kind === "no-module") fail(data.message);
  else if (failure !== null) post({ kind: "failed", message: failure });
  else if (lathe) take(data);
  else early.push(data);
};

function fail(message: string): void {
  failure = message;
  if (early.length > 0) post({ kind: "failed", message });
}

/** Handles a message, or keeps it until the whole module is loaded. The order is kept; only "seen" cannot wait. */
function take(message: ToWorker): void {
  const mustWait = isIncomplete && message.kind !== "seen" && (held.length > 0 || !isOfOpening(message));
  if (!mustWait) return handle(message);
  held.push(message);
  fetchRest();
}

async function begin(module: WebAssembly.Module): Promise<void> {
  engine = await startEngine((imports) => WebAssembly.instantiate(module, imports), restAtOnce);
  lathe = engine.exports as unknown as Exports;
  early.splice(0).forEach(take);
}

/** Fetches the rest of the module, and then handles the messages that wait for it. */
function fetchRest(): void {
  rest ??= WebAssembly.compileStreaming(fetch(restUrl))
    .then((module) => {
      engine?.complete(module);
      post({ kind: "complete" });
    })
    // It is requested again when something needs it, and then a failure is reported.
    .catch(() => {})
    .then(() => {
      isIncomplete = false;
      held.splice(0).forEach(handle);
    });
}

/** Fetches the rest of the module synchronously, for when it is needed before it has come. */
function restAtOnce(): ArrayBuffer {
  const request = new XMLHttpRequest();
  request.open("GET", restUrl, false);
  request.responseType = "arraybuffer";
  request.send();
  if (request.status !== 200) throw new Error("the rest of the machine cannot be fetched");
  return request.response as ArrayBuffer;
}
