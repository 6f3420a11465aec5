// Keyboard shortcuts, and the dialog that lists them.

import { byId, el, show } from "./dom.js";
import { showPart, shownPart } from "./tabs.js";

const SHORTCUTS = [
  ["Ctrl Enter", "run the text of the editor, or what is selected in it"],
  ["Ctrl Shift Enter", "show the plan"],
  ["Escape", "cancel the statement that runs"],
  ["Alt \u2191  Alt \u2193", "earlier and later statements of the history"],
  ["1 .. 5", "go to a part of the page (outside fields)"],
  ["/", "go to the editor, or to the filter of the tables"],
  ["\u2190 \u2192", "between tabs, and between the cells of the heat map"],
  ["Enter", "open a row of a result"],
  ["?", "this list"],
];

const PARTS = ["query", "tables", "activity", "heat", "advisor"];

function isTyping(event) {
  return event.target.closest?.("input, select, textarea, [contenteditable], dialog") !== null;
}

function focusFirstField() {
  byId(`panel-${shownPart()}`)?.querySelector("textarea, input[type=search]")?.focus();
}

/** Listens to the keys of the whole page. */
export function startShortcuts() {
  const dialog = byId("shortcuts");
  const key = (text) => text.split("  ").map((keys, place) => [place ? " " : "", ...keys.split(" ").map((one) => el("kbd", {}, one))]);
  show(
    dialog,
    el("h2", { id: "shortcuts-title" }, "Keyboard shortcuts"),
    el("dl", {}, SHORTCUTS.map(([keys, what]) => [el("dt", {}, ...key(keys).flat()), el("dd", {}, what)])),
    el("button", { onclick: () => dialog.close() }, "Close"),
  );
  byId("help-button").onclick = () => dialog.showModal();
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event) || dialog.open) return;
    const part = PARTS[Number(event.key) - 1];
    if (event.key === "?") dialog.showModal();
    else if (!shownPart()) return;
    else if (part) showPart(part, true);
    else if (event.key === "/") focusFirstField();
    else return;
    event.preventDefault();
  });
}
