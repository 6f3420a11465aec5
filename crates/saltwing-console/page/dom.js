// Elements. Texts become text nodes, so that no value is ever markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(2).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** An element with attributes, listeners (`onclick`) and children. */
export function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** An element of SVG. */
export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** The element of an id. */
export const byId = (id) => document.getElementById(id);

/** Replaces the children of an element. */
export function show(element, ...children) {
  element.replaceChildren(...children.flat(2).filter(Boolean));
  return element;
}

/** Writes a text only if it changes, so that selections and screen readers are left in peace. */
export function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * Keeps a row for each item, by its key, so that the focus stays where it is when the list is read again. `make` gives the row's element with a method `update(item)`.
 */
export function keyed(parent, items, key, make) {
  const known = parent.keyedRows ?? (parent.keyedRows = new Map());
  const wanted = new Set(items.map(key));
  for (const [id, row] of known) {
    if (!wanted.has(id)) {
      row.remove();
      known.delete(id);
    }
  }
  let before = null;
  for (const item of items) {
    const id = key(item);
    let row = known.get(id);
    if (!row) {
      row = make(item);
      known.set(id, row);
    }
    row.update(item);
    const place = before ? before.nextSibling : parent.firstChild;
    if (place !== row) parent.insertBefore(row, place);
    before = row;
  }
}

/** Some buttons of which one is pressed. */
export function choice(label, options, chosen, onChoose) {
  const group = el("span", { class: "choice", role: "group", "aria-label": label });
  const choose = (value, tell) => {
    for (const button of group.children) button.setAttribute("aria-pressed", String(button.dataset.value === value));
    if (tell) onChoose(value);
  };
  for (const [value, text] of options) {
    group.append(el("button", { type: "button", "data-value": value, onclick: () => choose(value, true) }, text));
  }
  choose(chosen, false);
  group.choose = (value) => choose(value, true);
  return group;
}

let noticeTimer = 0;

/** Says something for some seconds. */
export function notify(text) {
  const notice = byId("notice");
  notice.textContent = text;
  clearTimeout(noticeTimer);
  noticeTimer = setTimeout(() => (notice.textContent = ""), 5000);
}
