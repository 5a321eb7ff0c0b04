"""From items to the rows that are searched: rounds with their hands, findings, what could not be judged.

In: `Item`s that were checked. Out: dictionaries of columns, as `schema` has them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pitwatch.pit.house_time import HouseTime
from pitwatch.pit.meaning import amount, bits, rank_bits
from pitwatch.pit.received import Item, clean, small_number

__all__ = ["DealerAt", "card_rows", "finding_row", "hand_rows", "round_row", "unverified_row"]

DealerAt = Callable[[int, int], "int | None"]
"""Who dealt at a table (its id) at an instant."""

Row = dict[str, Any]


def _place(item: Item, table_id: int, boot_id: int, house: HouseTime, dealer: DealerAt) -> Row:
    return {
        "table_id": table_id,
        "boot_id": boot_id,
        "seq": item.seq,
        "day": house.day(item.at),
        "shift": house.shift(item.at),
        "dealer_id": dealer(table_id, item.at),
    }


def round_row(item: Item, table_id: int, boot_id: int, house: HouseTime, dealer: DealerAt) -> Row:
    """The row of a round."""
    body = item.body
    hands = [_hand(h) for h in body["hands"]]
    seconds = max(0.0, float(body["t_end"]) - float(body["t_start"]))
    lines = [b for key in ("insurance", "side_bets") for b in _list(body.get(key)) if isinstance(b, dict)]
    nets = [h["payout"] for h in hands if h["outcome"] != "dead"] + [
        small_number(b.get("payout")) for b in lines
    ]
    return _place(item, table_id, boot_id, house, dealer) | {
        "number": body["round"],
        "t_start": float(body["t_start"]),
        "t_end": float(body["t_end"]),
        "started_at": item.at - round(min(seconds, 86_400.0) * 1000),
        "ended_at": item.at,
        "seats": len({h["seat"] for h in hands}),
        "hands": len(hands),
        "handle": sum(h["stake"] or 0 for h in hands),
        "net": None if any(n is None for n in nets) else sum(n for n in nets if n is not None),
        "findings": min(len(_list(body.get("findings"))), 1000),
    }


def hand_rows(item: Item, table_id: int, round_id: int) -> list[Row]:
    """The rows of a round's hands, the dealer's as seat 0; each seat and hand once."""
    dealer = {
        "seat": 0,
        "hand": 0,
        "cards": _cards(item.body["dealer"]),
        "wager": None,
        "stake": None,
        "payout": None,
        "outcome": "",
    }
    rows = {(h["seat"], h["hand"]): h for h in (dealer, *(_hand(h) for h in item.body["hands"]))}
    return [
        {
            "round_id": round_id,
            "table_id": table_id,
            "ended_at": item.at,
            **h,
            "cards": bits(h["cards"]),
            "ranks": rank_bits(h["cards"]),
        }
        for h in rows.values()
    ]


def card_rows(hand: Mapping[str, Any]) -> list[Row]:
    """The rows of a hand's different cards, out of the hand's own row."""
    shared = {k: hand[k] for k in ("table_id", "seat", "round_id", "hand", "cards", "ranks", "stake")}
    known = [n for n in range(52) if hand["cards"] >> n & 1]
    ranks = {n // 4 for n in known}
    unsuited = [52 + n for n in range(13) if hand["ranks"] >> n & 1 and n not in ranks]
    return [shared | {"card": n} for n in (*known, *unsuited)]


def _hand(h: Mapping[str, Any]) -> Row:
    wager, stake = small_number(h.get("wager")), small_number(h.get("stake"))
    return {
        "seat": small_number(h.get("seat"), 999) or 0,
        "hand": small_number(h.get("hand"), 999) or 0,
        "cards": _cards(h.get("cards")),
        "wager": wager,
        "stake": stake if stake is not None else None if h.get("doubled") else wager,
        "payout": small_number(h.get("payout")),
        "outcome": clean(h.get("outcome"), 40),
    }


def finding_row(item: Item, table_id: int, boot_id: int, house: HouseTime, dealer: DealerAt) -> Row:
    """The row of a finding."""
    body = item.body
    cents, favours = amount(body)
    return _place(item, table_id, boot_id, house, dealer) | {
        "uid": item.uid,
        "t": item.t,
        "at": item.at,
        "kind": body["kind"],
        "seat": small_number(body.get("seat"), 999) or 0,
        "hand": small_number(body.get("hand"), 999) or 0,
        "severity": "notice" if body.get("severity") == "notice" else "alert",
        "amount": small_number(cents),
        "favours": favours,
        "body": item.text,
    }


def unverified_row(item: Item, table_id: int, boot_id: int, house: HouseTime, dealer: DealerAt) -> Row:
    """The row of a hand that could not be judged."""
    return _place(item, table_id, boot_id, house, dealer) | {
        "t": item.t,
        "at": item.at,
        "seat": small_number(item.body.get("seat"), 999) or 0,
        "hand": small_number(item.body.get("hand"), 999) or 0,
        "why": clean(item.body.get("why")),
    }


def _list(value: object) -> list[Any]:
    return value[:100] if isinstance(value, list) else []


def _cards(value: object) -> list[str]:
    return [c for c in _list(value) if isinstance(c, str)]
