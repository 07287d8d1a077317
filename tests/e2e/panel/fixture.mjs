// e2e/panel/fixture.mjs - a daemon that is played: the panel's files, and documents with whatever state is hard to bring about
//
// usage: node fixture.mjs PANEL_DIR [PORT] [MODE]      MODE: lively, empty, bad
// POST /play?mode=MODE switches; ?restart=1 sets the clock back, as a restart does; ?locked=1 wants the token "secret", 0 does not.
// Prints its address.
// SPDX-License-Identifier: MIT OR Apache-2.0

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

const [dir, port = "0", firstMode = "lively"] = process.argv.slice(2);
const types = { html: "text/html; charset=utf-8", css: "text/css; charset=utf-8", js: "text/javascript; charset=utf-8", svg: "image/svg+xml" };
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const GiB = 2 ** 30, MiB = 2 ** 20;

let locked = false, mode = firstMode, epoch = Date.now() - 754000;
const cancelled = new Map(), streams = new Set();
const now = () => Date.now() - epoch;

/* ---- jobs: each a function of the clock ---- */

const plan = [
  { id: "winpost-1000-0123456789abcdef", kind: "winning-post", priority: "critical", n: 1, at: 4, synth: 0.3, prove: 0.9 },
  { id: "wdpost-1000-0-[1 2 3 4 5 6 7 8]", kind: "window-post", priority: "high", n: 2, at: 8, synth: 2.6, prove: 7 },
  { id: "porep-1000-42", kind: "porep-c2", priority: "normal", n: 10, at: 0, synth: 1.1, prove: 3.4 },
  { id: "ps-porep-1000-43-7", kind: "porep-c2", priority: "normal", n: 10, at: 12, synth: 1.1, prove: 3.4 },
  { id: "snap-1000-42", kind: "snap-update", priority: "normal", n: 16, at: 18, synth: 0.8, prove: 1.6 },
  { id: "9f0c2a54-77aa-4b0e-9a44-3d1c5a0f6b7e", kind: "groth16", priority: "low", n: 1, at: 26, synth: 0.2, prove: 0.5 },
];
const LOOP = 90; // seconds after which it all begins again

function job(p, t) {
  const s = (t / 500) % LOOP - p.at; // twice as fast as it says, so that the tests are
  if (s < 0) return null;
  const parts = [];
  let done = 0, over = 0;
  for (let i = 0; i < p.n; i++) {
    const from = 0.4 + i * Math.max(p.synth * 0.8, 0.1), ready = from + p.synth, device = 0.6 + p.synth + i * p.prove, end = device + p.prove;
    const fails = mode === "bad" && p.kind === "snap-update" && i === 5;
    const state = s < from ? "pending" : s < ready ? "synthesizing" : s < device ? "synth_done" : s < end ? "gpu" : fails ? "failed" : "done";
    if (state === "done") done++;
    over = end;
    parts.push({ index: i, state, synth_ms: s < from ? 0 : Math.round(Math.min(s - from, p.synth) * 1000), gpu_ms: s < device ? 0 : Math.round(Math.min(s - device, p.prove) * 1000), prove_ms: s < device ? 0 : Math.round(Math.min(s - device, p.prove) * 1000), wait_ms: Math.round(Math.min(s, from) * 1000), retries: mode === "bad" && i === 2 ? 1 : 0 });
  }
  const failed = parts.find((x) => x.state === "failed");
  const gone = cancelled.get(p.id);
  const state = gone !== undefined && now() - gone < 45000 ? "cancelled" : failed ? "failed" : done === p.n ? "completed" : s < 0.4 ? "queued" : "running";
  if (state === "completed" && s > over + 60) return null;
  return {
    job_id: p.id, proof_kind: p.kind, kind: p.kind, request_id: p.id, priority: p.priority, state, started_secs_ago: s, total_partitions: p.n, partitions_done: done, partitions: parts,
    queued_ms: 400, total_ms: Math.round(Math.min(s, over) * 1000), phase: state === "queued" ? "queued" : parts.some((x) => x.state === "gpu") ? "device" : "synthesis",
    error: failed ? { class: "bug", where: "partition 5", message: "the proof does not verify; the partition is at fault after 2 retries on the device and on the CPU" } : null,
  };
}

