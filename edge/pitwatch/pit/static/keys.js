// Every action has a key. Keys work while no text is being typed; "?" shows them all.
import { h } from "./dom.js";

const groups = new Map(); // name -> [{ keys, words, run, when }]
let prefix = null, prefixTimer = 0;

/** Register a group of keys; returns what removes it. entries: { keys: ["j", "ArrowDown"], words, run }; "g f" is one after the other. */
export function bind(name, entries) {
  groups.set(name, entries);
  return () => { if (groups.get(name) === entries) groups.delete(name); };
}

const typing = (e) =>
  e.target.closest?.("input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]") != null;

export function listen() {
  document.addEventListener("keydown", (e) => {
    if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey) return;
    if (typing(e)) {
      if (e.key === "Escape") e.target.blur();
      return;
    }
    const open = document.querySelector("dialog[open]");
    // what a control does by itself stays its own
    if ((e.key === "Enter" || e.key === " ") && e.target.closest?.("a, button, summary, input, [role=option]")) return;
    const key = prefix ? `${prefix} ${e.key}` : e.key;
    clearTimeout(prefixTimer);
    prefix = null;
    for (const entries of [...groups.values()].reverse())
      for (const entry of entries) {
        if (Boolean(open) !== Boolean(entry.inDialog) || (open && !open.matches(entry.inDialog))) continue;
        if (entry.keys.includes(key) && entry.run(e) !== false) {
          e.preventDefault();
          return;
        }
      }
    if (!open && [...groups.values()].flat().some((x) => x.keys.some((k) => k.startsWith(`${key} `)))) {
      prefix = key;
      prefixTimer = setTimeout(() => { prefix = null; }, 2500);
    }
  });
}

const NAMES = { ArrowDown: "↓", ArrowUp: "↑", ArrowLeft: "←", ArrowRight: "→", " ": "Space", Escape: "Esc", Enter: "Enter" };
export const keyName = (key) => key.split(/ (?=.)/).map((k) => NAMES[k] ?? k);

/** The overlay with every key that works now. */
export function showHelp() {
  if (document.querySelector("dialog[open]")) return;
  const dialog = h("dialog", { class: "help", "aria-labelledby": "keys-title" }, h("h2", { id: "keys-title" }, "Keys"));
  const body = h("div", { class: "keys" });
  for (const [name, entries] of [...groups].reverse()) {
    const shown = entries.filter((x) => x.words);
    if (!shown.length) continue;
    const list = h("dl");
    for (const { keys, words } of shown)
      list.append(h("dt", null, keys.map((k, i) => [i ? " or " : "", k === " " ? h("kbd", null, "Space") : keyName(k).map((x) => h("kbd", null, x))])), h("dd", null, words));
    body.append(h("section", null, h("h3", null, name), list));
  }
  dialog.append(body, h("div", { class: "actions" },
    h("button", { type: "button", class: "primary", autofocus: true, on: { click: () => dialog.close() } }, "Close ", h("kbd", null, "Esc"))));
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", (e) => { if (e.target === dialog) dialog.close(); });
  document.body.append(dialog);
  dialog.showModal();
}
