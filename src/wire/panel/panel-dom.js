// wire/panel/panel-dom.js - small tools: elements, lists kept by key, numbers as people read them
// SPDX-License-Identifier: MIT OR Apache-2.0

export const $ = (id) => document.getElementById(id);

/** An element; props that are no properties become attributes, null leaves one away. Children: nodes or text. */
export function el(tag, props = {}, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(props)) {
    if (v === null || v === undefined || v === false) continue;
    if (k === "text") e.textContent = v;
    else if (k === "class") e.className = v;
    else e.setAttribute(k, v === true ? "" : v);
  }
  e.append(...children.filter((c) => c !== null && c !== undefined));
  return e;
}

export function text(node, value) {
  if (node.textContent !== value) node.textContent = value;
}

export function attr(node, name, value) {
  if (value === null || value === undefined || value === false) node.removeAttribute(name);
  else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

/** Makes parent's children follow items. A child stays the same node as long as its key does, and the focus stays with it. */
export function keyed(parent, items, key, make, update) {
  const old = parent.nodesByKey ?? new Map();
  const focused = parent.contains(document.activeElement) ? document.activeElement : null;
  const now = new Map();
  let at = parent.firstElementChild;
  for (const item of items) {
    const k = key(item);
    if (now.has(k)) continue;
    const node = old.get(k) ?? make(item);
    now.set(k, node);
    update?.(node, item);
    if (node === at) at = at.nextElementSibling;
    else parent.insertBefore(node, at);
  }
  for (const [k, node] of old) if (!now.has(k)) node.remove();
  parent.nodesByKey = now;
  if (focused === null || focused === document.activeElement) return;
  if (focused.isConnected) focused.focus({ preventScroll: true }); // its row has moved
  else parent.closest("[tabindex]")?.focus({ preventScroll: true });
}

const two = (n) => String(n).padStart(2, "0");

/** 41 ms, 3.42 s, 4 m 05 s, 2 h 07 m, 3 d 4 h */
export function ms(n) {
  if (n === null || n === undefined) return "–";
  if (n < 1) return "0 ms";
  if (n < 1000) return `${Math.round(n)} ms`;
  if (n < 10000) return `${(n / 1000).toFixed(2)} s`;
  if (n < 60000) return `${(n / 1000).toFixed(1)} s`;
  const s = Math.floor(n / 1000);
  if (s < 3600) return `${Math.floor(s / 60)} m ${two(s % 60)} s`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${two(Math.floor(s / 60) % 60)} m`;
  return `${Math.floor(s / 86400)} d ${Math.floor(s / 3600) % 24} h`;
}

export function ago(n) {
  if (n < 1000) return "now";
  if (n < 60000) return `${Math.floor(n / 1000)} s`;
  if (n < 3600000) return `${Math.floor(n / 60000)} m`;
  if (n < 86400000) return `${Math.floor(n / 3600000)} h`;
  return `${Math.floor(n / 86400000)} d`;
}

export function bytes(n) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let i = 0;
  while (n >= 1024 && i < units.length - 1) {
    n /= 1024;
    i++;
  }
  return `${i === 0 ? n : n.toFixed(n < 10 ? 2 : n < 100 ? 1 : 0)} ${units[i]}`;
}

export const count = (n) => (n ?? 0).toLocaleString("en");
export const percent = (n) => (n >= 99.95 ? "100" : n.toFixed(n < 99 ? 0 : 1));

const kinds = {
  "porep-c2": "PoRep",
  "snap-update": "SnapDeals",
  "window-post": "WindowPoSt",
  "winning-post": "WinningPoSt",
  groth16: "Circuit",
  aggregate: "Aggregate",
};
export const kind = (k) => kinds[k] ?? k ?? "?";

const states = {
  pending: "waits",
  synthesizing: "in synthesis",
  synth_done: "ready for the device",
  gpu: "on the device",
  done: "done",
  failed: "failed",
};
export const partState = (s) => states[s] ?? s;

/** One box that shows the data-tip of what the pointer or the focus is on. */
export function tips(box) {
  let owner = null;
  const place = () => {
    if (owner === null || !owner.isConnected) {
      box.hidden = true;
      owner = null;
      return;
    }
    text(box, owner.dataset.tip);
    box.hidden = false;
    const o = owner.getBoundingClientRect(), b = box.getBoundingClientRect();
    const x = Math.max(6, Math.min(innerWidth - b.width - 6, o.left + o.width / 2 - b.width / 2));
    const above = o.top - b.height - 8;
    box.style.left = `${x}px`;
    box.style.top = `${above < 6 ? o.bottom + 8 : above}px`;
  };
  const show = (e) => {
    owner = e.target.closest?.("[data-tip]") ?? null;
    place();
  };
  document.addEventListener("pointerover", show);
  document.addEventListener("focusin", show);
  document.addEventListener("focusout", () => { owner = null; place(); });
  document.addEventListener("scroll", () => { owner = null; place(); }, { passive: true, capture: true });
  document.addEventListener("keydown", (e) => { if (e.key === "Escape") { owner = null; place(); } });
  return place; // call after a refresh: the text may have changed
}
