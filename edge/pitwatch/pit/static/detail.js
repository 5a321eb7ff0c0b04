// One finding in full, and what may be done with it: confirm, dismiss, note, assign, open again.
import { h, icon, setText, toast } from "./dom.js";
import { playClip } from "./clip.js";
import { ask, enlarge, facts, pictures, rule, severityTag, stateTag, tableLink, when } from "./parts.js";
import { go, href } from "./router.js";
import { dayAndTime, kindName, number, percent, seatName, titleOf } from "./words.js";

const WHAT = { note: "Note", confirmed: "Confirmed", dismissed: "Dismissed", open: "Opened again", assigned: "Assigned", held: "Legal hold" };
const thread = (what) => WHAT[what] ?? kindName(what ?? "");

export class Detail {
  /** hooks: after(finding, words) once judged; close(); beside(by); place(finding) -> { bundle, index } or null. */
  constructor(root, app, ending, hooks) {
    Object.assign(this, { root, app, ending, hooks, finding: null, busy: false });
  }

  clear(words) {
    this.finding = null;
    this.root.replaceChildren(words ? h("p", { class: "empty" }, words) : "");
  }

  /** Show what the list knows at once, then everything that the server knows. */
  async show(finding, id) {
    this.finding = finding;
    if (finding) this.draw();
    else this.root.replaceChildren(h("p", { class: "loading" }, "Loading …"));
    try {
      const full = await this.app.api.finding(id, this.ending);
      if (finding && this.finding?.id !== id) return;
      this.finding = full;
      this.draw();
    } catch (e) {
      if (e.name === "AbortError" || e.status === 401) return;
      if (!this.finding) this.root.replaceChildren(h("div", { class: "empty", role: "alert" }, icon("alert"), h("b", null, e.status === 404 ? "There is no such finding." : e.message)));
      else toast(e.message, { kind: "bad" });
    }
  }

  /** Somebody else changed it. */
  changed(f) {
    if (this.finding?.id !== f.id || (f.version ?? 0) <= (this.finding.version ?? 0)) return;
    this.finding = { ...this.finding, ...f };
    this.refresh();
  }

  /** A picture has come that was not here when it was looked for. */
  picture(p) {
    if (this.finding?.clip?.ref === p.ref && !p.gone) this.finding.clip.here = true;
    if (this.finding?.pictures?.some((x) => x.ref === p.ref) && this.root.querySelector(".pictures .missing")) this.draw();
  }

  refresh() { return this.finding ? this.show(this.finding, this.finding.id) : undefined; }

  place() {
    if (this.finding && this.where) this._where();
  }
  _where() {
    const at = this.hooks.place(this.finding);
    setText(this.where, at && at.bundle.findings.length > 1 ? `${at.index + 1} of ${at.bundle.findings.length} in this round` : "");
  }

