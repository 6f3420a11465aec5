"""COPY in both directions and all formats, and how it ends."""

import time

import psycopg
from psycopg.pq import TransactionStatus as Status

from checks import check, equal, raises

ROWS = [(1000, "plain", 1), (1001, "tab\tline\nback\\", None), (1002, "ü", 3)]


def copied(c, options, types):
    with c.cursor().copy(f"COPY psycopg_item (id, name, size) FROM STDIN {options}") as copy:
        if types:
            copy.set_types(types)
        for row in ROWS:
            copy.write_row(row)
    equal(c.execute("SELECT * FROM psycopg_item WHERE id >= 1000 ORDER BY id").fetchall(), ROWS)
    with c.cursor().copy(f"COPY (SELECT * FROM psycopg_item WHERE id >= 1000 ORDER BY id) TO STDOUT {options}") as copy:
        copy.set_types(["int8", "varchar", "int4"])
        equal(list(copy.rows()), ROWS)
    c.execute("DELETE FROM psycopg_item WHERE id >= 1000")


@check
def copy_text(c):
    copied(c, "", None)


@check
def copy_binary(c):
    copied(c, "(FORMAT BINARY)", ["int8", "varchar", "int4"])


@check
def copy_csv(c):
    with c.cursor().copy("COPY psycopg_item FROM STDIN (FORMAT csv, HEADER)") as copy:
        copy.write('id,name,size\n1000,"a,""b""",\n1001,c,5\n')
    with c.cursor().copy("COPY (SELECT * FROM psycopg_item WHERE id >= 1000) TO STDOUT (FORMAT csv)") as copy:
        equal(b"".join(copy), b'1000,"a,""b""",\n1001,c,5\n')
    c.execute("DELETE FROM psycopg_item WHERE id >= 1000")


@check
def copy_of_many_rows(c):
    with c.cursor() as cursor:
        with cursor.copy("COPY psycopg_item (id, name, size) FROM STDIN") as copy:
            for i in range(50_000):
                copy.write_row((10_000 + i, "row", i))
        equal((cursor.statusmessage, cursor.rowcount), ("COPY 50000", 50_000))
    equal(
        c.execute("SELECT count(*), sum(size) FROM psycopg_item WHERE id >= 10000").fetchone(), (50_000, 1_249_975_000)
    )
    with c.cursor().copy("COPY (SELECT id FROM psycopg_item WHERE id >= 10000) TO STDOUT") as copy:
        equal(sum(1 for _ in copy.rows()), 50_000)
    c.execute("DELETE FROM psycopg_item WHERE id >= 10000")


def copy_line(c, line):
    with c.cursor().copy("COPY psycopg_item (id, name, size) FROM STDIN") as copy:
        copy.write(line)


@check
def copy_with_an_error(c):
    equal(raises(psycopg.Error, copy_line, c, "1000\ta\t1\nwrong\tb\t2\n").sqlstate, "22P02")
    equal(raises(psycopg.Error, copy_line, c, "1000\ta\n").sqlstate, "22P04")
    equal(raises(psycopg.Error, copy_line, c, "1000\ta\t-1\n").sqlstate, "23514")
    equal(c.execute("SELECT 1").fetchone(), (1,))


@check
def copy_that_the_client_gives_up(c):
    def give_up():
        with c.cursor().copy("COPY psycopg_item FROM STDIN") as copy:
            copy.write_row((1000, "a", 1))
            raise ValueError("given up")

    raises(ValueError, give_up)
    equal(c.info.transaction_status, Status.IDLE)
    equal(c.execute("SELECT count(*) FROM psycopg_item WHERE id >= 1000").fetchone(), (0,))


@check
def copy_out_that_is_left(c):
    query = "SELECT a.id, b.id FROM psycopg_item a, psycopg_item b, psycopg_item c WHERE a.id >= 0 AND b.id >= 0 AND c.id >= 0"
    began = time.monotonic()

    def leave():
        with c.cursor().copy(f"COPY ({query}) TO STDOUT") as copy:
            for _ in copy.rows():
                raise ValueError("left")

    raises(ValueError, leave)
    equal(c.execute("SELECT 1").fetchone(), (1,))
    if time.monotonic() - began > 10:
        raise AssertionError("the COPY ran on for more than 10 s")
