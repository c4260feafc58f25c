// Creates elements. Text is always text: nothing here parses markup.

type Child = Node | string | null | undefined | false;
type Properties = Record<string, string | number | boolean | ((event: never) => void) | undefined>;

/** Creates an element with attributes (`onclick` and the like are listeners) and children. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === "function") made.addEventListener(name.slice(2), value as EventListener);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== undefined && value !== false) made.setAttribute(name, String(value));
  }
  made.append(...children.filter((child): child is Node | string => Boolean(child)));
  return made;
}

/** Returns the element with an id, which index.html has. */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`index.html has no #${id}`);
  return found as T;
}

/** Converts text with `code` in backquotes, **bold** words and ``` blocks to nodes. */
export function prose(text: string): Node[] {
  const blocks = text.split(/```[a-z]*\n?/);
  return blocks.flatMap((block, at): Node[] => {
    if (at % 2 === 1) return [element("pre", {}, block.replace(/\n$/, ""))];
    const paragraphs = block.split(/\n\n+/).filter((paragraph) => paragraph.trim() !== "");
    return paragraphs.map((paragraph) => element("p", {}, ...inline(paragraph.trim())));
  });
}

function inline(text: string): Node[] {
  const parts = text.split(/(\*\*`[^`]*`\*\*|`[^`]*`|\*\*[^*]*\*\*)/);
  return parts.filter(Boolean).map((part) => {
    if (part.startsWith("**`")) return element("strong", {}, element("code", {}, part.slice(3, -3)));
    if (part.startsWith("`")) return element("code", {}, part.slice(1, -1));
    if (part.startsWith("**")) return element("strong", {}, part.slice(2, -2));
    return document.createTextNode(part);
  });
}

/** Parses a number as people type it, with 0x, $ or letters if it is hexadecimal; `null` if it is not a number. */
export function numberOf(text: string): number | null {
  const number = Number(addressOf(text) ?? Number.NaN);
  return Number.isSafeInteger(number) ? number : null;
}

/** Parses the same as a number of any size. */
export function addressOf(text: string): bigint | null {
  const [, prefix, digits] = /^(0x|\$)?([0-9a-f]+)$/i.exec(text.trim()) ?? [];
  if (digits === undefined) return null;
  return BigInt(prefix || /[a-f]/i.test(digits) ? `0x${digits}` : digits);
}

/** Formats a number with thin gaps: 12 345 678. */
export function grouped(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
}
