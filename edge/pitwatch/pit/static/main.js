// The shell: who is signed in, which view stands in the page, what is said above all of them.
import { ApiError, api } from "./api.js";
import { h, icon, setText } from "./dom.js";
import { bind, listen, showHelp } from "./keys.js";
import { Live } from "./live.js";
import { openMenu } from "./menu.js";
import { notify } from "./notify.js";
import { go, href, parse } from "./router.js";
import { nextTheme } from "./theme.js";
import { clock, setTimeZone } from "./words.js";

const VIEWS = {
  floor: ["Floor", () => import("./views/floor.js")],
  tables: ["Table", () => import("./views/table.js")],
  alerts: ["Alerts", () => import("./views/alerts.js")],
  rounds: ["Rounds", () => import("./views/rounds.js")],
  round: ["Round", () => import("./views/round.js")],
  reports: ["Reports", () => import("./views/reports.js")],
  settings: ["Settings", () => import("./views/settings.js"), "administrator"],
  accounts: ["Accounts", () => import("./views/accounts.js"), "administrator"],
  audit: ["Audit log", () => import("./views/audit.js"), "administrator"],
  password: ["Password", () => import("./views/password.js")],
  login: ["Sign in", () => import("./views/login.js")],
  setup: ["First account", () => import("./views/setup.js")],
};
const ROLES = ["screen", "viewer", "supervisor", "administrator"];
const OUTSIDE = new Set(["login", "setup"]);
const NAV = [["floor", "f", "floor"], ["alerts", "a", "alert"], ["rounds", "r", "rounds"], ["reports", "p", "reports"]];

const view = document.getElementById("view");
const nav = document.getElementById("nav");
let shown = null; // { name, mounted, ending }

/** What the views share. */
export const app = {
  api,
  user: null,
  settings: null,
  live: new Live(),
  may: (role) => ROLES.indexOf(app.user?.role) >= ROLES.indexOf(role),
  title(text) { document.title = `${open.count ? `(${open.count}) ` : ""}${text} · pitwatch`; app.titled = text; },
  titled: "",
  signedIn,
  signedOut,
};

// -- how many findings are open, in the bar and in the tab's title
const open = { count: 0 };
function showOpen(count) {
  if (count === open.count) return;
  open.count = count;
  drawNav();
  app.title(app.titled);
}

function drawNav() {
  if (!app.user) return;
  const here = shown?.name === "tables" ? "floor" : shown?.name === "round" ? "rounds" : shown?.name;
  nav.replaceChildren(...NAV.filter(([name]) => name === "floor" || app.may("viewer")).map(([name, key, sign]) =>
    h("a", { href: href([name]), "aria-current": here === name ? "page" : null, title: `g ${key}` },
      icon(sign), h("span", { class: "word" }, VIEWS[name][0]),
      name === "alerts" && open.count > 0 && h("span", { class: "badge" }, open.count > 999 ? "999+" : String(open.count), h("span", { class: "unseen" }, " open")))));
}

// -- the view that the address names
async function route() {
  const place = parse(location.hash);
  const name = place.parts[0] ?? "floor";
  if (!app.user && !OUTSIDE.has(name)) return signedOut(false);
  if (app.user && OUTSIDE.has(name)) return go(backTo(place), {}, { replace: true });
  if (shown?.name === name && shown.mounted?.update?.(place) === true) return undefined;
  shown?.ending.abort();
  const ending = new AbortController();
  shown = { name, mounted: null, ending };
  drawNav();
  const [title, load, role = name === "floor" || OUTSIDE.has(name) ? "screen" : "viewer"] = VIEWS[name] ?? [];
  view.className = "";
  view.scrollTop = 0;
  if (!load) return problem("There is no such page.", "The link may be old or incomplete.");
  if (app.user && !app.may("viewer") && !app.may(role)) return problem("This screen shows the floor only.", "Sign in with another account to see more.");
  if (app.user && !app.may(role)) return problem(`${title}: for administrators only.`, "Ask one of them, or sign in with another account.");
  app.title(title);
  view.replaceChildren(h("p", { class: "loading" }, "Loading …"));
  const mine = shown;
  try {
    const { mount } = await load();
    if (ending.signal.aborted) return undefined;
    mine.mounted = await mount(view, place, app, ending.signal);
  } catch (e) {
    if (ending.signal.aborted || e.name === "AbortError") return undefined;
    if (!(e instanceof ApiError)) console.error(e);
    if (e.status !== 401) problem(e instanceof ApiError ? e.message : "This page failed to open.", "", () => { shown = null; route(); });
  }
  if (!ending.signal.aborted && document.activeElement === document.body) view.focus({ preventScroll: true });
  return undefined;
}