const jobs = () => (mode === "empty" ? [] : plan.map((p) => job(p, now())).filter(Boolean));

/* ---- documents ---- */

function status() {
  const list = jobs(), t = now(), live = list.filter((j) => j.state === "running" || j.state === "queued"), empty = mode === "empty", bad = mode === "bad";
  const onDevice = live.find((j) => j.partitions.some((p) => p.state === "gpu"));
  const queues = [];
  for (const j of live) {
    const q = queues.find((x) => x.kind === j.kind && x.priority === j.priority) ?? queues[queues.push({ kind: j.kind, priority: j.priority, pending: 0, in_progress: 0 }) - 1];
    if (j.state === "queued") q.pending++;
    else q.in_progress++;
  }
  if (!empty) queues.push({ kind: "window-post", priority: "normal", pending: 12, in_progress: 0 });
  const owners = [["keys", 9.2 * GiB], ["shapes", 310 * MiB], ["witnesses", live.length * 140 * MiB], ["proving", onDevice ? 6.1 * GiB : 0], ["requests", live.length * 11 * MiB], ["store", 6 * MiB], ["spans", 33 * MiB]].map(([name, b]) => ({ name, bytes: empty ? 0 : Math.round(b) }));
  const used = owners.reduce((s, o) => s + o.bytes, 0);
  const stage = (name, waiting, active, workers) => ({ name, waiting: empty ? 0 : waiting, active: empty ? 0 : active, workers });
  const load = empty ? 0 : Math.min(1, ((t / 1000) % 40) / 30);
  return {
    version: "0.1.0", uptime_secs: Math.floor(t / 1000), now_ms: t, state: "serving", host: { cpus: 16, cpu_table: "adx", device: "cpu" },
    memory: { total_bytes: 24 * GiB, used_bytes: used, available_bytes: 24 * GiB - used }, synthesis: { max_concurrent: 2, active: 1 }, pipelines: list, gpu_workers: [],
    devices: [{ name: "cpu", model: "", ordinal: 0, at_a_time: 1, partitions: 41, state: bad ? "retired" : onDevice ? "proving" : "idle", job_id: onDevice?.job_id ?? null, kind: onDevice?.kind ?? null, partition: 1, busy_percent: empty ? 0 : 87.4, memory_total_bytes: 0, memory_free_bytes: 0, retired: bad, gpu: empty ? null : { age_ms: 700, stale: bad, utilization_percent: 97, memory_utilization_percent: 41, sm_clock_mhz: 1980, memory_clock_mhz: 3201, power_watts: 612.3, power_limit_watts: 700, temperature_celsius: 63, memory_total_bytes: 150e9, memory_used_bytes: 100e9, memory_others_bytes: null, ecc_uncorrected: bad ? 1 : 0, throttle: "none" }, gpu_time: null }],
    keys: empty ? [] : [
      { circuit: "winning-32g", tier: "warm", bytes: 0.2 * GiB, ref_count: 1, state: "loaded", progress: 1, last_used_secs_ago: 3.1, pinned: true, error: null },
      { circuit: "porep-32g", tier: "hot", bytes: 44.1 * GiB, ref_count: 2, state: "loaded", progress: 1, last_used_secs_ago: 0.2, pinned: false, error: null },
      { circuit: "wpost-32g", tier: "cold", bytes: 57.4 * GiB, ref_count: 0, state: load < 1 ? "loading" : "loaded", progress: load, last_used_secs_ago: -1, pinned: false, error: null },
      { circuit: "snap-32g", tier: "cold", bytes: 0, ref_count: 0, state: bad ? "failed" : "absent", progress: 0, last_used_secs_ago: 4000, pinned: false, error: bad ? "no file v28-empty-sector-update-merkletree-poseidon_hasher-8-8-0-3b7f44a9362e3985369454947bc94022e118211e49fd672d52bec1cbfd599d18.params in /var/tmp/filecoin-proof-parameters" : null },
      { circuit: "merkle5", tier: "warm", bytes: 1.2 * MiB, ref_count: 0, state: "loaded", progress: 1, last_used_secs_ago: 312, pinned: false, error: null },
    ],
    allocations: { srs: [], pce: [] },
    counters: { total_completed: empty ? 0 : 18234, total_failed: bad ? 3 : 0, completed_by_kind: {}, failed_by_kind: {}, queue_depth: 12, partitions: 1, retries: 0, duplicates: 0, refused: 0 }, buffers: {}, queues: empty ? [] : queues,
    stages: [stage("memory", bad ? 4 : 0, 0, 0), stage("decode", 0, 0, 16), stage("synthesis", 5, 2, 2), stage("device", 3, onDevice ? 1 : 0, 1), stage("finish", 0, 1, 2), stage("result", 0, 0, 2)],
    ledger: { budget_bytes: 24 * GiB, reserved_bytes: used, critical_reserve_bytes: GiB, waiting: bad ? 4 : 0, owners },
    latency: empty ? [] : [{ kind: "porep-c2", n: 96, p50_ms: 48211, p99_ms: 61890 }, { kind: "snap-update", n: 12, p50_ms: 27120, p99_ms: 31000 }, { kind: "window-post", n: 8, p50_ms: 16002, p99_ms: 19400 }, { kind: "winning-post", n: 120, p50_ms: 1240, p99_ms: 1790 }, { kind: "groth16", n: 4021, p50_ms: 71, p99_ms: 118 }],
    throughput: { proofs_last_hour: empty ? 0 : 4257 },
    errors: bad ? [{ at_ms: t - 4000, class: "bug", job_id: "snap-1000-42", where: "partition 5", message: "the proof does not verify" }, { at_ms: t - 65000, class: "unsatisfied", job_id: "9f0c2a54", where: "row 1204", message: "a*b = c does not hold" }, { at_ms: t - 4100000, class: "io", job_id: "", where: "snap-32g", message: "no file v28-empty-sector-update-merkletree-poseidon_hasher-8-8-0-3b7f.params in /var/tmp/filecoin-proof-parameters" }] : [],
    gaps: bad ? [{ at_ms: t - 21000, ms: 1830, track: "device", job_id: "porep-1000-42", between: "device idle while work waited: key" }, { at_ms: t - 51000, ms: 12.4, track: "finish 1", job_id: "porep-1000-42", between: "between assemble proof and pairing" }] : [],
    coverage: { jobs_percent: bad ? 97.31 : 99.93, workers_percent: bad ? 98.2 : 99.98 }, safe_point_max_ms: 181.3,
    store: { jobs: empty ? 0 : 18240, payloads: 14, bytes: empty ? 0 : 1.7 * GiB, max_bytes: 64 * GiB, sync_p50_ms: 4, sync_p99_ms: 21, pending: 0, failures: 0, full: bad },
  };
}

