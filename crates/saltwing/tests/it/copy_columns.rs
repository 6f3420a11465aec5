//! COPY of Arrow IPC and Parquet.

use std::fs;
use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use saltwing::arrow::array::{
    ArrayRef, DictionaryArray, Int64Array, NullArray, RecordBatch, StringViewArray, StructArray, Time32SecondArray,
    UInt64Array,
};
use saltwing::arrow::datatypes::{DataType, Field, Int32Type};
use saltwing::blocking::Connection;
use saltwing::{Database, Error, Params, Value};

use crate::{code, texts};

/// Of each form of a file the end of its name, and the compressions that it has inside.
const FORMS: &[(&str, &[&str])] = &[
    ("arrow", &["none", "lz4", "zstd"]),
    ("arrows", &["none", "lz4", "zstd"]),
    #[cfg(feature = "parquet")]
    ("parquet", &["none", "snappy", "lz4", "gzip", "zstd"]),
];

fn memory() -> Connection {
    Database::memory().unwrap().connect().blocking()
}

fn with_table(columns: &str) -> Connection {
    let connection = memory();
    connection.execute(&format!("CREATE TABLE t ({columns})"), ()).unwrap();
    connection
}

fn copy(connection: &Connection, what: &str, path: &Path, options: &str) -> Result<u64, Error> {
    let sql = format!("COPY {what} '{}' {options}", path.display());
    connection.execute(&sql, ()).map(|result| result.rows_affected)
}

fn all(connection: &Connection) -> Vec<String> {
    texts(connection, "SELECT /*+ FULL_SCAN */ * FROM t ORDER BY k").unwrap()
}

/// A type, and values of it as texts.
fn typed_values() -> impl Strategy<Value = (&'static str, Vec<Option<String>>)> {
    let text = "[ -~é\n\"]{0,6}".prop_map(|text| text);
    let float = || any::<f64>().prop_filter("finite", |f| f.is_finite());
    let strategies: Vec<(&'static str, BoxedStrategy<String>)> = vec![
        ("TINYINT", any::<i8>().prop_map(|i| i.to_string()).boxed()),
        ("SMALLINT", any::<i16>().prop_map(|i| i.to_string()).boxed()),
        ("INTEGER", any::<i32>().prop_map(|i| i.to_string()).boxed()),
        ("BIGINT", any::<i64>().prop_map(|i| i.to_string()).boxed()),
        ("UNSIGNED_LONG", (0..i64::MAX).prop_map(|i| i.to_string()).boxed()),
        ("FLOAT", any::<i16>().prop_map(|i| (f32::from(i) / 8.0).to_string()).boxed()),
        ("DOUBLE", float().prop_map(|f| f.to_string()).boxed()),
        ("DECIMAL(9, 2)", (0..9_999_999i64).prop_map(|i| format!("{}.{:02}", i / 100, i % 100)).boxed()),
        ("DECIMAL", any::<i64>().prop_map(|i| format!("{i}.000123")).boxed()),
        ("BOOLEAN", any::<bool>().prop_map(|b| b.to_string()).boxed()),
        (
            "DATE",
            (0..86_400u32)
                .prop_map(|s| format!("2024-02-29 {:02}:{:02}:{:02}.013", s / 3600, s / 60 % 60, s % 60))
                .boxed(),
        ),
        ("TIMESTAMP", (0..1_000_000_000u32).prop_map(|n| format!("1969-12-31 23:59:59.{n:09}")).boxed()),
        ("VARCHAR", text.clone().boxed()),
        ("CHAR(6)", "[a-z]{0,6}".prop_map(|text| text).boxed()),
        (
            "VARCHAR ARRAY",
            prop::collection::vec("[a-z]{1,3}", 0..3)
                .prop_map(|list| format!("[{}]", list.iter().map(|t| format!("\"{t}\"")).collect::<Vec<_>>().join(",")))
                .boxed(),
        ),
        ("JSON", any::<i32>().prop_map(|i| format!("{{\"a\": [{i}, null]}}")).boxed()),
        ("UUID", any::<u128>().prop_map(|id| uuid::Uuid::from_u128(id).to_string()).boxed()),
    ];
    prop::sample::select(strategies)
        .prop_flat_map(|(ty, value)| (Just(ty), prop::collection::vec(prop::option::of(value), 12)))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.div_ceil(16), ..ProptestConfig::default() })]

    /// A file gives back the rows of which it was made.
    #[test]
    fn random_tables_come_back(columns in prop::collection::vec(typed_values(), 1..5), rows in 0usize..12, form in 0..FORMS.len(), compression in 0usize..5) {
        let folder = tempfile::tempdir().unwrap();
        let definition: Vec<String> = columns.iter().enumerate().map(|(i, (ty, _))| format!("c{i} {ty}")).collect();
        let definition = format!("k BIGINT PRIMARY KEY, {}", definition.join(", "));
        let source = with_table(&definition);
        let mut appender = source.appender("t").unwrap();
        for row in 0..rows {
            let types = columns.iter().map(|(ty, values)| (ty, values[row].clone()));
            let values = types.map(|(ty, value)| match value {
                None => Value::Null,
                Some(text) => {
                    let sql = format!("SELECT CAST('{}' AS {ty})", text.replace('\'', "''"));
                    match ty.ends_with("ARRAY") {
                        true => Value::Array(text.trim_matches(['[', ']']).split(',').filter(|t| !t.is_empty()).map(|t| Value::text(t.trim_matches('"'))).collect()),
                        false => saltwing::text::parse(&text, type_of(ty)).unwrap_or_else(|error| panic!("{sql}: {error}")),
                    }
                }
            });
            appender.append_row(Params::Positional(std::iter::once(Value::Int(row as i64)).chain(values).collect())).unwrap();
        }
        appender.close().unwrap();
        let (end, compressions) = FORMS[form];
        let path = folder.path().join(format!("t.{end}"));
        let options = format!("(COMPRESSION {})", compressions[compression % compressions.len()]);
        prop_assert_eq!(copy(&source, "t TO", &path, &options).unwrap(), rows as u64);
        let target = with_table(&definition);
        prop_assert_eq!(copy(&target, "t FROM", &path, "").unwrap(), rows as u64);
        prop_assert_eq!(all(&target), all(&source));
    }
}