function problem(sentence, hint, again) {
  view.replaceChildren(h("div", { class: "empty", role: "alert" }, icon("alert"), h("b", null, sentence), hint && h("p", null, hint),
    h("p", { class: "row" }, again && h("button", { type: "button", on: { click: again } }, "Try again"), h("a", { class: "button", href: "#/floor" }, "To the floor"))));
}

const backTo = (place) => {
  const back = place.query.get("back") ?? "";
  return back.startsWith("#/") && !back.startsWith("#/login") ? parse(back).parts : ["floor"];
};

// -- signing in and out
async function signedIn(me) {
  app.user = me.user;
  document.body.classList.add("inside");
  nav.hidden = document.getElementById("live").hidden = false;
  try {
    const settings = await api.settings();
    setTimeZone(settings.time_zone);
    app.settings = settings;
  } catch (e) {
    if (e.status === 401) return;
  }
  openMenu(app);
  app.live.start();
  const back = parse(location.hash).query.get("back");
  if (OUTSIDE.has(parse(location.hash).parts[0])) history.replaceState(null, "", back?.startsWith("#/") && !back.startsWith("#/login") ? back : "#/floor");
  shown?.ending.abort();
  shown = null;
  await route();
}

/** Nobody is signed in (any more). expired: the session ended by itself, and the page says so. */
function signedOut(expired = true) {
  const here = location.hash;
  app.user = null;
  app.live.stop();
  notify.reset();
  document.body.classList.remove("inside");
  nav.hidden = document.getElementById("live").hidden = true;
  document.getElementById("menu")?.remove();
  document.getElementById("connection").hidden = true;
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
  open.count = 0;
  if (OUTSIDE.has(parse(here).parts[0])) return;
  const back = here.length > 2 && here !== "#/floor" ? here : null;
  go(["login"], { back, expired: expired ? "1" : null }, { replace: true });
}
addEventListener("session-ended", () => { if (app.user) signedOut(true); });
// signed in anew in another tab: this one goes on with the new session
addEventListener("session-changed", () => api.me().then((me) => { app.user = me.user; }).catch(() => {}));

// -- the connection, said plainly
const strip = document.getElementById("connection"), lamp = document.getElementById("live");
let lostAt = 0;
app.live.onstate = (state) => {
  lamp.dataset.state = state;
  setText(lamp.firstElementChild, { live: "Live", trying: "Connecting", lost: "Not connected" }[state]);
  if (state === "lost" && app.user) {
    lostAt ||= Date.now();
    strip.dataset.state = "lost";
    strip.replaceChildren(icon("offline"), h("span", null, `The connection to pitwatch is lost since ${clock(lostAt)}. What you see is from then; trying again.`));
    strip.hidden = false;
  } else if (state === "live" && lostAt) {
    strip.dataset.state = "back";
    strip.replaceChildren(icon("check"), h("span", null, `Connected again. Everything since ${clock(lostAt)} is fetched.`));
    lostAt = 0;
    setTimeout(() => { if (strip.dataset.state === "back") strip.hidden = true; }, 6000);
  }
};

// -- open alerts, counted by the server; a burst is counted once
let counting = 0;
const count = (wait) => {
  if (!app.may("viewer")) return;
  counting ||= setTimeout(async () => {
    counting = 0;
    try {
      const total = await api.openCount();
      if (app.user) showOpen(total.count);
    } catch { /* the strip says when nothing is to be had */ }
  }, wait);
};
app.live.on("resync", () => count(0));
app.live.on("finding", (finding) => {
  count(700);
  notify.finding(finding);
});

// -- keys of every page
bind("Everywhere", [
  ...NAV.map(([name, key]) => ({ keys: [`g ${key}`], words: VIEWS[name][0], run: () => (app.user && (name === "floor" || app.may("viewer")) ? go([name]) : false) })),
  { keys: ["t"], words: "Dark, light or the system's theme", run: () => { nextTheme(); } },
  { keys: ["s"], words: "Sound on or off", run: () => (app.user ? notify.toggleSound() : false) },
  { keys: ["?"], words: "This list", run: () => showHelp() },
]);
listen();
addEventListener("hashchange", route);
document.querySelector(".skip").addEventListener("click", (e) => { e.preventDefault(); view.focus(); });
setInterval(() => setText(document.getElementById("clock"), app.user ? clock(Date.now()) : ""), 1000);

try {
  await signedIn(await api.me());
} catch (e) {
  if (e.status === 401) {
    signedOut(false);
    if (!shown) await route();
  }
  else problem(e instanceof ApiError ? e.message : "pitwatch did not answer.", "", () => location.reload());
}