  draw() {
    const f = this.finding, may = this.app.may("supervisor"), open = f.status === "open";
    // a redraw by somebody else's change must not take the focus from the buttons
    const held = this.root.contains(document.activeElement) ? document.activeElement.dataset?.do : null;
    this.where = h("span", { class: "soft small" });
    const button = (name, sign, words, key, kind = "") =>
      h("button", { type: "button", class: kind || null, data: { do: name }, disabled: !may, on: { click: () => this[name]() } }, icon(sign), h("span", null, words), h("kbd", { class: "only-wide", "aria-hidden": "true" }, key));
    this.root.replaceChildren(
      h("div", { class: "judge-head row" }, h("button", { type: "button", class: "plain square back", "aria-label": "Back to the list", on: { click: () => this.hooks.close() } }, icon("back")),
        severityTag(f.severity), !open && stateTag(f.status), h("span", { class: "row small" }, tableLink(f.table), f.round_id ? h("a", { href: href(["round", f.round_id]) }, `Round ${f.round ?? "?"}`) : f.round != null && `Round ${f.round}`, when(f.at, true)),
        h("span", { class: "spread" }, this.where)),
      h("div", { class: "judge-body" },
        h("div", null, h("p", { class: "eyebrow" }, `${seatName(f.seat, f.hand)} · ${titleOf(f)}`), h("h2", { class: "sentence" }, f.text)),
        facts(f), pictures(f),
        f.clip && h("p", { class: "row" }, h("button", { type: "button", data: { do: "clip" }, on: { click: () => this.clip() } }, icon("film"), h("span", null, "Play the clip"), h("kbd", { class: "only-wide", "aria-hidden": "true" }, "v")), !f.clip.here && h("span", { class: "soft small" }, "It is fetched from the table.")),
        rule(f), this._trust(), this._history()),
      h("div", { class: "judge-actions row", role: "group", "aria-label": "Judge this finding" },
        open ? [button("confirm", "check", "Confirm", "c", "primary"), button("dismiss", "cross", "Dismiss", "d", "danger")] : button("reopen", "undo", "Open again", "u"),
        button("note", "note", "Note", "n"), button("assign", "person", f.assigned?.id === this.app.user.id ? "Give back" : "Take", "a"),
        f.round_id && h("a", { class: "button plain spread", href: href(["round", f.round_id]) }, icon("rounds"), h("span", null, "Round"), h("kbd", { class: "only-wide", "aria-hidden": "true" }, "o")),
        !may && h("p", { class: "hint" }, "A supervisor judges findings.")));
    this._where();
    if (held) (this.root.querySelector(`[data-do="${held}"]`) ?? this.root).focus({ preventScroll: true });
  }

  /** How often this kind was right, and what helps to find the moment elsewhere. */
  _trust() {
    const f = this.finding, judged = h("li", { class: "soft" }, "…");
    const line = (p, words) => [h("b", { class: "num" }, percent(p.precision)), ` right of ${number(p.confirmed + p.dismissed)} judged ${words}`];
    Promise.all([this.app.api.precision({ by: "kind", kind: f.kind }), this.app.api.precision({ by: "kind_table", kind: f.kind, table: f.table.id })]).then(([kind, table]) => {
      const [k, t] = [kind[0], table[0]];
      judged.className = "";
      judged.replaceChildren(...(k?.precision == null ? ["None of this kind has been judged yet"] : [...line(k, "of this kind"), ...(t?.precision == null ? [] : [", here ", ...line(t, "")])]));
    }).catch(() => judged.remove());
    return h("ul", { class: "trust small" }, judged,
      f.confidence != null && f.confidence < 1 && h("li", null, h("b", { class: "num" }, percent(f.confidence, 1)), " sure of what was read"),
      f.dealer && h("li", null, "Dealer ", h("b", null, f.dealer.name)),
      f.recorder_at && h("li", { class: "num" }, "Recorder ", h("b", null, dayAndTime(f.recorder_at))),
      this.app.may("supervisor") && f.status !== "open" && h("li", null, h("a", { href: this.app.api.caseUrl(f.id), download: "" }, "As a test case")));
  }

  _history() {
    const f = this.finding;
    const items = f.thread ?? [];
    return h("section", { class: "history", "aria-label": "What was done" },
      f.assigned && h("p", { class: "row small" }, icon("person"), `Assigned to ${f.assigned.name}`),
      items.length ? h("ol", null, items.map((x) => h("li", null, h("span", { class: "small soft" }, when(x.at, true), ` · ${x.by?.name ?? x.by ?? ""}`), h("span", null, h("b", null, thread(x.what)), x.text && `: ${x.text}`)))) : null);
  }

  async _do(words, work) {
    if (this.busy || !this.app.may("supervisor")) return undefined;
    this.busy = true;
    const before = this.finding;
    try {
      const after = { ...before, ...(await work(before)) };
      if (this.finding?.id === before.id) this.finding = after;
      return { before, after };
    } catch (e) {
      if (e.status !== 401) toast(`${words}: ${e.message}`, { kind: "bad" });
      if (e.status === 409) this.refresh();
      return undefined;
    } finally {
      this.busy = false;
    }
  }

  async _judge(words, work) {
    const done = await this._do(words, work);
    if (!done) return;
    const { after } = done;
    toast(`${words}: ${titleOf(after)} at ${after.table.name}.`, {
      action: ["Undo", async () => {
        try {
          this.hooks.after({ ...after, ...(await this.app.api.verdict(after.id, { verdict: "open" })) }, "Open again.");
        } catch (e) {
          toast(e.message, { kind: "bad" });
        }
      }],
    });
    this.hooks.after(after, `${words}.`);
  }

