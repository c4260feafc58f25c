// The user's whole work as a link, a file or a draft. A link is data: it is parsed with care, shown as text, and never
// run as anything but a machine.

export interface Project {
  definition: string;
  program: string;
  /** The shipped machine whose programs can be included. */
  library: string;
  /** What the console is given at the start. */
  input: string;
  /** What the user has set at the ports, one per line: `ports[4] = 42`. */
  ports: string;
  /** The tab open beside the definition. */
  tab: string;
}

/** The version of links and files; other versions are refused, with a reason. */
export const VERSION = 1;
/** Chat programs and some browsers cut longer links. */
export const LINK_LIMIT = 16_000;
/** The most text in a link, once unpacked. */
const TEXT_LIMIT = 1 << 20;
const DRAFT = "lathe.draft";
const PREVIOUS = "lathe.previous";

export class Unreadable extends Error {}

async function through(bytes: Uint8Array<ArrayBuffer>, transform: GenericTransformStream, limit: number): Promise<Uint8Array> {
  const reader = new Blob([bytes]).stream().pipeThrough(transform as ReadableWritablePair<Uint8Array, Uint8Array>).getReader();
  const parts: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > limit) {
      await reader.cancel();
      throw new Unreadable("this link holds more than a megabyte of text");
    }
    parts.push(value);
  }
  const all = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 4096) text += String.fromCharCode(...bytes.subarray(at, at + 4096));
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  let plain: string;
  try {
    plain = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    throw new Unreadable("this link is damaged: it has characters that no link has");
  }
  return Uint8Array.from(plain, (character) => character.charCodeAt(0));
}

export function toText(project: Project): string {
  return JSON.stringify({ lathe: VERSION, ...project });
}

/** Parses a file or an unpacked link. Anything that is not text is refused, anything unknown is dropped. */
export function fromText(text: string): Project {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    throw new Unreadable("this is no Lathe project: it is not whole");
  }
  if (data === null || typeof data !== "object") throw new Unreadable("this is no Lathe project");
  const fields = data as Record<string, unknown>;
  if (fields["lathe"] !== VERSION) {
    throw new Unreadable(`this was made by another version of the playground (${JSON.stringify(fields["lathe"] ?? null).slice(0, 20)})`);
  }
  const text_of = (name: string): string => {
    const value = fields[name] ?? "";
    if (typeof value !== "string") throw new Unreadable(`this is no Lathe project: its ${name} is not a text`);
    return value;
  };
  return {
    definition: text_of("definition"),
    program: text_of("program"),
    library: text_of("library"),
    input: text_of("input"),
    ports: text_of("ports"),
    tab: text_of("tab"),
  };
}

/** Returns the part of a link after `#`. */
export async function toFragment(project: Project): Promise<string> {
  const bytes = new TextEncoder().encode(toText(project));
  return `${VERSION}.${toBase64(await through(bytes, new CompressionStream("deflate-raw"), Infinity))}`;
}

/** Returns what a link carries; `null` if it carries nothing. */
export async function fromFragment(fragment: string): Promise<Project | null> {
  const plain = fragment.replace(/^#/, "");
  if (plain === "") return null;
  const [version, data] = plain.split(".", 2);
  if (version !== String(VERSION) || data === undefined) {
    throw new Unreadable("this link was made by another version of the playground");
  }
  let text: Uint8Array;
  try {
    text = await through(fromBase64(data), new DecompressionStream("deflate-raw"), TEXT_LIMIT);
  } catch (error) {
    if (error instanceof Unreadable) throw error;
    throw new Unreadable("this link is damaged: a part of it is missing");
  }
  return fromText(new TextDecoder().decode(text));
}

function storage(): Storage | null {
  try {
    return window.localStorage;
  } catch {
    return null;
  }
}

function read(key: string): Project | null {
  const text = storage()?.getItem(key);
  if (!text) return null;
  try {
    return fromText(text);
  } catch {
    return null;
  }
}

function write(key: string, project: Project): void {
  try {
    storage()?.setItem(key, toText(project));
  } catch {
    // A full or forbidden store loses only the draft.
  }
}

export const draft = {
  read: (): Project | null => read(DRAFT),
  write: (project: Project): void => write(DRAFT, project),
  /** The work that was there before a link was opened. */
  readPrevious: (): Project | null => read(PREVIOUS),
  writePrevious: (project: Project): void => write(PREVIOUS, project),
};
