//! Texts that COPY and `FROM 'file'` read and write, to the last byte: empty lines, byte order marks, headers, digits.

use std::fs;
use std::path::PathBuf;

use saltwing::blocking::Connection;
use saltwing::{Database, ErrorCode};
use tempfile::TempDir;

use crate::{code, texts};

struct Files {
    folder: TempDir,
    connection: Connection,
}

impl Files {
    fn new(tables: &str) -> Self {
        let connection = Database::memory().unwrap().connect().blocking();
        connection.execute_batch(tables).unwrap();
        Self { folder: tempfile::tempdir().unwrap(), connection }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file; its name in quotes.
    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        fs::write(self.path(name), content).unwrap();
        format!("'{}'", self.path(name).display())
    }

    fn run(&self, sql: &str) -> u64 {
        self.connection.execute(sql, ()).unwrap_or_else(|error| panic!("{sql}: {error}")).rows_affected
    }

    fn rows(&self, sql: &str) -> Vec<String> {
        texts(&self.connection, sql).unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    fn error(&self, sql: &str) -> (ErrorCode, String) {
        let error = self.connection.execute(sql, ()).err().unwrap_or_else(|| panic!("{sql} worked"));
        (error.code(), format!("{error}\n{}", error.help().unwrap_or_default()))
    }

    fn notices(&self, sql: &str) -> Vec<String> {
        self.connection.execute(sql, ()).unwrap().notices
    }
}

#[test]
fn null_in_one_column_comes_back() {
    for (name, options) in
        [("v.csv", "(HEADER)"), ("v.csv", ""), ("v.tsv", ""), ("v.csv.gz", "(HEADER)"), ("v.jsonl", "")]
    {
        for ty in ["INTEGER", "VARCHAR"] {
            let files = Files::new(&format!("CREATE TABLE s (k INTEGER PRIMARY KEY, v {ty}); CREATE TABLE d (v {ty})"));
            files.run("INSERT INTO s VALUES (1, NULL), (2, '10'), (3, NULL), (4, '30'), (5, NULL)");
            if ty == "VARCHAR" {
                files.run("INSERT INTO s VALUES (6, '')");
            }
            let path = files.path(name);
            let query = "SELECT v FROM s WHERE k > 0 ORDER BY k";
            let count = files.run(&format!("COPY ({query}) TO '{}' {options}", path.display()));
            assert_eq!(
                files.run(&format!("COPY d FROM '{}' {options}", path.display())),
                count,
                "{name} {options} {ty}"
            );
            let mut expected = files.rows(query);
            expected.sort();
            let mut found = files.rows("SELECT /*+ FULL_SCAN */ v FROM d");
            found.sort();
            assert_eq!(found, expected, "{name} {options} {ty}");
            let column = if name.contains("json") || options.contains("HEADER") { "v" } else { "column0" };
            let counted = format!("SELECT count(*), count(*) - count({column}) FROM '{}'", path.display());
            assert_eq!(files.rows(&counted), [format!("{count}|3")], "{name} {options} {ty}");
        }
    }
}

#[test]
fn an_empty_line_is_no_row_of_several_columns_and_no_key() {
    let files = Files::new(
        "CREATE TABLE t (k INTEGER NOT NULL PRIMARY KEY, v INTEGER); CREATE TABLE o (k INTEGER NOT NULL PRIMARY KEY)",
    );
    let pairs = files.file("pairs.csv", "1,10\n\n2,20\r\n\r\n3,30");
    assert_eq!(files.run(&format!("COPY t FROM {pairs}")), 3);
    assert_eq!(files.rows(&format!("SELECT count(*) FROM {pairs}")), ["3"]);
    let keys = files.file("keys.csv", "1\n\n2\n");
    let (code, text) = files.error(&format!("COPY o FROM {keys}"));
    assert!(code == ErrorCode::NotNull && text.contains("line 2"), "{text}");
    // Behind the last line end there is no line.
    assert_eq!(files.run(&format!("COPY o FROM {}", files.file("ends.csv", "1\n2\n"))), 2);
    // Another text for NULL leaves the empty line an empty text.
    let files = Files::new("CREATE TABLE d (v VARCHAR)");
    let named = files.file("named.csv", "a\n\nNA\n");
    assert_eq!(files.run(&format!("COPY d FROM {named} (NULL 'NA')")), 3);
    assert_eq!(files.rows("SELECT /*+ FULL_SCAN */ count(*), count(v) FROM d"), ["3|2"]);
}

#[test]
fn a_byte_order_mark_belongs_to_no_value() {
    let files = Files::new(
        "CREATE TABLE t (k VARCHAR NOT NULL PRIMARY KEY, v INTEGER); CREATE TABLE i (k INTEGER NOT NULL PRIMARY KEY, v VARCHAR)",
    );
    let mark = "\u{feff}";
    let texts = files.file("texts.csv", format!("{mark}a,1\nb,2\n"));
    assert_eq!(files.run(&format!("COPY t FROM {texts}")), 2);
    assert_eq!(files.rows("SELECT length(k) FROM t WHERE k = 'a'"), ["1"]);
    let numbers = files.file("numbers.csv", format!("{mark}1,a\n2,b\n"));
    assert_eq!(files.run(&format!("COPY i FROM {numbers}")), 2);
    assert_eq!(files.rows(&format!("SELECT * FROM {numbers}")), ["1|a", "2|b"]);
    let named = files.file("named.csv", format!("{mark}\"k\",v\n3,c\n"));
    assert_eq!(files.run(&format!("COPY i FROM {named} (HEADER)")), 1);
    assert_eq!(files.rows(&format!("SELECT k FROM {named}")), ["3"]);
    let lines = files.file("lines.jsonl", format!("{mark}{{\"k\": 4, \"v\": \"d\"}}\n"));
    assert_eq!(files.run(&format!("COPY i FROM {lines}")), 1);
    assert_eq!(files.rows(&format!("SELECT k FROM {lines}")), ["4"]);
    // A value of ours that begins with the mark comes back.
    files.run(&format!("UPSERT INTO t VALUES ('{mark}z', 3)"));
    let path = files.path("ours.csv");
    files.run(&format!("COPY (SELECT k, v FROM t WHERE k > 'z') TO '{}'", path.display()));
    files.run("DELETE FROM t WHERE k > 'z'");
    assert_eq!(files.run(&format!("COPY t FROM '{}'", path.display())), 1);
    assert_eq!(files.rows("SELECT length(k) FROM t WHERE k > 'z'"), ["2"]);
}

#[test]
fn utf16_and_single_carriage_returns_are_refused() {
    let files = Files::new("CREATE TABLE t (k VARCHAR NOT NULL PRIMARY KEY, v VARCHAR)");
    let utf16: Vec<u8> = "k,v\na,b\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for content in [[&b"\xff\xfe"[..], &utf16].concat(), utf16, b"k,v\ra,b\r".to_vec()] {
        let file = files.file("f.csv", &content);
        for sql in [format!("COPY t FROM {file}"), format!("CREATE TABLE u PRIMARY KEY (k) AS SELECT * FROM {file}")] {
            let (code, text) = files.error(&sql);
            assert!(code == ErrorCode::BadText && text.contains("it is no CSV"), "{text}");
        }
    }
}

