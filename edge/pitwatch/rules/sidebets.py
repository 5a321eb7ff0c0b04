"""Side bets: what each can win on, and what it is owed at any moment. Pure and exact.

In: a bet's pay table, the cards that it looks at (None = unread or not there yet, "7?" = suit unread), how
the dealer's hand may end. Out: every ratio to one that the bet may be owed, 0 = lost; the player's net in
cents as exact fractions, a loss negative.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product

from pitwatch.cards import CARDS, SUITS
from pitwatch.rules.wins import NO_BUST, WINS, Deal

__all__ = [
    "ANY_BUST",
    "Owed",
    "Seen",
    "SideBet",
    "looks_at",
    "meter_share",
    "side_bet_nets",
    "side_bet_owed",
    "side_bet_verdict",
]

ANY_BUST = frozenset({NO_BUST, *range(3, 22)})
"""How many cards a dealer's bust hand can have, 0 = it did not bust."""

_ENOUGH = 6_000


@dataclass(frozen=True)
class SideBet:
    """A side bet: what wins, in falling order of pay, each with its pay to one.

    needs_minimum: the main wager must be the table's minimum. meter: the two player cards that, with the bet
    `meter_with` placed too, also win the meter.
    """

    name: str
    pays: tuple[tuple[str, Fraction], ...]
    needs_minimum: bool = True
    meter: tuple[str, ...] = ()
    meter_with: str | None = None

    def __hash__(self) -> int:
        """By name: a pay table's ratios take long to hash."""
        return hash(self.name)


@dataclass(frozen=True)
class Seen:
    """What is known of the cards that side bets look at, at some moment.

    player: the seat's first two cards. ordered: in which order they were dealt is known. third: the seat's
    next card, "" = none came and none can. third_may_come: it may be given one yet. natural: whether the
    dealer has a blackjack. bust: how many cards the dealer's bust hand has, 0 = no bust.
    """

    player: tuple[str | None, str | None] = (None, None)
    ordered: bool = True
    upcard: str | None = None
    third: str | None = ""
    third_may_come: bool = False
    natural: frozenset[bool] = frozenset({True, False})
    bust: frozenset[int] = ANY_BUST


@dataclass(frozen=True)
class Owed:
    """What a bet may be owed: its pay to one, 0 = lost, and whether it wins the meter as well."""

    ratio: Fraction
    meter: bool = False


@lru_cache
def looks_at(bet: SideBet) -> frozenset[str]:
    """What the bet depends on: player, upcard, third, natural, bust."""
    return frozenset(what for name, _ in bet.pays for what in WINS[name].looks_at)


@lru_cache(maxsize=4096)
def side_bet_owed(bet: SideBet, seen: Seen, *, meter: bool = False) -> frozenset[Owed]:
    """All that the bet may be owed; meter: the bet that the meter asks for was placed as well."""
    needs = looks_at(bet)
    player = seen.player if "player" in needs else ("2c", "3d")
    orders = (player,) if seen.ordered or None in player else (player, player[::-1])
    up = _cards(seen.upcard) if "upcard" in needs else ("4c",)
    third: Sequence[str] = ("",)
    if "third" in needs and seen.third != "":
        third = [*_cards(seen.third), *([""] if seen.third_may_come else [])]
    naturals = sorted(seen.natural) if "natural" in needs else [False]
    busts = sorted(seen.bust) if "bust" in needs else [NO_BUST]
    pairs = [(a, b) for first, second in orders for a in _cards(first) for b in _cards(second)]
    if len(pairs) * len(up) * len(third) * len(naturals) * len(busts) > _ENOUGH:
        return frozenset(_all(bet, meter))
    return frozenset(
        _pays(bet, Deal(a, b, *more), meter) for a, b in pairs for more in product(up, third, naturals, busts)
    )


def _cards(card: str | None) -> Sequence[str]:
    """The cards that one may be."""
    if card is None:
        return CARDS
    return [card[0] + s for s in SUITS] if card[1] == "?" else (card,)


def _pays(bet: SideBet, deal: Deal, meter: bool) -> Owed:
    hits = [(WINS[name], ratio, WINS[name].hits(deal)) for name, ratio in bet.pays]
    best = max((ratio for w, ratio, n in hits if n and not w.adds), default=Fraction(0))
    ratio = best + sum((n * ratio for w, ratio, n in hits if w.adds), Fraction(0))
    wins_meter = meter and bool(bet.meter) and sorted((deal.first, deal.second)) == sorted(bet.meter)
    return Owed(ratio, wins_meter)


def _all(bet: SideBet, meter: bool) -> Iterator[Owed]:
    """All that the bet can ever be owed."""
    added = [ratio for name, ratio in bet.pays if WINS[name].adds]
    ratios = {Fraction(0), *(ratio for _, ratio in bet.pays)}
    ratios |= {a + b for a in added for b in added}
    for ratio in ratios:
        yield Owed(ratio)
        if meter and bet.meter:
            yield Owed(ratio, True)


def meter_share(meter: int, holders: int) -> Fraction:
    """What each of several who win the meter at once gets of it, in cents."""
    return Fraction(meter, holders)


def side_bet_nets(
    stake: int, owed: Iterable[Owed], shares: Iterable[Fraction] | None = None
) -> frozenset[Fraction]:
    """The player's nets in cents that may be right. shares: what the meter may pay, None = not known.

    Where the meter's share is not known, what wins it is left out.
    """
    out: set[Fraction] = set()
    for o in owed:
        net = stake * o.ratio if o.ratio else Fraction(-stake)
        if not o.meter:
            out.add(net)
        elif shares is not None:
            out |= {net + share for share in shares}
    return frozenset(out)


def side_bet_verdict(expected: Fraction, net: int) -> str:
    """The end of the finding kind that an observed net makes, "" when it was settled rightly."""
    if abs(net - expected) < 1 or net < expected < 0:  # a fraction of a cent may be rounded either way
        return ""
    if expected >= 0:
        return "paid_short" if net < expected else "paid_over"
    return "loser_paid" if net > 0 else "not_taken"
