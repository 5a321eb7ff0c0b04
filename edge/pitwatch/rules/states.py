"""Hands as states of a machine: what they become with each card, what may be done, how they are settled.

In: a profile that leaves nothing open. Out: states whose cards, acts and settlement all come from the
functions that the audit judges by, each asked once and remembered. Wagers are `UNIT` cents.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from pitwatch.cards import card_value
from pitwatch.rules.actions import legal_actions
from pitwatch.rules.basic import basic_act, chart_for
from pitwatch.rules.hands import HandKind, Standing, dealer_hands, dealer_stands, player_hands
from pitwatch.rules.profile import Profile
from pitwatch.rules.settle import results, surrender_net

__all__ = ["PIPS", "UNIT", "DealerState", "Game", "PlayerState"]

PIPS = tuple(f"{rank}s" for rank in "A23456789T")
"""One card for each value, in order of value."""

UNIT = 1000

S = TypeVar("S")


def _only(found: frozenset[S], what: str) -> S:
    if len(found) != 1:
        raise ValueError(f"the profile leaves open {what}; set the rule that decides it")
    return next(iter(found))


class _State(Generic[S]):
    """A hand that got there by `cards`; `then[v]`: what it becomes with a card of value v."""

    __slots__ = ("cards", "standing", "then")

    def __init__(self, cards: tuple[str, ...], standing: Standing) -> None:
        self.cards = cards
        self.standing = standing
        self.then: list[S | None] = [None] * 11


class DealerState(_State["DealerState"]):
    """The dealer's hand; `stands`: no further card."""

    __slots__ = ("stands",)

    def __init__(self, cards: tuple[str, ...], standing: Standing, stands: bool) -> None:
        super().__init__(cards, standing)
        self.stands = stands


class PlayerState(_State["PlayerState"]):
    """A player's hand under one upcard.

    acts: what basic strategy does while the seat has so many hands, "" when nothing may be done. doubled:
    what it becomes with its last card after a double.
    """

    __slots__ = ("acts", "doubled", "legal", "split", "upcard")

    def __init__(self, cards: tuple[str, ...], standing: Standing, upcard: str, split: bool) -> None:
        super().__init__(cards, standing)
        self.upcard = upcard
        self.split = split
        self.legal: list[frozenset[str] | None] = [None] * 10
        self.acts: list[str | None] = [None] * 10
        self.doubled: list[PlayerState | None] = [None] * 11


class Game:
    """The states of one profile, made when they are first reached."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.chart = chart_for(profile)
        self._players: dict[tuple[object, ...], PlayerState] = {}
        self._dealers: dict[Standing, DealerState] = {}
        self._nets: dict[tuple[Standing, Standing, int], int] = {}

    # -- the dealer

    def upcard(self, card: str) -> DealerState:
        """The dealer with one card."""
        return self._dealer((card,))

    def dealer_gets(self, state: DealerState, value: int) -> DealerState:
        """The dealer's hand with one card more."""
        following = state.then[value]
        if following is None:
            following = state.then[value] = self._dealer((*state.cards, PIPS[value - 1]))
        return following

    def _dealer(self, cards: tuple[str, ...]) -> DealerState:
        standing = _only(dealer_hands(cards, self.profile), "what a dealer's hand is")
        if standing not in self._dealers:
            self._dealers[standing] = DealerState(cards, standing, dealer_stands(standing, self.profile))
        return self._dealers[standing]

    def checks(self, upcard: str) -> bool:
        """Whether the dealer looks for a blackjack before anybody plays."""
        return {1: "A", 10: "ten"}.get(card_value(upcard), "") in self.profile.peek

    # -- the player

    def start(self, card: str, upcard: str, *, split: bool) -> PlayerState:
        """A hand of one card, the first, or the half of a pair."""
        return self._player((card,), upcard, HandKind(from_split=split))

    def gets(self, state: PlayerState, value: int) -> PlayerState:
        """A hand with one card more."""
        following = state.then[value]
        if following is None:
            cards = (*state.cards, PIPS[value - 1])
            following = self._player(cards, state.upcard, HandKind(from_split=state.split))
            state.then[value] = following
        return following

    def doubles(self, state: PlayerState, value: int) -> PlayerState:
        """A hand with the last card after a double."""
        following = state.doubled[value]
        if following is None:
            kind = HandKind(from_split=state.split, doubled_at=state.standing.size)
            following = self._player((*state.cards, PIPS[value - 1]), state.upcard, kind)
            state.doubled[value] = following
        return following

    def _player(self, cards: tuple[str, ...], upcard: str, kind: HandKind) -> PlayerState:
        standing = _only(player_hands(cards, self.profile, kind), "what a player's hand is")
        key = (standing, cards if len(cards) <= 2 else None, upcard, kind)
        if key not in self._players:
            self._players[key] = PlayerState(cards, standing, upcard, kind.from_split)
        return self._players[key]

    def legal(self, state: PlayerState, hands: int) -> frozenset[str]:
        """What may be done while the seat has so many hands."""
        acts = state.legal[hands]
        if acts is None:
            acts = legal_actions(
                self.profile, state.standing, state.cards, hands=hands, from_split=state.split
            )
            state.legal[hands] = acts
        return acts

    def act(self, state: PlayerState, hands: int) -> str:
        """What basic strategy does, "" when nothing may be done."""
        act = state.acts[hands]
        if act is None:
            legal = self.legal(state, hands)
            act = basic_act(self.chart, state.standing, state.cards, state.upcard, legal) if legal else ""
            state.acts[hands] = act
        return act

    # -- settlement

    def net(self, hand: Standing, dealer: Standing, stake: int = UNIT) -> int:
        """The player's net in cents."""
        key = (hand, dealer, stake)
        net = self._nets.get(key)
        if net is None:
            result = _only(results(self.profile, hand, dealer, stake), "how a hand is settled")
            net = self._nets[key] = _whole(result.net)
        return net

    @property
    def surrendered(self) -> int:
        """The net of a surrendered hand."""
        return _whole(surrender_net(UNIT))


def _whole(cents: object) -> int:
    number = int(cents)  # type: ignore[call-overload]
    if number != cents:
        raise ValueError(f"{cents} cents are no whole cents; choose a wager that the payment divides")
    return int(number)
