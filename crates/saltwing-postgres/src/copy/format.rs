//! PostgreSQL's formats of COPY.

use super::error::CopyError;

/// A format of PostgreSQL, with its characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CopyFormat {
    /// Lines of fields with escapes.
    Text(TextFormat),
    /// Comma-separated values.
    Csv(CsvFormat),
    /// The binary forms of the values.
    Binary,
}

/// The format `text`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TextFormat {
    /// Stands between fields.
    pub(crate) delimiter: u8,
    /// The field that means NULL.
    pub(crate) null: String,
    /// The first line.
    pub(crate) header: Header,
}

impl Default for TextFormat {
    fn default() -> Self {
        Self { delimiter: b'\t', null: "\\N".to_owned(), header: Header::Absent }
    }
}

/// The format `csv`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CsvFormat {
    /// Stands between fields.
    pub(crate) delimiter: u8,
    /// Stands around a field that holds special characters.
    pub(crate) quote: u8,
    /// Makes a quote, or itself, plain inside of quotes.
    pub(crate) escape: u8,
    /// The field, not in quotes, that means NULL.
    pub(crate) null: String,
    /// The first line.
    pub(crate) header: Header,
    /// COPY TO: columns whose values are always in quotes.
    pub(crate) force_quote: Forced,
    /// COPY FROM: columns in which the field of NULL is a text.
    pub(crate) force_not_null: Forced,
    /// COPY FROM: columns in which the field of NULL means NULL in quotes, too.
    pub(crate) force_null: Forced,
}

impl Default for CsvFormat {
    fn default() -> Self {
        Self {
            delimiter: b',',
            quote: b'"',
            escape: b'"',
            null: String::new(),
            header: Header::Absent,
            force_quote: Forced::None,
            force_not_null: Forced::None,
            force_null: Forced::None,
        }
    }
}

/// What the first line has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Header {
    /// The first row.
    #[default]
    Absent,
    /// Names of columns, which COPY FROM passes over.
    Present,
    /// The names of the copied columns in their order, which COPY FROM checks.
    Matching,
}

/// The columns for which an option holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Forced {
    /// No column.
    #[default]
    None,
    /// All columns.
    All,
    /// The columns of these names.
    Columns(Vec<String>),
}

impl Forced {
    /// Whether the option holds for each of the columns of these names.
    ///
    /// # Errors
    /// [`CopyError::ForcedColumn`] for a column that is not among them.
    pub(super) fn of_columns(&self, option: &'static str, columns: &[&str]) -> Result<Vec<bool>, CopyError> {
        let named = match self {
            Self::None => return Ok(vec![false; columns.len()]),
            Self::All => return Ok(vec![true; columns.len()]),
            Self::Columns(named) => named,
        };
        let place = |name: &str| {
            let exact = columns.iter().position(|column| *column == name);
            exact.or_else(|| columns.iter().position(|column| column.to_lowercase() == name.to_lowercase()))
        };
        let mut forced = vec![false; columns.len()];
        for name in named {
            let found = place(name).and_then(|place| forced.get_mut(place));
            *found.ok_or_else(|| CopyError::ForcedColumn { option, column: name.clone() })? = true;
        }
        Ok(forced)
    }
}
