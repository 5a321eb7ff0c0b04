// Keeps the page as the watch sees the table: one stream of states and findings, pictures fetched on change.
import { drawFelt, rows } from "./felt.js";
import { addFinding, findingCount } from "./findings.js";
import { drawOverlay } from "./overlay.js";
import { cardText, clock, html, isRed, money } from "./words.js";

const $ = (id) => document.getElementById(id);
const picture = $("picture"), overlay = $("overlay");
let state = null, shown = -1, loading = false, ended = false;
const flagged = new Map(); // seat -> the round in which a finding was made there

function show(next) {
  state = next;
  document.title = `${findingCount() ? `(${findingCount()}) ` : ""}${state.table || "pitwatch"} · pitwatch`;
  $("table").textContent = [state.table, state.rules].filter(Boolean).join(" · ");
  setText("phase", [state.round ? `Round ${state.round}` : "", state.running ? state.phase : "ended"].filter(Boolean).join(" · "));
  setText("clock", clock(state.t));
  health(state.health);
  const seats = new Set([...flagged].filter(([, round]) => round === state.round).map(([seat]) => seat));
  drawFelt($("felt"), state, seats);
  $("hands").tBodies[0].replaceChildren(...rows(state).map(row));
  loadPicture();
}

// only what changed is touched, so that screen readers do not repeat themselves
function setText(id, text) {
  if ($(id).textContent !== text) $(id).textContent = text;
}

function row({ name, hand }) {
  const cards = html("td");
  hand.cards.forEach((c, i) => cards.append(i ? " " : "", html("span", isRed(c.card) ? { class: "red" } : {}, cardText(c))));
  return html("tr", hand.turn ? { class: "acts" } : {},
    html("th", { scope: "row" }, name), cards,
    html("td", {}, [hand.total, hand.state].filter(Boolean).join(", ")),
    html("td", {}, name === "Dealer" || hand.wager === 0 ? "" : money(hand.wager)));
}

function health(h) {
  const share = h.judged_share;
  const items = [
    [`${h.fps.toFixed(1)}`, "pictures/s", h.late > 0 && h.notice ? "warn" : ""],
    share == null ? ["–", "hands judged", ""] : [`${Math.floor(share * 100)} %`, `of ${h.hands_total} hands judged`, share < 0.9 ? "bad" : share < 0.95 ? "warn" : ""],
    { connected: ["MQTT", "connected", ""], trying: ["MQTT", "not connected", "bad"], off: ["MQTT", "off", "warn"] }[h.broker],
  ];
  if (!h.judging) items.unshift(["Not judging", `camera ${h.camera}`, "bad"]);
  if (h.skipped) items.push([`${h.skipped}`, "pictures unreadable", "warn"]);
  if (h.late) items.push([`${h.late}`, "pictures passed over", "warn"]);
  const list = $("health");
  const key = JSON.stringify(items);
  if (list.dataset.key !== key) {
    list.dataset.key = key;
    list.replaceChildren(...items.map(([n, words, kind]) => html("li", { class: kind || null, title: words.endsWith("connected") ? h.broker_status : null }, html("b", {}, n), ` ${words}`)));
  }
  setText("notice", h.notice);
  $("notice").hidden = !h.notice;
  $("notice").classList.toggle("stopped", !h.judging);
}

// picture and outlines change together; a slow connection skips pictures instead of falling behind
function loadPicture() {
  const o = state.overlay;
  if (loading || !o.width || o.picture === shown) return;
  loading = true;
  const next = new Image();
  next.onload = () => {
    shown = o.picture;
    picture.src = next.src;
    picture.hidden = false;
    $("waiting").hidden = true;
    picture.parentElement.style.aspectRatio = `${o.width} / ${o.height}`;
    drawOverlay(overlay, o, overlay.clientWidth);
    loading = false;
    if (state.overlay.picture !== shown) loadPicture();
  };
  next.onerror = () => { loading = false; };
  next.src = `/picture.jpg?n=${o.picture}`;
}

function found(finding, fresh) {
  if (!addFinding(finding, fresh)) return;
  flagged.set(finding.seat, finding.round);
  if (fresh) $("announce").textContent = finding.text;
}

$("marks").addEventListener("change", (e) => overlay.classList.toggle("unseen", !e.target.checked));
new ResizeObserver(() => state && drawOverlay(overlay, state.overlay, overlay.clientWidth)).observe(overlay);

function connect() {
  const live = new EventSource("/api/live");
  live.addEventListener("state", (e) => show(JSON.parse(e.data)));
  live.addEventListener("finding", (e) => found(JSON.parse(e.data), true));
  live.addEventListener("end", () => { ended = true; live.close(); over("The watch has ended; this is its last state."); });
  live.onerror = () => { if (!ended) over("The connection to pitwatch is lost; trying again."); };
  live.onopen = () => { if (state) { $("notice").hidden = !state.health.notice; } };
}

function over(sentence) {
  setText("notice", sentence);
  $("notice").hidden = false;
}

const first = await (await fetch("/api/state")).json();
first.findings.forEach((f) => found(f, false));
show(first.state);
connect();
