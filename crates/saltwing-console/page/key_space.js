// The place of keys among all keys: bytes as numbers between the first and the last key.

import { svg } from "./dom.js";

const [WIDTH, HEIGHT] = [900, 56];
/** Ranges that have numbers in the picture: more would lie above each other. */
const NUMBERED_MAX = 24;
/** Bytes that count after those that all keys share. */
const BYTES = 6;
const LEAST_WIDTH = 3;

function shared(texts) {
  let length = 0;
  const [first, ...others] = texts;
  while (length + 2 <= first.length && others.every((text) => text.slice(length, length + 2) === first.slice(length, length + 2))) length += 2;
  return length;
}

/** A key as a number from 0 to 256^BYTES, after `skip` digits. */
function number(hex, skip) {
  const digits = hex.slice(skip, skip + 2 * BYTES).padEnd(2 * BYTES, "0");
  return Number.parseInt(digits, 16);
}

/**
 * Ranges `[from, to]` in hex as shares of the space between the first and the last key. Without these, the space is that of the ranges themselves.
 */
export function shares(ranges, edges) {
  const bounded = ranges.filter(([, to]) => to !== "");
  const marks = edges ?? [...bounded.flat(), ...ranges.map(([from]) => from)].filter(Boolean);
  if (!marks.length) return ranges.map(() => [0, 1]);
  const skip = shared(marks);
  const values = marks.map((key) => number(key, skip));
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const room = edges ? 0 : (most - least) * 0.15;
  const range = most - least + 2 * room || 1;
  const prefix = marks[0].slice(0, skip);
  const share = (key) => {
    const head = key.slice(0, skip).padEnd(skip, "0");
    if (head !== prefix) return head < prefix ? 0 : 1;
    return Math.min(1, Math.max(0, (number(key, skip) - least + room) / range));
  };
  return ranges.map(([from, to]) => [from === "" ? 0 : share(from), to === "" ? 1 : share(to)]);
}

/** The part of the space that the shares cover, each place once. */
export function covered(list) {
  let [sum, end] = [0, 0];
  for (const [from, to] of [...list].sort((one, other) => one[0] - other[0])) {
    sum += Math.max(0, to - Math.max(from, end));
    end = Math.max(end, to);
  }
  return sum;
}

/**
 * A scale on which small ranges and the gaps between them can be seen: a piece between two ends of ranges is as wide as a root of its length.
 */
function wide(list) {
  const ends = [...new Set([0, 1, ...list.flat()])].sort((one, other) => one - other);
  const weights = ends.slice(1).map((end, place) => (end - ends[place]) ** 0.3);
  const total = weights.reduce((sum, weight) => sum + weight, 0) || 1;
  const places = new Map([[ends[0], 0]]);
  let sum = 0;
  weights.forEach((weight, place) => {
    sum += weight / total;
    places.set(ends[place + 1], sum);
  });
  return (share) => places.get(share);
}

/** The picture of the space: the whole as a bar, in which the ranges stand out with their numbers. */
export function keySpacePicture(list, label) {
  const x = wide(list);
  const isNumbered = list.length > 1 && list.length <= NUMBERED_MAX;
  const bars = list.map(([from, to], place) => {
    const width = Math.max(LEAST_WIDTH, (x(to) - x(from)) * WIDTH);
    const left = Math.min(WIDTH - width, x(from) * WIDTH);
    const number = isNumbered ? svg("text", { x: Math.min(WIDTH - 6, Math.max(6, left + width / 2)), y: 12, "text-anchor": "middle" }, String(place + 1)) : null;
    return [svg("rect", { class: "scanned", x: left, y: 17, width, height: HEIGHT - 19, rx: 2 }), number].filter(Boolean);
  });
  return svg(
    "svg",
    { class: "key-space", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label },
    svg("rect", { class: "frame", x: 0.5, y: 20, width: WIDTH - 1, height: HEIGHT - 25, rx: 3 }),
    bars.flat(),
  );
}
