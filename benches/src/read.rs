//! The measured reads, each with its SQL and its random arguments.

use crate::rows::{ITEMS, Log, Mix, NUMBERS_BELOW, ROWS_A_PHONE};

/// A question that engines answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Read {
    /// One row by its key, prepared.
    Point,
    /// The same from the text.
    PointUnprepared,
    /// The newest 500 rows of a phone: as Arrow where the engine has it, looked at in place elsewhere.
    Prefix500Arrow,
    /// The same, each value taken as one of the caller's own.
    Prefix500Rows,
    /// Count and sum over 401 rows of a phone.
    Agg401,
    /// The newest 10 rows of a phone.
    Latest10,
    /// The 1,000 rows after a key, in key order.
    Page1000,
    /// 100 random keys.
    In100,
    /// 10 rows of each of 20 phones.
    SkipScan,
    /// A sum over all rows.
    SumAll,
    /// Count and sum of 331 groups of all rows.
    GroupAll,
    /// Count and sum of a hundredth of all rows, which no key leads to.
    FilterAll,
    /// The 1,000 rows of a phone, each joined with its item.
    Join1k,
    /// All rows, each joined with its item.
    JoinAll,
    /// The largest rank of a row in its group, of 331 groups of all rows.
    WindowAll,
    /// Two columns of all rows, in the order of one that is no key.
    SortAll,
    /// The rows of a number that an index leads to, one or so.
    IndexPoint,
    /// Two numbers of some 500 rows, which an index has.
    IndexCovered,
    /// Some 500 rows that an index leads to.
    Index500,
    /// Every value of all rows: not measured, but read to warm memory.
    Everything,
    /// Every entry of the first index that reads use: not measured, but read to warm memory.
    FirstEntries,
    /// The same of the second one.
    SecondEntries,
    /// All rows in key order: not measured, but looked at to hold engines to each other.
    AllRows,
}

/// An argument of a read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// A text.
    Text(String),
    /// An integer.
    Int(i64),
}

/// The arguments of one question.
pub type Arguments = Vec<Argument>;

/// Whose SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Ours.
    Saltwing,
    /// SQLite's.
    Sqlite,
}

/// How much a query reads, which decides how often it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// Microseconds.
    Light,
    /// A thousand rows or so.
    Range,
    /// All rows.
    Scan,
}

const IN_KEYS: u64 = 100;
const SKIP_PHONES: u64 = 20;
const SKIP_ROWS: u64 = 10;
/// Rows of [`Read::Agg401`].
pub const AGG_ROWS: u64 = 401;
/// Rows of [`Read::Index500`], about.
const INDEX_ROWS: u64 = 500;
/// Rows of [`Read::Page1000`].
pub const PAGE_ROWS: usize = 1000;
/// Rows of [`Read::Prefix500Arrow`].
pub const PREFIX_ROWS: usize = 500;
/// Rows of [`Read::Latest10`].
pub const LATEST_ROWS: usize = 10;

