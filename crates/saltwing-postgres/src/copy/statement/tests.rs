use proptest::prelude::*;

use super::*;
use crate::copy::format::{CsvFormat, Forced, Header, TextFormat};

fn parse(text: &str) -> Option<CopyKind> {
    let parsed =
        CopyStatement::parse(text, Dialect::Saltwing).unwrap_or_else(|error| panic!("{text}: {}", error.message));
    let (statement, stream) = parsed?;
    let is_from = matches!(statement.kind, CopyKind::From(_));
    assert_eq!(stream, if is_from { CopyStream::Stdin } else { CopyStream::Stdout }, "{text}");
    Some(statement.kind)
}

fn format_of(options: &str) -> CopyFormat {
    match parse(&format!("COPY t FROM STDIN {options}")) {
        Some(CopyKind::From(copy)) => copy.format,
        other => panic!("{options}: {other:?}"),
    }
}

fn to_format_of(options: &str) -> CopyFormat {
    match parse(&format!("COPY t TO STDOUT {options}")) {
        Some(CopyKind::To(copy)) => copy.format,
        other => panic!("{options}: {other:?}"),
    }
}

fn text() -> TextFormat {
    TextFormat::default()
}

fn csv() -> CsvFormat {
    CsvFormat::default()
}

#[test]
fn options_choose_a_format() {
    let columns = |names: &[&str]| Forced::Columns(names.iter().map(ToString::to_string).collect());
    for (options, expected) in [
        ("", CopyFormat::Text(text())),
        (";", CopyFormat::Text(text())),
        ("WITH (FORMAT text)", CopyFormat::Text(text())),
        (
            "(FORMAT 'text', DELIMITER '|', NULL '')",
            CopyFormat::Text(TextFormat { delimiter: b'|', null: "".into(), ..text() }),
        ),
        (
            "WITH DELIMITER AS ',' NULL AS 'NA'",
            CopyFormat::Text(TextFormat { delimiter: b',', null: "NA".into(), ..text() }),
        ),
        ("USING DELIMITERS '|'", CopyFormat::Text(TextFormat { delimiter: b'|', ..text() })),
        ("DELIMITER E'\\t' HEADER", CopyFormat::Text(TextFormat { header: Header::Present, ..text() })),
        ("(HEADER match)", CopyFormat::Text(TextFormat { header: Header::Matching, ..text() })),
        ("(HEADER false, ENCODING 'UTF8', FREEZE on)", CopyFormat::Text(text())),
        ("(FORMAT binary)", CopyFormat::Binary),
        ("WITH BINARY", CopyFormat::Binary),
        ("CSV", CopyFormat::Csv(csv())),
        ("WITH CSV HEADER", CopyFormat::Csv(CsvFormat { header: Header::Present, ..csv() })),
        (
            "WITH (FORMAT csv, HEADER 'on', COMPRESSION none)",
            CopyFormat::Csv(CsvFormat { header: Header::Present, ..csv() }),
        ),
        (
            "CSV HEADER QUOTE AS '''' ESCAPE AS '\\' DELIMITER ';'",
            CopyFormat::Csv(CsvFormat {
                header: Header::Present,
                quote: b'\'',
                escape: b'\\',
                delimiter: b';',
                ..csv()
            }),
        ),
        ("(FORMAT csv, QUOTE '''')", CopyFormat::Csv(CsvFormat { quote: b'\'', escape: b'\'', ..csv() })),
        ("(FORMAT csv, DELIMITER '\\t')", CopyFormat::Csv(CsvFormat { delimiter: b'\t', ..csv() })),
        (
            "(FORMAT csv, FORCE_NOT_NULL (a, \"B c\"), FORCE_NULL *)",
            CopyFormat::Csv(CsvFormat { force_not_null: columns(&["a", "B c"]), force_null: Forced::All, ..csv() }),
        ),
        (
            "CSV FORCE NOT NULL a, b FORCE NULL c",
            CopyFormat::Csv(CsvFormat { force_not_null: columns(&["a", "b"]), force_null: columns(&["c"]), ..csv() }),
        ),
        ("(FORMAT csv, ON_ERROR stop)", CopyFormat::Csv(csv())),
    ] {
        assert_eq!(format_of(options), expected, "{options}");
    }
    let forced = CopyFormat::Csv(CsvFormat { force_quote: Forced::All, ..csv() });
    assert_eq!(to_format_of("(FORMAT csv, FORCE_QUOTE *)"), forced);
    assert_eq!(to_format_of("CSV FORCE QUOTE *"), forced);
}

