"""Rounds as text: one line a hand, and back.

In and out: `RoundRecord`. Text such as

    round 7, 61.2 to 98.45 s
    dealer: 6h Kd 5c
    seat 1: $25 at $50, 9c 2d Kh, double, won +$25 ! paid_short
    seat 2: $40, Qh ??, stand, unknown ?
    seat 2 insurance: $20, -$20
    seat 2 bet 21+3: $5, +$45
    ! 97.3 alert paid_short seat 1, expected 5000, observed 2500, rule greektown.win_pays: "Seat 1 was ..."

Wager first (`at`: what lay there when it was settled, where that is not the wager), cards (`??` unread, `-`
none), decisions, outcome and the player's net; `?` is an amount that was not read. A hand with a decision to
double counts as doubled, unless `doubled` or `not doubled` before the cards says otherwise. What is wrong
with a hand stands behind its `!`, by kind, and once more in full below the hands.
"""

from __future__ import annotations

import json
import re

from pitwatch.cards import is_card
from pitwatch.chips import money
from pitwatch.game.findings import Finding
from pitwatch.game.record import HandRecord, RoundRecord, SideBetRecord

__all__ = ["NotationError", "parse", "parse_all", "write"]


class NotationError(ValueError):
    """A text that is no round; the message names the line and what it should be."""


# -- writing


def write(r: RoundRecord) -> str:
    """A round as text, without a newline at its end."""
    lines = [
        f"round {r.number}, {r.t_start!r} to {r.t_end!r} s",
        f"dealer: {_cards(r.dealer)}{_kinds(r, 0, 0)}",
    ]
    for h in r.hands:
        name = f"seat {h.seat}" + (f" hand {h.hand}" if h.hand else "")
        parts = [_stake(h), *_doubled(h), _cards(h.cards)]
        parts += [*map(_word, h.decisions), f"{_word(h.outcome)} {_net(h.payout)}"]
        lines.append(f"{name}: {', '.join(parts)}{_kinds(r, h.seat, h.hand)}")
    lines += [f"seat {s} insurance: {_cents(p)}, {_net(n)}" for s, p, n in r.insurance]
    lines += [f"seat {b.seat} bet {_word(b.bet)}: {_cents(b.placed)}, {_net(b.payout)}" for b in r.side_bets]
    lines += [_finding(f) for f in r.findings]
    return "\n".join(lines)


def _cards(cards: tuple[str | None, ...]) -> str:
    return " ".join(c or "??" for c in cards) or "-"


def _cents(value: int | None) -> str:
    return "?" if value is None else money(value)


def _net(value: int | None) -> str:
    return ("+" if value is not None and value > 0 else "") + _cents(value)


def _stake(h: HandRecord) -> str:
    return _cents(h.wager) + (f" at {_cents(h.stake)}" if h.stake != h.wager else "")


def _doubled(h: HandRecord) -> list[str]:
    if h.doubled == ("double" in h.decisions):
        return []
    return ["doubled" if h.doubled else "not doubled"]


def _word(text: str) -> str:
    """A word of the pit as it is, anything else in quotes."""
    return text if _PLAIN.fullmatch(text) else json.dumps(text)


def _kinds(r: RoundRecord, seat: int, hand: int) -> str:
    kinds = [_word(f.kind) for f in r.findings if (f.seat, f.hand) == (seat, hand)]
    return f" ! {', '.join(kinds)}" if kinds else ""


def _finding(f: Finding) -> str:
    parts = [f"! {f.t!r} {f.severity} {_word(f.kind)} seat {f.seat}" + (f" hand {f.hand}" if f.hand else "")]
    parts += [f"{n} {v}" for n, v in (("expected", f.expected), ("observed", f.observed)) if v is not None]
    parts += [f"rule {_word(f.rule)}"] if f.rule else []
    parts += [f"confidence {f.confidence!r}"] if f.confidence != 1.0 else []
    parts += [f"reason {_word(f.reason)}"] if f.reason is not None else []
    parts += [f"evidence {_word(e)}" for e in f.evidence]
    return f"{', '.join(parts)}: {json.dumps(f.text, ensure_ascii=False)}"


# -- reading