impl Read {
    /// Its name in the table.
    pub fn name(self) -> &'static str {
        match self {
            Read::Point => "point",
            Read::PointUnprepared => "point_unprepared",
            Read::Prefix500Arrow => "prefix500_arrow",
            Read::Prefix500Rows => "prefix500_rows",
            Read::Agg401 => "agg401",
            Read::Latest10 => "latest10",
            Read::Page1000 => "page1000",
            Read::In100 => "in100",
            Read::SkipScan => "skip_scan",
            Read::SumAll => "sum_all",
            Read::GroupAll => "group_all",
            Read::FilterAll => "filter_all",
            Read::Join1k => "join_1k",
            Read::JoinAll => "join_all",
            Read::WindowAll => "window_all",
            Read::SortAll => "sort_all",
            Read::IndexPoint => "index_point",
            Read::IndexCovered => "index_covered500",
            Read::Index500 => "index_rows500",
            Read::Everything => "everything",
            Read::FirstEntries => "first_entries",
            Read::SecondEntries => "second_entries",
            Read::AllRows => "all_rows",
        }
    }

    /// How much it reads.
    pub fn weight(self) -> Weight {
        match self {
            Read::Point | Read::PointUnprepared | Read::Agg401 | Read::Latest10 | Read::IndexPoint => Weight::Light,
            Read::SumAll
            | Read::GroupAll
            | Read::FilterAll
            | Read::JoinAll
            | Read::WindowAll
            | Read::SortAll
            | Read::Everything
            | Read::FirstEntries
            | Read::SecondEntries
            | Read::AllRows => Weight::Scan,
            _ => Weight::Range,
        }
    }

    /// Whether our own engine needs the relational one for it.
    pub fn is_relational(self) -> bool {
        matches!(self, Read::Join1k | Read::JoinAll | Read::WindowAll | Read::SortAll)
    }

    /// Whether it reads the table of items.
    pub fn needs_items(self) -> bool {
        matches!(self, Read::Join1k | Read::JoinAll)
    }

    /// Whether the statement says in which order rows come, or there is one.
    pub fn is_ordered(self) -> bool {
        !matches!(
            self,
            Read::In100 | Read::SkipScan | Read::GroupAll | Read::IndexPoint | Read::IndexCovered | Read::Index500
        )
    }

    /// The statement.
    pub fn sql(self, dialect: Dialect) -> String {
        let fixed = match self {
            Read::Point | Read::PointUnprepared => "SELECT a, b, c, d, url FROM log WHERE phone = ?1 AND ts = ?2",
            Read::Prefix500Arrow | Read::Prefix500Rows => {
                "SELECT phone, ts, a, b, c, d, url FROM log WHERE phone = ?1 ORDER BY phone, ts DESC LIMIT 500"
            }
            Read::Agg401 => "SELECT count(*), sum(a) FROM log WHERE phone = ?1 AND ts >= ?2 AND ts < ?3",
            Read::Latest10 => "SELECT ts, a FROM log WHERE phone = ?1 ORDER BY phone, ts DESC LIMIT 10",
            // The key goes down in its second column, which a comparison of rows does not follow. Each engine
            // gets the form that it reads one range for.
            Read::Page1000 => match dialect {
                Dialect::Saltwing => {
                    "SELECT phone, ts, a, b, c, d, url FROM log WHERE phone > ?1 OR (phone = ?1 AND ts < ?2) \
                     ORDER BY phone, ts DESC LIMIT 1000"
                }
                Dialect::Sqlite => {
                    "SELECT phone, ts, a, b, c, d, url FROM log WHERE phone >= ?1 AND (phone > ?1 OR ts < ?2) \
                     ORDER BY phone, ts DESC LIMIT 1000"
                }
            },
            Read::In100 => return in_keys(dialect),
            Read::SkipScan => return skip_scan(),
            Read::IndexPoint => "SELECT phone, ts, url FROM log WHERE a = ?1",
            Read::IndexCovered => "SELECT c, b FROM log WHERE c = ?1 AND b >= ?2 AND b < ?3",
            Read::Index500 => "SELECT phone, ts, a, url FROM log WHERE c = ?1 AND b >= ?2 AND b < ?3",
            Read::SumAll => "SELECT sum(a) FROM log",
            Read::FirstEntries => "SELECT sum(a + 1) FROM log WHERE a >= 0",
            Read::SecondEntries => "SELECT sum(b + 1) FROM log WHERE c >= 0",
            Read::Everything => {
                "SELECT sum(a + b + c + d), min(phone), min(ts), max(url) FROM log WHERE url <> 'no page'"
            }
            Read::AllRows => "SELECT phone, ts, a, b, c, d, url FROM log ORDER BY phone, ts DESC",
            Read::GroupAll => "SELECT c, count(*), sum(a) FROM log GROUP BY c",
            Read::FilterAll => "SELECT count(*), sum(b) FROM log WHERE a < 10000",
            Read::Join1k => "SELECT count(*), sum(i.weight) FROM log l JOIN item i ON i.id = l.d WHERE l.phone = ?1",
            Read::JoinAll => "SELECT count(*), sum(i.weight) FROM log l JOIN item i ON i.id = l.d",
            Read::WindowAll => {
                "SELECT max(place) FROM (SELECT rank() OVER (PARTITION BY c ORDER BY a) AS place FROM log) ranked"
            }
            Read::SortAll => "SELECT a, b FROM log ORDER BY a, b",
        };
        fixed.to_owned()
    }

    /// Random arguments; the rows that they name are there.
    pub fn arguments(self, log: Log, mix: &mut Mix) -> Arguments {
        let row = mix.below(log.rows);
        let phone = Argument::Text(log.phone(row));
        match self {
            Read::Point | Read::PointUnprepared | Read::Page1000 => vec![phone, Argument::Int(log.ts(row))],
            Read::Prefix500Arrow | Read::Prefix500Rows | Read::Latest10 | Read::Join1k => vec![phone],
            Read::Agg401 => {
                let first = row % log.phones() + mix.below(ROWS_A_PHONE - AGG_ROWS) * log.phones();
                let from = log.ts(first);
                vec![phone, Argument::Int(from), Argument::Int(from + log.span_of(AGG_ROWS))]
            }
            Read::In100 => {
                let rows = std::iter::once(row).chain((1..IN_KEYS).map(|_| mix.below(log.rows)));
                rows.flat_map(|row| [Argument::Text(log.phone(row)), Argument::Int(log.ts(row))]).collect()
            }
            Read::IndexPoint => {
                let [a, ..] = log.row(row).numbers;
                vec![Argument::Int(a)]
            }
            Read::IndexCovered | Read::Index500 => {
                let ([_, bs, cs, _], [_, b, c, _]) = (NUMBERS_BELOW, log.row(row).numbers);
                // Of the rows of one c, so large a part that there are 500.
                let width = (INDEX_ROWS * cs * bs / log.rows.max(1)).min(bs);
                let from = (b as u64).min(bs - width) as i64;
                vec![Argument::Int(c), Argument::Int(from), Argument::Int(from + width as i64)]
            }
            Read::SkipScan => {
                let from = log.ts(row);
                let mut arguments = vec![Argument::Int(from), Argument::Int(from + log.span_of(SKIP_ROWS))];
                let stride = (log.phones() / SKIP_PHONES).max(1);
                arguments.extend((0..SKIP_PHONES).map(|i| Argument::Text(log.phone(row + i * stride))));
                arguments
            }
            _ => Vec::new(),
        }
    }
}