  confirm() {
    if (this.finding.status !== "open") return undefined;
    return this._judge("Confirmed", (f) => this.app.api.verdict(f.id, { verdict: "confirmed", version: f.version }));
  }

  async dismiss() {
    if (this.finding.status !== "open" || !this.app.may("supervisor")) return;
    const reasons = await this.app.api.reasons();
    const given = await ask({
      title: "Why is it dismissed?", action: "Dismiss", danger: true,
      fields: [
        h("div", { class: "choices", role: "radiogroup", "aria-labelledby": "ask-title" }, reasons.map(({ id: value, text: words }, i) =>
          h("label", { class: "choice" }, h("input", { type: "radio", name: "reason", value, autofocus: i === 0 }), h("span", null, words), h("kbd", { "aria-hidden": "true" }, String(i + 1))))),
        h("label", { class: "field" }, "In your words (needed for another reason)", h("input", { name: "text", maxlength: 500, autocomplete: "off" }))],
      check: (v) => (!v.reason ? "Choose a reason." : v.reason === "other" && !v.text.trim() ? "Write the reason in your words." : ""),
    });
    if (given) await this._judge("Dismissed", (f) => this.app.api.verdict(f.id, { verdict: "dismissed", reason: given.reason, ...(given.text.trim() ? { note: given.text.trim() } : {}), version: f.version }));
  }

  async reopen() {
    if (this.finding.status === "open") return;
    const done = await this._do("Opening it again", (f) => this.app.api.verdict(f.id, { verdict: "open", version: f.version }));
    if (done) this.hooks.after(done.after, "Open again.");
  }

  async note() {
    if (!this.app.may("supervisor")) return;
    const given = await ask({
      title: "Note", action: "Save the note",
      fields: h("label", { class: "field" }, "What should the next reader know?", h("textarea", { name: "text", maxlength: 2000, autofocus: true })),
      check: (v) => (v.text.trim() ? "" : "Write something first."),
    });
    if (!given) return;
    const done = await this._do("The note", (f) => this.app.api.note(f.id, given.text.trim()));
    if (done) {
      toast("The note is saved.");
      await this.refresh();
    }
  }

  async assign() {
    const mine = this.finding.assigned?.id === this.app.user.id;
    const done = await this._do("Assigning", (f) => this.app.api.assign(f.id, mine ? null : this.app.user.id));
    if (!done) return;
    toast(mine ? "Given back." : "It is yours.");
    await this.refresh();
  }

  async assignTo() {
    if (!this.app.may("supervisor")) return;
    const people = await this.app.api.people();
    const given = await ask({
      title: "Assign to", action: "Assign",
      fields: h("label", { class: "field" }, "Who", h("select", { name: "who", autofocus: true }, h("option", { value: "" }, "Nobody"),
        people.map((p) => h("option", { value: p.id, selected: this.finding.assigned?.id === p.id }, `${p.name} (${p.role})`)))),
    });
    if (!given) return;
    const done = await this._do("Assigning", (f) => this.app.api.assign(f.id, given.who ? Number(given.who) : null));
    if (done) await this.refresh();
  }

  clip() {
    return this.finding.clip ? playClip(this.finding, this.app.live) : false;
  }

  enlarge() {
    if (!this.finding.pictures?.length) return false;
    return enlarge(this.finding, this.finding.pictures);
  }

  openRound() {
    if (!this.finding.round_id) return toast("The round is not finished yet.");
    return go(["round", this.finding.round_id]);
  }
}

// a reason by its number
document.addEventListener("keydown", (e) => {
  const dialog = document.querySelector("dialog.ask[open]");
  if (!dialog || e.target.matches?.("input:not([type=radio]), textarea, select") || !/^[1-9]$/.test(e.key)) return;
  const radio = dialog.querySelectorAll("input[type=radio]")[Number(e.key) - 1];
  if (radio) {
    radio.checked = true;
    radio.focus();
    e.preventDefault();
  }
});
