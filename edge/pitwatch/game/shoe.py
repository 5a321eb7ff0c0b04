"""The shoe: which cards have come out of it, and whether there can be so many.

In: cards as they are seen, new shoes, burns. Out: the card that there is one too many of.
"""

from __future__ import annotations

from collections import Counter

__all__ = ["Shoe"]


class Shoe:
    """Counts the cards of one shoe."""

    def __init__(self, decks: int | None) -> None:
        self._decks = decks
        self.decks = decks
        self.fresh = False
        """A new shoe whose first card has not come yet."""
        self.burnt = 0
        self._seen: Counter[str] = Counter()

    def new(self, decks: int | None = None) -> None:
        """A new shoe begins; decks: as many as before when not said."""
        self.decks = decks or self._decks
        self.fresh, self.burnt = True, 0
        self._seen.clear()

    def shuffled(self) -> None:
        """The cards were mixed: the counts say nothing any more."""
        self._seen.clear()

    def see(self, card: str | None) -> bool:
        """Count a card; returns whether it is the first of its kind that there cannot be."""
        if card is None or card[1] == "?":
            return False
        self._seen[card] += 1
        return self.decks is not None and self._seen[card] == self.decks + 1

    def back(self, card: str | None) -> None:
        """A card was removed: it may be laid again, and is counted then."""
        if card is not None and card[1] != "?" and self._seen[card]:
            self._seen[card] -= 1