#[test]
fn found_types_keep_all_digits() {
    let files = Files::new("");
    let zip = files.file("zip.csv", "zip,n\n01000,1\n94107,2\n");
    assert_eq!(files.rows(&format!("SELECT * FROM {zip}")), ["01000|1", "94107|2"]);
    let phone = files.file("phone.csv", "phone,n\n+4930123,1\n+4940123,2\n");
    assert_eq!(files.rows(&format!("SELECT phone FROM {phone}")), ["+4930123", "+4940123"]);
    let ids = files.file("ids.csv", "id,n\n12345678901234567890,1\n12345678901234567891,2\n");
    assert_eq!(files.rows(&format!("SELECT id FROM {ids}")), ["12345678901234567890", "12345678901234567891"]);
    let lines = files.file("ids.jsonl", "{\"id\": 12345678901234567890}\n{\"id\": 12345678901234567891}\n");
    assert_eq!(files.rows(&format!("SELECT count(DISTINCT id) FROM {lines}")), ["2"]);
    files.run(&format!("CREATE TABLE z PRIMARY KEY (zip) AS SELECT * FROM {zip}"));
    assert_eq!(files.rows("SELECT n FROM z WHERE zip = '01000'"), ["1"]);
    files.run(&format!("CREATE TABLE i PRIMARY KEY (id) AS SELECT * FROM {ids}"));
    assert_eq!(files.rows("SELECT n FROM i WHERE id = 12345678901234567891"), ["2"]);
    // Without names no first row is lost.
    let bare = files.file("bare.csv", "01000,x\n94107,y\n");
    assert_eq!(files.rows(&format!("SELECT * FROM {bare}")), ["01000|x", "94107|y"]);
}

