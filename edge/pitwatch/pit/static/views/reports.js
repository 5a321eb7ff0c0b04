// Reports: dealers, tables, shifts and seats over a span of gaming days, and how far each kind of finding is right.
import { bars, columns } from "../charts.js";
import { h, icon, setAttribute } from "../dom.js";
import { bind } from "../keys.js";
import { note } from "../router.js";
import { byName } from "../tables.js";
import { clockShort, count, day, gamingDay, kindName, money, number, percent, shiftDay } from "../words.js";

const TABS = [["dealer", "Dealers"], ["table", "Tables"], ["shift", "Shifts"], ["seat", "Seats"], ["precision", "Trust in findings"]];
const SPANS = [["1", "Today"], ["7", "7 days"], ["30", "30 days"], ["90", "90 days"]];
const MOST = 12; // lines of a chart; the sheet below it has all

export async function mount(view, place, app, ending) {
  let tab, span, table;
  const read = (query, parts) => {
    tab = TABS.some(([x]) => x === parts[1]) ? parts[1] : "dealer";
    span = SPANS.some(([x]) => x === query.get("days")) ? query.get("days") : "7";
    table = query.get("table") ?? "";
  };
  read(place.query, place.parts);
  const [tables, settings] = await Promise.all([app.api.tables(ending), app.api.settings()]);
  tables.sort((a, b) => byName({ order: `${a.site} ${a.name}` }, { order: `${b.site} ${b.name}` }));

  const segments = (label, list, key) => h("div", { class: "segments", role: "group", "aria-label": label }, list.map(([value, words]) => h("button", { type: "button", data: { value }, on: { click: () => change({ [key]: value }) } }, words)));
  const tabs = segments("Report", TABS, "tab"), spans = segments("Gaming days", SPANS, "span");
  const choice = h("select", { "aria-label": "Table", on: { change: () => change({ table: choice.value }) } }, h("option", { value: "" }, "All tables"), tables.map((t) => h("option", { value: t.id }, t.name)));
  const file = h("a", { class: "button spread", download: "" }, icon("download"), "CSV");
  const body = h("div", { class: "report", role: "region", "aria-label": "Report" });
  view.replaceChildren(h("div", { class: "page" }, h("div", { class: "head" }, h("h1", { class: "unseen" }, "Reports"), tabs, spans, choice, file), body));

  function change(part) {
    ({ tab, span, table } = { tab, span, table, ...part });
    note(["reports", tab], { days: span === "7" ? "" : span, table });
    return draw();
  }

  async function draw() {
    // seats are told apart within a table only
    if (tab === "seat" && !table && tables.length) table = String(tables[0].id);
    for (const b of tabs.children) setAttribute(b, "aria-pressed", String(b.dataset.value === tab));
    for (const b of spans.children) setAttribute(b, "aria-pressed", String(b.dataset.value === span));
    choice.value = table;
    setAttribute(body, "aria-busy", "true");
    const mine = `${tab} ${span} ${table}`;
    draw.wanted = mine;
    // gaming days, the one that is running included
    const start = settings.gaming_day_start, today = gamingDay(start);
    const filters = { from: `${shiftDay(today, 1 - Number(span))}T${start}`, table };
    file.hidden = tab === "precision";
    file.href = app.api.reportUrl(tab, filters);
    try {
      const bucket = span === "1" ? "hour" : "day";
      const [rows, series] = await Promise.all(tab === "precision"
        ? [Promise.all([app.api.precision({ by: "kind", ...filters }), app.api.precision({ by: "table", ...filters })])]
        : [app.api.report(tab, filters, ending), tab === "seat" ? [] : app.api.report("series", { ...filters, bucket }, ending)]);
      if (draw.wanted !== mine || ending.aborted) return;
      body.replaceChildren(...(tab === "precision" ? precision(...rows, filters) : tab === "seat" ? seats(rows) : groups(rows, series, bucket)));
    } catch (e) {
      if (ending.aborted || e.status === 401) return;
      body.replaceChildren(h("div", { class: "empty panel", role: "alert" }, icon("alert"), h("b", null, e.message), h("button", { type: "button", on: { click: draw } }, "Try again")));
    } finally {
      if (draw.wanted === mine) setAttribute(body, "aria-busy", null);
    }
  }

  const top = (rows, by) => [...rows].sort((a, b) => (by(b) ?? -Infinity) - (by(a) ?? -Infinity)).slice(0, MOST);
  const more = (rows) => (rows.length > MOST ? ` The first ${MOST} of ${number(rows.length)}; the list below has all.` : "");
  const nothing = () => [h("p", { class: "empty panel" }, "No round was played in this time.")];
  const sum = (rows, key) => rows.reduce((n, r) => n + (r[key] ?? 0), 0);

  function groups(rows, series, bucket) {
    const one = { dealer: "Dealer", table: "Table", shift: "Shift" }[tab], by = one.toLowerCase();
    if (!rows.length) return nothing();
    const hands = sum(rows, "hands"), hours = sum(rows, "hours"), handle = sum(rows, "handle"), usual = hands ? sum(rows, "errors") / hands : 0;
    const name = (r) => r.label || "not signed in";
    return [
      tiles([[number(hands), "hands"], [number(hours ? Math.round(hands / hours) : null), "hands an hour"], [percent(hands ? usual : null, 2), "of hands with an error"],
        [money(sum(rows, "money_in_error"), { whole: true }), "in error"], [money(handle, { whole: true }), "handle"], [percent(handle ? sum(rows, "house_net") / handle : null, 1), "hold"]]),
      h("div", { class: "charts" },
        bars({ title: `Error rate by ${by}`, note: `Alerts of 100 hands, those dismissed left out. The line is the 95 % confidence interval; red: surely above the average of ${percent(usual, 2)}.${more(rows)}`, interval: true, nameOf: one,
          items: top(rows.filter((r) => r.hands), (r) => r.error_rate).map((r) => ({ name: name(r), value: r.error_rate, low: r.error_low, high: r.error_high, mood: r.error_low > usual ? "bad" : "" })),
          text: (v) => percent(v, 2), axis: (v) => `${number(v * 100, Number.isInteger(Math.round(v * 1e6) / 1e4) ? 0 : 1)} %`, unit: "of hands", average: usual }),
        bars({ title: `Hands an hour by ${by}`, note: `Over the time in which hands were played.${more(rows)}`, nameOf: one,
          items: top(rows, (r) => r.hands_per_hour).map((r) => ({ name: name(r), value: r.hands_per_hour })), text: (v) => number(Math.round(v)), axis: (v) => number(v), unit: "hands an hour" }),
        bars({ title: `Money in error by ${by}`, note: `Paid or taken wrongly, both ways added up.${more(rows)}`, nameOf: one,
          items: top(rows, (r) => r.money_in_error).map((r) => ({ name: name(r), value: (r.money_in_error ?? 0) / 100 })), text: (v) => money(Math.round(v * 100), { whole: true }), axis: (v) => money(Math.round(v * 100)), unit: "dollars" }),
        bars({ title: `Hold by ${by}`, note: `What the house kept of the handle.${more(rows)}`, nameOf: one,
          items: top(rows, (r) => r.hold).map((r) => ({ name: name(r), value: r.hold })), text: (v) => percent(v, 1), axis: (v) => `${number(Math.round(v * 1000) / 10, 0)} %`, unit: "of the handle" })),
      series.length > 1 && columns({ title: bucket === "hour" ? "Hands by the hour" : "Hands by the day", items: series.map((x) => ({ name: bucket === "hour" ? clockShort(x.at) : day(x.at).replace(/^\w+,? /, ""), value: x.hands })), text: (v) => number(v), axis: (v) => number(v), unit: "hands", nameOf: bucket === "hour" ? "Hour" : "Day" }),
      sheet([one, "Hands", "Rounds", "Hands/h", "Judged", "Errors", "Error rate", "95 % interval", "In error", "Handle", "Hold"],
        rows.map((r) => [name(r), number(r.hands), number(r.rounds), number(r.hands_per_hour == null ? null : Math.round(r.hands_per_hour)), percent(r.judged_share), number(r.errors), percent(r.error_rate, 2),
          r.error_low == null ? "–" : `${percent(r.error_low, 2)} to ${percent(r.error_high, 2)}`, money(r.money_in_error), money(r.handle, { whole: true }), percent(r.hold, 1)])),
    ].filter(Boolean);
  }

  function seats(rows) {
    if (!rows.length) return nothing();
    const name = (r) => (table ? `Seat ${r.seat}` : `${r.table.name}, seat ${r.seat}`);
    const suspicious = (r) => r.count_correlation > 0.5 && r.count_rounds >= 50;
    return [
      h("div", { class: "charts" },
        bars({ title: "Wagers and the count", note: `How a seat's wagers go with the true count before the deal: near 0 is usual, a seat that bets with the count comes near 1. Red: above 0.5 over 50 rounds or more.${more(rows)}`, nameOf: "Seat", limits: [-1, 1],
          items: top(rows.filter((r) => r.count_correlation != null), (r) => r.count_correlation).map((r) => ({ name: name(r), value: r.count_correlation, mood: suspicious(r) ? "bad" : "" })),
          text: (v) => number(v, 2), axis: (v) => number(v, 1), unit: "correlation, −1 to 1" }),
        bars({ title: "Average wager", note: `At the first card.${more(rows)}`, nameOf: "Seat", items: top(rows, (r) => r.average_wager).map((r) => ({ name: name(r), value: r.average_wager == null ? null : r.average_wager / 100 })), text: (v) => money(Math.round(v * 100), { whole: true }), axis: (v) => money(Math.round(v * 100)), unit: "dollars" }),
        bars({ title: "Handle", note: `Everything staked, doubles and splits included.${more(rows)}`, nameOf: "Seat", items: top(rows, (r) => r.handle).map((r) => ({ name: name(r), value: r.handle / 100 })), text: (v) => money(Math.round(v * 100), { whole: true }), axis: (v) => money(Math.round(v * 100)), unit: "dollars" }),
        bars({ title: "Win and loss", note: `The players' net, the largest first.${more(rows)}`, nameOf: "Seat", items: top(rows, (r) => Math.abs(r.net ?? 0)).map((r) => ({ name: name(r), value: r.net == null ? null : r.net / 100 })), text: (v) => money(Math.round(v * 100), { signed: true, whole: true }), axis: (v) => money(Math.round(v * 100)), unit: "dollars" })),
      sheet(["Seat", "Rounds", "Hands", "Handle", "Average wager", "Net", "Correlation", "Over rounds"],
        rows.map((r) => [name(r), number(r.rounds), number(r.hands), money(r.handle, { whole: true }), r.average_wager == null ? "–" : money(Math.round(r.average_wager)), r.net == null ? "–" : money(r.net, { signed: true, whole: true }), number(r.count_correlation, 2), number(r.count_rounds)])),
    ];
  }

  function precision(kinds, tablesJudged, filters) {
    const exports = app.may("supervisor") && h("p", { class: "row" }, h("a", { class: "button", href: app.api.casesUrl(filters), download: "" }, icon("download"), "Judged findings as test cases, with their pictures"));
    const judged = (rows) => rows.filter((r) => r.precision != null);
    if (!judged(kinds).length) return [h("p", { class: "empty panel" }, h("b", null, "No finding of this time has been judged."), " Confirm or dismiss some, and this page says how far each kind can be trusted.")];
    const chart = (title, rows, nameOf, name) => bars({ title, note: `Confirmed of all that were judged; the line is the 95 % confidence interval.${more(rows)}`, interval: true, nameOf, limits: [0, 1],
      items: [...rows].sort((a, b) => b.confirmed + b.dismissed - a.confirmed - a.dismissed).slice(0, MOST).map((r) => ({ name: name(r), value: r.precision, low: r.low, high: r.high, mood: r.high < 0.9 ? "bad" : "" })), text: (v) => percent(v), axis: (v) => `${number(Math.round(v * 100))} %`, unit: "confirmed" });
    return [
      h("div", { class: "charts" }, chart("Right, by kind", judged(kinds), "Kind", (r) => r.title || kindName(r.kind)), chart("Right, by table", judged(tablesJudged), "Table", (r) => r.table.name)),
      sheet(["What", "Open", "Confirmed", "Dismissed", "Right", "95 % interval"], [...kinds, ...tablesJudged].map((r) => [r.table?.name ?? (r.title || kindName(r.kind)), number(r.open), number(r.confirmed), number(r.dismissed), percent(r.precision), r.low == null ? "–" : `${percent(r.low)} to ${percent(r.high)}`])),
      exports].filter(Boolean);
  }

  const tiles = (items) => h("ul", { class: "figures panel" }, items.map(([value, words]) => h("li", null, h("b", null, value), " ", h("span", null, words))));
  const sheet = (head, rows) => h("section", { class: "panel" }, h("div", { class: "bar" }, h("h2", null, "All in figures"), h("span", { class: "hint" }, count(rows.length, "line"))), h("div", { class: "scroll-x", tabindex: "0", role: "region", "aria-label": "All in figures" },
    h("table", { class: "data" }, h("thead", null, h("tr", null, head.map((x, i) => h("th", { scope: "col", class: i ? "num" : null }, x)))),
      h("tbody", null, rows.map((r) => h("tr", null, r.map((x, i) => (i ? h("td", { class: "num" }, x) : h("th", { scope: "row" }, x)))))))));

  const step = (by) => change({ tab: TABS[(TABS.findIndex(([x]) => x === tab) + by + TABS.length) % TABS.length][0] });
  const unbind = bind("Reports", [
    { keys: ["l", "ArrowRight"], words: "Next report", run: () => { step(1); } },
    { keys: ["h", "ArrowLeft"], words: "Report before", run: () => { step(-1); } },
    ...SPANS.map(([value, words], i) => ({ keys: [String(i + 1)], words, run: () => { change({ span: value }); } })),
    { keys: ["f"], words: "Choose a table", run: () => choice.focus() },
    { keys: ["y"], words: "Export CSV", run: () => (file.hidden ? false : file.click()) },
  ]);
  ending.addEventListener("abort", unbind);
  await draw();
  return { update(p) { read(p.query, p.parts); draw(); return true; } };
}
