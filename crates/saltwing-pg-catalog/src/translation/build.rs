//! Small trees of SQL.

use sqlparser::ast::{
    BinaryOperator, CastKind, DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList,
    FunctionArguments, Ident, ObjectName, TableAlias, TableAliasColumnDef, TableFactor, Value,
};

/// A name in quotes. A quote inside, which no name of the catalog has, is shown as another sign.
pub(super) fn name(text: &str) -> Ident {
    Ident::with_quote('"', text.replace('"', "\u{2033}"))
}

/// The name that an identifier means: in lower case, unless it stands in quotes.
pub(super) fn folded(ident: &Ident) -> String {
    match ident.quote_style {
        Some(_) => ident.value.clone(),
        None => ident.value.to_lowercase(),
    }
}

/// `source."column"`.
pub(super) fn column(source: &str, column: &str) -> Expr {
    Expr::CompoundIdentifier(vec![name(source), name(column)])
}

pub(super) fn alias(source: &str) -> TableAlias {
    TableAlias { explicit: true, name: name(source), columns: Vec::new(), at: None }
}

pub(super) fn alias_column(text: &str) -> TableAliasColumnDef {
    TableAliasColumnDef { name: name(text), data_type: None }
}

/// A text. The printer of trees takes two quotes, and a quote after a backslash, for one that is escaped already: such a text is put
/// together from parts.
pub(super) fn text(value: &str) -> Expr {
    let literal = |value: &str| Expr::Value(Value::SingleQuotedString(value.to_owned()).with_empty_span());
    if !value.contains("''") && !value.contains("\\'") {
        return literal(value);
    }
    let quote = || call("chr", vec![int(39)]);
    let mut parts = value.split('\'').map(literal);
    let first = parts.next().unwrap_or_else(|| literal(""));
    let joined = parts.fold(first, |left, part| concat(concat(left, quote()), part));
    Expr::Nested(Box::new(joined))
}

pub(super) fn int(value: i64) -> Expr {
    let number = Expr::Value(Value::Number(value.unsigned_abs().to_string(), false).with_empty_span());
    match value < 0 {
        true => {
            Expr::Nested(Box::new(Expr::UnaryOp { op: sqlparser::ast::UnaryOperator::Minus, expr: Box::new(number) }))
        }
        false => number,
    }
}

pub(super) fn boolean(value: bool) -> Expr {
    Expr::Value(Value::Boolean(value).with_empty_span())
}

pub(super) fn null() -> Expr {
    Expr::Value(Value::Null.with_empty_span())
}

/// A call of a function of the library or of the catalog's database.
pub(super) fn call(function: &str, arguments: Vec<Expr>) -> Expr {
    let argument = |expr| FunctionArg::Unnamed(FunctionArgExpr::Expr(expr));
    let args = arguments.into_iter().map(argument).collect();
    Expr::Function(Function {
        name: ObjectName::from(vec![Ident::new(function)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList { duplicate_treatment: None, args, clauses: Vec::new() }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}

/// `ARRAY[a, b]`.
pub(super) fn array(elem: Vec<Expr>) -> Expr {
    Expr::Array(sqlparser::ast::Array { elem, named: true })
}

pub(super) fn binary(left: Expr, op: BinaryOperator, right: Expr) -> Expr {
    Expr::BinaryOp { left: Box::new(left), op, right: Box::new(right) }
}

pub(super) fn nested(expr: Expr) -> Expr {
    Expr::Nested(Box::new(expr))
}

pub(super) fn concat(left: Expr, right: Expr) -> Expr {
    binary(left, BinaryOperator::StringConcat, right)
}

pub(super) fn cast(expr: Expr, data_type: DataType) -> Expr {
    Expr::Cast { kind: CastKind::Cast, expr: Box::new(expr), data_type, array: false, format: None }
}

/// The expression in the place of another one, which is taken out.
pub(super) fn take(expr: &mut Expr) -> Expr {
    std::mem::replace(expr, null())
}

/// A condition beside another one.
pub(super) fn and(condition: &mut Option<Expr>, other: Expr) {
    *condition = Some(match condition.take() {
        Some(condition) => binary(nested(condition), sqlparser::ast::BinaryOperator::And, nested(other)),
        None => other,
    });
}

/// Identifiers of a list, each as it is meant.
pub(super) fn folded_all(idents: &[Ident]) -> Vec<String> {
    idents.iter().map(folded).collect()
}

/// A table of the catalog's database.
pub(super) fn table_factor(table: &str, alias: Option<TableAlias>) -> TableFactor {
    TableFactor::Table {
        name: ObjectName::from(vec![name(table)]),
        alias,
        args: None,
        with_hints: Vec::new(),
        version: None,
        with_ordinality: false,
        partitions: Vec::new(),
        json_path: None,
        sample: None,
        index_hints: Vec::new(),
    }
}
