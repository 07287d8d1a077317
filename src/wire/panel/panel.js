// wire/panel/panel.js - the live panel: /status on the page, once a second; jobs, queues, memory, keys, errors
// SPDX-License-Identifier: MIT OR Apache-2.0

import { $, ago, attr, bytes, count, el, keyed, kind, ms, partState, percent, text, tips } from "./panel-dom.js";
import { follow, get, post, setToken } from "./panel-link.js";
import { Timeline } from "./panel-timeline.js";

const timeline = new Timeline();
const placeTip = tips($("tip"));
let now = 0; // the daemon's clock, ms
let past = -1e9, whole = -1e9, part = -1e9; // when the ended jobs, the whole timeline and its end were last read

const jobPath = (id) => `/v1/jobs/${encodeURIComponent(id)}`;

/* ---- what is said ---- */

let sayTimer = 0;
const toSay = [];

/** To screen readers, a few at a time. */
function say(sentence) {
  toSay.push(sentence);
  clearTimeout(sayTimer);
  sayTimer = setTimeout(() => {
    text($("say"), toSay.length > 4 ? `${toSay.length} jobs ended` : toSay.join(". "));
    toSay.length = 0;
  }, 600);
}

let noticeTimer = 0;

function notice(sentence, kindOf, forMs) {
  clearTimeout(noticeTimer);
  text($("notice"), sentence);
  attr($("notice"), "data-kind", kindOf);
  $("notice").hidden = false;
  if (forMs > 0) noticeTimer = setTimeout(() => { $("notice").hidden = true; }, forMs);
}

/* ---- top ---- */

function fact(list, items) {
  keyed(list, items, (i) => i[0], (i) => el("div", {}, el("dt", { text: i[0] }), el("dd")), (div, i) => {
    text(div.lastChild, i[1]);
    attr(div, "class", i[2] ?? null);
  });
}

function showTop(d) {
  text($("version"), d.version);
  text($("state"), d.state);
  attr($("state"), "data-state", d.state);
  fact($("host"), [["device", d.host.device], ["CPUs", `${d.host.cpus}, ${d.host.cpu_table}`], ["up", ms(d.uptime_secs * 1000)]]);
  const running = d.pipelines.filter((j) => j.state === "running").length;
  document.title = `${running > 0 ? `${running} running – ` : ""}cuzk`;
}

function showVitals(d) {
  const running = d.pipelines.filter((j) => j.state === "running").length;
  const waiting = d.pipelines.filter((j) => j.state === "queued").length;
  const busy = d.devices.length === 0 ? 0 : d.devices.reduce((s, v) => s + v.busy_percent, 0) / d.devices.length;
  const working = d.devices.filter((v) => v.state === "proving"), retired = d.devices.filter((v) => v.retired).length;
  const failed = d.counters.total_failed, fill = d.ledger.budget_bytes === 0 ? 0 : (100 * d.ledger.reserved_bytes) / d.ledger.budget_bytes;
  const covered = Math.min(d.coverage.jobs_percent, d.coverage.workers_percent);
  const last = d.throughput?.partitions_last_hour;
  const rows = [
    ["Jobs", count(running), "running", waiting === 0 ? "none waits" : `${count(waiting)} wait`],
    ["Proofs, last hour", count(d.throughput?.proofs_last_hour), "", last === undefined ? `${count(d.counters.total_completed)} since the start` : `${count(last)} partitions`],
    ["Since the start", count(d.counters.total_completed), "done", failed === 0 ? "none failed" : `${count(failed)} failed`, failed > 0 ? "bad-sub" : null],
    ["Device", percent(busy), "% busy", retired > 0 ? `${retired} retired` : working.length === 0 ? "idle now" : `proves ${kind(working[0].kind)}`, retired > 0 ? "bad" : null],
    ["Memory", bytes(d.ledger.reserved_bytes), "", `${percent(fill)} % of ${bytes(d.ledger.budget_bytes)}${d.ledger.waiting > 0 ? `, ${d.ledger.waiting} wait` : ""}`, d.ledger.waiting > 0 ? "warn" : null],
    ["Time accounted for", percent(covered), "%", `safe points ≤ ${ms(d.safe_point_max_ms)} apart`, covered < 99 ? "warn" : null],
  ];
  keyed($("vitals"), rows, (r) => r[0], (r) => el("div", {}, el("dt", { text: r[0] }), el("dd", { class: "value" }, el("span"), " ", el("small")), el("dd", { class: "sub" })), (div, r) => {
    text(div.querySelector("span"), r[1]);
    text(div.querySelector("small"), r[2]);
    text(div.lastChild, r[3]);
    attr(div, "data-tone", r[4] ?? null);
  });
}

