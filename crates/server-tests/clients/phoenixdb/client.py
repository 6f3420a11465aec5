"""phoenixdb, Phoenix's package for Python: the tests that it ships; then what a program does with it."""

import os

import kerberos

kerberos.stand_in()

import suite  # noqa: E402
from checks import run  # noqa: E402
from connections import LOGIN, connected, with_dictionaries, without_autocommit  # noqa: E402

# It adds its checks.
import program  # noqa: E402, F401

suite.run(os.environ["OWN_AVATICA"], LOGIN.username, LOGIN.password)
run(c=connected, t=without_autocommit, d=with_dictionaries)
