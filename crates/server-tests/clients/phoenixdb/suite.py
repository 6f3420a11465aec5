"""The tests that phoenixdb ships, unchanged, against a server of their own whose queries may read whole tables.

Each test is a line. It is `ok` if it passes, or if it fails and `expected_failures.txt` has it; so the list is read again when a test ends otherwise.
"""

import os
import pathlib
import tempfile

import pytest

LIST = pathlib.Path(__file__).with_name("expected_failures.txt")


def expected_failures():
    """The reason of each test that must fail: lines `file::class::test  reason`, and comments."""
    lines = (line.strip() for line in LIST.read_text().splitlines())
    return dict(line.split(None, 1) for line in lines if line and not line.startswith("#"))


class Outcomes:
    """What came of each test. A test whose set-up or clean-up fails has failed."""

    def __init__(self):
        self.skipped = {}
        self.failed = {}
        self.passed = set()

    def pytest_runtest_logreport(self, report):
        name = "::".join([pathlib.PurePath(report.nodeid.split("::")[0]).name, *report.nodeid.split("::")[1:]])
        if report.failed:
            reasons = (line[1:].strip() for line in report.longreprtext.splitlines() if line.startswith("E "))
            self.failed.setdefault(name, next(reasons, report.when))
        elif report.skipped:
            self.skipped[name] = report.longrepr[2]
        elif report.when == "call":
            self.passed.add(name)

    def pytest_collectreport(self, report):
        if report.failed:
            self.failed[report.nodeid or "collection"] = report.longreprtext


def run(url, user, password):
    """Runs the tests against a server, and prints a line for each."""
    os.environ |= {
        "PHOENIXDB_TEST_DB_URL": url,
        "PHOENIXDB_TEST_DB_AUTHENTICATION": "BASIC",
        "PHOENIXDB_TEST_DB_AVATICA_USER": user,
        "PHOENIXDB_TEST_DB_AVATICA_PASSWORD": password,
    }
    outcomes = Outcomes()
    with tempfile.TemporaryDirectory() as folder:
        options = ["--pyargs", "phoenixdb.tests", "-c", os.devnull, "--rootdir", folder]
        pytest.main([*options, "-p", "no:cacheprovider", "-p", "no:terminal"], plugins=[outcomes])
    expected = expected_failures()
    for name in sorted(outcomes.passed - set(outcomes.failed)):
        if name in expected:
            print(f"not ok suite {name}: it passes, and expected_failures.txt says that it fails")
        else:
            print(f"ok suite {name}")
    for name, detail in sorted(outcomes.failed.items()):
        if name in expected:
            print(f"ok suite {name} fails: {expected[name]}")
        else:
            print(f"not ok suite {name}: {detail}")
    for name in sorted(set(expected) - set(outcomes.failed) - outcomes.passed):
        print(f"not ok suite {name}: it did not run, and expected_failures.txt has it")
    counts = (len(outcomes.passed - set(outcomes.failed)), len(outcomes.failed), len(outcomes.skipped))
    print("suite: {} passed, {} failed, {} skipped by itself".format(*counts), flush=True)
