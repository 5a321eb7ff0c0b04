// The first administrator, by the link that the terminal showed once.
import { h } from "../dom.js";

export async function mount(view, place, app, ending) {
  app.title("First account");
  const needed = await app.api.setupNeeded();
  const token = place.query.get("token") ?? "";
  if (!needed || !token) {
    view.replaceChildren(h("div", { class: "login" }, h("div", { class: "panel stack" }, h("h1", null, needed ? "The link is incomplete" : "There is an account already"),
      h("p", null, needed ? "Open the whole link that the terminal showed when pitwatch pit was started." : "An administrator makes further ones."), h("p", null, h("a", { class: "button", href: "#/login" }, "Sign in")))));
    return {};
  }
  const name = h("input", { name: "name", autocomplete: "username", required: true, maxlength: 100, autocapitalize: "off" });
  const first = h("input", { name: "password", type: "password", autocomplete: "new-password", required: true, minlength: 12, maxlength: 1000 });
  const again = h("input", { name: "again", type: "password", autocomplete: "new-password", required: true, maxlength: 1000 });
  const error = h("p", { class: "error", role: "alert", hidden: true });
  const form = h("form", { class: "panel" }, h("h1", null, "The first administrator"), h("p", { class: "hint" }, "There is no account yet. This one may do everything, and makes the others."),
    h("label", { class: "field" }, "Name", name), h("label", { class: "field" }, "Password, at least 12 characters", first), h("label", { class: "field" }, "The same again", again), error, h("button", { type: "submit", class: "primary" }, "Make the account"));
  view.replaceChildren(h("div", { class: "login" }, form));
  form.addEventListener("submit", async (e) => {
    e.preventDefault();
    try {
      if (first.value !== again.value) throw new Error("The two passwords differ.");
      await app.signedIn(await app.api.setup(token, name.value.trim(), first.value));
    } catch (problem) {
      if (ending.aborted) return;
      error.textContent = problem.message;
      error.hidden = false;
    }
  });
  name.focus();
  return {};
}
