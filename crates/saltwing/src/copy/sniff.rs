//! The columns of a text that nobody has described: names and types by its first lines, as DuckDB finds them.
//!
//! | what | how |
//! |---|---|
//! | delimiter | of comma, semicolon, tab and bar the one that splits the first lines into the same number of fields, the more the better |
//! | header | the first line has the names if its fields are different texts, and the lines below hold something else, or all is text |
//! | type | the first of BOOLEAN, BIGINT, DOUBLE, DATE, TIMESTAMP, VARCHAR that takes all values; of JSON lines also JSON |

use std::collections::HashSet;
use std::io::BufRead;

use saltwing_types::{SqlType, json, text};

use super::batch_reader::TextColumn;
use super::json_lines::{JsonLines, LineError};
use super::reader::{Format, RecordError, RecordReader};

/// Lines that decide about types.
pub(super) const LINES_SNIFFED: usize = 20_480;
/// Lines that decide about the delimiter.
const LINES_SPLIT: usize = 100;
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// How a CSV file is to be read.
#[derive(Clone, Debug)]
pub(super) struct SniffedCsv {
    pub(super) format: Format,
    pub(super) has_header: bool,
    pub(super) columns: Vec<TextColumn>,
}

/// The types that all values of a column have, so far.
#[derive(Clone, Copy, Debug)]
struct Candidates {
    boolean: bool,
    integer: bool,
    double: bool,
    date: bool,
    timestamp: bool,
    /// Lists or objects.
    nested: bool,
    any: bool,
}

impl Candidates {
    const ALL: Self =
        Self { boolean: true, integer: true, double: true, date: true, timestamp: true, nested: false, any: false };

    fn take(&mut self, value: &str) {
        self.any = true;
        self.boolean &= value.eq_ignore_ascii_case("true") || value.eq_ignore_ascii_case("false");
        self.integer &= value.parse::<i64>().is_ok();
        // Not the words for what is no number.
        self.double &= value.ends_with(|c: char| c.is_ascii_digit() || c == '.') && value.parse::<f64>().is_ok();
        let is_instant = self.timestamp && value.len() >= 8 && text::parse(value, SqlType::Timestamp).is_ok();
        self.timestamp &= is_instant;
        self.date &= is_instant && value.len() <= 10;
    }

    fn ty(self) -> SqlType {
        let Self { boolean, integer, double, date, timestamp, nested, any } = self;
        let found = [
            (!any, SqlType::Varchar(None)),
            (nested, SqlType::Json),
            (boolean, SqlType::Boolean),
            (integer, SqlType::BigInt),
            (double, SqlType::Double),
            (date, SqlType::Date),
            (timestamp, SqlType::Timestamp),
        ];
        found.into_iter().find(|(is, _)| *is).map_or(SqlType::Varchar(None), |(_, ty)| ty)
    }
}

/// Finds out how the records of a file are written. `begin` is its first bytes.
pub(super) fn sniff_csv<R: BufRead>(begin: &[u8], input: R) -> Result<SniffedCsv, RecordError> {
    let format = |delimiter| Format { delimiter, quote: b'"', escape: b'"' };
    let format = format(delimiter(begin, format));
    let mut reader = RecordReader::new(input, format);
    let mut first: Vec<String> = Vec::new();
    // Without and with the first line.
    let (mut below, mut whole): (Vec<Candidates>, Vec<Candidates>) = (Vec::new(), Vec::new());
    for line in 0..=LINES_SNIFFED {
        if !reader.read()? {
            break;
        }
        let fields = reader.fields()?;
        if line == 0 {
            first = fields.iter().map(|field| field.text.trim_start_matches('\u{feff}').trim().to_owned()).collect();
            (below, whole) = (vec![Candidates::ALL; first.len()], vec![Candidates::ALL; first.len()]);
        }
        for (place, field) in fields.iter().enumerate().filter(|(_, field)| field.quoted || !field.text.is_empty()) {
            whole.get_mut(place).into_iter().for_each(|column| column.take(field.text));
            if line > 0 {
                below.get_mut(place).into_iter().for_each(|column| column.take(field.text));
            }
        }
    }
    let has_header = is_header(&first, &below, &whole);
    let columns = first.into_iter().enumerate().map(|(place, name)| match has_header {
        true => (name, below.get(place)),
        false => (format!("column{place}"), whole.get(place)),
    });
    let columns =
        columns.map(|(name, found)| TextColumn { name, ty: found.map_or(SqlType::Varchar(None), |it| it.ty()) });
    Ok(SniffedCsv { format, has_header, columns: columns.collect() })
}

