//! A statement's expressions into ours.
//!
//! What our expression language lacks is [`LowerError::Unsupported`]: the statement is
//! then left to the relational engine, or refused where that cannot take it.

use std::ops::Deref;

use std::fmt::Display;

use saltwing_sql::{NO_TIMESTAMPTZ, expr_span, interval_of, local_time, parameter_place};
use saltwing_types::{
    ArithOp, ColumnRef, CompareOp, EngineOperation, ErrorCode, Expr, Function, Interrupted, Span, SqlType, Value,
    ValueError, eval, interrupt, typing,
};
use sqlparser::ast::{self, BinaryOperator, UnaryOperator};

use crate::collector::Collector;
use crate::error::{BindError, BindErrorKind, Result};
use crate::scope::Scope;
use crate::sequence_collector::{SequenceCollector, around_value};
use crate::tree::ColumnIds;
use crate::window_collector::WindowCollector;

/// The types that a caller has given to parameters, by number from 0; parameters after the end have none.
pub type GivenTypes<'a> = &'a [Option<SqlType>];

/// The values of a statement's parameters, or their types alone.
#[derive(Clone, Copy)]
pub enum Params<'a> {
    /// As given for this execution.
    Given(ParamValues<'a>),
    /// Not given yet: the statement is only judged.
    Open(GivenTypes<'a>),
    /// Given for each run of what is bound now. An item of a SELECT that is a parameter without a type gets it then.
    Later(GivenTypes<'a>),
}

/// The values of parameters. They are values of the types that are given for them.
#[derive(Clone, Copy, Debug, Default)]
pub struct ParamValues<'a> {
    /// The values, by number from 0.
    pub values: &'a [Value],
    /// Their types; one without a type has the natural one of its value.
    pub types: GivenTypes<'a>,
}

impl<'a> ParamValues<'a> {
    /// There are no parameters.
    pub const NONE: ParamValues<'static> = ParamValues { values: &[], types: &[] };

    /// Values for which no types are given.
    pub fn untyped(values: &'a [Value]) -> Self {
        Self { values, types: &[] }
    }

    /// The value of a parameter as an expression of its type; `None` if it has no value.
    pub fn literal(self, index: usize) -> Option<Expr> {
        let value = self.values.get(index)?;
        let ty = self.types.get(index).copied().flatten();
        Some(Expr::Literal(value.clone(), ty.unwrap_or_else(|| typing::natural_type(value))))
    }
}

impl Deref for ParamValues<'_> {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        self.values
    }
}

impl Params<'_> {
    /// The statement has no parameters.
    pub const NONE: Params<'static> = Params::Given(ParamValues::NONE);
    /// The statement is only judged, and nobody has given types.
    pub const OPEN: Params<'static> = Params::Open(&[]);

    /// The values, if they are given.
    pub fn values(self) -> Option<Vec<Value>> {
        match self {
            Self::Given(given) => Some(given.to_vec()),
            Self::Open(_) | Self::Later(_) => None,
        }
    }

    /// The types that are given.
    pub fn types(&self) -> GivenTypes<'_> {
        match self {
            Self::Given(ParamValues { types, .. }) | Self::Open(types) | Self::Later(types) => types,
        }
    }
}

/// Why an expression is not ours.
pub enum LowerError {
    /// The language lacks it; its name and place.
    Unsupported(String, Option<Span>),
    /// It is wrong.
    Invalid(BindError),
}

impl From<BindError> for LowerError {
    fn from(error: BindError) -> Self {
        Self::Invalid(error)
    }
}

impl From<Interrupted> for LowerError {
    fn from(interrupted: Interrupted) -> Self {
        Self::Invalid(BindErrorKind::from(interrupted).into())
    }
}

impl From<ValueError> for LowerError {
    fn from(error: ValueError) -> Self {
        Self::Invalid(error.into())
    }
}

