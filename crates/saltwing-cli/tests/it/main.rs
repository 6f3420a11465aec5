//! The built binary, as scripts use it: `docs/shell.md#in-scripts`.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod commands;
#[cfg(all(unix, feature = "server"))]
mod serve;
#[cfg(unix)]
mod terminal;

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const TABLE: &str = "CREATE TABLE t (k INTEGER NOT NULL PRIMARY KEY, v VARCHAR);
UPSERT INTO t VALUES (1, 'a'), (2, NULL), (3, '');";
const ALL: &str = "SELECT * FROM t WHERE k > 0";

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_saltwing"));
    command.args(args).env("RUST_BACKTRACE", "0");
    command
}

/// The output of a run, and its exit code.
struct RunOutput {
    out: String,
    err: String,
    code: Option<i32>,
}

impl From<Output> for RunOutput {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        RunOutput { out: text(output.stdout), err: text(output.stderr), code: output.status.code() }
    }
}

fn run(args: &[&str]) -> RunOutput {
    command(args).stdin(Stdio::null()).output().unwrap().into()
}

fn run_with_input(args: &[&str], input: &str) -> RunOutput {
    let mut child = command(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A batch that stops at an error leaves input unread.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap().into()
}

/// Asserts all three ends of a run at once: a failure then shows the others.
#[track_caller]
fn expect(output: &RunOutput, out: &str, err: &str, code: i32) {
    assert_eq!((output.out.as_str(), output.err.as_str(), output.code), (out, err, Some(code)));
}

struct Directory(tempfile::TempDir);

impl Directory {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    fn file(&self, name: &str, text: &str) -> String {
        std::fs::write(self.0.path().join(name), text).unwrap();
        self.path(name)
    }
}

#[test]
fn results_go_to_stdout_and_all_else_to_stderr() {
    let output = run(&["-c", TABLE, "-c", ALL]);
    expect(&output, "k,v\n1,a\n2,\n3,\"\"\n", "3 rows written\n", 0);
    let output = run(&["-c", TABLE, "-c", "DELETE FROM t WHERE k = 2", "-c", "SELECT k FROM t WHERE k = 2"]);
    expect(&output, "k\n", "3 rows written\n1 row deleted\n", 0);
}

/// Of 6 MB at most twice the limit can wait to be merged: writers wait for that.
#[test]
fn memory_of_the_database_can_be_set() {
    let home = Directory::new();
    let lines: String = (0..30_000).map(|k| format!("{k},{}\n", "x".repeat(200))).collect();
    let copy = format!("COPY t FROM '{}'", home.file("t.csv", &lines));
    let stored = |options: &[&str]| -> Vec<u64> {
        let mut args = vec!["-c", "CREATE TABLE t (k INTEGER NOT NULL PRIMARY KEY, v VARCHAR)"];
        args.extend(["-c", &copy, "--mode", "jsonl", "-c", "SHOW STORAGE"].iter().chain(options));
        let output = run(&args);
        assert_eq!(output.code, Some(0), "{}", output.err);
        let all = output.out.lines().next_back().unwrap();
        let of = |name: &str| {
            let value = all.split(&format!("\"{name}\":")).nth(1).unwrap();
            value.split([',', '}']).next().unwrap().parse().unwrap()
        };
        ["cache_bytes_max", "delta_rows", "block_rows"].map(of).to_vec()
    };
    assert_eq!(stored(&["--delta-mb", "100"]), [256 << 20, 30_000, 0]);
    let limited = stored(&["--cache-mb", "3", "--delta-mb", "1", "--merge-threads", "2"]);
    assert_eq!(limited[0], 3 << 20);
    // A merge that still runs counts rows in both places.
    assert!(limited[1] + limited[2] >= 30_000 && limited[1] < 20_000, "{limited:?}");
}

#[test]
fn each_mode_shows_each_result_by_itself() {
    let shown = |mode: &str| run(&["--mode", mode, "-c", TABLE, "-c", ALL, "-c", "SELECT k FROM t WHERE k = 9"]).out;
    assert_eq!(shown("csv"), "k,v\n1,a\n2,\n3,\"\"\nk\n");
    assert_eq!(shown("tsv"), "k\tv\n1\ta\n2\t\n3\t\"\"\nk\n");
    assert_eq!(shown("json"), "[{\"k\":1,\"v\":\"a\"},\n{\"k\":2,\"v\":null},\n{\"k\":3,\"v\":\"\"}]\n[]\n");
    assert_eq!(shown("jsonl"), "{\"k\":1,\"v\":\"a\"}\n{\"k\":2,\"v\":null}\n{\"k\":3,\"v\":\"\"}\n");
    assert_eq!(shown("markdown"), "| k | v |\n|---:|---|\n| 1 | a |\n| 2 |  |\n| 3 |  |\n| k |\n|---:|\n");
    assert_eq!(shown("line"), "k = 1\nv = a\n\nk = 2\nv = \n\nk = 3\nv = \n");
    assert_eq!(
        shown("table"),
        "+---+---+\n| k | v |\n+---+---+\n| 1 | a |\n| 2 |   |\n| 3 |   |\n+---+---+\n+---+\n| k |\n+---+\n+---+\n"
    );
    assert_eq!(
        shown("box"),
        "┌───┬───┐\n│ k │ v │\n├───┼───┤\n│ 1 │ a │\n│ 2 │   │\n│ 3 │   │\n└───┴───┘\n┌───┐\n│ k │\n├───┤\n└───┘\n"
    );
}

/// The lines of a plan are for people: no quotes around some of them. What programs read keeps its form.
#[test]
fn plans_are_plain_lines() {
    let explain = "EXPLAIN SELECT v FROM t WHERE k IN (1, 2) AND v = 'a,b'";
    let of = |mode: &[&str], sql: &str| run(&[mode, &["-c", TABLE, "-c", sql]].concat()).out;
    let plain = of(&[], explain);
    assert!(plain.starts_with("plan\nexecutor  direct\n"), "{plain}");
    assert!(plain.contains("\n  key       k IN (1, 2)  -- ") && plain.contains(" v = 'a,b'  -- "), "{plain}");
    assert!(!plain.contains('"'), "{plain}");
    for mode in ["csv", "tsv"] {
        assert_eq!(of(&["--mode", mode], explain), plain);
    }
    let json = of(&[], &explain.replacen("EXPLAIN", "EXPLAIN (FORMAT JSON)", 1));
    assert!(json.starts_with("plan\n\"{\"\"accesses"), "{json}");
    assert!(of(&[], "SHOW CREATE TABLE t").starts_with("create_table\n\"CREATE TABLE t"));
    assert!(of(&["--mode", "jsonl"], explain).starts_with("{\"plan\":\"executor"));
}

/// Nobody asks how wide a terminal is that is not there: the program `tput` would be started for it, twice for each result.
#[test]
#[cfg(target_os = "linux")]
fn a_batch_starts_no_program() {
    use std::os::unix::fs::PermissionsExt;
    let dir = Directory::new();
    let started = dir.path("started");
    let tput = dir.file("tput", &format!("#!/bin/sh\necho $$ >> '{started}'\necho 80\n"));
    std::fs::set_permissions(&tput, std::fs::Permissions::from_mode(0o755)).unwrap();
    let script = format!("{TABLE}\n{}SELECT nope FROM t;", "SELECT v FROM t WHERE k = 1;\n".repeat(20));
    let script = dir.file("s.sql", &script);
    // In a session of its own no terminal controls the process.
    let sessions = ["/usr/bin/setsid", "/bin/setsid"].into_iter().find(|path| Path::new(path).exists());
    for mode in ["csv", "box", "line"] {
        let mut command = Command::new(sessions.unwrap_or("/usr/bin/env"));
        command.args([env!("CARGO_BIN_EXE_saltwing"), "--mode", mode, "-f", &script]);
        let output =
            command.env("PATH", dir.path("")).env("RUST_BACKTRACE", "0").stdin(Stdio::null()).output().unwrap();
        let output = RunOutput::from(output);
        assert!(output.err.contains("no_such_column"), "{}", output.err);
        assert!(!Path::new(&started).exists(), "{mode}: {}", std::fs::read_to_string(&started).unwrap());
    }
}

/// A result begins when its first row is there: an error before it leaves nothing on stdout.
#[test]
fn an_error_before_the_first_row_prints_no_result() {
    for mode in ["csv", "tsv", "json", "jsonl", "markdown", "line", "table", "box"] {
        let output = run(&["--mode", mode, "-c", TABLE, "-c", "SELECT 1 / (k - 1) FROM t WHERE k > 0"]);
        assert_eq!((output.out.as_str(), output.code), ("", Some(1)), "{mode}: {}", output.err);
        assert!(output.err.contains("error[22012 division_by_zero]: "), "{mode}: {}", output.err);
    }
}

#[test]
fn commands_and_files_run_in_the_order_given() {
    let dir = Directory::new();
    let (make, more) = (dir.file("make.sql", TABLE), dir.file("more.sql", "UPSERT INTO t VALUES (4, 'd')"));
    let count = "SELECT COUNT(*) AS n FROM t WHERE k > 0";
    let output = run(&["-f", &make, "-c", count, "-f", &more, "-c", count]);
    expect(&output, "n\n3\nn\n4\n", "3 rows written\n1 row written\n", 0);
}

#[test]
fn it_stops_at_the_first_error() {
    let output = run(&["-c", TABLE, "-c", "SELECT nope FROM t WHERE k = 1; SELECT k FROM t WHERE k = 1", "-c", ALL]);
    assert_eq!((output.out.as_str(), output.code), ("", Some(1)));
    assert!(output.err.contains("error[42703 no_such_column]: "), "{}", output.err);
    assert!(output.err.contains("\n1 | SELECT nope FROM t WHERE k = 1;\n  |        ^^^^\n"), "{}", output.err);
}

#[test]
fn errors_know_the_line_of_their_file() {
    let dir = Directory::new();
    let file = dir.file(
        "q.sql",
        &format!("-- makes t\n{TABLE}\n\nSELECT k FROM t WHERE k = 1; SELECT v,\n  nope FROM t\nWHERE k = 1;"),
    );
    let output = run(&["-f", &file]);
    assert_eq!((output.out.as_str(), output.code), ("k\n1\n", Some(1)));
    assert!(output.err.contains(&format!("\n  --> {file}:6:3\n6 |   nope FROM t\n  |   ^^^^\n")), "{}", output.err);
    let output = run_with_input(&[], "SHOW TABLES;\nSHOW TABLES; SELEC 1;");
    assert!(
        output.err.contains("\n  --> stdin:2:14\n2 | SHOW TABLES; SELEC 1;\n  |              ^^^^^\n"),
        "{}",
        output.err
    );
    let output = run_with_input(&[], "\n\n.mode xml\n");
    assert_eq!((output.err.contains("(stdin:3)"), output.code), (true, Some(1)), "{}", output.err);
}

#[test]
fn a_refusal_has_its_code_and_its_help() {
    let output = run(&["-c", TABLE, "-c", "SELECT * FROM t WHERE v = 'a'"]);
    assert_eq!(output.code, Some(1));
    assert!(output.err.contains("error[54F01 full_scan_refused]: "), "{}", output.err);
    assert!(output.err.contains("\n  help: "), "{}", output.err);
    assert!(!output.err.contains('\x1b'), "a batch has no colours");
    for (policy, code) in [("allow", 0), ("warn", 0), ("error", 1), ("forbid", 1)] {
        let output = run(&["--full-scan", policy, "-c", TABLE, "-c", "SELECT /*+ SMALL */ k FROM t WHERE v = 'a'"]);
        assert_eq!(output.code, Some(code), "{policy}: {}", output.err);
        assert_eq!(output.err.contains("notice: "), policy == "warn", "{}", output.err);
    }
    let output =
        run(&["--full-scan", "forbid", "-c", TABLE, "-c", "SELECT /*+ FULL_SCAN(t) */ k FROM t WHERE v = 'a'"]);
    assert_eq!(output.code, Some(1));
}

#[test]
fn stdin_is_a_batch_and_copy_finds_its_data_there() {
    let output = run_with_input(&["--mode", "json"], &format!("{TABLE}\n.mode csv\n{ALL};\n.quit\nSELEC"));
    expect(&output, "k,v\n1,a\n2,\n3,\"\"\n", "3 rows written\n", 0);
    let copy =
        "CREATE TABLE c (k INTEGER NOT NULL PRIMARY KEY, v VARCHAR);\nCOPY c FROM STDIN WITH (FORMAT csv);\n1,x\n2,\n";
    let dir = Directory::new();
    let output = run_with_input(&[&dir.path("db")], copy);
    expect(&output, "", "2 rows written\n", 0);
    let output = run_with_input(&[&dir.path("db"), "-c", "COPY c FROM STDIN WITH (FORMAT csv)"], "3,y\n");
    expect(&output, "", "1 row written\n", 0);
    let output = run(&[&dir.path("db"), "-c", "SELECT * FROM c WHERE k >= 1"]);
    expect(&output, "k,v\n1,x\n2,\n3,y\n", "", 0);
    let output = run(&[
        &dir.path("db"),
        "-c",
        "COPY c TO STDOUT WITH (FORMAT csv, HEADER)",
        "-c",
        "SELECT k FROM c WHERE k = 1",
    ]);
    expect(&output, "k,v\n1,x\n2,\n3,y\nk\n1\n", "3 rows written\n", 0);
}

#[test]
fn the_log_tells_statements_and_what_becomes_of_them() {
    let run_logged = |filter: &str| {
        let statements =
            [TABLE, "UPSERT INTO t VALUES (1, 'a')", "SELECT v FROM t WHERE k < 2", "COMPACT t", "SELECT w FROM t"];
        let mut args = vec!["--log", filter];
        statements.iter().for_each(|sql| args.extend(["-c", *sql]));
        let output = run(&args);
        assert_eq!((output.out.as_str(), output.code), ("v\na\n", Some(1)), "{}", output.err);
        output.err
    };
    let all = run_logged("saltwing=debug");
    for part in [
        "statement{sql=\"UPSERT INTO t VALUES (1, 'a')\"}:commit{rows=1 durability=Synced}: saltwing::commit: close",
        "statement{sql=\"SELECT v FROM t WHERE k < 2\"}:plan: saltwing::plan: close",
        "statement{sql=\"SELECT v FROM t WHERE k < 2\"}:scan{table=t",
        "statement{sql=\"COMPACT t\"}:compaction{table=t reason=None}: saltwing::compaction: close",
        "statement{sql=\"SELECT w FROM t\"}: saltwing::statement: the statement failed code=\"no_such_column\" error=",
    ] {
        assert!(all.contains(part), "{part}\n{all}");
    }
    let commits = run_logged("saltwing::commit=debug");
    assert!(commits.contains("saltwing::commit: close") && !commits.contains("saltwing::statement"), "{commits}");
    assert!(!run_logged("error").contains("close"));
    let wrong = run(&["--log", "saltwing=loud", "-c", "SHOW TABLES"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.err.contains("--log <FILTER>"), "{}", wrong.err);
}

/// Lines of CSV with keys from 0 on and texts that no compression makes shorter.
fn noise(rows: u64, text_bytes: usize) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut state = 1u64;
    let mut letter = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(LETTERS[(state >> 58) as usize])
    };
    (0..rows).map(|k| format!("{k},{}\n", (0..text_bytes).map(|_| letter()).collect::<String>())).collect()
}