fn in_keys(dialect: Dialect) -> String {
    let keys: Vec<String> = (0..IN_KEYS).map(|i| format!("(?{}, ?{})", 2 * i + 1, 2 * i + 2)).collect();
    let values = if dialect == Dialect::Sqlite { "VALUES " } else { "" };
    format!("SELECT a, b, c, d, url FROM log WHERE (phone, ts) IN ({values}{})", keys.join(", "))
}

fn skip_scan() -> String {
    let phones: Vec<String> = (0..SKIP_PHONES).map(|i| format!("?{}", i + 3)).collect();
    format!("SELECT phone, ts, a FROM log WHERE phone IN ({}) AND ts >= ?1 AND ts < ?2", phones.join(", "))
}

/// The tables, as the works need them beside the log; the text is both dialects'.
pub const SIDE_TABLES: [&str; 2] = [
    "CREATE TABLE IF NOT EXISTS item (id INTEGER NOT NULL PRIMARY KEY, weight BIGINT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS counter (id INTEGER NOT NULL PRIMARY KEY, n BIGINT NOT NULL)",
];

/// The statements that fill the table of items; the text is both dialects'.
pub fn item_inserts() -> impl Iterator<Item = String> {
    const ROWS: u64 = 1000;
    (0..ITEMS / ROWS).map(|batch| {
        let rows: Vec<String> = (batch * ROWS..(batch + 1) * ROWS).map(|id| format!("({id}, {})", id * 7)).collect();
        format!("INSERT INTO item VALUES {}", rows.join(", "))
    })
}
