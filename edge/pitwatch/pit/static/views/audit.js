// The audit log: who did what, and who looked at what, newest first.
import { h, toast } from "../dom.js";
import { note } from "../router.js";
import { dayAndTime } from "../words.js";

export async function mount(view, place, app, ending) {
  let cursor = null;
  const body = h("tbody");
  const more = h("button", { type: "button", hidden: true, on: { click: () => load(true) } }, "Load more");
  const who = h("input", { type: "search", name: "who", "aria-label": "Only this account", placeholder: "Account", value: place.query.get("who") ?? "" });
  const what = h("input", { type: "search", name: "action", "aria-label": "Only this action", placeholder: "Action", value: place.query.get("action") ?? "" });
  const form = h("form", { class: "row spread finder" }, who, what, h("button", { type: "submit" }, "Show"));
  const empty = h("p", { class: "empty", hidden: true }, "Nothing was logged that matches.");
  view.replaceChildren(h("div", { class: "page" }, h("div", { class: "head" }, h("h1", null, "Audit log"), form),
    h("section", { class: "panel" }, h("div", { class: "scroll-x", tabindex: "0", role: "region", "aria-label": "Audit log" }, h("table", { class: "data log" }, h("thead", null, h("tr", null, ["When", "Who", "What", "On", "From"].map((x) => h("th", { scope: "col" }, x)))), body)), empty, more)));

  async function load(further = false) {
    try {
      const answer = await app.api.audit({ who: who.value.trim(), action: what.value.trim(), cursor: further ? cursor : null }, ending);
      if (!further) body.replaceChildren();
      body.append(...answer.items.map((x) => h("tr", null, h("td", { class: "nowrap" }, dayAndTime(x.at)), h("td", null, x.who ?? ""), h("td", null, h("b", null, x.action.replaceAll("_", " ").replaceAll(".", ": "))), h("td", null, x.what ?? "", details(x.detail)), h("td", { class: "mono" }, x.address ?? ""))));
      cursor = answer.next;
      more.hidden = !cursor;
      empty.hidden = body.childElementCount > 0;
    } catch (e) {
      if (!ending.aborted && e.status !== 401) toast(e.message, { kind: "bad" });
    }
  }
  const details = (detail) => {
    const said = Object.entries(detail ?? {}).filter(([, v]) => v != null && v !== "").map(([k, v]) => `${k.replaceAll("_", " ")}: ${typeof v === "object" ? JSON.stringify(v) : v}`).join(", ");
    return said ? h("span", { class: "soft small" }, ` ${said.slice(0, 300)}`) : null;
  };
  form.addEventListener("submit", (e) => {
    e.preventDefault();
    note(["audit"], { who: who.value.trim(), action: what.value.trim() });
    load();
  });
  await load();
  return {};
}
