// Cards, money and times as people write them.
const SUIT = { c: "♣", d: "♦", h: "♥", s: "♠", "?": "?" };

export const rank = (card) => (card[0] === "T" ? "10" : card[0]);
export const suit = (card) => SUIT[card[1]] ?? "?";
export const isRed = (card) => card != null && (card[1] === "d" || card[1] === "h");
export const cardText = (shown) => (shown.card ? rank(shown.card) + suit(shown.card) : shown.face_up ? "?" : "face down");

export function money(cents) {
  if (cents == null) return "?";
  const sign = cents < 0 ? "−" : "";
  const whole = Math.abs(cents) % 100 === 0;
  const digits = whole ? 0 : 2;
  return `${sign}$${(Math.abs(cents) / 100).toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits })}`;
}

export function clock(seconds) {
  const s = Math.max(0, seconds);
  const two = (n) => String(Math.floor(n)).padStart(2, "0");
  return (s >= 3600 ? `${Math.floor(s / 3600)}:` : "") + `${two((s / 60) % 60)}:${two(s % 60)}`;
}

export const seatName = (seat, hand = 0, several = false) =>
  seat === 0 ? "Dealer" : `Seat ${seat}` + (several || hand > 0 ? `, hand ${hand + 1}` : "");

const NS = "http://www.w3.org/2000/svg";
export function svg(name, attributes = {}, ...children) {
  const e = document.createElementNS(NS, name);
  for (const [k, v] of Object.entries(attributes)) if (v != null) e.setAttribute(k, v);
  e.append(...children);
  return e;
}
export function html(name, attributes = {}, ...children) {
  const e = document.createElement(name);
  for (const [k, v] of Object.entries(attributes)) if (v != null) e.setAttribute(k, v);
  e.append(...children);
  return e;
}