#[test]
fn a_later_value_that_its_type_does_not_keep_is_an_error() {
    let mut text = "k,v\n".to_owned();
    (0..25_000).for_each(|k| text.push_str(&format!("{k},{}\n", if k == 24_000 { "0100" } else { "7" })));
    let files = Files::new("CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR)");
    let late = files.file("late.csv", text);
    let error = texts(&files.connection, &format!("SELECT sum(v) FROM {late}")).unwrap_err();
    assert!(error.to_string().contains("line 24002, column v: BIGINT does not keep '0100'"), "{error}");
    assert_eq!(files.run(&format!("COPY t FROM {late} (HEADER)")), 25_000);
}

#[test]
fn headers_of_other_programs_are_headers() {
    let files = Files::new("");
    let pandas = files.file("pandas.csv", ",a,b\n0,1,2.5\n1,3,4.5\n");
    assert_eq!(
        files.rows(&format!("SELECT column0, sum(a), sum(b) FROM {pandas} GROUP BY column0 ORDER BY 1")),
        ["0|1|2.5", "1|3|4.5"]
    );
    let repeated = files.file("repeated.csv", "id,a,a\n0,1,2\n1,3,4\n");
    assert_eq!(files.rows(&format!("SELECT sum(a), sum(a_1) FROM {repeated}")), ["4|6"]);
    let trailing = files.file("trailing.csv", "a,b,\n1,2,\n3,4,\n");
    assert_eq!(files.rows(&format!("SELECT sum(b), count(column2) FROM {trailing}")), ["6|0"]);
    assert_eq!(
        files.rows(&format!("DESCRIBE {pandas}")),
        ["column0|BIGINT|yes|NULL|NULL|NULL", "a|BIGINT|yes|NULL|NULL|NULL", "b|DOUBLE|yes|NULL|NULL|NULL"]
    );
    // A file whose columns stand in another order is not read by the order of the first one.
    files.file("part1.csv", "a,b\nx,y\n");
    files.file("part2.csv", "b,a\ny,x\n");
    let parts = format!("'{}'", files.path("part*.csv").display());
    let error = texts(&files.connection, &format!("SELECT * FROM {parts}")).unwrap_err();
    assert!(error.code() == ErrorCode::NoSuchColumn && error.to_string().contains("part2.csv, line 1"), "{error}");
}

