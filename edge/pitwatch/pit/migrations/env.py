"""Runs migrations on the connection that `pitwatch.pit.database` hands over."""

from alembic import context

from pitwatch.pit.schema import metadata

__all__: list[str] = []

connection = context.config.attributes["connection"]
context.configure(
    connection=connection, target_metadata=metadata, render_as_batch=connection.dialect.name == "sqlite"
)
with context.begin_transaction():
    context.run_migrations()
