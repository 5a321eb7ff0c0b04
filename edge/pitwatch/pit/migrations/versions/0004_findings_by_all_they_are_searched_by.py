"""rare outcomes with their cards and money; findings by all that they are searched by"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    rare = sa.text("outcome NOT IN ('', 'won', 'lost', 'bust', 'pushed')")
    columns = ["outcome", "ended_at", "round_id", "seat", "cards", "ranks", "stake"]
    op.drop_index("ix_hands_rare_outcome", "hands")
    op.create_index("ix_hands_rare_outcome", "hands", columns, sqlite_where=rare, postgresql_where=rare)
    op.drop_index("ix_findings_kind_time", "findings")
    op.create_index("ix_findings_kind_time", "findings", ["kind", "at", "id", "round_id", "amount"])
    op.create_index("ix_findings_verdict_time", "findings", ["status", "at", "id"])
    op.create_index("ix_findings_severity_time", "findings", ["severity", "at", "id"])
    op.create_index("ix_findings_seat_time", "findings", ["seat", "at", "id"])
    op.create_index("ix_findings_amount", "findings", ["amount", "at", "id"])
    op.create_index("ix_findings_precision", "findings", ["kind", "table_id", "status", "at"])
    given = sa.text("assigned_to IS NOT NULL")
    columns = ["assigned_to", "at", "id"]
    op.create_index("ix_findings_assigned", "findings", columns, sqlite_where=given, postgresql_where=given)
    worst = sa.text("(CASE WHEN status = 'open' AND severity = 'alert' THEN 1 ELSE 0 END)")
    op.create_index("ix_findings_worst", "findings", [worst, sa.text("coalesce(amount, 0)"), "at", "id"])
