// What the guard refused lately, and what would serve it.

import { call, Refresher } from "./calls.js";
import { el, show, write } from "./dom.js";
import { fixButton } from "./failure.js";
import { colouredSql } from "./sql_text.js";
import { clock, plural } from "./units.js";

const REFRESH_MS = 5000;

class Advisor {
  constructor(panel, actions) {
    this.actions = actions;
    this.shown = "";
    this.list = el("div");
    this.status = el("span", { class: "soft push", role: "status" });
    show(panel, el("section", { class: "card" }, el("header", {}, el("h1", {}, "What the guard refused"), this.status), el("div", { class: "inside soft" }, "Statements that would have read a whole table, the most frequent first, and the key or index that would bound them.")), this.list);
    this.list.className = "results";
    this.refresher = new Refresher(() => this.refresh());
  }

  enter() {
    this.refresher.start();
  }

  leave() {
    this.refresher.stop();
  }

  async refresh() {
    try {
      const { refusals } = await call("refusals");
      write(this.status, refusals.length ? plural(refusals.length, "statement") : "");
      // The cards are made again only if something is new: the focus stays.
      const text = JSON.stringify(refusals);
      if (text !== this.shown) {
        this.shown = text;
        show(this.list, refusals.length ? refusals.map((refusal) => this.card(refusal)) : el("p", { class: "empty" }, "Nothing was refused."));
      }
    } catch (error) {
      write(this.status, error.message);
    }
    return REFRESH_MS;
  }

  card(refusal) {
    const fixes = refusal.fixes.filter((fix) => fix.run);
    // What a button does needs no line.
    const advice = refusal.fixes.filter((fix) => !fix.run && !fixes.some(({ run }) => fix.label.endsWith(run)));
    return el(
      "section",
      { class: "card refusal" },
      el(
        "header",
        {},
        el("h2", {}, refusal.tables.join(", ")),
        el("span", { class: "tag hot" }, `refused ${plural(refusal.count, "time")}`),
        el("span", { class: "soft" }, `last at ${clock(refusal.last_ms)}`),
        el("button", { class: "small push", onclick: () => this.actions.edit(refusal.statement) }, "Edit"),
      ),
      el(
        "div",
        { class: "inside" },
        el("pre", {}, colouredSql(refusal.statement)),
        el("p", { class: "soft" }, refusal.reason),
        advice.length ? el("ul", {}, advice.map((fix) => el("li", {}, fix.label))) : null,
        fixes.length ? el("div", { class: "fixes" }, fixes.map((fix) => fixButton(fix, () => this.actions.run(fix.run)))) : null,
      ),
    );
  }
}

/** Makes the advisor in its panel. */
export const advisorPart = (panel, actions) => new Advisor(panel, actions);
