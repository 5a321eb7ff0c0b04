"""What the store holds: one schema for SQLite and PostgreSQL; `migrations` builds it.

Units: money integer cents, instants milliseconds since 1970 UTC (`*_at`, `at`), `t` seconds of a table's
capture clock, days as yyyymmdd integers. `items` is what tables sent, as they sent it; rounds, hands,
findings and unverified are made from it and say only what is searched for.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    text,
)

__all__ = ["COMMON_OUTCOMES", "RARE_OUTCOME", "WORST", "metadata"]

COMMON_OUTCOMES = ("", "won", "lost", "bust", "pushed")
RARE_OUTCOME = f"outcome NOT IN {COMMON_OUTCOMES}"
WORST = (
    "(CASE WHEN {0}status = 'open' AND {0}severity = 'alert' THEN 1 ELSE 0 END)",
    "coalesce({0}amount, 0)",
)
"""By what the worst finding is known: an open alert, then the most money. {0}: before each column."""

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# SQLite counts rows by itself only in an INTEGER key
Id = BigInteger().with_variant(Integer(), "sqlite")


def _key() -> Column[int]:
    return Column("id", Id, primary_key=True, autoincrement=True)


tables = Table(
    "tables",
    metadata,
    _key(),
    Column("site", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("dealer_id", Id, ForeignKey("dealers.id")),
    Column("availability", Text, nullable=False, server_default=""),
    Column("availability_at", BigInteger),
    Column("header", Text),
    Column("health", Text),
    Column("health_at", BigInteger),
    Column("interval", Float),
    Column("state", Text),
    Column("state_at", BigInteger),
    Column("state_order", Text, nullable=False, server_default=""),
    Column("still_at", BigInteger),
    Column("seen_at", BigInteger),
    Column("round_at", BigInteger),
    UniqueConstraint("site", "name"),
)

boots = Table(
    "boots",
    metadata,
    _key(),
    Column("table_id", Id, ForeignKey("tables.id"), nullable=False),
    Column("boot", Text, nullable=False),
    Column("known", Integer, nullable=False, server_default="0"),
    Column("complete", Integer, nullable=False, server_default="0"),
    Column("missing", Integer, nullable=False, server_default="0"),
    Column("ask_at", BigInteger, nullable=False, server_default="0"),
    Column("asks", Integer, nullable=False, server_default="0"),
    UniqueConstraint("table_id", "boot"),
)
"""Openings of tables' journals. known: the highest seq that must be there. complete: all up to it are.
ask_at: when a table is to be asked (again) for what is missing."""

items = Table(
    "items",
    metadata,
    Column("boot_id", Id, ForeignKey("boots.id"), primary_key=True, autoincrement=False),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("kind", Text, nullable=False),
    Column("t", Float),
    Column("at", BigInteger, nullable=False),
    Column("body", Text, nullable=False),
    sqlite_with_rowid=False,
)

rounds = Table(
    "rounds",
    metadata,
    _key(),
    Column("table_id", Id, ForeignKey("tables.id"), nullable=False),
    Column("boot_id", Id, ForeignKey("boots.id"), nullable=False),
    Column("seq", Integer, nullable=False),
    Column("number", Integer, nullable=False),
    Column("t_start", Float, nullable=False),
    Column("t_end", Float, nullable=False),
    Column("started_at", BigInteger, nullable=False),
    Column("ended_at", BigInteger, nullable=False),
    Column("day", Integer, nullable=False),
    Column("shift", Text, nullable=False),
    Column("dealer_id", Id, ForeignKey("dealers.id")),
    Column("seats", SmallInteger, nullable=False),
    Column("hands", SmallInteger, nullable=False),
    Column("handle", BigInteger, nullable=False),
    Column("net", BigInteger),
    Column("findings", SmallInteger, nullable=False, server_default="0"),
    Column("held", Boolean, nullable=False, server_default=text("false")),
    UniqueConstraint("boot_id", "seq"),
    Index("ix_rounds_time", "ended_at", "id"),
    Index("ix_rounds_table_time", "table_id", "ended_at", "id"),
    Index("ix_rounds_dealer_time", "dealer_id", "ended_at", "id"),
    Index("ix_rounds_boot_t", "boot_id", "t_start"),
    Index("ix_rounds_number", "number", "ended_at"),
    Index("ix_rounds_day", "day", "ended_at", "id"),
    Index(
        "ix_rounds_found",
        "ended_at",
        "id",
        sqlite_where=text("findings > 0"),
        postgresql_where=text("findings > 0"),
    ),
    Index("ix_rounds_held", "ended_at", "id", sqlite_where=text("held"), postgresql_where=text("held")),
)

hands = Table(
    "hands",
    metadata,
    Column("round_id", Id, ForeignKey("rounds.id"), primary_key=True, autoincrement=False),
    Column("seat", SmallInteger, primary_key=True, autoincrement=False),
    Column("hand", SmallInteger, primary_key=True, autoincrement=False),
    Column("table_id", Id, nullable=False),
    Column("ended_at", BigInteger, nullable=False),
    Column("cards", BigInteger, nullable=False),
    Column("ranks", Integer, nullable=False),
    Column("wager", BigInteger),
    Column("stake", BigInteger),
    Column("payout", BigInteger),
    Column("outcome", Text, nullable=False),
    Index("ix_hands_time", "ended_at", "round_id", "seat", "cards", "ranks", "stake"),
    Index("ix_hands_stake", "stake", "ended_at", "round_id", "seat", "cards", "ranks"),
    Index("ix_hands_table_time", "table_id", "ended_at", "round_id", "seat", "stake"),
    Index(
        "ix_hands_rare_outcome",
        "outcome",
        "ended_at",
        "round_id",
        "seat",
        "cards",
        "ranks",
        "stake",
        sqlite_where=text(RARE_OUTCOME),
        postgresql_where=text(RARE_OUTCOME),
    ),
    sqlite_with_rowid=False,
)
"""Hands of rounds; seat 0 is the dealer's. cards, ranks: sets of bits, see `cards`."""

