// All tables as tiles, the worst first; the tiles are as large as all of them together may be.
import { h, icon, keyed, setAttribute, setText } from "../dom.js";
import { bind } from "../keys.js";
import { Tables, byName, matches, tileOf, worstFirst } from "../tables.js";
import { go, href, note } from "../router.js";
import { stored, store } from "../theme.js";
import { count, number, percent } from "../words.js";

const GAP = 8, LEAST = { w: 82, h: 48 };

/** The number of columns that makes `n` tiles largest in w × h pixels, and what fits into a tile of that size. */
export function fit(n, w, h) {
  let best = { cols: 1, w: 0, h: 0, size: 0 };
  for (let cols = 1; cols <= Math.max(n, 1); cols++) {
    const rows = Math.ceil(n / cols);
    const tw = (w - GAP * (cols - 1)) / cols, th = (h - GAP * (rows - 1)) / rows;
    const size = Math.min(tw / 1.35, th);
    if (size > best.size) best = { cols, w: tw, h: th, size };
  }
  if (best.w < LEAST.w || best.h < LEAST.h) {
    // more than the screen can show at a readable size: the page scrolls, the worst stand first
    const cols = Math.max(1, Math.floor((w + GAP) / (120 + GAP)));
    best = { cols, w: (w - GAP * (cols - 1)) / cols, h: 76, size: 76 };
  }
  const height = Math.min(best.h, 300);
  const detail = height >= 108 && best.w >= 150 ? "full" : height >= 82 && best.w >= 110 ? "medium" : height >= 62 ? "small" : "tiny";
  const font = { full: Math.min(height / 8.6, best.w / 11.4, 23), medium: Math.min(height / 6.4, best.w / 8.4), small: Math.min(height / 4.6, best.w / 8), tiny: Math.min(height / 3, best.w / 6.6) }[detail];
  return { cols: best.cols, height, detail, font: Math.max(11, Math.min(font, 23)) };
}

