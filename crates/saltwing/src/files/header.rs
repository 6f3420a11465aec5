//! The first line of a CSV file: whether it is a header, and the names of the columns.

use std::collections::HashSet;

use saltwing_types::SqlType;

use super::candidates::{Values, is_among, is_null_text, is_value};

/// The first line of a file.
pub(crate) struct FirstLine {
    pub(crate) fields: Vec<String>,
    /// For each field, whether it is a value and not NULL.
    pub(crate) values: Vec<bool>,
    /// The first field of the second line.
    pub(crate) below: Option<String>,
}

impl FirstLine {
    /// Whether the line has the names of the columns. `below` are the values of the other lines, `whole` those of all lines.
    pub(crate) fn is_header(&self, below: &[Values], whole: &[Values]) -> bool {
        let columns = || self.fields.iter().zip(below.iter().zip(whole));
        // A text in a column of another type must be a name.
        let spoils = |(field, (below, whole)): (&String, (&Values, &Values))| {
            !below.is_text() && whole.is_text() && !is_null_text(field) && !is_among(field, below.ty())
        };
        columns().any(spoils) || self.has_index_of_rows(below) || {
            let mut names = HashSet::new();
            // A delimiter at the end of each line makes a column without a name and without values.
            let is_name = |(field, (_, whole)): (&String, (&Values, &Values))| {
                whole.is_text() && (!whole.any() || is_new_name(field, &mut names))
            };
            columns().any(|(_, (_, whole))| whole.any()) && columns().all(is_name)
        }
    }

    /// Whether the first column has no name and numbers the rows from 0, as in files of pandas.
    fn has_index_of_rows(&self, below: &[Values]) -> bool {
        let Some(([first], others)) = self.fields.split_at_checked(1) else { return false };
        let is_index = below.first().is_some_and(|values| values.ty() == SqlType::BigInt);
        let mut names = HashSet::new();
        first.is_empty()
            && is_index
            && self.below.as_deref() == Some("0")
            && !others.is_empty()
            && others.iter().all(|field| is_new_name(field, &mut names))
    }
}

fn is_new_name(field: &str, names: &mut HashSet<String>) -> bool {
    let name = field.trim();
    !name.is_empty() && !is_value(name) && names.insert(name.to_lowercase())
}

/// The names of the columns. A column without a name gets a name from its position, and a repeated name gets a number as its
/// suffix.
pub(crate) fn header_names(fields: &[String]) -> Vec<String> {
    let mut taken: HashSet<String> = HashSet::new();
    let given: HashSet<String> = fields.iter().map(|field| field.trim().to_lowercase()).collect();
    let mut name = |(place, field): (usize, &String)| {
        let field = field.trim();
        let wanted = if field.is_empty() { format!("column{place}") } else { field.to_owned() };
        if (field.is_empty() && given.contains(&wanted)) || !taken.insert(wanted.to_lowercase()) {
            let mut numbered = (1..).map(|number| format!("{wanted}_{number}"));
            let is_free = |name: &String| !given.contains(&name.to_lowercase()) && taken.insert(name.to_lowercase());
            return numbered.find(is_free).unwrap_or(wanted);
        }
        wanted
    };
    fields.iter().enumerate().map(&mut name).collect()
}
