// The drawn felt: the dealer below, first base left, as who stands in the pit sees it. Units of a 1600 × 860 box.
import { s, setAttribute } from "./dom.js";
import { cardName, cardText, isRed, money, rank, seatName, suit } from "./words.js";

const BOX = { w: 1600, h: 860 };
const CARD = { w: 86, h: 118, step: 48 };
const MIDDLE = { x: 800, y: 930 };

/** Where seat `i` of `n` lies: its spot, its cards, and the direction to the dealer. */
function place(i, n) {
  const from = n > 7 ? 168 : 160;
  const a = ((n === 1 ? 90 : from - (i * (2 * from - 180)) / (n - 1)) * Math.PI) / 180;
  const at = (rx, ry) => [MIDDLE.x + rx * Math.cos(a), MIDDLE.y - ry * Math.sin(a)];
  const [x, y] = at(760, 878);
  // at the ends of the arc it would be behind what lies on the spot
  return { spot: at(690, 800), cards: at(496, 588), label: [x, y - 46 * Math.abs(Math.cos(a))] };
}

/** Seats to draw: those the table has, and any that a message names beyond them. */
export const seatsOf = (state, known = 0) => Math.max(known || 7, ...(state?.hands ?? []).map((x) => x.seat), 1);

/** seat that is to act, from the phase's words; 0 for the dealer, null for nobody. */
export function turnOf(state) {
  const acting = /^players act: seat (\d+)/.exec(state?.phase ?? "");
  return acting ? Number(acting[1]) : /^dealer draws/.test(state?.phase ?? "") ? 0 : null;
}

/** Draw `state` (a table view) into `root`, an svg. flagged: seats with a finding; changed: hands "seat.hand" that just changed. */
export function drawFelt(root, state, { seats = 0, flagged = new Set(), changed = new Set() } = {}) {
  setAttribute(root, "viewBox", `0 0 ${BOX.w} ${BOX.h}`);
  setAttribute(root, "role", "img");
  setAttribute(root, "aria-label", describe(state));
  const n = seatsOf(state, seats);
  const turn = turnOf(state);
  const arc = (rx, ry) => `M${MIDDLE.x - rx} ${MIDDLE.y} A${rx} ${ry} 0 0 1 ${MIDDLE.x + rx} ${MIDDLE.y}`;
  const parts = [s("path", { class: "rail", d: arc(836, 924) }), s("path", { class: "print", d: arc(330, 360) })];
  for (let i = 0; i < n; i++) {
    const hands = (state?.hands ?? []).filter((x) => x.seat === i + 1);
    parts.push(drawSeat(i + 1, hands, place(i, n), { acts: hands.some((x) => x.turn) || turn === i + 1, flagged: flagged.has(i + 1), changed, n }));
  }
  const dealer = state?.dealer;
  if (dealer?.cards?.length)
    parts.push(drawHand(dealer, MIDDLE.x, 770, 1.2, { acts: dealer.turn || turn === 0, flagged: flagged.has(0), changed: changed.has("0.0"), below: true }));
  else parts.push(s("text", { class: "word", x: MIDDLE.x, y: 760 }, "Dealer"));
  root.replaceChildren(...parts);
}

function drawSeat(seat, hands, { spot, cards, label }, { acts, flagged, changed, n }) {
  const [x, y] = spot;
  const g = s("g", { class: `seat${acts ? " acts" : ""}${flagged ? " flagged" : ""}` });
  g.append(s("circle", { class: "spot", cx: x, cy: y, r: 50 }), s("text", { class: "number", x: label[0], y: label[1] }, String(seat)));
  const laid = hands.filter((x) => x.cards.length);
  const longest = Math.max(0, ...laid.map((x) => x.cards.length));
  const scale = ([1, longest > 3 ? 1 : 1.14, 0.78, 0.58, 0.5][laid.length] ?? 0.44) * (n > 7 ? 0.84 : 1);
  const open = laid.find((x) => x.turn) ?? laid.find((x) => !x.status) ?? laid[0];
  const height = 176 * scale;
  laid.forEach((hand, i) => {
    const dy = (i - (laid.length - 1) / 2) * height;
    g.append(drawHand(hand, cards[0], cards[1] + dy, scale, {
      acts: acts && hand === open, flagged: flagged && laid.length === 1, changed: changed.has(`${seat}.${hand.hand}`),
    }));
  });
  const wagers = hands.filter((x) => x.wager !== 0).map((x) => money(x.wager));
  if (wagers.length) g.append(pill("wager", x, y, wagers.length > 2 ? `${wagers.length} × ${wagers[0]}` : wagers.join(" + "), wagers.length > 1 ? 32 : 40));
  const insured = hands.reduce((sum, x) => sum + (x.insurance ?? 0), 0);
  if (insured) g.append(pill("wager side", x, y + 62, `ins. ${money(insured)}`, 28));
  return g;
}

