// e2e/panel/check.mjs - the panel in headless Chromium, over the played daemon: every state, cancelling, loss and restart
//
// usage: node check.mjs PANEL_DIR [PICTURES_DIR]. Prints a line a check, as e2e scripts do.
// SPDX-License-Identifier: MIT OR Apache-2.0

import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Browser, Page, check, sleep } from "./cdp.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const [panelDir, pictures] = process.argv.slice(2);
let player = null;

/** Starts the played daemon and gives its address. */
function play(port, mode) {
  player = spawn(process.execPath, [join(here, "fixture.mjs"), panelDir, String(port), mode], { stdio: ["ignore", "pipe", "inherit"] });
  return new Promise((r) => player.stdout.once("data", (d) => r(String(d).trim())));
}

function stopPlay() {
  return new Promise((r) => { player.once("exit", r); player.kill(); });
}

const ask = (base, what) => fetch(`${base}/play?${what}`, { method: "POST" });
const seen = (p, state) => p.until(`document.querySelector('#job-rows .cell[data-s="${state}"]') !== null`, 60000);
const shot = async (p, name) => { if (pictures) writeFileSync(join(pictures, `${name}.png`), await p.picture()); };

const browser = new Browser(process.env.CHROMIUM ?? "chromium");
let base = await play(0, "lively");
const page = await Page.open(browser, { still: true });

await check("the page shows the daemon", async () => {
  await page.go(base);
  await page.until("document.querySelector('#version').textContent === '0.1.0' && document.querySelector('#state').textContent === 'serving'");
  await page.until("document.querySelector('#link').dataset.state === 'live'");
});
for (const s of ["pending", "synthesizing", "synth_done", "gpu", "done"])
  await check(`a partition that is ${s} is seen`, () => seen(page, s));
