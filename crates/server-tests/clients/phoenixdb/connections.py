"""Connections of the checks."""

import os
from contextlib import contextmanager
from urllib.parse import urlsplit

import phoenixdb

from checks import URL

LOGIN = urlsplit(URL)


@contextmanager
def connected(**options):
    login = {"authentication": "BASIC", "avatica_user": LOGIN.username, "avatica_password": LOGIN.password}
    connection = phoenixdb.connect(os.environ["SERVER_AVATICA"], **{"autocommit": True, **login, **options})
    try:
        yield connection
    finally:
        connection.close()


def without_autocommit():
    return connected(autocommit=False)


def with_dictionaries():
    return connected(cursor_factory=phoenixdb.cursor.DictCursor)
