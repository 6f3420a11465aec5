// Tables with their keys, indexes, options and storage.

import { call } from "./calls.js";
import { el, show } from "./dom.js";
import { failureCard } from "./failure.js";
import { colouredSql } from "./sql_text.js";
import { bytes, count } from "./units.js";

const sum = (record, ...names) => names.reduce((total, name) => total + Number(record[name] ?? 0), 0);
const rowsOf = (record) => sum(record, "block_rows", "run_rows", "delta_rows");
const bytesOf = (record) => sum(record, "block_raw_bytes", "run_raw_bytes", "delta_bytes");
const fullName = (schema, name) => (schema ? `${schema}.${name}` : name);

/** The rows of SHOW STORAGE by the names of the tables. A table's entries of indexes follow it. */
function storageByName(storage, tables) {
  const isTable = new Set(tables.map((table) => fullName(table.table_schema, table.table_name)));
  const found = new Map();
  for (const record of storage ?? []) {
    const name = fullName(record.table_schema, record.table_name);
    if (record.table_name !== null && isTable.has(name) && !found.has(name)) found.set(name, record);
  }
  return found;
}

function grid(heads, rows, numbers = []) {
  const kind = (place) => (numbers.includes(place) ? "number" : "");
  return el(
    "div",
    { class: "scroll" },
    el("table", {}, el("thead", {}, el("tr", {}, heads.map((head, place) => el("th", { class: kind(place) }, head)))), el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell, place) => el("td", { class: kind(place) || "text" }, cell ?? "")))))),
  );
}

function keyOf(described) {
  const parts = described.filter((row) => row.key).map((row) => ({ place: Number.parseInt(row.key, 10), text: row.name + (/desc/i.test(row.key) ? " DESC" : "") }));
  return parts.sort((one, other) => one.place - other.place).map(({ text }) => text).join(", ");
}

function columnsOf(described) {
  const rows = described.filter((row) => !row.type.startsWith("("));
  return grid(["column", "type", "NULL", "key", "default", "note"], rows.map((row) => [row.name, row.type, row.nullable, row.key, row.default, row.note]));
}

function optionsOf(described) {
  const options = described.filter((row) => row.type.startsWith("(") && row.name !== "INDEX");
  return options.length ? grid(["option", "value"], options.map((row) => [row.name, row.default ?? row.note])) : null;
}

function indexesOf(indexes, all, showHeat) {
  if (!indexes?.length) return el("p", { class: "soft" }, "There are none.");
  const row = (index) => [
    index.index_name,
    `${index.is_unique === "YES" ? "unique " : ""}${index.kind}`,
    el("code", { class: "mono" }, index.key),
    [index.include ? `INCLUDE (${index.include}) ` : "", index.predicate ? `WHERE ${index.predicate}` : ""].join(""),
    el("span", { class: `tag ${index.state === "ready" ? "good" : "hot"}` }, index.state),
    el("button", { class: "small", onclick: () => showHeat(all.find((one) => one.index_name === index.index_name)?.relation) }, "Heat"),
  ];
  return grid(["index", "kind", "key", "further", "state", ""], indexes.map(row));
}

function storageOf(storage) {
  if (!storage?.length) return el("p", { class: "soft" }, "It is not known to this user, or nothing is stored.");
  const row = (record) => [
    record.table_name, count(rowsOf(record)), bytes(bytesOf(record)), count(record.block_count), count(record.run_count), count(record.delta_rows),
    bytes(record.written_bytes), record.write_amplification_ratio === null ? "" : Number(record.write_amplification_ratio).toFixed(1), record.damage ?? "",
  ];
  return grid(["of", "rows, about", "bytes", "blocks", "runs", "recent rows", "written", "amplification", "damage"], storage.map(row), [1, 2, 3, 4, 5, 6, 7]);
}

class Tables {
  constructor(panel, actions) {
    this.actions = actions;
    this.chosen = null;
    this.filter = el("input", { type: "search", placeholder: "Filter", "aria-label": "Filter tables", oninput: () => this.drawList() });
    this.list = el("ul", { class: "pick-list" });
    this.detail = el("div", { id: "table-detail" }, el("p", { class: "empty" }, "Choose a table."));
    const left = el("nav", { class: "card", "aria-label": "Tables" }, el("header", {}, el("h2", {}, "Tables"), el("button", { class: "small push", onclick: () => this.enter() }, "Read again")), el("div", { class: "inside" }, this.filter), this.list);
    show(panel, el("div", { class: "columns list-first" }, left, this.detail));
  }

  async enter() {
    try {
      this.data = await call("tables");
      this.drawList();
      if (this.chosen) await this.open(this.chosen);
    } catch (error) {
      show(this.detail, failureCard(error.failure));
    }
  }

  drawList() {
    const wanted = this.filter.value.toLowerCase();
    const { tables, storage } = this.data;
    const stored = storageByName(storage, tables);
    const shown = tables.filter((table) => fullName(table.table_schema, table.table_name).toLowerCase().includes(wanted));
    const item = (table) => {
      const name = fullName(table.table_schema, table.table_name);
      const record = stored.get(name);
      const size = record ? `${count(rowsOf(record))} rows` : table.table_type === "VIEW" ? "view" : "";
      return el("li", {}, el("button", { "aria-current": String(this.chosen && fullName(this.chosen.table_schema, this.chosen.table_name) === name), title: table.table_comment, onclick: () => this.open(table) }, name, el("span", { class: "push" }, size)));
    };
    show(this.list, shown.length ? shown.map(item) : el("li", { class: "empty" }, tables.length ? "No name has this in it." : "There are no tables yet."));
  }

  async open(table) {
    this.chosen = table;
    this.drawList();
    const [schema, name] = [table.table_schema, table.table_name];
    try {
      this.draw(table, await call("table", { schema, name, type: table.table_type }));
    } catch (error) {
      show(this.detail, failureCard(error.failure));
    }
  }

  draw(table, found) {
    const isView = table.table_type === "VIEW";
    const { run, showHeat } = this.actions;
    const key = keyOf(found.described);
    const own = this.data.indexes.filter((index) => index.table_schema === table.table_schema && index.table_name === table.table_name);
    const name = fullName(table.table_schema, table.table_name);
    const section = (title, content) => (content ? [el("h3", {}, title), content] : []);
    show(
      this.detail,
      el(
        "section",
        { class: "card" },
        el(
          "header",
          {},
          el("h1", {}, name),
          el("span", { class: "tag" }, isView ? "view" : table.table_type.toLowerCase()),
          el("span", { class: "push" }),
          el("button", { class: "small", onclick: () => run(`SELECT * FROM ${found.name} LIMIT 100`) }, "First 100 rows"),
          isView ? null : el("button", { class: "small", onclick: () => showHeat(table.relation) }, "Heat of its keys"),
        ),
        el(
          "div",
          { class: "inside" },
          table.table_comment ? el("p", {}, table.table_comment) : null,
          isView ? null : el("p", {}, el("span", { class: "soft" }, "Primary key "), el("code", { class: "mono" }, key ? `(${key})` : "none was declared")),
          section("Columns", columnsOf(found.described)),
          isView ? [] : section("Indexes", indexesOf(found.indexes, own, showHeat)),
          section("Options", optionsOf(found.described)),
          isView ? [] : section("Storage", storageOf(found.storage)),
          found.create ? section("Definition", el("pre", {}, found.create.flatMap((text) => [...colouredSql(text)]))) : [],
        ),
      ),
    );
  }
}

/** Makes the part of the tables in its panel. */
export const tablesPart = (panel, actions) => new Tables(panel, actions);
