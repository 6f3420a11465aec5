//! The files that a query reads: `FROM 'f.parquet'`.

use saltwing_sql::expr_span;
use saltwing_types::Span;
use sqlparser::ast::{Expr, ObjectName};

use crate::statement_query::StatementQuery;

/// A file that a query names in place of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileName {
    /// Its path and its options, which [`saltwing_sql::file_parts`] tells apart.
    pub name: String,
    /// Where it stands in the statement.
    pub span: Option<Span>,
}

/// The files that a query names, each once.
pub fn file_names(query: StatementQuery<'_>) -> Vec<FileName> {
    let mut files: Vec<FileName> = Vec::new();
    query.for_each_relation(&mut |name| {
        if let Some(file) = file_name(name).filter(|file| files.iter().all(|known| known.name != file.name)) {
            files.push(file);
        }
    });
    files
}

/// A name in the quotes of a text is that of a file.
fn file_name(name: &ObjectName) -> Option<FileName> {
    let [part] = name.0.as_slice() else { return None };
    let ident = part.as_ident().filter(|ident| ident.quote_style == Some('\''))?;
    Some(FileName { name: ident.value.clone(), span: expr_span(&Expr::Identifier(ident.clone())) })
}