/* ---- jobs ---- */

function partText(p) {
  const lines = [`Partition ${p.index}: ${partState(p.state)}`];
  const times = [];
  if (p.wait_ms > 0) times.push(`waited ${ms(p.wait_ms)}`);
  if (p.synth_ms > 0) times.push(`synthesis ${ms(p.synth_ms)}`);
  if ((p.prove_ms ?? p.gpu_ms) > 0) times.push(`device ${ms(p.prove_ms ?? p.gpu_ms)}`);
  if (p.retries > 0) times.push(p.retries === 1 ? "1 retry" : `${p.retries} retries`);
  if (times.length > 0) lines.push(times.join(", "));
  return lines.join("\n");
}

/** One tab stop a job: arrow keys go from partition to partition. */
function moveInCells(e) {
  const by = { ArrowLeft: -1, ArrowRight: 1, Home: -1e6, End: 1e6 }[e.key];
  if (by === undefined) return;
  e.preventDefault();
  const cells = [...e.currentTarget.children], at = cells.indexOf(document.activeElement);
  const to = cells[Math.min(cells.length - 1, Math.max(0, at + by))];
  for (const c of cells) c.tabIndex = c === to ? 0 : -1;
  to.focus();
}

function makeJob(j) {
  const cells = el("ul", { class: "cells", "aria-label": "Partitions" });
  cells.addEventListener("keydown", moveInCells);
  const stop = el("button", { class: "quiet", type: "button", text: "Cancel", "aria-label": `Cancel ${j.job_id}` });
  stop.addEventListener("click", () => askCancel(j.job_id, stop));
  return el("tr", {},
    el("th", { scope: "row", class: "who" }, el("b", { class: "mono", text: j.job_id, title: j.job_id }), el("span", {}, kind(j.kind ?? j.proof_kind), " ", el("span", { class: "tag" }))),
    el("td", { class: "doing" }, el("b"), el("small")),
    el("td", { class: "parts" }, cells),
    el("td", { class: "num time" }, el("span"), el("small")),
    el("td", { class: "act" }, stop));
}

const ended = (j) => j.state === "completed" || j.state === "failed" || j.state === "cancelled";

function doingText(j) {
  if (j.state === "failed") return typeof j.error === "string" ? j.error : [j.error?.where, j.error?.message].filter(Boolean).join(": ");
  if (j.state === "running" || j.state === "queued") return j.phase === j.state ? "" : j.phase ?? "";
  return "";
}

function updateJob(tr, j) {
  const [who, doing, parts, time, act] = tr.children;
  const tag = who.querySelector(".tag");
  attr(tr, "data-state", j.state);
  text(tag, j.priority);
  attr(tag, "data-tone", j.priority);
  tag.hidden = j.priority === "normal";
  text(doing.firstChild, j.state);
  text(doing.lastChild, doingText(j));
  attr(doing.lastChild, "class", j.state === "failed" ? "bad" : null);
  keyed(parts.firstChild, j.partitions, (p) => p.index, (p) => el("li", { class: "cell", tabindex: p.index === 0 ? 0 : -1, role: "img" }), (li, p) => {
    const t = partText(p);
    attr(li, "data-s", p.state);
    attr(li, "data-retries", p.retries > 0 ? p.retries : null);
    attr(li, "data-tip", t);
    attr(li, "aria-label", t.replace("\n", ", "));
  });
  attr(parts.firstChild, "aria-label", `Partitions: ${j.partitions_done} of ${j.total_partitions} done`);
  text(time.firstChild, ms(j.total_ms ?? j.started_secs_ago * 1000));
  text(time.lastChild, j.total_partitions > 1 ? `${j.partitions_done} of ${j.total_partitions}` : "");
  act.firstChild.hidden = ended(j);
}