const step = (cards) => (cards.length > 4 ? (CARD.step * 3) / (cards.length - 1) : CARD.step);

function drawHand(hand, x, y, scale, { acts, flagged, changed, below }) {
  const g = s("g", { class: `hand${acts ? " acts" : ""}${flagged ? " flagged" : ""}${changed ? " changed" : ""}`, transform: `translate(${x.toFixed(1)} ${y.toFixed(1)}) scale(${scale})` });
  const width = CARD.w + step(hand.cards) * (hand.cards.length - 1);
  if (acts) g.append(s("rect", { class: "halo", x: -width / 2 - 12, y: -CARD.h / 2 - 12, width: width + 24, height: CARD.h + 24, rx: 18 }));
  hand.cards.forEach((card, i) =>
    g.append(drawCard(card, hand.seat === 0 && hand.cards.length <= 2, -width / 2 + i * step(hand.cards), -CARD.h / 2)));
  const words = standing(hand).join(" ");
  const mood = /bust|taken|lost/.test(words) ? " bad" : /blackjack|paid/.test(words) ? " good" : "";
  if (words) g.append(pill(`total${mood}`, 0, below ? -(CARD.h / 2 + 24) : CARD.h / 2 + 12, words, words.length > 14 ? 27 : 35));
  return g;
}

/** One card; `back`: an unread one lies face down. */
export function drawCard(card, back, x, y) {
  const kind = card ? (isRed(card) ? " red" : "") : back ? " back" : " unread";
  const g = s("g", { class: `card${kind}`, transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})` });
  g.append(s("rect", { width: CARD.w, height: CARD.h, rx: 9 }));
  if (card) {
    g.append(s("text", { x: 24, y: 46, textLength: card[0] === "T" ? 38 : null, lengthAdjust: "spacingAndGlyphs" }, rank(card)));
    g.append(s("text", { x: 24, y: 94, class: "suit" }, suit(card)));
  } else if (back) g.append(s("path", { d: "M13 13L73 105M73 13L13 105M43 13L13 59L43 105L73 59Z" }));
  else g.append(s("text", { x: 24, y: 74 }, "?"));
  return g;
}

function pill(kind, x, y, text, size) {
  const width = text.length * size * 0.58 + size * 0.9, height = size * 1.35;
  return s("g", { class: kind, transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})` },
    s("rect", { x: -width / 2, y: -height / 2, width, height, rx: height / 2 }),
    s("text", { y: 1, "font-size": size }, text));
}

/** What the felt shows, in words. */
export function describe(state) {
  const several = (seat) => (state?.hands ?? []).filter((x) => x.seat === seat).length > 1;
  const said = rows(state).map(({ hand }) =>
    `${seatName(hand.seat, hand.hand, several(hand.seat))}: ${hand.cards.map(cardName).join(", ") || "no cards"}${hand.total ? `, ${hand.total}` : ""}${hand.status ? `, ${hand.status}` : ""}`);
  return `The table as it is understood. ${state?.phase ?? ""}. ${said.join("; ") || "No hands."}`;
}

/** A hand's total and what became of it, each said once. */
export const standing = (hand) => [...new Set([hand.total, hand.status])].filter(Boolean);

/** The dealer's hand and every seat's with cards or a wager, in order. */
export function rows(state) {
  const out = [];
  if (state?.dealer?.cards?.length) out.push({ name: "Dealer", hand: state.dealer });
  for (const hand of state?.hands ?? [])
    if (hand.cards.length || hand.wager !== 0)
      out.push({ name: seatName(hand.seat, hand.hand, state.hands.filter((x) => x.seat === hand.seat).length > 1), hand });
  return out;
}

export { cardText };
