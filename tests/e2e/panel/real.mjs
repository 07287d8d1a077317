// e2e/panel/real.mjs - the panel in headless Chromium, over the real daemon: jobs move, one is cancelled, the daemon is killed
//
// usage: node real.mjs CUZK WORK_DIR PARAMS_DIR WINDOW_DIR MULT3_DIR [PICTURES_DIR]. Prints a line a check, as e2e scripts do.
// SPDX-License-Identifier: MIT OR Apache-2.0

import { spawn, spawnSync } from "node:child_process";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Browser, Page, check, sleep } from "./cdp.mjs";

const [cuzk, work, params, windowDir, mult3, pictures] = process.argv.slice(2);
const flag = join(work, "go");
let daemon = null;

/** A daemon on this port (0: any); its address. Its circuit "slow" waits for the flag. */
async function start(port) {
  const wait = `cat >/dev/null; while [ ! -e ${flag} ]; do sleep 0.05; done; cat ${mult3}/witness.wtns`;
  writeFileSync(join(work, "c.toml"), `[daemon]
listen = "unix://${work}/rpc.sock"
status_listen = "127.0.0.1:${port}"
[store]
url = "sqlite://${work}/store/jobs.db"
[srs]
param_cache = "${params}"
[circuits.slow]
zkey = "${mult3}/circuit.zkey"
witness_command = ["/bin/sh", "-c", "${wait}"]
`);
  daemon = spawn(cuzk, ["serve", "--config", join(work, "c.toml")], { stdio: ["ignore", "pipe", "ignore"] });
  let out = "";
  daemon.stdout.on("data", (d) => { out += d; });
  for (let i = 0; i < 2400; i++) {
    const m = /^panel: (\S+?)\/?$/m.exec(out);
    if (m !== null) return m[1];
    await sleep(50);
  }
  throw new Error("the daemon did not start");
}

function kill(signal) {
  return new Promise((r) => { daemon.once("exit", r); daemon.kill(signal); });
}

function submit(id) {
  const inputs = readdirSync(windowDir).filter((f) => f.startsWith("vanilla-")).sort().map((f) => join(windowDir, f));
  const done = spawnSync(cuzk, ["submit", "--address", `unix://${work}/rpc.sock`, "--kind", "window", "--input", ...inputs, "--statement", join(windowDir, "statement.json"), "--request-id", id, "--async"]);
  if (done.status !== 0) throw new Error(String(done.stderr));
}

async function submitSlow(base, id) {
  const r = await fetch(`${base}/v1/circuits/slow/prove?async=1`, { method: "POST", body: "{}", headers: { "Content-Type": "application/json", "Idempotency-Key": id } });
  if (r.status !== 202) throw new Error(`${r.status} ${await r.text()}`);
}

const row = (id) => `[...document.querySelectorAll('#job-rows tr')].find((t) => t.querySelector('b').textContent === '${id}')`;
const shot = async (name) => { if (pictures) writeFileSync(join(pictures, `real-${name}.png`), await page.picture()); };