fn type_of(name: &str) -> saltwing::SqlType {
    let connection = with_table(&format!("k BIGINT PRIMARY KEY, v {name}"));
    connection.query("SELECT v FROM t WHERE k = 0", ()).unwrap().columns()[0].ty
}

/// Rows of several batches, with texts and NULLs.
fn sample(folder: &Path, name: &str, options: &str) -> std::path::PathBuf {
    let source = with_table("k BIGINT PRIMARY KEY, s VARCHAR, d DECIMAL(20, 3), l VARCHAR ARRAY");
    source
        .execute("UPSERT INTO t VALUES (1, 'one', 1.5, ARRAY['a', NULL]), (2, NULL, NULL, NULL), (3, 'three', -7, ARRAY['b'])", ())
        .unwrap();
    let path = folder.join(name);
    copy(&source, "t TO", &path, options).unwrap();
    path
}

const SAMPLE: &str = "k BIGINT PRIMARY KEY, s VARCHAR, d DECIMAL(20, 3), l VARCHAR ARRAY";

#[test]
fn columns_have_names_and_lists_choose_them() {
    let folder = tempfile::tempdir().unwrap();
    for (end, _) in FORMS {
        let path = sample(folder.path(), &format!("t.{end}"), "");
        let other = with_table("s VARCHAR, more INTEGER, K INTEGER PRIMARY KEY");
        let error = copy(&other, "t FROM", &path, "").unwrap_err();
        assert_eq!(error.code().as_str(), "no_such_column");
        assert!(
            error.to_string().contains("T has no column D") || error.to_string().contains("has no column d"),
            "{error}"
        );
        assert_eq!(copy(&other, "t (s, k) FROM", &path, "").unwrap(), 3);
        assert_eq!(
            texts(&other, "SELECT k, s, more FROM t WHERE k > 0").unwrap(),
            ["1|one|NULL", "2|NULL|NULL", "3|three|NULL"]
        );
        let error = copy(&other, "t (k, more) FROM", &path, "").unwrap_err();
        assert!(error.to_string().to_lowercase().contains("has no column more"), "{error}");
        assert_eq!(code(copy(&other, "t FROM", &path, "(HEADER)")), "syntax");
        // A name says nothing, but the option does.
        let renamed = folder.path().join(format!("{end}.data"));
        fs::copy(&path, &renamed).unwrap();
        let target = with_table(SAMPLE);
        assert_ne!(code(copy(&target, "t FROM", &renamed, "")), "ok");
        let format = if *end == "parquet" { "parquet" } else { "arrow" };
        assert_eq!(copy(&target, "t FROM", &renamed, &format!("(FORMAT {format})")).unwrap(), 3);
    }
}