impl LowerError {
    /// With a place, unless it has one.
    #[must_use]
    pub(crate) fn at(self, span: Option<Span>) -> Self {
        match self {
            Self::Invalid(error) => Self::Invalid(error.at(span)),
            Self::Unsupported(what, known) => Self::Unsupported(what, known.or(span)),
        }
    }

    /// An error in both cases: an expression outside the language is not supported here.
    pub fn into_error(self) -> BindError {
        match self {
            Self::Invalid(error) => error,
            Self::Unsupported(what, span) => BindError::from(BindErrorKind::NotSupported(what)).at(span),
        }
    }
}

pub(crate) type Lower = std::result::Result<Expr, LowerError>;

/// The queries around an expression, and those in it.
pub(crate) trait Queries {
    /// The column of a query around this one that `parts` name; `None` if no such query has it.
    fn outer_column(&self, parts: &[&str], span: Option<Span>) -> Option<Result<ColumnRef>>;

    /// Takes note of the column of these names that `parts` mean.
    fn note_column(&self, scope: &Scope, parts: &[&str], column: &ColumnRef);

    /// The columns of the statement.
    fn columns(&self) -> &ColumnIds<'_>;

    /// The column of a call of an aggregate function over rows of a query around this one; `None` if that takes none.
    ///
    /// # Errors
    /// Those of the call.
    fn outer_aggregate(&self, e: &ast::Expr, call: &ast::Function) -> std::result::Result<Option<Expr>, LowerError>;

    /// Whether a query around this one has a column that `parts` name.
    fn is_outer_name(&self, parts: &[&str]) -> bool;

    /// What a MERGE has done to a row, as a column: there is one in its RETURNING.
    fn merge_action(&self) -> Option<ColumnRef>;

    /// The value of a word such as CURRENT_USER; `None` of another word.
    fn session_word(&self, word: &str) -> Option<Expr>;

    /// The value of a subquery, or of a comparison with one, as a column.
    fn subquery(&self, e: &ast::Expr, lowerer: &Lowerer<'_>) -> Lower;
}

/// Where calls of UNNEST go.
pub(crate) trait Unnests {
    /// The column of the elements of an array: the same one for equal arrays.
    fn column(&self, array: Expr, span: Option<Span>) -> Lower;
}

/// Lowers expressions over one scope.
#[derive(Clone, Copy)]
pub struct Lowerer<'a> {
    /// The names.
    pub scope: &'a Scope,
    /// The parameters.
    pub params: Params<'a>,
    /// Where calls of aggregate functions go; without it there is no place for them.
    pub collector: Option<&'a Collector<'a>>,
    /// Where calls of window functions go; without it there is no place for them.
    pub(crate) windows: Option<&'a WindowCollector<'a>>,
    /// Where calls of UNNEST go; without it there is no place for them.
    pub(crate) unnests: Option<&'a dyn Unnests>,
    /// Where values of sequences go; without it there is no place for them.
    pub(crate) sequences: Option<&'a SequenceCollector<'a>>,
    /// Where subqueries go; without it there is no place for them.
    pub(crate) queries: Option<&'a dyn Queries>,
    /// The clause, where it takes no aggregate or no window functions.
    pub(crate) clause: Option<&'static str>,
}

/// The comparison that an operator is.
pub fn comparison_operator(op: &BinaryOperator) -> Option<CompareOp> {
    Some(match op {
        BinaryOperator::Eq => CompareOp::Eq,
        BinaryOperator::NotEq => CompareOp::NotEq,
        BinaryOperator::Lt => CompareOp::Lt,
        BinaryOperator::LtEq => CompareOp::LtEq,
        BinaryOperator::Gt => CompareOp::Gt,
        BinaryOperator::GtEq => CompareOp::GtEq,
        _ => return None,
    })
}

/// An expression that the binder does not support.
pub(crate) fn unsupported(what: &str, e: &ast::Expr) -> Lower {
    Err(LowerError::Unsupported(what.to_owned(), expr_span(e)))
}