_PLAIN = re.compile(r"[a-z0-9][a-z0-9_+.-]*( [a-z0-9_+.-]+)*")
_NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
_WORD = r'(?:"(?:[^"\\]|\\.)*"|[a-z0-9][a-z0-9_+.-]*(?: [a-z0-9_+.-]+)*)'
_MONEY = r"[+-]?\$[\d,]+(?:\.\d\d)?|\?"
_CARDS = r"-|[^\s,!]{2}(?: [^\s,!]{2})*"
_WRONG = rf"(?: ! (?P<kinds>{_WORD}(?:, {_WORD})*))?"
_ROUND = re.compile(rf"round (?P<number>-?\d+), (?P<start>{_NUMBER}) to (?P<end>{_NUMBER}) s")
_DEALER = re.compile(rf"dealer: (?P<cards>{_CARDS}){_WRONG}")
_HAND = re.compile(
    rf"seat (?P<seat>\d+)(?: hand (?P<hand>\d+))?: (?P<wager>{_MONEY})(?: at (?P<stake>{_MONEY}))?"
    rf"(?:, (?P<doubled>(?:not )?doubled))?, (?P<cards>{_CARDS})(?P<decisions>(?:, {_WORD})*),"
    rf" (?P<outcome>{_WORD}) (?P<net>{_MONEY}){_WRONG}"
)
_INSURANCE = re.compile(rf"seat (?P<seat>\d+) insurance: (?P<placed>{_MONEY}), (?P<net>{_MONEY})")
_BET = re.compile(rf"seat (?P<seat>\d+) bet (?P<bet>{_WORD}): (?P<placed>{_MONEY}), (?P<net>{_MONEY})")
_FINDING = re.compile(
    rf"! (?P<t>{_NUMBER}) (?P<severity>alert|notice) (?P<kind>{_WORD}) seat (?P<seat>\d+)"
    rf"(?: hand (?P<hand>\d+))?(?:, expected (?P<expected>-?\d+))?(?:, observed (?P<observed>-?\d+))?"
    rf"(?:, rule (?P<rule>{_WORD}))?(?:, confidence (?P<confidence>{_NUMBER}))?"
    rf"(?:, reason (?P<reason>{_WORD}))?(?P<evidence>(?:, evidence {_WORD})*)"
    r': (?P<text>"(?:[^"\\]|\\.)*")'
)
_SHOULD = {
    "round": "round 7, 61.2 to 98.45 s",
    "dealer": "dealer: 6h Kd 5c",
    "seat": "seat 2: $40, Qh 9s, stand, won +$40",
    "insurance": "seat 2 insurance: $20, -$20",
    "bet": "seat 2 bet bet_player: $5, +$75",
    "!": '! 97.3 alert paid_short seat 1, expected 5000, observed 2500: "..."',
}


def parse(text: str) -> RoundRecord:
    """The round that a text describes; blank lines do not count.

    Raises NotationError naming the line and what it should be.
    """
    rounds = parse_all(text)
    if len(rounds) != 1:
        raise NotationError(f"the text holds {len(rounds)} rounds; give one, or read it with parse_all")
    return rounds[0]


def parse_all(text: str) -> tuple[RoundRecord, ...]:
    """The rounds of a text, each beginning with its `round` line.

    Raises NotationError naming the line and what it should be.
    """
    out: list[_Reading] = []
    for number, line in enumerate(text.split("\n"), 1):
        line = line.rstrip("\r")
        if not line.strip():
            continue
        reading = out[-1] if out else None
        try:
            if line.startswith("round"):
                out.append(_Reading(_match(_ROUND, line, "round"), number))
            elif reading is None:
                raise NotationError(f"a text begins with its round, such as '{_SHOULD['round']}'")
            else:
                reading.take(line, number)
        except NotationError as e:
            raise NotationError(f"line {number}: {e}") from None
        except (ValueError, OverflowError) as e:
            raise NotationError(f"line {number}: {e}; write it as a round writes it") from None
    return tuple(r.done() for r in out)


