//! Whether conditions imply another one: what a partial index is read by.

use std::borrow::Cow;

use saltwing_types::key_form::index_type;
use saltwing_types::{ColumnRef, Expr, KeyColumn, KeySchema, KeySource, SortOrder};

use crate::cover::Cover;
use crate::guard;
use crate::inclusion::Inclusion;
use crate::key_box::KeyBox;
use crate::key_space::KeySpace;
use crate::predicates::CoverBuilder;

/// Whether `wanted` is TRUE for every row for which all of `given` are. `true` is right; it is also `false` if
/// the values of columns do not show it, or only those of parameters do.
pub fn implies(given: &[&Expr], wanted: &Expr) -> bool {
    wanted.clone().into_conjuncts().iter().all(|part| given.contains(&part) || by_values(given, part))
}

/// Whether a condition bounds one of its columns, as the guard sees it.
pub(crate) fn bounds(condition: &Expr) -> bool {
    let schema = key_of_columns(condition);
    let space = KeySpace::new(&schema, [condition]).with_empty_apart();
    let cover = CoverBuilder::holds(condition, &space);
    (0..space.len()).any(|position| guard::cover_bounds(&cover, position, &space))
}

/// Whether the values that columns have by `given` are among those for which `wanted` is TRUE.
fn by_values(given: &[&Expr], wanted: &Expr) -> bool {
    let schema = key_of_columns(wanted);
    if schema.columns.is_empty() {
        return false;
    }
    let space = KeySpace::new(&schema, [wanted]).with_empty_apart();
    let wanted = CoverBuilder::holds(wanted, &space);
    let found = Cover::intersect_all(given.iter().map(|expr| CoverBuilder::holds(expr, &space)), &space);
    if !wanted.is_exact() {
        return false;
    }
    let found: Vec<Cow<'_, KeyBox>> = found.boxes.iter().map(Cow::Borrowed).collect();
    Inclusion::new(&wanted, &space).holds_all(&found)
}

/// A key of the columns that a condition names, by which their values are looked at.
fn key_of_columns(condition: &Expr) -> KeySchema {
    let mut columns: Vec<&ColumnRef> = Vec::new();
    condition.walk(&mut |expr| {
        if let Expr::Column(column) = expr
            && !columns.iter().any(|known| known.index == column.index)
        {
            columns.push(column);
        }
    });
    let key_column = |column: &ColumnRef| KeyColumn {
        source: KeySource::Column(column.index),
        name: column.name.clone(),
        ty: index_type(column.ty),
        order: SortOrder::Asc,
        nullable: true,
    };
    KeySchema { columns: columns.into_iter().map(key_column).collect(), salt: None }
}