/// A type of a CAST that there is not.
pub(crate) fn no_type(data_type: &ast::DataType, e: &ast::Expr) -> Lower {
    let what = format!("the type {data_type}");
    match data_type {
        ast::DataType::Timestamp(_, ast::TimezoneInfo::Tz | ast::TimezoneInfo::WithTimeZone) => {
            let error = BindError::from(BindErrorKind::NotSupported(what)).at(expr_span(e));
            Err(error.help(NO_TIMESTAMPTZ).into())
        }
        _ => unsupported(&what, e),
    }
}

fn typed_string(string: &ast::TypedString, e: &ast::Expr) -> Lower {
    match (cast_type(&string.data_type), &string.value.value) {
        (Some(ty), ast::Value::SingleQuotedString(text)) => {
            Ok(Expr::Literal(saltwing_types::text::parse(text, ty)?, ty))
        }
        _ => unsupported(&string.data_type.to_string(), e),
    }
}

/// The place of the arguments of an aggregate function, as errors call it.
pub(crate) const ARGUMENTS: &str = "the arguments of an aggregate function";

/// The value of an expression without columns; `None` of one that has none, or not before it runs.
pub fn constant(e: &ast::Expr, params: Params<'_>) -> Option<Value> {
    let lowered = Lowerer::new(&Scope::empty(), params).lower(e).ok().filter(Expr::is_constant)?;
    eval::eval(&lowered, &[]).ok()
}

impl<'a> Lowerer<'a> {
    /// A lowerer over these names and parameters, where no subquery and no aggregate may stand.
    pub fn new(scope: &'a Scope, params: Params<'a>) -> Self {
        Self {
            scope,
            params,
            collector: None,
            windows: None,
            unnests: None,
            sequences: None,
            queries: None,
            clause: None,
        }
    }

    /// The same where no aggregate and no window function may stand.
    pub(crate) fn of_rows(&self) -> Self {
        Self { collector: None, windows: None, unnests: None, ..*self }
    }

    /// The same for the arguments of an aggregate function.
    pub(crate) fn of_arguments(&self) -> Self {
        Self { clause: Some(ARGUMENTS), ..self.of_rows() }
    }

    /// Lowers one expression. An error without a place gets that of the innermost expression around it.
    ///
    /// # Errors
    /// [`LowerError`].
    pub fn lower(&self, e: &ast::Expr) -> Lower {
        interrupt::spend(1)?;
        self.lowered(e).map_err(|error| error.at(expr_span(e)))
    }

