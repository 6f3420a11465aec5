"""asyncpg: prepared statements, cursors, COPY, pools, transactions, cancel by timeout.

It always uses the extended protocol and binary values.
"""

import asyncio
import datetime as dt
import io
import json
from contextlib import asynccontextmanager
from decimal import Decimal
from uuid import UUID

import asyncpg

from checks import IS_SALTWING, URL, check, equal, run, saltwing_only, slow_query


@asynccontextmanager
async def connected():
    connection = await asyncpg.connect(URL)
    try:
        yield connection
    finally:
        await connection.close(timeout=10)


async def fails(kind, call):
    """The error of a call, which must be of a kind."""
    try:
        await call
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


DAY = dt.datetime(2024, 2, 29) if IS_SALTWING else dt.date(2024, 2, 29)

TYPES = [
    ("small", "SMALLINT", -32768),
    ("whole", "INTEGER", 2**31 - 1),
    ("big", "BIGINT", -(2**63)),
    ("single", "REAL", 1.5),
    ("double", "FLOAT8", 5e-324),
    ("exact", "NUMERIC(14,3)", Decimal("-12345678901.125")),
    ("flag", "BOOLEAN", True),
    ("label", "VARCHAR(20)", "äöü€😀"),
    ("words", "TEXT", "x" * 10_000),
    ("fixed", "CHAR(4)", "abcd"),
    ("instant", "TIMESTAMP", dt.datetime(2200, 12, 31, 23, 59, 59, 999999)),
    ("day", "DATE", DAY),
    ("hour", "TIME", dt.time(23, 59, 59, 999000)),
    ("bytes", "BYTEA", b"\x00\xff"),
    ("json", "JSON", '{"a": 1}'),
    ("id", "UUID", UUID("01234567-89ab-cdef-0123-456789abcdef")),
    ("numbers", "INTEGER[]", [1, None, 3]),
    ("longs", "BIGINT[]", [2**40]),
    ("texts", "TEXT[]", ["a", 'd"e', ""]),
]


@check
async def set_up(c):
    columns = ", ".join(f'"{name}" {kind}' for name, kind, _ in TYPES)
    for table, definition in (
        ("asyncpg_type", f"k INTEGER PRIMARY KEY, {columns}"),
        ("asyncpg_item", "id BIGINT PRIMARY KEY, name VARCHAR(20), size INTEGER"),
    ):
        await c.execute(f"DROP TABLE IF EXISTS {table}")
        await c.execute(f"CREATE TABLE {table} ({definition})")
    await c.executemany("INSERT INTO asyncpg_item VALUES ($1, $2, $3)", [(i, f"name {i}", i % 10) for i in range(300)])


@check
async def server_version(c):
    equal(c.get_server_version().major, 15)
    equal(c.get_settings().client_encoding.upper(), "UTF8")


@check
async def status_of_execute(c):
    equal(await c.execute("INSERT INTO asyncpg_item VALUES (900, 'a', 1), (901, 'b', 1)"), "INSERT 0 2")
    equal(await c.execute("DELETE FROM asyncpg_item WHERE id >= $1", 900), "DELETE 2")


def one_type(name, kind, value):
    async def value_returns(c):
        await c.execute(
            f'INSERT INTO asyncpg_type (k, "{name}") VALUES ($1, $2) ON CONFLICT (k) DO UPDATE SET "{name}" = excluded."{name}"',
            1,
            value,
        )
        equal(await c.fetchval(f'SELECT "{name}" FROM asyncpg_type WHERE k = $1', 1), value)
        await c.execute(f'UPDATE asyncpg_type SET "{name}" = $1 WHERE k = 1', None)
        equal(await c.fetchval(f'SELECT "{name}" FROM asyncpg_type WHERE k = 1'), None)

    value_returns.__name__ = "type_" + kind.lower().replace("(", "_").replace(",", "_").replace(")", "").replace(
        "[]", "_array"
    )
    check(value_returns)


for _name, _kind, _value in TYPES:
    one_type(_name, _kind, _value)


@check
async def records(c):
    row = await c.fetchrow("SELECT id, name AS title FROM asyncpg_item WHERE id = $1", 7)
    equal((dict(row), row["title"], list(row.keys())), ({"id": 7, "title": "name 7"}, "name 7", ["id", "title"]))
    equal(await c.fetchrow("SELECT id FROM asyncpg_item WHERE id = 12345"), None)
    equal(len(await c.fetch("SELECT * FROM asyncpg_item WHERE id >= 0")), 300)


