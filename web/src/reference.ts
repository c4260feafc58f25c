// The machine being edited, as its opcode map and its reference.

import { element, prose } from "./dom";
import type { Row, Sheet } from "./protocol";

const TINTS = 6;

function tint(row: Row | undefined): string {
  return row ? `tint-${row.group % TINTS}` : "";
}

/** Draws the opcode map: one place for each beginning of an encoding. */
export function opcodeMap(sheet: Sheet, go: (row: Row) => void): Node[] {
  const { slots, bits, share } = sheet.coverage;
  const columns = Math.min(16, slots.length);
  const digits = Math.ceil(bits / 4);
  const used = slots.filter((slot) => slot.filling !== "empty").length;
  const percent = share === null ? "" : `, ${(share * 100).toFixed(1)} % of all encodings`;
  const map = element("div", { class: "map", role: "grid", "aria-label": "Opcode map" });
  map.style.gridTemplateColumns = `2.6em repeat(${columns}, minmax(0, 1fr))`;
  map.append(element("span", { class: "axis" }));
  for (let column = 0; column < columns; column += 1) {
    map.append(element("span", { class: "axis" }, `+${column.toString(16).toUpperCase()}`));
  }
  slots.forEach((slot, at) => {
    const code = at.toString(16).toUpperCase().padStart(digits, "0");
    if (at % columns === 0) map.append(element("span", { class: "axis" }, code));
    const row = sheet.rows[slot.rows[0] ?? -1];
    if (!row) {
      map.append(element("span", { class: "free", title: `${code} is free` }));
      return;
    }
    const several = slot.mnemonics.length > 1 ? "+" : "";
    const about = `${code}: ${slot.rows.map((number) => sheet.rows[number]?.syntax).join(", ")}`;
    const classes = [tint(row), slot.filling === "partial" && "partial"].filter(Boolean).join(" ");
    map.append(
      element("button", { type: "button", class: classes, title: about, "aria-label": about, onclick: () => go(row) }, `${slot.mnemonics[0] ?? ""}${several}`),
    );
  });
  return [element("p", { class: "map-note" }, `${used} of ${slots.length} places used${percent}`), map];
}

/** Lists every row: its syntax, its bits, what it does. */
export function reference(sheet: Sheet, go: (row: Row) => void): Node[] {
  const rows = sheet.rows.map((row) =>
    element(
      "article",
      { class: "instruction" },
      element("button", { type: "button", class: "syntax", title: "Show its row", onclick: () => go(row) }, row.syntax),
      element("div", { class: "bits" }, ...row.parts.map((part) => element("span", part.operand === null ? {} : { class: "operand" }, part.label))),
      element("span", {}),
      element("div", { class: "meaning" }, row.meaning),
      row.documentation ? element("div", { class: "about" }, ...prose(row.documentation)) : null,
    ),
  );
  const pseudos = sheet.pseudos.map((pseudo) =>
    element("article", { class: "instruction" }, element("span", { class: "syntax" }, pseudo.syntax), element("div", { class: "meaning" }, pseudo.expansion.join("; "))),
  );
  const heading = pseudos.length > 0 ? [element("h3", {}, "Pseudo-instructions")] : [];
  const about = sheet.documentation ? prose(sheet.documentation) : [];
  return [...about, ...rows, ...heading, ...pseudos];
}