    // Each kind has a function of its own: a build without optimisation keeps the temporaries of all arms in one frame, and a
    // chain of operators takes that frame for each of them.
    fn lowered(&self, e: &ast::Expr) -> Lower {
        match e {
            ast::Expr::Nested(inner) => self.lower(inner),
            ast::Expr::Identifier(name) => self.name(name, expr_span(e)),
            ast::Expr::CompoundIdentifier(parts) => self.qualified_column(parts, expr_span(e)),
            ast::Expr::Value(value) => self.value(&value.value, e),
            ast::Expr::TypedString(string) => typed_string(string, e),
            ast::Expr::Interval(interval) => match interval_of(interval) {
                Some(length) => Ok(Expr::Literal(Value::Interval(length?), SqlType::Interval)),
                None => unsupported("this form of INTERVAL", e),
            },
            ast::Expr::BinaryOp { left, op, right } => self.binary(e, left, op, right),
            ast::Expr::UnaryOp { op, expr } => self.unary(e, *op, expr),
            ast::Expr::IsNull(inner) => Ok(typing::is_null(self.lower(inner)?)),
            ast::Expr::IsNotNull(inner) => Ok(typing::not(typing::is_null(self.lower(inner)?))?),
            ast::Expr::IsTrue(inner) => self.truth(inner, Some(true), false),
            ast::Expr::IsFalse(inner) => self.truth(inner, Some(false), false),
            ast::Expr::IsUnknown(inner) => self.truth(inner, None, false),
            ast::Expr::IsNotTrue(inner) => self.truth(inner, Some(true), true),
            ast::Expr::IsNotFalse(inner) => self.truth(inner, Some(false), true),
            ast::Expr::IsNotUnknown(inner) => self.truth(inner, None, true),
            ast::Expr::IsDistinctFrom(a, b) => self.compare(CompareOp::Distinct, a, b),
            ast::Expr::IsNotDistinctFrom(a, b) => self.compare(CompareOp::NotDistinct, a, b),
            ast::Expr::Between { expr, negated, low, high } => self.between(expr, low, high, *negated),
            ast::Expr::InList { expr, list, negated } => self.in_list(expr, list, *negated),
            ast::Expr::Like { negated, any: false, expr, pattern, escape_char } => {
                self.like((expr, pattern), escape_char.as_ref(), false, *negated)
            }
            ast::Expr::ILike { negated, any: false, expr, pattern, escape_char } => {
                self.like((expr, pattern), escape_char.as_ref(), true, *negated)
            }
            ast::Expr::Cast {
                kind: ast::CastKind::Cast | ast::CastKind::DoubleColon,
                expr,
                data_type,
                format: None,
                ..
            } => self.cast(e, expr, data_type),
            ast::Expr::Case { operand, conditions, else_result, .. } => {
                self.case(operand.as_deref(), conditions, else_result.as_deref())
            }
            ast::Expr::Collate { .. } => self.collated_value(e),
            ast::Expr::CompoundFieldAccess { root, access_chain } => self.access(e, root, access_chain),
            ast::Expr::Subquery(_) | ast::Expr::Exists { .. } | ast::Expr::InSubquery { .. } => self.subquery(e),
            ast::Expr::AnyOp { right, .. } | ast::Expr::AllOp { right, .. }
                if matches!(**right, ast::Expr::Subquery(_)) =>
            {
                self.subquery(e)
            }
            ast::Expr::Function(_)
            | ast::Expr::Substring { .. }
            | ast::Expr::Trim { .. }
            | ast::Expr::Position { .. }
            | ast::Expr::Array(_)
            | ast::Expr::AnyOp { .. }
            | ast::Expr::AllOp { .. }
            | ast::Expr::Cast { .. }
            | ast::Expr::AtTimeZone { .. }
            | ast::Expr::SimilarTo { .. }
            | ast::Expr::Overlay { .. }
            | ast::Expr::Struct { .. }
            | ast::Expr::Extract { .. } => self.call(e),
            other => unsupported(&format!("`{other}`"), e),
        }
    }

    /// A column; where none has that name LOCALTIME, LOCALTIMESTAMP, CURRENT_USER and the like.
    fn name(&self, name: &ast::Ident, span: Option<Span>) -> Lower {
        let is_absence = |error: &LowerError| match error {
            LowerError::Invalid(error) => error.code() == ErrorCode::NoSuchColumn,
            LowerError::Unsupported(..) => false,
        };
        match self.column(&name.value, span) {
            Err(error) if is_absence(&error) => match (local_time(name), self.session_word(name)) {
                (Some(call), _) => self.lower(&call),
                (None, Some(value)) => Ok(value),
                (None, None) => Err(error),
            },
            found => found,
        }
    }

    /// The value of a word such as CURRENT_USER; `None` of another name.
    fn session_word(&self, name: &ast::Ident) -> Option<Expr> {
        let queries = self.queries.filter(|_| name.quote_style.is_none())?;
        queries.session_word(&name.value)
    }

    fn column(&self, name: &str, span: Option<Span>) -> Lower {
        let error = match self.own_column(&[name], span) {
            Ok(column) => return Ok(column),
            Err(error) => error,
        };
        match self.collector.and_then(|collector| collector.alias(name)) {
            Some(item) => Ok(item),
            None => self.outer_column(&[name], span, error),
        }
    }

