// The drawn felt: spots where they are, hands as little cards between spot and dealer. Units: mm of felt.
import { cardText, isRed, money, rank, seatName, suit, svg } from "./words.js";

const CARD = { w: 94, h: 130, step: 54 };
const STRETCH = 1.25; // a felt is flat and wide; the cards are drawn larger than they are, and need the height

export function drawFelt(root, state, flagged) {
  const { felt, seats, dealer } = state;
  if (!felt.spots.length) return;
  const flip = felt.up === "dealer" ? -1 : 1; // the drawing lies as the camera's picture does
  const at = (x, y) => [flip * x, -flip * y * STRETCH];
  const [cx, cy, radius] = felt.insurance;
  const xs = felt.spots.map((s) => s[0]);
  const half = Math.max(...xs.map(Math.abs)) + 150, far = Math.max(...felt.spots.map((s) => s[1])) + 105;
  const top = Math.min(at(0, -30)[1], at(0, far)[1]);
  root.setAttribute("viewBox", `${-half} ${top} ${2 * half} ${(far + 30) * STRETCH}`);

  const parts = [svg("path", { class: "edge", d: line([at(100 - half, 0), at(half - 100, 0)]) })];
  if (radius) {
    const arc = [];
    for (let d = 25; d <= 155; d += 5) {
      const a = (d * Math.PI) / 180;
      arc.push(at(cx + radius * Math.cos(a), cy + radius * Math.sin(a)));
    }
    parts.push(svg("path", { class: "print", d: line(arc) }));
  }

  const bySeat = new Map(seats.map((s) => [s.seat, s]));
  const middle = at(cx, cy);
  felt.spots.forEach((spot, i) => {
    const seat = bySeat.get(i + 1) ?? { seat: i + 1, hands: [], bets: {} };
    const [sx, sy] = at(...spot);
    const away = Math.hypot(middle[0] - sx, middle[1] - sy) || 1;
    const [ux, uy] = [(middle[0] - sx) / away, (middle[1] - sy) / away]; // from the spot to the dealer
    const inward = uy < 0 ? -1 : 1;
    const acts = seat.hands.some((h) => h.turn);
    const g = svg("g", { class: `place${acts ? " acts" : ""}${flagged.has(i + 1) ? " flagged" : ""}` });
    g.append(svg("circle", { class: "spot", cx: sx, cy: sy, r: 50 }));
    g.append(svg("text", { class: "seat", x: sx - ux * 86, y: sy - uy * 86 }, String(i + 1)));
    parts.push(g);

    const scale = [1, 1, 0.8, 0.66, 0.6][seat.hands.length] ?? 0.5;
    let reach = 110 + 85 * scale;
    for (const hand of seat.hands) {
      parts.push(drawHand(hand, sx + ux * reach, sy + uy * reach, scale, inward));
      reach += scale * (Math.abs(ux) * handWidth(hand) + Math.abs(uy) * 190) + 8;
    }
    const text = seat.hands.map((h) => h.wager).filter((w) => w !== 0).map(money).join(" + ");
    if (text) parts.push(pill("wager", sx, sy, text, 40));
    Object.entries(seat.bets).filter(([, v]) => v !== 0).forEach(([name, cents], k) =>
      parts.push(pill("wager side", sx, sy + inward * (72 + 44 * k), `${name.replaceAll("_", " ")} ${money(cents)}`, 30)));
  });
  if (dealer.cards.length) parts.push(drawHand(dealer, ...at(0, 92), 1, -flip));
  root.replaceChildren(...parts);
  root.setAttribute("aria-label", describe(state));
}

const step = (hand) => (hand.cards.length > 5 ? (CARD.step * 4) / (hand.cards.length - 1) : CARD.step);
const handWidth = (hand) => (hand.cards.length ? CARD.w + step(hand) * (hand.cards.length - 1) : 0);

function drawHand(hand, x, y, scale, inward) {
  const g = svg("g", { class: `hand${hand.turn ? " acts" : ""}`, transform: `translate(${x} ${y}) scale(${scale})` });
  if (!hand.cards.length) return g;
  const width = handWidth(hand);
  hand.cards.forEach((card, i) => g.append(drawCard(card, -width / 2 + i * step(hand), -CARD.h / 2)));
  if (hand.turn) g.append(svg("rect", { class: "halo", x: -width / 2 - 9, y: -CARD.h / 2 - 9, width: width + 18, height: CARD.h + 18, rx: 16 }));
  const words = [hand.total, hand.state].filter(Boolean).join(" ");
  const kind = /bust/.test(words) ? " bad" : /blackjack/.test(words) ? " good" : "";
  if (words) g.append(pill(`total${kind}`, 0, inward * (CARD.h / 2 + 32), words, 40));
  return g;
}

function drawCard(shown, x, y) {
  const kind = shown.card ? (isRed(shown.card) ? " red" : "") : shown.face_up ? " unread" : " back";
  const g = svg("g", { class: `card${kind}`, transform: `translate(${x} ${y})` });
  g.append(svg("title", {}, cardText(shown)));
  g.append(svg("rect", { width: CARD.w, height: CARD.h, rx: 9 }));
  if (shown.card) {
    g.append(svg("text", { x: 27, y: 52, textLength: shown.card[0] === "T" ? 44 : null, lengthAdjust: "spacingAndGlyphs" }, rank(shown.card)));
    g.append(svg("text", { x: 27, y: 104 }, suit(shown.card)));
  } else if (shown.face_up) {
    g.append(svg("text", { x: 27, y: 82 }, "?"));
  } else {
    g.append(svg("path", { d: "M14 14L80 116M80 14L14 116M47 14L14 65L47 116L80 65Z" }));
  }
  return g;
}

function pill(kind, x, y, text, size) {
  const width = text.length * size * 0.61 + size * 0.8, height = size * 1.35;
  const g = svg("g", { class: kind, transform: `translate(${x} ${y})` });
  g.append(svg("rect", { x: -width / 2, y: -height / 2, width, height, rx: height / 2 }), svg("text", { y: 2 }, text));
  return g;
}

const line = (points) => points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");

export function rows(state) {
  const out = [];
  if (state.dealer.cards.length) out.push({ name: seatName(0), hand: state.dealer });
  for (const seat of state.seats)
    seat.hands.forEach((hand, i) => {
      if (hand.cards.length || hand.wager !== 0) out.push({ name: seatName(seat.seat, i, seat.hands.length > 1), hand });
    });
  return out;
}

function describe(state) {
  const said = rows(state).map(({ name, hand }) =>
    `${name}: ${hand.cards.map(cardText).join(" ") || "no cards"}${hand.total ? `, ${hand.total}` : ""}`);
  return `The table as it is understood. ${said.join("; ") || "No hands."}`;
}