const steps = ["idle", "synthesise witness", "evaluate a b c", "ntt", "msm h", "msm l", "msm a", "msm b g2", "assemble proof", "pairing", "store sync", "wait for memory", "write document", "read key"];

/** A device in long steps, workers that help it, finalisers, a network thread: made up from the bin's number. */
function timeline(since) {
  const t = now(), first = Math.max(0, Math.ceil(Math.max(since, t - 600000) / 200)), last = Math.floor(t / 200);
  const doc = { now_ms: t, from_ms: first * 200, step_ms: 200, steps, tracks: [] };
  if (mode === "empty") return doc;
  const cycle = [2, 3, 3, 3, 4, 4, 4, 4, 4, 5, 5, 6, 6, 7, 7, 7, 8];
  const at = (name, b) => {
    if (name === "device cpu") return mode === "bad" && b >= (t - 22830) / 200 && b < (t - 21000) / 200 ? 0 : cycle[b % 17];
    if (name.startsWith("worker")) return (b + 3) % 17 === 16 ? 0 : (b + 3) % 17 === 15 ? -1 : cycle[b % 17];
    if (name === "synthesis 0") return b % 23 < 9 ? 1 : b % 23 < 12 ? 11 : 0;
    if (name === "finish 0") return mode === "bad" && b % 60 > 57 ? -1 : b % 17 < 2 ? 9 : b % 17 === 3 ? 10 : 0;
    if (name === "keys") return b % 300 < 40 ? 13 : 0;
    return name === "http net" && b % 5 === 0 ? 12 : 0;
  };
  for (const name of ["device cpu", "worker 0", "worker 1", "worker 2", "worker 3", "synthesis 0", "finish 0", "keys", "http net", "result 0", "result 1"]) {
    const runs = [];
    for (let b = first; b <= last; b++) {
      const step = at(name, b), works = step > 0 && step < 11, r = runs[runs.length - 1];
      if (r !== undefined && r[2] === step) r[1]++;
      else runs.push([b - first, 1, step, works ? "porep-1000-42" : null, works ? Math.floor(b / 17) % 10 : -1]);
    }
    doc.tracks.push({ name, runs });
  }
  return doc;
}