    fn qualified_column(&self, parts: &[ast::Ident], span: Option<Span>) -> Lower {
        let parts: Vec<&str> = parts.iter().map(|p| p.value.as_str()).collect();
        let is_unknown = |qualifier: &&[&str]| !self.scope.is_empty() && !self.scope.is_qualifier(qualifier);
        let resolved = match parts.split_last().map(|(_, qualifier)| qualifier).filter(is_unknown) {
            Some(qualifier) => Err(BindErrorKind::NoSuchQualifier(qualifier.join(".")).into()),
            // `t` may be a table `s.t` here, and a table `t` of a query around this one.
            None => self.own_column(&parts, span),
        };
        resolved.or_else(|error| self.outer_column(&parts, span, error))
    }

    /// The column of this query that `parts` name.
    fn own_column(&self, parts: &[&str], span: Option<Span>) -> Result<Expr> {
        let column = self.scope.resolve(parts, span)?;
        if let Some(queries) = self.queries {
            queries.note_column(self.scope, parts, &column);
        }
        Ok(Expr::Column(column))
    }

    /// The column of a query around this one, which has none of that name: it gave `error`.
    fn outer_column(&self, parts: &[&str], span: Option<Span>, error: BindError) -> Lower {
        let is_missing = matches!(
            error.kind,
            BindErrorKind::NoSuchColumn { .. }
                | BindErrorKind::ColumnInConstant { .. }
                | BindErrorKind::NoSuchQualifier(_)
        );
        match self.queries.filter(|_| is_missing).and_then(|queries| queries.outer_column(parts, span)) {
            Some(column) => Ok(Expr::Column(column?)),
            None => Err(error.into()),
        }
    }

    fn subquery(&self, e: &ast::Expr) -> Lower {
        match self.queries {
            Some(queries) => self.before_values("a subquery", e, || queries.subquery(e, self)),
            None => unsupported("a subquery", e),
        }
    }

    /// What is computed before the rows of the result are known, when they take values of sequences.
    ///
    /// # Errors
    /// A value of a sequence in it; `what` is its name then.
    pub(crate) fn before_values<T>(
        &self,
        what: impl Display,
        e: &ast::Expr,
        lower: impl FnOnce() -> std::result::Result<T, LowerError>,
    ) -> std::result::Result<T, LowerError> {
        let calls = || self.sequences.map_or(0, SequenceCollector::calls);
        let before = calls();
        let lowered = lower()?;
        if calls() == before { Ok(lowered) } else { Err(around_value(&what.to_string()).at(expr_span(e)).into()) }
    }

    fn unary(&self, e: &ast::Expr, op: UnaryOperator, operand: &ast::Expr) -> Lower {
        let build: fn(Expr) -> _ = match op {
            UnaryOperator::BitwiseNot => return self.bitwise_not(e, operand),
            UnaryOperator::Not => typing::not,
            UnaryOperator::Minus => typing::negate,
            UnaryOperator::Plus => Ok,
            _ => return unsupported(&format!("`{e}`"), e),
        };
        Ok(build(self.lower(operand)?)?)
    }

    /// Whether a truth value is this one; `negated` whether it is not.
    fn truth(&self, operand: &ast::Expr, is: Option<bool>, negated: bool) -> Lower {
        let truth = typing::is_truth(self.lower(operand)?, is)?;
        Ok(if negated { typing::not(truth)? } else { truth })
    }

    fn between(&self, expr: &ast::Expr, low: &ast::Expr, high: &ast::Expr, negated: bool) -> Lower {
        let [value, low, high] = self.operands([expr, low, high])?;
        Ok(typing::between(value, low, high, negated)?)
    }

