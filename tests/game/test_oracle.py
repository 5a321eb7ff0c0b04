"""Settlement, the dealer's drawing and side bets, held against slow rules written from the documents."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from pitwatch.cards import CARDS
from pitwatch.rules.actions import insurance_limit, legal_actions
from pitwatch.rules.hands import HandKind, dealer_hands, dealer_stands, player_hands
from pitwatch.rules.profile import load_profile
from pitwatch.rules.settle import results
from pitwatch.rules.sidebets import Seen, side_bet_owed

from . import oracle
from .houses import SIDE_BETS, random_rules
from .proofs import SEEDS

MANY = settings(max_examples=150, deadline=None)


def drawn(rng: Random, rules: dict[str, object]) -> tuple[list[str], list[str], HandKind]:
    """A player's hand and the dealer's, as they may be when they are settled; high cards are likely."""
    shoe = [c for c in CARDS * 6 if c[0] in "ATJQK5" or rng.random() < 0.5]
    rng.shuffle(shoe)
    mine, theirs = [shoe.pop(), shoe.pop()], [shoe.pop(), shoe.pop()]
    kind = HandKind(from_split=rng.random() < 0.3)
    charlie = rules["charlie"]
    assert isinstance(charlie, int)
    if rng.random() < 0.2 and oracle.points(mine) < 21:
        kind = HandKind(from_split=kind.from_split, doubled_at=2)
        mine.append(shoe.pop())
    else:
        while oracle.points(mine) < 21 and rng.random() < 0.6 and not (charlie and len(mine) >= charlie):
            if kind.from_split and mine[0][0] == "A" and not rules["hit_split_aces"]:
                break
            mine.append(shoe.pop())
    while oracle.must_draw(rules, theirs):
        theirs.append(shoe.pop())
    return mine, theirs, kind


@given(SEEDS, st.integers(1, 400))
@MANY
def test_settlement(seed: int, chips: int) -> None:
    rng = Random(seed)
    rules = random_rules(rng)
    profile = load_profile(rules)
    mine, theirs, kind = drawn(rng, rules)
    (hand,) = player_hands(mine, profile, kind)
    (dealer,) = dealer_hands(theirs, profile)
    wager = 500 * chips
    stake = wager * (2 if kind.doubled_at else 1)
    (got,) = results(profile, hand, dealer, stake, wager)
    want = oracle.owed(rules, mine, theirs, stake, from_split=kind.from_split, original=wager)
    assert got.net == want, (mine, theirs, kind)
    assert hand.total == oracle.points(mine)


@given(SEEDS)
@MANY
def test_the_dealer_draws_as_the_documents_say(seed: int) -> None:
    rng = Random(seed)
    rules = random_rules(rng)
    profile = load_profile(rules)
    dealer = rng.sample(CARDS, 2)
    while oracle.must_draw(rules, dealer):
        (standing,) = dealer_hands(dealer, profile)
        assert not dealer_stands(standing, profile)
        dealer.append(rng.choice(CARDS))
    (standing,) = dealer_hands(dealer, profile)
    assert dealer_stands(standing, profile)
    assert standing.natural == oracle.is_blackjack(dealer)
    (over,) = dealer_hands([*dealer, "2c", "3c"], profile)
    assert (over.total, over.void) == (standing.total, 2)


@given(SEEDS, st.sampled_from(sorted(SIDE_BETS)))
@MANY
def test_side_bets(seed: int, name: str) -> None:
    rng = Random(seed)
    profile = load_profile({"profile": "signage", "side_bets": SIDE_BETS})
    pool = [c for c in CARDS if c[0] in "AKQ23J"] if rng.random() < 0.6 else list(CARDS)
    first, second, up, hole = (rng.choice(pool) for _ in range(4))
    natural = oracle.is_blackjack([up, hole])
    seen = Seen((first, second), upcard=up, natural=frozenset({natural}))
    (owed,) = side_bet_owed(profile.side_bets[name], seen)
    assert owed.ratio == oracle.side_owed(name, [first, second], [up, hole])


@given(SEEDS, st.integers(1, 1000))
@MANY
def test_what_a_hand_may_do(seed: int, wager: int) -> None:
    rng = Random(seed)
    rules = random_rules(rng)
    profile = load_profile(rules)
    cards = tuple(rng.sample(CARDS, 2))
    (hand,) = player_hands(cards, profile)
    acts = legal_actions(profile, hand, cards)
    alike = (
        cards[0][0] == cards[1][0]
        if rules["split_by"] == "rank"
        else oracle.value(cards[0]) == oracle.value(cards[1])
    )
    if oracle.is_blackjack(cards):
        assert acts == frozenset()
        return
    assert ("split" in acts) == alike
    on = {"any_two": range(22), "9-11": (9, 10, 11), "10-11": (10, 11), "11": (11,)}[rules["double_on"]]
    assert ("double" in acts) == (oracle.points(cards) in on)
    assert ("surrender" in acts) == (rules["surrender"] != "none")
    assert {"hit", "stand"} <= acts
    assert insurance_limit(profile, wager) == (wager // 2 if rules["insurance"] else 0)
