"""Alembic's environment: runs on the connection, and inside the transaction, that `migrate` hands over."""

from alembic import context

from core.store.tables import Base

context.configure(connection=context.config.attributes["connection"], target_metadata=Base.metadata)
context.run_migrations()