export async function mount(view, place, app, ending) {
  const tables = new Tables(app, ending);
  await tables.load();
  let order = stored("floor-order", "worst"), words = place.query.get("find") ?? "", painted = 0;

  const figures = h("ul", { class: "figures", "aria-label": "The floor in figures" });
  const search = h("input", { type: "search", "aria-label": "Show only tables whose name, site or state contains", placeholder: "Find a table", value: words });
  const sort = h("button", { type: "button", on: { click: () => turn() } });
  const grid = h("ul", { id: "tiles", "aria-label": "Tables" });
  const none = h("p", { class: "empty", hidden: true });
  view.classList.add("wide");
  view.replaceChildren(
    h("div", { class: "head floor-head" }, h("h1", { class: "unseen" }, "Floor"), figures, h("div", { class: "row spread" }, search, sort)),
    h("div", { id: "floor" }, grid, none));

  const turn = () => {
    order = order === "worst" ? "name" : "worst";
    store("floor-order", order);
    paint();
  };

  function paint() {
    painted = performance.now();
    setText(sort, order === "worst" ? "Worst first" : "By name");
    setAttribute(sort, "aria-label", `Order: ${order === "worst" ? "worst first" : "by name"}; change`);
    const all = tables.all().map((t) => tileOf(t));
    const items = all.filter((t) => matches(t, words));
    items.sort(order === "worst" ? worstFirst : byName);
    showFigures(all);
    const room = grid.parentElement;
    const narrow = room.clientWidth < 560;
    const f = fit(items.length, room.clientWidth - 8, room.clientHeight - 8);
    grid.className = narrow ? "list" : f.detail;
    grid.style.setProperty("--cols", f.cols);
    grid.style.setProperty("--tile", `${Math.floor(f.height)}px`);
    grid.style.setProperty("--font", `${f.font.toFixed(1)}px`);
    keyed(grid, items, (t) => t.key, make, update);
    none.hidden = items.length > 0;
    setText(none, all.length ? "No table matches." : "No table has reported yet. Tables appear here by themselves as soon as they publish.");
  }

  function showFigures(all) {
    const alerts = all.reduce((n, t) => n + t.alerts, 0), away = all.filter((t) => t.trouble === "away").length;
    const blind = all.filter((t) => t.trouble === "blind").length, hands = all.reduce((n, t) => n + (t.rate ?? 0), 0);
    const share = tables.judged();
    keyed(figures, [
      { key: "alerts", n: number(alerts), words: alerts === 1 ? "open alert" : "open alerts", mood: alerts ? "alert" : "" },
      { key: "tables", n: number(all.length), words: all.length === 1 ? "table" : "tables", mood: "" },
      { key: "playing", n: number(all.filter((t) => t.playing).length), words: "playing", mood: "" },
      { key: "away", n: number(away), words: "not heard", mood: away ? "notice" : "" },
      { key: "blind", n: number(blind), words: "cannot judge", mood: blind ? "notice" : "" },
      { key: "judged", n: percent(share), words: "of hands judged", mood: share != null && share < 0.9 ? "notice" : "" },
      { key: "hands", n: number(Math.round(hands)), words: "hands an hour", mood: "" },
    ], (x) => x.key, () => h("li", null, h("b", null), " ", h("span", null)), (li, x) => {
      setText(li.children[0], x.n);
      setText(li.children[1], x.words);
      li.className = x.mood;
    });
  }

  function make(t) {
    const a = h("a", { href: app.may("viewer") ? href(["tables", t.id]) : null, tabindex: 0 },
      h("span", { class: "top" }, h("b", { class: "name" }, t.name), h("span", { class: "state" })),
      h("span", { class: "middle" }, icon("alert"), h("b", { class: "count" }), h("span", { class: "words" })),
      h("span", { class: "foot" }, h("span", { class: "rate" }), h("span", { class: "share" })), h("span", { class: "more unseen" }));
    return h("li", { class: "tile" }, a);
  }

  function update(li, t) {
    const a = li.firstElementChild;
    li.className = `tile ${t.mood}${t.playing ? "" : " idle"}`;
    const part = (name) => a.querySelector(`.${name}`);
    setText(part("state"), t.state);
    const calm = !t.alerts && !t.notices;
    setText(part("count"), t.alerts ? String(t.alerts) : t.notices ? String(t.notices) : "");
    setText(part("words"), t.alerts ? (t.alerts === 1 ? "alert" : "alerts") : t.notices ? (t.notices === 1 ? "notice" : "notices") : t.problem || "no open alerts");
    setAttribute(a.querySelector(".middle"), "data-calm", calm);
    setText(part("rate"), t.rate == null ? "" : `${number(Math.round(t.rate))} hands/h`);
    setText(part("share"), t.problem && !calm && t.trouble !== "blind" ? t.problem : t.judged == null ? "" : `${percent(t.judged)} judged`);
    setAttribute(part("share"), "data-low", t.trouble === "blind" || Boolean(t.problem && !calm));
    // what the tile leaves out or shows by its colour only
    setText(part("more"), [t.site, t.alerts && t.notices ? count(t.notices, "notice") : "", t.mood === "trouble" ? "needs a look" : "", t.alerts ? t.problem : ""].filter(Boolean).join(", "));
    setAttribute(a, "title", t.hint);
  }

  // many tables report many times a second; people need to see it twice a second
  let waiting = false;
  const later = () => {
    if (waiting || ending.aborted) return;
    waiting = true;
    setTimeout(() => { waiting = false; if (!ending.aborted) paint(); }, Math.max(30, 500 - (performance.now() - painted)));
  };
  tables.onchange = later;
  const size = new ResizeObserver(later);
  size.observe(grid.parentElement);
  const tick = setInterval(later, 10_000);
  search.addEventListener("input", () => { words = search.value; note(["floor"], { find: words }); paint(); });

  const step = (dx, dy) => {
    const tiles = [...grid.querySelectorAll("a")];
    const at = tiles.indexOf(document.activeElement);
    const cols = getComputedStyle(grid).gridTemplateColumns.split(" ").length;
    tiles[at < 0 ? 0 : Math.max(0, Math.min(tiles.length - 1, at + dx + dy * cols))]?.focus();
  };
  const unbind = bind("Floor", [
    { keys: ["ArrowRight", "l"], words: "Next table", run: () => step(1, 0) },
    { keys: ["ArrowLeft", "h"], words: "Table before", run: () => step(-1, 0) },
    { keys: ["ArrowDown", "j"], words: "Table below", run: () => step(0, 1) },
    { keys: ["ArrowUp", "k"], words: "Table above", run: () => step(0, -1) },
    { keys: ["Enter"], words: "Open the table", run: () => false },
    { keys: ["/"], words: "Find a table", run: () => search.focus() },
    { keys: ["o"], words: "Worst first, or by name", run: turn },
    { keys: ["w"], words: "Open the first alert", run: () => go(["alerts"]) },
  ]);
  ending.addEventListener("abort", () => { unbind(); size.disconnect(); clearInterval(tick); });
  paint();
  return {};
}
