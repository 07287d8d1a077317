// wire/panel/panel-timeline.js - what each worker and device did, drawn in steps of 0.2 s, and the same as a table
// SPDX-License-Identifier: MIT OR Apache-2.0

import { $, el, keyed, ms, text } from "./panel-dom.js";

const KEEP_BINS = 3000; // ten minutes
const ROW = 22, BAR = 16, AXIS = 20;

/** What a step is about: its colour. */
const groups = {
  idle: "idle",
  synth: "synthesis, decoding",
  ntt: "transforms",
  msm: "multi-scalar sums",
  check: "assembling, verifying",
  io: "files, network, store",
  wait: "waits",
  other: "other work",
  gap: "gap: accounted by nothing",
};
const groupOf = (step) => {
  if (step === "idle" || step === "gpu idle: no work") return "idle";
  if (step.startsWith("gpu idle: ")) return "wait";
  if (["gpu: copy in", "gpu: copy out"].includes(step)) return "io";
  if (["gpu: a b c", "gpu: transform", "gpu: quotient"].includes(step)) return "ntt";
  if (step.startsWith("gpu: ")) return "msm";
  if (step.startsWith("wait ") || step === "stand aside" || step === "witness command" || step === "admit") return "wait";
  if (step.startsWith("msm ")) return "msm";
  if (["ntt", "quotient", "evaluate a b c", "field products"].includes(step)) return "ntt";
  if (["synthesise witness", "build circuit shape", "check vanilla proof", "check constraints", "decode request"].includes(step)) return "synth";
  if (["assemble proof", "pairing", "encode result"].includes(step)) return "check";
  if (/^(read|write|receive|send|store) /.test(step)) return "io";
  return "other";
};

const known = new Map(); // one object a step, whichever document it came in

function stepOf(name) {
  if (!known.has(name)) known.set(name, { name, group: groupOf(name) });
  return known.get(name);
}

const gap = { name: "gap", group: "gap" }, noTask = { name: "no task", group: "idle" };

/** Threads of the pool record tasks alone: between them there is none. Whoever gave them the task accounts for his wait. */
const isPool = (name) => /^worker \d+$/.test(name);
const isIdleGap = (g) => isDevice(g.track) && /idle/.test(g.cause ?? g.between);
const isDevice = (name) => /^(device|cuda|gpu)/.test(name);

export class Timeline {
  constructor() {
    this.tracks = new Map(); // name -> runs [{from, to, step, job, part}] in absolute bins, ascending
    this.step = 200;
    this.now = 0;
    this.range = 180;
    this.gaps = [];
    this.cursor = null;
    this.canvas = $("timeline");
    this.colours = {};
    this.rows = [];
    const redraw = () => { this.readColours(); this.draw(); };
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
    new ResizeObserver(() => this.draw()).observe(this.canvas.parentElement);
    this.quietToo = false;
    $("quiet").addEventListener("change", (e) => { this.quietToo = e.target.checked; this.cursor = null; this.show(); });
    $("range").addEventListener("change", (e) => { this.range = Number(e.target.value); this.cursor = null; this.show(); });
    this.canvas.addEventListener("pointermove", (e) => this.point(e));
    this.canvas.addEventListener("pointerdown", (e) => this.point(e));
    this.canvas.addEventListener("pointerleave", () => { this.cursor = null; this.draw(); });
    this.canvas.addEventListener("keydown", (e) => this.key(e));
    this.readColours();
    keyed($("timeline-legend"), Object.entries(groups), (g) => g[0], (g) => el("li", {}, el("i", { "data-k": g[0] }), g[1]));
  }

  readColours() {
    const style = getComputedStyle(document.documentElement);
    for (const g of Object.keys(groups)) this.colours[g] = style.getPropertyValue(`--c-${g}`);
    for (const n of ["text", "mute", "line", "card", "soft"]) this.colours[n] = style.getPropertyValue(`--${n}`);
  }

  reset() {
    this.tracks.clear();
    this.now = 0;
  }

  /** Milliseconds of the daemon's clock from which the next document is wanted. Long steps end late, hence all of it at times. */
  since(whole) {
    if (whole || this.now === 0) return Math.max(0, this.now - KEEP_BINS * this.step);
    return Math.max(0, Math.floor((this.now - 10000) / this.step) * this.step);
  }

  add(doc) {
    const base = Math.round(doc.from_ms / doc.step_ms);
    this.step = doc.step_ms;
    this.now = doc.now_ms;
    const kinds = doc.steps.map(stepOf);
    const oldest = Math.floor(this.now / this.step) - KEEP_BINS;
    for (const runs of this.tracks.values()) {
      while (runs.length > 0 && runs[runs.length - 1].from >= base) runs.pop();
      const last = runs[runs.length - 1];
      if (last !== undefined && last.to > base) last.to = base;
      let n = 0;
      while (n < runs.length && runs[n].to < oldest) n++;
      runs.splice(0, n);
    }
    for (const t of doc.tracks) {
      if (!this.tracks.has(t.name)) this.tracks.set(t.name, []);
      const runs = this.tracks.get(t.name);
      for (const [first, n, step, job, part] of t.runs)
        runs.push({ from: base + first, to: base + first + n, step: step < 0 ? (isPool(t.name) ? noTask : gap) : kinds[step], job, part });
    }
    for (const [name, runs] of this.tracks) if (runs.length === 0) this.tracks.delete(name);
    this.show();
  }

