"""psycopg 3: types in both formats, server cursors, COPY, pipelines, async, notices, errors, prepared statements, transactions, cancel."""

from checks import check, run
from columns import TYPES
from connections import async_connected, connected


@check
def set_up(c):
    c.execute("DROP TABLE IF EXISTS psycopg_type")
    c.execute("DROP TABLE IF EXISTS psycopg_item")
    columns = ", ".join(f'"{name}" {kind}' for name, kind, _ in TYPES)
    c.execute(f"CREATE TABLE psycopg_type (k INTEGER PRIMARY KEY, {columns})")
    c.execute(
        "CREATE TABLE psycopg_item (id BIGINT PRIMARY KEY, name VARCHAR(20) NOT NULL, size INTEGER CONSTRAINT size_is_natural CHECK (size >= 0))"
    )
    c.cursor().executemany(
        "INSERT INTO psycopg_item VALUES (%s, %s, %s)", [(i, f"name {i}", i % 10) for i in range(300)]
    )


# Each module adds its checks.
import value_checks  # noqa: E402, F401
import statement_checks  # noqa: E402, F401
import copy_checks  # noqa: E402, F401
import error_checks  # noqa: E402, F401
import transaction_checks  # noqa: E402, F401


@check
def tear_down(c):
    c.execute("DROP TABLE psycopg_type")
    c.execute("DROP TABLE psycopg_item")


run(c=connected, a=async_connected)
