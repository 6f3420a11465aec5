//! Expressions and queries as text.
//!
//! # Law
//! What is printed parses again, to the same expression, places aside.

use std::fmt::Display;
use std::ops::ControlFlow;

use sqlparser::ast::{
    Expr, Function, Ident, NamedWindowDefinition, NamedWindowExpr, ObjectName, ObjectNamePart, Query, SetExpr,
    TableFactor, Value, ValueWithSpan, Visit, VisitMut, Visitor, VisitorMut, WindowSpec, WindowType,
};

use crate::dynamic_column::{DynamicColumn, dynamic_columns, set_dynamic_columns};
use crate::frame_exclusion;

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

/// Visits the windows of the WINDOW clauses of a query, without those in others.
fn for_each_window(body: &SetExpr, visit: &mut dyn FnMut(&WindowSpec)) {
    match body {
        SetExpr::Select(select) => {
            for NamedWindowDefinition(_, window) in &select.named_window {
                if let NamedWindowExpr::WindowSpec(window) = window {
                    visit(window);
                }
            }
        }
        SetExpr::SetOperation { left, right, .. } => {
            for_each_window(left, visit);
            for_each_window(right, visit);
        }
        _ => {}
    }
}

/// Puts the exclusions of these windows behind their frames.
fn put_back_windows(body: &mut SetExpr) {
    match body {
        SetExpr::Select(select) => {
            for NamedWindowDefinition(_, window) in &mut select.named_window {
                if let NamedWindowExpr::WindowSpec(window) = window
                    && frame_exclusion::is_marked(window)
                {
                    frame_exclusion::put_back(window);
                }
            }
        }
        SetExpr::SetOperation { left, right, .. } => {
            put_back_windows(left);
            put_back_windows(right);
        }
        _ => {}
    }
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

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        match expr {
            Expr::Function(Function { over: Some(WindowType::WindowSpec(window)), .. })
                if frame_exclusion::is_marked(window) =>
            {
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        }
    }

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        let mut is_marked = false;
        for_each_window(&query.body, &mut |window| is_marked |= frame_exclusion::is_marked(window));
        if is_marked { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
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

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::Function(Function { over: Some(WindowType::WindowSpec(window)), .. }) = expr
            && frame_exclusion::is_marked(window)
        {
            frame_exclusion::put_back(window);
        }
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        put_back_windows(&mut query.body);
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
