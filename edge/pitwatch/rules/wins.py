"""What a side bet can win on: every name that a pay table may use.

In: the cards of a deal, all known. Out: for each name, how often it hits, its words on the felt, and which
other names hit whenever it does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from pitwatch.cards import RANKS, card_value

__all__ = ["NO_BUST", "WINS", "Deal", "Win"]

NO_BUST = 0
_PLAYER = ("player",)
_THREE = ("player", "upcard")
_RED = "dh"


class Deal(NamedTuple):
    """A deal as side bets see it: a seat's first two cards, the upcard, the seat's next card ("" = none),
    whether the dealer has a blackjack, how many cards the dealer's bust hand has (0 = no bust).
    """

    first: str
    second: str
    upcard: str
    third: str = ""
    natural: bool = False
    bust: int = NO_BUST


@dataclass(frozen=True)
class Win:
    """One line of a pay table. hits: how often a deal wins on it. adds: each hit is paid, whatever else is.

    also: the names of this kind that a deal of this one is too, so that it should pay no less.
    """

    text: str
    looks_at: tuple[str, ...]
    hits: Callable[[Deal], int]
    also: tuple[str, ...] = ()
    adds: bool = False


def _same_rank(d: Deal) -> bool:
    return d.first[0] == d.second[0]


def _suited(d: Deal) -> bool:
    return d.first[1] == d.second[1]


def _same_colour(d: Deal) -> bool:
    return (d.first[1] in _RED) == (d.second[1] in _RED)


def _twenty(d: Deal) -> bool:
    return sorted((card_value(d.first), card_value(d.second))) in ([10, 10], [1, 9])


def _natural(d: Deal) -> bool:
    return sorted((card_value(d.first), card_value(d.second))) == [1, 10]


def _queens(d: Deal) -> bool:
    return d.first == d.second == "Qh"


def _three(d: Deal) -> tuple[str, str, str]:
    return d.first, d.second, d.upcard


def _three_suited(d: Deal) -> bool:
    return len({c[1] for c in _three(d)}) == 1


def _trips(d: Deal) -> bool:
    return len({c[0] for c in _three(d)}) == 1


def _straight(d: Deal) -> bool:
    """An ace counts low or high, never in between."""
    low, middle, high = sorted(RANKS.index(c[0]) for c in _three(d))
    return (middle == low + 1 and high == low + 2) or (low, middle, high) == (0, 11, 12)


def _royal(d: Deal) -> bool:
    return _three_suited(d) and sorted(c[0] for c in _three(d)) == ["A", "K", "Q"]


def _sevens(d: Deal, cards: int) -> bool:
    return all(c[:1] == "7" for c in (d.first, d.second, d.third)[:cards])


def _suited_sevens(d: Deal, cards: int) -> bool:
    return _sevens(d, cards) and len({c[1] for c in (d.first, d.second, d.third)[:cards]}) == 1


def _busts() -> dict[str, Win]:
    """The dealer's bust by its number of cards: `dealer_bust_5`, `dealer_bust_8_or_more`, and with a
    player's blackjack `dealer_bust_8_or_more_and_blackjack`.
    """
    out = {"dealer_bust": Win("the dealer busts", ("bust",), lambda d: d.bust > 0)}
    for n in range(3, 11):
        exact, more = f"dealer_bust_{n}", f"dealer_bust_{n}_or_more"
        exactly: Callable[[Deal], int] = lambda d, n=n: d.bust == n  # type: ignore[misc]  # noqa: E731
        at_least: Callable[[Deal], int] = lambda d, n=n: d.bust >= n  # type: ignore[misc]  # noqa: E731
        for name, text, hits in (
            (exact, f"the dealer busts with {n} cards", exactly),
            (more, f"the dealer busts with {n} or more cards", at_least),
        ):
            out[name] = Win(text, ("bust",), hits, ("dealer_bust",))
            out[f"{name}_and_blackjack"] = Win(
                f"{text} and the player has a blackjack",
                ("player", "bust"),
                lambda d, hits=hits: hits(d) and _natural(d),  # type: ignore[misc]
                (name, "dealer_bust"),
            )
    return out


WINS: dict[str, Win] = {
    "player_blackjack": Win("the player has a blackjack", _PLAYER, _natural),
    "suited_blackjack": Win(
        "the player has a blackjack of one suit",
        _PLAYER,
        lambda d: _natural(d) and _suited(d),
        ("player_blackjack", "suited"),
    ),
    "dealer_blackjack": Win("the dealer has a blackjack", ("natural",), lambda d: d.natural),
    # the player's two cards and the upcard as a hand of three-card poker: 21+3
    "suited_three_of_a_kind": Win(
        "three of a kind of one suit",
        _THREE,
        lambda d: _trips(d) and _three_suited(d),
        ("three_of_a_kind", "flush"),
    ),
    "royal_flush": Win(
        "ace, king, queen of one suit", _THREE, _royal, ("straight_flush", "straight", "flush")
    ),
    "straight_flush": Win(
        "straight flush", _THREE, lambda d: _straight(d) and _three_suited(d), ("straight", "flush")
    ),
    "three_of_a_kind": Win("three of a kind", _THREE, _trips),
    "straight": Win("straight", _THREE, _straight),
    "flush": Win("flush", _THREE, _three_suited),
    # the player's two cards: Perfect Pairs
    "perfect_pair": Win(
        "a pair of one suit", _PLAYER, lambda d: _same_rank(d) and _suited(d), ("pair", "suited")
    ),
    "coloured_pair": Win(
        "a pair of one colour and two suits",
        _PLAYER,
        lambda d: _same_rank(d) and _same_colour(d) and not _suited(d),
        ("pair",),
    ),
    "mixed_pair": Win(
        "a pair of a red and a black card",
        _PLAYER,
        lambda d: _same_rank(d) and not _same_colour(d),
        ("pair",),
    ),
    "pair": Win("any pair", _PLAYER, _same_rank),
    # a total of twenty: Lucky Ladies
    "queens_of_hearts_and_dealer_blackjack": Win(
        "two queens of hearts and the dealer has a blackjack",
        ("player", "natural"),
        lambda d: _queens(d) and d.natural,
        ("queens_of_hearts", "matched_20", "suited_20", "any_20"),
    ),
    "queens_of_hearts": Win("two queens of hearts", _PLAYER, _queens, ("matched_20", "suited_20", "any_20")),
    "matched_20": Win(
        "a twenty of two like cards of one suit",
        _PLAYER,
        lambda d: _twenty(d) and d.first == d.second,
        ("suited_20", "any_20"),
    ),
    "suited_20": Win("a twenty of one suit", _PLAYER, lambda d: _twenty(d) and _suited(d), ("any_20",)),
    "any_20": Win("any other twenty", _PLAYER, _twenty),
    # Royal Match
    "royal_match": Win(
        "king and queen of one suit",
        _PLAYER,
        lambda d: _suited(d) and {d.first[0], d.second[0]} == {"K", "Q"},
        ("suited",),
    ),
    "suited": Win("two cards of one suit", _PLAYER, _suited),
    # each of the player's two cards against the upcard: Match the Dealer
    "suited_match": Win(
        "each card of the upcard's rank and suit",
        _THREE,
        lambda d: (d.first == d.upcard) + (d.second == d.upcard),
        ("unsuited_match",),
        adds=True,
    ),
    "unsuited_match": Win(
        "each card of the upcard's rank and another suit",
        _THREE,
        lambda d: sum(c[0] == d.upcard[0] and c[1] != d.upcard[1] for c in (d.first, d.second)),
        adds=True,
    ),
    **_busts(),
    # Super Sevens
    "first_seven": Win("the first card is a seven", _PLAYER, lambda d: _sevens(d, 1)),
    "two_sevens": Win("the first two cards are sevens", _PLAYER, lambda d: _sevens(d, 2), ("first_seven",)),
    "two_suited_sevens": Win(
        "the first two cards are sevens of one suit",
        _PLAYER,
        lambda d: _suited_sevens(d, 2),
        ("two_sevens", "first_seven"),
    ),
    "three_sevens": Win(
        "the first three cards are sevens",
        ("player", "third"),
        lambda d: _sevens(d, 3),
        ("two_sevens", "first_seven"),
    ),
    "three_suited_sevens": Win(
        "the first three cards are sevens of one suit",
        ("player", "third"),
        lambda d: _suited_sevens(d, 3),
        ("three_sevens", "two_suited_sevens", "two_sevens", "first_seven"),
    ),
}
