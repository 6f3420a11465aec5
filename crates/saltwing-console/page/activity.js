// Sessions, running statements with cancel, recent and slow statements.

import { call, Refresher } from "./calls.js";
import { choice, el, keyed, notify, show, write } from "./dom.js";
import { clock, count, micros, plural, span } from "./units.js";

const REFRESH_MS = 1500;

function table(heads, label) {
  const body = el("tbody");
  const frame = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, el("table", { class: "stacked" }, el("thead", {}, el("tr", {}, heads.map((head) => el("th", {}, head)))), body));
  return { frame, body, heads };
}

/** A row of a table whose cells are written again; `texts` gives their texts of an item. On a phone each cell has its head beside it. */
function rowOf({ heads }, texts, cells = []) {
  return (item) => {
    // The last text is the statement's, which may have some lines.
    const fields = texts(item).map(() => el("div"));
    const inCells = fields.map((field, place) => el("td", { class: place === fields.length - 1 ? "statement" : "short", "data-head": heads[place] }, field));
    const row = el("tr", {}, inCells, cells.map((make) => el("td", {}, make(item))));
    row.update = (now) => texts(now).forEach((text, place) => write(fields[place], String(text ?? "")));
    return row;
  };
}

const oneLine = (text) => (text ?? "").replace(/\s+/g, " ").trim();

class Activity {
  constructor(panel, actions) {
    this.which = "recent";
    this.running = table(["session", "user", "protocol", "runs for", "rows read", "statement", ""], "Running statements");
    this.sessions = table(["session", "user", "protocol", "client", "application", "since", "state", "last statement"], "Sessions");
    this.ended = table(["ended", "user", "protocol", "took", "rows", "outcome", "statement", ""], "Statements that have ended");
    this.none = el("p", { class: "empty" }, "No statement runs.");
    this.failure = el("span", { class: "soft", role: "status" });
    this.number = el("span", { class: "soft" });
    const kinds = choice("Statements", [["recent", "Recent"], ["slow", "Slow"]], "recent", (which) => {
      this.which = which;
      this.refresher.start();
    });
    const card = (title, content, extra) => el("section", { class: "card", "aria-label": title }, el("header", {}, el("h2", {}, title), extra), content);
    this.makeRunning = rowOf(
      this.running,
      ({ id, user, protocol, statement }) => [id, user, protocol, span(statement.elapsed_ms), statement.rows_scanned === null ? "" : count(statement.rows_scanned), oneLine(statement.text)],
      [({ id }) => el("button", { class: "small danger", onclick: () => this.cancel(id) }, "Cancel")],
    );
    this.makeSession = rowOf(this.sessions, (it) => [
      it.is_own ? `${it.id} (this one)` : it.id, it.user, it.protocol, it.client, it.application, `${span(this.now - it.since_ms)}`,
      it.statement?.is_running ? "running" : "idle", oneLine(it.statement?.text),
    ]);
    this.makeEnded = rowOf(
      this.ended,
      (it) => [clock(it.ended_ms), it.user, it.protocol, micros(it.elapsed_us), count(it.rows), it.sqlstate ? `error ${it.sqlstate}` : "ok", oneLine(it.text)],
      [({ text }) => el("button", { class: "small", onclick: () => actions.edit(text) }, "Edit")],
    );
    show(
      panel,
      card("Running statements", [this.none, this.running.frame], this.failure),
      card("Sessions", this.sessions.frame, this.number),
      card("Statements", this.ended.frame, el("span", { class: "push" }, kinds)),
    );
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
      const [{ sessions, now_ms: now }, statements] = await Promise.all([call("sessions"), call("statements")]);
      this.now = now;
      const running = sessions.filter((session) => session.statement?.is_running);
      this.none.hidden = running.length > 0;
      this.running.frame.hidden = running.length === 0;
      keyed(this.running.body, running, ({ id }) => id, this.makeRunning);
      keyed(this.sessions.body, sessions, ({ id }) => id, this.makeSession);
      keyed(this.ended.body, statements[this.which], (it) => `${it.session} ${it.ended_ms} ${it.elapsed_us} ${it.text}`, this.makeEnded);
      write(this.failure, "");
      write(this.number, plural(sessions.length, "session"));
    } catch (error) {
      write(this.failure, error.message);
    }
    return REFRESH_MS;
  }

  async cancel(session) {
    try {
      await call("cancel-session", { session });
      notify(`The statement of session ${session} is cancelled.`);
    } catch (error) {
      notify(error.message);
    }
    this.refresher.start();
  }
}

/** Makes the part of sessions and statements in its panel. */
export const activityPart = (panel, actions) => new Activity(panel, actions);
