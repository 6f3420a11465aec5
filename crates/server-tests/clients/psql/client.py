"""psql: its commands that ask for the catalog, \\copy, \\watch, Ctrl-C at a terminal, and how it shows errors."""

import os
import pty
import re
import select
import signal
import subprocess
import tempfile
import time

from checks import URL, check, contains, equal, run, saltwing_only, slow_query

OPTIONS = ["psql", "-X", "-P", "pager=off", URL]
ENVIRONMENT = {**os.environ, "TERM": "dumb", "PSQL_HISTORY": "/dev/null"}


def psql(*commands, options=("-A", "-t", "-q"), stdin=None):
    """Output, errors and exit code of psql with a -c for each command."""
    arguments = [part for command in commands for part in ("-c", command)]
    ended = subprocess.run(
        OPTIONS + list(options) + arguments, input=stdin, capture_output=True, text=True, timeout=60, env=ENVIRONMENT
    )
    return ended.stdout, ended.stderr, ended.returncode


def lines(*commands, **more):
    """The lines of the output of commands that succeed."""
    out, errors, code = psql(*commands, **more)
    if code != 0 or errors.strip():
        raise AssertionError(f"exit code {code}: {errors}")
    return out.splitlines()


@check
def set_up():
    psql("DROP VIEW IF EXISTS psql_cheap", "DROP TABLE IF EXISTS psql_item", "DROP SEQUENCE IF EXISTS psql_number")
    lines(
        "CREATE TABLE psql_item (id BIGINT NOT NULL PRIMARY KEY, name VARCHAR(20), price NUMERIC(10,2) DEFAULT 5, made TIMESTAMP)",
        "CREATE INDEX psql_item_name ON psql_item (name)",
        "CREATE VIEW psql_cheap AS SELECT id, name FROM psql_item WHERE id >= 0 AND price < 10",
        "CREATE SEQUENCE psql_number START WITH 5",
        "COMMENT ON TABLE psql_item IS 'what is sold'",
        "INSERT INTO psql_item VALUES "
        + ", ".join(f"({i}, 'name {i}', {i % 20}.50, '2026-01-02 03:04:05')" for i in range(300)),
    )


@check
def command_tags():
    out = lines(
        "INSERT INTO psql_item (id) VALUES (900), (901)",
        "UPDATE psql_item SET price = 1 WHERE id = 900",
        "DELETE FROM psql_item WHERE id >= 900",
        "BEGIN",
        "ROLLBACK",
        options=("-A", "-t"),
    )
    equal(out, ["INSERT 0 2", "UPDATE 1", "DELETE 2", "BEGIN", "ROLLBACK"])


@check
def aligned_table():
    out = lines("SELECT id, name, price FROM psql_item WHERE id = 7", options=())
    equal(out[0].split("|")[1].strip(), "name")
    equal([cell.strip() for cell in out[2].split("|")], ["7", "name 7", "7.50"])
    equal(out[3], "(1 row)")


@check
def values_as_text():
    text = "SELECT true, NULL, CAST(1.5 AS NUMERIC(10,2)), 'it''s', TIMESTAMP '2026-01-02 03:04:05.25'"
    equal(lines(text), ["t||1.50|it's|2026-01-02 03:04:05.25"])


@check
def d_lists_relations():
    listed = dict(line.split("|")[1:3] for line in lines(r"\d"))
    expected = {"psql_item": "table", "psql_cheap": "view", "psql_number": "sequence"}
    equal({name: listed.get(name) for name in expected}, expected)


@check
def dt_lists_tables():
    names = [line.split("|")[:3] for line in lines(r"\dt psql_*")]
    equal(names, [["public", "psql_item", "table"]])


@check
def dt_plus_has_comments():
    contains("\n".join(lines(r"\dt+ psql_item")), "psql_item", "what is sold")