const MOST_LIVE = 200, MOST_ENDED = 6; // more would help nobody

function showJobs(d) {
  const rank = { running: 0, queued: 1 }, urgency = { critical: 0, high: 1, normal: 2, low: 3 };
  const live = d.pipelines.filter((j) => !ended(j)).sort((a, b) => rank[a.state] - rank[b.state] || urgency[a.priority] - urgency[b.priority] || b.started_secs_ago - a.started_secs_ago);
  const over = d.pipelines.filter(ended).sort((a, b) => (b.state === "failed") - (a.state === "failed") || a.started_secs_ago - b.started_secs_ago);
  const rows = [...live.slice(0, MOST_LIVE), ...over.slice(0, MOST_ENDED)];
  keyed($("job-rows"), rows, (j) => j.job_id, makeJob, updateJob);
  $("jobs-empty").hidden = rows.length > 0;
  document.querySelector("table.jobs").hidden = rows.length === 0;
  const hints = [];
  if (live.length > MOST_LIVE) hints.push(`the first ${MOST_LIVE} of ${count(live.length)}`);
  if (over.length > MOST_ENDED) hints.push(`${count(over.length)} ended in the last minute`);
  text($("jobs-hint"), hints.join(", "));
}

let cancelFrom = null;

function askCancel(id, button) {
  cancelFrom = button;
  text($("confirm-job"), id);
  $("confirm").returnValue = "keep";
  $("confirm").showModal();
}

$("confirm").addEventListener("close", async () => {
  const id = $("confirm-job").textContent;
  if ($("confirm").returnValue !== "cancel") {
    cancelFrom?.focus();
    return;
  }
  if (cancelFrom !== null) cancelFrom.disabled = true;
  $("jobs").focus();
  try {
    await post(`${jobPath(id)}/cancel`);
    say(`${id}: asked to stop`);
    link.poll();
  } catch (e) {
    notice(`${id} could not be cancelled: ${e.message}`, "bad", 8000);
    if (cancelFrom !== null) cancelFrom.disabled = false;
  }
});

/* ---- stages, queues, memory ---- */

function showStages(d) {
  keyed($("stages"), d.stages, (s) => s.name, (s) => el("li", {}, el("span", { text: s.name }), el("b"), el("small")), (li, s) => {
    text(li.children[1], count(s.waiting));
    text(li.lastChild, s.active > 0 ? `+${s.active}` : "");
    attr(li, "data-busy", s.waiting + s.active > 0 ? "" : null);
    attr(li.children[1], "class", s.waiting === 0 ? "zero" : null);
    attr(li, "data-tip", `${s.name}: ${s.waiting} waiting, ${s.active} at work${s.workers > 0 ? ` of ${s.workers} at most` : ""}`);
  });
}

function showQueues(d) {
  const rows = new Map();
  for (const q of d.queues) {
    if (!rows.has(q.kind)) rows.set(q.kind, {});
    rows.get(q.kind)[q.priority] = q;
  }
  keyed($("queue-rows"), [...rows], (r) => r[0], (r) => el("tr", {}, el("th", { scope: "row", text: kind(r[0]) }), ...[0, 1, 2, 3].map(() => el("td", { class: "num" }, el("span"), el("span", { class: "plus" })))), (tr, r) => {
    ["critical", "high", "normal", "low"].forEach((p, i) => {
      const q = r[1][p], td = tr.children[i + 1];
      text(td.firstChild, q === undefined ? "–" : String(q.pending));
      text(td.lastChild, q?.in_progress > 0 ? ` +${q.in_progress}` : "");
      attr(td.firstChild, "class", q === undefined ? "zero" : null);
    });
  });
  $("queues-empty").hidden = rows.size > 0;
  $("queue-rows").parentElement.hidden = rows.size === 0;
}

