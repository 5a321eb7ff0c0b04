// The house's settings: time zone, gaming day, shifts, the surveillance recorder's clock.
import { h, toast } from "../dom.js";
import { setTimeZone } from "../words.js";

export async function mount(view, place, app, ending) {
  let settings = await app.api.settings();
  const zones = Intl.supportedValuesOf?.("timeZone") ?? [];
  const shifts = h("div", { class: "stack" });
  const error = h("p", { class: "error", role: "alert", hidden: true });
  const field = (words, control, hint) => h("label", { class: "field" }, words, control, hint && h("span", { class: "hint" }, hint));
  const form = h("form", { class: "panel form" },
    field("Name of the house", h("input", { name: "site_title", maxlength: 100, autocomplete: "off" })),
    h("h2", null, "Time"),
    h("div", { class: "pair" },
      field("Time zone", h("input", { name: "time_zone", list: "zones", required: true, autocomplete: "off" }), "All times on these pages are shown in it."),
      h("datalist", { id: "zones" }, zones.map((z) => h("option", { value: z }))),
      field("The gaming day begins at", h("input", { name: "gaming_day_start", type: "time", required: true }), "What happens before it belongs to the day before.")),
    h("h2", null, "Shifts"), shifts,
    h("div", { class: "row" }, h("button", { type: "button", on: { click: () => { add({ name: "", start: "" }); shifts.lastElementChild.querySelector("input").focus(); } } }, "Add a shift")),
    h("h2", null, "Surveillance recorder"),
    field("Its clock is ahead by, seconds", h("input", { name: "recorder_offset", type: "number", step: "0.1", required: true }), "Negative when it is behind. Every finding and round then says the recorder's own time."),
    h("h2", null, "How long it is kept"),
    h("div", { class: "pair" },
      field("Rounds and findings, days", h("input", { name: "keep_rounds_days", type: "number", min: 0, max: 36500, step: 1, required: true }), "0: as long as there is room."),
      field("Pictures and clips, days", h("input", { name: "keep_pictures_days", type: "number", min: 0, max: 36500, step: 1, required: true }), "0: as long as there is room.")),
    h("p", { class: "hint" }, "What is older is deleted for good. What is on legal hold is never deleted."),
    error, h("div", { class: "row stays" }, h("button", { type: "submit", class: "primary" }, "Save")));
  view.replaceChildren(h("div", { class: "page" }, h("h1", null, "Settings"), form));

  function add({ name, start }) {
    const line = h("div", { class: "shift" }, field("Name", h("input", { name: "shift_name", value: name, required: true, maxlength: 40 })), field("From", h("input", { name: "shift_start", type: "time", value: start, required: true })),
      h("button", { type: "button", "aria-label": `Remove the shift ${name || "without a name"}`, on: { click: () => line.remove() } }, "Remove"));
    shifts.append(line);
  }
  function fill() {
    for (const name of ["site_title", "time_zone", "gaming_day_start", "recorder_offset", "keep_rounds_days", "keep_pictures_days"]) form.elements[name].value = settings[name] ?? "";
    shifts.replaceChildren();
    settings.shifts.forEach(add);
  }
  form.addEventListener("submit", async (e) => {
    e.preventDefault();
    error.hidden = true;
    const data = new FormData(form);
    const names = data.getAll("shift_name"), starts = data.getAll("shift_start");
    try {
      settings = await app.api.saveSettings({ ...settings, site_title: data.get("site_title").trim(), time_zone: data.get("time_zone").trim(), gaming_day_start: data.get("gaming_day_start"), recorder_offset: Number(data.get("recorder_offset")), keep_rounds_days: Number(data.get("keep_rounds_days")), keep_pictures_days: Number(data.get("keep_pictures_days")), shifts: names.map((name, i) => ({ name: name.trim(), start: starts[i] })) });
      setTimeZone(settings.time_zone);
      fill();
      toast("The settings are saved.");
    } catch (problem) {
      error.textContent = problem.message;
      error.hidden = false;
    }
  });
  fill();
  return {};
}
