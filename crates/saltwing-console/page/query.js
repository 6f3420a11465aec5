// The query part: the editor, what runs, results, the plan.

import { call } from "./calls.js";
import { el, notify, show, write } from "./dom.js";
import { Editor } from "./editor.js";
import { failureCard } from "./failure.js";
import { History } from "./history.js";
import { planCard } from "./plan.js";
import { resultCard } from "./result.js";
import { count, plural, span } from "./units.js";

/** How far a running statement is, in words. */
function progressText(run) {
  const parts = [span(run.elapsed_ms)];
  if (run.count > 1) parts.push(`statement ${run.place} of ${run.count}`);
  if (run.rows_written) parts.push(`${count(run.rows_written)}${run.rows_total ? ` of about ${count(run.rows_total)}` : ""} rows written`);
  else if (run.rows_scanned) parts.push(`${plural(run.rows_scanned, "row")} read`);
  return parts.join(" \u00b7 ");
}

function outcomeOf(results) {
  const last = results.at(-1);
  if (!last) return "nothing to run";
  if (last.error) return last.error.sqlstate === "57014" ? "cancelled" : `error ${last.error.sqlstate}`;
  return last.columns ? `${plural(last.rows.length, "row")}${last.more ? " and more" : ""}` : `${plural(last.rows_affected, "row")} written`;
}

class Query {
  constructor(panel) {
    this.running = null;
    this.history = new History((text) => this.edit(text));
    this.editor = new Editor({
      onRun: () => this.runChosen(),
      onPlan: () => this.plan(),
      onCancel: () => this.cancel(),
      onHistory: (by) => this.edit(this.history.step(by) ?? ""),
    });
    this.runButton = el("button", { class: "main", id: "run", title: "Ctrl+Enter", onclick: () => this.runChosen() }, "Run");
    this.planButton = el("button", { id: "plan", title: "Ctrl+Shift+Enter", onclick: () => this.plan() }, "Plan");
    this.cancelButton = el("button", { class: "danger", id: "cancel", title: "Escape", hidden: true, onclick: () => this.cancel() }, "Cancel");
    this.progress = el("span", { class: "progress-text" });
    this.working = el("span", { class: "working", hidden: true }, el("i", { class: "pulse" }), this.progress);
    this.rows = el("select", { "aria-label": "Rows of a page" }, ["100", "500", "2000", "5000"].map((rows) => el("option", { selected: rows === "500" }, rows)));
    this.results = el("div", { class: "results", id: "results", "aria-live": "polite" });
    const actions = el("div", { class: "actions" }, this.runButton, this.planButton, this.cancelButton, this.working, el("label", { class: "inline push" }, "rows", this.rows));
    const left = el("div", {}, el("div", { class: "card" }, this.editor.element, actions), this.results);
    show(panel, el("div", { class: "columns" }, left, this.history.element));
  }

  enter() {
    this.editor.draw();
  }

  edit(sql) {
    this.editor.text = sql;
    this.editor.area.focus();
  }

  run(sql) {
    this.edit(sql);
    this.runText(sql, 0);
  }

  runChosen() {
    const { sql, offset } = this.editor.chosen();
    if (sql.trim()) this.runText(sql, offset);
  }

  setRunning(run) {
    this.running = run;
    const runs = run !== null;
    this.runButton.disabled = runs;
    this.planButton.disabled = runs;
    this.cancelButton.hidden = !runs;
    this.working.hidden = !runs;
  }

  /** Runs a text to its end. `offset` is its place in the editor. Gives whether all of it went well. */
  async runText(sql, offset) {
    if (this.running !== null) return false;
    this.setRunning(0);
    write(this.progress, "");
    try {
      let run = await call("run", { sql, rows: Number(this.rows.value) });
      while (!run.results) {
        this.running = run.run;
        write(this.progress, progressText(run));
        run = await call("poll", { run: run.run });
      }
      this.history.add(sql, outcomeOf(run.results));
      this.show(run, sql, offset);
      return !run.results.some((result) => result.error);
    } catch (error) {
      show(this.results, failureCard(error.failure ?? { text: String(error), sqlstate: "", help: [] }));
      return false;
    } finally {
      this.setRunning(null);
    }
  }

  async cancel() {
    if (!this.running) return;
    await call("cancel", { run: this.running }).catch((error) => notify(error.message));
  }

  show(run, sql, offset) {
    const cards = run.results.map((result) => {
      if (!result.error) return resultCard(result, run.run, run.results.length > 1);
      if (result.error.place) {
        const [from, to] = result.error.place;
        this.editor.markError(offset + from, offset + to);
      }
      return failureCard(result.error, {
        text: sql,
        onGo: (from, to) => this.editor.goTo(offset + from, offset + to),
        onFix: (fix) => this.fix(fix, sql, offset),
      });
    });
    show(this.results, cards.length ? cards : el("p", { class: "empty" }, "There is nothing to run."));
  }

  /** Changes the statement, or runs what mends the cause; then the statement runs again. */
  async fix(fix, sql, offset) {
    if (fix.replace) {
      const [from, to] = fix.place;
      const semicolon = sql.slice(from, to).endsWith(";") ? ";" : "";
      this.editor.replace(offset + from, offset + to, fix.replace + semicolon);
      await this.runText(sql.slice(0, from) + fix.replace + semicolon + sql.slice(to), offset);
      return;
    }
    if (await this.runText(fix.run, 0)) {
      notify(`Done: ${fix.run}`);
      await this.runText(sql, offset);
    }
  }

  async plan() {
    const { sql, offset } = this.editor.statement();
    if (!sql.trim() || this.running !== null) return;
    try {
      const answer = await call("plan", { sql });
      if (!answer.error) return show(this.results, planCard(answer.plan));
      // The first line is that of EXPLAIN.
      const { place, ...failure } = answer.error;
      show(this.results, failureCard(failure));
      if (place) this.editor.markError(offset + place[0], offset + place[1]);
    } catch (error) {
      show(this.results, failureCard(error.failure ?? { text: String(error), sqlstate: "", help: [] }));
    }
    return null;
  }
}

/** Makes the query part in its panel. */
export const queryPart = (panel) => new Query(panel);