#[test]
fn names_stay_as_they_were_written() {
    let column = |sql: &str, name: &str, ty: Option<&str>| CopyColumn {
        sql: sql.into(),
        name: name.into(),
        ty: ty.map(Into::into),
    };
    for (written, table) in [
        ("t", CopyTable { sql: "t".into(), parts: vec!["t".into()], columns: None }),
        (
            "s . \"T \"\"x\"",
            CopyTable { sql: "s . \"T \"\"x\"".into(), parts: vec!["s".into(), "T \"x".into()], columns: None },
        ),
        (
            "t (a, f.\"B\" , extra DECIMAL(10, 2), tags VARCHAR ARRAY[3])",
            CopyTable {
                sql: "t".into(),
                parts: vec!["t".into()],
                columns: Some(vec![
                    column("a", "a", None),
                    column("f.\"B\"", "B", None),
                    column("extra", "extra", Some("DECIMAL(10, 2)")),
                    column("tags", "tags", Some("VARCHAR ARRAY[3]")),
                ]),
            },
        ),
    ] {
        let Some(CopyKind::From(copy)) = parse(&format!("copy {written} from stdin")) else { panic!("{written}") };
        assert_eq!(copy.table, table, "{written}");
        let Some(CopyKind::To(copy)) = parse(&format!("copy {written} to stdout")) else { panic!("{written}") };
        assert_eq!(copy.source, CopySource::Table(table), "{written}");
    }
    assert_eq!(column("extra", "extra", Some("VARCHAR")).declared(), "extra VARCHAR");
}

#[test]
fn a_query_is_the_text_between_its_brackets() {
    let text = "COPY /* é */ (SELECT /*+ FULL_SCAN(t) */ ')', (a + b) FROM t -- )\n) TO STDOUT CSV";
    let Some(CopyKind::To(copy)) = parse(text) else { panic!("{text}") };
    let sql = "SELECT /*+ FULL_SCAN(t) */ ')', (a + b) FROM t -- )".to_owned();
    assert_eq!(copy.source, CopySource::Query { sql, offset: 14 });
    assert_eq!(copy.format, CopyFormat::Csv(csv()));
}

#[test]
fn the_oldest_binary_form_is_read() {
    for text in ["COPY BINARY t FROM STDIN", "COPY BINARY t (a) FROM STDIN", "COPY BINARY s.t FROM STDIN"] {
        let Some(CopyKind::From(copy)) = parse(text) else { panic!("{text}") };
        assert_eq!((copy.format, copy.table.sql.ends_with('t')), (CopyFormat::Binary, true), "{text}");
    }
    for text in ["COPY binary FROM STDIN", "COPY binary (a) FROM STDIN", "COPY binary.t FROM STDIN"] {
        let Some(CopyKind::From(copy)) = parse(text) else { panic!("{text}") };
        assert_eq!(copy.table.parts[0], "binary", "{text}");
        assert_ne!(copy.format, CopyFormat::Binary, "{text}");
    }
}

#[test]
fn other_statements_are_left_to_the_library() {
    for text in [
        "",
        "SELECT 1",
        "COPY",
        "COPY t",
        "COPY t FROM 'rows.csv'",
        "COPY t TO 'rows.csv' CSV",
        "COPY t FROM PROGRAM 'x'",
        "COPY (SELECT 1) FROM STDIN",
        "COPY (SELECT 1 TO STDOUT",
        "COPY t (a FROM STDIN",
        "COPY t (a VARCHAR FROM STDIN",
        "COPY t FROM STDIN (FORMAT json)",
        "COPY t FROM STDIN WITH (HEADER, FORMAT = 'PARQUET')",
        "COPY t TO STDOUT (FORMAT arrow, COMPRESSION zstd)",
        "COPY t TO STDOUT (FORMAT arrow_stream)",
        "COPY t FROM STDIN (FORMAT csv, ON_ERROR skip)",
        "COPY t FROM STDIN CSV ON ERROR SKIP",
        "COPY t FROM STDIN (FORMAT csv, COMPRESSION gzip)",
    ] {
        assert_eq!(parse(text), None, "{text}");
    }
}

#[test]
fn existing_keys_are_treated_as_the_statement_says() {
    for (options, expected) in [
        ("", OnConflict::Replace),
        ("(ON_CONFLICT ignore)", OnConflict::Ignore),
        ("ON CONFLICT ERROR", OnConflict::Error),
        ("(FORMAT binary, ON_CONFLICT 'replace')", OnConflict::Replace),
        ("HEADER ON CONFLICT IGNORE", OnConflict::Ignore),
    ] {
        let Some(CopyKind::From(copy)) = parse(&format!("COPY t FROM STDIN {options}")) else { panic!("{options}") };
        assert_eq!(copy.on_conflict, expected, "{options}");
    }
}