@check
def d_table_shows_columns():
    out = lines(r"\d psql_item")
    columns = [line.split("|")[:2] + line.split("|")[3:4] for line in out[:4]]
    expected = [
        ["id", "bigint", "not null"],
        ["name", "character varying(20)", ""],
        ["price", "numeric(10,2)", ""],
        ["made", "timestamp without time zone", ""],
    ]
    equal(columns, expected)
    contains(out[2], "5")


@check
def d_table_shows_key_and_indexes():
    text = "\n".join(lines(r"\d psql_item", options=("-A", "-q")))
    contains(text, "Indexes:", "psql_item_name", "(name)")
    if not re.search(r'" PRIMARY KEY, btree \(id\)', text):
        raise AssertionError(f"no primary key in {text!r}")


@check
def d_plus_of_table():
    contains("\n".join(lines(r"\d+ psql_item", options=("-q",))), "Storage", "psql_item_name")


@check
def d_of_view_and_sequence():
    contains("\n".join(lines(r"\d psql_cheap")), "id|bigint", "name|character varying(20)")
    contains("\n".join(lines(r"\d+ psql_cheap", options=("-q",))), "View definition", "psql_item")
    contains("\n".join(lines(r"\d psql_number", options=("-q",))), 'Sequence "public.psql_number"', "bigint")


@check
def d_of_nothing():
    contains(psql(r"\d psql_nothing", options=())[1], 'Did not find any relation named "psql_nothing".')


@check
def di_lists_indexes():
    found = {line.split("|")[1]: line.split("|")[4] for line in lines(r"\di psql_*")}
    equal(found.get("psql_item_name"), "psql_item")
    equal(len(found), 2)


@check
def dv_and_ds():
    equal([line.split("|")[:3] for line in lines(r"\dv psql_*")], [["public", "psql_cheap", "view"]])
    equal([line.split("|")[:3] for line in lines(r"\ds psql_*")], [["public", "psql_number", "sequence"]])


@check
def l_lists_the_database():
    name = lines("SELECT current_database()")[0]
    if name not in [line.split("|")[0] for line in lines(r"\l")]:
        raise AssertionError(f"{name} is missing")


@check
def dn_lists_schemas():
    if "public" not in [line.split("|")[0] for line in lines(r"\dn")]:
        raise AssertionError("public is missing")


@check
def du_lists_users():
    user = lines("SELECT current_user")[0]
    if user not in [line.split("|")[0] for line in lines(r"\du")]:
        raise AssertionError(f"{user} is missing")


@check
def dp_lists_privileges():
    equal(lines(r"\dp psql_item")[0].split("|")[:3], ["public", "psql_item", "table"])


@check
def other_lists():
    for command in (r"\df", r"\dT", r"\dx", r"\dd", r"\do", r"\db", r"\dC", r"\dm", r"\dD", r"\dE"):
        lines(command)


@check
def conninfo_and_encoding():
    contains(lines(r"\conninfo")[0], "You are connected to database")
    equal(lines(r"\encoding"), ["UTF8"])


@check
def copy_out_and_in():
    with tempfile.TemporaryDirectory() as folder:
        csv, text = f"{folder}/item.csv", f"{folder}/item.txt"
        lines(rf"\copy psql_item TO '{csv}' WITH (FORMAT csv, HEADER)", rf"\copy psql_item TO '{text}'")
        with open(csv) as file:
            rows = file.read().splitlines()
        equal(rows[:2], ["id,name,price,made", "0,name 0,0.50,2026-01-02 03:04:05"])
        equal(len(rows), 301)
        with open(text) as file:
            equal(file.readline(), "0\tname 0\t0.50\t2026-01-02 03:04:05\n")
        for path, form in ((csv, "WITH (FORMAT csv, HEADER)"), (text, "")):
            lines("DELETE FROM psql_item WHERE id >= 0", rf"\copy psql_item FROM '{path}' {form}")
            equal(lines("SELECT count(*), CAST(sum(price) AS NUMERIC(10,2)) FROM psql_item WHERE id >= 0"), ["300|3000.00"])


