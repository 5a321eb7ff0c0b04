"""House rules as data, and what they make of a hand: legal actions and what every wager is owed.

In: profiles (JSON), cards, cents. Out: `Profile`, outcomes, exact amounts. Knows no events, time or pictures.
"""

from __future__ import annotations

from pitwatch.rules.profile import PROFILES, Profile, load_profile

__all__ = ["PROFILES", "Profile", "load_profile"]
