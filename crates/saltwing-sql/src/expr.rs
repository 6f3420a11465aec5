//! Where an expression stands.

use std::ops::ControlFlow;

use saltwing_types::Span;
use sqlparser::ast::{Expr, ObjectName, ObjectNamePart, UnaryOperator, ValueWithSpan, Visit, Visitor};

use crate::place;

/// The smallest span that holds every name and literal in `expr`; `None` if it has none.
///
/// Brackets and closing words at either end may lie outside: sqlparser does not keep their places. A sign at
/// the front is taken to stand right before what it belongs to. A caret under the leaves is always right.
pub fn expr_span(expr: &Expr) -> Option<Span> {
    let signed = matches!(expr, Expr::UnaryOp { op: UnaryOperator::Minus | UnaryOperator::Plus, .. });
    tree_span(expr).map(|mut span| {
        if signed && span.start.column > 1 {
            span.start.column -= 1;
        }
        span
    })
}

/// The smallest span that holds every name and literal in the expressions of a syntax tree; `None` if it has none.
pub fn tree_span(tree: &impl Visit) -> Option<Span> {
    let mut leaves = Leaves { span: None };
    let _ = tree.visit(&mut leaves);
    leaves.span
}

/// Where a name stands, with all of its parts; `None` if sqlparser does not know.
pub fn name_span(name: &ObjectName) -> Option<Span> {
    let idents = name.0.iter().filter_map(ObjectNamePart::as_ident);
    idents.filter_map(|ident| place::span_of(ident.span)).reduce(Span::union)
}

struct Leaves {
    span: Option<Span>,
}

impl Leaves {
    fn add(&mut self, span: sqlparser::tokenizer::Span) {
        if let Some(span) = place::span_of(span) {
            self.span = Some(self.span.map_or(span, |known| known.union(span)));
        }
    }

    fn add_name(&mut self, name: &ObjectName) {
        for part in &name.0 {
            if let ObjectNamePart::Identifier(ident) = part {
                self.add(ident.span);
            }
        }
    }
}

impl Visitor for Leaves {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        match expr {
            Expr::Identifier(ident) => self.add(ident.span),
            Expr::CompoundIdentifier(idents) => idents.iter().for_each(|ident| self.add(ident.span)),
            Expr::Function(function) => self.add_name(&function.name),
            Expr::Wildcard(token) => self.add(token.0.span),
            Expr::QualifiedWildcard(name, token) => {
                self.add_name(name);
                self.add(token.0.span);
            }
            Expr::Case { case_token, end_token, .. } => {
                self.add(case_token.0.span);
                self.add(end_token.0.span);
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_value(&mut self, value: &ValueWithSpan) -> ControlFlow<()> {
        self.add(value.span);
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<()> {
        self.add_name(relation);
        ControlFlow::Continue(())
    }
}