@check
def copy_of_a_query_and_from_stdin():
    equal(lines(r"\copy (SELECT id, name FROM psql_item WHERE id < 2) TO STDOUT CSV"), ["0,name 0", "1,name 1"])
    out = lines(options=("-A", "-t"), stdin="COPY psql_item (id, name) FROM STDIN;\n800\ta\\tb\n801\t\\N\n\\.\n")
    equal(out, ["COPY 2"])
    equal(lines("SELECT name, name IS NULL FROM psql_item WHERE id >= 800"), ["a\tb|f", "|t"])
    lines("DELETE FROM psql_item WHERE id >= 800")


@check
def copy_error_names_the_line():
    _, errors, _ = psql(stdin="COPY psql_item (id, name) FROM STDIN;\n810\ta\nwrong\tb\n\\.\n")
    contains(errors, "ERROR", "wrong", "line 2")


@check
def several_statements_in_one_command():
    equal(lines("SELECT 1; SELECT 'two'; SELECT 3 WHERE false; SELECT 4"), ["1", "two", "4"])


@check
def one_command_is_one_transaction():
    _, errors, code = psql("INSERT INTO psql_item (id) VALUES (700); INSERT INTO psql_item (id) VALUES (1)")
    equal(code, 1)
    contains(errors, "ERROR")
    equal(lines("SELECT count(*) FROM psql_item WHERE id = 700"), ["0"])


@check
def error_has_line_and_caret():
    for text in (
        "SELECT nothere FROM psql_item WHERE id = 1",
        "SELECT 'äöü€',\n  'ß', nothere FROM psql_item WHERE id = 1",
    ):
        errors = psql(text)[1].splitlines()
        contains(errors[0], "ERROR:", "nothere")
        if not errors[1].startswith("LINE "):
            raise AssertionError(f"no LINE in {errors!r}")
        equal(errors[2].index("^"), errors[1].index("nothere"))


@check
def error_verbose():
    errors = psql(r"\set VERBOSITY verbose", "SELECT * FROM psql_nothing")[1]
    contains(errors, "ERROR:  42P01:")
    contains(psql(r"\set VERBOSITY verbose", "SELEC 1")[1], "ERROR:  42601:")


@check
def errorcode_variables():
    out = psql(stdin="SELECT 1/0;\n\\echo :ERROR :SQLSTATE :ROW_COUNT\n")[0]
    equal(out.split(), ["true", "22012", "0"])


@check
def gdesc():
    equal(
        lines(stdin="SELECT id, name, price, made, true AS flag FROM psql_item WHERE id = 1 \\gdesc\n"),
        [
            "id|bigint",
            "name|character varying(20)",
            "price|numeric(10,2)",
            "made|timestamp without time zone",
            "flag|boolean",
        ],
    )


@check
def gset_and_gexec():
    equal(lines(stdin="SELECT 42 AS x \\gset\nSELECT :x + 1, :'x';\n"), ["43|42"])
    equal(lines(stdin="SELECT 'SELECT 5' \\gexec\n"), ["5"])


@check
def crosstabview():
    values = "SELECT * FROM (VALUES ('a', 'x', 1), ('a', 'y', 2), ('b', 'x', 3)) s (r, c, n)"
    out = lines(stdin=f"{values} \\crosstabview\n", options=("-A", "-q"))
    equal(out, ["r|x|y", "a|1|2", "b|3|", "(2 rows)"])


@check
def timing():
    out = lines(stdin="\\timing on\nSELECT 1;\n", options=("-A", "-t", "-q"))
    equal(out[0], "1")
    if not re.match(r"Time: \d+[.,]\d+ ms", out[-1]):
        raise AssertionError(f"no time in {out!r}")


