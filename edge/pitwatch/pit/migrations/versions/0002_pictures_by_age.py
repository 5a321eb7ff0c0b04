"""pictures by age, for forgetting them"""

from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_index("ix_pictures_at", "pictures", ["at", "table_id", "ref"])
