"""The columns of the table with a value of each type."""

from datetime import date, datetime
from datetime import time as clock
from decimal import Decimal
from uuid import UUID

from checks import IS_SALTWING

# A DATE of Saltwing has a time of day, as Phoenix's has.
DAY = datetime(2024, 2, 29) if IS_SALTWING else date(2024, 2, 29)
# CHAR has characters of one byte, as Phoenix's has.
FIXED = "a~ z" if IS_SALTWING else "ÄÖÜ€"

# Column, type, and values that come back as they were.
TYPES = [
    ("small", "SMALLINT", [0, -32768, 32767]),
    ("whole", "INTEGER", [0, -(2**31), 2**31 - 1]),
    ("big", "BIGINT", [1, -(2**63), 2**63 - 1]),
    ("single", "REAL", [1.5, -0.0625, 1e10]),
    ("double", "FLOAT8", [0.1, -1.7e308, 5e-324]),
    ("exact", "NUMERIC(14,3)", [Decimal("0.001"), Decimal("-12345678901.125"), Decimal("10000.000")]),
    ("free", "NUMERIC", [Decimal("1E+3") + 0, Decimal("-0.000012"), Decimal("12345678901234567890.5")]),
    ("flag", "BOOLEAN", [True, False, True]),
    ("label", "VARCHAR(20)", ["", 'it\'s "q" \\ a\tb\n', "äöü€😀"]),
    ("words", "TEXT", ["x" * 100_000, "null", "\\N"]),
    ("fixed", "CHAR(4)", ["abcd", FIXED, "1234"]),
    (
        "instant",
        "TIMESTAMP",
        [datetime(1970, 1, 1), datetime(2200, 12, 31, 23, 59, 59, 999999), datetime(1700, 1, 1, 0, 0, 0, 1)],
    ),
    ("day", "DATE", [DAY, DAY, DAY]),
    ("hour", "TIME", [clock(0, 0), clock(23, 59, 59, 999000), clock(12, 30)]),
    ("bytes", "BYTEA", [b"\x00\xff\\x", b"", bytes(range(256))]),
    ("json", "JSON", [{"a": [1, None, "ü"]}, [1.5], "text"]),
    ("id", "UUID", [UUID(int=0), UUID(int=2**128 - 1), UUID("01234567-89ab-cdef-0123-456789abcdef")]),
    ("numbers", "INTEGER[]", [[1, 2, 3], [], [-1]]),
    ("longs", "BIGINT[]", [[2**40], [1], [1, 2]]),
    ("texts", "TEXT[]", [["a", "b c", 'd"e'], [], ["{x,y}", "NULL"]]),
]