  /** Devices first, then whoever works. */
  order() {
    const rank = (n) => (isDevice(n) ? 0 : /^worker/.test(n) ? 1 : /^http|^grpc|^rpc/.test(n) ? 3 : 2);
    return [...this.tracks.keys()].sort((a, b) => rank(a) - rank(b) || a.localeCompare(b, "en", { numeric: true }));
  }

  window() {
    const to = this.now / this.step;
    return { from: Math.max(0, to - (this.range * 1000) / this.step), to };
  }

  /** It did nothing in the window but wait to be asked. */
  isQuiet(name) {
    const w = this.window();
    return this.tracks.get(name).every((r) => r.to <= w.from || r.from >= w.to || r.step.group === "idle" || r.step.name === "wait for client");
  }

  /** Sums over the window: step -> bins, and what of it was not idle. */
  sums(name) {
    const w = this.window(), sum = new Map();
    let all = 0, busy = 0;
    for (const r of this.tracks.get(name)) {
      const n = Math.min(r.to, w.to) - Math.max(r.from, w.from);
      if (n <= 0) continue;
      sum.set(r.step, (sum.get(r.step) ?? 0) + n);
      all += n;
      if (r.step.group !== "idle" && r.step.group !== "wait" && r.step.group !== "gap") busy += n;
    }
    return { sum, all, busy };
  }

  show() {
    const all = this.order(), quiet = all.filter((n) => !isDevice(n) && this.isQuiet(n));
    this.rows = this.quietToo || quiet.length === all.length ? all : all.filter((n) => !quiet.includes(n));
    $("quiet-tracks").hidden = quiet.length === 0;
    text($("quiet-count"), quiet.length === 1 ? "one more that was idle" : `${quiet.length} more that were idle`);
    $("timeline-empty").hidden = this.rows.length > 0;
    document.querySelector(".tracks").hidden = this.rows.length === 0;
    const sums = new Map(this.rows.map((n) => [n, this.sums(n)]));
    keyed($("track-names"), this.rows, (n) => n, (n) => el("li", {}, el("b", { text: n, title: n }), el("small")), (li, n) => {
      const s = sums.get(n);
      text(li.lastChild, s.all === 0 ? "" : `${Math.round((100 * s.busy) / s.all)} %`);
    });
    this.table(sums);
    this.draw();
  }

  table(sums) {
    if (!$("timeline-head").closest("details").open) return;
    const used = Object.keys(groups).filter((g) => [...sums.values()].some((s) => [...s.sum.keys()].some((k) => k.group === g)));
    const head = el("tr", {}, el("th", { scope: "col", text: "Track" }));
    for (const g of used) head.append(el("th", { scope: "col", class: "num", text: groups[g].replace(/:.*/, "") }));
    head.append(el("th", { scope: "col", text: "Most of it" }));
    $("timeline-head").replaceChildren(head);
    $("timeline-rows").replaceChildren(...this.rows.map((n) => {
      const s = sums.get(n), byGroup = {};
      for (const [step, bins] of s.sum) byGroup[step.group] = (byGroup[step.group] ?? 0) + bins;
      const top = [...s.sum].filter(([k]) => k.group !== "idle").sort((a, b) => b[1] - a[1]).slice(0, 3);
      const row = el("tr", {}, el("th", { scope: "row", text: n }));
      for (const g of used) row.append(el("td", { class: "num", text: byGroup[g] ? ms(byGroup[g] * this.step) : "–" }));
      row.append(el("td", { text: top.map(([k, b]) => `${k.name} ${ms(b * this.step)}`).join(", ") || "–" }));
      return row;
    }));
  }

  draw() {
    const c = this.canvas, width = c.parentElement.clientWidth, height = this.rows.length * ROW + AXIS;
    if (width === 0 || this.rows.length === 0) return;
    const scale = devicePixelRatio || 1;
    if (c.width !== Math.round(width * scale) || c.height !== Math.round(height * scale)) {
      c.width = Math.round(width * scale);
      c.height = Math.round(height * scale);
      c.style.height = `${height}px`;
    }
    const g = c.getContext("2d"), w = this.window();
    const x = (bin) => ((bin - w.to) / ((this.range * 1000) / this.step)) * width + width;
    g.setTransform(scale, 0, 0, scale, 0, 0);
    g.clearRect(0, 0, width, height);
    this.rows.forEach((name, i) => this.drawRow(g, x, w, name, i * ROW + (ROW - BAR) / 2, width));
    this.drawAxis(g, width, this.rows.length * ROW);
    if (this.cursor !== null) {
      g.fillStyle = this.colours.text;
      g.fillRect(Math.round(x(this.cursor.bin + 0.5)), 0, 1, this.rows.length * ROW);
      g.strokeStyle = this.colours.text;
      g.strokeRect(0.5, this.cursor.row * ROW + 1.5, width - 1, ROW - 3);
    }
    const gaps = this.rows.reduce((n, r) => n + this.tracks.get(r).filter((k) => k.step.group === "gap" && k.to > w.from).length, 0);
    c.setAttribute("aria-label", `Timeline of ${this.rows.length} tracks over the last ${this.range / 60} minutes, ${gaps} gaps. The table below has the numbers.`);
  }

