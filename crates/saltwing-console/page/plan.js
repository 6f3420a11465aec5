// The plan as a picture of key ranges.

import { el } from "./dom.js";
import { covered, keySpacePicture, shares } from "./key_space.js";
import { count, plural } from "./units.js";

const KINDS = {
  point: "one key",
  range: "key ranges",
  skip_scan: "several key ranges",
  full_scan: "the whole key space",
  union: "several accesses",
  empty: "nothing: no key can match",
};
const SPANS_SHOWN = 12;

function facts(pairs) {
  return el("dl", { class: "facts" }, pairs.filter(([, value]) => value !== null && value !== undefined && value !== "").map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

function buckets({ buckets, buckets_total: total }) {
  if (!total) return null;
  const cells = Array.from({ length: total }, (_, place) => el("i", { class: buckets?.includes(place) ? "on" : null }));
  return el("span", {}, el("span", { class: "buckets", "aria-hidden": "true" }, cells), ` ${buckets?.length ?? 0} of ${total} buckets`);
}

function verdict({ verdict: { allowed, rule } }) {
  const text = allowed === null ? "decided when it runs" : allowed ? "allowed" : "refused";
  return el("span", { class: `tag ${allowed ? "good" : allowed === false ? "bad" : ""}` }, `${text} (${rule.replaceAll("_", " ")})`);
}

function spansOf(access) {
  if (!access.spans?.length) return null;
  const shown = access.spans.slice(0, SPANS_SHOWN).map((span) => el("li", { class: "mono" }, span));
  const rest = (access.ranges_total ?? access.spans.length) - SPANS_SHOWN;
  return el("ol", { class: "spans" }, shown, rest > 0 ? el("li", { class: "soft" }, `and ${count(rest)} more`) : null);
}

function predicates(list) {
  const uses = { key: "bounds the key", residual: "checked on each row", both: "bounds the key, and is checked" };
  return list.length ? list.map(({ text, use, why }) => el("div", {}, el("code", { class: "mono" }, text), el("span", { class: "soft" }, ` \u2014 ${uses[use]}: ${why}`))) : null;
}

function picture(access) {
  if (!access.ranges) return el("p", { class: "soft" }, "The ranges are known only when the statement runs.");
  const edges = access.edges?.map(({ key }) => key);
  const list = shares(access.ranges, edges);
  const share = access.kind === "full_scan" ? 1 : covered(list);
  const percent = share >= 0.995 ? "all" : share < 0.001 ? "less than 0.1 %" : `about ${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;
  const text = access.edges ? `${percent} of the key space from the first to the last row, if keys lie evenly` : "the ranges among themselves: where the first and the last key lie is not known";
  const ends = access.edges?.map(({ values }) => el("span", {}, values.map((value) => value ?? "NULL").join(", ")));
  return [keySpacePicture(list, `${plural(access.ranges_total, "range")}, ${text}`), ends ? el("div", { class: "ends mono" }, ends) : null, el("p", { class: "soft" }, `${plural(access.ranges_total, "range")}: ${text}`)];
}

function accessCard(access) {
  const name = access.index ? `${access.table}, index ${access.index}` : access.table;
  const title = access.alias && access.alias !== access.table ? `${name} as ${access.alias}` : name;
  const parts = (access.union ?? []).concat(access.intersected ?? []);
  return el(
    "section",
    { class: "card access" },
    el("header", {}, el("h2", {}, title), el("span", { class: "soft" }, KINDS[access.kind] ?? access.kind), el("span", { class: "push" }), verdict(access)),
    el(
      "div",
      { class: "inside" },
      access.kind === "empty" || access.union ? null : picture(access),
      facts([
        ["key", el("code", { class: "mono" }, access.key?.join(", ") ?? "")],
        ["keys", spansOf(access)],
        ["salt", buckets(access)],
        ["conditions", predicates(access.predicates ?? [])],
        ["checked on rows", access.residual],
        ["stops after", access.limit === null ? null : plural(access.limit, "row")],
        ["order", access.order === "none" ? null : access.order],
        ["rows", access.index ? (access.covering ? "the entries have all columns" : "looked up by the entries") : null],
        ["not used", (access.lost ?? []).map(({ index, why }) => el("div", { class: "soft" }, `${index ? `index ${index}` : "primary key"}: ${why}`))],
      ]),
      parts.map(accessCard),
    ),
  );
}

/** The cards of a plan. */
export function planCard(plan) {
  const accesses = plan.accesses ?? [];
  const way = [plan.executor, plan.plan?.replaceAll("_", " ")].filter(Boolean).join(", ");
  const effects = Object.entries(plan.effects ?? {}).map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]);
  return [
    el("section", { class: "card", "aria-label": "Plan" }, el("header", {}, el("h2", {}, "Plan"), el("span", { class: "soft" }, `${way}; ${plural(accesses.length, "access")}${accesses.length === 1 ? "" : "es"}`.replace("accesss", "access"))), effects.length ? el("div", { class: "inside" }, facts(effects)) : null),
    accesses.map(accessCard),
  ].flat();
}
