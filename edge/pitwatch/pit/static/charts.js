// Small charts in SVG at the screen's own scale: axis, unit, values written beside the marks, and the same as a table.
import { h, s } from "./dom.js";

/** Round steps for an axis from `low` to `high`. */
export function ticks(low, high, wanted = 5) {
  const span = high - low || 1;
  const raw = span / wanted, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].find((m) => m * power >= raw) * power;
  const out = [];
  for (let v = Math.ceil(low / step - 1e-9) * step; v <= high + step * 1e-6; v += step) out.push(Math.abs(v) < step * 1e-6 ? 0 : v);
  return out;
}

/** A figure with a title, the chart that `draw(width)` makes, and a table of the same values. */
function figure({ title, note, columns, rows, draw, label }) {
  if (!rows.length)
    return h("figure", { class: "panel figure" }, h("figcaption", null, h("h2", null, title), note && h("p", { class: "hint" }, note)), h("p", { class: "soft" }, "Too little was played for this yet."));
  const place = h("div", { class: "chart" });
  let width = 0;
  const redraw = () => {
    const now = Math.floor(place.clientWidth);
    if (!now || now === width) return;
    width = now;
    const svg = draw(Math.max(now, 260));
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", label);
    place.replaceChildren(svg);
  };
  new ResizeObserver(redraw).observe(place);
  const table = h("table", { class: "data" },
    h("caption", { class: "unseen" }, title),
    h("thead", null, h("tr", null, columns.map((c, i) => h("th", { scope: "col", class: i ? "num" : null }, c)))),
    h("tbody", null, rows.map((r) => h("tr", null, r.map((v, i) => (i ? h("td", { class: "num" }, v) : h("th", { scope: "row" }, v)))))));
  return h("figure", { class: "panel figure" },
    h("figcaption", null, h("h2", null, title), note && h("p", { class: "hint" }, note)),
    place,
    h("details", null, h("summary", null, "As a table"), h("div", { class: "scroll-x", tabindex: "0", role: "region", "aria-label": `${title}, table` }, table)));
}

function frame(width, height) {
  return s("svg", { viewBox: `0 0 ${width} ${height}`, width, height });
}

function labelWidth(items, width) {
  const longest = Math.max(...items.map((x) => x.name.length), 3);
  return Math.min(Math.round(longest * 8.4 + 14), Math.round(width * 0.36));
}
const cut = (text, px) => (text.length * 8.4 > px ? `${text.slice(0, Math.max(3, Math.floor(px / 8.4) - 1))}…` : text);

/**
 * Bars to the right of zero, or both ways where values are negative; or, with `interval`, a dot with its whisker.
 * items: { name, value, low, high, mood }; value null: not known. text(value, item): how a value is written.
 */
