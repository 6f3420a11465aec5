// A result as lines or bars, in SVG. The columns' types choose the axes; texts of numbers are read as numbers only for the picture.

import { choice, el, show, svg } from "./dom.js";

const [WIDTH, HEIGHT] = [900, 320];
const FRAME = { left: 64, right: 12, top: 10, bottom: 40 };
const POINTS_MAX = 2000;
const BARS_MAX = 60;
const SERIES_MAX = 4;

const numbers = (result) => result.columns.flatMap((column, place) => (column.kind === "number" ? [place] : []));

/** Whether there is something to draw. */
export const canBeDrawn = (result) => numbers(result).length > 0 && result.rows.length > 1;

/** The place on the axis of a value: a number, a time in milliseconds, or nothing. */
function position(text, kind) {
  if (text === null) return NaN;
  if (kind === "number") return Number(text);
  if (kind === "time") return Date.parse(`${text.includes(" ") ? text.replace(" ", "T") : `${text}T00:00:00`}Z`);
  return NaN;
}

/** The axes that the types suggest: time before text before a number across, other numbers up. */
function suggested(result) {
  const of = (kind) => result.columns.findIndex((column) => column.kind === kind);
  const all = numbers(result);
  const across = [of("time"), of("text"), of("truth")].find((place) => place >= 0) ?? (all.length > 1 ? all[0] : -1);
  const up = all.filter((place) => place !== across).slice(0, SERIES_MAX);
  const isLine = across >= 0 && ["time", "number"].includes(result.columns[across].kind);
  return { across, up, form: isLine ? "line" : "bar" };
}

/** Round steps of an axis. */
function ticks(least, most, wanted) {
  const raw = (most - least) / wanted || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= raw);
  const marks = [];
  for (let mark = Math.ceil(least / step) * step; mark <= most + step / 1e6; mark += step) marks.push(mark);
  return marks;
}

const [MINUTE, HOUR, DAY] = [60e3, 3600e3, 86400e3];
const TIME_STEPS = [1e3, 5e3, 15e3, MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 30 * DAY, 91 * DAY, 365 * DAY];

/** Steps of an axis of times: whole minutes, hours and days. */
function timeTicks(least, most, wanted) {
  const step = TIME_STEPS.find((one) => (most - least) / one <= wanted);
  if (!step || most - least < wanted) return ticks(least, most, wanted);
  const marks = [];
  for (let mark = Math.ceil(least / step) * step; mark <= most; mark += step) marks.push(mark);
  return marks;
}

const short = (value) => new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 2 }).format(value);

function timeText(ms, range) {
  const text = new Date(ms).toISOString();
  return range > 3 * 86400e3 ? text.slice(0, 10) : range > 3600e3 ? text.slice(5, 16).replace("T", " ") : text.slice(11, 19);
}

function scale([least, most], [from, to]) {
  const range = most - least || 1;
  return (value) => from + ((value - least) / range) * (to - from);
}

function extent(values) {
  let [least, most] = [Infinity, -Infinity];
  for (const value of values) {
    if (Number.isFinite(value)) [least, most] = [Math.min(least, value), Math.max(most, value)];
  }
  return least <= most ? [least, most] : [0, 1];
}

function grid(y, range) {
  return ticks(...range, 5).map((mark) => [
    svg("line", { class: "grid", x1: FRAME.left, x2: WIDTH - FRAME.right, y1: y(mark), y2: y(mark) }),
    svg("text", { x: FRAME.left - 8, y: y(mark) + 4, "text-anchor": "end" }, short(mark)),
  ]);
}

