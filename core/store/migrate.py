"""Bring the database to the newest schema with Alembic, from inside the program."""

import threading

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, text

from core.errors import LedgerUnavailable
from core.store.database import Database

_MIGRATION_LOCK = 0x5375624D69784D67  # "SubMixMg"
_alembic_turn = threading.Lock()  # Alembic keeps the running environment in a module global


def migrate(database: Database) -> None:
    """Upgrade to head. Of several processes that start at once, one upgrades and the others wait for it."""
    config = Config()
    config.set_main_option("script_location", "core.store:migrations")
    config.set_main_option("path_separator", "os")
    head = ScriptDirectory.from_config(config).get_current_head()
    with database.reading() as connection:
        if _revision(connection) == head:  # the usual start: nothing to do, and no lock to wait for
            return
    try:
        with _alembic_turn, database.writing() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(text("SELECT pg_advisory_xact_lock(:name)"), {"name": _MIGRATION_LOCK})
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
    except CommandError as error:
        raise LedgerUnavailable("The database was made by a newer version of this program.") from error


def _revision(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()