#[test]
fn errors_name_file_row_and_column() {
    let folder = tempfile::tempdir().unwrap();
    for (end, _) in FORMS {
        let path = sample(folder.path(), &format!("t.{end}"), "");
        let target = with_table("k TINYINT PRIMARY KEY, s VARCHAR(3), d DECIMAL(20, 3), l VARCHAR ARRAY");
        let error = copy(&target, "t FROM", &path, "").unwrap_err();
        let text = error.to_string().to_lowercase();
        assert!(text.contains(&format!("t.{end}, row 3, column s: ")), "{text}");
        let result = target.execute(&format!("COPY t FROM '{}' (ON_ERROR SKIP)", path.display()), ()).unwrap();
        assert_eq!(result.rows_affected, 2);
        assert!(result.notices.iter().any(|notice| notice.contains("1 row was left out")), "{:?}", result.notices);
        let strict = with_table("k BIGINT PRIMARY KEY, s VARCHAR NOT NULL, d DECIMAL(20, 3), l VARCHAR ARRAY");
        let error = copy(&strict, "t FROM", &path, "").unwrap_err();
        assert_eq!(error.code().as_str(), "not_null");
        assert!(error.to_string().contains("row 2"), "{error}");
        let filled =
            with_table("k BIGINT PRIMARY KEY, s VARCHAR DEFAULT '-' NOT NULL, d DECIMAL(20, 3), l VARCHAR ARRAY");
        assert_eq!(copy(&filled, "t FROM", &path, "").unwrap(), 3);
        assert_eq!(texts(&filled, "SELECT s FROM t WHERE k = 2").unwrap(), ["-"]);
        // Keys that exist.
        let error = copy(&filled, "t FROM", &path, "(ON_CONFLICT ERROR)").unwrap_err();
        assert!(error.to_string().contains("row 1"), "{error}");
        assert_eq!(copy(&filled, "t FROM", &path, "(ON_CONFLICT IGNORE)").unwrap(), 0);
    }
}

#[test]
fn compressions_are_inside_or_outside() {
    let folder = tempfile::tempdir().unwrap();
    let source = with_table(SAMPLE);
    let at = |name: &str| folder.path().join(name);
    for (name, options) in [("a.arrow", "(COMPRESSION gzip)"), ("a.csv", "(COMPRESSION lz4)"), ("a.parquet.gz", "")] {
        assert_eq!(code(copy(&source, "t TO", &at(name), options)), "not_supported", "{name} {options}");
        assert!(!at(name).exists(), "{name}");
    }
    let path = sample(folder.path(), "a.arrows.gz", "(COMPRESSION zstd)");
    assert!(fs::read(&path).unwrap().starts_with(b"\x1f\x8b"));
    assert_eq!(copy(&source, "t FROM", &path, "").unwrap(), 3);
    if cfg!(feature = "parquet") {
        sample(folder.path(), "b1.parquet", "");
        sample(folder.path(), "b2.parquet", "(COMPRESSION none)");
        assert_eq!(copy(&source, "t FROM", &at("b*.parquet"), "").unwrap(), 6);
    }
    let query = "(SELECT 1 AS a, 2 AS a) TO";
    assert_ne!(code(copy(&source, query, &at("two.arrow"), "")), "ok");
    assert!(!at("two.arrow").exists());
}

