//! Statements with parameters read what the same statements with their values in the text read.

use proptest::prelude::*;
use saltwing::{Database, Stats, Value, blocking, text};

const TABLES: [&str; 10] = [
    "(a VARCHAR NOT NULL, b BIGINT NOT NULL, c TINYINT NOT NULL, v INTEGER, CONSTRAINT pk PRIMARY KEY (a, b DESC, c))",
    "(a VARCHAR NOT NULL, b BIGINT NOT NULL, c TINYINT NOT NULL, v INTEGER, CONSTRAINT pk PRIMARY KEY (a, b DESC, c)) \
     SALT_BUCKETS = 4, SALT_BY = (a)",
    "(a VARCHAR NOT NULL, b BIGINT NOT NULL, c TINYINT NOT NULL, v INTEGER, CONSTRAINT pk PRIMARY KEY (b, c, a)) \
     SALT_BUCKETS = 3",
    "(a VARCHAR, b BIGINT NOT NULL, c TINYINT NOT NULL, v INTEGER, CONSTRAINT pk PRIMARY KEY (c DESC, a, b))",
    "(a VARCHAR NOT NULL, b UNSIGNED_INT NOT NULL, c TINYINT NOT NULL, v INTEGER, CONSTRAINT pk PRIMARY KEY (b, a DESC, c)) \
     SALT_BUCKETS = 2, SALT_BY = (b)",
    "(a VARCHAR NOT NULL, b BIGINT NOT NULL, c TINYINT NOT NULL, v INTEGER, \
     CONSTRAINT pk PRIMARY KEY (SUBSTR(MD5(a), 1, 2), a, b DESC, c)) SALT_BUCKETS = 2, SALT_BY = (a)",
    "(a VARCHAR NOT NULL, b DATE NOT NULL, c TINYINT NOT NULL, v INTEGER, \
     CONSTRAINT pk PRIMARY KEY (SUBSTR(MD5(a), 1, 1), a, b, c))",
    "(v INTEGER PRIMARY KEY, a VARCHAR, b BIGINT, c TINYINT)",
    "(v INTEGER PRIMARY KEY, a VARCHAR(2), b BIGINT, c TINYINT) SALT_BUCKETS = 3",
    "(c TINYINT NOT NULL, v INTEGER NOT NULL, a VARCHAR, b BIGINT, CONSTRAINT pk PRIMARY KEY (c, v)) \
     SALT_BUCKETS = 3, SALT_BY = (c)",
];

/// The tables whose values are read by indexes, the first of them by its place, and the indexes of each.
const INDEXED: usize = 7;
const INDEXES: [&[&str]; 3] = [
    &["CREATE INDEX i ON t (a, b DESC)", "CREATE INDEX j ON t (b, c DESC) INCLUDE (v)"],
    &["CREATE INDEX i ON t (b, a)", "CREATE INDEX j ON t (a DESC) SALT_BUCKETS = 0", "CREATE LOCAL INDEX k ON t (c)"],
    &["CREATE LOCAL INDEX i ON t (c, a)", "CREATE LOCAL INDEX j ON t (b DESC)"],
];

/// The one whose `b` is an instant.
const DATES: usize = 6;

/// What is read, and the columns of its groups, in whose order they come.
const OUTPUTS: [(&str, &str); 8] = [
    ("*", ""),
    ("v, a, v", ""),
    ("b", ""),
    ("v + 1 AS w, c", ""),
    ("count(*), sum(v), min(c)", ""),
    ("DISTINCT a", ""),
    ("c, count(*), max(b)", "c"),
    ("b, c, count(*)", "b, c"),
];

/// Those that are sorted leave no ties: of equal rows, any may come first.
const ORDERS: [&str; 8] = [
    "",
    " LIMIT 3",
    " ORDER BY a, b DESC, c LIMIT 4",
    " ORDER BY b, c, a LIMIT 2 OFFSET 1",
    " ORDER BY c DESC, a, b",
    " ORDER BY a DESC NULLS LAST, b, c LIMIT 3",
    " ORDER BY c, a NULLS LAST, b LIMIT 2",
    " LIMIT 0",
];