#[test]
fn wrong_options_have_the_codes_of_postgres() {
    for (text, code, message) in [
        ("COPY t FROM STDIN (FORMAT csv, FORMAT text)", "42601", "conflicting or redundant options"),
        ("COPY BINARY t FROM STDIN CSV", "42601", "conflicting or redundant options"),
        ("COPY t FROM STDIN (FORMAT xml)", "22023", "COPY format \"xml\" not recognized"),
        ("COPY t FROM STDIN (FORMAT binary, HEADER)", "42601", "cannot specify HEADER in BINARY mode"),
        ("COPY t FROM STDIN BINARY NULL 'x'", "42601", "cannot specify NULL in BINARY mode"),
        ("COPY t FROM STDIN BINARY QUOTE 'x'", "42601", "cannot specify QUOTE in BINARY mode"),
        ("COPY t FROM STDIN (QUOTE 'x')", "42601", "cannot specify QUOTE in text mode"),
        ("COPY t FROM STDIN (DELIMITER 'ab')", "0A000", "COPY delimiter must be a single one-byte character"),
        ("COPY t FROM STDIN (DELIMITER 'é')", "0A000", "COPY delimiter must be a single one-byte character"),
        ("COPY t FROM STDIN (DELIMITER E'\\n')", "22023", "COPY delimiter cannot be newline or carriage return"),
        ("COPY t FROM STDIN (DELIMITER 'a')", "22023", "COPY delimiter cannot be \"a\""),
        ("COPY t FROM STDIN CSV DELIMITER '\"'", "22023", "COPY delimiter and quote must be different"),
        ("COPY t FROM STDIN CSV NULL 'a,b'", "0A000", "delimiter must not appear in the NULL specification"),
        ("COPY t FROM STDIN CSV NULL '\"'", "0A000", "CSV quote character must not appear in the NULL specification"),
        ("COPY t FROM STDIN (NULL E'\\r')", "22023", "COPY null representation cannot use newline or carriage return"),
        ("COPY t FROM STDIN (FORMAT csv, FORCE_QUOTE *)", "0A000", "FORCE_QUOTE is no option of COPY FROM"),
        ("COPY t TO STDOUT (FORMAT csv, FORCE_NULL *)", "0A000", "FORCE_NULL is no option of COPY TO"),
        ("COPY t TO STDOUT (HEADER match)", "0A000", "HEADER MATCH is no option of COPY TO"),
        ("COPY t TO STDOUT (ON_CONFLICT ignore)", "0A000", "ON_CONFLICT is no option of COPY TO"),
        (
            "COPY t FROM STDIN (ENCODING 'latin1')",
            "0A000",
            "COPY with the encoding latin1 is not supported: rows are UTF-8",
        ),
        ("COPY t FROM STDIN (ON_ERROR skip)", "0A000", "the format text has no option ON_ERROR SKIP"),
        ("COPY t FROM STDIN WHERE a > 1", "0A000", "COPY .. WHERE is not supported"),
        ("COPY t FROM STDIN (HEADER 2)", "42601", "an option of COPY requires a Boolean value, not 2"),
        ("COPY t FROM STDIN (COLOUR red)", "42601", "syntax error at or near \"COLOUR\""),
        ("COPY t FROM STDIN (HEADER", "42601", "syntax error at end of input"),
        ("COPY t FROM STDIN NULL", "42601", "syntax error at end of input"),
        ("COPY t FROM STDIN; SELECT 1", "42601", "syntax error at or near \"SELECT\""),
        ("COPY t FROM STDIN (FORCE_NULL (a)", "42601", "syntax error at end of input"),
    ] {
        let error = CopyStatement::parse(text, Dialect::Saltwing).unwrap_err();
        assert_eq!((&*error.code, &*error.message), (code, message), "{text}");
    }
}

#[test]
fn syntax_errors_have_their_positions() {
    for (text, position) in [
        ("COPY t FROM STDIN (COLOUR red)", 20),
        ("COPY é FROM STDIN (HEADER 2)", 27),
        ("COPY t FROM STDIN (DELIMITER x)", 30),
        ("COPY t FROM STDIN NULL", 23),
        ("COPY t FROM STDIN; SELECT 1", 20),
    ] {
        let error = CopyStatement::parse(text, Dialect::Saltwing).unwrap_err();
        assert_eq!(error.position, Some(position.to_string()), "{text}");
    }
}

#[test]
fn the_library_has_bytes_that_are_no_text() {
    for (text, is_binary) in [
        ("COPY t FROM STDIN (FORMAT json)", false),
        ("COPY t FROM STDIN (FORMAT csv, ON_ERROR skip)", false),
        ("COPY t FROM STDIN (FORMAT json, COMPRESSION gzip)", true),
        ("COPY t TO STDOUT (FORMAT parquet)", true),
        ("COPY t TO STDOUT (FORMAT 'arrow')", true),
    ] {
        assert_eq!(has_binary_rows(text, Dialect::Saltwing), is_binary, "{text}");
    }
}

proptest! {
    #[test]
    fn any_words_are_a_statement_or_an_error(
        words in prop::collection::vec(prop::sample::select(&[
            "t", "(", ")", ",", "FROM", "TO", "STDIN", "STDOUT", "WITH", "FORMAT", "csv", "json", "HEADER", "DELIMITER", "AS", "';'", "NULL",
            "FORCE", "QUOTE", "NOT", "*", "BINARY", "ON", "ERROR", "CONFLICT", "=", ".", "\"q\"", "E'\\x'", "'", "[", "]", "VARCHAR", ";", "1",
        ][..]), 0..14),
    ) {
        for dialect in [Dialect::Saltwing, Dialect::Phoenix] {
            let _ = CopyStatement::parse(&format!("COPY {}", words.join(" ")), dialect);
            let _ = CopyStatement::parse(&format!("COPY t FROM STDIN {}", words.join(" ")), dialect);
        }
    }
}