/// Changes a byte of a text wherever a closed database has stored it.
fn damage(db: &str, text: &str) {
    let pages = Path::new(db).join("data/pages");
    let mut bytes = std::fs::read(&pages).unwrap();
    let found: Vec<usize> = bytes
        .windows(text.len())
        .enumerate()
        .filter(|(_, found)| *found == text.as_bytes())
        .map(|(at, _)| at)
        .collect();
    assert!(!found.is_empty(), "{text} is nowhere in the pages");
    found.into_iter().for_each(|at| bytes[at] ^= 1);
    std::fs::write(&pages, bytes).unwrap();
}

/// A merge in the background that meets a damaged block leaves it as it is, and the log tells it.
#[test]
fn the_log_reports_a_damaged_block_that_a_merge_meets() {
    let dir = Directory::new();
    let db = dir.path("db");
    let lines = noise(6000, 300);
    let copy = format!("COPY t FROM '{}'", dir.file("t.csv", &lines));
    let table = "CREATE TABLE t (k BIGINT NOT NULL PRIMARY KEY, v VARCHAR)";
    let made = run(&[&db, "-c", table, "-c", &copy, "-c", "COMPACT t"]);
    assert_eq!(made.code, Some(0), "{}", made.err);
    // Opening does not read this byte, which lies in the middle of the stored blocks; a merge does.
    let line = lines.lines().nth(3000).unwrap();
    damage(&db, &line[line.len() - 12..]);
    // Each statement fills the memtable. From the second on it waits for the merge of the first.
    let output = run(&[&db, "--log", "error", "--delta-mb", "1", "-c", &copy, "-c", &copy, "-c", &copy]);
    let report = output.err.lines().find(|line| line.contains("a block is damaged"));
    let report = report.unwrap_or_else(|| panic!("no line of a damaged block in\n{}", output.err));
    assert!(report.contains("ERROR"), "{report}");
}

