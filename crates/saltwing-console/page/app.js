// The page: the login, then its parts.

import { activityPart } from "./activity.js";
import { advisorPart } from "./advisor.js";
import { call, whenLoginIsNeeded } from "./calls.js";
import { byId, notify } from "./dom.js";
import { heatPart } from "./heat.js";
import { askForLogin } from "./login.js";
import { queryPart } from "./query.js";
import { startShortcuts } from "./shortcuts.js";
import { showPart, startTabs, stopTabs } from "./tabs.js";
import { tablesPart } from "./tables.js";

let parts = null;
let lastUser = null;

function makeParts() {
  const query = queryPart(byId("panel-query"));
  const heat = heatPart(byId("panel-heat"));
  const run = (sql) => {
    showPart("query");
    query.run(sql);
  };
  const edit = (sql) => {
    showPart("query");
    query.edit(sql);
  };
  const showHeat = (relation) => {
    heat.choose(relation);
    showPart("heat");
  };
  return {
    query,
    heat,
    tables: tablesPart(byId("panel-tables"), { run, showHeat }),
    activity: activityPart(byId("panel-activity"), { edit }),
    advisor: advisorPart(byId("panel-advisor"), { run, edit }),
  };
}

function begin(session) {
  // What the page has shown belongs to its user.
  if (lastUser !== null && lastUser !== session.user) return location.reload();
  lastUser = session.user;
  byId("who").textContent = session.user;
  byId("who").title = session.is_owner ? "the owner of the database" : "a user of the database";
  byId("logout-button").hidden = false;
  parts ??= makeParts();
  startTabs(parts);
  return null;
}

function end() {
  stopTabs();
  byId("logout-button").hidden = true;
  byId("who").textContent = "";
}

async function logIn() {
  const session = await call("session");
  if (session.user) return begin(session);
  if (!session.has_users) return begin(await call("login"));
  return askForLogin(begin);
}

async function start() {
  try {
    await logIn();
  } catch (error) {
    notify(`${error.message}. Load the page again later.`);
  }
}

byId("logout-button").onclick = async () => {
  await call("logout").catch((error) => notify(error.message));
  // What the page has shown belongs to the user who has left.
  location.reload();
};

let isAsking = false;
whenLoginIsNeeded(async () => {
  if (isAsking) return;
  isAsking = true;
  end();
  notify("The login has ended.");
  await start();
  isAsking = false;
});

startShortcuts();
start();