/** Seconds of processor time that the daemon has used. */
function cpu() {
  const f = readFileSync(`/proc/${daemon.pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(f[11]) + Number(f[12])) / 100;
}

const browser = new Browser(process.env.CHROMIUM ?? "chromium");
const page = await Page.open(browser, { still: true });
const base = await start(0);

await check("real: the page is live", async () => {
  await page.go(base);
  await page.until("document.querySelector('#state').textContent === 'serving' && document.querySelector('#link').dataset.state === 'live'");
});
await check("real: it costs the daemon under 1% of a core, with nothing to do", async () => {
  let used = 1;
  for (let i = 0; i < 4 && used > 0.1; i++) { // on a machine that others use, the same work takes longer
    await sleep(2000);
    const before = cpu();
    await sleep(10000);
    used = cpu() - before;
  }
  if (used > 0.1) throw new Error(`${used.toFixed(2)} s in 10 s`);
});
await check("real: a WindowPoSt's partitions wait, are on the device, are done", async () => {
  for (let round = 0, seen = false; !seen; round++) { // a page that is late misses a partition on the device, but not for ever
    for (let i = 0; i < 3; i++) submit(`wdpost-${1000 + round}-${i}-[1 2 3]`);
    await page.until(`${row(`wdpost-${1000 + round}-2-[1 2 3]`)} !== undefined`);
    seen = await page.until("document.querySelector('#job-rows .cell[data-s=gpu]') !== null", round < 9 ? 5000 : 120000).then(() => true, (e) => { if (round === 9) throw e; return false; });
  }
  await page.until("document.querySelector('#job-rows .cell[data-s=done]') !== null", 300000);
  await shot("window");
  // among the ended already, where more rounds have pushed it out of the list
  await page.until(`${row("wdpost-1000-2-[1 2 3]")}?.dataset.state === 'completed' || document.querySelector('#past-rows').textContent.includes('wdpost-1000-2-[1 2 3]')`, 300000);
});
await check("real: its key, its latency and its row among the ended are there", async () => {
  await page.until("document.querySelector('#key-rows').textContent.includes('wpost-2k')");
  await page.until("document.querySelector('#latency-rows').textContent.includes('WindowPoSt')");
  await page.until("document.querySelector('#past-rows').textContent.includes('wdpost-1000-2-[1 2 3]')");
});
await check("real: the timeline has the device's steps", async () => {
  await page.run("document.querySelector('.timeline-foot + details').open = true");
  await page.until("[...document.querySelectorAll('#timeline-rows tr')].some((t) => t.textContent.startsWith('device') && /msm|ntt/.test(t.textContent))");
});
await check("real: the cancel button cancels", async () => {
  await submitSlow(base, "slow one");
  await page.until(`${row("slow one")}.dataset.state === 'running'`);
  await page.run(`${row("slow one")}.querySelector('button').click()`);
  await page.until("document.querySelector('#confirm').open && document.querySelector('#confirm-job').textContent === 'slow one'");
  await page.run("document.querySelector('#confirm button.danger').click()");
  await page.until(`${row("slow one")}.dataset.state === 'cancelled'`);
  const job = await (await fetch(`${base}/v1/jobs/slow%20one`)).json();
  if (job.state !== "cancelled") throw new Error(job.state);
});
await check("real: an unsatisfied witness is an error on the page", async () => {
  const bad = readFileSync(join(mult3, "..", "..", "bad", "bn128-wtns-unsatisfied.wtns"));
  await fetch(`${base}/v1/circuits/slow/prove`, { method: "POST", body: bad });
  await page.until("document.querySelector('#errors').children.length > 0");
});
const before = page.problems.length;
await check("real: nothing was written to the console", () => {
  if (before > 0) throw new Error(page.problems.join("; "));
});
await check("real: killed, it says so; back, it says so, and the job goes on", async () => {
  await submitSlow(base, "kept");
  await page.until(`${row("kept")} !== undefined`);
  await kill("SIGKILL");
  await page.until("document.querySelector('#notice').textContent.includes('has not answered')");
  await start(new URL(base).port);
  await page.until("document.querySelector('#notice').textContent.includes('was restarted')", 120000);
  await page.until(`${row("kept")}.dataset.state === 'running'`, 120000);
  writeFileSync(flag, "");
  await page.until(`${row("kept")}.dataset.state === 'completed'`, 120000);
  await page.until("document.querySelector('#link').dataset.state === 'live'", 120000);
  await shot("back");
});
await check("real: nothing is fetched from anywhere else, and only the outage was complained of", () => {
  const other = page.requests.filter((u) => !u.startsWith(base) && u !== "about:blank");
  const ours = page.problems.slice(before).filter((t) => !/ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY|ERR_SOCKET/.test(t));
  if (other.length + ours.length > 0) throw new Error([...other, ...ours].join("; "));
});
await kill("SIGTERM");
await browser.close();