function pastJobs() {
  if (mode === "empty") return { jobs: [] };
  const list = [];
  for (let i = 0; i < 14; i++) {
    const p = plan[i % plan.length], failed = mode === "bad" && i % 5 === 1;
    list.push({ job_id: `${p.id}-${100 - i}`, request_id: p.id, kind: p.kind, priority: p.priority, state: failed ? "failed" : i === 7 ? "cancelled" : "completed", created_at: Date.now() / 1000 - i * 47 - 60, ended_at: Date.now() / 1000 - i * 47 - 4, total_partitions: p.n, partitions_done: failed ? 5 : p.n, total_ms: Math.round((p.synth + p.prove * p.n) * 1000), error: failed ? { class: "unsatisfied", where: "row 1204", message: "a*b = c does not hold" } : null });
  }
  return { jobs: list };
}

/* ---- server ---- */

function send(r, code, type, body) {
  r.writeHead(code, { "Content-Type": type, "Cache-Control": "no-store", "Content-Security-Policy": policy });
  r.end(body);
}

const json = (r, doc, code = 200) => send(r, code, "application/json", JSON.stringify(doc));

let seq = 0;
setInterval(() => {
  const list = jobs(), j = list[seq % Math.max(1, list.length)];
  for (const s of streams) s.write(j === undefined ? ": still here\n\n" : `data: ${JSON.stringify({ seq: ++seq, at_ms: now(), type: "partition", job_id: j.job_id, index: 0, state: "gpu" })}\n\n`);
}, 700);

const server = createServer((q, r) => {
  const u = new URL(q.url, "http://x"), path = u.pathname;
  if (q.method === "POST" && path === "/play") {
    mode = u.searchParams.get("mode") ?? mode;
    if (u.searchParams.has("locked")) locked = u.searchParams.get("locked") === "1";
    if (u.searchParams.has("restart")) {
      epoch = Date.now() - 2000;
      for (const s of streams) s.end();
    }
    return json(r, { mode });
  }
  if (locked && path !== "/" && !path.startsWith("/panel") && q.headers.authorization !== "Bearer secret")
    return json(r, { error: { class: "", where: "authorization", message: "a bearer token is needed" } }, 401);
  const stop = /^\/v1\/jobs\/(.*)\/cancel$/.exec(path);
  if (q.method === "POST" && stop !== null) {
    cancelled.set(decodeURIComponent(stop[1]), now());
    return json(r, { job_id: decodeURIComponent(stop[1]), was_running: true });
  }
  if (path === "/status") return json(r, status());
  if (path === "/timeline") return json(r, timeline(Number(u.searchParams.get("since") ?? 0)));
  if (path === "/jobs") return json(r, pastJobs());
  if (path === "/events") {
    r.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
    r.write(": here\n\n");
    streams.add(r);
    return r.on("close", () => streams.delete(r));
  }
  const file = path === "/" ? "panel.html" : path.slice(1);
  if (!/^panel[a-z-]*\.(html|css|js|svg)$/.test(file)) return json(r, { error: { class: "", where: "path", message: "nothing is here" } }, 404);
  try {
    return send(r, 200, types[file.split(".").pop()], readFileSync(join(dir, file)));
  } catch {
    return json(r, { error: { class: "", where: "path", message: "nothing is here" } }, 404);
  }
});
server.listen(Number(port), "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
