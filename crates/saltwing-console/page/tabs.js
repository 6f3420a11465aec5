// The tabs of the page: a tab list of ARIA, whose arrow keys move between tabs.

import { byId } from "./dom.js";

const tabs = () => [...byId("tabs").querySelectorAll("[role=tab]")];
const nameOf = (tab) => tab.id.slice("tab-".length);

let parts = {};
let current = null;

/** Shows a part. `focus` moves the focus to its tab, as the arrow keys want it. */
export function showPart(name, focus = false) {
  for (const tab of tabs()) {
    const isShown = nameOf(tab) === name;
    tab.setAttribute("aria-selected", String(isShown));
    tab.tabIndex = isShown ? 0 : -1;
    byId(`panel-${nameOf(tab)}`).hidden = !isShown;
    if (isShown && focus) tab.focus();
  }
  if (current !== name) {
    parts[current]?.leave?.();
    current = name;
    history.replaceState(null, "", `#${name}`);
    parts[name].enter?.();
  }
}

/** The part that is shown. */
export const shownPart = () => current;

/** Makes the tabs of parts: each has `enter` and `leave`, which begin and end its refreshing. */
export function startTabs(all) {
  parts = all;
  const list = byId("tabs");
  list.hidden = false;
  for (const tab of tabs()) tab.onclick = () => showPart(nameOf(tab));
  list.onkeydown = (event) => {
    const names = tabs().map(nameOf);
    const steps = { ArrowRight: 1, ArrowLeft: -1, Home: -names.length, End: names.length };
    if (!(event.key in steps)) return;
    event.preventDefault();
    const place = names.indexOf(current) + steps[event.key];
    const next = event.key.startsWith("Arrow") ? (place + names.length) % names.length : Math.max(0, Math.min(names.length - 1, place));
    showPart(names[next], true);
  };
  const wanted = location.hash.slice(1);
  showPart(wanted in parts ? wanted : "query");
}

/** Ends what the shown part refreshes, and hides all. */
export function stopTabs() {
  parts[current]?.leave?.();
  current = null;
  byId("tabs").hidden = true;
  for (const tab of tabs()) byId(`panel-${nameOf(tab)}`).hidden = true;
}
