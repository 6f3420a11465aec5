//! Finds the names and types of the columns of a text from its first lines, as DuckDB does.
//!
//! | property | rule |
//! |---|---|
//! | delimiter | of comma, semicolon, tab and bar, the one that splits the first lines into the same number of fields; the most fields win |
//! | header | the first line has names if it has texts where later lines have other types, or if all columns are texts and its fields are distinct |
//! | type | first of BOOLEAN, BIGINT, DOUBLE, DECIMAL, DATE, TIMESTAMP, VARCHAR that keeps all values; JSON in JSON lines ([`super::candidates`]) |
//!
//! Options of the statement take precedence over these rules.

use std::collections::HashMap;
use std::io::BufRead;

use saltwing_sql::statement::CopyOptions;
use saltwing_types::json;
use saltwing_types::table::COLUMNS_MAX;

use super::batch_reader::TextColumn;
use super::candidates::Values;
use super::header::{FirstLine, header_names};
use super::json_lines::{JsonLines, LineError};
use super::reader::{Field, Format, RecordError, RecordReader};

/// The number of lines that decide the types.
pub(crate) const LINES_SNIFFED: usize = 20_480;
/// The number of lines that decide the delimiter.
const LINES_SPLIT: usize = 100;
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// The columns and format of a CSV file.
#[derive(Clone, Debug)]
pub(crate) struct SniffedCsv {
    pub(crate) format: Format,
    pub(crate) has_header: bool,
    /// The unquoted field that means NULL.
    pub(crate) null: String,
    pub(crate) columns: Vec<TextColumn>,
    /// For each column a notice about its type, if there is one.
    pub(crate) notices: Vec<Option<String>>,
}

/// Finds the columns and format of a file. `begin` is its first bytes, `format` the format that the options give.
pub(crate) fn sniff_csv<R: BufRead>(
    begin: &[u8],
    input: R,
    format: Format,
    options: &CopyOptions,
) -> Result<SniffedCsv, RecordError> {
    let format = match options.delimiter {
        Some(_) => format,
        None => Format { delimiter: delimiter(begin, format), ..format },
    };
    let null = options.null.clone().unwrap_or_default();
    let is_null = |field: &Field<'_>| !field.quoted && field.text == null;
    let mut reader = RecordReader::new(input, format);
    let mut first = FirstLine { fields: Vec::new(), values: Vec::new(), below: None };
    let mut below: Vec<Values> = Vec::new();
    for line in 0..=LINES_SNIFFED {
        if !reader.read()? {
            break;
        }
        let number = reader.first_line();
        let fields = reader.fields()?;
        if line == 0 {
            first.values = fields.iter().map(|field| !is_null(field)).collect();
            first.fields = fields.iter().map(|field| field.text.to_owned()).collect();
            below = vec![Values::new(); fields.len()];
        } else {
            if line == 1 {
                first.below = fields.first().map(|field| field.text.to_owned());
            }
            for (field, values) in fields.iter().zip(&mut below).filter(|(field, _)| !is_null(field)) {
                values.take(field.text, number);
            }
        }
        match (line, fields.len()) {
            (0, 1) => reader.keep_empty_records(),
            // The file is refused without finding the types.
            (0, count) if count > COLUMNS_MAX => break,
            _ => {}
        }
    }
    let with_first = |((values, field), is_value): ((&Values, &String), &bool)| match is_value {
        true => values.with(field),
        false => values.clone(),
    };
    let whole: Vec<Values> = below.iter().zip(&first.fields).zip(&first.values).map(with_first).collect();
    let has_header = options.header.unwrap_or_else(|| first.is_header(&below, &whole));
    let (names, found) = match has_header {
        true => (header_names(&first.fields), below),
        false => ((0..whole.len()).map(|place| format!("column{place}")).collect(), whole),
    };
    let notices = names.iter().zip(&found).map(|(name, values)| notice(name, values)).collect();
    let column = |(name, values): (String, &Values)| TextColumn { name, ty: values.ty() };
    let columns = names.into_iter().zip(&found).map(column).collect();
    Ok(SniffedCsv { format, has_header, null, columns, notices })
}

/// A notice that a "no value" text makes all values of a column texts.
fn notice(name: &str, values: &Values) -> Option<String> {
    let (text, line, ty) = values.spoilt_by()?;
    let quoted = text.replace('\'', "''");
    Some(format!(
        "column {name} is VARCHAR because of {text} in line {line}, all else is {ty}; WITH (NULL '{quoted}') behind the file's name reads {text} as NULL"
    ))
}