hand_cards = Table(
    "hand_cards",
    metadata,
    Column("card", SmallInteger, primary_key=True, autoincrement=False),
    Column("table_id", Id, primary_key=True, autoincrement=False),
    Column("seat", SmallInteger, primary_key=True, autoincrement=False),
    Column("round_id", Id, primary_key=True, autoincrement=False),
    Column("hand", SmallInteger, primary_key=True, autoincrement=False),
    Column("cards", BigInteger, nullable=False),
    Column("ranks", Integer, nullable=False),
    Column("stake", BigInteger),
    sqlite_with_rowid=False,
)
"""Each different card of each hand, to find hands by their cards. card: its bit's number in `hands.cards`, or
52 and its bit's number in `ranks` where its suit is not known. The rest is as in `hands`."""

findings = Table(
    "findings",
    metadata,
    _key(),
    Column("uid", Text, nullable=False),
    Column("table_id", Id, ForeignKey("tables.id"), nullable=False),
    Column("boot_id", Id, ForeignKey("boots.id"), nullable=False),
    Column("seq", Integer, nullable=False),
    Column("round_id", Id, ForeignKey("rounds.id")),
    Column("t", Float, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("day", Integer, nullable=False),
    Column("shift", Text, nullable=False),
    Column("dealer_id", Id, ForeignKey("dealers.id")),
    Column("kind", Text, nullable=False),
    Column("seat", SmallInteger, nullable=False),
    Column("hand", SmallInteger, nullable=False),
    Column("severity", Text, nullable=False),
    Column("amount", BigInteger),
    Column("favours", Text),
    Column("body", Text, nullable=False),
    Column("status", Text, nullable=False, server_default="open"),
    Column("verdict_by", Id, ForeignKey("users.id")),
    Column("verdict_at", BigInteger),
    Column("verdict_reason", Text),
    Column("verdict_note", Text),
    Column("assigned_to", Id, ForeignKey("users.id")),
    Column("notes", Integer, nullable=False, server_default="0"),
    Column("version", Integer, nullable=False, server_default="1"),
    UniqueConstraint("boot_id", "seq"),
    Index("ix_findings_time", "at", "id"),
    Index("ix_findings_table_time", "table_id", "at", "id"),
    Index("ix_findings_status_time", "status", "severity", "at", "id"),
    Index("ix_findings_verdict_time", "status", "at", "id"),
    Index("ix_findings_severity_time", "severity", "at", "id"),
    Index("ix_findings_kind_time", "kind", "at", "id", "round_id", "amount"),
    Index("ix_findings_seat_time", "seat", "at", "id"),
    Index("ix_findings_amount", "amount", "at", "id"),
    Index("ix_findings_precision", "kind", "table_id", "status", "at"),
    Index(
        "ix_findings_assigned",
        "assigned_to",
        "at",
        "id",
        sqlite_where=text("assigned_to IS NOT NULL"),
        postgresql_where=text("assigned_to IS NOT NULL"),
    ),
    Index("ix_findings_worst", *(text(w.format("")) for w in WORST), "at", "id"),
    Index(
        "ix_findings_open",
        "table_id",
        "severity",
        "at",
        sqlite_where=text("status = 'open'"),
        postgresql_where=text("status = 'open'"),
    ),
    Index("ix_findings_day", "day", "at", "id"),
    Index("ix_findings_dealer_time", "dealer_id", "at", "id"),
    Index("ix_findings_round", "round_id"),
    Index("ix_findings_boot_t", "boot_id", "t"),
)

unverified = Table(
    "unverified",
    metadata,
    _key(),
    Column("table_id", Id, ForeignKey("tables.id"), nullable=False),
    Column("boot_id", Id, ForeignKey("boots.id"), nullable=False),
    Column("seq", Integer, nullable=False),
    Column("t", Float),
    Column("at", BigInteger, nullable=False),
    Column("day", Integer, nullable=False),
    Column("shift", Text, nullable=False),
    Column("dealer_id", Id, ForeignKey("dealers.id")),
    Column("seat", SmallInteger, nullable=False),
    Column("hand", SmallInteger, nullable=False),
    Column("why", Text, nullable=False),
    UniqueConstraint("boot_id", "seq"),
    Index("ix_unverified_boot_t", "boot_id", "t"),
    Index("ix_unverified_table_time", "table_id", "at"),
)

pictures = Table(
    "pictures",
    metadata,
    Column("table_id", Id, ForeignKey("tables.id"), primary_key=True, autoincrement=False),
    Column("ref", Text, primary_key=True),
    Column("at", BigInteger, nullable=False),
    Column("sha256", Text, nullable=False),
    Column("jpeg", LargeBinary, nullable=False),
    Index("ix_pictures_at", "at", "table_id", "ref"),
)
"""Evidence; a picture of ref "" is the table's newest still, one of "clip-…" JPEGs one behind the other."""

thread = Table(
    "thread",
    metadata,
    _key(),
    Column("finding_id", Id, ForeignKey("findings.id"), nullable=False, index=True),
    Column("at", BigInteger, nullable=False),
    Column("user_id", Id, ForeignKey("users.id")),
    Column("who", Text, nullable=False),
    Column("what", Text, nullable=False),
    Column("text", Text, nullable=False),
)

changes = Table(
    "changes",
    metadata,
    _key(),
    Column("at", BigInteger, nullable=False, index=True),
    Column("what", Text, nullable=False),
    Column("table_id", Id, nullable=False),
    Column("ref", Text, nullable=False),
)
"""What the pages are told: `finding`, `round`, `picture`, `gone` (a picture), `still`; rows that are
minutes old are deleted."""

dealers = Table(
    "dealers",
    metadata,
    _key(),
    Column("name", Text, nullable=False),
    Column("badge", Text, unique=True),
    Column("active", Boolean, nullable=False, server_default=text("true")),
)

sign_ins = Table(
    "sign_ins",
    metadata,
    _key(),
    Column("table_id", Id, ForeignKey("tables.id"), nullable=False),
    Column("dealer_id", Id, ForeignKey("dealers.id")),
    Column("at", BigInteger, nullable=False),
    Column("user_id", Id, ForeignKey("users.id")),
    Index("ix_sign_ins_table_at", "table_id", "at"),
)
"""Who deals from when; no dealer: nobody is signed in. user_id: who said so, null when the table did."""

users = Table(
    "users",
    metadata,
    _key(),
    Column("name", Text, nullable=False, unique=True),
    Column("role", Text, nullable=False),
    Column("password", Text, nullable=False),
    Column("disabled", Boolean, nullable=False, server_default=text("false")),
    Column("created_at", BigInteger, nullable=False),
    Column("last_login_at", BigInteger),
)

sessions = Table(
    "sessions",
    metadata,
    Column("token", Text, primary_key=True),
    Column("user_id", Id, ForeignKey("users.id"), nullable=False, index=True),
    Column("csrf", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("used_at", BigInteger, nullable=False),
)

tokens = Table(
    "tokens",
    metadata,
    _key(),
    Column("name", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("token", Text, nullable=False, unique=True),
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger),
    Column("used_at", BigInteger),
)

attempts = Table(
    "attempts",
    metadata,
    _key(),
    Column("at", BigInteger, nullable=False, index=True),
    Column("name", Text, nullable=False),
    Column("address", Text, nullable=False),
)
"""Sign-ins that failed, for a quarter of an hour."""

audit = Table(
    "audit",
    metadata,
    _key(),
    Column("at", BigInteger, nullable=False, index=True),
    Column("who", Text, nullable=False),
    Column("address", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("what", Text, nullable=False),
    Column("detail", Text, nullable=False),
    Index("ix_audit_what", "what", "id"),
)

settings = Table(
    "settings",
    metadata,
    Column("key", Text, primary_key=True),
    Column("value", Text, nullable=False),
)