#[test]
fn lines_that_copy_leaves_out_are_reported() {
    let output = run_with_input(
        &[
            "-c",
            "CREATE TABLE c (k INTEGER NOT NULL PRIMARY KEY)",
            "-c",
            "COPY c FROM STDIN WITH (FORMAT csv) ON ERROR SKIP",
        ],
        "1\nx\n",
    );
    assert_eq!(output.code, Some(0), "{}", output.err);
    assert!(output.err.contains("notice: line 2: column k: "), "{}", output.err);
    assert!(output.err.ends_with("1 row written\n"), "{}", output.err);
}

#[test]
fn a_quote_that_is_never_closed_takes_no_other_line_with_it() {
    let dir = Directory::new();
    let file = dir.file("c.csv", "1,a\n3,c\n7,\"a\n8,b\n");
    let copy = |options: &str| {
        run(&[
            "-c",
            "CREATE TABLE c (k INTEGER NOT NULL PRIMARY KEY, v VARCHAR)",
            "-c",
            &format!("COPY c FROM '{file}' {options}"),
            "-c",
            "SELECT * FROM c WHERE k > 0",
        ])
    };
    let notices = "notice: 1 line was left out\nnotice: line 3: a quote is never closed\n3 rows written\n";
    expect(&copy("ON ERROR SKIP"), "k,v\n1,a\n3,c\n8,b\n", notices, 0);
    let output = copy("");
    let text = format!("error[22P02 bad_text]: {file}, line 3: a quote is never closed");
    assert!(output.err.starts_with(&text), "{}", output.err);
    let output = copy("DELIMITER '\"'");
    assert!(output.err.starts_with("error[42601 syntax]: DELIMITER and QUOTE are both '\"'"), "{}", output.err);
}

