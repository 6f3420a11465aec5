// The key heat map.

import { call, Refresher } from "./calls.js";
import { choice, el, show, write } from "./dom.js";
import { drawRamp, HeatCanvas } from "./heat_canvas.js";
import { clock, rate } from "./units.js";

const WINDOWS = [["120", "2 min"], ["600", "10 min"], ["3600", "1 h"], ["21600", "6 h"], ["86400", "24 h"]];
const [SPANS, SLOTS] = [64, 120];
const LABELS = 9;

/** Counts per second of each slot and span. */
function ratesOf(heat, which) {
  const per = (counts, slot) => counts[slot].map((value) => value / (heat.slots[slot].seconds || 1));
  return heat.slots.map((_, slot) => {
    if (which === "reads") return per(heat.reads, slot);
    if (which === "writes") return per(heat.writes, slot);
    const [reads, writes] = [per(heat.reads, slot), per(heat.writes, slot)];
    return reads.map((value, span) => value + writes[span]);
  });
}

class Heat {
  constructor(panel) {
    this.which = "both";
    this.wanted = null;
    this.seconds = "120";
    this.relation = el("select", { id: "heat-relation", "aria-label": "Table or index", onchange: () => this.refresher.start() });
    const again = (field) => (value) => {
      this[field] = value;
      this.refresher.start();
    };
    this.whichChoice = choice("What is counted", [["both", "Both"], ["reads", "Reads"], ["writes", "Writes"]], "both", again("which"));
    this.windowChoice = choice("How far back", WINDOWS, "120", again("seconds"));
    this.canvas = el("canvas", { id: "heat-canvas", tabindex: "0", role: "img", "aria-label": "Heat of the keys: keys down, time across. Arrow keys choose a cell." });
    this.picture = new HeatCanvas(this.canvas, (slot, span) => this.showCell(slot, span));
    this.keys = el("div", { class: "heat-keys", "aria-hidden": "true" });
    this.times = el("div", { class: "heat-times", "aria-hidden": "true" });
    this.cell = el("div", { class: "heat-cell", role: "status" });
    this.status = el("span", { class: "soft" });
    this.most = el("span", {});
    this.empty = el("p", { class: "empty", hidden: true });
    this.frame = el("div", { class: "heat-frame" }, this.keys, this.canvas, this.times);
    const ramp = el("canvas", { class: "ramp", "aria-hidden": "true" });
    drawRamp(ramp);
    const legend = el("span", { class: "legend push" }, el("span", {}, "0"), ramp, this.most);
    show(
      panel,
      el("section", { class: "card" }, el("header", {}, this.relation, this.whichChoice, this.windowChoice, this.status, legend), el("div", { class: "inside" }, this.empty, this.frame, this.cell)),
    );
    this.refresher = new Refresher(() => this.refresh());
  }

  /** Shows this relation from now on. */
  choose(relation) {
    this.wanted = relation;
  }

  async enter() {
    try {
      await this.readRelations();
      this.refresher.start();
    } catch (error) {
      this.say(error.message);
    }
  }

  leave() {
    this.refresher.stop();
  }

  async readRelations() {
    const { tables, indexes } = await call("tables");
    const names = tables.filter((table) => table.table_type !== "VIEW").flatMap((table) => {
      const own = indexes.filter((index) => index.table_schema === table.table_schema && index.table_name === table.table_name);
      return [table.relation, ...own.map((index) => index.relation)];
    });
    const chosen = this.wanted ?? this.relation.value;
    this.wanted = null;
    show(this.relation, names.map((name) => el("option", { selected: name === chosen }, name)));
  }

  say(text) {
    this.empty.hidden = !text;
    this.frame.hidden = Boolean(text);
    this.cell.hidden = Boolean(text);
    write(this.empty, text ?? "");
  }

  async refresh() {
    const relation = this.relation.value;
    if (!relation) {
      this.say("There are no tables yet.");
      return 5000;
    }
    try {
      const heat = await call("heat", { relation, spans: SPANS, slots: SLOTS, seconds: Number(this.seconds) });
      if (relation === this.relation.value) this.draw(heat);
    } catch (error) {
      this.say(error.message);
    }
    return Number(this.seconds) > 600 ? 5000 : 1000;
  }

  draw(heat) {
    this.heat = heat;
    this.rates = ratesOf(heat, this.which);
    this.say(heat.spans.length ? null : "No access of its keys was counted in this time.");
    write(this.status, `key (${heat.key_columns.join(", ")})`);
    if (!heat.spans.length) return;
    this.picture.show(this.rates);
    write(this.most, `${rate(this.picture.most)} per second`);
    this.drawLabels(heat);
    if (!this.picture.cell) write(this.cell, "Point at a cell, or move with the arrow keys, to see its keys and counts.");
  }

  drawLabels({ spans, slots }) {
    const count = Math.min(LABELS, spans.length);
    const places = Array.from({ length: count }, (_, place) => Math.floor((place * spans.length) / count));
    // The type of an instant is known to those who know the key.
    const short = (text) => text.replace(/\b(DATE|TIME|TIMESTAMP) '/g, "'");
    const label = (place) => {
      const text = el("span", { title: spans[place].from }, short(spans[place].from) || "first key");
      text.style.top = `${((place + 0.5) / spans.length) * 100}%`;
      return text;
    };
    show(this.keys, places.map(label));
    const shown = [0, 0.25, 0.5, 0.75].map((share) => slots[Math.floor(share * (slots.length - 1))].start_ms);
    show(this.times, shown.map((ms) => el("span", {}, clock(ms))), el("span", {}, "now"));
  }

  showCell(slot, span) {
    const { spans, slots, reads, writes } = this.heat;
    if (!spans[span] || !slots[slot]) return;
    const { from, to } = spans[span];
    const seconds = slots[slot].seconds || 1;
    show(
      this.cell,
      el("div", {}, el("span", { class: "soft" }, `${clock(slots[slot].start_ms)} `), `${rate(reads[slot][span] / seconds)} reads and ${rate(writes[slot][span] / seconds)} writes per second`),
      el("div", { class: "mono" }, `${from || "first key"} \u2026 ${to ?? "last key"}`),
    );
  }
}

/** Makes the heat map in its panel. */
export const heatPart = (panel) => new Heat(panel);
