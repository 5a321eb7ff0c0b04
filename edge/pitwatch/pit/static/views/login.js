// Signing in. No account comes with a password: the first one is made on the server.
import { h, s } from "../dom.js";

export async function mount(view, place, app, ending) {
  app.title("Sign in");
  const name = h("input", { name: "name", autocomplete: "username", required: true, maxlength: 100, autocapitalize: "off", spellcheck: "false" });
  const password = h("input", { name: "password", type: "password", autocomplete: "current-password", required: true, maxlength: 1000 });
  const error = h("p", { class: "error", role: "alert", hidden: true });
  const button = h("button", { type: "submit", class: "primary" }, "Sign in");
  const form = h("form", { class: "panel" }, h("h1", null, "Sign in"), h("label", { class: "field" }, "Name", name), h("label", { class: "field" }, "Password", password), error, button);
  const expired = place.query.get("expired") === "1";
  view.replaceChildren(h("div", { class: "login" },
    h("p", { class: "brand" }, s("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, s("use", { href: "/static/icon.svg#mark" })), "pitwatch"),
    expired && h("p", { class: "tag notice expired", role: "status" }, "Your session has ended. Sign in again to go on where you were."),
    form));
  form.addEventListener("submit", async (e) => {
    e.preventDefault();
    button.disabled = true;
    error.hidden = true;
    try {
      await app.signedIn(await app.api.login(name.value, password.value));
    } catch (problem) {
      if (ending.aborted) return;
      error.textContent = problem.message;
      error.hidden = false;
      password.value = "";
      password.focus();
    } finally {
      button.disabled = false;
    }
  });
  name.focus();
  return { update: () => true };
}
