// Findings to judge, bundled by their round; the bundles with alerts first, then the newest.
export class Queue {
  constructor() {
    this.items = new Map();
  }

  put(finding) {
    const had = this.items.get(finding.id);
    // answers may cross on the way; the newer version stands
    if (!had || (finding.version ?? 0) >= (had.version ?? 0)) this.items.set(finding.id, { ...had, ...finding });
  }

  /** [{ key, site, table, round, findings, severity, at }] */
  bundles() {
    const by = new Map();
    for (const f of this.items.values()) {
      // a round has no id of its own until it is over; its number begins anew with each run of the watcher
      const key = f.round != null ? `${f.table.id} ${f.gaming_day} ${f.round}` : `f${f.id}`;
      if (!by.has(key)) by.set(key, { key, table: f.table, round: f.round, findings: [], severity: "notice", at: "" });
      const b = by.get(key);
      b.findings.push(f);
      if (f.severity === "alert") b.severity = "alert";
      if (f.at > b.at) b.at = f.at;
    }
    const out = [...by.values()];
    for (const b of out) b.findings.sort((x, y) => (x.severity === "alert" ? 0 : 1) - (y.severity === "alert" ? 0 : 1) || (x.at < y.at ? -1 : 1));
    return out.sort((a, b) => (a.severity === "alert" ? 0 : 1) - (b.severity === "alert" ? 0 : 1) || (a.at < b.at ? 1 : a.at > b.at ? -1 : 0));
  }

  /** In the order in which they stand on the page. */
  ordered() { return this.bundles().flatMap((b) => b.findings); }

  /** The finding `by` places after `id`. */
  beside(id, by) {
    const all = this.ordered();
    const i = all.findIndex((f) => f.id === id);
    if (i < 0) return all[0] ?? null;
    return all[Math.max(0, Math.min(all.length - 1, i + by))];
  }

  /** What to judge after `id`: the next open one below it, else above. */
  nextOpen(id) {
    const all = this.ordered();
    const i = all.findIndex((f) => f.id === id);
    const open = (f) => f.status === "open" && f.id !== id;
    return all.slice(i + 1).find(open) ?? all.slice(0, Math.max(i, 0)).reverse().find(open) ?? null;
  }
}