class _Reading:
    """A round while its lines are read."""

    def __init__(self, m: re.Match[str], line: int) -> None:
        self.line = line
        self.number, self.start, self.end = int(m["number"]), float(m["start"]), float(m["end"])
        self.dealer: tuple[str | None, ...] | None = None
        self.hands: list[HandRecord] = []
        self.insurance: list[tuple[int, int | None, int | None]] = []
        self.bets: list[SideBetRecord] = []
        self.findings: list[Finding] = []
        self.noted: list[tuple[int, int, int, list[str]]] = []

    def take(self, line: str, number: int) -> None:
        if line.startswith("dealer"):
            if self.dealer is not None:
                raise NotationError("a round has one line for the dealer; take this one out")
            m = _match(_DEALER, line, "dealer")
            self.dealer = _read_cards(m["cards"])
            self._note(number, 0, 0, m)
        elif line.startswith("!"):
            self.findings.append(_read_finding(_match(_FINDING, line, "!")))
        elif re.match(r"seat \d+ insurance", line):
            m = _match(_INSURANCE, line, "insurance")
            self.insurance.append((int(m["seat"]), _read_cents(m["placed"]), _read_cents(m["net"])))
        elif re.match(r"seat \d+ bet", line):
            m = _match(_BET, line, "bet")
            seat, bet = int(m["seat"]), _read_word(m["bet"])
            self.bets.append(SideBetRecord(seat, bet, _read_cents(m["placed"]), _read_cents(m["net"])))
        elif line.startswith("seat"):
            m = _match(_HAND, line, "seat")
            hand = _read_hand(m)
            self.hands.append(hand)
            self._note(number, hand.seat, hand.hand, m)
        else:
            words = "round, dealer, seat or !"
            raise NotationError(f"{line[:40]!r} begins no line of a round; it should begin with {words}")

    def _note(self, line: int, seat: int, hand: int, m: re.Match[str]) -> None:
        self.noted.append((line, seat, hand, _read_words(m["kinds"] or "")))

    def done(self) -> RoundRecord:
        if self.dealer is None:
            raise NotationError(
                f"line {self.line}: the round has no line for the dealer, such as '{_SHOULD['dealer']}'"
            )
        for line, seat, hand, kinds in self.noted:
            told = [f.kind for f in self.findings if (f.seat, f.hand) == (seat, hand)]
            if told != kinds:
                raise NotationError(
                    f"line {line}: it names {', '.join(kinds) or 'no finding'} where the lines with '!' below"
                    f" name {', '.join(told) or 'none'}; make them agree"
                )
        return RoundRecord(
            self.number,
            self.start,
            self.end,
            tuple(self.hands),
            self.dealer,
            tuple(self.insurance),
            tuple(self.findings),
            tuple(self.bets),
        )


def _match(pattern: re.Pattern[str], line: str, what: str) -> re.Match[str]:
    m = pattern.fullmatch(line.strip())
    if m is None:
        raise NotationError(f"{line.strip()[:60]!r} cannot be read; write it like '{_SHOULD[what]}'")
    return m


def _read_hand(m: re.Match[str]) -> HandRecord:
    wager, acts = _read_cents(m["wager"]), tuple(_read_words(m["decisions"]))
    return HandRecord(
        seat=int(m["seat"]),
        hand=int(m["hand"] or 0),
        cards=_read_cards(m["cards"]),
        wager=wager,
        doubled="double" in acts if m["doubled"] is None else m["doubled"] == "doubled",
        stake=wager if m["stake"] is None else _read_cents(m["stake"]),
        payout=_read_cents(m["net"]),
        outcome=_read_word(m["outcome"]),
        decisions=acts,
    )


def _read_finding(m: re.Match[str]) -> Finding:
    return Finding(
        t=float(m["t"]),
        kind=_read_word(m["kind"]),
        seat=int(m["seat"]),
        text=_string(m["text"]),
        hand=int(m["hand"] or 0),
        expected=None if m["expected"] is None else int(m["expected"]),
        observed=None if m["observed"] is None else int(m["observed"]),
        severity="alert" if m["severity"] == "alert" else "notice",
        rule="" if m["rule"] is None else _read_word(m["rule"]),
        confidence=1.0 if m["confidence"] is None else float(m["confidence"]),
        reason=None if m["reason"] is None else _read_word(m["reason"]),
        evidence=tuple(_read_word(e[1]) for e in re.finditer(rf", evidence ({_WORD})", m["evidence"])),
    )


def _read_cards(text: str) -> tuple[str | None, ...]:
    cards = [] if text == "-" else text.split(" ")
    for c in cards:
        if c != "??" and not is_card(c):
            raise NotationError(f"{c!r} is no card; write a rank and a suit like 'Td', '7?' or '??'")
    return tuple(None if c == "??" else c for c in cards)


def _read_cents(text: str) -> int | None:
    if text == "?":
        return None
    dollars, _, cents = text.lstrip("+-").removeprefix("$").replace(",", "").partition(".")
    value = int(dollars) * 100 + int(cents or 0)
    return -value if text.startswith("-") else value


def _read_words(text: str) -> list[str]:
    return [_read_word(w) for w in re.findall(_WORD, text)]


def _read_word(text: str) -> str:
    return _string(text) if text.startswith('"') else text


def _string(text: str) -> str:
    try:
        return str(json.loads(text))
    except json.JSONDecodeError as e:
        raise NotationError(
            f"{text[:40]} is no text in quotes ({e.msg}); close it and escape what it holds"
        ) from None