#[test]
fn a_database_stays_and_knows_its_store() {
    let dir = Directory::new();
    let db = dir.path("db");
    assert_eq!(run(&[&db, "--store", "redb", "-c", TABLE]).code, Some(0));
    expect(&run(&[&db, "-c", "SELECT v FROM t WHERE k = 1"]), "v\na\n", "", 0);
    let output = run(&[&db, "--store", "sled", "-c", ALL]);
    assert_eq!(output.code, Some(1));
    assert!(output.err.starts_with("error["), "{}", output.err);
    expect(&run(&[":memory:", "-c", "SHOW TABLES"]), "table_schema,table_name\n", "", 0);
}

#[test]
fn readonly_refuses_writes() {
    let dir = Directory::new();
    let db = dir.path("db");
    assert_eq!(run(&[&db, "-c", TABLE]).code, Some(0));
    let output = run(&[&db, "--readonly", "-c", "SELECT v FROM t WHERE k = 1", "-c", "DELETE FROM t WHERE k = 1"]);
    assert_eq!((output.out.as_str(), output.code), ("v\na\n", Some(1)));
    assert!(output.err.starts_with("error[25006 read_only]: "), "{}", output.err);
    assert_eq!(run(&[&dir.path("none"), "--readonly", "-c", "SHOW TABLES"]).code, Some(1));
}

