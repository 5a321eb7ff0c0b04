"""pitwatch: a camera over a blackjack table that knows when a hand is dealt or paid wrongly."""

__version__ = "0.1.0"