export function bars({ title, note, items, text, axis, unit, interval = false, limits = null, average = null, nameOf = "Name" }) {
  const ROW = 34, TOP = 4, FOOT = 44;
  const draw = (width) => {
    const height = TOP + items.length * ROW + FOOT;
    const svg = frame(width, height);
    const left = labelWidth(items, width), room = interval ? 12 : 78;
    const values = items.flatMap((x) => [x.value, interval ? x.low : null, interval ? x.high : null]).filter((v) => v != null);
    let low = Math.min(0, ...values), high = Math.max(0, ...values);
    if (limits) [low, high] = limits;
    if (low === high) high = low + 1;
    const marks = ticks(low, high, Math.max(2, Math.min(6, Math.floor((width - left) / 90))));
    low = Math.min(low, marks[0] ?? low);
    const negative = low < 0 && !limits ? room : 6;
    const x = (v) => left + negative + ((v - low) / (high - low)) * (width - left - room - negative);
    for (const m of marks)
      svg.append(s("line", { class: m === 0 ? "zero" : "grid", x1: x(m), x2: x(m), y1: TOP, y2: height - FOOT + 4 }),
        s("text", { class: "tick", x: x(m), y: height - FOOT + 20 }, axis(m)));
    svg.append(s("text", { class: "unit", x: x((low + high) / 2), y: height - 4 }, unit));
    if (average) svg.append(s("line", { class: "average", x1: x(average), x2: x(average), y1: TOP, y2: height - FOOT }));
    items.forEach((item, i) => {
      const y = TOP + i * ROW + ROW / 2;
      svg.append(s("text", { class: "name", x: 2, y }, cut(item.name, left - 8), s("title", null, item.name)));
      if (item.value == null) return svg.append(s("text", { class: "value", x: x(Math.max(low, 0)) + 8, y }, "not known"));
      const mood = item.mood ? ` ${item.mood}` : "";
      if (interval && item.low != null) {
        svg.append(s("line", { class: `whisker${mood}`, x1: x(item.low), x2: x(Math.min(item.high, high)), y1: y, y2: y }),
          s("line", { class: `whisker${mood}`, x1: x(item.low), x2: x(item.low), y1: y - 6, y2: y + 6 }),
          s("line", { class: `whisker${mood}`, x1: x(Math.min(item.high, high)), x2: x(Math.min(item.high, high)), y1: y - 6, y2: y + 6 }),
          s("circle", { class: `dot${mood}`, cx: x(item.value), cy: y, r: 6 }));
      } else {
        const [a, b] = [x(0), x(item.value)].sort((p, q) => p - q);
        svg.append(s("rect", { class: `bar${mood}`, x: a, y: y - 9, width: Math.max(b - a, 1.5), height: 18, rx: 3 }),
          s("text", { class: `value${item.value < 0 ? " left" : ""}`, x: item.value < 0 ? a - 6 : b + 6, y }, text(item.value, item)));
      }
      return null;
    });
    return svg;
  };
  const columns = interval ? [nameOf, "Value", "From", "To"] : [nameOf, "Value"];
  const rows = items.map((x) => [x.name, x.value == null ? "not known" : text(x.value, x), ...(interval ? [x.low == null ? "–" : axis(x.low), x.high == null ? "–" : axis(x.high)] : [])]);
  const best = items.filter((x) => x.value != null).slice(0, 8).map((x) => `${x.name} ${text(x.value, x)}`).join(", ");
  return figure({ title, note, columns, rows, draw, label: `${title}. ${best || "Nothing known yet."}` });
}

/** Columns over time. items: { name, value, mood }, evenly spaced; every few names are written below. */
export function columns({ title, note, items, text, axis, unit, nameOf = "Time" }) {
  const draw = (width) => {
    const height = 230, left = 52, foot = 46, top = 22;
    const svg = frame(width, height);
    const high = Math.max(1e-9, ...items.map((x) => x.value ?? 0));
    const marks = ticks(0, high, 4);
    const upper = Math.max(high, marks.at(-1) ?? high);
    const y = (v) => height - foot - (v / upper) * (height - foot - top);
    for (const m of marks)
      svg.append(s("line", { class: m === 0 ? "zero" : "grid", x1: left, x2: width - 4, y1: y(m), y2: y(m) }),
        s("text", { class: "tick end", x: left - 8, y: y(m) }, axis(m)));
    svg.append(s("text", { class: "unit start", x: 0, y: 12 }, unit));
    const slot = (width - left - 8) / Math.max(items.length, 1);
    const every = Math.max(1, Math.ceil((Math.max(...items.map((x) => x.name.length), 1) * 8 + 10) / slot));
    items.forEach((item, i) => {
      const x = left + 4 + i * slot;
      if (item.value != null)
        svg.append(s("rect", { class: `bar${item.mood ? ` ${item.mood}` : ""}`, x: x + slot * 0.14, y: y(item.value), width: slot * 0.72, height: Math.max(0, y(0) - y(item.value)), rx: Math.min(3, slot * 0.2) },
          s("title", null, `${item.name}: ${text(item.value, item)}`)));
      if (i % every === 0) svg.append(s("text", { class: "tick", x: x + slot / 2, y: height - foot + 18 }, item.name));
    });
    svg.append(s("text", { class: "unit", x: (left + width) / 2, y: height - 6 }, nameOf));
    return svg;
  };
  const rows = items.map((x) => [x.name, x.value == null ? "not known" : text(x.value, x)]);
  return figure({ title, note, columns: [nameOf, unit], rows, draw, label: `${title}. ${rows.slice(0, 12).map((r) => r.join(" ")).join(", ")}` });
}
