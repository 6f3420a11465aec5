//! Elements of arrays and fields of rows.

use sqlparser::ast::{AccessExpr, BinaryOperator, Expr, Ident, Subscript};

use super::build::{binary, call, folded, int, nested, take};
use super::scope::{Scope, Type};
use super::selects::without_brackets;
use super::translator::{Translator, not_supported};
use crate::CatalogError;

impl Translator<'_> {
    /// `a[1]`, `(row).field`.
    pub(super) fn access(&mut self, expr: &mut Expr, scope: Scope<'_>) -> Result<Type, CatalogError> {
        let Expr::CompoundFieldAccess { root, access_chain } = expr else { return Ok(Type::Natural) };
        // `relation.column[1]` is a name with two accesses to the parser.
        let mut accesses = std::mem::take(access_chain).into_iter().peekable();
        while let (Expr::Identifier(_) | Expr::CompoundIdentifier(_), Some(AccessExpr::Dot(Expr::Identifier(name)))) =
            (&**root, accesses.peek())
        {
            if self.resolves(root, scope)? {
                break;
            }
            **root = longer_name(take(root), name.clone());
            accesses.next();
        }
        let mut ty = self.expr(root, scope)?;
        let mut value = take(root);
        for access in accesses {
            match access {
                AccessExpr::Subscript(Subscript::Index { mut index }) => {
                    self.expr(&mut index, scope)?;
                    let place =
                        if ty.counts_from_zero() { nested(binary(index, BinaryOperator::Plus, int(1))) } else { index };
                    value = call("array_elem", vec![value, place]);
                    ty = ty.element();
                }
                AccessExpr::Dot(Expr::Identifier(field)) => {
                    let (Type::Record(fields), Expr::Tuple(values)) = (ty, without_brackets(value)) else {
                        return Err(not_supported("fields of what is no row"));
                    };
                    let field = folded(&field);
                    let mut found = fields.into_iter().zip(values).filter(|((name, _), _)| *name == field);
                    let ((_, of_field), new) = found.next().ok_or(CatalogError::NoColumn(field))?;
                    (value, ty) = (new, of_field);
                }
                AccessExpr::Subscript(Subscript::Slice { .. }) | AccessExpr::Dot(_) => {
                    return Err(not_supported("slices of arrays"));
                }
            }
        }
        *expr = value;
        Ok(ty)
    }

    /// Whether a name is one of a column.
    fn resolves(&self, expr: &Expr, scope: Scope<'_>) -> Result<bool, CatalogError> {
        let names = match expr {
            Expr::Identifier(name) => std::slice::from_ref(name),
            Expr::CompoundIdentifier(names) => names.as_slice(),
            _ => return Ok(false),
        };
        Ok(scope.resolve(names)?.is_some())
    }
}

/// A name with another part.
fn longer_name(expr: Expr, part: Ident) -> Expr {
    let mut names = match expr {
        Expr::Identifier(name) => vec![name],
        Expr::CompoundIdentifier(names) => names,
        other => return other,
    };
    names.push(part);
    Expr::CompoundIdentifier(names)
}
