// The list of findings, newest first, each with what was owed, what was seen, the rule and the pictures.
import { clock, html, money, seatName } from "./words.js";

const known = new Set();
const list = document.getElementById("findings");
const viewer = document.getElementById("viewer");
const ROLE = { before: "Before", during: "During", after: "After" };

export const findingCount = () => known.size;

// false when the finding is in the list already
export function addFinding(f, fresh) {
  if (known.has(f.id)) return false;
  known.add(f.id);
  const item = html("li", { class: `${f.severity}${fresh ? " fresh" : ""}`, "data-kind": f.kind, "data-seat": f.seat });
  item.append(
    html("p", { class: "head" },
      html("span", { class: "severity" }, f.severity === "alert" ? "Alert" : "Notice"),
      html("span", {}, seatName(f.seat, f.hand)),
      html("span", {}, f.round ? `Round ${f.round}` : ""),
      html("time", {}, clock(f.t))),
    html("p", { class: "text" }, f.text));
  const facts = html("dl");
  for (const [name, value] of [["Expected", f.expected], ["Observed", f.observed]])
    if (value != null) facts.append(html("div", {}, html("dt", {}, name), html("dd", {}, amount(f.unit, value))));
  if (facts.childElementCount) item.append(facts);
  const pictures = f.pictures.filter((p) => p.role !== "during").length >= 2 ? f.pictures.filter((p) => p.role !== "during") : f.pictures;
  if (pictures.length) item.append(html("div", { class: "pictures" }, ...pictures.map((p) => picture(p, f))));
  if (f.sentence) {
    const quote = html("blockquote", {}, f.sentence);
    if (f.rule) quote.append(html("cite", {}, f.rule));
    item.append(quote);
  }
  list.prepend(item);
  document.getElementById("none").hidden = true;
  document.getElementById("count").textContent = known.size === 1 ? "1 finding" : `${known.size} findings`;
  return true;
}

// a player's net has its sign; a wager is a plain amount; a dealer's total is no money
const amount = (unit, value) =>
  typeof value !== "number" || !["net", "cents"].includes(unit) ? String(value) : (unit === "net" && value > 0 ? "+" : "") + money(value);

function picture(p, f) {
  const src = `/evidence/${encodeURIComponent(p.ref)}.jpg`;
  const words = ROLE[p.role] ?? p.role;
  const button = html("button", { type: "button", "aria-label": `${words}: enlarge the picture` },
    html("img", { src, alt: `${words}: ${f.text}`, loading: "lazy" }), words);
  button.addEventListener("click", () => {
    document.getElementById("viewer-picture").src = src;
    document.getElementById("viewer-picture").alt = words;
    document.getElementById("viewer-text").textContent = `${words}: ${f.text}`;
    viewer.showModal();
  });
  return button;
}

viewer.addEventListener("click", (e) => { if (e.target === viewer) viewer.close(); });
