//! Expressions and queries as text.
//!
//! # Law
//! What is printed parses again, to the same expression, places aside.

use std::fmt::Display;
use std::ops::ControlFlow;

use sqlparser::ast::{
    Ident, ObjectName, ObjectNamePart, TableFactor, Value, ValueWithSpan, Visit, VisitMut, Visitor, VisitorMut,
};

use crate::dynamic_column::{DynamicColumn, dynamic_columns, set_dynamic_columns};

/// An expression, or a query, as text that is read back as the same.
///
/// sqlparser's own printing takes two quotes in a row inside a string for one
/// that is already escaped; such strings are printed as `E'..'`. The time of AS OF
/// it prints after the table's alias. Dynamic columns are
/// a [part of the table's name](crate::dynamic_columns).
pub fn tree_text<T: Visit + VisitMut + Clone + Display>(tree: &T) -> String {
    match tree.visit(&mut Awkward) {
        ControlFlow::Continue(()) => tree.to_string(),
        ControlFlow::Break(()) => {
            let mut tree = tree.clone();
            let _ = VisitMut::visit(&mut tree, &mut Awkward);
            tree.to_string()
        }
    }
}

/// The list of dynamic columns after a table.
fn list_text(name: &ObjectName) -> Option<String> {
    let columns = dynamic_columns(name).ok().filter(|columns| !columns.is_empty())?;
    Some(columns.iter().map(DynamicColumn::to_string).collect::<Vec<_>>().join(", "))
}

/// Finds, or dresses, the parts that sqlparser does not print as they are.
struct Awkward;

fn is_awkward(value: &ValueWithSpan) -> bool {
    matches!(&value.value, Value::SingleQuotedString(text) if text.contains("''") || text.contains("\\'"))
}

impl Visitor for Awkward {
    type Break = ();

    fn pre_visit_value(&mut self, value: &ValueWithSpan) -> ControlFlow<()> {
        match is_awkward(value) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        match factor {
            TableFactor::Table { alias: Some(_), version: Some(_), .. } => ControlFlow::Break(()),
            TableFactor::Table { name, .. } if matches!(name.0.last(), Some(ObjectNamePart::Function(_))) => {
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        }
    }
}

impl VisitorMut for Awkward {
    type Break = ();

    fn pre_visit_value(&mut self, value: &mut ValueWithSpan) -> ControlFlow<()> {
        if is_awkward(value)
            && let Value::SingleQuotedString(text) = &mut value.value
        {
            value.value = Value::EscapedStringLiteral(std::mem::take(text));
        }
        ControlFlow::Continue(())
    }

    fn post_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        // A name without quotes is printed as it is.
        if let TableFactor::Table { name, .. } = factor
            && let Some(list) = list_text(name)
        {
            set_dynamic_columns(name, &[]);
            if let Some(ObjectNamePart::Identifier(last)) = name.0.last_mut() {
                *last = Ident::new(format!("{last} ({list})"));
            }
        }
        if let TableFactor::Table { name, version, .. } = factor
            && let Some(ObjectNamePart::Identifier(last)) = name.0.last_mut()
            && let Some(as_of) = version.take()
        {
            *last = Ident::new(format!("{last} {as_of}"));
        }
        ControlFlow::Continue(())
    }
}
