"""Every sentence of the houses' documents is quoted by a rule, or named with why nothing is judged by it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pitwatch.rules import PROFILES, load_profile
from pitwatch.rules.wording import sections

DOCUMENTS = Path(__file__).parent.parent / "golden" / "documents"

HEADINGS = {
    "greektown": {
        "Greektown Casino - Blackjack Blackjack",
        "WHAT IF YOU GET BLACKJACK RIGHT AWAY?",
        "DEALER’S CARDS BLACKJACK TERMS",
        "DOUBLING DOWN-",
        "OPTIONAL WAGER-",
    },
    "celebrity": {
        "Celebrity Cruises BLACKJACK",
        "The Basic Game",
        "The hand known as Blackjack",
        "Insurance",
        "Doubling Down",
        "Splitting Pairs",
        "Points to remember",
    },
    "signage": {
        "Blackjack",
        "How The Game Is Played",
        "Splitting Pairs",
        "Doubling Down",
        "Insurance",
        "Playing The Game",
    },
}


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def document(name: str) -> str:
    return plain((DOCUMENTS / f"{name}.txt").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", PROFILES)
def test_what_is_quoted_stands_in_the_document(name: str) -> None:
    profile, text = load_profile(name), document(name)
    for rule, sentence in profile.sentences.items():
        assert plain(sentence) in text, rule
    for sentence, why in profile.unjudged.items():
        assert plain(sentence) in text
        assert why


@pytest.mark.parametrize("name", PROFILES)
def test_show_leaves_no_sentence_out(name: str) -> None:
    profile = load_profile(name)
    shown = {plain(line.source) for s in sections(profile) for line in s.lines if line.source}
    left = document(name)
    for sentence in sorted(shown | {plain(s) for s in profile.unjudged}, key=len, reverse=True):
        left = left.replace(sentence, "¶")
    assert {p.strip() for p in left.split("¶") if re.search(r"\w", p)} == HEADINGS[name]