function showMemory(d) {
  const l = d.ledger, total = Math.max(l.budget_bytes, 1);
  const used = l.owners.filter((o) => o.bytes > 0);
  text($("memory-hint"), `${bytes(l.reserved_bytes)} of ${bytes(l.budget_bytes)}, ${bytes(l.critical_reserve_bytes)} kept for critical work`);
  keyed($("memory-bar"), [...l.owners, null], (o) => o?.name ?? "", (o) => el("i", { class: o === null ? "reserve" : null, "data-m": o === null ? null : l.owners.indexOf(o) }), (i, o) => {
    i.style.width = `${(100 * (o === null ? l.critical_reserve_bytes : o.bytes)) / total}%`;
  });
  attr($("memory-bar"), "aria-label", used.length === 0 ? "nothing is reserved" : used.map((o) => `${o.name} ${bytes(o.bytes)}`).join(", "));
  keyed($("memory-owners"), l.owners, (o) => o.name, (o) => el("li", {}, el("i", { "data-m": l.owners.indexOf(o) }), el("span", { text: o.name }), el("b")), (li, o) => {
    text(li.lastChild, o.bytes === 0 ? "–" : bytes(o.bytes));
    attr(li.lastChild, "class", o.bytes === 0 ? "zero" : null);
  });
}

/* ---- keys, the last hour, store ---- */

function showKeys(d) {
  keyed($("key-rows"), d.keys, (k) => k.circuit, (k) => el("tr", {}, el("th", { scope: "row", class: "mono", text: k.circuit }), el("td"), ...[0, 1, 2].map(() => el("td", { class: "num" }))), (tr, k) => {
    const [name, tier, size, refs, used] = tr.children;
    const loading = k.state === "loading";
    tr.tierShown ??= "";
    const shown = loading ? "loading" : k.state === "failed" ? "failed" : k.tier;
    if (tr.tierShown !== shown) {
      tr.tierShown = shown;
      if (loading) tier.replaceChildren(el("progress", { max: 1, value: 0, "aria-label": `${k.circuit} is loaded` }), el("span"));
      else tier.replaceChildren(el("span", { class: "tag", "data-tone": shown === "failed" ? "bad" : shown === "hot" ? "good" : shown === "warm" ? "accent" : null, text: shown }), el("span"));
    }
    if (loading) {
      tier.firstChild.value = k.progress;
      text(tier.lastChild, `${Math.floor(k.progress * 100)} %`);
    } else {
      text(tier.lastChild, k.pinned ? " stays" : "");
    }
    text(size, k.bytes > 0 ? bytes(k.bytes) : "–");
    text(refs, String(k.ref_count));
    attr(refs, "class", k.ref_count === 0 ? "num zero" : "num");
    text(used, k.last_used_secs_ago < 0 ? "–" : ago(k.last_used_secs_ago * 1000));
    if (k.error) {
      if (name.lastElementChild === null) name.append(el("small"));
      text(name.lastElementChild, k.error);
    } else {
      name.lastElementChild?.remove();
    }
  });
  $("keys-empty").hidden = d.keys.length > 0;
  document.querySelector("table.keys").hidden = d.keys.length === 0;
}

/* What the driver says of a GPU, and how much of its proofs' time it worked. */
function readingOf(v) {
  const g = v.gpu, t = v.gpu_time, out = [];
  if (t) out.push(`${percent(t.busy_percent)} % of its proofs' time at work`);
  if (!g) return out.join(" · ");
  const add = (x, form) => { if (x !== null && x !== undefined) out.push(form(x)); };
  add(g.utilization_percent, (x) => `${x} % load`);
  add(g.sm_clock_mhz, (x) => `${x} MHz`);
  add(g.power_watts, (x) => `${Math.round(x)} W`);
  add(g.temperature_celsius, (x) => `${x} °C`);
  if (g.throttle && g.throttle !== "none") out.push(`slowed: ${g.throttle}`);
  if (g.memory_others_bytes > 0) out.push(`${bytes(g.memory_others_bytes)} used by others`);
  if (g.ecc_uncorrected > 0) out.push(`${g.ecc_uncorrected} uncorrectable errors`);
  if (g.stale) out.push(`${Math.round(g.age_ms / 1000)} s old`);
  return out.join(" · ");
}