/// A reader deletes its temporary directory when it ends.
#[test]
fn readonly_leaves_nothing_behind() {
    let dir = Directory::new();
    let (db, temporary) = (dir.path("db"), dir.path("temporary"));
    assert_eq!(run(&[&db, "-c", TABLE]).code, Some(0));
    std::fs::create_dir(&temporary).unwrap();
    for arguments in [&[&db, "--readonly", "-c", ALL][..], &["check", &db], &["backup", &db, &dir.path("copy")]] {
        let output = command(arguments).env("TMPDIR", &temporary).stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0, "{arguments:?}");
    }
}

#[test]
fn a_batch_without_its_commit_says_so() {
    let dir = Directory::new();
    let db = dir.path("db");
    assert_eq!(run(&[&db, "-c", TABLE]).code, Some(0));
    let write = "BEGIN; UPSERT INTO t VALUES (4, 'd');";
    let missing = "1 row written\nnotice: the open transaction is rolled back: COMMIT was missing\n";
    expect(&run(&[&db, "-c", write]), "", missing, 0);
    let failed = run(&[&db, "-c", "BEGIN; UPSERT INTO t VALUES (4, 'd'); SELECT nothing FROM t; COMMIT"]);
    assert!(failed.err.ends_with("notice: the failed transaction is rolled back\n"), "{}", failed.err);
    let read = "BEGIN READ ONLY; SELECT k FROM t WHERE k = 4; ROLLBACK";
    expect(&run(&[&db, "-c", read]), "k\n", "", 0);
    expect(&run(&[&db, "-c", &format!("{write} COMMIT")]), "", "1 row written\n", 0);
    expect(&run(&[&db, "-c", read]), "k\n4\n", "", 0);
}

#[test]
fn access_to_files_can_be_taken_away() {
    let dir = Directory::new();
    let (db, file, new) = (dir.path("db"), dir.file("t.csv", "7,x\n"), dir.path("new.csv"));
    assert_eq!(run(&[&db, "-c", TABLE]).code, Some(0));
    for statement in [format!("COPY t FROM '{file}'"), format!("COPY t TO '{new}'")] {
        let output = run(&[&db, "--no-file-access", "-c", &statement]);
        assert!(output.err.starts_with("error[42501 file_access_refused]: "), "{}", output.err);
    }
    assert_eq!(run(&[&db, "--no-file-access", "-c", &format!(".read {file}")]).code, Some(1));
    assert!(!std::path::Path::new(&new).exists());
    for stdin in ["STDIN", "'/dev/stdin'"] {
        let copy = format!("COPY t FROM {stdin};\n8,y\n");
        expect(&run_with_input(&[&db, "--no-file-access"], &copy), "", "1 row written\n", 0);
    }
    let output = run(&[&db, "--no-file-access", "-c", "COPY t TO '/dev/stdout'"]);
    expect(&output, "1,a\n2,\n3,\"\"\n8,y\n", "4 rows written\n", 0);
    let output = run(&[&db, "--readonly", "-c", &format!("COPY t TO '{new}'")]);
    assert!(output.err.starts_with("error[25006 read_only]: "), "{}", output.err);
}

#[test]
fn what_cannot_be_opened_is_refused_with_its_code() {
    let dir = Directory::new();
    dir.file("file", "text");
    std::fs::create_dir(dir.path("other")).unwrap();
    dir.file("other/thing", "text");
    for name in ["file", "other", "missing/parent/db"] {
        let output = run(&[&dir.path(name), "-c", "SHOW TABLES"]);
        assert_eq!((output.out.as_str(), output.code), ("", Some(1)), "{name}");
        assert!(output.err.starts_with("error[58030 io]: "), "{}", output.err);
    }
    let output = run(&["-c", "SHOW TABLES", "-f", &dir.path("none.sql")]);
    assert_eq!((output.out.as_str(), output.code), ("table_schema,table_name\n", Some(1)));
    assert!(output.err.contains("none.sql cannot be read: "), "{}", output.err);
}

