"""pandas over SQLAlchemy and psycopg: read_sql and to_sql."""

from contextlib import contextmanager

import numpy as np
import pandas as pd
import sqlalchemy as sa

from checks import IS_SALTWING, URL, check, equal, run

ENGINE = sa.create_engine(URL.replace("postgresql://", "postgresql+psycopg://", 1))
COUNT = 1000
FRAME = pd.DataFrame(
    {
        "k": np.arange(COUNT),
        "host": [f"h{i % 7}" for i in range(COUNT)],
        "load": np.linspace(0, 1, COUNT),
        "at": pd.date_range("2026-01-01", periods=COUNT, freq="min").astype("datetime64[us]"),
        "up": [i % 2 == 0 for i in range(COUNT)],
        "note": [None if i % 3 == 0 else f"note {i}" for i in range(COUNT)],
    }
)
TYPES = {
    "k": sa.BigInteger,
    "host": sa.String(20),
    "load": sa.Double,
    "at": sa.DateTime,
    "up": sa.Boolean,
    "note": sa.Text,
}
QUERY = "SELECT * FROM pandas_log WHERE k >= 0 ORDER BY k"


@contextmanager
def connected():
    with ENGINE.begin() as connection:
        yield connection


@contextmanager
def with_full_scans():
    """A connection that may read whole tables."""
    with ENGINE.connect() as connection:
        if IS_SALTWING:
            connection.execute(sa.text("SET full_scan = 'allow'"))
        yield connection


def drop(*tables):
    # Definitions are refused in a transaction by Saltwing.
    with ENGINE.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        for table in tables:
            connection.execute(sa.text(f"DROP TABLE IF EXISTS {table}"))


@check
def set_up():
    drop("pandas_log", "pandas_new")
    with ENGINE.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(
            sa.text(
                "CREATE TABLE pandas_log (k BIGINT PRIMARY KEY, host VARCHAR(20), load DOUBLE PRECISION, at TIMESTAMP, up BOOLEAN, note TEXT)"
            )
        )


@check
def to_sql_appends(c):
    FRAME.to_sql("pandas_log", c, if_exists="append", index=False)
    equal(c.scalar(sa.text("SELECT count(*) FROM pandas_log WHERE k >= 0")), COUNT)


@check
def read_sql_returns_the_frame(c):
    pd.testing.assert_frame_equal(pd.read_sql(QUERY, c), FRAME, check_dtype=False)


@check
def read_sql_has_types(c):
    kinds = {name: kind.kind for name, kind in pd.read_sql(QUERY, c)[["k", "load", "at", "up"]].dtypes.items()}
    equal(kinds, {"k": "i", "load": "f", "at": "M", "up": "b"})


@check
def read_sql_with_parameters(c):
    query = sa.text("SELECT k, host FROM pandas_log WHERE k BETWEEN :low AND :high ORDER BY k")
    equal(
        pd.read_sql(query, c, params={"low": 10, "high": 12}).to_dict("list"),
        {"k": [10, 11, 12], "host": ["h3", "h4", "h5"]},
    )


@check
def read_sql_with_index(c):
    frame = pd.read_sql("SELECT at, load FROM pandas_log WHERE k < 100 ORDER BY k", c, index_col="at")
    equal(len(frame.resample("h").mean()), 2)


@check
def read_sql_in_chunks():
    with ENGINE.connect().execution_options(stream_results=True) as connection:
        chunks = [len(chunk) for chunk in pd.read_sql(QUERY, connection, chunksize=300)]
    equal(chunks, [300, 300, 300, 100])


@check
def read_sql_groups(c):
    query = "SELECT host, count(*) AS n, avg(load) AS mean FROM pandas_log WHERE k >= 0 GROUP BY host ORDER BY host"
    expected = FRAME.groupby("host").agg(n=("k", "count"), mean=("load", "mean")).reset_index()
    pd.testing.assert_frame_equal(pd.read_sql(query, c), expected, check_dtype=False)


@check
def read_sql_without_rows(c):
    frame = pd.read_sql("SELECT k, host FROM pandas_log WHERE k < 0", c)
    equal((len(frame), list(frame.columns)), (0, ["k", "host"]))


@check
def read_sql_table():
    with with_full_scans() as connection:
        frame = pd.read_sql_table("pandas_log", connection, columns=["k", "load"])
    pd.testing.assert_frame_equal(frame.sort_values("k", ignore_index=True), FRAME[["k", "load"]], check_dtype=False)


@check
def to_sql_in_one_statement(c):
    more = FRAME.head(200).assign(k=lambda frame: frame["k"] + 5000)
    more.to_sql("pandas_log", c, if_exists="append", index=False, method="multi", chunksize=50)
    equal(c.scalar(sa.text("SELECT count(*) FROM pandas_log WHERE k >= 5000")), 200)
    c.execute(sa.text("DELETE FROM pandas_log WHERE k >= 5000"))


@check
def to_sql_makes_a_table():
    with ENGINE.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        FRAME.to_sql("pandas_new", connection, index=False, dtype=TYPES)
    with with_full_scans() as connection:
        pd.testing.assert_frame_equal(
            pd.read_sql("SELECT * FROM pandas_new ORDER BY k", connection), FRAME, check_dtype=False
        )


@check
def to_sql_replaces_a_table():
    with ENGINE.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        FRAME.head(3).to_sql("pandas_new", connection, if_exists="replace", index=False, dtype=TYPES)
    with with_full_scans() as connection:
        equal(len(pd.read_sql("SELECT * FROM pandas_new ORDER BY k", connection)), 3)


@check
def to_sql_refuses_a_table_that_is_there(c):
    try:
        FRAME.to_sql("pandas_log", c, index=False)
    except ValueError:
        return
    raise AssertionError("the table was written")


@check
def to_sql_in_a_transaction_is_undone():
    more = FRAME.head(5).assign(k=lambda frame: frame["k"] + 9000)
    count = sa.text("SELECT count(*) FROM pandas_log WHERE k >= 9000")
    with ENGINE.connect() as connection:
        transaction = connection.begin()
        more.to_sql("pandas_log", connection, if_exists="append", index=False)
        equal(connection.scalar(count), 5)
        transaction.rollback()
        equal(connection.scalar(count), 0)


@check
def tear_down():
    drop("pandas_log", "pandas_new")


run(c=connected)
