// Outlines over the camera's picture, in its pixels, with what was read there and how surely.
import { isRed, rank, suit, svg } from "./words.js";

export function drawOverlay(root, overlay, shownWidth) {
  if (!overlay.width) return;
  root.setAttribute("viewBox", `0 0 ${overlay.width} ${overlay.height}`);
  const size = Math.max(11, Math.min(22, shownWidth / 62)) * (overlay.width / (shownWidth || overlay.width));
  const outlines = [], labels = [];
  for (const mark of overlay.marks) {
    if (mark.points.length < 2) continue;
    const d = mark.points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("") + "Z";
    const kind = mark.kind === "arm" || mark.kind === "spot" ? mark.kind : sureness(mark);
    if (mark.kind !== "spot" && mark.kind !== "arm") outlines.push(svg("path", { class: "halo", d }));
    outlines.push(svg("path", { class: kind, d }));
    const text = label(mark, size, shownWidth >= 600);
    if (text) labels.push(text);
  }
  root.replaceChildren(...outlines, ...labels);
}

const sureness = (mark) => (mark.confidence == null || !mark.label ? "unread" : mark.confidence >= 0.95 ? "sure" : "unsure");

// cards are labelled where they show, stacks below themselves
function label(mark, size, roomy) {
  if (mark.kind === "arm" || mark.kind === "spot") return null;
  const xs = mark.points.map((p) => p[0]), ys = mark.points.map((p) => p[1]);
  const card = mark.kind === "card";
  const middle = [(Math.min(...xs) + Math.max(...xs)) / 2, (Math.min(...ys) + Math.max(...ys)) / 2];
  const [x, y] = card ? mark.at ?? middle : [middle[0], Math.max(...ys) + size * 0.8];
  const text = svg("text", { x, y, "font-size": size, "stroke-width": size * 0.3 });
  const read = card && mark.label ? cardLabel(mark.label) : mark.label || "?";
  text.append(svg("tspan", { x, class: card && isRed(mark.label) ? "red" : null }, read));
  // on a small picture only what is not sure
  if (mark.confidence != null && mark.label && (roomy || mark.confidence < 0.95))
    text.append(svg("tspan", { class: "share", x, dy: size * 0.95 }, `${Math.min(99, Math.round(mark.confidence * 100))}%`));
  return text;
}

const cardLabel = (code) => (/^[A23456789TJQK][cdhs?]$/.test(code) ? rank(code) + suit(code) : code);
