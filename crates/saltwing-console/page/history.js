// The statements that this page has run. They are kept as long as the page is open, and nowhere else.

import { el, show } from "./dom.js";
import { clock } from "./units.js";

const KEPT_MAX = 100;

export class History {
  constructor(onChoose) {
    this.entries = [];
    this.place = -1;
    this.onChoose = onChoose;
    this.list = el("ol", { class: "history" });
    this.element = el("aside", { class: "card", "aria-label": "History" }, el("header", {}, el("h2", {}, "History")), this.list);
    this.draw();
  }

  add(sql, outcome) {
    const text = sql.trim();
    if (!text) return;
    this.entries = [{ text, outcome, at: Date.now() }, ...this.entries.filter((entry) => entry.text !== text)].slice(0, KEPT_MAX);
    this.place = -1;
    this.draw();
  }

  /** The text of an earlier (1) or later (-1) statement. */
  step(by) {
    const place = Math.min(this.entries.length - 1, Math.max(-1, this.place + by));
    this.place = place;
    return place < 0 ? null : this.entries[place].text;
  }

  draw() {
    if (!this.entries.length) return show(this.list, el("li", { class: "empty" }, "Nothing was run yet."));
    const button = ({ text, outcome, at }) =>
      el("button", { title: text, onclick: () => this.onChoose(text) }, el("span", { class: "mono" }, text.replace(/\s+/g, " ")), el("span", { class: "soft" }, `${clock(at)} \u00b7 ${outcome}`));
    return show(this.list, this.entries.map((entry) => el("li", {}, button(entry))));
  }
}
