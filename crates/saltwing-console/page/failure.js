// Errors of statements, and the fixes of refusals as buttons.

import { el } from "./dom.js";
import { bytes } from "./units.js";

/** The line of a text with a place, and what points to it. */
function caret(text, from, to) {
  const start = text.lastIndexOf("\n", from - 1) + 1;
  const newline = text.indexOf("\n", from);
  const line = text.slice(start, newline < 0 ? text.length : newline);
  const number = text.slice(0, start).split("\n").length;
  const gutter = `${number} | `;
  const width = Math.max(1, Math.min(to, start + line.length) - from);
  const blank = " ".repeat(gutter.length + from - start);
  return el("pre", { class: "caret" }, `${gutter}${line}\n${blank}`, el("span", { class: "at" }, "^".repeat(width)));
}

/** The price of an index, as far as it is known. */
export function priceOf(fix) {
  return fix.bytes_per_row ? `about ${bytes(fix.bytes_per_row)} for each row` : null;
}

/** A button for a fix. `apply` gets it when it is pressed. */
export function fixButton(fix, apply) {
  const isStatement = fix.run && fix.run === fix.label;
  const notes = [fix.run && !isStatement ? fix.run : null, priceOf(fix)].filter(Boolean).join(" \u00b7 ");
  const label = isStatement ? el("code", {}, fix.label) : fix.label;
  return el("button", { class: "fix", onclick: () => apply(fix) }, label, notes ? el("small", {}, notes) : null);
}

/**
 * An error as a card. `text` is what was run, in which the error's places are; `onGo` shows a place in the editor, `onFix` applies a fix.
 */
export function failureCard(failure, { text = "", onGo = null, onFix = null } = {}) {
  const [from, to] = failure.place ?? [];
  const fixes = failure.fixes ?? [];
  const isRefusal = failure.code === "full_scan_refused";
  return el(
    "section",
    { class: "card failure", role: "alert" },
    el(
      "header",
      {},
      el("h2", {}, isRefusal ? "Refused by the guard" : "Error"),
      el("span", { class: "tag bad" }, failure.sqlstate),
      failure.place && onGo ? el("button", { class: "small push", onclick: () => onGo(from, to) }, "Show the place") : null,
    ),
    el(
      "div",
      { class: "inside" },
      el("p", { class: "failure-text" }, failure.text),
      failure.place && text ? caret(text, from, to) : null,
      failure.help?.length ? el("ul", {}, failure.help.map((line) => el("li", {}, line))) : null,
      fixes.length && onFix ? el("div", { class: "fixes", role: "group", "aria-label": "Fixes" }, fixes.map((fix) => fixButton(fix, onFix))) : null,
    ),
  );
}