fn texts() -> Vec<&'static str> {
    vec!["", "a", "aa", "ab", "b", "ü"]
}

fn row() -> impl Strategy<Value = (usize, i64, i64, i64)> {
    (0usize..7, 0i64..4, 0i64..3, 0i64..100)
}

/// Column, comparison, whether the value stands in front of it, and a number that the value is made of.
type Comparison = (char, &'static str, bool, u8);

fn comparison() -> impl Strategy<Value = Comparison> {
    let op = prop::sample::select(vec!["=", "=", "=", "<", "<=", ">", ">=", "between", "<>", "in", "rows"]);
    (prop::sample::select(vec!['a', 'b', 'c']), op, any::<bool>(), 0u8..12)
}

fn value(table: usize, column: char, seed: u8) -> Value {
    match (column, seed) {
        (_, 11) => Value::Null,
        ('b', seed) if table == DATES => Value::from(format!("1970-01-0{}", seed % 5)),
        ('a', seed) => texts().get(usize::from(seed % 6)).map_or(Value::Null, |text| Value::from(*text)),
        (_, 10) => Value::from(i64::MAX),
        (_, 9) => Value::from(-200),
        (_, seed) => Value::from(i64::from(seed) - 1),
    }
}

/// The condition with marks, and its values.
fn condition(table: usize, (column, op, turned, seed): Comparison) -> (String, Vec<Value>) {
    let one = value(table, column, seed);
    match op {
        "between" => (format!("{column} BETWEEN ? AND ?"), vec![one, value(table, column, (seed + 2) % 11)]),
        "in" => {
            let more = [4, 8].map(|by| value(table, column, (seed + by) % 11));
            (format!("{column} IN (?, ?, ?)"), std::iter::once(one).chain(more).collect())
        }
        "rows" => {
            let columns = if turned { "ab" } else { "cab" };
            let row = |by: u8| columns.chars().map(move |column| value(table, column, (seed / 2 + by) % 11));
            let (names, marks): (Vec<String>, Vec<&str>) = columns.chars().map(|c| (c.to_string(), "?")).unzip();
            let (names, marks) = (names.join(", "), marks.join(", "));
            (format!("({names}) IN (({marks}), ({marks}))"), row(0).chain(row(3)).collect())
        }
        _ if turned => {
            let op = match op {
                "<" => ">",
                "<=" => ">=",
                ">" => "<",
                ">=" => "<=",
                same => same,
            };
            (format!("? {op} {column}"), vec![one])
        }
        _ => (format!("{column} {op} ?"), vec![one]),
    }
}

fn with_literals(sql: &str, values: &[Value]) -> String {
    let mut values = values.iter();
    let literal = |value: &Value| match value {
        Value::Null => "NULL".to_owned(),
        Value::Text(text) => format!("'{text}'"),
        other => text::format(other, saltwing::SqlType::BigInt).unwrap(),
    };
    sql.split('?').enumerate().fold(String::new(), |text, (i, part)| {
        let value = if i == 0 { String::new() } else { values.next().map(literal).unwrap() };
        text + &value + part
    })
}

type Answer = Result<(Vec<Vec<Value>>, Stats), &'static str>;

fn answer(rows: Result<blocking::Rows, saltwing::Error>) -> Answer {
    let code = |error: saltwing::Error| error.code().as_str();
    let mut rows = rows.map_err(code)?;
    let values = rows.by_ref().map(|row| row.and_then(|row| row.values())).collect::<Result<_, _>>().map_err(code)?;
    Ok((values, rows.stats()))
}

fn arrow_rows(rows: Result<saltwing::ArrowRows, saltwing::Error>) -> Result<usize, &'static str> {
    let code = |error: saltwing::Error| error.code().as_str();
    let (mut rows, mut count) = (rows.map_err(code)?, 0);
    while let Some(batch) = rows.next_blocking().map_err(code)? {
        assert_eq!(batch.schema(), *rows.schema());
        count += batch.num_rows();
    }
    Ok(count)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.div_ceil(5)))]

    #[test]
    fn values_are_as_good_as_literals(
        table in 0..TABLES.len(),
        rows in prop::collection::vec(row(), 0..40),
        statements in prop::collection::vec(
            (0..OUTPUTS.len(), prop::collection::vec(comparison(), 1..4), 0..ORDERS.len(), prop::collection::vec(0u8..12, 9)),
            1..24,
        ),
        allowed: bool,
    ) {
        let connection = Database::memory().unwrap().connect().blocking();
        connection.execute(&format!("CREATE TABLE t {}", TABLES[table]), ()).unwrap();
        for index in table.checked_sub(INDEXED).map_or(&[][..], |indexed| INDEXES[indexed]) {
            connection.execute(index, ()).unwrap();
        }
        if allowed {
            connection.execute("SET full_scan = 'allow'", ()).unwrap();
        }
        for (a, b, c, v) in rows {
            let b = if table == DATES { format!("'1970-01-0{}'", b + 1) } else { b.to_string() };
            let a = match texts().get(a) {
                Some(text) if !text.is_empty() || table >= INDEXED => format!("'{text}'"),
                _ if table >= INDEXED => "NULL".to_owned(),
                _ => "'a'".to_owned(),
            };
            let sql = format!("UPSERT INTO t (a, b, c, v) VALUES ({a}, {b}, {c}, {v})");
            connection.execute(&sql, ()).unwrap();
        }
        for (output, comparisons, order, others) in statements {
            let parts: Vec<_> = comparisons.iter().map(|comparison| condition(table, *comparison)).collect();
            let conditions: Vec<&str> = parts.iter().map(|(text, _)| text.as_str()).collect();
            let (output, groups) = OUTPUTS[output];
            let order = if groups.is_empty() { ORDERS[order].to_owned() } else { format!(" GROUP BY {groups} ORDER BY {groups}") };
            let sql = format!("SELECT {output} FROM t WHERE {}{order}", conditions.join(" AND "));
            let Ok(statement) = connection.prepare(&sql) else { continue };
            // The same statement with other values: what it kept of the first ones must not matter.
            let other = |((column, op, turned, _), seed): (&Comparison, &u8)| (*column, *op, *turned, *seed);
            let again: Vec<Comparison> = comparisons.iter().zip(&others).map(other).collect();
            for comparisons in [&comparisons, &again] {
                let values: Vec<Value> = comparisons.iter().flat_map(|comparison| condition(table, *comparison).1).collect();
                let mut wanted = answer(connection.query(&with_literals(&sql, &values), ()));
                let mut found = answer(statement.query(values.clone()));
                // Neighbours in a list may be one range, or one each.
                if sql.contains(" IN (") {
                    [&mut wanted, &mut found].into_iter().flatten().for_each(|(_, stats)| stats.seeks = 0);
                }
                prop_assert_eq!(&found, &wanted, "{} with {:?}", sql, values);
                let in_batches = arrow_rows(statement.query_arrow(values));
                prop_assert_eq!(in_batches, wanted.map(|(rows, _)| rows.len()));
            }
        }
    }
}

/// The values of the first run do not matter for the rows of the second, nor for their order.
#[test]
fn a_span_of_an_index_is_as_good_as_literals() {
    let connection = Database::memory().unwrap().connect().blocking();
    connection.execute(&format!("CREATE TABLE t {}", TABLES[INDEXED]), ()).unwrap();
    for index in INDEXES[0] {
        connection.execute(index, ()).unwrap();
    }
    connection.execute("UPSERT INTO t (a, b, c, v) VALUES ('b', 0, 0, 0), ('ab', 0, 0, 1), ('', 0, 0, 2)", ()).unwrap();
    let sql = "SELECT * FROM t WHERE a BETWEEN ? AND ?";
    let statement = connection.prepare(sql).unwrap();
    for values in [[Value::Null, Value::from("aa")], ["aa", "b"].map(Value::from), ["", "b"].map(Value::from)] {
        let wanted = answer(connection.query(&with_literals(sql, &values), ()));
        assert_eq!(answer(statement.query(values.to_vec())), wanted, "{values:?}");
    }
}
