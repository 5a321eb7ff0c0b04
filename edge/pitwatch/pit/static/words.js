// Cards, money, times and names as people in a pit write them.
const SUIT = { c: "♣", d: "♦", h: "♥", s: "♠" };
const SUIT_NAME = { c: "clubs", d: "diamonds", h: "hearts", s: "spades" };
const RANK_NAME = { A: "ace", T: "10", J: "jack", Q: "queen", K: "king" };

export const rank = (card) => (card[0] === "T" ? "10" : card[0]);
export const suit = (card) => SUIT[card[1]] ?? "?";
export const isRed = (card) => card?.[1] === "d" || card?.[1] === "h";
export const cardText = (card) => (card ? rank(card) + (SUIT[card[1]] ?? "") : "?");
export const cardName = (card) =>
  card ? `${RANK_NAME[card[0]] ?? card[0]}${SUIT_NAME[card[1]] ? ` of ${SUIT_NAME[card[1]]}` : ""}` : "unread card";

/** Cents as "$1,250" or "$37.50", a loss with a minus sign, "?" for what was not read. */
export function money(cents, { signed = false, whole = false } = {}) {
  if (cents == null) return "?";
  const round = whole || cents % 100 === 0;
  const digits = round ? 0 : 2;
  const amount = (Math.abs(cents) / 100).toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return `${cents < 0 ? "−" : signed && cents > 0 ? "+" : ""}$${amount}`;
}

export const count = (n, one, many = `${one}s`) => `${number(n)} ${n === 1 ? one : many}`;
export const number = (n, digits = 0) =>
  n == null ? "–" : n.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits }).replace("-", "−");

/** 0.934 as "93 %"; rounded down, since 99.6 % is not all. */
export const percent = (share, digits = 0) => {
  if (share == null) return "–";
  const scale = 10 ** digits;
  return `${number(Math.floor(share * 100 * scale + 1e-9) / scale, digits)} %`;
};

export const seatName = (seat, hand = 0, several = false) =>
  seat == null ? "Table" : seat === 0 ? "Dealer" : `Seat ${seat}${several || hand > 0 ? `, hand ${hand + 1}` : ""}`;

/** What a finding's kind is called: the server's title, else "paid_short" as "Paid short". */
export const titleOf = (f) => f.title || kindName(f.kind);

export const kindName = (kind) => {
  const words = String(kind).replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
};

let zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
let formats = {};
export const timeZone = () => zone;

/** Show times in the house's zone; one that this browser does not know is ignored. */
export function setTimeZone(name) {
  try {
    new Intl.DateTimeFormat("en-GB", { timeZone: name });
  } catch {
    return;
  }
  zone = name;
  formats = {};
}

function format(name, options) {
  formats[name] ??= new Intl.DateTimeFormat("en-GB", { timeZone: zone, hourCycle: "h23", ...options });
  return formats[name];
}
const date = (at) => (at instanceof Date ? at : new Date(at));
const known = (at) => at != null && !Number.isNaN(date(at).getTime());

export const clock = (at) => (known(at) ? format("clock", { hour: "2-digit", minute: "2-digit", second: "2-digit" }).format(date(at)) : "–");
export const clockShort = (at) => (known(at) ? format("short", { hour: "2-digit", minute: "2-digit" }).format(date(at)) : "–");
export const day = (at) => (known(at) ? format("day", { weekday: "short", day: "numeric", month: "short" }).format(date(at)) : "–");
export const dayAndTime = (at) =>
  !known(at) ? "–" : `${day(at)}${date(at).getFullYear() === new Date().getFullYear() ? "" : ` ${date(at).getFullYear()}`}, ${clock(at)}`;

/** The day in the house's zone as 2026-11-30. */
export const isoDay = (at) => {
  const part = Object.fromEntries(format("iso", { year: "numeric", month: "2-digit", day: "2-digit" }).formatToParts(date(at)).map((p) => [p.type, p.value]));
  return `${part.year}-${part.month}-${part.day}`;
};

/** Seconds as people say them: "40 s", "3 min", "2 h 5 min", "3 days". */
export function duration(seconds) {
  const n = Math.max(0, Math.round(seconds));
  if (n < 60) return `${n} s`;
  if (n < 3600) return `${Math.floor(n / 60)} min`;
  if (n < 86400) return `${Math.floor(n / 3600)} h${n % 3600 >= 60 ? ` ${Math.floor((n % 3600) / 60)} min` : ""}`;
  return count(Math.floor(n / 86400), "day");
}
export const ago = (at, now = Date.now()) => {
  if (!known(at)) return "–";
  const n = (now - date(at).getTime()) / 1000;
  return n < 5 ? "just now" : `${duration(n)} ago`;
};

/** The gaming day that runs now, when one begins at `start` ("06:00"). */
export function gamingDay(start, now = Date.now()) {
  const today = isoDay(now);
  return clockShort(now) < start ? shiftDay(today, -1) : today;
}
/** "2026-11-30" moved by days. */
export const shiftDay = (iso, days) => new Date(Date.parse(`${iso}T12:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10);
