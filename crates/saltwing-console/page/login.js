// The login.

import { call } from "./calls.js";
import { byId, el, show } from "./dom.js";

/** Asks for a name and a password, and calls `done` with what the server says of the login. */
export function askForLogin(done) {
  const user = el("input", { name: "user", autocomplete: "username", required: true, autocapitalize: "none", spellcheck: "false" });
  const password = el("input", { name: "password", type: "password", autocomplete: "current-password" });
  const failure = el("p", { role: "alert", class: "login-failure" });
  const button = el("button", { class: "main" }, "Log in");
  const send = async (event) => {
    event.preventDefault();
    button.disabled = true;
    failure.textContent = "";
    try {
      const session = await call("login", { user: user.value, password: password.value });
      byId("login").hidden = true;
      done(session);
    } catch (error) {
      failure.textContent = [error.message, ...(error.failure?.help ?? [])].join(": ");
      password.value = "";
      password.focus();
    }
    button.disabled = false;
  };
  const form = el(
    "form",
    { class: "card", onsubmit: send },
    el("h1", {}, "Log in"),
    el("label", { class: "field" }, "User", user),
    el("label", { class: "field" }, "Password", password),
    button,
    failure,
  );
  show(byId("login"), form);
  byId("login").hidden = false;
  user.focus();
}
