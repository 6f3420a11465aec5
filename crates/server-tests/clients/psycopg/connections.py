"""Connections of the checks."""

from contextlib import asynccontextmanager, contextmanager

import psycopg

from checks import URL


@contextmanager
def connected():
    with psycopg.connect(URL, autocommit=True) as connection:
        yield connection


@asynccontextmanager
async def async_connected():
    async with await psycopg.AsyncConnection.connect(URL, autocommit=True) as connection:
        yield connection