#[test]
fn a_second_process_is_refused_because_the_database_is_open() {
    let dir = Directory::new();
    let db = dir.path("db");
    let mut first = command(&[&db]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = first.stdin.take().unwrap();
    input.write_all(b"SHOW TABLES;\n").unwrap();
    // Its first result says that it is open.
    first.stdout.as_mut().unwrap().read_exact(&mut [0; 12]).unwrap();
    let output = run(&[&db, "-c", "SHOW TABLES"]);
    assert_eq!(output.code, Some(1));
    assert!(output.err.starts_with("error[55P03 locked]: "), "{}", output.err);
    drop(input);
    assert!(first.wait().unwrap().success());
}

#[test]
fn results_come_while_input_goes_on() {
    let mut child = command(&[]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut out = child.stdout.take().unwrap();
    for _ in 0..2 {
        input.write_all(b"SHOW TABLES;\n").unwrap();
        let mut line = [0; 24];
        out.read_exact(&mut line).unwrap();
        assert_eq!(&line, b"table_schema,table_name\n");
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}

/// A script that makes a table with far more in it than a pipe holds.
fn long_table(dir: &Directory) -> String {
    let rows: Vec<String> = (0..2000).map(|k| format!("({k}, '{}')", "x".repeat(500))).collect();
    let text = format!("{TABLE}\nUPSERT INTO t VALUES {};\n", rows.join(","));
    dir.file("long.sql", &text)
}

#[test]
fn a_reader_that_leaves_ends_it_quietly() {
    let dir = Directory::new();
    let file = long_table(&dir);
    for last in [ALL, "COPY t TO STDOUT WITH (FORMAT csv)"] {
        let mut child = command(&["-f", &file, "-c", last])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = child.stdout.take().unwrap();
        out.read_exact(&mut [0; 4]).unwrap();
        drop(out);
        let output = RunOutput::from(child.wait_with_output().unwrap());
        assert_eq!((output.err.contains("error"), output.code), (false, Some(0)), "{}", output.err);
    }
}

/// What waits for bytes that never come is stopped as any other statement.
#[test]
fn a_copy_that_waits_for_input_can_be_stopped() {
    for copy in ["COPY t FROM STDIN", "COPY t FROM '/dev/stdin'"] {
        let args = ["-c", TABLE, "-c", "SET statement_timeout = '100 ms'", "-c", copy];
        let mut child = command(&args).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(b"1,one\n2,tw").unwrap();
        let output = RunOutput::from(child.wait_with_output().unwrap());
        assert!(output.err.contains("statement_timeout"), "{}", output.err);
        assert_eq!(output.code, Some(1), "{copy}");
        drop(input);
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_batch() {
    let dir = Directory::new();
    let file = long_table(&dir);
    // Waiting for input, and inside a statement whose rows no one reads.
    for args in [vec![], vec!["-f", &file, "-c", ALL]] {
        let mut child =
            command(&args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(b"SHOW TABLES;\n").unwrap();
        child.stdout.as_mut().unwrap().read_exact(&mut [0; 4]).unwrap();
        let id = child.id().to_string();
        let status = loop {
            assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            std::thread::yield_now();
        };
        assert_eq!(status.code(), Some(130), "{args:?}");
    }
}

#[test]
fn usage_errors_exit_with_two() {
    for args in [vec!["--mode", "xml"], vec!["--nope"], vec!["a", "b"], vec!["-c"], vec!["--store", "redb"]] {
        let output = run(&args);
        assert_eq!((output.out.as_str(), output.code), ("", Some(2)), "{args:?}");
        assert!(output.err.starts_with("error: "), "{}", output.err);
    }
}

#[test]
fn words_are_subcommands_and_paths_are_databases() {
    for word in ["check", "backup", "restore", "salvage"] {
        let output = run(&[word]);
        assert_eq!((output.out.as_str(), output.code), ("", Some(2)), "{word} needs its directories");
    }
    let dir = Directory::new();
    let output: RunOutput = command(&["./check", "-c", "SHOW TABLES"])
        .current_dir(dir.0.path())
        .stdin(Stdio::null())
        .output()
        .unwrap()
        .into();
    expect(&output, "table_schema,table_name\n", "", 0);
    assert!(PathBuf::from(dir.path("check")).is_dir());
}

#[test]
fn a_backup_comes_back_and_nothing_is_written_over() {
    let dir = Directory::new();
    let (db, backup, restored) = (dir.path("db"), dir.path("backup"), dir.path("restored"));
    expect(&run(&[&db, "-c", TABLE]), "", "3 rows written\n", 0);
    let output = run(&["backup", &db, &backup]);
    assert_eq!((output.err.as_str(), output.code), ("", Some(0)));
    assert!(output.out.ends_with(&format!("bytes are in {backup}\n")), "{}", output.out);
    expect(&run(&["restore", &backup, &restored]), &format!("{backup} is in {restored}\n"), "", 0);
    expect(&run(&[&restored, "-c", ALL]), "k,v\n1,a\n2,\n3,\"\"\n", "", 0);
    for (word, from, to) in [("backup", &db, &backup), ("backup", &db, &db), ("restore", &backup, &restored)] {
        let output = run(&[word, from, to]);
        assert_eq!((output.out.as_str(), output.code), ("", Some(1)), "{word}");
        assert!(output.err.starts_with("error["), "{}", output.err);
    }
    let mut bytes = std::fs::read(format!("{backup}/entries")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(format!("{backup}/entries"), bytes).unwrap();
    let output = run(&["restore", &backup, &dir.path("other")]);
    assert_eq!((output.out.as_str(), output.code), ("", Some(1)));
    assert!(
        output.err.starts_with("error[XX001 corrupt]") && !PathBuf::from(dir.path("other")).exists(),
        "{}",
        output.err
    );
    let output = run(&[&db, "-c", &format!("BACKUP TO '{}'", dir.path("by_sql"))]);
    assert_eq!((output.out.as_str(), output.code), ("", Some(0)), "{}", output.err);
    let output = run(&[&db, "--readonly", "-c", &format!("BACKUP TO '{}'", dir.path("readonly"))]);
    assert!(output.err.starts_with("error[25006 read_only]"), "{}", output.err);
}

#[test]
fn a_sound_database_is_found_sound_and_nothing_is_lost_of_it() {
    let dir = Directory::new();
    let (db, saved) = (dir.path("db"), dir.path("saved"));
    expect(&run(&[&db, "-c", TABLE, "-c", "COMPACT t"]), "", "3 rows written\n", 0);
    let output = run(&["check", &db]);
    assert_eq!((output.err.as_str(), output.code), ("", Some(0)));
    assert!(output.out.starts_with("1 table, 3 rows, ") && output.out.ends_with(": no fault\n"), "{}", output.out);
    let report = format!("saved: t, 3 rows\n1 table, 3 rows in {saved}: nothing is lost\n");
    expect(&run(&["salvage", &db, &saved]), &report, "", 0);
    expect(&run(&[&saved, "-c", ALL]), "k,v\n1,a\n2,\n3,\"\"\n", "", 0);
    let output = run(&["check", &dir.path("nothing")]);
    assert_eq!((output.out.as_str(), output.code), ("", Some(1)));
}

/// A byte of a block is another one: the check names table and block, and the salvage loses its rows alone.
#[test]
fn a_damaged_block_is_reported_and_the_rest_is_saved() {
    let dir = Directory::new();
    let (db, saved) = (dir.path("db"), dir.path("saved"));
    let lines = noise(4000, 32);
    let copy = format!("COPY t FROM '{}'", dir.file("t.csv", &lines));
    let output =
        run(&[&db, "-c", "CREATE TABLE t (k BIGINT NOT NULL PRIMARY KEY, v VARCHAR)", "-c", &copy, "-c", "COMPACT t"]);
    assert_eq!(output.code, Some(0), "{}", output.err);
    let line = lines.lines().nth(2000).unwrap();
    damage(&db, &line[line.len() - 12..]);
    let output = run(&["check", &db]);
    assert_eq!((output.err.as_str(), output.code), ("", Some(1)));
    assert!(output.out.contains("fault: t: ") && output.out.contains("rows are lost, keys from ("), "{}", output.out);
    assert_eq!(run(&["backup", &db, &dir.path("backup")]).code, Some(1), "damage is not backed up");
    assert!(!PathBuf::from(dir.path("backup")).exists());
    let output = run(&["salvage", &db, &saved]);
    assert_eq!((output.err.as_str(), output.code), ("", Some(3)));
    assert!(output.out.contains("lost: t: "), "{}", output.out);
    let rows: u64 =
        run(&[&saved, "-c", "SELECT count(*) FROM t WHERE k >= 0"]).out.lines().nth(1).unwrap().parse().unwrap();
    assert!((3000..4000).contains(&rows), "{rows}");
    assert!(run(&["check", &saved]).out.ends_with(": no fault\n"));
}

#[test]
fn help_and_version_go_to_stdout() {
    let output = run(&["--version"]);
    expect(&output, &format!("saltwing {}\n", env!("CARGO_PKG_VERSION")), "", 0);
    let output = run(&["--help"]);
    assert_eq!((output.err.as_str(), output.code), ("", Some(0)));
    for word in ["--store", "--mode", "--readonly", "--full-scan", "demo", "-c", "-f"] {
        assert!(output.out.contains(word), "{word}");
    }
}

#[test]
fn dot_commands_work_in_scripts() {
    let dir = Directory::new();
    let file = dir.file("make.sql", TABLE);
    let script = format!(
        ".read {file}\n.tables\n\\d t\n.schema\n.mode line\n.nullvalue (null)\nSELECT v FROM t WHERE k = 2;\n.mode\n.timing on\n"
    );
    let output = run_with_input(&[], &script);
    assert_eq!(output.code, Some(0), "{}", output.err);
    assert!(
        output.out.starts_with("table_schema,table_name\n,t\nname,type,nullable,key,default,note\nk,INTEGER,no,1,,\n"),
        "{}",
        output.out
    );
    assert!(output.out.contains("CREATE TABLE t (\n    k INTEGER NOT NULL,\n"), "{}", output.out);
    assert!(output.out.ends_with(");\nv = (null)\nline\n"), "{}", output.out);
    let output = run(&["-c", TABLE, "-c", ".timing on", "-c", "SELECT k FROM t WHERE k >= 2"]);
    assert_eq!(output.out, "k\n2\n3\n");
    assert!(output.err.contains("2 rows, ") && output.err.ends_with(", 2 keys read, 1 bucket\n"), "{}", output.err);
    let output = run(&["-c", ".read none.sql"]);
    assert_eq!(output.code, Some(1));
    assert!(Path::new(&file).exists());
}

#[test]
fn definitions_that_are_shown_make_the_same_objects() {
    let dir = Directory::new();
    let make = "CREATE TABLE \"My T\" (a VARCHAR NOT NULL, b DECIMAL(5,2) NOT NULL, c DATE, d BIGINT DEFAULT NEXT VALUE FOR app.\"No.\", CONSTRAINT pk PRIMARY KEY (a, b DESC)) SALT_BUCKETS = 4";
    let sequence = "CREATE SEQUENCE app.\"No.\" INCREMENT BY -1 MAXVALUE 9 CYCLE";
    let first = run(&["-c", sequence, "-c", make, "-c", ".schema"]);
    assert_eq!(first.code, Some(0), "{}", first.err);
    let file = dir.file("schema.sql", &first.out);
    let second = run(&["-f", &file, "-c", ".schema"]);
    expect(&second, &first.out, "", 0);
}

/// The tour, in a temporary directory of its own.
fn demo(dir: &Directory) -> Command {
    let mut command = command(&["demo"]);
    command.env("TMPDIR", dir.0.path()).env("TMP", dir.0.path()).env("TEMP", dir.0.path()).stdin(Stdio::null());
    command
}

#[test]
fn the_demo_tells_its_story_and_leaves_nothing() {
    let dir = Directory::new();
    let output = RunOutput::from(demo(&dir).output().unwrap());
    assert_eq!((output.err.as_str(), output.code), ("", Some(0)));
    for part in [
        "saltwing> CREATE TABLE mobile_log (\n",
        "\n3,840 rows written, ",
        "\n1 row, ",
        ", 1 key read, 1 bucket\n",
        "\n8 rows, ",
        ", 8 keys read, 1 bucket\n",
        "\nerror[54F01 full_scan_refused]: ",
        "\n  help: add a condition on phone_no",
        ", 32 keys read, 1 bucket\n",
        "\nrange of mobile_log, key (SUBSTR(MD5(phone_no), 1, 3), phone_no, start_time, id)\n",
    ] {
        assert!(output.out.contains(part), "{part:?} is not in:\n{}", output.out);
    }
    assert_eq!(output.out.matches("error[").count(), 1, "one refusal, and no error:\n{}", output.out);
    let wide = output.out.lines().filter(|line| line.chars().count() > 80 && !line.contains("saltwing-demo-"));
    // What the library says is broken into lines on a terminal only.
    let librarys = ["help: ", "error[", "range of ", ", which fixes "];
    assert_eq!(wide.filter(|line| !librarys.iter().any(|part| line.contains(part))).count(), 0, "{}", output.out);
    assert!(!output.out.contains('\x1b'), "a file takes no colours");
    assert_eq!(std::fs::read_dir(dir.0.path()).unwrap().count(), 0, "the temporary directory is gone");
}

#[test]
fn the_demo_ends_quietly_when_no_one_reads_it() {
    let dir = Directory::new();
    let mut child = demo(&dir).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = RunOutput::from(child.wait_with_output().unwrap());
    assert_eq!((output.err.as_str(), output.code), ("", Some(0)));
    assert_eq!(std::fs::read_dir(dir.0.path()).unwrap().count(), 0);
}

#[test]
fn parameters_have_values() {
    let script = ".param set :x 7\n.param set ?1 'h'\n.param list\nSELECT :x + 1 AS a;\nSELECT ? || 'i' AS b;\n.param clear :x\nSELECT :x;\n";
    let output = run_with_input(&[], script);
    assert_eq!((output.out.as_str(), output.code), (":x 7\n?1 'h'\na\n8\nb\nhi\n", Some(1)), "{}", output.err);
    assert!(output.err.starts_with("error[08P01 bad_parameter]"), "{}", output.err);
    assert!(output.err.contains("help: .param set ?1 VALUE"), "{}", output.err);
}

#[test]
fn errors_are_data_in_the_modes_for_programs() {
    for mode in ["json", "jsonl"] {
        let output = run(&["--mode", mode, "-c", TABLE, "-c", "SELECT k FROM t WHERE v = 'a'"]);
        assert!(output.err.contains("error[54F01 full_scan_refused]"), "{}", output.err);
        let line = output.err.lines().last().unwrap_or_default();
        let parsed: serde_json::Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let error = &parsed["error"];
        assert_eq!((error["code"].as_str(), error["table"].as_str()), (Some("full_scan_refused"), Some("t")), "{line}");
        let output = run(&["--mode", mode, "-c", "SELECT * FROM nothing"]);
        assert!(output.err.contains("\"phoenix_code\":1012") && !output.err.contains("Phoenix"), "{}", output.err);
    }
}
