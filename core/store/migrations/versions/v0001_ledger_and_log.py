"""The ledger, which only grows, and the session log."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

# RAISE(ABORT) undoes the statement. The insert trigger also stops INSERT OR REPLACE, which
# deletes without firing delete triggers, and keeps the sequence free of gaps.
SQLITE_TRIGGERS = (
    """
    CREATE TRIGGER ledger_entries_no_update BEFORE UPDATE ON ledger_entries
    BEGIN SELECT RAISE(ABORT, 'the ledger only grows: UPDATE is refused'); END
    """,
    """
    CREATE TRIGGER ledger_entries_no_delete BEFORE DELETE ON ledger_entries
    BEGIN SELECT RAISE(ABORT, 'the ledger only grows: DELETE is refused'); END
    """,
    """
    CREATE TRIGGER ledger_entries_append BEFORE INSERT ON ledger_entries
    WHEN NEW.sequence IS NOT (SELECT COALESCE(MAX(sequence), 0) + 1 FROM ledger_entries)
    BEGIN SELECT RAISE(ABORT, 'the ledger only grows at its end'); END
    """,
)

POSTGRESQL_TRIGGERS = (
    """
    CREATE FUNCTION ledger_entries_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION 'the ledger only grows: % is refused', TG_OP
            USING ERRCODE = 'integrity_constraint_violation';
    END $$
    """,
    """
    CREATE FUNCTION ledger_entries_at_end() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF NEW.sequence IS DISTINCT FROM (SELECT COALESCE(MAX(sequence), 0) + 1 FROM ledger_entries) THEN
            RAISE EXCEPTION 'the ledger only grows at its end'
                USING ERRCODE = 'integrity_constraint_violation';
        END IF;
        RETURN NEW;
    END $$
    """,
    """
    CREATE TRIGGER ledger_entries_no_change BEFORE UPDATE OR DELETE ON ledger_entries
    FOR EACH ROW EXECUTE FUNCTION ledger_entries_refuse()
    """,
    """
    CREATE TRIGGER ledger_entries_no_truncate BEFORE TRUNCATE ON ledger_entries
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_entries_refuse()
    """,
    """
    CREATE TRIGGER ledger_entries_append BEFORE INSERT ON ledger_entries
    FOR EACH ROW EXECUTE FUNCTION ledger_entries_at_end()
    """,
)


def upgrade() -> None:
    op.create_table(
        "ledger_entries",
        sa.Column("sequence", IDENTIFIER, autoincrement=False, nullable=False),
        sa.Column("previous", sa.String(64), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("corpus", sa.String(200), nullable=False),
        sa.Column("budget", sa.String(64), nullable=False),
        sa.Column("losses", sa.Text(), nullable=False),
        sa.Column("remaining", sa.Text(), nullable=False),
        sa.Column("used", sa.BigInteger(), nullable=False),
        sa.Column("time", sa.BigInteger(), nullable=False),
        sa.Column("session", sa.String(64), nullable=False),
        sa.Column("details", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("sequence", name="pk_ledger_entries"),
        sa.UniqueConstraint("previous", name="uq_ledger_entries_previous"),
        sa.UniqueConstraint("digest", name="uq_ledger_entries_digest"),
    )
    op.create_index("ix_ledger_entries_corpus_sequence", "ledger_entries", ["corpus", "sequence"])
    op.create_table(
        "sessions",
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("started", sa.BigInteger(), nullable=False),
        sa.Column("last_seen", sa.BigInteger(), nullable=False),
        sa.Column("agent", sa.String(64), nullable=False),
        sa.Column("role", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_sessions"),
    )
    op.create_index("ix_sessions_last_seen", "sessions", ["last_seen"])
    op.create_table(
        "events",
        sa.Column("id", IDENTIFIER, nullable=False),
        sa.Column("session", sa.String(64), nullable=False),
        sa.Column("panel", sa.String(64), nullable=False),
        sa.Column("action", sa.String(200), nullable=False),
        sa.Column("started", sa.BigInteger(), nullable=False),
        sa.Column("duration_ms", sa.Double(), nullable=True),
        sa.Column("cost", sa.Double(), nullable=True),
        sa.Column("outcome", sa.String(64), nullable=False),
        sa.Column("corpus", sa.String(200), nullable=False),
        sa.Column("text_hash", sa.String(64), nullable=True),
        sa.Column("text_length", sa.BigInteger(), nullable=True),
        sa.Column("text", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_events"),
        sa.ForeignKeyConstraint(["session"], ["sessions.id"], name="fk_events_session", ondelete="CASCADE"),
    )
    op.create_index("ix_events_session", "events", ["session"])
    op.create_index("ix_events_started", "events", ["started"])
    triggers = {"sqlite": SQLITE_TRIGGERS, "postgresql": POSTGRESQL_TRIGGERS}
    for statement in triggers.get(op.get_bind().dialect.name, ()):
        op.execute(statement)
