"""Statements, their results and cursors; pipelines, prepared statements, settings of the session."""

import psycopg
from psycopg import errors
from psycopg.pq import TransactionStatus as Status
from psycopg.rows import dict_row

from checks import IS_SALTWING, URL, check, contains, equal, raises, saltwing_only
from connections import connected


@check
def connection_facts(c):
    facts = {
        name: c.info.parameter_status(name)
        for name in ("client_encoding", "standard_conforming_strings", "integer_datetimes")
    }
    equal(facts, {"client_encoding": "UTF8", "standard_conforming_strings": "on", "integer_datetimes": "on"})
    equal(c.info.server_version // 10000, 15)
    equal(c.info.transaction_status, Status.IDLE)


@check
def integers_of_each_size(c):
    for value in (1, 40_000, 2**40):
        equal(
            c.execute("SELECT id FROM psycopg_item WHERE id = %s OR id = 7", (value,)).fetchall(),
            [(1,), (7,)] if value == 1 else [(7,)],
        )
    equal(
        type(raises(psycopg.Error, c.execute, "INSERT INTO psycopg_type (k) VALUES (%s)", (2**40,))).sqlstate, "22003"
    )


@check
def description_of_a_result(c):
    cursor = c.execute("SELECT id, name, size, 1.5::NUMERIC(10,2) AS price FROM psycopg_item WHERE id = 1")
    equal(
        [(d.name, d.type_code) for d in cursor.description], [("id", 20), ("name", 1043), ("size", 23), ("price", 1700)]
    )
    equal(
        (cursor.description[3].precision, cursor.description[3].scale, cursor.description[1].display_size), (10, 2, 20)
    )


@check
def tags_and_counts(c):
    statements = [
        ("INSERT INTO psycopg_item VALUES (900, 'a', 1), (901, 'b', 1)", "INSERT 0 2", 2),
        ("UPDATE psycopg_item SET size = 2 WHERE id >= 900", "UPDATE 2", 2),
        ("DELETE FROM psycopg_item WHERE id >= 900", "DELETE 2", 2),
        ("SELECT id FROM psycopg_item WHERE id < 5", "SELECT 5", 5),
    ]
    for statement, tag, count in statements:
        cursor = c.execute(statement)
        equal((cursor.statusmessage, cursor.rowcount), (tag, count))


@check
def rows_as_dictionaries(c):
    cursor = c.cursor(row_factory=dict_row)
    equal(cursor.execute("SELECT id, size FROM psycopg_item WHERE id = 12").fetchone(), {"id": 12, "size": 2})


@check
def on_conflict_and_returning(c):
    text = "INSERT INTO psycopg_item AS t VALUES (%s, 'new', 1) ON CONFLICT (id) DO UPDATE SET size = t.size + excluded.size RETURNING id, size"
    text = text.replace(" AS t", "").replace("t.size", "psycopg_item.size")
    equal(c.execute(text, (3,)).fetchall(), [(3, 4)])
    equal(c.execute("INSERT INTO psycopg_item VALUES (3, 'x', 0) ON CONFLICT DO NOTHING").rowcount, 0)
    c.execute("UPDATE psycopg_item SET size = 3 WHERE id = 3")


@check
def executemany_with_returning(c):
    cursor = c.cursor()
    cursor.executemany(
        "INSERT INTO psycopg_item VALUES (%s, 'many', 1) RETURNING id", [(910,), (911,), (912,)], returning=True
    )
    found = [cursor.fetchone()[0]]
    while cursor.nextset():
        found.append(cursor.fetchone()[0])
    equal(found, [910, 911, 912])
    equal(c.execute("DELETE FROM psycopg_item WHERE id >= 900").rowcount, 3)


@check
def several_results(c):
    cursor = c.execute("SELECT 1; SELECT 'two'")
    equal((cursor.fetchall(), cursor.nextset(), cursor.fetchall(), cursor.nextset()), ([(1,)], True, [("two",)], None))


@check
def parameters_bound_by_the_client(c):
    with psycopg.ClientCursor(c) as cursor:
        cursor.execute("SELECT %s, %s, %s FROM psycopg_item WHERE id = %s", ("it's \\", 5, None, 1))
        equal(cursor.fetchall(), [("it's \\", 5, None)])


@check
def parameters_of_a_list(c):
    text = "SELECT id FROM psycopg_item WHERE id = ANY(%s) ORDER BY id"
    equal(c.execute(text, ([5, 2, 999],)).fetchall(), [(2,), (5,)])


@check
def server_cursor(c):
    with c.transaction(), c.cursor(name="walk") as cursor:
        cursor.itersize = 70
        cursor.execute("SELECT id FROM psycopg_item WHERE id >= %s ORDER BY id", (10,))
        equal([row[0] for row in cursor], list(range(10, 300)))


@check
def server_cursor_fetches_and_moves(c):
    for is_binary in (False, True):
        with c.transaction(), c.cursor(name="walk", binary=is_binary) as cursor:
            cursor.execute("SELECT id FROM psycopg_item WHERE id >= 0 ORDER BY id")
            equal([cursor.fetchone(), len(cursor.fetchmany(20))], [(0,), 20])
            cursor.scroll(9)
            equal(cursor.fetchone(), (30,))
            equal(len(cursor.fetchall()), 269)


@check
def server_cursor_with_hold(c):
    cursor = c.cursor(name="held", withhold=True)
    try:
        cursor.execute("SELECT id FROM psycopg_item WHERE id >= 0 ORDER BY id")
    except errors.FeatureNotSupported:
        return
    equal(cursor.fetchmany(2), [(0,), (1,)])
    cursor.close()


@check
def streamed_rows(c):
    equal(
        [row[0] for row in c.cursor().stream("SELECT id FROM psycopg_item WHERE id < %s ORDER BY id", (40,))],
        list(range(40)),
    )


@check
def streamed_rows_in_chunks(c):
    equal(
        [row[0] for row in c.cursor().stream("SELECT id FROM psycopg_item WHERE id < %s ORDER BY id", (40,), size=7)],
        list(range(40)),
    )


@check
def pipeline(c):
    with c.pipeline() as pipe:
        cursors = [
            c.execute("INSERT INTO psycopg_item VALUES (%s, 'piped', 1) RETURNING id", (2000 + i,)) for i in range(200)
        ]
        pipe.sync()
        total = c.execute("SELECT count(*) FROM psycopg_item WHERE id >= 2000")
    equal([cursor.fetchone()[0] for cursor in cursors], list(range(2000, 2200)))
    equal(total.fetchone(), (200,))
    c.execute("DELETE FROM psycopg_item WHERE id >= 2000")


@check
def pipeline_with_an_error(c):
    def fail():
        with c.pipeline() as pipe:
            c.execute("INSERT INTO psycopg_item VALUES (2000, 'before', 1)")
            pipe.sync()
            c.execute("INSERT INTO psycopg_item VALUES (2001, 'undone', 1)")
            c.execute("SELECT 1 / 0 FROM psycopg_item WHERE id = 1")
            c.execute("SELECT 1")

    raises(errors.DivisionByZero, fail)
    equal(c.info.transaction_status, Status.IDLE)
    # What stands between two Syncs is one transaction.
    with c.pipeline():
        found = c.execute("SELECT id FROM psycopg_item WHERE id >= 2000")
        equal(found.fetchall(), [(2000,)])
    c.execute("DELETE FROM psycopg_item WHERE id >= 2000")


@check
def notices(c):
    found = []
    c.add_notice_handler(
        lambda n: found.append(
            (n.severity_nonlocalized in ("NOTICE", "WARNING"), bool(n.message_primary), len(n.sqlstate))
        )
    )
    if IS_SALTWING:
        c.execute("SET rows_warn = 1")
        c.execute("SELECT sum(size) FROM psycopg_item WHERE id >= 0").fetchone()
    else:
        c.execute("DROP TABLE IF EXISTS psycopg_nothing")
    equal(found, [(True, True, 5)])


@check
def wrong_password():
    wrong = psycopg.conninfo.make_conninfo(URL, password="wrong")
    contains(str(raises(psycopg.OperationalError, psycopg.connect, wrong)), "password")


@check
def prepared_after_some_runs(c):
    c.prepare_threshold = 2
    for i in range(10):
        equal(c.execute("SELECT name FROM psycopg_item WHERE id = %s", (i,)).fetchone(), (f"name {i}",))
    # Statements of a session are not listed in the catalog of Saltwing.
    if not IS_SALTWING:
        names = c.execute("SELECT name FROM pg_prepared_statements WHERE name LIKE '%pg3%'").fetchall()
        equal(len(names), 1)


@check
def prepared_statement_meets_another_definition(c):
    c.execute("DROP TABLE IF EXISTS psycopg_change")
    c.execute("CREATE TABLE psycopg_change (k INTEGER PRIMARY KEY)")
    c.execute("INSERT INTO psycopg_change VALUES (1)")
    text = "SELECT * FROM psycopg_change WHERE k = %s"
    equal(c.execute(text, (1,), prepare=True).fetchall(), [(1,)])
    with connected() as other:
        other.execute("ALTER TABLE psycopg_change ADD COLUMN v INTEGER")
    error = raises(psycopg.Error, lambda: c.execute(text, (1,), prepare=True))
    equal(error.sqlstate, "0A000")
    c.execute("DEALLOCATE ALL")
    equal(c.execute(text, (1,), prepare=False).fetchall(), [(1, None)])
    c.execute("DROP TABLE psycopg_change")


@check
def session_statements(c):
    equal(c.execute("SHOW transaction_isolation").fetchone()[0] in ("read committed", "repeatable read"), True)
    for statement in (
        "SET search_path = public",
        "SET application_name TO 'x'",
        "RESET ALL",
        "DISCARD ALL",
        "CLOSE ALL",
        "UNLISTEN *",
        "DEALLOCATE ALL",
    ):
        c.execute(statement)
    equal(c.execute("SHOW application_name").fetchone(), ("",))
    equal(c.execute("SHOW server_version_num").fetchone()[0][:2], "15")


@check
def prepare_and_execute_in_sql(c):
    c.execute("PREPARE one (BIGINT) AS SELECT name FROM psycopg_item WHERE id = $1")
    equal(c.execute("EXECUTE one (4)").fetchone(), ("name 4",))
    c.execute("DEALLOCATE one")
    equal(raises(psycopg.Error, c.execute, "EXECUTE one (4)").sqlstate, "26000")


@check
def cursors_in_sql(c):
    with c.transaction():
        c.execute("DECLARE walk CURSOR FOR SELECT id FROM psycopg_item WHERE id >= 0 ORDER BY id")
        equal(c.execute("FETCH 2 FROM walk").fetchall(), [(0,), (1,)])
        equal(c.execute("MOVE 3 IN walk").statusmessage, "MOVE 3")
        equal(c.execute("FETCH NEXT FROM walk").fetchall(), [(5,)])
        c.execute("CLOSE walk")
    equal(raises(psycopg.Error, c.execute, "FETCH 1 FROM walk").sqlstate, "34000")


@saltwing_only
def refused_full_scan(c):
    error = raises(psycopg.Error, c.execute, "SELECT * FROM psycopg_item WHERE size = 1")
    equal((error.sqlstate, bool(error.diag.message_hint)), ("54F01", True))
    c.execute("SET full_scan = 'allow'")
    equal(len(c.execute("SELECT * FROM psycopg_item WHERE size = 1").fetchall()), 30)
