//! Expressions and queries as text.
//!
//! # Law
//! What is printed parses again, to the same expression, places aside.

use std::fmt::Display;
use std::ops::ControlFlow;

use sqlparser::ast::{Value, ValueWithSpan, Visit, VisitMut, Visitor, VisitorMut};

/// An expression, or a query, as text that is read back as the same.
///
/// sqlparser's own printing takes two quotes in a row inside a string for one
/// that is already escaped; such strings are printed as `E'..'`.
pub fn tree_text<T: Visit + VisitMut + Clone + Display>(tree: &T) -> String {
    match tree.visit(&mut AwkwardStrings) {
        ControlFlow::Continue(()) => tree.to_string(),
        ControlFlow::Break(()) => {
            let mut tree = tree.clone();
            let _ = VisitMut::visit(&mut tree, &mut AwkwardStrings);
            tree.to_string()
        }
    }
}

/// Finds, or dresses, the strings that sqlparser does not print as they are.
struct AwkwardStrings;

fn is_awkward(value: &ValueWithSpan) -> bool {
    matches!(&value.value, Value::SingleQuotedString(text) if text.contains("''") || text.contains("\\'"))
}

impl Visitor for AwkwardStrings {
    type Break = ();

    fn pre_visit_value(&mut self, value: &ValueWithSpan) -> ControlFlow<()> {
        match is_awkward(value) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

impl VisitorMut for AwkwardStrings {
    type Break = ();

    fn pre_visit_value(&mut self, value: &mut ValueWithSpan) -> ControlFlow<()> {
        if is_awkward(value)
            && let Value::SingleQuotedString(text) = &mut value.value
        {
            value.value = Value::EscapedStringLiteral(std::mem::take(text));
        }
        ControlFlow::Continue(())
    }
}
