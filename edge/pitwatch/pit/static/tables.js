// The tables as the pit knows them, kept current by the live stream, and what a tile says of one.
import { duration } from "./words.js";

export const LOW = 0.9; // a table that judges fewer of its hands is not trusted to be quiet
const FEW = 20; // hands below which a share says nothing yet

export class Tables {
  constructor(app, ending) {
    this._app = app;
    this._ending = ending;
    this._by = new Map();
    this.onchange = () => {};
    app.live.on("tables", (tiles) => this._take(tiles), ending);
    app.live.on("resync", () => this.load().catch(() => {}), ending);
  }

  async load() {
    const all = await this._app.api.tables(this._ending);
    this._by.clear();
    this._take(all);
  }

  all() { return [...this._by.values()]; }

  /** Share of all hands judged, over all tables; null before the first. */
  judged() {
    let total = 0, judged = 0;
    for (const t of this._by.values()) {
      total += t.hands_total ?? 0;
      judged += t.hands_judged ?? 0;
    }
    return total ? judged / total : null;
  }

  _take(tiles) {
    for (const t of tiles) this._by.set(t.id, t);
    this.onchange();
  }
}

/** What a tile shows. mood: alert, trouble, notice or "". trouble: away, blind, bad, warn or "". */
export function tileOf(t, now = Date.now()) {
  const alerts = t.open_alerts ?? 0, notices = t.open_notices ?? 0;
  const away = t.state === "offline" || t.state === "silent" || t.state === "unknown";
  const judged = t.judged_share ?? null;
  const blind = !away && judged != null && (t.hands_total ?? 0) >= FEW && judged < LOW;
  const since = t.last_seen ? ` ${duration((now - new Date(t.last_seen)) / 1000)}` : "";
  const words = t.state === "unknown" ? "not heard yet" : t.state;
  const trouble = away ? "away" : blind ? "blind" : t.level === "bad" ? "bad" : t.level === "warn" ? "warn" : "";
  return {
    key: t.id, id: t.id, site: t.site, name: t.name, order: `${t.site} ${t.name}`,
    state: away ? words : stateWords(t.phase), playing: !away && !/^not playing|^$/.test(t.phase ?? ""),
    alerts, notices, rate: away ? null : t.hands_per_hour, judged, trouble,
    problem: away ? (t.state === "unknown" ? words : `${words}${since}`) : blind ? "judges too few" : trouble ? "needs a look" : "",
    hint: (t.troubles ?? []).join(" ") || null,
    mood: alerts ? "alert" : trouble ? "trouble" : notices ? "notice" : "",
  };
}

const SHORT = [[/^players act: seat (\d+)/, "seat $1 acts"], [/^not playing: (.*)/, "$1"], [/^waiting for wagers/, "wagers"]];
export function stateWords(phase) {
  for (const [pattern, words] of SHORT) if (pattern.test(phase ?? "")) return phase.replace(pattern, words);
  return phase ?? "";
}

const MOOD = { alert: 0, trouble: 1, notice: 2, "": 3 }, TROUBLE = { away: 0, blind: 1, bad: 2, warn: 3, "": 4 };
/** Open alerts first, the most of them first; then tables that cannot be trusted; then the rest by name, so that tiles stay put. */
export function worstFirst(a, b) {
  return MOOD[a.mood] - MOOD[b.mood] || b.alerts - a.alerts || (a.mood === "trouble" ? TROUBLE[a.trouble] - TROUBLE[b.trouble] : 0)
    || byName(a, b);
}
const collator = new Intl.Collator("en", { numeric: true });
export const byName = (a, b) => collator.compare(a.order, b.order);

export function matches(t, words) {
  const text = `${t.name} ${t.site} ${t.state} ${t.problem}`.toLowerCase();
  return words.toLowerCase().split(/\s+/).every((w) => text.includes(w));
}
