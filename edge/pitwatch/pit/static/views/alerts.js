// The queue: what is open, bundled by round, and the one that is being judged beside it.
import { h, icon, keyed, say, setAttribute, setText, toast } from "../dom.js";
import { Detail } from "../detail.js";
import { bind } from "../keys.js";
import { Queue } from "../queue.js";
import { note } from "../router.js";
import { clock, count, day, isoDay, number, seatName, titleOf } from "../words.js";

const STATES = [["open", "Open"], ["confirmed", "Confirmed"], ["dismissed", "Dismissed"], ["", "All"]];
const idOf = (text) => (/^\d+$/.test(text ?? "") ? Number(text) : null);
const PAGE = 60;
const MOST = 600; // more than anybody judges at once; the rest is one button away

export async function mount(view, place, app, ending) {
  const queue = new Queue();
  let filter = read(place.query), chosen = idOf(place.parts[1]), total = { count: 0, more: false }, cursors = null, fresh = new Set();

  const states = h("div", { class: "segments", role: "group", "aria-label": "Which findings" }, STATES.map(([value, words]) =>
    h("button", { type: "button", data: { value }, on: { click: () => change({ status: value }) } }, words)));
  const alertsOnly = h("input", { type: "checkbox", on: { change: () => change({ severity: alertsOnly.checked ? "alert" : "" }) } });
  const mine = h("input", { type: "checkbox", on: { change: () => change({ assigned: mine.checked ? "me" : "" }) } });
  const tableChip = h("button", { type: "button", class: "chosen", hidden: true, on: { click: () => change({ table: "" }) } });
  const list = h("ol", { id: "queue", "aria-label": "Findings by round" });
  const more = h("button", { type: "button", hidden: true, on: { click: () => load(true) } }, "Load more");
  const amount = h("p", { class: "soft small num", role: "status" });
  const empty = h("div", { class: "empty", hidden: true });
  const right = h("section", { id: "judge", "aria-label": "The finding to judge", tabindex: "-1" });
  const page = h("div", { class: "alerts-page" },
    h("div", { class: "head" }, states,
      h("label", { class: "check" }, alertsOnly, "Alerts only"), h("label", { class: "check" }, mine, "Mine"), tableChip, h("div", { class: "spread" }, amount)),
    h("div", { class: "left" }, list, empty, more), right);
  view.classList.add("fills");
  view.replaceChildren(h("h1", { class: "unseen" }, "Alerts"), page);
  const detail = new Detail(right, app, ending, { after: judged, close: () => choose(null), beside: (by) => move(by), place: whereIn });

  function read(query) {
    return { status: query.get("state") === "all" ? "" : query.get("state") ?? "open", severity: query.get("severity") ?? "", assigned: query.get("assigned") ?? "", table: query.get("table") ?? "" };
  }
  const address = () => ["alerts", ...(chosen ? [chosen] : [])];
  const asQuery = () => ({ state: filter.status === "open" ? "" : filter.status || "all", severity: filter.severity, assigned: filter.assigned, table: filter.table });

  async function change(part) {
    filter = { ...filter, ...part };
    chosen = null;
    note(address(), asQuery());
    await load();
  }

  /** Alerts first, then notices, each from the newest: a flood of notices must not hide an alert. */
  async function load(further = false) {
    const wanted = filter.severity ? [filter.severity] : ["alert", "notice"];
    const asked = JSON.stringify(filter);
    const answers = await Promise.all(wanted.map((severity) => (further && !cursors[severity] ? null : app.api.findings({ ...filter, severity, cursor: further ? cursors[severity] : null, limit: PAGE }, ending))));
    if (JSON.stringify(filter) !== asked) return;
    if (!further) {
      queue.items.clear();
      total = { count: answers.reduce((n, a) => n + a.total.count, 0), more: answers.some((a) => a.total.more) };
      cursors = {};
    }
    answers.forEach((a, i) => {
      if (!a) return;
      cursors[wanted[i]] = a.next;
      a.items.forEach((f) => queue.put(f));
    });
    paint();
    more.hidden = !Object.values(cursors).some(Boolean) || queue.items.size >= MOST;
    if (!further) {
      const first = chosen && queue.items.get(chosen) ? null : queue.ordered()[0];
      if (chosen) await show(chosen);
      else if (first && matchMedia("(min-width: 62.01rem)").matches) await choose(first.id, { focus: false });
      else show(null);
    }
  }

  function paint() {
    for (const b of states.children) setAttribute(b, "aria-pressed", String(b.dataset.value === filter.status));
    alertsOnly.checked = filter.severity === "alert";
    mine.checked = filter.assigned === "me";
    tableChip.hidden = !filter.table;
    tableChip.replaceChildren(tableName(), icon("cross"), h("span", { class: "unseen" }, ": show all tables"));
    const bundles = queue.bundles();
    keyed(list, bundles, (b) => b.key, makeBundle, updateBundle);
    const all = `${total.more ? "more than " : ""}${number(total.count)} ${total.count === 1 && !total.more ? "finding" : "findings"}`;
    setText(amount, queue.items.size < total.count ? `${all}, ${number(queue.items.size)} shown` : `${all} in ${count(bundles.length, "round")}`);
    empty.hidden = bundles.length > 0;
    if (!bundles.length) empty.replaceChildren(icon("check"), h("b", null, filter.status === "open" ? "Nothing is open." : "No finding matches."),
      h("span", null, filter.status === "open" ? "New findings appear here by themselves." : "Other states and tables are one choice away above."));
    detail.place();
  }

  function makeBundle() {
    return h("li", { class: "bundle" }, h("p", { class: "bundle-head" }, h("b"), h("span"), h("span", { class: "spread num" })), h("ol", { role: "list" }));
  }
  function updateBundle(li, b) {
    const [head, inner] = li.children;
    li.className = `bundle ${b.severity}`;
    setText(head.children[0], b.table.name);
    setText(head.children[1], b.round != null ? `Round ${b.round}` : "");
    setText(head.children[2], `${isoDay(b.at) === isoDay(Date.now()) ? "" : `${day(b.at)}, `}${clock(b.at)}`);
    keyed(inner, b.findings, (f) => f.id,
      (f) => h("li", null, h("button", { type: "button", on: { click: () => choose(f.id) } }, h("span", { class: "sign" }, h("span", { class: "unseen" })), h("span", { class: "kind" }), h("span", { class: "soft seat" }), h("span", { class: "spread state small" }))),
      (item, f) => {
        const button = item.firstElementChild;
        button.className = `${f.severity} ${f.status}${fresh.has(f.id) ? " fresh" : ""}`;
        setAttribute(button, "aria-current", f.id === chosen ? "true" : null);
        setText(button.children[1], titleOf(f));
        setText(button.children[2], seatName(f.seat, f.hand));
        setText(button.children[3], f.status !== "open" ? f.status : f.assigned ? f.assigned.name : f.notes ? "noted" : "");
        setText(button.firstElementChild.firstElementChild, `${f.severity}, ${b.table.name}:`);
      });
  }

  function whereIn(f) {
    const bundle = queue.bundles().find((b) => b.findings.some((x) => x.id === f.id));
    return bundle ? { bundle, index: bundle.findings.findIndex((x) => x.id === f.id) } : null;
  }

  async function show(id) {
    page.classList.toggle("one", Boolean(id));
    if (!id) return detail.clear(queue.items.size ? "Choose a finding on the left." : "");
    return detail.show(queue.items.get(id) ?? null, id);
  }

  async function choose(id, { focus = true } = {}) {
    chosen = id;
    fresh.delete(id);
    note(address(), asQuery());
    paint();
    const current = list.querySelector("[aria-current]");
    current?.scrollIntoView({ block: "nearest" });
    if (focus) (current ?? list.querySelector("button"))?.focus({ preventScroll: true });
    await show(id);
    if (focus && id && page.clientWidth < 900) right.focus({ preventScroll: true });
  }

  function move(by) {
    const next = queue.beside(chosen, chosen ? by : 0);
    if (next && next.id !== chosen) choose(next.id);
  }

  /** A finding was judged here: keep it visible as judged for the undo, and go to the next one. */
  function judged(f, verdict) {
    const next = queue.nextOpen(f.id);
    if (!queue.items.has(f.id) && fits(f)) total.count += 1;
    queue.put(f);
    if (!fits(f)) forget(f.id);
    say(verdict);
    if (f.status === "open") return choose(f.id);
    return next ? choose(next.id) : filter.status ? choose(null) : paint();
  }

  const forget = (id) => { if (queue.items.delete(id)) total.count = Math.max(0, total.count - 1); };
  const tableName = () => [...queue.items.values()].find((f) => String(f.table.id) === filter.table)?.table.name ?? `Table ${filter.table}`;
  const fits = (f) => (!filter.status || f.status === filter.status) && (!filter.severity || f.severity === filter.severity)
    && (!filter.table || filter.table === String(f.table.id)) && (filter.assigned !== "me" || f.assigned?.id === app.user.id);
  let soon = 0;
  const later = () => { soon ||= setTimeout(() => { soon = 0; if (!ending.aborted) paint(); }, 250); };
  app.live.on("finding", (f) => {
    const had = queue.items.has(f.id);
    if (had && f.id === chosen) {
      queue.put(f); // judged by somebody else under these eyes: it stays until one goes on
      detail.changed(f);
    } else if (!fits(f)) forget(f.id);
    else if (had) queue.put(f);
    else if (queue.items.size < MOST) {
      queue.put(f);
      fresh.add(f.id);
      total.count += 1;
      if (f.severity === "alert") say(`New alert at ${f.table.name}: ${titleOf(f)}.`);
    } else total.count += 1;
    later();
  }, ending);
  app.live.on("picture", (p) => detail.picture(p), ending);
  app.live.on("resync", () => load().catch((e) => { if (!ending.aborted) toast(e.message, { kind: "bad" }); }), ending);

  const with_ = (name) => () => (chosen && detail.finding ? detail[name]() : false);
  const unbind = bind("Alerts", [
    { keys: ["j", "ArrowDown"], words: "Next finding", run: () => move(1) },
    { keys: ["k", "ArrowUp"], words: "Finding before", run: () => move(-1) },
    { keys: ["c"], words: "Confirm: it was wrong", run: with_("confirm") },
    { keys: ["d"], words: "Dismiss, with a reason", run: with_("dismiss") },
    { keys: ["n"], words: "Write a note", run: with_("note") },
    { keys: ["a"], words: "Take it, or give it back", run: with_("assign") },
    { keys: ["A"], words: "Assign to somebody", run: with_("assignTo") },
    { keys: ["u"], words: "Open it again", run: with_("reopen") },
    { keys: ["e", "Enter"], words: "Enlarge the pictures", run: with_("enlarge") },
    { keys: ["v"], words: "Play the clip", run: with_("clip") },
    { keys: ["o"], words: "Open its round", run: with_("openRound") },
    { keys: ["x"], words: "Alerts only, or notices too", run: () => change({ severity: filter.severity ? "" : "alert" }) },
    { keys: ["m"], words: "Mine only, or everybody's", run: () => change({ assigned: filter.assigned ? "" : "me" }) },
    ...STATES.map(([value, words], i) => ({ keys: [String(i + 1)], words: `Show: ${words.toLowerCase()}`, run: () => change({ status: value }) })),
    { keys: ["Escape"], words: "Back to the list", run: () => (page.classList.contains("one") && page.clientWidth < 900 ? choose(null) : false) },
  ]);
  ending.addEventListener("abort", () => { unbind(); clearTimeout(soon); });
  await load();
  return {
    update(next) {
      const id = idOf(next.parts[1]);
      filter = read(next.query);
      chosen = id;
      load().catch((e) => toast(e.message, { kind: "bad" }));
      return true;
    },
  };
}