function showDevices(d) {
  keyed($("device-rows"), d.devices, (v) => v.name, (v) => el("tr", {}, el("th", { scope: "row", class: "mono", text: v.name }, el("small"), el("small", { class: "reading" })), el("td", {}, el("span", { class: "tag" })), ...[0, 1, 2].map(() => el("td", { class: "num" }))), (tr, v) => {
    const [name, state, busy, done, free] = tr.children, tag = state.firstChild;
    text(name.children[0], v.model ? ` ${v.model}` : "");
    text(name.children[1], readingOf(v));
    text(tag, v.state === "proving" && v.kind ? kind(v.kind) : v.state);
    attr(tag, "data-tone", v.retired ? "bad" : v.state === "proving" ? "accent" : null);
    text(busy, `${percent(v.busy_percent)} %`);
    text(done, v.partitions === undefined ? "–" : count(v.partitions));
    text(free, v.memory_total_bytes > 0 ? `${bytes(v.memory_free_bytes)} of ${bytes(v.memory_total_bytes)}` : "the host's");
  });
}

function showHour(d) {
  keyed($("latency-rows"), d.latency, (l) => l.kind, (l) => el("tr", {}, el("th", { scope: "row", text: kind(l.kind) }), ...[0, 1, 2].map(() => el("td", { class: "num" }))), (tr, l) => {
    text(tr.children[1], count(l.n));
    text(tr.children[2], ms(l.p50_ms));
    text(tr.children[3], ms(l.p99_ms));
  });
  $("latency-empty").hidden = d.latency.length > 0;
  $("latency-rows").parentElement.hidden = d.latency.length === 0;
  text($("throughput"), d.throughput?.proofs_last_hour > 0 ? `${count(d.throughput.proofs_last_hour)} proofs` : "");
  const s = d.store;
  fact($("store"), s === null || s === undefined ? [["store", "none: jobs live in memory alone"]] : [
    ["store", `${count(s.jobs)} jobs`],
    ["size", `${bytes(s.bytes)} of ${bytes(s.max_bytes)}${s.full ? ": full, new work is refused" : ""}`, s.full ? "bad" : null],
    ["sync", `${s.sync_p50_ms} ms, 99 % ${s.sync_p99_ms} ms`],
    ...(s.failures > 0 ? [["failures", count(s.failures), "bad"]] : []),
  ]);
}

/* ---- errors, gaps, the past ---- */

function showLogs(d) {
  const line = () => el("li", {}, el("time"), el("p", {}, el("span"), el("small")), el("span", { class: "tag" }));
  const update = (main, sub, tag) => (li, r) => {
    text(li.firstChild, ago(Math.max(0, now - r.at_ms)) === "now" ? "now" : `${ago(now - r.at_ms)} ago`);
    text(li.children[1].firstChild, main(r));
    text(li.children[1].lastChild, sub(r));
    text(li.lastChild, tag(r));
  };
  const key = (r) => `${r.at_ms} ${r.job_id} ${r.message ?? r.between} ${r.ms ?? ""}`;
  keyed($("errors"), d.errors, key, line, update((r) => r.message, (r) => [r.job_id, r.where].filter(Boolean).join(", "), (r) => r.class || "error"));
  keyed($("gaps"), d.gaps, key, line, update((r) => r.cause ?? r.between, (r) => [r.track, r.job_id].filter(Boolean).join(", "), (r) => ms(r.ms)));
  $("errors-empty").hidden = d.errors.length > 0;
  $("gaps-empty").hidden = d.gaps.length > 0;
}

