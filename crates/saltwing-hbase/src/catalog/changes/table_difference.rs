//! What a statement changes of a table's definition.

use saltwing_types::{ColumnDef, TableDef};

/// A change that Phoenix's catalog can take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TableDifference {
    /// The columns from this place on are new.
    Added(usize),
    /// The columns at these places are gone.
    Dropped(Vec<usize>),
}

/// What has changed from one definition to the next.
///
/// # Errors
/// A change that is made with Phoenix alone, as a sentence.
pub(super) fn table_difference(old: &TableDef, new: &TableDef) -> Result<TableDifference, String> {
    check_rest(old, new)?;
    let is_same = |old: &ColumnDef, new: &ColumnDef| old == new;
    let count = old.columns.len();
    if new.columns.len() > count {
        return match old.columns.iter().zip(&new.columns).all(|(old, new)| is_same(old, new)) {
            true => Ok(TableDifference::Added(count)),
            false => Err("columns are changed and added at once".to_owned()),
        };
    }
    let mut left = new.columns.iter().peekable();
    let is_gone = |(_, column): &(usize, &ColumnDef)| left.next_if(|next| is_same(column, next)).is_none();
    let dropped: Vec<usize> = old.columns.iter().enumerate().filter(is_gone).map(|(place, _)| place).collect();
    match dropped.len() {
        gone if gone > 0 && gone == count - new.columns.len() => Ok(TableDifference::Dropped(dropped)),
        _ => Err("columns keep their names, types, DEFAULTs and comments: ALTER TABLE adds and drops columns here"
            .to_owned()),
    }
}

fn check_rest(old: &TableDef, new: &TableDef) -> Result<(), String> {
    let reason = if old.indexes != new.indexes {
        "indexes are made and dropped with Phoenix: CREATE INDEX there, and writes from here keep it"
    } else if old.name != new.name {
        "tables of Phoenix keep their names"
    } else if old.checks != new.checks {
        "Phoenix has no CHECK constraints, and columns keep NOT NULL as it is; a key column after one of varying width is added with Phoenix"
    } else if old.comment != new.comment {
        "Phoenix has no comments"
    } else if old.options != new.options || old.ttl_s != new.ttl_s {
        "options of tables are changed with Phoenix: ALTER TABLE .. SET there"
    } else {
        return Ok(());
    };
    Err(reason.to_owned())
}

#[cfg(test)]
mod tests {
    use saltwing_types::table::TableHistory;
    use saltwing_types::{KeySchema, ObjectId, SqlType, TableId, TableName};

    use super::*;

    fn table(columns: &[&str]) -> TableDef {
        TableDef {
            id: TableId(1),
            object_id: ObjectId::NEW,
            name: TableName::bare("T"),
            columns: columns.iter().map(|name| ColumnDef::new(*name, SqlType::Integer)).collect(),
            key: KeySchema { columns: Vec::new(), salt: None },
            key_name: None,
            families: vec![None],
            ttl_s: None,
            options: Vec::new(),
            history: TableHistory::default(),
            comment: None,
            checks: Vec::new(),
            indexes: Vec::new(),
        }
    }

    #[test]
    fn columns_are_added_or_dropped() {
        let old = table(&["K", "A", "B", "C"]);
        let to = |columns: &[&str]| table_difference(&old, &table(columns));
        assert_eq!(to(&["K", "A", "B", "C", "D", "E"]), Ok(TableDifference::Added(4)));
        assert_eq!(to(&["K", "B"]), Ok(TableDifference::Dropped(vec![1, 3])));
        for other in [&["K", "A", "B", "C"][..], &["K", "X", "B", "C"], &["K", "X", "B"], &["K", "X", "B", "C", "D"]] {
            assert!(to(other).is_err(), "{other:?}");
        }
        let renamed = TableDef { name: TableName::bare("U"), ..old.clone() };
        assert!(table_difference(&old, &renamed).unwrap_err().contains("names"));
        let expiring = TableDef { ttl_s: Some(1), ..old.clone() };
        assert!(table_difference(&old, &expiring).unwrap_err().contains("SET there"));
    }
}