/// The delimiter that splits the first lines evenly.
fn delimiter(begin: &[u8], format: impl Fn(u8) -> Format) -> u8 {
    // The last line may be cut off.
    let whole = begin.iter().rposition(|byte| *byte == b'\n').and_then(|end| begin.get(..=end)).unwrap_or(begin);
    let fields = |delimiter: u8| {
        let mut reader = RecordReader::new(whole, format(delimiter));
        let mut count = None;
        for _ in 0..LINES_SPLIT {
            if !reader.read().ok()? {
                break;
            }
            let fields = reader.fields().ok()?.len();
            if *count.get_or_insert(fields) != fields {
                return None;
            }
        }
        count.filter(|count| *count > 1)
    };
    let counted = DELIMITERS.into_iter().filter_map(|delimiter| Some((fields(delimiter)?, delimiter)));
    // Of several the first one listed.
    let best = counted.reduce(|best, other| if other.0 > best.0 { other } else { best });
    best.map_or(b',', |(_, delimiter)| delimiter)
}

fn is_header(first: &[String], below: &[Candidates], whole: &[Candidates]) -> bool {
    let mut names = HashSet::new();
    let are_names = first.iter().all(|name| !name.is_empty() && names.insert(name.to_lowercase()));
    let is_text = |found: &Candidates| found.ty() == SqlType::Varchar(None);
    // A line of names spoils the type of a column, unless all columns are texts.
    let spoils = below.iter().zip(whole).any(|(below, whole)| !is_text(below) && is_text(whole));
    are_names && (spoils || whole.iter().all(is_text))
}

/// Finds the columns of JSON lines: the keys in the order in which they come.
pub(super) fn sniff_json<R: BufRead>(input: R) -> Result<Vec<TextColumn>, (u64, LineError)> {
    let mut lines = JsonLines::new(input, Vec::new());
    let mut found: Vec<(String, Candidates)> = Vec::new();
    for _ in 0..LINES_SNIFFED {
        if !lines.read().map_err(|error| (lines.number + 1, error))? {
            break;
        }
        for (key, value) in lines.members().map_err(|error| (lines.number, error))? {
            let place = found.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
                found.push((key, Candidates::ALL));
                found.len() - 1
            });
            let Some((_, column)) = found.get_mut(place) else { continue };
            match value.as_bytes().first() {
                Some(b'[' | b'{') => (column.nested, column.any) = (true, true),
                _ if value == "null" => {}
                Some(b'"') => {
                    // A text is no number, whatever it holds.
                    (column.integer, column.double, column.boolean) = (false, false, false);
                    column.take(&json::plain_text(value).ok().flatten().unwrap_or_default());
                }
                _ => column.take(value),
            }
        }
    }
    Ok(found.into_iter().map(|(name, found)| TextColumn { name, ty: found.ty() }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn csv(text: &str) -> (u8, bool, String) {
        let found = sniff_csv(text.as_bytes(), text.as_bytes()).unwrap();
        let columns = found.columns.iter().map(|column| format!("{} {}", column.name, column.ty));
        (found.format.delimiter, found.has_header, columns.collect::<Vec<_>>().join(", "))
    }

    #[test]
    fn csv_is_found_out() {
        let typed = "k;day;at;ok;f;s\n1;2024-05-01;2024-05-01 10:11:12;true;1.5;x\n-2;2024-05-02;;false;2;\n";
        assert_eq!(
            csv(typed),
            (b';', true, "k BIGINT, day DATE, at TIMESTAMP, ok BOOLEAN, f DOUBLE, s VARCHAR".to_owned())
        );
        assert_eq!(csv("1,a\n2,b\n"), (b',', false, "column0 BIGINT, column1 VARCHAR".to_owned()));
        assert!(csv("name,city\na,b\n").1);
        // A result without rows has its names, and a name that stands twice is none.
        assert!(csv("a,b\n").1);
        assert!(!csv("a,1\n").1);
        assert!(!csv("a,a\n1,2\n").1);
        assert_eq!(csv("a|b\n\"x|y\"|2\n"), (b'|', true, "a VARCHAR, b BIGINT".to_owned()));
        assert_eq!(csv("k\nnan\n1\n").2, "k VARCHAR");
        assert_eq!(csv("").2, "");
    }

    #[test]
    fn json_lines_are_found_out() {
        let text = "{\"k\": 1, \"f\": 1, \"s\": \"1\", \"n\": null}\n\n{\"k\": 2, \"f\": 1.5, \"o\": {\"a\": []}, \"d\": \"2024-05-01\"}";
        let columns = sniff_json(text.as_bytes()).unwrap();
        let columns: Vec<String> = columns.iter().map(|column| format!("{} {}", column.name, column.ty)).collect();
        assert_eq!(columns, ["k BIGINT", "f DOUBLE", "s VARCHAR", "n VARCHAR", "o JSON", "d DATE"]);
        assert_eq!(sniff_json("{\"k\": 1}\n[]".as_bytes()).unwrap_err().0, 2);
    }
}