#[test]
fn streams_are_files_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = sample(folder.path(), "t.arrow", "");
    let source = with_table(SAMPLE);
    copy(&source, "t FROM", &path, "").unwrap();
    for format in ["arrow", "arrow_stream", "parquet"] {
        if !cfg!(feature = "parquet") && format == "parquet" {
            let made = source.copy_to_writer("COPY t TO STDOUT (FORMAT parquet)", (), &mut Vec::new());
            assert!(made.unwrap_err().to_string().contains("feature \"parquet\""));
            continue;
        }
        let mut bytes = Vec::new();
        source.copy_to_writer(&format!("COPY t TO STDOUT (FORMAT {format})"), (), &mut bytes).unwrap();
        let target = with_table(SAMPLE);
        let read = target.copy_from_reader(&format!("COPY t FROM STDIN (FORMAT {format})"), &mut Cursor::new(&bytes));
        if format == "parquet" {
            assert_eq!(code(read), "not_supported");
            let path = folder.path().join("out.pq");
            fs::write(&path, &bytes).unwrap();
            copy(&target, "t FROM", &path, "").unwrap();
        } else {
            assert_eq!(read.unwrap().rows_affected, 3);
        }
        assert_eq!(all(&target), all(&source));
    }
}

/// A file of one batch.
fn file_of(path: &Path, columns: Vec<(&str, ArrayRef)>) {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let file = fs::File::create(path).unwrap();
    #[cfg(feature = "parquet")]
    if path.extension().is_some_and(|end| end == "parquet") {
        let mut writer = parquet::arrow::ArrowWriter::try_new(file, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        return;
    }
    let mut writer = arrow_ipc::writer::FileWriter::try_new(file, &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
}

#[test]
fn types_of_other_programs_are_read() {
    let folder = tempfile::tempdir().unwrap();
    for (end, _) in FORMS.iter().filter(|(end, _)| *end != "arrows") {
        let path = folder.path().join(format!("t.{end}"));
        let rows = 3000;
        let words: DictionaryArray<Int32Type> = (0..rows).map(|i| [Some("a"), None, Some("b")][i % 3]).collect();
        file_of(
            &path,
            vec![
                ("k", Arc::new(UInt64Array::from_iter_values(0..rows as u64)) as ArrayRef),
                ("s", Arc::new(words) as ArrayRef),
                (
                    "v",
                    Arc::new(StringViewArray::from_iter_values((0..rows).map(|i| format!("a long text for row {i}"))))
                        as ArrayRef,
                ),
                ("n", Arc::new(NullArray::new(rows)) as ArrayRef),
            ],
        );
        let target = with_table("k BIGINT PRIMARY KEY, s VARCHAR, v VARCHAR, n DATE");
        assert_eq!(copy(&target, "t FROM", &path, "").unwrap(), rows as u64);
        let rows = texts(&target, "SELECT s, v, n FROM t WHERE k IN (1, 2999)").unwrap();
        assert_eq!(rows, ["NULL|a long text for row 1|NULL", "b|a long text for row 2999|NULL"]);
        // What a number in the file cannot be.
        file_of(&path, vec![("k", Arc::new(UInt64Array::from(vec![1, u64::MAX])) as ArrayRef)]);
        let error = copy(&target, "t FROM", &path, "").unwrap_err();
        assert!(error.to_string().contains("row 2"), "{error}");
    }
}

#[test]
fn types_that_sql_lacks_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let fields =
        vec![(Arc::new(Field::new("a", DataType::Int64, true)), Arc::new(Int64Array::from(vec![1])) as ArrayRef)];
    for (end, _) in FORMS.iter().filter(|(end, _)| *end != "arrows") {
        let path = folder.path().join(format!("t.{end}"));
        file_of(
            &path,
            vec![
                ("k", Arc::new(Int64Array::from(vec![5])) as ArrayRef),
                ("s", Arc::new(StructArray::from(fields.clone())) as ArrayRef),
                ("z", Arc::new(Time32SecondArray::from(vec![1])) as ArrayRef),
                ("w", Arc::new(Int64Array::from(vec![8])) as ArrayRef),
            ],
        );
        let target = with_table("k BIGINT PRIMARY KEY, s VARCHAR, z VARCHAR, w BIGINT");
        let error = copy(&target, "t FROM", &path, "").unwrap_err();
        assert_eq!(error.code().as_str(), "not_supported");
        assert!(error.to_string().contains("column s: SQL has no type"), "{error}");
        assert_eq!(copy(&target, "t (w, k) FROM", &path, "").unwrap(), 1);
        assert_eq!(texts(&target, "SELECT k, w FROM t WHERE k = 5").unwrap(), ["5|8"]);
    }
}

#[test]
fn what_is_cut_off_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    for (name, options) in [("t.arrow", "(COMPRESSION lz4)"), ("t.arrow", "(OVERWRITE)"), ("t.parquet", "")] {
        if !cfg!(feature = "parquet") && name == "t.parquet" {
            continue;
        }
        let path = sample(folder.path(), name, options);
        let bytes = fs::read(&path).unwrap();
        for length in (0..bytes.len()).step_by(7).chain([bytes.len() - 1]) {
            fs::write(&path, &bytes[..length]).unwrap();
            let error = copy(&with_table(SAMPLE), "t FROM", &path, "").unwrap_err();
            assert_eq!(error.code().as_str(), "bad_text", "{name} of {length} bytes: {error}");
        }
    }
    let path = folder.path().join("text.parquet");
    fs::write(&path, "k,s\n1,one\n").unwrap();
    let text = if cfg!(feature = "parquet") { "bad_text" } else { "not_supported" };
    assert_eq!(code(copy(&with_table(SAMPLE), "t FROM", &path, "")), text);
    assert_eq!(code(copy(&with_table(SAMPLE), "t FROM", &path, "(FORMAT arrow)")), "bad_text");
}

