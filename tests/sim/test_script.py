"""Scripts: made at random, written down, played."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from pitwatch.cards import CARDS
from pitwatch.errors import UserError
from pitwatch.sim.misplays import MISPLAYS, PLAIN
from pitwatch.sim.play import play
from pitwatch.sim.played import Recorded
from pitwatch.sim.rounds import Misplay, RoundScript
from pitwatch.sim.script import Script, random_round, random_script
from pitwatch.table.layout import template


def one(wagers: dict[int, tuple[int, ...]], cards: str, **more: object) -> RoundScript:
    return RoundScript(wagers, tuple(cards.split()), **more)  # type: ignore[arg-type]


def played(script: RoundScript):
    return play(script.wagers, Recorded(script), script.misplay)


def nets(script: RoundScript) -> list[tuple[int, int, str, int | None]]:
    return [(h.seat, h.number, h.outcome, h.payout) for h in played(script).hands]


def test_same_seed_same_script():
    a, b = (random_script(6, template(6), 11, 0.5) for _ in range(2))
    assert a == b
    assert a != random_script(6, template(6), 12, 0.5)


def test_json_round_trip(tmp_path: Path):
    script = random_script(8, template(5), 3, [*PLAIN[:4], "insurance_paid_short", "wager_late"])
    path = tmp_path / "script.json"
    path.write_text(json.dumps(script.to_json()))
    again = Script.load(path)
    assert again == script
    assert [p.findings for p in again.played()] == [p.findings for p in script.played()]


@pytest.mark.parametrize("kind", MISPLAYS)
def test_every_misplay_can_be_staged(kind: str):
    for seed in range(3):
        (round_,) = random_script(1, template(5 + seed), seed, [kind]).played()
        assert len(round_.findings) == 1


def test_clean_rounds_pay_what_is_due():
    for seed in range(30):
        for round_ in random_script(4, template(6), seed, 0.0).played():
            assert round_.findings == ()
            assert all(h.payout == h.due for h in round_.hands)


def test_staged_share_and_variety():
    script = random_script(10, template(6), 5, 0.6)
    kinds = [r.misplay.kind for r in script.rounds if r.misplay]
    assert len(kinds) == 6
    assert len(set(kinds)) == 6


def test_cards_come_from_one_shoe():
    script = random_script(8, template(7), 2, 0.3, decks=6)
    cards = [c for r in script.rounds for c in r.cards]
    assert script.decks == 6
    assert max(cards.count(c) for c in CARDS) <= 6


def test_more_rounds_than_a_shoe_say_no_number_of_decks():
    assert random_script(30, template(6), 2, 0.0, decks=2).decks is None


def test_settling():
    # 20 against 19, 19 against 19, 18 against 19, blackjack
    script = one(
        {1: (500,), 2: (1000,), 3: (2500,), 4: (5000,)},
        "Ks 9d Tc As 9h Qs Th 8c Kd Td",
    )
    assert nets(script) == [
        (1, 0, "won", 500),
        (2, 0, "pushed", 0),
        (3, 0, "lost", -2500),
        (4, 0, "blackjack", 7500),
    ]


def test_blackjack_is_paid_before_the_next_card_or_after_the_peek():
    at_once = [a.kind for a in played(one({1: (500,)}, "As 9h Kd Td")).acts]
    assert at_once == ["put", "card", "card", "card", "card", "pay", "pickup", "clear", "turn", "clear"]
    peeked = [a.kind for a in played(one({1: (500,)}, "As Kh Kd 9d")).acts]
    assert peeked.index("peek") < peeked.index("pay")


def test_dealer_blackjack_pays_insurance_and_ends_the_round():
    script = one({1: (2000,), 2: (1000,)}, "Ts As Ad 9h Kh Kc", insurance={1: (500, 500)}, even_money=())
    r = played(script)
    assert nets(script) == [(1, 0, "lost", -2000), (2, 0, "pushed", 0)]
    assert r.insurance == ((1, 1000, 2000),)


def test_even_money():
    script = one({2: (1000,)}, "As Ad Kh Kc", even_money=(2,))
    assert nets(script) == [(2, 0, "even money", 1000)]


def test_splits_up_to_four_hands_and_aces_get_one_card():
    script = one(
        {1: (500,)}, "8s 6h 8h Td 8d 8c 2c 3c 4c 5c Kd", decisions={1: ("split", "split", "split", "stand")}
    )
    r = played(script)
    assert [h.cards for h in r.hands] == [["8s", "2c"], ["8h", "3c"], ["8d", "4c"], ["8c", "5c"]]
    assert [a.to for a in r.acts if a.kind == "split"] == [1, 2, 3]
    aces = played(one({1: (500,)}, "As 6h Ah Td 5c 9c 7d", decisions={1: ("split", "hit")}))
    assert [h.cards for h in aces.hands] == [["As", "5c"], ["Ah", "9c"]]


def test_void_card_of_the_dealer_does_not_count():
    script = one(
        {1: (500,)}, "Ks 9h 9d Td Kh", decisions={1: ("stand",)}, misplay=Misplay("dealer_drew_over")
    )
    r = played(script)
    assert r.dealer == ("9h", "Td", "Kh")
    assert [(f.kind, f.expected) for f in r.findings] == [("dealer_drew_over", 19)]
    assert nets(script) == [(1, 0, "pushed", 0)]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"cards": "Ks 9h"}, "runs out of cards"),
        ({"cards": "Ks 9h 1d"}, "'1d'"),
        ({"wagers": {"9": [500]}}, "seat 9 of 6"),
        ({"decisions": {"1": "fold"}}, "fold"),
        ({"decisions": {"1": "split"}}, "cannot split"),
        ({"misplay": {"kind": "push_paid", "seat": 1}}, "cannot happen"),
        ({"wager": {}}, "'wager'"),
    ],
)
def test_bad_scripts_are_said_in_one_sentence(change: dict[str, object], says: str):
    good = {"wagers": {"1": [500]}, "cards": "Ks 9h 9d Td", "decisions": {"1": "stand"}}
    obj = {"sim_script": 1, "seats": 6, "rounds": [{**good, **change}]}
    with pytest.raises(UserError, match=says):
        Script.from_json(obj).played()


def test_unknown_kind_and_too_many_kinds():
    with pytest.raises(UserError, match="paid_shrt"):
        random_script(1, template(6), 0, ["paid_shrt"])
    with pytest.raises(UserError, match="2 misplays"):
        random_script(1, template(6), 0, ["paid_short", "paid_over"])


def test_random_round_refuses_what_does_not_fit():
    shoe = list(CARDS)
    rng = random.Random(4)
    refused = 0
    for _ in range(200):
        rng.shuffle(shoe)
        try:
            random_round(rng, template(7), shoe)
        except ValueError:
            refused += 1
    assert 0 < refused < 100
