// wire/panel/panel-link.js - the daemon at the other end: documents by polling, events by a stream, coming back after a loss
// SPDX-License-Identifier: MIT OR Apache-2.0

const POLL_MS = 1000;
const SOON_MS = 150; // after an event,
const LEAST_MS = 500; // and at least so long after the poll before
const RETRY_MS = 1000;

let token = sessionStorage.getItem("cuzk-token") ?? "";

export function setToken(t) {
  token = t;
  sessionStorage.setItem("cuzk-token", t);
}

function headers() {
  return token === "" ? {} : { Authorization: `Bearer ${token}` };
}

/** A document; throws an Error with .status (0: nobody answered). */
export async function get(path, timeout = 8000) {
  let r;
  try {
    r = await fetch(path, { headers: headers(), cache: "no-store", signal: AbortSignal.timeout(timeout) });
  } catch {
    throw Object.assign(new Error("no answer"), { status: 0 });
  }
  if (!r.ok) throw Object.assign(new Error(`status ${r.status}`), { status: r.status });
  return r.json();
}

export async function post(path) {
  const r = await fetch(path, { method: "POST", headers: headers(), signal: AbortSignal.timeout(8000) });
  const body = await r.json().catch(() => ({}));
  if (!r.ok) throw new Error(body.error?.message || `status ${r.status}`);
  return body;
}

/**
 * Calls on.status(doc) about once a second and soon after an event, on.event(e), on.lost(ms since the last answer),
 * on.back(restarted), on.denied(). on.stream(true|false): events come, or only polling is left.
 */
export function follow(on) {
  let lastAnswer = performance.now(), lostSince = 0, clock = -1, timer = 0, busy = false, denied = false;
  let began = -1e9, stream = null, streamWait = RETRY_MS;

  async function poll() {
    clearTimeout(timer);
    if (busy) return;
    busy = true;
    began = performance.now();
    try {
      const doc = await get("/status");
      const restarted = doc.now_ms < clock;
      clock = doc.now_ms;
      lastAnswer = performance.now();
      denied = false;
      if (lostSince !== 0 || restarted) on.back(restarted);
      lostSince = 0;
      if (stream === null) listen();
      on.status(doc);
    } catch (e) {
      if (e.status === 401 || e.status === 403) {
        denied = true;
        on.denied(e.status);
      } else if (e.status === undefined) {
        throw e; // a fault of ours, not of the link
      } else {
        if (lostSince === 0) lostSince = lastAnswer;
        on.lost(performance.now() - lostSince);
      }
    } finally {
      busy = false;
      if (!denied && !document.hidden) timer = setTimeout(poll, POLL_MS);
    }
  }

  function soon() {
    if (busy || denied || document.hidden) return;
    clearTimeout(timer);
    timer = setTimeout(poll, Math.max(SOON_MS, began + LEAST_MS - performance.now()));
  }

  function take(block) {
    const data = block.split("\n").filter((l) => l.startsWith("data:")).map((l) => l.slice(5).trimStart()).join("\n");
    if (data === "") return;
    on.event(JSON.parse(data));
    soon();
  }

  /** Not EventSource: that cannot show a token. */
  async function listen() {
    stream = new AbortController();
    try {
      const r = await fetch("/events", { headers: headers(), cache: "no-store", signal: stream.signal });
      if (!r.ok) throw new Error(`status ${r.status}`);
      on.stream(true);
      streamWait = RETRY_MS;
      let rest = "";
      for (const reader = r.body.pipeThrough(new TextDecoderStream()).getReader(); ;) {
        const { value, done } = await reader.read();
        if (done) break;
        const blocks = (rest + value).split("\n\n");
        rest = blocks.pop();
        for (const b of blocks) take(b);
      }
    } catch {
      // polling goes on; the next answer to a poll listens again
    }
    on.stream(false);
    setTimeout(() => { stream = null; soon(); }, streamWait);
    streamWait = Math.min(streamWait * 2, 15000);
  }

  document.addEventListener("visibilitychange", () => { if (!document.hidden) poll(); });
  poll();
  return { poll };
}
