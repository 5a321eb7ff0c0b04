// Find a round: by table, time, seat, card, amount, finding, dealer; the answer as a list, or as a file.
import { ApiError } from "../api.js";
import { h, icon, toast } from "../dom.js";
import { bind } from "../keys.js";
import { cardsText, tableLink, when } from "../parts.js";
import { href, note } from "../router.js";
import { count, isoDay, money, number, titleOf } from "../words.js";

const collator = new Intl.Collator("en", { numeric: true });

const FIELDS = ["table", "from", "to", "seat", "card", "amount_min", "amount_max", "finding", "dealer", "held"];

export async function mount(view, place, app, ending) {
  const [tables, kinds, dealers] = await Promise.all([app.api.tables(ending), app.api.precision({ by: "kind" }), app.api.dealers(ending)]);
  let cursor = null, shown = 0, filters = read(place.query);

  const option = (value, words) => h("option", { value }, words);
  tables.sort((a, b) => collator.compare(a.site, b.site) || collator.compare(a.name, b.name));
  const sites = [...new Set(tables.map((t) => t.site))];
  const field = (name, words, control, kind = "") => { control.name = name; return h("label", { class: `field ${kind}` }, words, control); };
  const form = h("form", { class: "panel search", role: "search", "aria-label": "Rounds" },
    field("table", "Table", h("select", null, option("", "all"), sites.map((site) => h("optgroup", { label: site }, tables.filter((t) => t.site === site).map((t) => option(t.id, t.name)))))),
    field("dealer", "Dealer", h("select", null, option("", "any"), dealers.map((d) => option(d.id, d.name)))),
    field("from", "From", h("input", { type: "datetime-local" }), "long"), field("to", "To", h("input", { type: "datetime-local" }), "long"),
    field("seat", "Seat", h("select", null, option("", "any"), option("0", "dealer"), Array.from({ length: 9 }, (_, i) => option(i + 1, i + 1)))),
    field("card", "Cards", h("input", { placeholder: "Ks, or 8h 8d", autocomplete: "off", autocapitalize: "off", spellcheck: "false", maxlength: 40 })),
    field("amount_min", "Stake from, $", h("input", { inputmode: "decimal", autocomplete: "off" })), field("amount_max", "to, $", h("input", { inputmode: "decimal", autocomplete: "off" })),
    field("finding", "Finding", h("select", null, option("", "any round"), option("any", "with a finding"), kinds.map((k) => option(k.kind, titleOf(k)))), "long"),
    h("label", { class: "check long" }, h("input", { type: "checkbox", name: "held", value: "true" }), "Legal hold only"),
    h("div", { class: "row" }, h("button", { type: "submit", class: "primary" }, icon("search"), "Search"), h("button", { type: "reset" }, "Clear")));
  const amount = h("p", { class: "num", role: "status" });
  const body = h("tbody");
  const more = h("button", { type: "button", hidden: true, on: { click: () => run(true) } }, "Load more");
  const exports = h("span", { class: "row" });
  const empty = h("p", { class: "empty", hidden: true });
  const table = h("table", { class: "data rounds" }, h("caption", { class: "unseen" }, "Rounds found, newest first"),
    h("thead", null, h("tr", null, ["Time", "Table", "Round", "Dealer", "Hands", "Staked", "Players’ net", "Found"].map((x, i) => h("th", { scope: "col", class: i === 5 || i === 6 ? "num" : null }, x)))), body);
  view.replaceChildren(h("div", { class: "page" }, h("h1", { class: "unseen" }, "Rounds"), form,
    h("div", { class: "bar" }, amount, exports), h("div", { class: "scroll-x", tabindex: "0", role: "region", "aria-label": "Rounds found" }, table), empty, h("div", { class: "row" }, more)));

  function read(query) {
    return Object.fromEntries(FIELDS.map((k) => [k, query.get(k) ?? ""]).filter(([, v]) => v));
  }
  function write() {
    for (const name of FIELDS) {
      const control = form.elements[name];
      if (control.type === "checkbox") control.checked = Boolean(filters[name]);
      else control.value = filters[name] ?? "";
    }
  }

  /** The filters as the server takes them: cents, cards one by one. Throws a sentence about what is wrong. */
  function asked() {
    const out = { ...filters };
    for (const name of ["amount_min", "amount_max"])
      if (out[name]) {
        const dollars = Number(out[name].replace(/[$,\s]/g, ""));
        if (!Number.isFinite(dollars) || dollars < 0) throw new ApiError(`${out[name]} is no amount; write dollars, like 25 or 12.50.`, 422);
        out[name] = Math.round(dollars * 100);
      }
    if (out.card)
      out.card = out.card.split(/[\s,]+/).filter(Boolean).map((word) => {
        const card = /^(10|[2-9atjqk])([cdhs♣♦♥♠]?)$/i.exec(word);
        if (!card) throw new ApiError(`${word} is no card; write a rank and a suit, like Ks or 10h, or a rank alone.`, 422);
        return (card[1] === "10" ? "T" : card[1].toUpperCase()) + ({ "♣": "c", "♦": "d", "♥": "h", "♠": "s" }[card[2]] ?? card[2].toLowerCase());
      });
    return out;
  }

  async function run(further = false) {
    more.disabled = true;
    try {
      const wanted = asked();
      const answer = await app.api.rounds({ ...wanted, cursor: further ? cursor : null, limit: 50 }, ending);
      if (!further) { body.replaceChildren(); shown = 0; }
      body.append(...answer.items.map(row));
      shown += answer.items.length;
      cursor = answer.next;
      amount.textContent = answer.total.more ? `More than ${number(answer.total.count)} rounds` : count(answer.total.count, "round");
      empty.hidden = shown > 0;
      table.hidden = !shown;
      empty.textContent = Object.keys(filters).length ? "No round matches. A wider time, or fewer conditions, may." : "No round has finished yet.";
      more.hidden = !cursor;
      exports.replaceChildren(...["csv", "parquet"].map((kind) => h("a", { class: "button", href: app.api.exportUrl(kind, wanted), download: "" }, icon("download"), kind === "csv" ? "CSV" : "Parquet")));
    } catch (e) {
      if (ending.aborted || e.status === 401) return;
      if (!further) { body.replaceChildren(); table.hidden = true; amount.textContent = ""; empty.hidden = false; empty.textContent = e.message; } else toast(e.message, { kind: "bad" });
    } finally {
      more.disabled = false;
    }
  }

  function row(r) {
    const today = isoDay(r.ended_at) === isoDay(Date.now());
    const hands = handsOf(r.notation);
    const shownHands = hands.slice(0, 4).map((x) => h("span", { class: "hand" }, h("span", { class: "seatno" }, h("span", { class: "unseen" }, "seat "), x.seat), cardsText(x.cards)));
    return h("tr", { class: r.findings.length ? "found" : null },
      h("td", { class: "time nowrap" }, when(r.ended_at, !today)), h("td", { class: "nowrap" }, tableLink(r.table)),
      h("th", { scope: "row", class: "nowrap" }, h("a", { href: href(["round", r.id]), class: "stretch" }, `Round ${r.number}`), r.held && h("span", { title: "Legal hold" }, " ", icon("lock"), h("span", { class: "unseen" }, "legal hold"))),
      h("td", { class: "nowrap cell-dealer" }, cardsText(r.dealer_cards ?? [])),
      h("td", { class: "hands-cell" }, shownHands, hands.length > 4 && h("span", { class: "soft" }, ` and ${hands.length - 4} more`)),
      h("td", { class: "num cell-handle" }, money(r.handle)), h("td", { class: "num" }, money(r.net, { signed: true })),
      h("td", { class: "cell-found" }, r.findings.length ? h("span", { class: "found-kinds" }, r.findings.slice(0, 2).map((f) => h("span", { class: `tag ${f.status === "dismissed" ? "" : f.severity}` }, titleOf(f))), r.findings.length > 2 && h("span", { class: "soft small" }, `and ${r.findings.length - 2} more`)) : h("span", { class: "soft" }, "–")));
  }

  // the cards stand in the notation, one line a hand: "seat 3 hand 1: $10, 8h 3d Ks, hit, won +$10"
  function handsOf(notation) {
    const out = [];
    for (const line of (notation ?? "").split("\n")) {
      const found = /^seat (\d+)(?: hand (\d+))?: (.*)$/.exec(line);
      if (!found) continue;
      const cards = found[3].split(", ").find((part) => /^((?:[A2-9TJQK][cdhs?]|\?\?)( |$))+$/.test(part));
      if (cards) out.push({ seat: found[2] ? `${found[1]}·${Number(found[2]) + 1}` : found[1], cards: cards.split(" ").map((c) => (c === "??" ? null : c)) });
    }
    return out;
  }

  form.addEventListener("submit", (e) => {
    e.preventDefault();
    filters = Object.fromEntries([...new FormData(form)].map(([k, v]) => [k, String(v).trim()]).filter(([, v]) => v));
    note(["rounds"], filters);
    run();
  });
  form.addEventListener("reset", () => setTimeout(() => { filters = {}; note(["rounds"]); write(); run(); }));
  const step = (by) => {
    const links = [...body.querySelectorAll("a.stretch")];
    const at = links.indexOf(document.activeElement);
    links[Math.max(0, Math.min(links.length - 1, at < 0 ? 0 : at + by))]?.focus();
  };
  const unbind = bind("Rounds", [
    { keys: ["/"], words: "To the search", run: () => form.elements.table.focus() },
    { keys: ["j", "ArrowDown"], words: "Next round", run: () => step(1) },
    { keys: ["k", "ArrowUp"], words: "Round before", run: () => step(-1) },
    { keys: ["Enter"], words: "Open the round", run: () => false },
    { keys: ["y"], words: "Export CSV", run: () => exports.firstElementChild?.click() },
    { keys: ["m"], words: "Load more", run: () => (more.hidden ? false : run(true)) },
  ]);
  ending.addEventListener("abort", unbind);
  write();
  await run();
  return { update(next) { filters = read(next.query); write(); run(); return true; } };
}