/// The delimiter that splits the first lines evenly.
fn delimiter(begin: &[u8], format: Format) -> u8 {
    // The last line may be cut off.
    let whole = begin.iter().rposition(|byte| *byte == b'\n').and_then(|end| begin.get(..=end)).unwrap_or(begin);
    let fields = |delimiter: u8| {
        let mut reader = RecordReader::new(whole, Format { delimiter, ..format });
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
    // If several are equal, the first one wins.
    let best = counted.reduce(|best, other| if other.0 > best.0 { other } else { best });
    best.map_or(b',', |(_, delimiter)| delimiter)
}

/// Finds the columns of JSON lines: the keys in the order of their first occurrence.
pub(crate) fn sniff_json<R: BufRead>(input: R) -> Result<Vec<TextColumn>, (u64, LineError)> {
    let mut lines = JsonLines::new(input, Vec::new());
    let mut found: Vec<(String, Values)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for _ in 0..LINES_SNIFFED {
        if !lines.read().map_err(|error| (lines.number + 1, error))? {
            break;
        }
        if found.len() > COLUMNS_MAX {
            break;
        }
        for (key, value) in lines.members().map_err(|error| (lines.number, error))?.into_iter().take(COLUMNS_MAX + 1) {
            let place = places.get(&key).copied().unwrap_or_else(|| {
                places.insert(key.clone(), found.len());
                found.push((key, Values::new()));
                found.len() - 1
            });
            let Some((_, values)) = found.get_mut(place) else { continue };
            match value.as_bytes().first() {
                Some(b'[' | b'{') => values.take_nested(),
                _ if value == "null" => {}
                Some(b'"') => {
                    values.take_text(&json::plain_text(value).ok().flatten().unwrap_or_default(), lines.number);
                }
                _ => values.take(value, lines.number),
            }
        }
    }
    Ok(found.into_iter().map(|(name, values)| TextColumn { name, ty: values.ty() }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CSV: Format = Format { delimiter: b',', quote: b'"', escape: b'"' };

    fn sniffed(text: &str, options: &CopyOptions) -> SniffedCsv {
        sniff_csv(text.as_bytes(), text.as_bytes(), CSV, options).unwrap()
    }

    fn csv(text: &str) -> (u8, bool, String) {
        let found = sniffed(text, &CopyOptions::default());
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
        assert_eq!(csv("\u{feff}1,a\n2,b\n").2, "column0 BIGINT, column1 VARCHAR");
        assert!(csv("name,city\na,b\n").1);
        // The file of an empty result has names alone; values are not names.
        assert!(csv("a,b\n").1);
        assert!(!csv("a,1\n").1);
        assert!(!csv("01000,x\n94107,y\n").1 && !csv("x,x\ny,z\n").1 && !csv(",x\ny,z\n").1);
        // A "no value" text is not a name.
        assert!(!csv("NA,5\n1,6\n").1);
        assert_eq!(csv("a|b\n\"x|y\"|2\n"), (b'|', true, "a VARCHAR, b BIGINT".to_owned()));
        assert_eq!(csv("k\nnan\n1\n").2, "k VARCHAR");
        assert_eq!(csv("").2, "");
    }

    #[test]
    fn headers_may_lack_names_and_repeat_them() {
        assert_eq!(csv(",a,b\n0,1,2.5\n1,3,4.5\n").2, "column0 BIGINT, a BIGINT, b DOUBLE");
        assert_eq!(csv("id,a,A\n0,1,2\n").2, "id BIGINT, a BIGINT, A_1 BIGINT");
        assert_eq!(csv("a,b,\n1,2,\n3,4,\n").2, "a BIGINT, b BIGINT, column2 VARCHAR");
        assert_eq!(csv("city,name,\nRome,x,\nOslo,y,\n").2, "city VARCHAR, name VARCHAR, column2 VARCHAR");
        // A column of row numbers without a name, and a column of texts: pandas writes such files.
        assert_eq!(csv(",city\n0,Rome\n1,Oslo\n").2, "column0 BIGINT, city VARCHAR");
        assert!(!csv(",Oslo\n5,Rome\n6,Bern\n").1);
        let names = |fields: &[&str]| header_names(&fields.iter().map(|&field| field.to_owned()).collect::<Vec<_>>());
        assert_eq!(names(&["a", "a", "a_1", " A ", ""]), ["a", "a_2", "a_1", "A_3", "column4"]);
        assert_eq!(names(&["", "column0"]), ["column0_1", "column0"]);
    }

    #[test]
    fn an_empty_line_is_null_where_there_is_one_column() {
        assert_eq!(csv("v\n10\n\n30\n"), (b',', true, "v BIGINT".to_owned()));
        assert_eq!(csv("\n10\n"), (b',', false, "column0 BIGINT".to_owned()));
    }

    #[test]
    fn options_are_not_found_out() {
        let with = |set: fn(&mut CopyOptions)| {
            let mut options = CopyOptions::default();
            set(&mut options);
            let found = sniffed("k,v\n1,NA\n2,3\n", &options);
            let columns = found.columns.iter().map(|column| format!("{} {}", column.name, column.ty));
            (columns.collect::<Vec<_>>().join(", "), found.notices)
        };
        let (columns, notices) = with(|_| {});
        assert_eq!(columns, "k BIGINT, v VARCHAR");
        assert_eq!(
            notices,
            [
                None,
                Some("column v is VARCHAR because of NA in line 2, all else is BIGINT; WITH (NULL 'NA') behind the file's name reads NA as NULL".to_owned())
            ]
        );
        let null = |options: &mut CopyOptions| options.null = Some("NA".to_owned());
        assert_eq!(with(null), ("k BIGINT, v BIGINT".to_owned(), vec![None, None]));
        assert_eq!(with(|options| options.header = Some(false)).0, "column0 VARCHAR, column1 VARCHAR");
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