await check("each cell says its state and times in words", async () => {
  const labels = await page.run("[...document.querySelectorAll('#job-rows .cell')].map((c) => c.getAttribute('aria-label'))");
  if (!labels.some((l) => /^Partition \d+: done, .*synthesis [\d.]+ m?s, device [\d.]+ m?s/.test(l))) throw new Error(labels.slice(0, 4).join("; "));
});
await check("queues, memory, keys, the last hour and ended jobs are filled", async () => {
  for (const id of ["queue-rows", "memory-owners", "key-rows", "latency-rows", "past-rows", "stages", "vitals"])
    await page.until(`document.getElementById('${id}').children.length > 0`);
  await page.until("document.querySelector('#key-rows progress') !== null", 60000);
});
await check("a cell shows its times when it is focused, and arrow keys move on", async () => {
  await page.run("document.querySelector('#job-rows .cells:not(:has(> :only-child)) .cell').focus()");
  await page.until("!document.querySelector('#tip').hidden && document.querySelector('#tip').textContent.startsWith('Partition 0')");
  await page.key("ArrowRight");
  await page.until("document.querySelector('#tip').textContent.startsWith('Partition 1')");
  await shot(page, "cells");
});
await check("focus stays where it is while numbers change", async () => {
  await page.run("window.was = document.activeElement; window.clock = document.querySelector('#host').textContent; 0");
  await page.until("document.querySelector('#host').textContent !== window.clock");
  await page.until("document.activeElement === window.was && window.was.isConnected");
  await page.key("Escape");
  await page.until("document.querySelector('#tip').hidden");
});
await check("the timeline is drawn, and its cursor speaks", async () => {
  await page.until("document.querySelector('#timeline').height > 100");
  const colours = await page.run("(() => { const c = document.querySelector('#timeline'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data, s = new Set(); for (let i = 0; i < d.length; i += 4) if (d[i + 3] === 255) s.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]); return s.size; })()");
  if (colours < 5) throw new Error(`${colours} colours`);
  await page.run("document.querySelector('#timeline').focus()");
  await page.key("ArrowLeft");
  await page.until("/^device cpu, .* ago: .+ for /.test(document.querySelector('#timeline-cursor').textContent)");
});
await check("the same numbers stand in a table", async () => {
  await page.run("document.querySelector('.timeline-foot + details').open = true");
  await page.until("document.querySelectorAll('#timeline-rows tr').length === 9");
});
await check("tracks that were idle all the time are folded, and can be seen", async () => {
  await page.until("document.querySelector('#quiet-count').textContent === '2 more that were idle'");
  await page.run("document.querySelector('#quiet').click()");
  await page.until("document.querySelectorAll('#track-names li').length === 11");
  await page.run("document.querySelector('#quiet').click()");
});
await check("cancelling asks first; no leaves the job alone", async () => {
  await page.until("document.querySelector('#job-rows tr[data-state=running] button:not([hidden])') !== null", 100000);
  await page.run("window.button = document.querySelector('#job-rows tr[data-state=running] button'); window.job = window.button.closest('tr'); window.button.focus(); 0");
  await page.key("Enter");
  await page.until("document.querySelector('#confirm').open");
  await shot(page, "confirm");
  await page.key("Escape");
  await page.until("!document.querySelector('#confirm').open && document.activeElement === window.button");
  await sleep(1200);
  await page.until("window.job.dataset.state !== 'cancelled'");
});
await check("the cancel button cancels", async () => {
  await page.key("Enter");
  await page.until("document.querySelector('#confirm').open && document.activeElement.value === 'keep'");
  await page.key("Tab");
  await page.key("Enter");
  await page.until("window.job.dataset.state === 'cancelled'");
  await page.until("/asked to stop/.test(document.querySelector('#say').textContent)");
});
await check("failures, retries, gaps and their cause, a full store, a failed key are shown", async () => {
  await ask(base, "mode=bad");
  await seen(page, "failed");
  await page.until("/\\d gaps/.test(document.querySelector('#timeline').ariaLabel) && !/ 0 gaps/.test(document.querySelector('#timeline').ariaLabel)");
  await page.until("document.querySelector('#job-rows tr[data-state=failed] .bad').textContent.includes('does not verify')");
  await page.until("document.querySelector('#job-rows .cell[data-retries]') !== null");
  await page.until("document.querySelector('#errors').textContent.includes('row 1204')");
  await page.until("document.querySelector('#gaps').textContent.includes('device idle while work waited: key')");
  await page.until("document.querySelector('#store').textContent.includes('full')");
  await page.until("document.querySelector('#key-rows').textContent.includes('no file v28')");
  await page.until("/^cpu.*retired.*41/.test(document.querySelector('#device-rows').textContent)");
  await shot(page, "bad");
});
await check("with nothing to do it says so", async () => {
  await ask(base, "mode=empty");
  await page.until("!document.querySelector('#jobs-empty').hidden && !document.querySelector('#keys-empty').hidden && !document.querySelector('#queues-empty').hidden");
  await shot(page, "empty");
});
await check("a restart is noticed and said", async () => {
  await ask(base, "mode=lively&restart=1");
  await page.until("document.querySelector('#notice').textContent.includes('was restarted')");
  await page.until("document.querySelector('#link').dataset.state === 'live'", 120000);
});
const before = page.problems.length;
await check("no script failed and nothing was written to the console", () => {
  if (before > 0) throw new Error(page.problems.join("; "));
});
await check("a loss is said, and the panel comes back by itself", async () => {
  await stopPlay();
  await page.until("document.querySelector('#notice').textContent.includes('has not answered')");
  await shot(page, "lost");
  await sleep(1500);
  base = await play(new URL(base).port, "lively");
  await page.until("document.querySelector('#notice').textContent.includes('answers again') || document.querySelector('#notice').textContent.includes('was restarted')", 120000);
  await page.until("document.querySelector('#link').dataset.state === 'live'", 120000);
  const ours = page.problems.slice(before).filter((t) => !/ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY|ERR_SOCKET/.test(t));
  if (ours.length > 0) throw new Error(ours.join("; "));
});
for (const [width, dark] of [[390, false], [390, true], [768, false], [1440, true], [2200, false]])
  await check(`${width} pixels, ${dark ? "dark" : "light"}: nothing sticks out`, async () => {
    await ask(base, "mode=bad");
    const p = await Page.open(browser, { width, dark, still: true, touch: width < 500 });
    await p.go(base);
    await p.until("document.querySelectorAll('#past-rows tr').length > 0 && document.querySelectorAll('#track-names li').length > 0");
    const over = await p.run("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    await shot(p, `${width}-${dark ? "dark" : "light"}`);
    if (over > 0) throw new Error(`${over} pixels`);
    if (p.problems.length > 0) throw new Error(p.problems.join("; "));
    await p.close();
  });
await check("where a token is wanted it asks for one, and keeps it for the tab", async () => {
  await ask(base, "mode=lively&locked=1");
  const p = await Page.open(browser, { still: true });
  await p.go(base);
  await p.until("!document.querySelector('#login').hidden && document.querySelector('#link-text').textContent === 'token wanted'");
  await p.run("document.querySelector('#token').value = 'secret'; document.querySelector('#login button').click()");
  await p.until("document.querySelector('#login').hidden && document.querySelector('#link').dataset.state === 'live'");
  await p.go(`${base}/?again`);
  await p.until("document.querySelector('#link').dataset.state === 'live'");
  await p.close();
  await ask(base, "locked=0");
});
await check("nothing is fetched from anywhere else", () => {
  const other = page.requests.filter((u) => !u.startsWith(base) && !u.startsWith("data:") && u !== "about:blank");
  if (other.length > 0) throw new Error(other.join(" "));
});
await stopPlay();
await browser.close();