#[test]
fn options_stand_behind_a_file() {
    let files = Files::new("CREATE TABLE t (k INTEGER PRIMARY KEY, v INTEGER)");
    let flights = files.file("flights.csv", "origin;delay\nJFK;5\nLGA;NA\n");
    assert_eq!(files.rows(&format!("SELECT sum(delay) FROM {flights} WITH (NULL 'NA')")), ["5"]);
    assert_eq!(
        files.rows(&format!("SELECT f.delay FROM {flights} WITH (HEADER, NULL 'NA') AS f ORDER BY 1")),
        ["NULL", "5"]
    );
    assert_eq!(files.rows(&format!("SELECT count(*) FROM {flights} WITH (HEADER false)")), ["3"]);
    assert_eq!(files.rows(&format!("SELECT * FROM {flights} WITH (DELIMITER ',')")), ["JFK;5", "LGA;NA"]);
    // One file twice, with different options.
    let both = format!(
        "SELECT a.delay, b.delay FROM {flights} WITH (NULL 'NA') a JOIN {flights} b ON a.origin = b.origin ORDER BY 1"
    );
    assert_eq!(files.rows(&both), ["NULL|NA", "5|5"]);
    assert_eq!(
        files.rows(&format!("SELECT v FROM t WHERE k IN (SELECT delay FROM {flights} WITH (NULL 'NA'))")).len(),
        0
    );
    let other = files.file("delays.txt", "1|'a|b'\n2|'c'\n");
    assert_eq!(files.rows(&format!("SELECT column1 FROM {other} WITH (DELIMITER '|', QUOTE '''')")), ["a|b", "c"]);
    let json = files.file("lines.txt", "{\"k\": 1}\n");
    assert_eq!(files.rows(&format!("SELECT k FROM {json} WITH (FORMAT json)")), ["1"]);
    files.run(&format!("CREATE TABLE u PRIMARY KEY (origin) AS SELECT * FROM {flights} WITH (NULL 'NA')"));
    assert_eq!(files.rows("SELECT /*+ FULL_SCAN */ origin FROM u WHERE delay IS NULL"), ["LGA"]);
    assert_eq!(files.rows(&format!("DESCRIBE {flights} WITH (NULL 'NA')"))[1], "delay|BIGINT|yes|NULL|NULL|NULL");
    for (options, part) in [
        ("(ON_ERROR skip)", "ON_ERROR is an option of COPY alone"),
        ("(NUL 'NA')", "did you mean NULL?"),
        ("(NULL 'NA'", "expected"),
        ("(NULL 'N;A', DELIMITER ';')", "holds the delimiter"),
    ] {
        let (code, text) =
            files.error(&format!("CREATE TABLE x PRIMARY KEY (origin) AS SELECT * FROM {flights} WITH {options}"));
        assert!(code == ErrorCode::Syntax && text.contains(part), "{options}: {text}");
    }
}

#[test]
fn a_text_for_no_value_is_told() {
    let files = Files::new("");
    let flights = files.file("flights.csv", "origin,delay\nJFK,5\nLGA,NA\n");
    let notices = files.notices(&format!("CREATE TABLE u PRIMARY KEY (origin) AS SELECT * FROM {flights}"));
    let told = "column delay is VARCHAR because of NA in line 3, all else is BIGINT; WITH (NULL 'NA') behind the file's name reads NA as NULL";
    assert!(notices.iter().any(|notice| notice.ends_with(&format!("flights.csv: {told}"))), "{notices:?}");
    assert_eq!(files.rows(&format!("DESCRIBE {flights}"))[1], format!("delay|VARCHAR|yes|NULL|NULL|{told}"));
    let (_, text) = files.error("SELECT * FROM read_csv('flights.csv', nullstr = 'NA')");
    assert!(text.contains("FROM 'file.csv' WITH (HEADER, NULL 'NA')"), "{text}");
}

