// Accounts: who may sign in, and as what.
import { h, icon, toast } from "../dom.js";
import { ask, when } from "../parts.js";

const ROLES = [["screen", "Screen: the floor only, stays signed in (for a wall)"], ["viewer", "Viewer: looks at everything"], ["supervisor", "Supervisor: judges findings, holds rounds"], ["administrator", "Administrator: settings, accounts, audit log too"]];

export async function mount(view, place, app, ending) {
  const body = h("tbody"), tokens = h("ul", { class: "plain-list" });
  view.replaceChildren(h("div", { class: "page" }, h("div", { class: "head" }, h("h1", null, "Accounts"), h("button", { type: "button", class: "primary spread", on: { click: create } }, "New account")),
    h("section", { class: "panel" }, h("div", { class: "scroll-x", tabindex: "0", role: "region", "aria-label": "Accounts" }, h("table", { class: "data accounts" },
      h("thead", null, h("tr", null, ["Name", "Role", "Last signed in", "State", ""].map((x) => h("th", { scope: "col" }, x || h("span", { class: "unseen" }, "Actions"))))), body))),
    h("section", { class: "panel" }, h("h2", null, "Tokens of programs"), h("p", { class: "hint" }, "Made on the command line with ", h("code", null, "pitwatch pit token"), "; ended here."), tokens)));

  const roles = (chosen) => h("label", { class: "field" }, "Role", h("select", { name: "role" }, ROLES.map(([value, words]) => h("option", { value, selected: value === chosen }, words))));
  const secret = (words) => h("label", { class: "field" }, words, h("input", { name: "password", type: "password", autocomplete: "new-password", maxlength: 1000 }), h("span", { class: "hint" }, "At least 12 characters."));

  async function draw() {
    const given = await app.api.tokens(ending);
    tokens.replaceChildren(...(given.length ? given.map((t) => h("li", { class: "row" }, h("b", null, t.name), t.role, h("span", { class: "soft small" }, t.last_used_at ? ["used ", when(t.last_used_at, true)] : "never used"),
      h("button", { type: "button", "aria-label": `End the token ${t.name}`, on: { click: () => save(() => app.api.endToken(t.id), "The token is ended.") } }, "End"))) : [h("li", { class: "soft" }, "There is none.")]));
    const people = await app.api.users(ending);
    body.replaceChildren(...people.map((p) => h("tr", null, h("th", { scope: "row" }, p.name, p.id === app.user.id && h("span", { class: "soft" }, " (you)")), h("td", null, p.role), h("td", null, p.last_login_at ? when(p.last_login_at, true) : "never"),
      h("td", null, p.disabled ? h("span", { class: "tag" }, "disabled") : h("span", { class: "tag good" }, "active")),
      h("td", null, h("div", { class: "row" }, h("button", { type: "button", "aria-label": `Change ${p.name}`, on: { click: () => edit(p) } }, icon("note"), "Change"),
        p.id !== app.user.id && h("button", { type: "button", "aria-label": `${p.disabled ? "Enable" : "Disable"} ${p.name}`, on: { click: () => save(() => app.api.changeUser(p.id, { disabled: !p.disabled }), p.disabled ? "Enabled." : "Disabled; all its sessions have ended.") } }, p.disabled ? "Enable" : "Disable"))))));
  }

  async function save(work, words) {
    try {
      await work();
      toast(words);
      await draw();
    } catch (e) {
      toast(e.message, { kind: "bad" });
    }
  }

  async function create() {
    const given = await ask({
      title: "New account", action: "Make it",
      fields: [h("label", { class: "field" }, "Name", h("input", { name: "name", maxlength: 100, autofocus: true, autocomplete: "off", autocapitalize: "off" })), roles("supervisor"), secret("Password")],
      check: (v) => (!v.name.trim() ? "Write a name." : v.password.length < 12 ? "The password needs at least 12 characters." : ""),
    });
    if (given) await save(() => app.api.makeUser({ name: given.name.trim(), role: given.role, password: given.password }), `${given.name.trim()} may sign in.`);
  }

  async function edit(p) {
    const given = await ask({
      title: `Change ${p.name}`, action: "Save", fields: [roles(p.role), secret("New password (empty: as it is)")],
      check: (v) => (v.password && v.password.length < 12 ? "The password needs at least 12 characters." : ""),
    });
    if (given) await save(() => app.api.changeUser(p.id, { role: given.role, ...(given.password ? { password: given.password } : {}) }), "Saved.");
  }

  await draw();
  return {};
}
