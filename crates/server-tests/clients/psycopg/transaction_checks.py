"""Transactions, their states and conflicts; cancellation, and statements of several tasks."""

import asyncio
import threading
import time

import psycopg
from psycopg import errors
from psycopg.pq import TransactionStatus as Status

from checks import check, contains, equal, raises, saltwing_only, slow_query
from connections import async_connected, connected


@check
def transaction_states(c):
    c.execute("BEGIN")
    equal(c.info.transaction_status, Status.INTRANS)
    c.execute("INSERT INTO psycopg_item VALUES (3000, 'undone', 1)")
    raises(errors.DivisionByZero, c.execute, "SELECT 1 / 0 FROM psycopg_item WHERE id = 1")
    equal(c.info.transaction_status, Status.INERROR)
    raises(errors.InFailedSqlTransaction, c.execute, "SELECT 1")
    equal(c.execute("COMMIT").statusmessage, "ROLLBACK")
    equal(c.info.transaction_status, Status.IDLE)
    equal(c.execute("SELECT count(*) FROM psycopg_item WHERE id = 3000").fetchone(), (0,))


@check
def savepoints(c):
    with c.transaction():
        c.execute("INSERT INTO psycopg_item VALUES (3000, 'stays', 1)")
        with c.transaction(force_rollback=True):
            c.execute("INSERT INTO psycopg_item VALUES (3001, 'undone', 1)")
        raises(errors.UniqueViolation, failing_savepoint, c)
        c.execute("INSERT INTO psycopg_item VALUES (3002, 'stays', 1)")
    equal(c.execute("SELECT id FROM psycopg_item WHERE id >= 3000 ORDER BY id").fetchall(), [(3000,), (3002,)])
    c.execute("DELETE FROM psycopg_item WHERE id >= 3000")


def failing_savepoint(c):
    with c.transaction():
        c.execute("INSERT INTO psycopg_item VALUES (1, 'again', 1)")


@check
def transactions_are_apart(c):
    with connected() as other, c.transaction():
        c.execute("INSERT INTO psycopg_item VALUES (3000, 'unseen', 1)")
        equal(other.execute("SELECT count(*) FROM psycopg_item WHERE id = 3000").fetchone(), (0,))
    equal(c.execute("DELETE FROM psycopg_item WHERE id = 3000").rowcount, 1)


@check
def repeatable_reads_and_read_only(c):
    c.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    c.read_only = True
    with connected() as other, c.transaction():
        equal(c.execute("SELECT size FROM psycopg_item WHERE id = 5").fetchone(), (5,))
        other.execute("UPDATE psycopg_item SET size = 6 WHERE id = 5")
        equal(c.execute("SELECT size FROM psycopg_item WHERE id = 5").fetchone(), (5,))
        other.execute("UPDATE psycopg_item SET size = 5 WHERE id = 5")
        raises(errors.ReadOnlySqlTransaction, failing_write, c)


def failing_write(c):
    with c.transaction():
        c.execute("UPDATE psycopg_item SET size = 0 WHERE id = 5")


@check
def conflict_of_two_transactions(c):
    with connected() as other:
        for connection in (c, other):
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
            connection.execute("SELECT size FROM psycopg_item WHERE id = 5").fetchone()
        c.execute("UPDATE psycopg_item SET size = 5 WHERE id = 5")
        c.execute("COMMIT")
        error = raises(
            psycopg.Error,
            lambda: (other.execute("UPDATE psycopg_item SET size = 5 WHERE id = 5"), other.execute("COMMIT")),
        )
        equal(error.sqlstate, "40001")


@saltwing_only
def serializable_is_refused(c):
    contains(str(raises(psycopg.Error, c.execute, "BEGIN ISOLATION LEVEL SERIALIZABLE")).lower(), "serializable")
    equal(c.info.transaction_status, Status.IDLE)


@check
def cancel_from_another_thread(c):
    timer = threading.Timer(0.5, c.cancel_safe)
    timer.start()
    began = time.monotonic()
    raises(errors.QueryCanceled, c.execute, slow_query("psycopg_item"))
    if time.monotonic() - began > 5:
        raise AssertionError("the statement ran on for more than 5 s")
    equal(c.execute("SELECT 1").fetchone(), (1,))


@check
def cancel_while_rows_are_streamed(c):
    query = slow_query("psycopg_item").replace("count(*)", "a.id").replace("< 0", ">= 0")
    rows = c.cursor().stream(query)
    next(rows)
    c.cancel_safe()
    raises(errors.QueryCanceled, lambda: [None for _ in rows])
    equal(c.execute("SELECT 1").fetchone(), (1,))


@check
def statement_timeout(c):
    c.execute("SET statement_timeout = '300ms'")
    raises(errors.QueryCanceled, c.execute, slow_query("psycopg_item"))
    c.execute("RESET statement_timeout")
    equal(c.execute("SELECT 1").fetchone(), (1,))


@check
async def async_queries(a):
    cursor = await a.execute("SELECT id FROM psycopg_item WHERE id < 3")
    equal([row async for row in cursor], [(0,), (1,), (2,)])


@check
async def async_connections_together():
    async def sum_up(i):
        async with async_connected() as connection:
            cursor = await connection.execute("SELECT sum(size) + %s FROM psycopg_item WHERE id < 100", (i,))
            return (await cursor.fetchone())[0]

    equal(await asyncio.gather(*(sum_up(i) for i in range(20))), [450 + i for i in range(20)])


@check
async def async_cancel(a):
    task = asyncio.create_task(a.execute(slow_query("psycopg_item")))
    await asyncio.sleep(0.5)
    task.cancel()
    try:
        await asyncio.wait_for(task, 5)
    except (asyncio.CancelledError, errors.QueryCanceled):
        pass
    equal(await (await a.execute("SELECT 1")).fetchone(), (1,))
