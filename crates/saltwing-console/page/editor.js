// The editor: a text area over its own text in colours.

import { el } from "./dom.js";
import { colouredSql } from "./sql_text.js";

/** A text longer than this is not coloured: each key would take too long. */
const COLOURED_MAX = 50000;

export class Editor {
  constructor({ onRun, onPlan, onCancel, onHistory }) {
    this.mark = null;
    this.area = el("textarea", {
      id: "editor",
      "aria-label": "SQL statements",
      placeholder: "SELECT .. FROM .. WHERE .. LIMIT 100",
      spellcheck: "false",
      autocapitalize: "none",
      autocomplete: "off",
    });
    this.back = el("pre", { "aria-hidden": "true" });
    this.element = el("div", { class: "editor" }, this.back, this.area);
    this.area.oninput = () => this.changed();
    this.area.onscroll = () => (this.back.scrollTop = this.area.scrollTop);
    this.area.onkeydown = (event) => {
      const isCommand = event.ctrlKey || event.metaKey;
      if (event.key === "Enter" && isCommand && event.shiftKey) onPlan();
      else if (event.key === "Enter" && isCommand) onRun();
      else if (event.key === "Escape") onCancel();
      else if (event.altKey && event.key === "ArrowUp") onHistory(1);
      else if (event.altKey && event.key === "ArrowDown") onHistory(-1);
      else return;
      event.preventDefault();
    };
  }

  changed() {
    this.mark = null;
    this.draw();
  }

  draw() {
    const text = this.area.value;
    const isPlain = text.length > COLOURED_MAX;
    this.back.replaceChildren(...(isPlain ? [] : colouredSql(text, this.mark)));
    this.area.classList.toggle("plain", isPlain);
    this.back.scrollTop = this.area.scrollTop;
  }

  get text() {
    return this.area.value;
  }

  set text(text) {
    this.area.value = text;
    this.changed();
  }

  /** What runs: the selection if there is one, otherwise everything; and where it begins. */
  chosen() {
    const { selectionStart: from, selectionEnd: to, value } = this.area;
    return value.slice(from, to).trim() ? { sql: value.slice(from, to), offset: from } : { sql: value, offset: 0 };
  }

  /** The statement at the cursor, roughly: pieces end at `;`. */
  statement() {
    const { sql, offset } = this.chosen();
    if (offset || this.area.selectionStart !== this.area.selectionEnd) return { sql, offset };
    const cursor = this.area.selectionStart;
    let from = 0;
    for (const found of sql.matchAll(/'(?:[^']|'')*'|"[^"]*"|--[^\n]*|\/\*[\s\S]*?\*\/|;/g)) {
      if (found[0] !== ";") continue;
      if (found.index >= cursor) return { sql: sql.slice(from, found.index), offset: from };
      if (sql.slice(found.index + 1).trim()) from = found.index + 1;
    }
    return { sql: sql.slice(from), offset: from };
  }

  /** Marks the place of an error, and shows it. */
  markError(from, to) {
    this.mark = [from, to];
    this.draw();
  }

  /** Puts a text in the place of another, so that the browser's undo still works where it can. */
  replace(from, to, text) {
    this.area.focus();
    this.area.setRangeText(text, from, to, "end");
    this.changed();
  }

  goTo(from, to) {
    this.area.focus();
    this.area.setSelectionRange(from, to);
  }
}
