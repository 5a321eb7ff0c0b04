// One table: the felt as it stands, its camera's newest still, what is open there, its last rounds.
import { h, icon, keyed, s, say, setAttribute, setText, toast } from "../dom.js";
import { askDealer } from "../dealers.js";
import { drawFelt, rows, standing } from "../felt.js";
import { bind } from "../keys.js";
import { cardsText, said, severityTag, when } from "../parts.js";
import { go, href } from "../router.js";
import { LOW, stateWords, tileOf } from "../tables.js";
import { ago, money, number, percent, seatName, titleOf } from "../words.js";

const STILL_EVERY = 10_000; // ms; a still costs the table's uplink
const ROUNDS = 8;

export async function mount(view, place, app, ending) {
  const id = Number(place.parts[1]);
  if (!Number.isSafeInteger(id)) return go(["floor"], {}, { replace: true });
  let table, findings = [], drawn = "";

  async function load() {
    const [t, open] = await Promise.all([app.api.table(id, ending), app.api.findings({ table: id, status: "open", sort: "worst", limit: 30 }, ending)]);
    table = t;
    findings = open.items;
  }
  await load();
  app.title(table.name);

  const mood = h("p", { class: "row facts-line" });
  const felt = s("svg", { id: "felt" });
  const phase = h("p", { class: "phase", role: "status" });
  const dealer = h("button", { type: "button", class: "plain", on: { click: () => signIn() } });
  const handsBody = h("tbody");
  const still = h("img", { alt: `Newest still of the camera over ${table.name}`, hidden: true });
  const stillWords = h("p", { class: "still-words" }, icon("camera"), h("span", null, "No still has come from this camera yet."));
  const stillAge = h("span", { class: "soft small num" });
  const list = h("ul", { class: "brief" });
  const rounds = h("ol", { class: "notation" });
  view.classList.add("fills");
  view.replaceChildren(h("div", { class: "table-page" },
    h("div", { class: "head" }, h("a", { class: "button plain square", href: "#/floor", "aria-label": "Back to the floor" }, icon("back")),
      h("h1", null, table.name, h("span", { class: "soft site" }, table.site)), phase, dealer, mood),
    h("section", { class: "felt-box", "aria-label": "The felt" }, felt,
      h("table", { class: "data hands" }, h("caption", { class: "unseen" }, "Hands on the table"),
        h("thead", null, h("tr", null, ["Seat", "Cards", "Total", "Wager"].map((x) => h("th", { scope: "col" }, x)))), handsBody)),
    section("open-here", "Open findings", h("a", { href: href(["alerts"], { table: id }) }, "All of this table"), list),
    section("camera", "Camera", stillAge, h("div", { class: "still" }, still, stillWords)),
    section("last-rounds", "Last rounds", h("a", { href: href(["rounds"], { table: id }) }, "Search the rounds"), rounds)));

  function section(name, title, beside, content) {
    return h("section", { class: `panel ${name}`, "aria-label": title, tabindex: name === "camera" ? null : "0" }, h("div", { class: "bar" }, h("h2", null, title), beside), content);
  }

  function paint(before = null) {
    const t = tileOf(table), state = table.live;
    const away = t.trouble === "away";
    setText(phase, away ? t.problem : [state?.round ? `Round ${state.round}` : "", stateWords(state?.phase ?? table.phase)].filter(Boolean).join(" · "));
    setAttribute(phase, "data-mood", away ? "bad" : null);
    keyed(mood, [
      ["rate", t.rate == null ? "–" : number(Math.round(t.rate)), "hands an hour", ""],
      ["judged", percent(t.judged), "of hands judged", t.judged != null && t.judged < LOW ? "notice-text" : ""],
      ["open", number(t.alerts), t.alerts === 1 ? "open alert" : "open alerts", t.alerts ? "alert-text" : ""],
      ...(table.minimum != null ? [["limits", `${money(table.minimum)}–${money(table.maximum)}`, table.rules ?? "", ""]] : table.rules ? [["limits", table.rules, "rules", ""]] : []),
      ...(table.troubles ?? []).slice(0, 2).map((x, i) => [`trouble${i}`, "", x, "notice-text"]),
    ], (x) => x[0], () => h("span", null, h("b"), " ", h("span")), (e, x) => { setText(e.children[0], x[1]); setText(e.children[1], x[2]); e.className = x[3]; });
    dealer.replaceChildren(icon("person"), h("span", null, table.dealer ? table.dealer.name : "No dealer"), h("span", { class: "unseen" }, "; sign a dealer in or out"));
    dealer.disabled = !app.may("supervisor");
    const flagged = new Set(findings.filter((f) => f.round === state?.round).map((f) => f.seat));
    const key = JSON.stringify([state, [...flagged]]);
    if (key === drawn) return;
    drawn = key;
    drawFelt(felt, state, { seats: table.seats, flagged, changed: before ? changes(before, state) : new Set() });
    handsBody.replaceChildren(...rows(state).map(({ name, hand }) => h("tr", { class: hand.turn ? "acts" : null }, h("th", { scope: "row" }, name),
      h("td", null, cardsText(hand.cards, hand.seat ? "?" : "▮")), h("td", null, standing(hand).join(", ")),
      h("td", null, hand.seat && hand.wager !== 0 ? money(hand.wager) : ""))));
  }

  function paintFindings() {
    const shown = findings.filter((f) => f.status === "open");
    keyed(list, shown.length ? shown : [null], (f) => f?.id ?? "none", (f) => f
      ? h("li", { class: f.severity }, h("a", { href: href(["alerts", f.id]) }, h("span", { class: "row" }, severityTag(f.severity), h("b", null, titleOf(f)), h("span", { class: "soft small" }, seatName(f.seat, f.hand)), h("span", { class: "spread soft small" }, when(f.at))),
        h("span", { class: "what" }, f.text), f.expected_text || f.observed_text ? h("span", { class: "soft small" }, [said(f, "expected") && `Should be ${said(f, "expected")}`, said(f, "observed") && `was ${said(f, "observed")}`].filter(Boolean).join(", ")) : null))
      : h("li", { class: "none" }, icon("check"), "Nothing is open here."));
  }

  function paintRounds() {
    keyed(rounds, (table.rounds ?? []).slice(0, ROUNDS), (r) => r.id, (r) => h("li", { class: r.findings.length ? "found" : null },
      h("div", { class: "bar" }, h("a", { href: href(["round", r.id]) }, `Round ${r.number}`), r.findings.length ? h("span", { class: "tag alert" }, `${r.findings.length} found`) : null, h("span", { class: "soft small" }, when(r.ended_at))),
      h("pre", { class: "mono" }, body(r.notation))));
    setAttribute(rounds.parentElement, "data-none", !table.rounds?.length);
  }
  // the number and its time stand above; findings have their own place
  const body = (text) => (text ?? "").split("\n").filter((l) => !/^(round \d|! )/.test(l)).join("\n");

  const changes = (a, b) => new Set((b?.hands ?? []).concat(b?.dealer ?? []).filter((x) => {
    const old = x.seat === 0 ? a?.dealer : a?.hands?.find((y) => y.seat === x.seat && y.hand === x.hand);
    return (old?.cards.length ?? 0) < x.cards.length;
  }).map((x) => `${x.seat}.${x.hand}`));

  async function signIn() {
    const tile = await askDealer(app, table);
    if (!tile) return;
    table = { ...table, ...tile };
    paint();
  }

  app.live.on("tables", (tiles) => {
    const tile = tiles.find((t) => t.id === id);
    if (!tile) return;
    table = { ...table, ...tile };
    paint();
    if (tile.still_at && tile.still_at !== stillAt) showStill();
  }, ending);
  app.live.on("live", (x) => {
    if (x.table !== id) return;
    const before = table.live;
    table.live = x.live;
    paint(before);
  }, ending);
  app.live.on("finding", (f) => {
    if (f.table.id !== id) return;
    const had = findings.some((x) => x.id === f.id);
    findings = had ? findings.map((x) => (x.id === f.id ? f : x)) : [f, ...findings];
    if (!had && f.status === "open") say(`${f.severity === "alert" ? "Alert" : "Notice"}: ${f.text}`);
    paintFindings();
    paint();
  }, ending);
  app.live.on("round", (r) => {
    if (r.table.id !== id) return;
    table.rounds = [r, ...(table.rounds ?? []).filter((x) => x.id !== r.id)].slice(0, 20);
    paintRounds();
  }, ending);
  app.live.on("resync", async () => {
    try {
      await load();
      paint();
      paintFindings();
      paintRounds();
      showStill();
    } catch { /* the strip above says when nothing is to be had */ }
  }, ending);
  app.live.on("still", (x) => { if (x.table === id) showStill(x.url); }, ending);

  let stillAt = "";
  function showStill(url = null) {
    const at = table.still_at;
    setText(stillAge, at ? ago(at) : "");
    if (!url && (!at || at === stillAt)) return;
    stillAt = at;
    const next = new Image();
    next.onload = () => { still.src = next.src; still.hidden = false; stillWords.hidden = true; };
    next.src = url?.startsWith("/api/") ? url : app.api.stillUrl(id, at);
  }
  // asked for while somebody looks, and never by a table that is away
  const ask = () => {
    setText(stillAge, table.still_at ? ago(table.still_at) : "");
    if (!document.hidden && table.state === "online") app.api.askStill(id).catch(() => {});
  };
  const tick = setInterval(ask, STILL_EVERY);

  const unbind = bind("Table", [
    { keys: ["Backspace"], words: "Back to the floor", run: () => go(["floor"]) },
    { keys: ["Enter", "w"], words: "Judge its first open finding", run: () => (findings.some((f) => f.status === "open") ? go(["alerts", findings.find((f) => f.status === "open").id]) : toast("Nothing is open here.")) },
    { keys: ["r"], words: "Search its rounds", run: () => go(["rounds"], { table: id }) },
    { keys: ["d"], words: "Sign a dealer in or out", run: () => (app.may("supervisor") ? signIn() : false) },
  ]);
  ending.addEventListener("abort", () => { unbind(); clearInterval(tick); });
  app.live.watch(id, ending);
  paint();
  paintFindings();
  paintRounds();
  showStill();
  ask();
  return { update: (p) => Number(p.parts[1]) === id };
}
