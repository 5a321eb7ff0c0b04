// One's own password.
import { h, toast } from "../dom.js";

export async function mount(view, place, app) {
  const field = (words, name, complete) => h("label", { class: "field" }, words, h("input", { name, type: "password", autocomplete: complete, required: true, maxlength: 1000 }));
  const error = h("p", { class: "error", role: "alert", hidden: true });
  const form = h("form", { class: "panel form" }, field("Password now", "old", "current-password"), field("New password, at least 12 characters", "new", "new-password"), field("The new one again", "again", "new-password"), error,
    h("div", { class: "row" }, h("button", { type: "submit", class: "primary" }, "Change it")));
  view.replaceChildren(h("div", { class: "page" }, h("h1", null, "Your password"), form));
  form.addEventListener("submit", async (e) => {
    e.preventDefault();
    error.hidden = true;
    const given = Object.fromEntries(new FormData(form));
    try {
      if (given.new !== given.again) throw new Error("The two new passwords differ.");
      await app.api.password(given.old, given.new);
      form.reset();
      toast("The password is changed; your other sessions have ended.");
    } catch (problem) {
      error.textContent = problem.message;
      error.hidden = false;
    }
  });
  return {};
}
