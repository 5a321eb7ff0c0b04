// Dark, light, or as the system says; kept in this browser.
const system = matchMedia("(prefers-color-scheme: dark)");

export function stored(name, otherwise = null) {
  try {
    return localStorage.getItem(name) ?? otherwise;
  } catch {
    return otherwise;
  }
}
export function store(name, value) {
  try {
    if (value == null) localStorage.removeItem(name);
    else localStorage.setItem(name, value);
  } catch { /* storage may be forbidden; the choice then lasts until the page is left */ }
}

let chosen = stored("theme", "system");
export const theme = () => chosen;

export function setTheme(next) {
  chosen = next;
  store("theme", next === "system" ? null : next);
  apply();
}
export const nextTheme = () => setTheme({ system: "dark", dark: "light", light: "system" }[chosen] ?? "system");

function apply() {
  document.documentElement.dataset.theme = chosen === "dark" || (chosen !== "light" && system.matches) ? "dark" : "light";
  dispatchEvent(new CustomEvent("theme"));
}
system.addEventListener("change", apply);
