"""What a program does with phoenixdb: rows in and out, batches, transactions, frames, errors, metadata."""

import datetime
import decimal
import os

import phoenixdb

from checks import check, contains, equal, raises
from connections import connected

ITEMS = 300


def rows(connection, sql, *parameters):
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return cursor.fetchall()


def execute(connection, sql, *parameters):
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return cursor.rowcount


@check
def create_and_fill(c):
    execute(c, "DROP TABLE IF EXISTS phoenixdb_item")
    execute(c, "DROP TABLE IF EXISTS phoenixdb_type")
    execute(c, "CREATE TABLE phoenixdb_item (id BIGINT NOT NULL PRIMARY KEY, name VARCHAR, size INTEGER)")
    execute(c, "CREATE INDEX phoenixdb_item_size ON phoenixdb_item (size)")
    with c.cursor() as cursor:
        cursor.executemany(
            "UPSERT INTO phoenixdb_item VALUES (?, ?, ?)", [(i, f"name {i}", i % 10) for i in range(ITEMS)]
        )
    equal(rows(c, "SELECT COUNT(*) FROM phoenixdb_item WHERE id >= 0"), [[ITEMS]])


@check
def parameters(c):
    equal(rows(c, "SELECT id, name FROM phoenixdb_item WHERE id >= ? AND id <= ?", 7, 9), [[i, f"name {i}"] for i in (7, 8, 9)])
    equal(execute(c, "UPSERT INTO phoenixdb_item (id, name) VALUES (?, ?)", 900, None), 1)
    equal(rows(c, "SELECT * FROM phoenixdb_item WHERE id = ?", 900), [[900, None, None]])
    equal(execute(c, "DELETE FROM phoenixdb_item WHERE id = ?", 900), 1)


@check
def values_come_back(c):
    execute(
        c,
        "CREATE TABLE phoenixdb_type (k VARCHAR PRIMARY KEY, tiny TINYINT, small SMALLINT, whole INTEGER, big BIGINT, load DOUBLE, "
        "price DECIMAL(10, 2), up BOOLEAN, day DATE, made TIMESTAMP, bytes VARBINARY, fixed CHAR(4), numbers INTEGER ARRAY)",
    )
    full = [
        "ü '\"", -128, 32767, -(1 << 31), 1 << 62, 5e-324, decimal.Decimal("-12345678.25"), True, datetime.date(2024, 2, 29),
        datetime.datetime(2200, 12, 31, 23, 59, 59, 999000), b"\x00\xff", "abcd", [1, -2],
    ]
    empty = ["empty"] + [None] * 12
    with c.cursor() as cursor:
        cursor.executemany(f"UPSERT INTO phoenixdb_type VALUES ({', '.join('?' * 13)})", [full, empty])
        cursor.execute("SELECT * FROM phoenixdb_type WHERE k IN (?, ?) ORDER BY k", (full[0], "empty"))
        equal(cursor.fetchall(), [empty, full])
        equal([column[0] for column in cursor.description][:3], ["K", "TINY", "SMALL"])


@check
def frames_of_a_cursor(c):
    expected = [[i] for i in range(ITEMS)]
    for size in (1, 7, 299, 300, 2000):
        with c.cursor() as cursor:
            cursor.itersize = size
            cursor.execute("SELECT id FROM phoenixdb_item WHERE id >= ? ORDER BY id", (0,))
            equal([cursor.fetchone(), *cursor.fetchmany(10), *cursor], expected)


@check
def rows_as_dictionaries(d):
    equal(rows(d, "SELECT id, name AS title FROM phoenixdb_item WHERE id = 3"), [{"ID": 3, "TITLE": "name 3"}])


@check
def two_cursors_at_once(c):
    with c.cursor() as left, c.cursor() as right:
        left.itersize = right.itersize = 10
        left.execute("SELECT id FROM phoenixdb_item WHERE id >= 0 ORDER BY id")
        right.execute("SELECT id FROM phoenixdb_item WHERE id >= 100 ORDER BY id")
        equal({right.fetchone()[0] - left.fetchone()[0] for _ in range(150)}, {100})


@check
def a_batch_is_written_whole_or_not_at_all(c):
    with c.cursor() as cursor:
        batch = [(1000, "a"), (None, "no key"), (1001, "b")]
        raises(phoenixdb.Error, cursor.executemany, "UPSERT INTO phoenixdb_item (id, name) VALUES (?, ?)", batch)
    equal(rows(c, "SELECT id FROM phoenixdb_item WHERE id >= 1000"), [])


