"""DuckDB's extension for PostgreSQL: ATTACH, scans by COPY, filters, joins, writes. The extension comes from the package index with the engine."""

import glob
import os
from contextlib import contextmanager

import duckdb
import duckdb_extension_postgres_scanner as scanner
import psycopg

from checks import IS_SALTWING, URL, check, equal, run

ITEMS = 5000


@contextmanager
def attached():
    # The file of the extension is signed; installing it asks no server.
    [file] = glob.glob(
        os.path.join(os.path.dirname(scanner.__file__), "extensions", "*", "postgres_scanner.duckdb_extension")
    )
    with duckdb.connect() as engine:
        engine.execute(f"LOAD '{file}'")
        if IS_SALTWING:
            # PostgreSQL's pages are not there, and a scan without a condition on the key is meant.
            engine.execute("SET pg_use_ctid_scan = false")
        engine.execute(f"ATTACH '{URL}' AS server (TYPE postgres)")
        if IS_SALTWING:
            engine.execute("CALL postgres_execute('server', 'SET full_scan = ''allow''')")
        yield engine


@check
def set_up():
    with psycopg.connect(URL, autocommit=True) as c:
        c.execute("DROP TABLE IF EXISTS duckdb_item")
        c.execute(
            "CREATE TABLE duckdb_item (id BIGINT PRIMARY KEY, name VARCHAR(30), price NUMERIC(10,2), made TIMESTAMP, "
            "size INTEGER, up BOOLEAN, load DOUBLE PRECISION)"
        )
        if IS_SALTWING:
            # DuckDB reads whole tables.
            c.execute("ALTER TABLE duckdb_item SET FULL_SCAN = 'allow'")
        with c.cursor().copy("COPY duckdb_item FROM STDIN") as copy:
            for i in range(ITEMS):
                copy.write_row(
                    (
                        i,
                        None if i % 5 == 0 else f"ü {i}",
                        f"{i}.25",
                        f"2026-01-01 00:00:{i % 60:02}.5",
                        i % 10,
                        i % 2 == 0,
                        i / 4,
                    )
                )


@check
def lists_tables(d):
    names = [
        row[0]
        for row in d.execute(
            "SELECT table_name FROM duckdb_tables() WHERE database_name = 'server' AND table_name LIKE 'duckdb_%'"
        ).fetchall()
    ]
    equal(names, ["duckdb_item"])


@check
def describes_a_table(d):
    kinds = {row[0]: row[1] for row in d.execute("DESCRIBE server.duckdb_item").fetchall()}
    expected = {
        "id": "BIGINT",
        "name": "VARCHAR",
        "price": "DECIMAL(10,2)",
        "made": "TIMESTAMP",
        "size": "INTEGER",
        "up": "BOOLEAN",
        "load": "DOUBLE",
    }
    equal(kinds, expected)


@check
def scans_a_table(d):
    row = d.execute(
        "SELECT count(*), count(name), sum(price), sum(load), min(made)::VARCHAR, max(name) FROM server.duckdb_item"
    ).fetchone()
    equal(
        (row[0], row[1], float(row[2]), row[3], row[4]),
        (5000, 4000, 12_498_750.0, 3_124_375.0, "2026-01-01 00:00:00.5"),
    )


@check
def scans_by_key(d):
    equal(
        d.execute("SELECT id, name, up FROM server.duckdb_item WHERE id BETWEEN 10 AND 12 ORDER BY id").fetchall(),
        [(10, None, True), (11, "ü 11", False), (12, "ü 12", True)],
    )


@check
def scans_without_binary_copy(d):
    d.execute("SET pg_use_binary_copy = false")
    equal(d.execute("SELECT sum(size) FROM server.duckdb_item WHERE id < 100").fetchone(), (450,))


@check
def joins_with_own_tables(d):
    d.execute("CREATE TABLE wanted AS SELECT range * 100 AS id FROM range(10)")
    equal(
        d.execute("SELECT sum(i.size), count(*) FROM wanted JOIN server.duckdb_item i USING (id)").fetchone(), (0, 10)
    )


@check
def queries_as_written(d):
    equal(
        d.execute("SELECT * FROM postgres_query('server', 'SELECT id, size FROM duckdb_item WHERE id = 7')").fetchall(),
        [(7, 7)],
    )


@check
def inserts_rows(d):
    d.execute(
        "INSERT INTO server.duckdb_item SELECT range + 10000, 'new', 1.5, TIMESTAMP '2026-02-03 04:05:06', 1, true, 0.5 FROM range(1000)"
    )
    equal(
        d.execute("SELECT count(*), min(made)::VARCHAR FROM server.duckdb_item WHERE id >= 10000").fetchone(),
        (1000, "2026-02-03 04:05:06"),
    )


@check
def rolls_back(d):
    d.execute("BEGIN")
    d.execute("INSERT INTO server.duckdb_item (id) VALUES (90000)")
    d.execute("ROLLBACK")
    equal(d.execute("SELECT count(*) FROM server.duckdb_item WHERE id = 90000").fetchone(), (0,))


@check
def tear_down():
    with psycopg.connect(URL, autocommit=True) as c:
        c.execute("DROP TABLE duckdb_item")


run(d=attached)
