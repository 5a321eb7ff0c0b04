// The account's menu: pages for administrators, sound, notifications, theme, keys, signing out.
import { h, icon, toast } from "./dom.js";
import { showHelp } from "./keys.js";
import { notify } from "./notify.js";
import { href } from "./router.js";
import { setTheme, theme } from "./theme.js";

const ADMIN = [["settings", "Settings", "settings"], ["accounts", "Accounts", "people"], ["audit", "Audit log", "log"]];
const THEMES = [["system", "As the system", "auto"], ["dark", "Dark", "moon"], ["light", "Light", "sun"]];

export function openMenu(app) {
  document.getElementById("menu")?.remove();
  const list = h("div", { id: "menu-list", hidden: true });
  const button = h("button", { type: "button", class: "plain", "aria-expanded": "false", "aria-controls": "menu-list" },
    icon("person"), h("span", { class: "only-wide" }, app.user.name), h("span", { class: "unseen" }, " menu"));
  const root = h("div", { id: "menu", class: "menu" }, button, list);
  const show = (open) => {
    if (open) list.replaceChildren(...entries());
    list.hidden = !open;
    button.setAttribute("aria-expanded", String(open));
  };
  const entries = () => [
    h("p", null, h("b", null, app.user.name), app.user.role),
    ...(app.may("administrator") ? ADMIN.map(([path, words, sign]) => h("a", { href: href([path]), on: { click: () => show(false) } }, icon(sign), words)) : []),
    ...(app.may("viewer") ? [item(notify.sound ? "bell" : "bell-off", "Sound for new alerts", () => notify.toggleSound(), notify.sound),
      item("alert", "Browser notifications", () => notify.toggleDesktop(), notify.desktop)] : []),
    ...THEMES.map(([name, words, sign]) => item(sign, `Theme: ${words.toLowerCase()}`, () => setTheme(name), theme() === name)),
    app.may("viewer") ? h("a", { href: href(["password"]), on: { click: () => show(false) } }, icon("lock"), "Password") : "",
    item("keyboard", "Keys", () => { show(false); showHelp(); }),
    item("out", "Sign out", async () => {
      try {
        await app.api.logout();
        app.signedOut(false);
      } catch (e) {
        toast(e.message, { kind: "bad" });
      }
    }),
  ];
  const item = (sign, words, run, pressed = null) =>
    h("button", { type: "button", "aria-pressed": pressed, on: { click: async () => { 
      const place = [...list.children].indexOf(list.querySelector(":focus"));
      await run();
      if (list.hidden) return;
      show(true);
      list.children[place]?.focus();
    } } }, icon(sign), words);
  button.addEventListener("click", () => show(list.hidden));
  root.addEventListener("keydown", (e) => {
    if (e.key === "Escape" && !list.hidden) {
      e.preventDefault();
      show(false);
      button.focus();
    }
  });
  document.addEventListener("click", (e) => { if (root.isConnected && !e.composedPath().includes(root)) show(false); });
  document.getElementById("tools").append(root);
}
