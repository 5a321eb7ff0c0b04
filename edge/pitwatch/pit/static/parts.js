// Pieces that several views show: a finding's facts, its pictures, a picture enlarged, a reason asked for.
import { h, icon } from "./dom.js";
import { href } from "./router.js";
import { cardName, cardText, clock, dayAndTime, isRed, money } from "./words.js";

/** Expected or observed as people write it, in the server's words where it has some. */
export const said = (f, which) => (f[`${which}_text`] ?? "").replace(/^-/, "−") || amount(f.unit, f[which]);
const amount = (unit, value) =>
  value == null ? "" : typeof value !== "number" || !["net", "cents"].includes(unit) ? String(value) : money(value, { signed: unit === "net" });

const UNIT = { net: "player’s net", cents: "on the spot", total: "total" };

/** What should have happened beside what did. */
export function facts(f) {
  if (f.expected == null && f.observed == null && !f.expected_text && !f.observed_text) return null;
  const unit = UNIT[f.unit];
  const one = (name, kind, value) => h("div", { class: kind }, h("dt", null, name, unit && h("span", { class: "unit" }, unit)), h("dd", null, value));
  return h("dl", { class: "facts" }, said(f, "expected") && one("Should be", "should", said(f, "expected")), said(f, "observed") && one("Was", "was", said(f, "observed")),
    f.amount ? h("div", { class: "difference" }, h("dt", null, "In error", f.favours && h("span", { class: "unit" }, `for the ${f.favours}`)), h("dd", null, money(f.amount))) : null);
}

export const severityTag = (severity) =>
  severity === "alert" ? h("span", { class: "tag alert" }, icon("alert"), "Alert") : h("span", { class: "tag notice" }, "Notice");

const STATE = { open: ["Open", ""], confirmed: ["Confirmed", "good"], dismissed: ["Dismissed", ""] };
export const stateTag = (state) => h("span", { class: `tag ${STATE[state]?.[1] ?? ""}` }, STATE[state]?.[0] ?? state);

export function rule(f) {
  if (!f.sentence && !f.rule) return null;
  return h("blockquote", { class: "rule" }, f.sentence || "The rule book gives no sentence for this rule.", (f.rule || f.source) && h("cite", null, h("span", { class: "mono" }, f.rule), f.source && ` ${f.source}`));
}

const ROLE = { before: "Before", during: "During", after: "After" };
const ORDER = ["before", "during", "after"];

/** A finding's pictures; `during` only where there is no pair. Each opens enlarged, with the others beside it. */
export function pictures(f) {
  const all = [...(f.pictures ?? [])].sort((a, b) => ORDER.indexOf(a.role) - ORDER.indexOf(b.role));
  const pair = all.filter((p) => p.role !== "during");
  const shown = pair.length >= 2 ? pair : all;
  if (!shown.length) return h("p", { class: "no-pictures" }, icon("camera"), "No pictures came with this finding.");
  return h("div", { class: `pictures${shown.length === 1 ? " single" : ""}` }, shown.map((p) => {
    const picture = h("img", { src: p.url, alt: `${ROLE[p.role] ?? p.role}: ${f.text}`, loading: "lazy", decoding: "async" });
    const button = h("button", { type: "button", "aria-label": `${ROLE[p.role] ?? p.role}: enlarge the picture`, on: { click: () => enlarge(f, all, all.indexOf(p)) } },
      picture, h("span", null, ROLE[p.role] ?? p.role));
    picture.addEventListener("error", () => { button.classList.add("missing"); picture.remove(); button.prepend(h("span", { class: "gone" }, icon("camera"), "The picture has not arrived yet.")); }, { once: true });
    return button;
  }));
}

/** Pictures as large as the screen, one after the other with the arrow keys. */
export function enlarge(f, all, at = 0) {
  if (!all.length || document.querySelector("dialog[open]")) return;
  const image = h("img", { alt: "" }), caption = h("figcaption");
  const show = (i) => {
    at = (i + all.length) % all.length;
    image.src = all[at].url;
    image.alt = `${ROLE[all[at].role] ?? all[at].role}: ${f.text}`;
    caption.replaceChildren(h("b", null, ROLE[all[at].role] ?? all[at].role), ` ${at + 1} of ${all.length}. ${f.text}`);
  };
  const dialog = h("dialog", { class: "viewer", "aria-label": "Evidence pictures" },
    h("figure", null, image, caption),
    h("div", { class: "actions" },
      all.length > 1 && h("button", { type: "button", on: { click: () => show(at - 1) } }, icon("previous"), "Before ", h("kbd", null, "←")),
      all.length > 1 && h("button", { type: "button", on: { click: () => show(at + 1) } }, "Next ", h("kbd", null, "→"), icon("next")),
      h("button", { type: "button", class: "primary", autofocus: true, on: { click: () => dialog.close() } }, "Close ", h("kbd", null, "Esc"))));
  dialog.addEventListener("keydown", (e) => {
    if (e.key === "ArrowLeft") show(at - 1);
    else if (e.key === "ArrowRight") show(at + 1);
    else return;
    e.preventDefault();
  });
  dialog.addEventListener("click", (e) => { if (e.target === dialog) dialog.close(); });
  dialog.addEventListener("close", () => dialog.remove());
  show(at);
  document.body.append(dialog);
  dialog.showModal();
}

/** Cards as text, red ones red; names for screen readers. */
export const cardsText = (cards, down = "?") =>
  cards.length ? h("span", { class: "cards" }, cards.map((c, i) => [i ? " " : "", h("span", { class: isRed(c) ? "red-suit" : null, title: cardName(c) }, c ? cardText(c) : down)])) : "–";

export const tableLink = (table) => h("a", { href: href(["tables", table.id]), title: table.site }, table.name);
export const when = (at, long = false) => h("time", { datetime: at, title: dayAndTime(at) }, long ? dayAndTime(at) : clock(at));

/** A dialog with a form; resolves with its values, or null when it is closed. fields: elements with names. */
export function ask({ title, fields, action, danger = false, check = () => "" }) {
  return new Promise((resolve) => {
    const error = h("p", { class: "error", role: "alert", hidden: true });
    let values = null;
    const form = h("form", { method: "dialog", class: "stack" }, h("h2", { id: "ask-title" }, title), fields, error,
      h("div", { class: "actions" },
        h("button", { type: "button", on: { click: () => dialog.close() } }, "Cancel ", h("kbd", null, "Esc")),
        h("button", { type: "submit", class: danger ? "danger-solid" : "primary" }, action)));
    const dialog = h("dialog", { class: "ask", "aria-labelledby": "ask-title" }, form);
    form.addEventListener("submit", (e) => {
      const given = Object.fromEntries(new FormData(form));
      const wrong = check(given);
      if (wrong) {
        e.preventDefault();
        error.textContent = wrong;
        error.hidden = false;
      } else values = given;
    });
    form.addEventListener("keydown", (e) => {
      if (e.key === "Enter" && (e.target.tagName !== "TEXTAREA" || e.ctrlKey || e.metaKey) && e.target.tagName !== "BUTTON") {
        e.preventDefault();
        form.requestSubmit();
      }
    });
    const before = document.activeElement;
    dialog.addEventListener("close", () => {
      dialog.remove();
      before?.focus?.({ preventScroll: true });
      resolve(values);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