    fn cast(&self, e: &ast::Expr, operand: &ast::Expr, data_type: &ast::DataType) -> Lower {
        let operand = self.lower(operand)?;
        match (cast_type(data_type), self.queries) {
            (Some(ty), Some(queries)) if operand.sql_type() == Some(SqlType::Opaque) => {
                self.typed(queries, EngineOperation::Cast(ty), vec![operand], expr_span(e))
            }
            (Some(ty), _) => Ok(typing::cast(operand, ty)?),
            (None, _) => no_type(data_type, e),
        }
    }

    fn case(&self, operand: Option<&ast::Expr>, whens: &[ast::CaseWhen], otherwise: Option<&ast::Expr>) -> Lower {
        let operand = operand.map(|operand| self.lower(operand)).transpose()?;
        let whens = whens
            .iter()
            .map(|when| Ok((self.lower(&when.condition)?, self.lower(&when.result)?)))
            .collect::<std::result::Result<_, LowerError>>()?;
        let otherwise = otherwise.map(|otherwise| self.lower(otherwise)).transpose()?;
        Ok(typing::case(operand, whens, otherwise)?)
    }

    fn value(&self, value: &ast::Value, e: &ast::Expr) -> Lower {
        match value {
            ast::Value::Number(text, _) => Ok(typing::number(text)?),
            ast::Value::SingleQuotedString(text)
            | ast::Value::EscapedStringLiteral(text)
            | ast::Value::UnicodeStringLiteral(text)
            | ast::Value::NationalStringLiteral(text) => Ok(typing::string(text)),
            ast::Value::DollarQuotedString(text) => Ok(typing::string(&text.value)),
            ast::Value::HexStringLiteral(text) => match saltwing_types::text::unhex(text) {
                Some(bytes) => Ok(Expr::Literal(Value::Bytes(bytes), SqlType::Varbinary)),
                None => Err(ValueError::BadText { text: text.clone(), target: "hex string".into() }.into()),
            },
            ast::Value::Boolean(b) => Ok(Expr::boolean(*b)),
            ast::Value::Null => Ok(Expr::NULL),
            ast::Value::Placeholder(name) => Ok(self.parameter(name)?),
            other => unsupported(&format!("`{other}`"), e),
        }
    }

    fn parameter(&self, name: &str) -> Result<Expr> {
        let Some(index) = parameter_place(name) else {
            return Err(BindErrorKind::Syntax(format!("{name} is no parameter")).into());
        };
        match self.params {
            Params::Open(types) | Params::Later(types) => Ok(Expr::Param(index, types.get(index).copied().flatten())),
            Params::Given(given) => {
                given.literal(index).ok_or_else(|| BindErrorKind::MissingParameter(index + 1).into())
            }
        }
    }

    fn binary(&self, e: &ast::Expr, left: &ast::Expr, op: &BinaryOperator, right: &ast::Expr) -> Lower {
        if let Some(op) = comparison_operator(op) {
            return self.compare(op, left, right);
        }
        let build: fn(Expr, Expr) -> std::result::Result<Expr, ValueError> = match op {
            BinaryOperator::And => |a, b| typing::and(vec![a, b]),
            BinaryOperator::Or => |a, b| typing::or(vec![a, b]),
            BinaryOperator::PGRegexMatch => |a, b| typing::regexp(a, b, false, false),
            BinaryOperator::PGRegexIMatch => |a, b| typing::regexp(a, b, true, false),
            BinaryOperator::PGRegexNotMatch => |a, b| typing::regexp(a, b, false, true),
            BinaryOperator::PGRegexNotIMatch => |a, b| typing::regexp(a, b, true, true),
            BinaryOperator::StringConcat => |a, b| typing::call(Function::CONCAT, vec![a, b]),
            BinaryOperator::Plus => |a, b| typing::arith(ArithOp::Add, a, b),
            BinaryOperator::Minus => |a, b| typing::arith(ArithOp::Sub, a, b),
            BinaryOperator::Multiply => |a, b| typing::arith(ArithOp::Mul, a, b),
            BinaryOperator::Divide => |a, b| typing::arith(ArithOp::Div, a, b),
            BinaryOperator::Modulo => |a, b| typing::arith(ArithOp::Rem, a, b),
            _ => return self.call(e),
        };
        Ok(build(self.lower(left)?, self.lower(right)?)?)
    }