/// Files with changed bytes give rows or errors. The work is done by a process that may not have much memory, so that one that is
/// allocated for a length of the file ends it.
#[test]
#[cfg(target_os = "linux")]
fn damaged_files_neither_end_the_process_nor_take_its_memory() {
    let program = std::env::current_exe().unwrap();
    let worker = "ulimit -v 8000000; exec \"$0\" copy_columns::worker_on_damaged_files --exact --ignored";
    let output = std::process::Command::new("sh").args(["-c", worker]).arg(program).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
#[ignore = "it is run with little memory by the test above"]
fn worker_on_damaged_files() {
    std::panic::set_hook(Box::new(|_| {}));
    let folder = tempfile::tempdir().unwrap();
    // A generator of its own: the files are the same each time.
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    let rounds = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(256) * 2;
    for (name, options) in [
        ("a.arrow", ""),
        ("b.arrow", "(COMPRESSION lz4)"),
        ("c.arrows", "(COMPRESSION zstd)"),
        ("d.parquet", ""),
        ("e.parquet", "(COMPRESSION none)"),
        ("f.parquet", "(COMPRESSION zstd)"),
    ] {
        if !cfg!(feature = "parquet") && name.ends_with("parquet") {
            continue;
        }
        let path = sample(folder.path(), name, options);
        let bytes = fs::read(&path).unwrap();
        for round in 0..rounds {
            let mut damaged = bytes.clone();
            for _ in 0..=round % 3 {
                let at = random(damaged.len());
                damaged[at] = match round % 4 {
                    0 => 0xff,
                    1 => 0x7f,
                    2 => damaged[at] ^ (1 << random(8)),
                    _ => random(256) as u8,
                };
            }
            fs::write(&path, &damaged).unwrap();
            let target = with_table(SAMPLE);
            target.execute("SET statement_timeout = 10000", ()).unwrap();
            if let Err(error) = copy(&target, "t FROM", &path, "") {
                assert_ne!(error.code().as_str(), "bug", "{name}: {error}");
            }
        }
    }
}