@check
async def prepared_statement(c):
    statement = await c.prepare("SELECT id, name FROM asyncpg_item WHERE id = $1 AND name = $2")
    equal([t.name.replace("varchar", "text") for t in statement.get_parameters()], ["int8", "text"])
    equal([(a.name, a.type.name) for a in statement.get_attributes()], [("id", "int8"), ("name", "varchar")])
    for i in range(20):
        equal(await statement.fetchval(i, f"name {i}", column=1), f"name {i}")
    await statement.fetch(1, "name 1")
    equal(statement.get_statusmsg(), "SELECT 1")


@check
async def array_parameter(c):
    rows = await c.fetch("SELECT id FROM asyncpg_item WHERE id = ANY($1::BIGINT[]) ORDER BY id", [9, 4, 1000])
    equal([row["id"] for row in rows], [4, 9])


@check
async def cursor(c):
    async with c.transaction():
        ids = [
            row["id"]
            async for row in c.cursor("SELECT id FROM asyncpg_item WHERE id >= $1 ORDER BY id", 5, prefetch=20)
        ]
    equal(ids, list(range(5, 300)))


@check
async def cursor_fetches_and_moves(c):
    async with c.transaction():
        walk = await c.cursor("SELECT id FROM asyncpg_item WHERE id >= 0 ORDER BY id")
        equal([row["id"] for row in await walk.fetch(3)], [0, 1, 2])
        equal(await walk.forward(7), 7)
        equal((await walk.fetchrow())["id"], 10)
        equal(len(await walk.fetch(1000)), 289)
        equal(await walk.fetchrow(), None)


@check
async def execute_many_is_one_transaction(c):
    await fails(
        asyncpg.UniqueViolationError,
        c.executemany("INSERT INTO asyncpg_item VALUES ($1, 'x', 1)", [(800,), (801,), (1,)]),
    )
    equal(await c.fetchval("SELECT count(*) FROM asyncpg_item WHERE id >= 800"), 0)


@check
async def pool():
    async with asyncpg.create_pool(URL, min_size=2, max_size=6) as connections:

        async def one(i):
            async with connections.acquire() as connection:
                await connection.execute("SET application_name = 'busy'")
                return await connection.fetchval("SELECT size + $1 FROM asyncpg_item WHERE id = $1", i)

        equal(await asyncio.gather(*(one(i) for i in range(60))), [i % 10 + i for i in range(60)])
        # A connection that comes back has been reset.
        equal(await connections.fetchval("SHOW application_name"), "")


@check
async def transactions_and_savepoints(c):
    try:
        async with c.transaction():
            await c.execute("INSERT INTO asyncpg_item VALUES (800, 'undone', 1)")
            raise ValueError("undo")
    except ValueError:
        pass
    async with c.transaction(isolation="repeatable_read"):
        await c.execute("INSERT INTO asyncpg_item VALUES (801, 'stays', 1)")
        inner = c.transaction()
        await inner.start()
        await c.execute("INSERT INTO asyncpg_item VALUES (802, 'undone', 1)")
        await inner.rollback()
        equal(c.is_in_transaction(), True)
    equal([r["id"] for r in await c.fetch("SELECT id FROM asyncpg_item WHERE id >= 800")], [801])
    await c.execute("DELETE FROM asyncpg_item WHERE id >= 800")


@check
async def transaction_fails(c):
    transaction = c.transaction()
    await transaction.start()
    await fails(asyncpg.DivisionByZeroError, c.fetch("SELECT 1 / 0 FROM asyncpg_item WHERE id = 1"))
    await fails(asyncpg.InFailedSQLTransactionError, c.fetch("SELECT 1"))
    await transaction.rollback()
    equal(await c.fetchval("SELECT 5"), 5)


@check
async def copy_records_and_query(c):
    rows = [(1000 + i, f"copied {i}", None if i % 7 == 0 else i) for i in range(10_000)]
    equal(await c.copy_records_to_table("asyncpg_item", records=rows, columns=["id", "name", "size"]), "COPY 10000")
    equal(await c.fetchval("SELECT count(size) FROM asyncpg_item WHERE id >= 1000"), 8571)
    target = io.BytesIO()
    equal(
        await c.copy_from_query(
            "SELECT id, name FROM asyncpg_item WHERE id >= $1 ORDER BY id LIMIT 2", 1000, output=target, format="csv"
        ),
        "COPY 2",
    )
    equal(target.getvalue(), b"1000,copied 0\n1001,copied 1\n")
    await c.execute("DELETE FROM asyncpg_item WHERE id >= 1000")


