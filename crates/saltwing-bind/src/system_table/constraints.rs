//! `information_schema.table_constraints` and `key_column_usage`: primary keys, unique indexes of all rows, and CHECK constraints. And
//! `referential_constraints`, of which there are none.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_types::{Expr, TableDef};

use super::definition::{CATALOG, Column, Definition, SystemFacts};
use crate::error::Result;
use crate::key_constraint::{key_constraint, key_constraint_shown};

pub(super) static TABLE_CONSTRAINTS: Definition<Constraint> = Definition {
    name: "table_constraints",
    columns: &[
        Column::text("constraint_catalog", |_| Some(CATALOG.into())),
        Column::text("constraint_schema", |it: &Constraint| it.table().name.schema.clone()),
        Column::text("constraint_name", |it| Some(it.name.clone())),
        Column::text("table_catalog", |_| Some(CATALOG.into())),
        Column::text("table_schema", |it| it.table().name.schema.clone()),
        Column::text("table_name", |it| Some(it.table().name.name.clone())),
        Column::text("constraint_type", |it| Some(it.kind.into())),
        Column::yes_or_no("is_deferrable", |_| false),
        Column::yes_or_no("initially_deferred", |_| false),
        Column::yes_or_no("enforced", |_| true),
    ],
    objects: constraints,
};

pub(super) static KEY_COLUMN_USAGE: Definition<KeyColumnUse> = Definition {
    name: "key_column_usage",
    columns: &[
        Column::text("constraint_catalog", |_| Some(CATALOG.into())),
        Column::text("constraint_schema", |it: &KeyColumnUse| it.of.table().name.schema.clone()),
        Column::text("constraint_name", |it| Some(it.of.name.clone())),
        Column::text("table_catalog", |_| Some(CATALOG.into())),
        Column::text("table_schema", |it| it.of.table().name.schema.clone()),
        Column::text("table_name", |it| Some(it.of.table().name.name.clone())),
        Column::text("column_name", |it| Some(it.column.clone())),
        Column::integer("ordinal_position", |it| it.place),
        Column::integer("position_in_unique_constraint", |_| None),
    ],
    objects: key_columns,
};

/// Programs that ask for foreign keys get no rows.
pub(super) static REFERENTIAL_CONSTRAINTS: Definition<ForeignKey> = Definition {
    name: "referential_constraints",
    columns: &[
        Column::text("constraint_catalog", |key: &ForeignKey| match *key {}),
        Column::text("constraint_schema", |key| match *key {}),
        Column::text("constraint_name", |key| match *key {}),
        Column::text("unique_constraint_catalog", |key| match *key {}),
        Column::text("unique_constraint_schema", |key| match *key {}),
        Column::text("unique_constraint_name", |key| match *key {}),
        Column::text("match_option", |key| match *key {}),
        Column::text("update_rule", |key| match *key {}),
        Column::text("delete_rule", |key| match *key {}),
    ],
    objects: |_| Ok(Vec::new()),
};

/// A foreign key: there is none.
pub(super) enum ForeignKey {}

/// A constraint of a table.
#[derive(Clone)]
pub(super) struct Constraint {
    table: Arc<Table>,
    name: String,
    kind: &'static str,
    /// The columns of its key, in their order.
    columns: Vec<String>,
}

impl Constraint {
    fn table(&self) -> &TableDef {
        self.table.def()
    }
}

/// A column of the key of a constraint.
pub(super) struct KeyColumnUse {
    of: Constraint,
    column: String,
    place: Option<i32>,
}

fn constraints(facts: &SystemFacts<'_>) -> Result<Vec<Constraint>> {
    let mut found = Vec::new();
    for table in facts.tables()? {
        let def = table.def();
        let constraint = |name, kind, columns| Constraint { table: table.clone(), name, kind, columns };
        let shown = |index: usize| def.columns.get(index).filter(|column| !column.hidden);
        let keys = def.key.columns.iter().filter_map(|key| Some(shown(key.column()?)?.name.clone()));
        let keys: Vec<String> = keys.collect();
        // A table without a key of its own has a hidden one.
        if !keys.is_empty() {
            let name = key_constraint_shown(&def.name.name, key_constraint(def));
            found.push(constraint(name, "PRIMARY KEY", keys));
        }
        for index in def.indexes.iter().filter(|index| index.unique && index.predicate.is_none()) {
            let columns = index.parts.iter().map(|part| match &part.expr {
                Expr::Column(column) => shown(column.index).map(|column| column.name.clone()),
                _ => None,
            });
            // An expression is no column.
            if let Some(columns) = columns.collect::<Option<Vec<String>>>() {
                found.push(constraint(index.name.clone(), "UNIQUE", columns));
            }
        }
        let checks = def.checks.iter().map(|check| constraint(check.name.clone(), "CHECK", Vec::new()));
        found.extend(checks);
    }
    Ok(found)
}

fn key_columns(facts: &SystemFacts<'_>) -> Result<Vec<KeyColumnUse>> {
    let of = |of: Constraint| {
        let columns = of.columns.clone().into_iter().enumerate();
        columns.map(move |(place, column)| KeyColumnUse {
            of: of.clone(),
            column,
            place: i32::try_from(place + 1).ok(),
        })
    };
    Ok(constraints(facts)?.into_iter().flat_map(of).collect())
}