@check
def commit_and_rollback(t):
    execute(t, "UPSERT INTO phoenixdb_item (id, name) VALUES (1000, 'kept')")
    with connected() as other:
        equal(rows(other, "SELECT id FROM phoenixdb_item WHERE id >= 1000"), [])
        t.commit()
        equal(rows(other, "SELECT id FROM phoenixdb_item WHERE id >= 1000"), [[1000]])
    execute(t, "DELETE FROM phoenixdb_item WHERE id = 1000")
    t.rollback()
    equal(rows(t, "SELECT name FROM phoenixdb_item WHERE id = 1000"), [["kept"]])
    execute(t, "DELETE FROM phoenixdb_item WHERE id = 1000")
    t.autocommit = True
    with connected() as other:
        equal(rows(other, "SELECT id FROM phoenixdb_item WHERE id >= 1000"), [])


@check
def an_error_ends_the_transaction(t):
    execute(t, "UPSERT INTO phoenixdb_item (id) VALUES (1000)")
    raises(phoenixdb.IntegrityError, execute, t, "UPSERT INTO phoenixdb_item (id) VALUES (?)", None)
    raises(phoenixdb.Error, rows, t, "SELECT id FROM phoenixdb_item WHERE id = 1")
    t.rollback()
    equal(rows(t, "SELECT id FROM phoenixdb_item WHERE id >= 1000"), [])


@check
def errors_have_number_and_state(c):
    cases = [
        ("SELECT id FROM nothere WHERE id = 1", phoenixdb.ProgrammingError, 1012, "42M03"),
        ("SELECT nothere FROM phoenixdb_item WHERE id = 1", phoenixdb.ProgrammingError, 504, "42703"),
        ("SELEC", phoenixdb.ProgrammingError, 601, "42P00"),
        ("UPSERT INTO phoenixdb_item (id) VALUES (NULL)", phoenixdb.IntegrityError, 218, "23018"),
        ("UPSERT INTO phoenixdb_item (id) VALUES (1 / 0)", phoenixdb.DataError, 202, "22012"),
        ("UPSERT INTO phoenixdb_type (k, tiny) VALUES ('x', 10000)", phoenixdb.DataError, 203, "22005"),
        ("CREATE TABLE phoenixdb_item (k INTEGER PRIMARY KEY)", phoenixdb.ProgrammingError, 1013, "42M04"),
    ]
    for sql, kind, code, state in cases:
        error = raises(kind, execute, c, sql)
        equal((sql, error.code, error.sqlstate), (sql, code, state))


@check
def a_full_scan_is_refused_with_its_fix(c):
    error = raises(phoenixdb.Error, rows, c, "SELECT id FROM phoenixdb_item WHERE name = 'name 3'")
    equal(error.sqlstate, "54F01")
    contains(error.message, "would read all of PHOENIXDB_ITEM", "add a condition on ID")


@check
def a_wrong_password_opens_nothing():
    def connect(options):
        with connected(**options):
            pass

    raises(phoenixdb.Error, connect, {"avatica_password": "wrong"})
    raises(phoenixdb.Error, connect, {"authentication": None})
    connect({})


@check
def metadata(c):
    meta = c.meta()
    tables = [table["TABLE_NAME"] for table in meta.get_tables(tableNamePattern="PHOENIXDB\\_%", typeList=("TABLE",))]
    equal(tables, ["PHOENIXDB_ITEM", "PHOENIXDB_TYPE"])
    columns = meta.get_columns(tableNamePattern="PHOENIXDB_ITEM")
    equal([(column["COLUMN_NAME"], column["TYPE_NAME"]) for column in columns], [("ID", "BIGINT"), ("NAME", "VARCHAR"), ("SIZE", "INTEGER")])
    equal([key["COLUMN_NAME"] for key in meta.get_primary_keys(table="PHOENIXDB_ITEM")], ["ID"])
    indexes = meta.get_index_info(table="PHOENIXDB_ITEM")
    contains([index["INDEX_NAME"] for index in indexes], "PHOENIXDB_ITEM_SIZE")


@check
def tear_down(c):
    execute(c, "DROP TABLE phoenixdb_item")
    execute(c, "DROP TABLE phoenixdb_type")