async function showPast() {
  const doc = await get("/jobs?limit=60");
  const rows = doc.jobs.filter(ended).slice(0, 25);
  keyed($("past-rows"), rows, (j) => j.job_id, (j) => {
    const id = encodeURIComponent(j.job_id);
    return el("tr", {}, el("th", { scope: "row", class: "mono id", text: j.job_id, title: j.job_id }), el("td", { text: kind(j.kind) }), el("td", { class: "out" }), el("td", { class: "num" }), el("td", { class: "num" }), el("td", { class: "num" }),
      el("td", {}, el("a", { href: `/jobs/${id}`, text: "Details", "aria-label": `Details of ${j.job_id}` }), el("a", { href: `/trace?job=${id}`, download: "cuzk-job-trace.json", text: "Trace", "aria-label": `Trace of ${j.job_id}` })));
  }, (tr, j) => {
    const why = typeof j.error === "string" ? j.error : j.error?.message;
    const shown = `${j.state}${why ?? ""}`;
    if (tr.shown !== shown) {
      tr.shown = shown;
      tr.children[2].replaceChildren(el("span", { class: "tag", "data-tone": j.state === "completed" ? "good" : j.state === "failed" ? "bad" : null, text: j.state }), why ? ` ${why}` : "");
    }
    text(tr.children[3], String(j.total_partitions));
    text(tr.children[4], ms(j.total_ms));
    text(tr.children[5], j.ended_at ? ago(Math.max(0, Date.now() - j.ended_at * 1000)) : "–");
  });
  $("past-empty").hidden = rows.length > 0;
  document.querySelector("table.past").hidden = rows.length === 0;
}

/** What is not in /status: read more seldom, and a failure of it is left to the next poll. */
async function readMore(at) {
  try {
    const all = at - whole > 60000;
    if (all || at - part > 1800) { // a busy daemon pays for each second that is asked for
      part = at;
      if (all) whole = at;
      timeline.add(await get(`/timeline?since=${timeline.since(all)}`));
    }
    if (at - past > 5000) {
      past = at;
      await showPast();
    }
  } catch (e) {
    if (e.status === undefined) throw e;
  }
}

/* ---- the link ---- */

let streaming = false, more = null;

function showLink(state, sentence) {
  attr($("link"), "data-state", state);
  text($("link-text"), sentence);
}

const link = follow({
  status(d) {
    now = d.now_ms;
    $("login").hidden = true;
    $("main").classList.remove("main-off");
    showLink(streaming ? "live" : "poll", streaming ? "live" : "polling");
    timeline.gaps = d.gaps;
    showTop(d);
    showVitals(d);
    showJobs(d);
    showStages(d);
    showQueues(d);
    showMemory(d);
    showKeys(d);
    showDevices(d);
    showHour(d);
    showLogs(d);
    placeTip();
    if (more === null) more = readMore(performance.now()).finally(() => { more = null; });
  },
  event(e) {
    if (e.type === "job" && ended(e)) {
      past = -1e9; // the list of ended jobs has changed
      say(`${kind(e.kind)} ${e.job_id} ${e.state}`);
    } else if (e.type === "error") {
      say(`error: ${e.message}`);
    }
  },
  stream(on) {
    streaming = on;
    if (on) showLink("live", "live");
  },
  lost(forMs) {
    showLink("lost", "lost");
    text($("state"), "no answer");
    attr($("state"), "data-state", "lost");
    $("main").classList.add("main-off");
    notice(`The daemon has not answered for ${ms(forMs)}. Trying again every second; what is shown is from before.`, "bad", 0);
  },
  back(restarted) {
    past = whole = -1e9;
    if (restarted) timeline.reset();
    notice(restarted ? "The daemon was restarted. Everything shown is from the new one; jobs that had not ended go on." : "The daemon answers again.", null, 12000);
  },
  denied(status) {
    $("login").hidden = false;
    showLink("lost", status === 401 ? "token wanted" : "not allowed");
  },
});

$("login").addEventListener("submit", (e) => {
  e.preventDefault();
  setToken($("token").value.trim());
  $("token").value = "";
  link.poll();
});
