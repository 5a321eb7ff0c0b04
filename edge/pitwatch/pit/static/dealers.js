// Dealer sign-in on a table.
import { h, toast } from "./dom.js";
import { ask } from "./parts.js";

/** Ask who deals here from now on; resolves with the table's tile, or null when nothing changed. */
export async function askDealer(app, table) {
  try {
    const known = (await app.api.dealers()).filter((d) => d.active);
    const given = await ask({
      title: `Who deals at ${table.name}?`, action: "Sign in",
      fields: [h("label", { class: "field" }, "Dealer", h("select", { name: "dealer", autofocus: true }, h("option", { value: "" }, "Nobody"),
        known.map((d) => h("option", { value: d.id, selected: d.id === table.dealer?.id }, [d.name, d.badge && `(${d.badge})`, d.table && d.table.id !== table.id && `– now at ${d.table.name}`].filter(Boolean).join(" "))),
        h("option", { value: "new" }, "Somebody new …"))),
      h("label", { class: "field" }, "Name, for somebody new", h("input", { name: "name", maxlength: 100, autocomplete: "off" })),
      h("label", { class: "field" }, "Badge, for somebody new", h("input", { name: "badge", maxlength: 40, autocomplete: "off" }))],
      check: (v) => (v.dealer === "new" && !v.name.trim() ? "Write the new dealer's name." : ""),
    });
    if (!given) return null;
    const who = given.dealer === "new" ? (await app.api.makeDealer(given.name.trim(), given.badge.trim() || null)).id : given.dealer ? Number(given.dealer) : null;
    const tile = await app.api.signDealer(table.id, who);
    toast(tile.dealer ? `${tile.dealer.name} deals at ${table.name}.` : `Nobody is signed in at ${table.name}.`);
    return tile;
  } catch (e) {
    toast(e.message, { kind: "bad" });
    return null;
  }
}