@check
def fetch_count():
    out = lines(stdin="\\set FETCH_COUNT 70\nSELECT id FROM psql_item WHERE id >= 0 ORDER BY id;\n")
    equal([int(line) for line in out], list(range(300)))


@check
def stops_at_the_first_error():
    out, _, code = psql("SELECT 1", "SELECT 1/0", "SELECT 2", options=("-A", "-t", "-q", "-v", "ON_ERROR_STOP=1"))
    equal((out.split(), code), (["1"], 1))


@check
def single_transaction():
    statements = ("INSERT INTO psql_item (id) VALUES (710)", "SELECT 1/0")
    if psql(*statements, options=("-1", "-v", "ON_ERROR_STOP=1"))[2] == 0:
        raise AssertionError("an error, and exit code 0")
    equal(lines("SELECT count(*) FROM psql_item WHERE id = 710"), ["0"])


@saltwing_only
def refused_full_scan_has_a_hint():
    _, errors, code = psql("SELECT * FROM psql_item WHERE price > 3", options=("-v", "VERBOSITY=verbose"))
    equal(code, 1)
    contains(errors, "54F01", "HINT")
    equal(len(lines("SET full_scan = 'allow'", "SELECT id FROM psql_item WHERE price > 18")), 30)


class Terminal:
    """psql at a pseudo terminal."""

    def __enter__(self):
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.execvpe("psql", OPTIONS + ["-n", "-A", "-t", "-v", r"PROMPT1=<%x>"], ENVIRONMENT)
        self.text = ""
        self.wait_for("<>")
        return self

    def __exit__(self, *_):
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        os.close(self.terminal)

    def send(self, line):
        self.text = ""
        os.write(self.terminal, f"{line}\n".encode())

    def interrupt(self):
        os.write(self.terminal, b"\x03")

    def wait_for(self, part, seconds=20, times=1):
        """Reads until a text has come so many times."""
        end = time.monotonic() + seconds
        while self.text.count(part) < times:
            if time.monotonic() > end or not select.select([self.terminal], [], [], 1)[0]:
                if time.monotonic() > end:
                    raise AssertionError(f"{part!r} has not come in {self.text!r}")
                continue
            self.text += os.read(self.terminal, 65536).decode(errors="replace").replace("\r\n", "\n")
        return self.text


@check
def prompt_shows_the_transaction():
    with Terminal() as terminal:
        for statement, prompt in (("BEGIN;", "<*>"), ("SELECT 1/0;", "<!>"), ("ROLLBACK;", "<>")):
            terminal.send(statement)
            terminal.wait_for(prompt)


@check
def interrupt_stops_a_statement():
    with Terminal() as terminal:
        terminal.send(slow_query("psql_item") + ";")
        time.sleep(1)
        began = time.monotonic()
        terminal.interrupt()
        contains(terminal.wait_for("<>"), "ERROR:")
        if time.monotonic() - began > 5:
            raise AssertionError("the statement ran on for more than 5 s")
        terminal.send("SELECT 'still ' || 'here';")
        terminal.wait_for("still here")


@check
def interrupt_in_a_transaction_fails_it():
    with Terminal() as terminal:
        terminal.send("BEGIN;")
        terminal.wait_for("<*>")
        terminal.send(slow_query("psql_item") + ";")
        time.sleep(1)
        terminal.interrupt()
        terminal.wait_for("<!>")
        terminal.send("ROLLBACK;")
        terminal.wait_for("<>")


@check
def watch():
    with Terminal() as terminal:
        terminal.send("SELECT 'again ' || count(*) FROM psql_item WHERE id = 1 \\watch 0.2")
        terminal.wait_for("again 1", times=3)
        terminal.interrupt()
        time.sleep(0.5)
        terminal.send("SELECT 'after ' || 'watch';")
        terminal.wait_for("after watch")


@check
def tear_down():
    lines("DROP VIEW psql_cheap", "DROP TABLE psql_item", "DROP SEQUENCE psql_number")


run()