#[test]
fn a_header_selects_the_columns_of_a_list() {
    let files = Files::new("CREATE TABLE f (origin VARCHAR NOT NULL PRIMARY KEY, hour INTEGER, note VARCHAR)");
    let weather = files.file("weather.csv", "Hour,wind,origin,temp\n5,NA,JFK,39.02\n6,NA,LGA,38\n");
    assert_eq!(files.run(&format!("COPY f (origin, hour) FROM {weather} WITH (HEADER)")), 2);
    assert_eq!(files.rows("SELECT /*+ FULL_SCAN */ hour FROM f ORDER BY hour"), ["5", "6"]);
    // The order of the list does not matter if the header has its names.
    let two = files.file("two.csv", "hour,origin\n7,EWR\n");
    assert_eq!(files.run(&format!("COPY f (origin, hour) FROM {two} WITH (HEADER)")), 1);
    assert_eq!(files.rows("SELECT hour FROM f WHERE origin = 'EWR'"), ["7"]);
    // Other names: the list says what the fields are.
    let other = files.file("other.csv", "airport,when\nBOS,8\n");
    assert_eq!(files.run(&format!("COPY f (origin, hour) FROM {other} WITH (HEADER)")), 1);
    assert_eq!(files.rows("SELECT hour FROM f WHERE origin = 'BOS'"), ["8"]);
    let (code, text) = files.error(&format!("COPY f (origin, note) FROM {weather} WITH (HEADER)"));
    assert!(
        code == ErrorCode::NoSuchColumn && text.contains("line 1 has no column note") && text.contains("INSERT INTO"),
        "{text}"
    );
    let (_, text) = files.error(&format!("COPY f (origin, hour) FROM {weather}"));
    assert!(text.contains("4 fields for 2 columns") && text.contains("WITH (HEADER)"), "{text}");
    let twice = files.file("twice.csv", "origin,hour,hour\nJFK,1,2\n");
    let (code, _) = files.error(&format!("COPY f (origin, hour) FROM {twice} WITH (HEADER)"));
    assert_eq!(code, ErrorCode::DuplicateColumn);
    // The first line is data.
    let (_, text) = files.error(&format!("COPY f FROM {} WITH (HEADER)", files.file("data.csv", "JFK,5,x\nLGA,6,y\n")));
    assert!(text.contains("leave HEADER out"), "{text}");
}

#[test]
fn equal_keys_and_missing_tables_have_their_advice() {
    let files = Files::new("");
    let file = files.file("twice.csv", "k,v\n1,a\n1,b\n");
    let (code, text) = files.error(&format!("CREATE TABLE t PRIMARY KEY (k) AS SELECT * FROM {file}"));
    assert!(code == ErrorCode::DuplicateKey && text.contains("name more columns in PRIMARY KEY"), "{text}");
    let (code, text) = files.error(&format!("COPY t FROM {file}"));
    assert!(
        code == ErrorCode::NoSuchTable && text.contains("CREATE TABLE t PRIMARY KEY (..) AS SELECT * FROM '"),
        "{text}"
    );
}

#[test]
fn files_of_too_many_columns_and_endless_trees_are_ended() {
    let files = Files::new("");
    let names: Vec<String> = (0..20_000).map(|column| format!("c{column}")).collect();
    let values = vec!["1"; 20_000].join(",");
    let wide = files.file("wide.csv", format!("{}\n{}", names.join(","), format!("{values}\n").repeat(300)));
    let error = texts(&files.connection, &format!("SELECT c1 FROM {wide}")).unwrap_err();
    assert!(error.code() == ErrorCode::TooManyColumns && error.to_string().contains("20000 columns"), "{error}");
    files.connection.execute("CREATE TABLE w (c7 INTEGER, c19999 INTEGER)", ()).unwrap();
    assert_eq!(files.run(&format!("COPY w (c19999, c7) FROM {wide} (HEADER)")), 300);
    // The walk through a tree looks at the time.
    (0..3_000).for_each(|place| fs::create_dir(files.path(&format!("d{place}"))).unwrap());
    files.connection.execute("SET statement_timeout = '1ms'", ()).unwrap();
    let none = files.path("**/none/*.csv");
    assert_eq!(code(texts(&files.connection, &format!("SELECT count(*) FROM '{}'", none.display()))), "timeout");
}
