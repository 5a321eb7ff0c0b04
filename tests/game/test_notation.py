"""Round notation: what is written reads back equal, and what cannot be read is named with its line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pitwatch.cards import CARDS, RANKS
from pitwatch.game.audit import audit_file
from pitwatch.game.cases import case_files
from pitwatch.game.findings import KINDS, Finding
from pitwatch.game.notation import NotationError, parse, parse_all
from pitwatch.game.record import HandRecord, RoundRecord, SideBetRecord

from .test_random_rounds import SEEDS, audited, played

GOLDEN = Path(__file__).parent.parent / "golden" / "rules"

card = st.sampled_from((None, *CARDS, *(r + "?" for r in RANKS)))
cards = st.lists(card, max_size=6).map(tuple)
cents = st.none() | st.integers(0, 5_000_000)
net = st.none() | st.integers(-5_000_000, 5_000_000)
seconds = st.floats(0, 1e9) | st.floats(0, 1e5).map(lambda t: round(t, 2))
acts = st.sampled_from(
    ("split", "hit", "double", "surrender", "even money", "stand", "doubled", "not doubled")
)
words = st.text(max_size=12) | acts | st.sampled_from(("a, b", "a seat 2", "x ! y", '"', "\\", "é", ""))
findings = st.builds(
    Finding,
    t=seconds,
    kind=st.sampled_from(sorted(KINDS)) | words,
    seat=st.integers(0, 9),
    text=st.text(max_size=40),
    hand=st.integers(0, 3),
    expected=net,
    observed=net,
    severity=st.sampled_from(("alert", "notice")),
    rule=words,
    confidence=st.floats(0, 1),
    reason=st.none() | words,
    evidence=st.lists(words, max_size=3).map(tuple),
)
hands = st.builds(
    HandRecord,
    seat=st.integers(0, 9),
    hand=st.integers(0, 5),
    cards=cards,
    wager=cents,
    doubled=st.booleans(),
    stake=cents,
    payout=net,
    outcome=st.sampled_from(("won", "even money", "unknown", "taken in play")) | words,
    decisions=st.lists(acts | words, max_size=4).map(tuple),
)
rounds = st.builds(
    RoundRecord,
    number=st.integers(0, 10_000),
    t_start=seconds,
    t_end=seconds,
    hands=st.lists(hands, max_size=4, unique_by=lambda h: (h.seat, h.hand)).map(tuple),
    dealer=cards,
    insurance=st.lists(st.tuples(st.integers(0, 9), cents, net), max_size=2).map(tuple),
    findings=st.lists(findings, max_size=3).map(tuple),
    side_bets=st.lists(st.builds(SideBetRecord, st.integers(0, 9), words, cents, net), max_size=2).map(tuple),
)


@given(rounds)
@settings(max_examples=150, deadline=None)
def test_any_round_reads_back_equal(r: RoundRecord) -> None:
    text = r.notation()
    assert parse(text) == r
    assert parse(text).notation() == text
    assert len(text.split("\n")) == 2 + len(r.hands) + len(r.insurance) + len(r.side_bets) + len(r.findings)


@given(SEEDS, st.sampled_from(("", "paid_short", "dealer_drew_over")))
@settings(max_examples=25, deadline=None)
def test_played_rounds_read_back_equal(seed: int, mistake: str) -> None:
    audit, _ = audited(played(seed, mistake))
    text = "\n\n".join(r.notation() for r in audit.rounds_done)
    assert parse_all(text) == tuple(audit.rounds_done)


@pytest.mark.parametrize("path", case_files([GOLDEN]), ids=lambda p: p.stem)
def test_every_case_reads_back_equal(path: Path) -> None:
    audit, _ = audit_file(path)
    for r in audit.rounds_done:
        assert parse(r.notation()) == r


def lines_of(name: str) -> list[str]:
    return audit_file(GOLDEN / f"{name}.jsonl")[0].rounds_done[0].notation().split("\n")


def test_how_it_reads() -> None:
    assert lines_of("split_and_double") == [
        "round 1, 2.2 to 17.6 s",
        "dealer: 6h Tc 5d",
        "seat 2: $20 at $40, 8c 3h Th, split, double, pushed $0",
        "seat 2 hand 1: $20, 8d Td, stand, lost -$20",
    ]
    assert lines_of("insurance_paid")[2:] == ["seat 1: $20, Tc 9h, lost -$20", "seat 1 insurance: $8, +$16"]
    assert lines_of("bet_player_won")[2:] == [
        "seat 1: $20, Tc Ac, blackjack +$30",
        "seat 1 bet bet_player: $5, +$75",
    ]
    assert lines_of("surrender")[2] == "seat 1: $20, Tc 6c, surrender, surrendered -$10"
    assert lines_of("bust_not_taken")[2:4] == [
        "seat 2: $40, Qh 6s 7h, hit, bust -$40 ! bust_not_taken",
        "seat 5: $15, 6d 5h 8h, hit, stand, won +$15",
    ]


GOOD = """round 1, 0.5 to 9.0 s
dealer: 6h Kd ! dealer_stood_short
seat 2: $40, Qh ??, stand, won +$40

! 8.0 alert dealer_stood_short seat 0, observed 16: "The dealer settled."
"""


def test_blank_lines_and_line_ends_do_not_count() -> None:
    want = parse(GOOD)
    assert want.hands[0].cards == ("Qh", None)
    assert want.findings[0].observed == 16
    assert parse(GOOD.replace("\n", "\r\n\r\n")) == want
    assert parse_all("") == ()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("round 1, 0.5", "round one, 0.5", "line 1: 'round one, 0.5 to 9.0 s' cannot be read; write it like"),
        ("Kd", "1d", "line 2: '1d' is no card; write a rank and a suit"),
        (
            "$40, Qh",
            "40, Qh",
            "line 3: 'seat 2: 40, Qh ??, stand, won +$40' cannot be read; write it like 'seat 2",
        ),
        ("seat 2: ", "sea 2: ", "line 3: 'sea 2: $40, Qh ??, stand, won +$40' begins no line of a round"),
        ("won +$40", "won", "line 3: "),
        (
            " ! dealer_stood_short",
            "",
            "line 2: it names no finding where the lines with '!' below name dealer",
        ),
        ("dealer: ", "# ", "line 2: "),
        ("seat 2:", "dealer: 2c\nseat 2:", "line 3: a round has one line for the dealer"),
        ('"The dealer settled."', '"\\q"', "line 5: "),
        ("round 1, 0.5 to 9.0 s\n", "", "line 1: a text begins with its round"),
        ("alert", "alarm", "line 5: "),
    ],
)
def test_what_cannot_be_read_is_named(old: str, new: str, words: str) -> None:
    assert old in GOOD
    with pytest.raises(NotationError) as e:
        parse(GOOD.replace(old, new, 1))
    assert str(e.value).startswith(words)


def test_how_many_rounds() -> None:
    with pytest.raises(NotationError, match="holds 2 rounds"):
        parse(f"{GOOD}\n{GOOD}")
    with pytest.raises(NotationError, match="line 1: the round has no line for the dealer"):
        parse("round 1, 0.5 to 9.0 s")


@given(st.text(alphabet='round 1,.dealr:s t$+!?"QhK\n', max_size=60), st.integers(0, 250), st.integers(0, 30))
@settings(max_examples=150, deadline=None)
def test_a_spoilt_text_is_refused_in_one_way(rubbish: str, at: int, gone: int) -> None:
    try:
        read = parse(GOOD[:at] + rubbish + GOOD[at + gone :])
    except NotationError:
        return
    assert parse(read.notation()) == read
