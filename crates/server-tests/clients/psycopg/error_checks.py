"""Errors, their fields and classes."""

import psycopg
from psycopg import errors
from psycopg.pq import TransactionStatus as Status

from checks import check, equal, raises

# A statement, its state, and fields of its error. `at` is the text at its position.
ERRORS = [
    ("INSERT INTO psycopg_item VALUES (1, 'again', 1)", "23505", {"table_name": "psycopg_item"}, None),
    (
        "INSERT INTO psycopg_item VALUES (5000, NULL, 1)",
        "23502",
        {"table_name": "psycopg_item", "column_name": "name"},
        None,
    ),
    ("INSERT INTO psycopg_item VALUES (5000, 'a', -1)", "23514", {"constraint_name": "size_is_natural"}, None),
    ("INSERT INTO psycopg_item VALUES (5000, 'longer than twenty characters', 1)", "22001", {}, None),
    ("SELECT * FROM psycopg_nothing", "42P01", {}, "psycopg_nothing"),
    ("SELECT 'ä', nothere FROM psycopg_item WHERE id = 1", "42703", {}, "nothere"),
    ("SELECT 1 FROM psycopg_item WHERE id == = 1", "42601", {}, None),
    ("SELECT no_such_function(1)", "42883", {}, "no_such_function"),
    ("SELECT 1 / 0 FROM psycopg_item WHERE id = 1", "22012", {}, None),
    ("SELECT 'x'::INTEGER", "22P02", {}, None),
    ("SELECT 2147483648::INTEGER", "22003", {}, None),
    ("CREATE TABLE psycopg_item (k BIGINT PRIMARY KEY)", "42P07", {}, None),
    ("ROLLBACK TO SAVEPOINT s", "25P01", {}, None),
]


@check
def errors_have_their_fields(c):
    for statement, state, fields, at in ERRORS:
        error = raises(psycopg.Error, c.execute, statement)
        equal((statement, error.sqlstate), (statement, state))
        equal((statement, error.diag.severity_nonlocalized), (statement, "ERROR"))
        equal((statement, {name: getattr(error.diag, name) for name in fields}), (statement, fields))
        if at:
            place = int(error.diag.statement_position or 0) - 1
            equal((statement, statement[place : place + len(at)]), (statement, at))
    equal(c.info.transaction_status, Status.IDLE)


@check
def error_classes(c):
    raises(errors.UniqueViolation, c.execute, "INSERT INTO psycopg_item VALUES (1, 'again', 1)")
    raises(errors.UndefinedTable, c.execute, "SELECT * FROM psycopg_nothing")
    raises(errors.SyntaxError, c.execute, "SELEC 1")