  drawRow(g, x, w, name, y, width) {
    g.fillStyle = this.colours.soft;
    g.fillRect(0, y, width, BAR);
    for (const r of this.tracks.get(name)) {
      if (r.to <= w.from || r.from >= w.to) continue;
      const x0 = Math.max(0, x(r.from)), x1 = Math.min(width, x(r.to)), n = Math.max(x1 - x0, 0.6);
      const group = r.step.group;
      g.fillStyle = this.colours[group];
      if (group === "idle") g.fillRect(x0, y + BAR / 2 - 1.5, n, 3);
      else if (group === "wait") g.fillRect(x0, y + BAR / 2 - 4, n, 8);
      else g.fillRect(x0, y, n, BAR);
      if (group === "gap") { // a notch above, so that colour is not all that tells
        g.beginPath();
        g.moveTo(x0 + n / 2 - 3, y - 3);
        g.lineTo(x0 + n / 2 + 3, y - 3);
        g.lineTo(x0 + n / 2, y + 1);
        g.fill();
      } else if (n > 6 && group !== "idle" && group !== "wait") { // neighbours of one colour stay apart
        g.fillStyle = this.colours.card;
        g.fillRect(x1 - 0.75, y, 0.75, BAR);
      }
    }
    if (name !== this.rows[0] || !isDevice(name)) return;
    for (const gap of this.gaps) { // a device that was idle while work waited: a line below, its cause at the cursor
      if (!isIdleGap(gap)) continue;
      const x0 = x((gap.at_ms - gap.ms) / this.step), x1 = x(gap.at_ms / this.step);
      if (x1 < 0) continue;
      g.fillStyle = this.colours.gap;
      g.fillRect(Math.max(0, x0), y + BAR + 1, Math.max(2, x1 - Math.max(0, x0)), 2);
    }
  }

  drawAxis(g, width, y) {
    const step = this.range <= 60 ? 10 : this.range <= 180 ? 30 : 60;
    g.fillStyle = this.colours.mute;
    g.font = "11px ui-sans-serif, system-ui, sans-serif";
    g.textBaseline = "top";
    const room = width < 420 ? 2 : 1;
    for (let s = 0; s <= this.range; s += step * room) {
      const px = width - (s / this.range) * width;
      g.fillStyle = this.colours.line;
      g.fillRect(Math.round(px) - (s === 0 ? 1 : 0), 0, 1, y + 4);
      g.fillStyle = this.colours.mute;
      g.textAlign = s === 0 ? "right" : s === this.range ? "left" : "center";
      g.fillText(s === 0 ? "now" : s < 60 ? `−${s} s` : s % 60 === 0 ? `−${s / 60} m` : `−${Math.floor(s / 60)} m ${s % 60} s`, px, y + 7);
    }
  }

  point(e) {
    const box = this.canvas.getBoundingClientRect(), w = this.window();
    const bins = (this.range * 1000) / this.step;
    const row = Math.floor((e.clientY - box.top) / ROW), bin = Math.floor(w.to - bins + ((e.clientX - box.left) / box.width) * bins);
    this.cursor = row >= 0 && row < this.rows.length ? { row, bin } : null;
    this.say();
    this.draw();
  }

  key(e) {
    const by = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], Home: [0, -1e9], End: [0, 1e9] }[e.key];
    if (by === undefined || this.rows.length === 0) return;
    e.preventDefault();
    const w = this.window(), far = e.shiftKey ? 25 : 1;
    const c = this.cursor ?? { row: 0, bin: Math.floor(w.to) - 1 };
    this.cursor = {
      row: Math.min(this.rows.length - 1, Math.max(0, c.row + by[0])),
      bin: Math.min(Math.floor(w.to), Math.max(Math.ceil(w.from), c.bin + by[1] * far)),
    };
    this.say();
    this.draw();
  }

  say() {
    if (this.cursor === null) return;
    const name = this.rows[this.cursor.row], bin = this.cursor.bin;
    const r = this.tracks.get(name).find((k) => k.from <= bin && bin < k.to);
    const at = ms(this.now - bin * this.step);
    if (r === undefined) {
      text($("timeline-cursor"), `${name}, ${at} ago: nothing recorded`);
      return;
    }
    const job = r.job === null ? "" : `, ${r.job}${r.part >= 0 ? ` partition ${r.part}` : ""}`;
    const idle = this.gaps.find((g) => isDevice(name) && isIdleGap(g) && g.at_ms - g.ms <= (bin + 1) * this.step && bin * this.step <= g.at_ms);
    text($("timeline-cursor"), `${name}, ${at} ago: ${r.step.name} for ${ms((r.to - r.from) * this.step)}${job}${idle ? ` – ${idle.between}` : ""}`);
  }
}
