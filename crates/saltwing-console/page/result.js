// A result: a table, or a chart.

import { call } from "./calls.js";
import { chartCard, canBeDrawn } from "./chart.js";
import { choice, el, notify, show } from "./dom.js";
import { count, micros, plural } from "./units.js";

/** Cells of the row that Enter or a click opens. */
function toggle(row) {
  const isOpen = row.getAttribute("aria-expanded") === "true";
  row.setAttribute("aria-expanded", String(!isOpen));
  for (const cell of row.cells) cell.classList.toggle("open", !isOpen);
}

function rowOf(values, columns) {
  const cells = values.map((value, place) => {
    if (value === null) return el("td", { class: "value null" }, "NULL");
    return el("td", { class: columns[place].kind === "number" ? "value number" : "value" }, value);
  });
  return el("tr", { tabindex: "-1", "aria-expanded": "false" }, cells);
}

/** Arrow keys move between rows, Enter opens one; one row at a time is in the tab order. */
function makeReachable(body) {
  body.onclick = (event) => {
    const row = event.target.closest("tr");
    if (row && !String(getSelection())) toggle(row);
  };
  body.onkeydown = (event) => {
    const row = event.target.closest("tr");
    if (!row) return;
    const next = { ArrowDown: row.nextElementSibling, ArrowUp: row.previousElementSibling, Home: body.firstElementChild, End: body.lastElementChild };
    if (event.key === "Enter") toggle(row);
    else if (next[event.key]) {
      row.tabIndex = -1;
      next[event.key].tabIndex = 0;
      next[event.key].focus();
    } else return;
    event.preventDefault();
  };
}

function tableOf(result) {
  const head = result.columns.map((column) =>
    el("th", { scope: "col", class: column.kind === "number" ? "number" : null }, column.label, el("span", { class: "type" }, column.type)),
  );
  const body = el("tbody", {}, result.rows.map((values) => rowOf(values, result.columns)));
  if (body.firstElementChild) body.firstElementChild.tabIndex = 0;
  makeReachable(body);
  const table = el("table", {}, el("thead", {}, el("tr", {}, head)), body);
  const frame = el("div", { class: "scroll", role: "region", "aria-label": "Rows" }, table);
  return { frame, body };
}

function summary(result) {
  const parts = result.columns ? [`${plural(result.rows.length, "row")}${result.more ? ", and more" : ""}`] : [];
  if (result.rows_affected || !result.columns) parts.push(`${plural(result.rows_affected, "row")} written`);
  parts.push(micros(result.elapsed_us), `${count(result.keys_read)} keys read`);
  if (result.cut_values) parts.push(`${plural(result.cut_values, "long value")} cut`);
  return parts.join(" \u00b7 ");
}

function noticesOf(notices) {
  return notices.length ? el("ul", { class: "notices" }, notices.map((notice) => el("li", {}, notice))) : null;
}

/** Reads further rows into the result, and adds them to its table. */
async function readMore(result, run, body, redraw) {
  try {
    const page = await call("more", { run });
    result.rows.push(...page.rows);
    result.more = page.more;
    result.keys_read = page.keys_read;
    result.cut_values += page.cut_values;
    body.append(...page.rows.map((values) => rowOf(values, result.columns)));
  } catch (error) {
    result.more = false;
    notify(error.message);
  }
  redraw();
}

/** The card of a result. `showsText` puts the statement above it, if there are several. */
export function resultCard(result, run, showsText) {
  const line = el("span", { class: "soft summary" }, summary(result));
  const title = showsText ? el("code", { class: "mono cut" }, result.sql) : null;
  const card = el("section", { class: "card result", "aria-label": "Result" });
  if (!result.columns) return show(card, el("header", {}, title, line), noticesOf(result.notices));
  const { frame, body } = tableOf(result);
  const more = el("button", { class: "small", hidden: !result.more }, "More rows");
  const content = el("div", {}, frame);
  let kind = "table";
  const draw = () => {
    line.textContent = summary(result);
    more.hidden = !result.more;
    show(content, kind === "table" ? frame : chartCard(result));
  };
  const choose = (chosen) => {
    kind = chosen;
    draw();
  };
  more.onclick = async () => {
    more.disabled = true;
    await readMore(result, run, body, draw);
    more.disabled = false;
  };
  const forms = canBeDrawn(result) ? choice("Form of the result", [["table", "Table"], ["chart", "Chart"]], "table", choose) : null;
  const header = el("header", {}, title, line, el("span", { class: "push" }), more, forms);
  return show(card, header, noticesOf(result.notices), content);
}