function lines(result, { across, up }) {
  const column = result.columns[across];
  const xOf = (row, place) => (across < 0 ? place : position(row[across], column.kind));
  const points = result.rows.slice(0, POINTS_MAX).map((row, place) => ({ row, at: xOf(row, place) })).filter(({ at }) => Number.isFinite(at));
  points.sort((one, other) => one.at - other.at);
  const [xRange, yRange] = [extent(points.map(({ at }) => at)), extent(points.flatMap(({ row }) => up.map((place) => position(row[place], "number"))))];
  if (yRange[0] > 0 && yRange[0] < yRange[1] / 2) yRange[0] = 0;
  const x = scale(xRange, [FRAME.left, WIDTH - FRAME.right]);
  const y = scale(yRange, [HEIGHT - FRAME.bottom, FRAME.top]);
  const paths = up.map((place, series) => {
    let path = "";
    for (const { row, at } of points) {
      const value = position(row[place], "number");
      path += Number.isFinite(value) ? `${path.endsWith(" ") || !path ? "M" : "L"}${x(at).toFixed(1)},${y(value).toFixed(1)}` : " ";
    }
    return svg("path", { class: `line s${series + 1}`, d: path.trim() });
  });
  const isTime = column?.kind === "time";
  const marks = (isTime ? timeTicks : ticks)(...xRange, 7).map((mark) =>
    svg("text", { x: x(mark), y: HEIGHT - FRAME.bottom + 18, "text-anchor": "middle" }, isTime ? timeText(mark, xRange[1] - xRange[0]) : short(mark)),
  );
  return [grid(y, yRange), marks, paths];
}

function bars(result, { across, up }) {
  const rows = result.rows.slice(0, BARS_MAX);
  const values = rows.map((row) => up.map((place) => position(row[place], "number")));
  const [least, most] = extent(values.flat());
  const range = [Math.min(0, least), Math.max(0, most)];
  const y = scale(range, [HEIGHT - FRAME.bottom, FRAME.top]);
  const width = (WIDTH - FRAME.left - FRAME.right) / rows.length;
  const bar = (width * 0.78) / up.length;
  const every = Math.ceil(90 / width);
  const shapes = values.map((list, place) =>
    list.map((value, series) => {
      if (!Number.isFinite(value)) return null;
      const [top, bottom] = [Math.min(y(value), y(0)), Math.max(y(value), y(0))];
      const x = FRAME.left + place * width + width * 0.11 + series * bar;
      return svg("rect", { class: `f${series + 1}`, x, y: top, width: Math.max(1, bar - 1), height: Math.max(1, bottom - top) }, svg("title", {}, rows[place][up[series]]));
    }),
  );
  const labels = rows.map((row, place) => {
    if (place % every) return null;
    const text = across < 0 ? String(place + 1) : (row[across] ?? "NULL");
    return svg("text", { x: FRAME.left + (place + 0.5) * width, y: HEIGHT - FRAME.bottom + 18, "text-anchor": "middle" }, text.length > 14 ? `${text.slice(0, 13)}\u2026` : text);
  });
  return [grid(y, range), shapes.flat(), labels];
}

function picture(result, axes) {
  const drawn = axes.form === "line" ? lines(result, axes) : bars(result, axes);
  const names = axes.up.map((place) => result.columns[place].label).join(", ");
  return svg("svg", { class: "chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `Chart of ${names}` }, drawn.flat(3));
}

/** The chart of a result, with the choice of its axes. */
export function chartCard(result) {
  const axes = suggested(result);
  const frame = el("div", { class: "inside" });
  const notes = el("div", { class: "inside legend" });
  const draw = () => {
    show(frame, axes.up.length ? picture(result, axes) : el("p", { class: "empty" }, "No column of numbers is chosen."));
    const limit = axes.form === "line" ? POINTS_MAX : BARS_MAX;
    const keys = axes.up.map((place, series) => el("span", {}, el("i", { class: `swatch f${series + 1}` }), result.columns[place].label));
    show(notes, keys, result.rows.length > limit ? el("span", {}, `the first ${limit} rows`) : null);
  };
  const options = (places, chosen) => places.map((place) => el("option", { value: String(place), selected: place === chosen }, place < 0 ? "row number" : result.columns[place].label));
  const across = el("select", { onchange: () => { axes.across = Number(across.value); draw(); } }, options([-1, ...result.columns.keys()], axes.across));
  const boxes = numbers(result).map((place) => {
    const box = el("input", { type: "checkbox", checked: axes.up.includes(place) });
    box.onchange = () => {
      axes.up = axes.up.filter((one) => one !== place).concat(box.checked ? [place] : []).slice(-SERIES_MAX);
      draw();
    };
    return el("label", { class: "inline" }, box, result.columns[place].label);
  });
  const form = choice("Form of the chart", [["line", "Lines"], ["bar", "Bars"]], axes.form, (chosen) => { axes.form = chosen; draw(); });
  draw();
  return el("div", {}, el("div", { class: "inside row" }, form, el("label", { class: "inline" }, "across", across), boxes), frame, notes);
}