@check
async def copy_tables(c):
    target = io.BytesIO()
    await c.copy_from_table("asyncpg_item", columns=["id", "size"], output=target, format="csv", header=True)
    lines = target.getvalue().decode().splitlines()
    equal((lines[0], lines[1], len(lines)), ("id,size", "0,0", 301))
    source = io.BytesIO(b"1000;left\n1001;right\n")
    equal(
        await c.copy_to_table("asyncpg_item", source=source, columns=["id", "name"], format="csv", delimiter=";"),
        "COPY 2",
    )
    await c.execute("DELETE FROM asyncpg_item WHERE id >= 1000")


@check
async def timeout_cancels(c):
    await fails(asyncio.TimeoutError, c.fetch(slow_query("asyncpg_item"), timeout=0.5))
    equal(await c.fetchval("SELECT 1"), 1)


@check
async def cancelled_task(c):
    task = asyncio.create_task(c.fetch(slow_query("asyncpg_item")))
    await asyncio.sleep(0.5)
    task.cancel()
    await fails(asyncio.CancelledError, task)
    equal(await asyncio.wait_for(c.fetchval("SELECT 1"), 5), 1)


@check
async def errors_have_their_fields(c):
    error = await fails(asyncpg.UniqueViolationError, c.execute("INSERT INTO asyncpg_item VALUES ($1, 'x', 1)", 1))
    equal((error.sqlstate, error.table_name), ("23505", "asyncpg_item"))
    error = await fails(asyncpg.UndefinedColumnError, c.fetch("SELECT nothere FROM asyncpg_item WHERE id = 1"))
    equal(error.position, "8")
    await fails(asyncpg.PostgresSyntaxError, c.fetch("SELEC 1"))
    await fails(asyncpg.UndefinedTableError, c.fetch("SELECT * FROM asyncpg_nothing"))
    await fails(asyncpg.DataError, c.fetch("SELECT id FROM asyncpg_item WHERE id = $1", "text"))


@check
async def parameter_without_a_type(c):
    equal(await c.fetchval("SELECT $1::INTEGER + 1", 4), 5)
    equal(await c.fetchval("SELECT $1", "as text"), "as text")


@check
async def json_codec(c):
    await c.set_type_codec("json", schema="pg_catalog", encoder=json.dumps, decoder=json.loads)
    await c.execute("INSERT INTO asyncpg_type (k, json) VALUES (5, $1)", {"a": [1, 2]})
    equal(await c.fetchval("SELECT json FROM asyncpg_type WHERE k = 5"), {"a": [1, 2]})


@check
async def notices(c):
    found = []
    c.add_log_listener(lambda _, message: found.append(message.severity))
    if IS_SALTWING:
        await c.execute("SET rows_warn = 1")
        await c.fetch("SELECT sum(size) FROM asyncpg_item WHERE id >= 0")
    else:
        await c.execute("DROP TABLE IF EXISTS asyncpg_nothing")
    await asyncio.sleep(0.1)
    equal(len(found), 1)


@check
async def statement_meets_another_definition(c):
    await c.execute("DROP TABLE IF EXISTS asyncpg_change")
    await c.execute("CREATE TABLE asyncpg_change (k INTEGER PRIMARY KEY)")
    await c.execute("INSERT INTO asyncpg_change VALUES (1)")
    equal(tuple(await c.fetchrow("SELECT * FROM asyncpg_change WHERE k = $1", 1)), (1,))
    async with connected() as other:
        await other.execute("ALTER TABLE asyncpg_change ADD COLUMN v INTEGER")
    # The driver hears of it by 0A000, and prepares the statement again.
    equal(tuple(await c.fetchrow("SELECT * FROM asyncpg_change WHERE k = $1", 1)), (1, None))
    await c.execute("DROP TABLE asyncpg_change")


@saltwing_only
async def refused_full_scan(c):
    error = await fails(asyncpg.PostgresError, c.fetch("SELECT * FROM asyncpg_item WHERE size = 1"))
    equal((error.sqlstate, bool(error.hint)), ("54F01", True))


@check
async def reset_and_reload(c):
    await c.execute("SET application_name = 'x'")
    await c.reset()
    equal(await c.fetchval("SHOW application_name"), "")
    await c.reload_schema_state()
    equal(await c.fetchval("SELECT $1::TEXT[]", ["a"]), ["a"])


@check
async def tear_down(c):
    await c.execute("DROP TABLE asyncpg_type")
    await c.execute("DROP TABLE asyncpg_item")


run(c=connected)
