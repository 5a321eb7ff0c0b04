// Before the first paint: the theme that was chosen here, else the system's. Not a module, so that nothing flashes.
(function () {
  let chosen = null;
  try {
    chosen = localStorage.getItem("theme");
  } catch { /* storage may be forbidden; the system's theme does */ }
  const dark = chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
