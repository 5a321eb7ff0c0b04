"""each card of each hand, for searching by cards; rounds and findings by gaming day"""

import sqlalchemy as sa
from alembic import op

from pitwatch.pit.rows import card_rows

revision = "0003"
down_revision = "0002"

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    cards = op.create_table(
        "hand_cards",
        sa.Column("card", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("table_id", ID, autoincrement=False, nullable=False),
        sa.Column("seat", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("round_id", ID, autoincrement=False, nullable=False),
        sa.Column("hand", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("cards", sa.BigInteger(), nullable=False),
        sa.Column("ranks", sa.Integer(), nullable=False),
        sa.Column("stake", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("card", "table_id", "seat", "round_id", "hand", name=op.f("pk_hand_cards")),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_rounds_day", "rounds", ["day", "ended_at", "id"])
    op.create_index(
        "ix_rounds_found",
        "rounds",
        ["ended_at", "id"],
        sqlite_where=sa.text("findings > 0"),
        postgresql_where=sa.text("findings > 0"),
    )
    op.create_index("ix_hands_table_time", "hands", ["table_id", "ended_at", "round_id", "seat", "stake"])
    rare = sa.text("outcome NOT IN ('', 'won', 'lost', 'bust', 'pushed')")
    op.create_index(
        "ix_hands_rare_outcome", "hands", ["outcome", "round_id"], sqlite_where=rare, postgresql_where=rare
    )
    held = sa.text("held")
    op.drop_index("ix_rounds_held", "rounds")
    op.create_index("ix_rounds_held", "rounds", ["ended_at", "id"], sqlite_where=held, postgresql_where=held)
    opened = sa.text("status = 'open'")
    columns = ["table_id", "severity", "at"]
    op.create_index("ix_findings_open", "findings", columns, sqlite_where=opened, postgresql_where=opened)
    op.create_index("ix_findings_day", "findings", ["day", "at", "id"])
    op.create_index("ix_findings_dealer_time", "findings", ["dealer_id", "at", "id"])
    db = op.get_bind()
    hands = sa.table(
        "hands",
        *(sa.column(n) for n in ("round_id", "seat", "hand", "table_id", "cards", "ranks", "stake")),
    )
    found = db.execute(sa.select(hands).execution_options(yield_per=2000))
    for part in found.mappings().partitions():
        rows = [c for h in part for c in card_rows(dict(h))]
        if rows:
            db.execute(sa.insert(cards), rows)
