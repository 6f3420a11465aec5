// Numbers, times and sizes as people read them.

/** 12 345: the digits in groups; the text of a BIGINT keeps all its digits. */
export function count(value) {
  if (value === null || value === undefined) return "";
  const text = typeof value === "number" ? String(Math.round(value)) : String(value);
  return text.replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
}

export function bytes(value) {
  if (value === null || value === undefined) return "";
  let size = Number(value);
  for (const unit of ["B", "kB", "MB", "GB"]) {
    if (size < 1000) return `${size < 10 && unit !== "B" ? size.toFixed(1) : Math.round(size)} ${unit}`;
    size /= 1000;
  }
  return `${size.toFixed(1)} TB`;
}

export function micros(value) {
  if (value < 1000) return `${value} \u00b5s`;
  if (value < 1e6) return `${(value / 1e3).toFixed(value < 1e4 ? 1 : 0)} ms`;
  return span(value / 1e3);
}

/** A length of time in milliseconds. */
export function span(ms) {
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
  return `${Math.floor(seconds / 86400)} d ${Math.floor((seconds % 86400) / 3600)} h`;
}

/** The time of day. */
export function clock(ms) {
  return new Date(ms).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
}

/** A rate per second. */
export function rate(value) {
  if (value === 0) return "0";
  if (value < 0.1) return value.toExponential(1);
  if (value < 10) return value.toFixed(1);
  return count(value);
}

export const plural = (number, one) => `${count(number)} ${one}${Number(number) === 1 ? "" : "s"}`;
