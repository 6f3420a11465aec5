//! Columns of a result.

use saltwing_types::{Expr, SqlType};

/// One column of the result.
#[derive(Clone, Debug)]
pub struct OutputColumn {
    /// Its label.
    pub label: String,
    /// The output expression.
    pub expr: Expr,
    /// Its type.
    pub ty: SqlType,
}

/// One column of a result, of either executor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultColumn {
    /// Its label; labels may repeat.
    pub label: String,
    /// Its type. What SQL has no type for (lists, intervals) comes as text.
    pub ty: SqlType,
    /// Whether it can be NULL.
    pub nullable: bool,
}