    /// A comparison of values, or of row values.
    fn compare(&self, op: CompareOp, left: &ast::Expr, right: &ast::Expr) -> Lower {
        let built = match (row(left), row(right)) {
            (Some(a), Some(b)) => typing::row_compare(op, self.all(a)?, self.all(b)?),
            (None, None) => {
                let [left, right] = self.operands([left, right])?;
                typing::compare(op, left, right)
            }
            _ => Err(ValueError::TypeMismatch("a row value compares with a row value".into())),
        };
        Ok(built?)
    }

    fn in_list(&self, left: &ast::Expr, list: &[ast::Expr], negated: bool) -> Lower {
        let built = match row(left) {
            None => {
                let (left, list) = self.listed(left, list)?;
                let advice = array_advice(&left, &list, negated);
                let listed = typing::in_list(left, list, negated);
                return listed.map_err(|error| match advice {
                    Some(advice) => BindError::from(error).help(advice).into(),
                    None => error.into(),
                });
            }
            Some(left) => {
                let rows = list
                    .iter()
                    .map(|item| match row(item) {
                        Some(items) => self.all(items),
                        None => Ok(vec![self.lower(item)?]),
                    })
                    .collect::<std::result::Result<_, _>>()?;
                typing::row_in_list(self.all(left)?, rows, negated)
            }
        };
        Ok(built?)
    }

    fn like(
        &self,
        (text, pattern): (&ast::Expr, &ast::Expr),
        escape: Option<&ast::ValueWithSpan>,
        ignore_case: bool,
        negated: bool,
    ) -> Lower {
        let escape = escape_of(escape)?;
        let built = typing::like(self.lower(text)?, self.lower(pattern)?, escape, ignore_case, negated);
        Ok(built?)
    }

    pub(crate) fn all<'e>(
        &self,
        list: impl IntoIterator<Item = &'e ast::Expr>,
    ) -> std::result::Result<Vec<Expr>, LowerError> {
        list.into_iter().map(|e| self.lower(e)).collect()
    }
}

/// Advice for an array among the items of a list, as a parameter of many values is.
fn array_advice(left: &Expr, list: &[Expr], negated: bool) -> Option<String> {
    let is_array = |e: &Expr| e.sql_type().is_some_and(|ty| ty.element().is_some());
    let operator = if negated { "<> ALL" } else { "= ANY" };
    (!is_array(left) && list.iter().any(is_array)).then(|| {
        format!("an array is one item of the list; write {left} {operator}(?) for the elements of one parameter")
    })
}

/// The parts of a row value.
fn row(e: &ast::Expr) -> Option<&[ast::Expr]> {
    match e {
        ast::Expr::Tuple(parts) => Some(parts),
        ast::Expr::Nested(inner) => row(inner),
        _ => None,
    }
}

/// The escape character of a pattern: none if there is no such clause, and none for ''.
pub(crate) fn escape_of(escape: Option<&ast::ValueWithSpan>) -> std::result::Result<Option<char>, ValueError> {
    match escape.map(|v| &v.value) {
        None => Ok(None),
        Some(ast::Value::SingleQuotedString(text)) if text.chars().count() <= 1 => Ok(text.chars().next()),
        Some(other) => Err(ValueError::BadArgument(format!("ESCAPE takes one character, and {other} is none"))),
    }
}

/// The type that a cast names; `None` where we have no such type.
pub fn cast_type(data_type: &ast::DataType) -> Option<SqlType> {
    saltwing_sql::cast_type(data_type)
}
