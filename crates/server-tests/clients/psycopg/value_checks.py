"""Values of each type, in text and in binary form."""

import json

import psycopg

from checks import check, equal
from columns import TYPES


def parameter(column, value):
    return psycopg.types.json.Json(value) if column == "json" else value


def one_type(name, kind, values):
    def values_return(c):
        for key, value in enumerate(values):
            c.execute("DELETE FROM psycopg_type WHERE k = %s", (key,))
            c.execute(f'INSERT INTO psycopg_type (k, "{name}") VALUES (%s, %s)', (key, parameter(name, value)))
            for is_binary in (False, True):
                found = c.execute(
                    f'SELECT "{name}" FROM psycopg_type WHERE k = %s', (key,), binary=is_binary
                ).fetchone()[0]
                equal((is_binary, found), (is_binary, value))
            # The value as a binary parameter, which compares as equal.
            if name not in ("json", "words"):
                c.execute(
                    f'INSERT INTO psycopg_type (k, "{name}") VALUES (%s, %b)', (key + 100, parameter(name, value))
                )
                found = c.execute(f'SELECT "{name}" FROM psycopg_type WHERE k = %s', (key + 100,)).fetchone()[0]
                equal(found, value)
                c.execute("DELETE FROM psycopg_type WHERE k = %s", (key + 100,))

    values_return.__name__ = "type_" + kind.lower().replace("(", "_").replace(",", "_").replace(")", "").replace(
        "[]", "_array"
    )
    check(values_return)


for _name, _kind, _values in TYPES:
    one_type(_name, _kind, _values)


@check
def nulls_of_all_types(c):
    names = ", ".join(f'"{name}"' for name, _, _ in TYPES)
    c.execute(f"INSERT INTO psycopg_type (k, {names}) VALUES (%s{', %s' * len(TYPES)})", [50] + [None] * len(TYPES))
    for is_binary in (False, True):
        row = c.execute(f"SELECT {names} FROM psycopg_type WHERE k = 50", binary=is_binary).fetchone()
        equal(row, (None,) * len(TYPES))


@check
def large_values(c):
    text = json.dumps(["ü" * 1000] * 2000, ensure_ascii=False)
    c.execute("INSERT INTO psycopg_type (k, words) VALUES (70, %s)", (text,))
    for is_binary in (False, True):
        equal(c.execute("SELECT words FROM psycopg_type WHERE k = 70", binary=is_binary).fetchone()[0] == text, True)
