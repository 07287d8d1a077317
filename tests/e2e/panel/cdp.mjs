// e2e/panel/cdp.mjs - a headless Chromium over its debugging pipe: pages, scripts in them, keys, pictures, what they fetch
// SPDX-License-Identifier: MIT OR Apache-2.0

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const sleep = (ms) => new Promise((r) => setTimeout(r, ms));

/** Messages end with a NUL; ours go to its descriptor 3, its to us on 4. */
export class Browser {
  constructor(program) {
    this.home = mkdtempSync(join(tmpdir(), "cuzk-chromium-"));
    const args = ["--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
      "--no-first-run", "--disable-extensions", "--disable-background-networking", "--disable-component-update", "--disable-sync",
      "--hide-scrollbars", "--mute-audio", `--user-data-dir=${this.home}`, "about:blank"];
    this.process = spawn(program, args, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    this.calls = new Map();
    this.handlers = new Map(); // session -> function(method, params)
    this.n = 0;
    let rest = "";
    this.process.stdio[4].setEncoding("utf8");
    this.process.stdio[4].on("data", (d) => {
      const parts = (rest + d).split("\0");
      rest = parts.pop();
      for (const p of parts) this.take(JSON.parse(p));
    });
    this.process.stdio[3].on("error", () => {});
    this.process.on("exit", () => { for (const c of this.calls.values()) c.fail(new Error("chromium ended")); });
  }

  take(m) {
    if (m.id === undefined) {
      this.handlers.get(m.sessionId)?.(m.method, m.params);
      return;
    }
    const c = this.calls.get(m.id);
    this.calls.delete(m.id);
    if (m.error) c.fail(new Error(`${c.method}: ${m.error.message}`));
    else c.done(m.result);
  }

  send(method, params = {}, sessionId = undefined) {
    const id = ++this.n;
    return new Promise((done, fail) => {
      this.calls.set(id, { done, fail, method });
      this.process.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });
  }

  async close() {
    const end = new Promise((r) => { if (this.process.exitCode !== null || this.process.signalCode !== null) r(); else this.process.once("exit", r); });
    this.send("Browser.close").catch(() => {});
    const late = setTimeout(() => this.process.kill("SIGKILL"), 30000);
    await end;
    clearTimeout(late);
    rmSync(this.home, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}

export class Page {
  static async open(browser, { width = 1440, height = 900, dark = false, still = false, touch = false } = {}) {
    const p = new Page();
    p.browser = browser;
    const { targetId } = await browser.send("Target.createTarget", { url: "about:blank" });
    p.session = (await browser.send("Target.attachToTarget", { targetId, flatten: true })).sessionId;
    p.targetId = targetId;
    p.requests = []; // urls
    p.problems = []; // errors of scripts and in the console
    browser.handlers.set(p.session, (method, m) => p.hear(method, m));
    for (const d of ["Page", "Runtime", "Network", "Log"]) await p.send(`${d}.enable`);
    await p.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: touch });
    await p.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }, { name: "prefers-reduced-motion", value: still ? "reduce" : "no-preference" }] });
    return p;
  }

  send(method, params) {
    return this.browser.send(method, params, this.session);
  }

  hear(method, m) {
    if (method === "Network.requestWillBeSent") this.requests.push(m.request.url);
    if (method === "Runtime.exceptionThrown") this.problems.push(m.exceptionDetails.exception?.description ?? m.exceptionDetails.text);
    if (method === "Runtime.consoleAPICalled" && ["error", "warning", "assert"].includes(m.type)) this.problems.push(m.args.map((a) => a.value ?? a.description).join(" "));
    if (method === "Log.entryAdded" && m.entry.level === "error") this.problems.push(`${m.entry.text} ${m.entry.url ?? ""}`);
  }

  async go(url) {
    await this.send("Page.navigate", { url });
  }

  /** The value of an expression in the page. */
  async run(expression) {
    const r = await this.send("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true });
    if (r.exceptionDetails) throw new Error(`${expression}: ${r.exceptionDetails.exception?.description}`);
    return r.result.value;
  }

  /** Until the expression is true (a page that is still loading counts as false), or an error after `within` ms. */
  async until(expression, within = 120000) {
    const end = Date.now() + within;
    for (;;) {
      if (await this.run(`(() => { try { return Boolean(${expression}); } catch { return false; } })()`).catch(() => false)) return;
      if (Date.now() > end) throw new Error(`not within ${within} ms: ${expression}`);
      await sleep(100);
    }
  }

  async key(key) {
    const code = { Tab: 9, Enter: 13, Escape: 27, ArrowRight: 39, ArrowLeft: 37, ArrowDown: 40, ArrowUp: 38 }[key];
    const text = key === "Enter" ? "\r" : undefined;
    for (const type of ["keyDown", "keyUp"])
      await this.send("Input.dispatchKeyEvent", { type, key, code: key, windowsVirtualKeyCode: code, text: type === "keyDown" ? text : undefined });
  }

  async close() {
    await this.browser.send("Target.closeTarget", { targetId: this.targetId });
  }

  /** A PNG of the whole page. */
  async picture(whole = true) {
    return Buffer.from((await this.send("Page.captureScreenshot", { format: "png", captureBeyondViewport: whole })).data, "base64");
  }
}

/** Runs one check and prints its line. */
export async function check(name, fn) {
  try {
    await fn();
    console.log(`ok panel: ${name}`);
  } catch (e) {
    console.log(`FAIL panel: ${name}: ${String(e.message).replaceAll("\n", " ")}`);
  }
}
