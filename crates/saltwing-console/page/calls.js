// Calls of the server.

/** A call that failed: `failure` has text, SQLSTATE and help. */
export class CallError extends Error {
  constructor(status, failure) {
    super(failure.text);
    this.status = status;
    this.failure = failure;
  }
}

let onLoginNeeded = () => {};

/** What happens if the login has ended. */
export function whenLoginIsNeeded(listener) {
  onLoginNeeded = listener;
}

async function answerOf(name, body) {
  try {
    return await fetch(`/api/${name}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      credentials: "same-origin",
    });
  } catch {
    throw new CallError(0, { text: "the server does not answer", sqlstate: "08006", help: [] });
  }
}

/** Calls the server with an object, and gives the object that it answers. */
export async function call(name, body = {}) {
  const answer = await answerOf(name, body);
  let value = null;
  try {
    value = await answer.json();
  } catch {
    throw new CallError(answer.status, { text: `the server answers ${answer.status}`, sqlstate: "08P01", help: [] });
  }
  if (answer.ok) return value;
  const error = new CallError(answer.status, value.error);
  if (answer.status === 401 && name !== "login") onLoginNeeded();
  throw error;
}

/** Calls `work` again and again while the part is shown. `work` gives the pause in milliseconds. */
export class Refresher {
  constructor(work) {
    this.work = work;
    this.timer = 0;
    this.round = 0;
  }

  start() {
    this.stop();
    this.step(this.round);
  }

  stop() {
    this.round += 1;
    clearTimeout(this.timer);
  }

  async step(round) {
    const pause = document.hidden ? 2000 : await this.work();
    if (round === this.round) this.timer = setTimeout(() => this.step(round), pause);
  }
}
