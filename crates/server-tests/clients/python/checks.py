"""What the client programs in Python share: a check is a function, and each check prints one line.

The environment has SERVER_URL, the URL of the server, and SERVER_KIND, `saltwing` or `postgres`.
"""

import asyncio
import inspect
import os
import sys
import traceback

URL = os.environ["SERVER_URL"]
IS_SALTWING = os.environ.get("SERVER_KIND", "saltwing") == "saltwing"

_checks = []


def check(function):
    """Makes a function a check, which is named after it. Its parameter, if it has one, is named after a resource of `run`."""
    _checks.append(function)
    return function


def saltwing_only(function):
    """As `check`, of what PostgreSQL does not have."""
    return check(function) if IS_SALTWING else function


def equal(got, expected):
    """Fails with both values unless they are equal."""
    if got != expected:
        raise AssertionError(f"expected {expected!r}, got {got!r}")


def contains(text, *parts):
    """Fails with the text unless all parts are in it."""
    for part in parts:
        if part not in text:
            raise AssertionError(f"{part!r} is missing in {text!r}")


def raises(kind, call, *arguments):
    """The error of a call, which fails if there is none of this kind."""
    try:
        call(*arguments)
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


def slow_query(table, key="id"):
    """A query that runs for minutes over a table of some hundred rows with keys from 0 on, and finds no row."""
    names = "abcde"
    tables = ", ".join(f"{table} {name}" for name in names)
    bounds = " AND ".join(f"{name}.{key} >= 0" for name in names)
    total = " + ".join(f"{name}.{key}" for name in names)
    return f"SELECT count(*) FROM {tables} WHERE {bounds} AND {total} < 0"


def run(**resources):
    """Runs the checks in their order and ends the program.

    A resource is a function whose result is a context manager, which each check has for itself.
    """
    is_well = True
    for function in _checks:
        name = function.__name__
        try:
            _run_one(function, resources)
            print(f"ok {name}", flush=True)
        except Exception as error:
            is_well = False
            ours = [f for f in traceback.extract_tb(error.__traceback__) if "site-packages" not in f.filename]
            places = (f"{os.path.basename(f.filename)}:{f.lineno}" for f in reversed(ours) if f.filename != __file__)
            detail = " ".join(f"{type(error).__name__}: {error}".split())
            print(f"not ok {name}: {next(places, '')}: {detail}", flush=True)
    sys.exit(0 if is_well else 1)


def _run_one(function, resources):
    wanted = list(inspect.signature(function).parameters)
    if inspect.iscoroutinefunction(function):
        asyncio.run(asyncio.wait_for(_run_async(function, wanted, resources), 60))
    elif wanted:
        with resources[wanted[0]]() as resource:
            function(resource)
    else:
        function()


async def _run_async(function, wanted, resources):
    if not wanted:
        return await function()
    async with resources[wanted[0]]() as resource:
        await function(resource)
