//! The shell's own commands, in scripts.

use super::*;

const TABLES: &str = "CREATE SCHEMA s;
CREATE SEQUENCE q START WITH 5 INCREMENT BY 5;
CREATE TABLE s.\"My T\" (a VARCHAR NOT NULL, b DECIMAL(9, 2) NOT NULL, v DOUBLE, t TIMESTAMP, x VARBINARY, d DATE, f BOOLEAN,
  CONSTRAINT pk PRIMARY KEY (a, b DESC)) SALT_BUCKETS = 3;
CREATE TABLE nums (k INTEGER PRIMARY KEY, \"order\" VARCHAR, n BIGINT);
CREATE TABLE none (k INTEGER PRIMARY KEY CHECK (k > 0), CONSTRAINT odd CHECK (k % 2 = 1));
COMMENT ON TABLE none IS 'it''s; empty';
COMMENT ON COLUMN s.\"My T\".x IS 'bytes';
CREATE TABLE before (old INTEGER PRIMARY KEY, j JSON, u UUID, CONSTRAINT few CHECK (old < 10));
UPSERT INTO before VALUES (1, '{\"a\": [1, null, \"it''s\"]}', '00112233-4455-6677-8899-aabbccddeeff'), (2, NULL, NULL);
ALTER TABLE before RENAME COLUMN old TO \"New\";
ALTER TABLE before RENAME TO \"After\";
CREATE SEQUENCE unused START WITH 7;
CREATE VIEW z_first AS SELECT \"New\", j FROM \"After\" WHERE \"New\" > 0;
CREATE VIEW m_second AS SELECT \"New\" + 1 AS n FROM z_first;
CREATE VIEW a_third AS SELECT n FROM m_second WHERE n > 1;
COMMENT ON VIEW z_first IS 'first';
UPSERT INTO s.\"My T\" VALUES ('it''s', 1.5, 1e300, TIMESTAMP '2024-01-02 03:04:05.123456789', X'00ff', DATE '1583-01-01', TRUE),
  ('', -0.05, 'NaN', NULL, X'', NULL, FALSE), ('é\n;--', 100, '-Infinity', NULL, NULL, DATE '2024-05-06 07:08:09.01', NULL);
CREATE TABLE events (v VARCHAR) TTL = 1000000;
UPSERT INTO events (v, extra VARCHAR, \"my N\" DECIMAL(5, 2)) VALUES ('a', 'it''s', 1.5);
UPSERT INTO events VALUES ('b');
CREATE TABLE times (k INTEGER, ts DATE, seen BIGINT, CONSTRAINT pk PRIMARY KEY (k, ts DESC ROW_TIMESTAMP)) SPLIT ON (5, (7, DATE '2020-01-01'));
UPSERT INTO nums SELECT value, CONCAT('row ', value), NEXT VALUE FOR q FROM GENERATE_SERIES(1, 250);
";
const READ: &str =
    "SELECT /*+ FULL_SCAN */ * FROM s.\"My T\"; SELECT count(*), max(\"order\"), max(n) FROM nums WHERE k > 0;
  SELECT count(*) FROM none WHERE k > 0; SHOW TABLES; SELECT * FROM \"After\" WHERE \"New\" > 0; SELECT n FROM a_third;
  SHOW CREATE TABLE times;
  SELECT v, extra, \"my N\" FROM events (extra VARCHAR, \"my N\" DECIMAL(5, 2)) WHERE _row_id >= 0 ORDER BY v;";

#[test]
fn a_dump_makes_the_same_tables_and_rows() {
    let dir = Directory::new();
    let (old, new) = (dir.path("old"), dir.path("new"));
    assert_eq!(run(&[&old, "-f", &dir.file("make.sql", TABLES)]).code, Some(0));
    let dump = run(&[&old, "-c", ".dump"]);
    assert_eq!((dump.err.as_str(), dump.code), ("", Some(0)));
    assert!(dump.out.contains("ALTER SEQUENCE q RESTART WITH 1255;\n"), "{}", dump.out);
    let restored = run(&[&new, "-f", &dir.file("dump.sql", &dump.out)]);
    assert_eq!(restored.code, Some(0), "{}", restored.err);
    let rows = run(&[&new, "-c", READ]);
    assert_eq!((rows.out.as_str(), rows.code), (run(&[&old, "-c", READ]).out.as_str(), Some(0)));
    assert!(rows.out.contains("250,row 99,1250"), "{}", rows.out);
    let described = |database| run(&[database, "-c", "DESCRIBE none; DESCRIBE s.\"My T\""]).out;
    assert_eq!(described(&new), described(&old));
    assert!(described(&old).contains("CHECK,(table),,,k % 2 = 1,odd\nCOMMENT,(table),,,it's; empty,\n"));
    let refused = run(&[&new, "-c", "UPSERT INTO \"After\" VALUES (11, NULL, NULL)"]);
    assert!(refused.err.contains("few"), "{}", refused.err);
    // A dump of the restored database is the same; no dump has taken a value, so both databases give the same ones.
    assert_eq!(run(&[&new, "-c", ".dump"]).out, dump.out);
    for database in [&old, &new] {
        let next = run(&[database, "-c", "SELECT NEXT VALUE FOR q; SELECT NEXT VALUE FOR unused"]);
        assert!(next.out.contains("\n1255\n") && next.out.ends_with("\n7\n"), "{}", next.out);
    }
    // What cannot write a value can still be dumped.
    let read_only = run(&["--readonly", &new, "-c", ".dump"]);
    assert!(read_only.out.contains("ALTER SEQUENCE q RESTART WITH 1260;\n"), "{}{}", read_only.out, read_only.err);
    let one = run(&[&old, "-c", ".dump nums"]);
    assert!(one.out.starts_with("CREATE TABLE nums (") && !one.out.contains("SCHEMA"), "{}", one.out);
    assert_eq!(one.out.matches("UPSERT INTO nums (k, \"order\", n) VALUES\n(").count(), 3);
}

/// Columns that fill themselves: computed values are not dumped, counted ones are, and counting goes on.
#[test]
fn a_dump_has_columns_that_fill_themselves() {
    let dir = Directory::new();
    let (old, new) = (dir.path("old"), dir.path("new"));
    let tables = "CREATE TABLE s.t (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, a INTEGER, twice INTEGER AS (a * 2), v VARCHAR);
      CREATE TABLE u (a VARCHAR PRIMARY KEY, n SERIAL); ALTER TABLE u ADD b VARCHAR PRIMARY KEY DESC;
      INSERT INTO s.t (a, v) VALUES (1, 'x'), (2, 'y'); INSERT INTO u (a, b) VALUES ('k', 'l'), ('k', NULL);";
    assert_eq!(run(&[&old, "-c", tables]).code, Some(0));
    let dump = run(&[&old, "-c", ".dump"]);
    assert_eq!((dump.err.as_str(), dump.code), ("", Some(0)));
    assert!(
        dump.out.contains("UPSERT INTO s.t (id, a, v) OVERRIDING SYSTEM VALUE VALUES\n(1, 1, 'x'),"),
        "{}",
        dump.out
    );
    assert!(!dump.out.contains("CREATE SEQUENCE") && dump.out.contains("ALTER SEQUENCE u_n_seq RESTART WITH 3;\n"));
    let restored = run(&[&new, "-f", &dir.file("dump.sql", &dump.out)]);
    assert_eq!(restored.code, Some(0), "{}", restored.err);
    let insert = "INSERT INTO s.t (a) VALUES (3) RETURNING id, twice; SELECT * FROM u WHERE a >= 'a' ORDER BY a, b;";
    assert_eq!(run(&[&new, "-c", insert]).out, "id,twice\n3,6\na,n,b\nk,2,\nk,1,l\n");
    let described = |database| run(&[database, "-c", "SHOW CREATE TABLE s.t; SHOW CREATE TABLE u"]).out;
    assert_eq!(described(&new), described(&old));
    let schema = run(&[&old, "-c", ".schema"]);
    let made = run(&["-f", &dir.file("schema.sql", &schema.out)]);
    assert_eq!(made.code, Some(0), "{}", made.err);
}

/// The rows of a view are those of its table.
#[test]
fn a_dump_of_a_view_is_its_definition() {
    let make = "CREATE TABLE t (k INTEGER PRIMARY KEY, v VARCHAR); UPSERT INTO t VALUES (1, 'a'); CREATE VIEW w AS SELECT k FROM t WHERE v = 'a'";
    assert_eq!(run(&["-c", make, "-c", ".dump w"]).out, "CREATE VIEW w (k) AS SELECT k FROM t WHERE v = 'a';\n");
}

/// Families with one name, and sequences that have given out all values: no value comes twice.
#[test]
fn a_dump_has_families_and_ended_sequences() {
    let dir = Directory::new();
    let (old, new) = (dir.path("old"), dir.path("new"));
    let make = "CREATE TABLE f (k INTEGER PRIMARY KEY, f1.v VARCHAR, f2.v INTEGER, \"my F\".\"a b\" INTEGER);
      UPSERT INTO f (k, f1.v, f2.v, \"a b\") VALUES (1, 'a', 2, 3);
      CREATE SEQUENCE up MAXVALUE 1; CREATE SEQUENCE down START WITH 1 INCREMENT BY -1 MINVALUE 1 MAXVALUE 5;
      SELECT NEXT VALUE FOR up; SELECT NEXT VALUE FOR down;
      CREATE TABLE i (id BIGINT GENERATED ALWAYS AS IDENTITY (MAXVALUE 1) PRIMARY KEY, v VARCHAR); INSERT INTO i (v) VALUES ('x')";
    let made = run(&[&old, "-c", make]);
    assert_eq!(made.code, Some(0), "{}", made.err);
    let dump = run(&[&old, "-c", ".dump"]);
    assert!(dump.out.contains("UPSERT INTO f (k, f1.v, f2.v, \"a b\") VALUES\n(1, 'a', 2, 3)"), "{}", dump.out);
    let restored = run(&[&new, "-f", &dir.file("dump.sql", &dump.out)]);
    assert_eq!(restored.code, Some(0), "{}", restored.err);
    assert_eq!(run(&[&new, "-c", ".dump"]).out, dump.out);
    for statement in ["SELECT NEXT VALUE FOR up", "SELECT NEXT VALUE FOR down", "INSERT INTO i (v) VALUES ('y')"] {
        let refused = run(&[&new, "-c", statement]);
        assert!(refused.err.contains("2200H"), "{statement}: {}{}", refused.out, refused.err);
    }
}

/// A temporary table is dumped if it is named.
#[test]
fn a_dump_leaves_temporary_tables_out() {
    let make = "CREATE TABLE t (k INTEGER PRIMARY KEY); CREATE TEMP TABLE t (k INTEGER PRIMARY KEY, v VARCHAR);
                UPSERT INTO t VALUES (1, 'a'); COMMENT ON TABLE t IS 'mine'";
    // The stored table has no other name.
    let hidden = run(&["-c", make, "-c", ".dump"]);
    assert!(
        hidden.err.contains("temp.t hides table t") && !hidden.out.contains("TABLE"),
        "{}{}",
        hidden.out,
        hidden.err
    );
    let others = "CREATE TABLE s (k INTEGER PRIMARY KEY); CREATE TEMP TABLE u (k INTEGER PRIMARY KEY)";
    let all = run(&["-c", others, "-c", ".dump"]);
    assert!(all.out.contains("CREATE TABLE s (") && !all.out.contains("TEMP"), "{}{}", all.out, all.err);
    let one = run(&["-c", make, "-c", ".dump temp.t"]);
    assert!(
        one.out.contains("CREATE TEMPORARY TABLE t (\n")
            && one.out.contains("UPSERT INTO temp.t (k, v) VALUES\n(1, 'a');"),
        "{}{}",
        one.out,
        one.err
    );
    let phoenix = run(&["-c", make, "-c", ".phoenix"]);
    assert!(phoenix.out.contains("-- t is left out: a temporary table"), "{}{}", phoenix.out, phoenix.err);
    assert!(!phoenix.out.contains("EXISTS t"), "{}", phoenix.out);
}

#[test]
fn the_indexes_of_a_table_are_its_key_and_others() {
    let make = "CREATE TABLE k (a VARCHAR NOT NULL, \"B\" INTEGER NOT NULL, v INTEGER, CONSTRAINT pk PRIMARY KEY (\"B\" DESC, a));
                CREATE TABLE l (a INTEGER PRIMARY KEY); CREATE VIEW v AS SELECT a FROM l";
    let all = run(&["-c", make, "-c", ".indexes"]);
    assert_eq!(all.out, "k: PRIMARY KEY (B DESC, a)\nl: PRIMARY KEY (a)\n", "{}", all.err);
    assert_eq!(run(&["-c", make, "-c", "\\di l"]).out, "l: PRIMARY KEY (a)\n");
    let more = "CREATE UNIQUE INDEX i ON k (v DESC, \"B\") INCLUDE (a); CREATE INDEX \"my index\" ON k (UPPER(a));
                ALTER INDEX \"my index\" ON k DISABLE";
    let all = run(&["-c", make, "-c", more, "-c", ".indexes k"]);
    let expected = "k: PRIMARY KEY (B DESC, a)\nk: UNIQUE INDEX i (v DESC, B) INCLUDE (a)\nk: INDEX \"my index\" (UPPER(a)), disabled\n";
    assert_eq!(all.out, expected, "{}", all.err);
    assert!(run(&["-c", make, "-c", ".indexes nope"]).err.contains("no_such_table"));
}

#[test]
fn results_go_to_files() {
    let dir = Directory::new();
    let (all, once) = (dir.path("all.txt"), dir.path("o n c e"));
    let script = format!(
        "{TABLE}\n.output {all}\nSELECT k FROM t WHERE k = 1;\n.mode json\nSELECT k FROM t WHERE k = 2;\n.output\n\
         .once '{once}'\nSELECT k FROM t WHERE k = 3;\nSELECT v FROM t WHERE k = 1;\n"
    );
    expect(&run_with_input(&[], &script), "[{\"v\":\"a\"}]\n", "3 rows written\n", 0);
    assert_eq!(std::fs::read_to_string(all).unwrap(), "k\n1\n[{\"k\":2}]\n");
    assert_eq!(std::fs::read_to_string(once).unwrap(), "[{\"k\":3}]\n");
    for command in [".output x", ".once x", ".read x"] {
        let refused = run(&["--no-file-access", "-c", command]);
        assert!(refused.err.contains("--no-file-access") && refused.code == Some(1), "{}", refused.err);
    }
    let missing = run(&["-c", ".output /no/such/folder/x"]);
    assert!(missing.err.contains("/no/such/folder/x: "), "{}", missing.err);
}

#[test]
fn rows_come_from_files_and_go_into_them() {
    let dir = Directory::new();
    let (all, some) = (dir.path("it's all.csv"), dir.path("some.csv"));
    let script = format!(
        "{TABLE}\n.export t \"{all}\"\n.export SELECT k FROM t WHERE k > 1 {some}\n\
         CREATE TABLE u (v VARCHAR, k INTEGER PRIMARY KEY);\n.import \"{all}\" u\nSELECT * FROM u WHERE k > 0;\n"
    );
    let output = run_with_input(&[], &script);
    let counts = "3 rows written\n3 rows written\n2 rows written\n3 rows written\n";
    expect(&output, "v,k\na,1\n,2\n\"\",3\n", counts, 0);
    assert_eq!(std::fs::read_to_string(some).unwrap(), "k\n2\n3\n");
}

#[test]
fn statements_are_advised() {
    let make = "CREATE TABLE k (a INTEGER PRIMARY KEY, v VARCHAR) SALT_BUCKETS = 0";
    let line = "k,index k_v,[('x') .. ('x')],CREATE INDEX k_v ON k (v),\n";
    let advised = run(&["--mode", "csv", "-c", make, "-c", ".advise SELECT a FROM k WHERE v = 'x'"]);
    assert!(advised.out.ends_with(line), "{}{}", advised.out, advised.err);
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("statements.sql");
    std::fs::write(&file, "SELECT a FROM k WHERE v = 'x';\nDELETE FROM k WHERE a = 7").unwrap();
    let advised = run(&["--mode", "csv", "-c", make, "-c", &format!(".advise {}", file.display())]);
    assert!(advised.out.contains(line), "{}{}", advised.out, advised.err);
    assert!(advised.out.ends_with("k,primary key,[(7) .. (7)],,\n"), "{}{}", advised.out, advised.err);
    assert!(run(&["-c", make, "-c", ".advise"]).err.contains(".advise SELECT"));
}

/// Without a terminal the picture is of digits; its times depend on the clock, its title and its keys do not.
#[test]
fn the_heat_of_keys_is_drawn() {
    let make =
        "CREATE TABLE h (a VARCHAR, b INTEGER NOT NULL, v INTEGER, CONSTRAINT pk PRIMARY KEY (a, b)) SALT_BUCKETS = 0;
                UPSERT INTO h VALUES ('x', 1, 7), ('y', 2, 8); SELECT v FROM h WHERE a = 'x' AND b = 1";
    let drawn = run(&["-c", make, "-c", ".heat h 60"]).out;
    let lines: Vec<&str> = drawn.lines().skip_while(|line| !line.starts_with("reads")).collect();
    assert_eq!(lines.len(), 8, "{drawn}");
    assert_eq!(lines[0], "reads of h by a, b: 9 is 1.0 a second");
    assert!(lines[1].starts_with("first key  ") && lines[1].ends_with(|c: char| "09".contains(c)), "{drawn}");
    assert!(lines[1].contains('9') && lines[3].ends_with(" now"), "{drawn}");
    assert!(lines[4].starts_with("writes of h by a, b: 9 is "), "{drawn}");
    assert!(lines[6].starts_with("'y', 2  ") && lines[6].contains('9'), "{drawn}");
    let salted = run(&["-c", &make.replace("= 0", "= 4"), "-c", ".heat h reads"]).out;
    assert!(salted.contains("reads of h by _salt, a, b") && salted.contains("\nbucket 3  "), "{salted}");
    assert!(!salted.contains("writes"), "{salted}");
    assert!(run(&["-c", make, "-c", ".heat nothing"]).err.contains("table nothing"));
    assert!(run(&["-c", make, "-c", ".heat"]).err.contains("usage: .heat TABLE|INDEX [SECONDS] [reads|writes]"));
}

#[test]
fn row_keys_and_ranges_are_shown() {
    let make =
        "CREATE TABLE k (a VARCHAR NOT NULL, b INTEGER NOT NULL, v INTEGER, CONSTRAINT pk PRIMARY KEY (a, b DESC));
                UPSERT INTO k VALUES ('x', 1, 7), ('x', 2, 8), ('y', 1, 9)";
    let keys = run(&["-c", make, "-c", ".keys SELECT v, (SELECT 1) FROM k WHERE a = 'x' AND b > 0"]);
    expect(&keys, "_row_key,a,b\n78007ffffffd,x,2\n78007ffffffe,x,1\n", "3 rows written\n", 0);
    let ranges = run(&["-c", make, "-c", ".ranges SELECT v FROM k WHERE a IN ('x', 'y') AND b = 2"]);
    let text = "point of k\n  [('x', 2) .. ('x', 2)]\n  [('y', 2) .. ('y', 2)]\n  [78007ffffffd .. 78007ffffffd00)\n  [79007ffffffd .. 79007ffffffd00)\n";
    assert_eq!((ranges.out.as_str(), ranges.code), (text, Some(0)), "{}", ranges.err);
    for wrong in [".keys DELETE FROM k", ".keys SELECT 1"] {
        let refused = run(&["-c", make, "-c", wrong]);
        assert!(refused.err.contains("usage: .keys SELECT"), "{}", refused.err);
    }
    assert!(run(&["-c", make, "-c", ".ranges SELECT nope FROM k"]).err.contains("no_such_column"));
}

/// A part of the key that is computed is shown as it is computed, and all parts in the order of the key.
#[test]
fn row_keys_have_their_computed_parts() {
    let make = "CREATE TABLE l (phone VARCHAR NOT NULL, ts DATE NOT NULL, v INTEGER,
        CONSTRAINT pk PRIMARY KEY (SUBSTR(MD5(phone), 1, 3), phone, ts DESC));
        UPSERT INTO l VALUES ('18601134210', '2024-05-01', 1)";
    let keys = run(&["-c", make, "-c", ".keys SELECT * FROM l x WHERE x.phone = '18601134210'"]);
    assert_eq!(keys.code, Some(0), "{}", keys.err);
    let (header, row) = keys.out.split_once('\n').unwrap();
    assert!(header.starts_with("_row_key,") && header.ends_with(",phone,ts"), "{header}");
    assert!(row.starts_with("623062313836") || row.contains(",18601134210,2024-05-01\n"), "{row}");
    assert_eq!(header.split(',').count(), 6, "a computed part has commas: {header}");
}

/// Each part of a union, of an intersection, and each side of a join is named with its index and its alias.
#[test]
fn ranges_name_their_index_and_their_alias() {
    let make = "CREATE TABLE u (k INTEGER PRIMARY KEY, a INTEGER, b INTEGER); CREATE INDEX ua ON u (a); CREATE INDEX ub ON u (b);
        UPSERT INTO u VALUES (1, 1, 1), (2, 2, 2)";
    let of = |query: &str| run(&["-c", make, "-c", &format!(".ranges {query}")]).out;
    let union = of("SELECT k FROM u WHERE a = 1 OR b = 2");
    let lines: Vec<&str> = union.lines().collect();
    assert_eq!(lines[0], "union of u", "{union}");
    for (index, span) in [("ua", "[(1) .. (1)]"), ("ub", "[(2) .. (2)]")] {
        let at = lines.iter().position(|line| *line == format!("  range of u, entries of index {index}"));
        let at = at.unwrap_or_else(|| panic!("{index}: {union}"));
        assert_eq!(lines[at + 1].trim(), span, "{union}");
        assert!(lines[at + 2].starts_with("    ["), "bytes: {union}");
    }
    let one = of("SELECT k FROM u AS x WHERE a = 1");
    assert!(one.starts_with("range of u as x, entries of index ua\n"), "{one}");
    let join = of("SELECT x.k FROM u x JOIN u y ON y.k = x.k WHERE x.k = 1 AND y.k > 1");
    assert!(join.contains(" of u as x\n") && join.contains(" of u as y\n"), "{join}");
}

#[test]
fn texts_and_settings_are_printed() {
    let script = ".print 'a; b'\n.print\n.nullvalue\n.nullvalue n/a\n.nullvalue\n.separator ;\n.maxrows 2\n.show\n";
    let output = run_with_input(&[], script);
    let expected = "a; b\n\n''\n'n/a'\n\
        database   memory: nothing is kept\nmode       csv\nnullvalue  'n/a'\nmaxrows    0: all\nwidth      0\nseparator  ;\n\
        timing     off\npager      off\noutput     the standard output\n";
    expect(&output, expected, "", 0);
}

#[test]
fn fields_of_csv_have_a_separator() {
    let script = format!(
        "{TABLE}\n.separator '|'\nSELECT k, v, 'a|b' AS x FROM t WHERE k = 1;\n.mode tsv\nSELECT k, v FROM t WHERE k = 1;\n"
    );
    expect(&run_with_input(&[], &script), "k|v|x\n1|a|\"a|b\"\nk\tv\n1\ta\n", "3 rows written\n", 0);
}

#[test]
fn a_table_shows_as_many_rows_as_wanted() {
    let script = ".mode table\n.timing on\n.maxrows 2\nSELECT value FROM GENERATE_SERIES(1, 9);\n.mode csv\nSELECT value FROM GENERATE_SERIES(1, 3);\n";
    let output = run_with_input(&[], script);
    let table = "+-------+\n| value |\n+-------+\n|     1 |\n|     2 |\n+-------+\n";
    assert_eq!((output.out.as_str(), output.code), (format!("{table}value\n1\n2\n3\n").as_str(), Some(0)));
    assert!(output.err.contains("2 rows shown, ") && output.err.contains(".maxrows 0"), "{}", output.err);
    assert!(output.err.contains("\n3 rows, "), "{}", output.err);
}

#[test]
fn columns_have_the_widths_that_are_given() {
    let query = "SELECT 'abcdef' AS a, 'b' AS b, 12345 AS c;\n";
    let script =
        format!(".mode table\n.width\n.width 4 -3 2\n.width\n{query}.mode csv\n{query}.mode table\n.width 0\n{query}");
    let given =
        "+------+-----+----+\n| a    |   b |  c |\n+------+-----+----+\n| abc… |   b | 12345 |\n+------+-----+----+\n";
    let of_values = "+--------+---+-------+\n| a      | b |     c |\n+--------+---+-------+\n| abcdef | b | 12345 |\n+--------+---+-------+\n";
    let expected = format!("0\n4 -3 2\n{given}a,b,c\nabcdef,b,12345\n{of_values}");
    expect(&run_with_input(&[], &script), &expected, "", 0);
    expect(
        &run(&["-c", ".width wide"]),
        "",
        "error: usage: .width N N ..: cells of each column, 0 for as many as it needs, -N on the right\n",
        1,
    );
}

#[test]
fn objects_are_listed() {
    let make =
        "CREATE TABLE t (k INTEGER PRIMARY KEY); CREATE VIEW v AS SELECT k FROM t; CREATE SEQUENCE q; CREATE SCHEMA s";
    let listed = |command: &str| run(&["-c", make, "-c", command]).out;
    assert_eq!(listed("\\dv"), "table_schema,table_name\n,v\n");
    assert_eq!(listed("\\ds"), "sequence_schema,sequence_name\n,q\n");
    assert_eq!(listed("\\dn"), "schema_name\ns\n");
    assert!(listed("\\df UPP%").contains("\nUPPER,"), "{}", listed("\\df UPP%"));
    assert_eq!(listed("\\dt v"), "table_schema,table_name\n,v\n");
}

#[test]
fn the_shell_goes_on_with_another_database() {
    let dir = Directory::new();
    let (one, two) = (dir.path("one"), dir.path("two"));
    let script = format!(
        "{TABLE}\nBEGIN; UPSERT INTO t VALUES (4, 'd');\n.open '{two}'\nSHOW TABLES;\nCREATE TABLE x (k INTEGER PRIMARY KEY);\n\
         .open {one}\nSELECT k FROM t WHERE k > 2;\n.open :memory:\nSHOW TABLES;\n.show\n.open {two}/no/such\n"
    );
    let output = run_with_input(&[&one], &script);
    let expected = "table_schema,table_name\nk\n3\ntable_schema,table_name\ndatabase   memory: nothing is kept\n";
    assert!(output.out.starts_with(expected), "{}{}", output.out, output.err);
    assert!(output.err.contains("the open transaction is rolled back"), "{}", output.err);
    assert!(output.err.contains("error[58030 io]") && output.code == Some(1), "{}", output.err);
    expect(&run(&[&two, "-c", "SHOW TABLES"]), "table_schema,table_name\n,x\n", "", 0);
    let refused = run(&["--no-file-access", "-c", &format!(".open {one}")]);
    assert!(refused.err.contains("--no-file-access"), "{}", refused.err);
    // What is read-only stays so.
    let readonly = run(&["--readonly", &two, "-c", &format!(".open {one}"), "-c", "DELETE FROM t WHERE k = 1"]);
    assert!(readonly.err.contains("25006"), "{}", readonly.err);
}

#[test]
#[cfg(unix)]
fn programs_run_from_the_shell() {
    expect(&run(&["-c", ".print a", "-c", ".shell echo 'b;c'", "-c", "\\! exit 0"]), "a\nb;c\n", "", 0);
    let failed = run(&["-c", ".shell exit 3", "-c", ".print a"]);
    assert!(failed.err.contains("exit 3: exit status: 3") && failed.out.is_empty(), "{}{}", failed.out, failed.err);
    assert!(run(&["--no-file-access", "-c", ".shell true"]).err.contains("--no-file-access"));
}

#[test]
fn a_watch_runs_the_last_statement_again() {
    let output = run(&["-c", TABLE, "-c", "SELECT k FROM t WHERE k = 1", "-c", ".watch 0.01 2"]);
    expect(&output, "k\n1\nk\n1\nk\n1\n", "3 rows written\n", 0);
    assert!(run(&["-c", ".watch"]).err.contains("no statement has run yet"));
    assert!(run(&["-c", "\\e"]).err.contains("an editor needs a terminal"));
}

#[test]
fn a_result_is_shown_a_value_a_line_and_back() {
    let output = run(&[
        "-c",
        TABLE,
        "-c",
        "\\x",
        "-c",
        "SELECT * FROM t WHERE k = 1",
        "-c",
        "\\x",
        "-c",
        "SELECT k FROM t WHERE k = 1",
    ]);
    expect(&output, "k = 1\nv = a\nk\n1\n", "3 rows written\n", 0);
}

#[test]
fn shells_get_their_completions_and_readers_their_page() {
    for (shell, part) in [("bash", "_saltwing()"), ("zsh", "#compdef saltwing"), ("fish", "complete -c saltwing")] {
        let output = run(&["completions", shell]);
        assert!(
            output.out.contains(part) && output.out.contains("full-scan") && output.code == Some(0),
            "{}",
            output.out
        );
    }
    assert_eq!(run(&["completions", "cmd.com"]).code, Some(2));
    let page = run(&["man"]);
    assert!(page.out.contains(".TH saltwing 1") && page.out.contains("\\-\\-readonly"), "{}", page.out);
}

#[test]
fn import_takes_the_options_of_copy() {
    let dir = Directory::new();
    let file = dir.file("f.csv", "k,v\n1,NA\n2,5\n");
    let script = format!(
        "CREATE TABLE t (k INTEGER PRIMARY KEY, v INTEGER);\n.import \"{file}\" t WITH (NULL 'NA')\nSELECT * FROM t WHERE k > 0;\n\
         .import \"{file}\" t (v, k) with (HEADER, NULL 'NA') ON CONFLICT ERROR\n"
    );
    let output = run(&[":memory:", "--mode", "csv", "-f", &dir.file("import.sql", &script)]);
    assert!(output.out.contains("k,v\n1,\n2,5\n"), "{}{}", output.out, output.err);
    assert!(output.err.contains("ON_CONFLICT REPLACE lets"), "{}", output.err);
    let missing = run(&[":memory:", "-f", &dir.file("missing.sql", &format!(".import \"{file}\" new\n"))]);
    assert!(missing.err.contains("CREATE TABLE new PRIMARY KEY (..) AS SELECT * FROM '"), "{}", missing.err);
}
