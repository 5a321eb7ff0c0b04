"""What a hand can be: every standing that its cards, read or not, allow under one house's rules.

In: cards in the order in which they were dealt (None = unread, any of the ten values), a profile. Out: sets
of `Standing`, one element per possible hand. A card dealt after a hand was finished is void and not
counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from pitwatch.cards import card_value
from pitwatch.rules.profile import Profile

__all__ = ["HandKind", "Standing", "dealer_hands", "dealer_stands", "player_hands", "values"]

ANY = tuple(range(1, 11))


class Standing(NamedTuple):
    """A hand as it counts.

    hard: sum with aces as 1. ace: it holds one. size: cards that count. natural: a blackjack. over: why cards
    beyond this hand's end are void ("" while it may go on): busted, blackjack, split aces, doubled, charlie,
    standing (the dealer). void: how many cards came after that.
    """

    hard: int = 0
    ace: bool = False
    size: int = 0
    natural: bool = False
    over: str = ""
    void: int = 0

    @property
    def soft(self) -> bool:
        """An ace counts 11 in it."""
        return self.ace and self.hard <= 11

    @property
    def total(self) -> int:
        """The best total; above 21 it is bust."""
        return self.hard + 10 if self.soft else self.hard

    @property
    def bust(self) -> bool:
        """More than 21."""
        return self.hard > 21


@dataclass(frozen=True)
class HandKind:
    """What else decides how a player's hand counts.

    from_split: it began as half of a pair. doubled_at: how many cards it had when it was doubled, else None.
    maybe: whether it was doubled there is not sure. foul: the double was not allowed.
    """

    from_split: bool = False
    doubled_at: int | None = None
    maybe: bool = False
    foul: bool = False


PLAIN = HandKind()


def values(card: str | None) -> tuple[int, ...]:
    """The pip values that a card can have."""
    return ANY if card is None else (card_value(card),)


def player_hands(
    cards: Sequence[str | None], profile: Profile, kind: HandKind = PLAIN
) -> frozenset[Standing]:
    """Every standing a player's hand can have."""
    if kind.maybe:
        sure, none = replace(kind, maybe=False), replace(kind, maybe=False, doubled_at=None)
        return player_hands(cards, profile, sure) | player_hands(cards, profile, none)
    doubled_aces = kind.doubled_at is not None and profile.double_split_aces is True
    hit_aces = profile.hit_split_aces or doubled_aces
    rule = (hit_aces, profile.split_ace_ten_is_blackjack, profile.charlie)
    return _player(tuple(values(c) for c in cards), kind, *rule)


@lru_cache(maxsize=20_000)
def _player(
    cards: tuple[tuple[int, ...], ...],
    kind: HandKind,
    hit_aces: bool,
    split_natural: bool | None,
    charlie: int,
) -> frozenset[Standing]:
    states = {Standing()}
    for possible in cards:
        states = {
            s
            for state in states
            for v in possible
            for s in _next(state, v, kind, hit_aces, split_natural, charlie)
        }
    return frozenset(states)


def _next(
    s: Standing, value: int, kind: HandKind, hit_aces: bool, split_natural: bool | None, charlie: int
) -> Iterable[Standing]:
    if s.over:
        yield s._replace(void=s.void + 1)
        if kind.foul and not s.void and s.over in ("blackjack", "split aces"):
            # doubled against the rules: the card is void, or all three count
            yield _plain(Standing(s.hard, s.ace, s.size), value)
        return
    n = _plain(s, value)
    if n.bust:
        yield n._replace(over="busted")
        return
    if n.size == 2 and n.total == 21:
        if not kind.from_split:
            yield n._replace(natural=True, over="blackjack")
            return
        # the source may not say what ace and ten after a split are
        if split_natural is not False:
            yield n._replace(natural=True, over="blackjack")
        if split_natural is True:
            return
    if charlie and n.size >= charlie:
        yield n._replace(over="charlie")
    elif kind.doubled_at is not None and n.size > kind.doubled_at:
        yield n._replace(over="doubled")
    elif kind.from_split and n.size == 2 and s.hard == 1 and not hit_aces:
        yield n._replace(over="split aces")
    else:
        yield n


def _plain(s: Standing, value: int) -> Standing:
    return s._replace(hard=s.hard + value, ace=s.ace or value == 1, size=s.size + 1)


def dealer_stands(standing: Standing, profile: Profile) -> bool:
    """Whether the dealer may take no further card on this hand."""
    if standing.size < 2 or standing.total < 17:
        return False
    return not (standing.total == 17 and standing.soft and profile.dealer_soft_17 == "hit")


def dealer_hands(cards: Sequence[str | None], profile: Profile) -> frozenset[Standing]:
    """Every standing the dealer's hand can have; `void` counts cards taken on a total that stands."""
    return _dealer(tuple(values(c) for c in cards), profile.dealer_soft_17 == "hit")


@lru_cache(maxsize=20_000)
def _dealer(cards: tuple[tuple[int, ...], ...], hits_soft_17: bool) -> frozenset[Standing]:
    states = {Standing()}
    for possible in cards:
        following = set()
        for s in states:
            if s.over:
                following.add(s._replace(void=s.void + 1))
                continue
            for v in possible:
                n = _plain(s, v)
                stands = n.size >= 2 and n.total >= 17 and not (n.total == 17 and n.soft and hits_soft_17)
                natural = n.size == 2 and n.total == 21
                following.add(n._replace(natural=natural, over="standing" if stands else ""))
        states = following
    return frozenset(states)
