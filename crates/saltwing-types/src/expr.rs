//! The expression tree that conditions, defaults and key expressions become.
//!
//! A tree is typed and its columns are bound: [`crate::typing`] builds it by
//! SQL's rules, [`crate::eval`] computes it for one row, `saltwing-expr` for
//! many. What the language lacks never gets into a tree: such conditions are
//! left to the relational engine.
//!
//! AND and OR are n-ary, so a chain of 100,000 of them is a list, not a depth.

use std::fmt;

use crate::dynamic::DYNAMIC_COLUMNS;
use crate::function::Volatility;
use crate::{ArithOp, CompareOp, EngineOperation, Function, Span, SqlType, Value, text};

/// A column of the row that an expression is computed over.
#[derive(Clone, Debug)]
pub struct ColumnRef {
    /// Index in the row: of the table's columns, where there is one table.
    pub index: usize,
    /// Name as declared, for texts.
    pub name: String,
    /// Type.
    pub ty: SqlType,
    /// Whether it can be NULL.
    pub nullable: bool,
    /// Where the statement names it. Not part of equality.
    pub span: Option<Span>,
}

impl PartialEq for ColumnRef {
    fn eq(&self, other: &Self) -> bool {
        self.index == other.index && self.ty == other.ty
    }
}

/// A call that no evaluator of ours runs: only a plan of the relational engine may hold one.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineCall {
    /// What is called.
    pub operation: EngineOperation,
    /// Its arguments.
    pub args: Vec<Expr>,
    /// The type of the value.
    pub ty: SqlType,
    /// Whether the value can be NULL.
    pub nullable: bool,
    /// How long the value stays the same.
    pub volatility: Volatility,
}

/// An expression over the columns of one row.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// A constant. Its type is the one it was brought to, or its own.
    Literal(Value, SqlType),
    /// A column.
    Column(ColumnRef),
    /// A parameter that has no value yet, by number from 0; the type it will be brought to, if known.
    Param(usize, Option<SqlType>),
    /// The value of a subquery that has not run yet, by number from 0, and its type.
    Subquery(usize, SqlType),
    /// A comparison of two values.
    Compare(CompareOp, Box<Expr>, Box<Expr>),
    /// A comparison of two row values of equal length, at least 2: lexicographic, by SQL's three-valued rules.
    RowCompare(CompareOp, Vec<Expr>, Vec<Expr>),
    /// All of at least two conditions.
    And(Vec<Expr>),
    /// Any of at least two conditions.
    Or(Vec<Expr>),
    /// NOT.
    Not(Box<Expr>),
    /// `IS NULL`.
    IsNull(Box<Expr>),
    /// `IS TRUE`, `IS FALSE`, and `IS UNKNOWN` (`None`).
    IsTruth(Box<Expr>, Option<bool>),
    /// `IN` over a list.
    InList(Box<Expr>, Vec<Expr>),
    /// `(a, b) IN ((1, 2), ..)`: rows of the length of the left side.
    RowInList(Vec<Expr>, Vec<Vec<Expr>>),
    /// `LIKE` and `ILIKE`.
    Like {
        /// The text.
        text: Box<Expr>,
        /// The pattern.
        pattern: Box<Expr>,
        /// The escape character: backslash unless ESCAPE names another; ESCAPE '' means none.
        escape: Option<char>,
        /// ILIKE.
        ignore_case: bool,
    },
    /// Arithmetic; the last part is the result's type.
    Arith(ArithOp, Box<Expr>, Box<Expr>, SqlType),
    /// Unary minus.
    Negate(Box<Expr>, SqlType),
    /// `CAST(.. AS ..)`.
    Cast(Box<Expr>, SqlType),
    /// `CASE WHEN c THEN v .. ELSE e END`.
    Case {
        /// Conditions and results.
        whens: Vec<(Expr, Expr)>,
        /// ELSE.
        otherwise: Option<Box<Expr>>,
        /// The result's type.
        ty: SqlType,
    },
    /// A function call; the last part is the result's type.
    Call(Function, Vec<Expr>, SqlType),
    /// A call that only the relational engine computes. No expression of the direct path has one.
    Engine(Box<EngineCall>),
}

impl Expr {
    /// The literal NULL.
    pub const NULL: Expr = Expr::Literal(Value::Null, SqlType::Null);

    /// A boolean literal.
    pub fn boolean(value: bool) -> Expr {
        Expr::Literal(Value::Bool(value), SqlType::Boolean)
    }

    /// The type of the value; `None` for a parameter of unknown type.
    pub fn sql_type(&self) -> Option<SqlType> {
        match self {
            Expr::Literal(_, ty)
            | Expr::Subquery(_, ty)
            | Expr::Arith(_, _, _, ty)
            | Expr::Negate(_, ty)
            | Expr::Cast(_, ty)
            | Expr::Case { ty, .. }
            | Expr::Call(_, _, ty) => Some(*ty),
            Expr::Column(column) => Some(column.ty),
            Expr::Param(_, ty) => *ty,
            Expr::Engine(call) => Some(call.ty),
            _ => Some(SqlType::Boolean),
        }
    }

    /// Whether the value can be NULL; `true` when in doubt.
    pub fn is_nullable(&self) -> bool {
        match self {
            Expr::Literal(value, _) => value.is_null(),
            Expr::Column(column) => column.nullable,
            Expr::Engine(call) => call.nullable,
            Expr::IsNull(_) | Expr::IsTruth(..) => false,
            Expr::Compare(CompareOp::Distinct | CompareOp::NotDistinct, ..) => false,
            Expr::Compare(_, a, b) => a.is_nullable() || b.is_nullable(),
            Expr::And(list) | Expr::Or(list) => list.iter().any(Expr::is_nullable),
            Expr::Not(inner) | Expr::Negate(inner, _) => inner.is_nullable(),
            Expr::Arith(_, a, b, _) => a.is_nullable() || b.is_nullable(),
            _ => true,
        }
    }

    /// The name of the dynamic column of a table's row that this reads: a call of `DYNAMIC_COLUMN` stands for it.
    pub fn dynamic_column(&self) -> Option<&str> {
        let Expr::Call(function, args, _) = self else { return None };
        match args.as_slice() {
            [row, Expr::Literal(Value::Text(name), _), _] if *function == Function::DYNAMIC_COLUMN => {
                let is_of_row = match row {
                    Expr::Column(column) => column.name == DYNAMIC_COLUMNS,
                    // A table without any.
                    Expr::Cast(row, _) => matches!(**row, Expr::Literal(Value::Null, _)),
                    Expr::Literal(Value::Null, _) => true,
                    _ => false,
                };
                is_of_row.then_some(name)
            }
            _ => None,
        }
    }

    /// Calls `visit` on every part, parents first.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        visit(self);
        self.for_each_child(&mut |child| child.walk(visit));
    }

    /// Whether the expression has more parts than this, itself counted.
    pub fn has_more_parts_than(&self, max: usize) -> bool {
        fn is_within(expr: &Expr, left: &mut usize) -> bool {
            let Some(rest) = left.checked_sub(1) else { return false };
            *left = rest;
            let mut all = true;
            expr.for_each_child(&mut |child| all = all && is_within(child, left));
            all
        }
        !is_within(self, &mut { max })
    }

    /// Calls `visit` on each direct part.
    pub fn for_each_child<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        match self {
            Expr::Literal(..) | Expr::Column(_) | Expr::Param(..) | Expr::Subquery(..) => {}
            Expr::Compare(_, a, b) | Expr::Arith(_, a, b, _) => [a, b].into_iter().for_each(|e| visit(e)),
            Expr::RowCompare(_, a, b) => a.iter().chain(b).for_each(visit),
            Expr::And(list) | Expr::Or(list) | Expr::Call(_, list, _) => list.iter().for_each(visit),
            Expr::Engine(call) => call.args.iter().for_each(visit),
            Expr::Not(e) | Expr::IsNull(e) | Expr::IsTruth(e, _) | Expr::Negate(e, _) | Expr::Cast(e, _) => visit(e),
            Expr::InList(e, list) => {
                visit(e);
                list.iter().for_each(visit);
            }
            Expr::RowInList(row, rows) => row.iter().chain(rows.iter().flatten()).for_each(visit),
            Expr::Like { text, pattern, .. } => [text, pattern].into_iter().for_each(|e| visit(e)),
            Expr::Case { whens, otherwise, .. } => {
                whens.iter().flat_map(|(c, v)| [c, v]).for_each(&mut *visit);
                otherwise.iter().for_each(|e| visit(e));
            }
        }
    }

    /// Calls `change` on each direct part, which it may replace.
    pub fn for_each_child_mut(&mut self, change: &mut dyn FnMut(&mut Expr)) {
        match self {
            Expr::Literal(..) | Expr::Column(_) | Expr::Param(..) | Expr::Subquery(..) => {}
            Expr::Compare(_, a, b) | Expr::Arith(_, a, b, _) => {
                change(a);
                change(b);
            }
            Expr::RowCompare(_, a, b) => a.iter_mut().chain(b).for_each(change),
            Expr::And(list) | Expr::Or(list) | Expr::Call(_, list, _) => list.iter_mut().for_each(change),
            Expr::Engine(call) => call.args.iter_mut().for_each(change),
            Expr::Not(e) | Expr::IsNull(e) | Expr::IsTruth(e, _) | Expr::Negate(e, _) | Expr::Cast(e, _) => change(e),
            Expr::InList(e, list) => {
                change(e);
                list.iter_mut().for_each(change);
            }
            Expr::RowInList(row, rows) => row.iter_mut().chain(rows.iter_mut().flatten()).for_each(change),
            Expr::Like { text, pattern, .. } => {
                change(text);
                change(pattern);
            }
            Expr::Case { whens, otherwise, .. } => {
                whens.iter_mut().flat_map(|(c, v)| [c, v]).for_each(&mut *change);
                otherwise.iter_mut().for_each(|e| change(e));
            }
        }
    }

    /// Calls `change` on every column, so that a tree moves to another row layout.
    pub fn map_columns(&mut self, change: &mut dyn FnMut(&mut ColumnRef)) {
        match self {
            Expr::Column(column) => change(column),
            other => other.for_each_child_mut(&mut |child| child.map_columns(change)),
        }
    }

    /// The columns named, each once, by index in ascending order.
    pub fn columns(&self) -> Vec<usize> {
        let mut found = Vec::new();
        self.walk(&mut |e| {
            if let Expr::Column(column) = e {
                found.push(column.index);
            }
        });
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Whether a parameter is part of the expression.
    pub fn has_parameter(&self) -> bool {
        let mut found = false;
        self.walk(&mut |part| found |= matches!(part, Self::Param(..)));
        found
    }

    /// Whether the value is known before any row is read: no column, no parameter and no subquery is named, and no function
    /// called that gives another value each time, or that only the relational engine has.
    pub fn is_constant(&self) -> bool {
        let mut constant = true;
        self.walk(&mut |e| {
            constant &= match e {
                Expr::Column(_) | Expr::Param(..) | Expr::Subquery(..) | Expr::Engine(_) => false,
                Expr::Call(function, ..) => function.volatility == Volatility::Immutable,
                _ => true,
            }
        });
        constant
    }

    /// Whether a function is called that gives another value each time.
    pub fn is_volatile(&self) -> bool {
        let mut volatile = false;
        self.walk(&mut |e| {
            volatile |= match e {
                Expr::Call(function, ..) => function.volatility == Volatility::Volatile,
                Expr::Engine(call) => call.volatility == Volatility::Volatile,
                _ => false,
            }
        });
        volatile
    }

    /// Whether a part of it is for the relational engine alone: a call of that, or a value whose type SQL lacks.
    pub fn is_of_engine(&self) -> bool {
        let mut is_of_engine = false;
        self.walk(&mut |e| is_of_engine |= matches!(e, Expr::Engine(_)) || e.sql_type() == Some(SqlType::Opaque));
        is_of_engine
    }

    /// The span of the first column named, for a caret.
    pub fn span(&self) -> Option<Span> {
        let mut found = None;
        self.walk(&mut |e| {
            if let Expr::Column(column) = e {
                found = found.or(column.span);
            }
        });
        found
    }

    /// Splits the top-level ANDs: the conditions that must all hold.
    pub fn into_conjuncts(self) -> Vec<Expr> {
        match self {
            Expr::And(list) => list.into_iter().flat_map(Expr::into_conjuncts).collect(),
            other => vec![other],
        }
    }
}

/// How tightly an operator binds, for parentheses in texts.
fn precedence(expr: &Expr) -> u8 {
    match expr {
        Expr::Or(_) => 1,
        Expr::And(_) => 2,
        Expr::Not(_) => 3,
        Expr::Compare(..) | Expr::RowCompare(..) | Expr::IsNull(_) | Expr::IsTruth(..) => 4,
        Expr::InList(..) | Expr::RowInList(..) | Expr::Like { .. } => 4,
        Expr::Arith(ArithOp::Add | ArithOp::Sub, ..) => 5,
        Expr::Arith(..) => 6,
        Expr::Negate(..) => 7,
        Expr::Call(function, ..) if [Function::ARRAY_ANY, Function::ARRAY_ALL].contains(function) => 4,
        _ => 8,
    }
}

struct Within<'a>(&'a Expr, u8);

impl fmt::Display for Within<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if precedence(self.0) < self.1 { write!(f, "({})", self.0) } else { write!(f, "{}", self.0) }
    }
}

/// Most members of an IN list that a text shows.
const LIST_SHOWN_MAX: usize = 20;

fn write_list<T>(
    f: &mut fmt::Formatter<'_>,
    list: &[T],
    write: impl Fn(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    write_items(f, list, ("(", ")"), write)
}

fn write_items<T>(
    f: &mut fmt::Formatter<'_>,
    list: &[T],
    (open, close): (&str, &str),
    write: impl Fn(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    f.write_str(open)?;
    for (i, item) in list.iter().take(LIST_SHOWN_MAX).enumerate() {
        f.write_str(if i == 0 { "" } else { ", " })?;
        write(f, item)?;
    }
    if list.len() > LIST_SHOWN_MAX {
        write!(f, ", … {} more", list.len() - LIST_SHOWN_MAX)?;
    }
    f.write_str(close)
}

fn write_row(f: &mut fmt::Formatter<'_>, row: &[Expr]) -> fmt::Result {
    write_list(f, row, |f, e| write!(f, "{e}"))
}

fn write_chain(f: &mut fmt::Formatter<'_>, list: &[Expr], word: &str, level: u8) -> fmt::Result {
    for (i, e) in list.iter().take(LIST_SHOWN_MAX).enumerate() {
        if i > 0 {
            write!(f, " {word} ")?;
        }
        write!(f, "{}", Within(e, level + 1))?;
    }
    if list.len() > LIST_SHOWN_MAX {
        write!(f, " {word} … {} more", list.len() - LIST_SHOWN_MAX)?;
    }
    Ok(())
}

impl fmt::Display for Expr {
    /// SQL text; long lists are cut.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expr::Literal(value, ty) => f.write_str(&text::literal(value, *ty)),
            Expr::Column(column) => f.write_str(&column.name),
            Expr::Param(index, _) => write!(f, "?{}", index + 1),
            Expr::Subquery(index, _) => write!(f, "(subquery {})", index + 1),
            Expr::Compare(op, a, b) => write!(f, "{} {} {}", Within(a, 5), op.as_str(), Within(b, 5)),
            Expr::RowCompare(op, a, b) => {
                write_row(f, a)?;
                write!(f, " {} ", op.as_str())?;
                write_row(f, b)
            }
            Expr::And(list) => write_chain(f, list, "AND", 2),
            Expr::Or(list) => write_chain(f, list, "OR", 1),
            Expr::Not(inner) => match &**inner {
                Expr::IsNull(e) => write!(f, "{} IS NOT NULL", Within(e, 5)),
                _ => write!(f, "NOT {}", Within(inner, 3)),
            },
            Expr::IsNull(e) => write!(f, "{} IS NULL", Within(e, 5)),
            Expr::IsTruth(e, truth) => {
                let word = match truth {
                    Some(true) => "TRUE",
                    Some(false) => "FALSE",
                    None => "UNKNOWN",
                };
                write!(f, "{} IS {word}", Within(e, 5))
            }
            Expr::InList(e, list) => {
                write!(f, "{} IN ", Within(e, 5))?;
                write_row(f, list)
            }
            Expr::RowInList(row, rows) => {
                write_row(f, row)?;
                f.write_str(" IN ")?;
                write_list(f, rows, |f, row| write_row(f, row))
            }
            Expr::Like { text, pattern, escape, ignore_case } => {
                let word = if *ignore_case { "ILIKE" } else { "LIKE" };
                write!(f, "{} {word} {}", Within(text, 5), Within(pattern, 5))?;
                match escape {
                    Some('\'') => f.write_str(" ESCAPE ''''"),
                    Some(c) => write!(f, " ESCAPE '{c}'"),
                    None => Ok(()),
                }
            }
            Expr::Arith(op, a, b, _) => {
                let level = precedence(self);
                write!(f, "{} {} {}", Within(a, level), op.as_str(), Within(b, level + 1))
            }
            Expr::Engine(call) => call.fmt(f),
            Expr::Negate(e, _) => write!(f, "-{}", Within(e, 8)),
            Expr::Cast(e, ty) => write!(f, "CAST({e} AS {ty})"),
            Expr::Case { whens, otherwise, .. } => {
                f.write_str("CASE")?;
                for (condition, value) in whens {
                    write!(f, " WHEN {condition} THEN {value}")?;
                }
                if let Some(e) = otherwise {
                    write!(f, " ELSE {e}")?;
                }
                f.write_str(" END")
            }
            Expr::Call(function, args, _) => match &args[..] {
                elements if *function == Function::MAKE_ARRAY => {
                    f.write_str("ARRAY")?;
                    write_items(f, elements, ("[", "]"), |f, e| write!(f, "{e}"))
                }
                [array, index] if *function == Function::ARRAY_ELEM => write!(f, "{}[{index}]", Within(array, 8)),
                [value, Expr::Literal(Value::Text(op), _), array] if *function == Function::ARRAY_ANY => {
                    write!(f, "{} {op} ANY({array})", Within(value, 5))
                }
                [value, Expr::Literal(Value::Text(op), _), array] if *function == Function::ARRAY_ALL => {
                    write!(f, "{} {op} ALL({array})", Within(value, 5))
                }
                [_, Expr::Literal(Value::Text(name), _), _] if self.dynamic_column().is_some() => f.write_str(name),
                [a, b] if *function == Function::CONCAT => write!(f, "{} || {}", Within(a, 5), Within(b, 6)),
                _ => {
                    f.write_str(function.name)?;
                    write_row(f, args)
                }
            },
        }
    }
}

impl fmt::Display for EngineCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, separator: &str| {
            for (place, arg) in self.args.iter().enumerate() {
                write!(f, "{}{arg}", if place == 0 { "" } else { separator })?;
            }
            Ok(())
        };
        match &self.operation {
            EngineOperation::Function(name) => {
                write!(f, "{name}(")?;
                list(f, ", ")?;
                f.write_str(")")
            }
            EngineOperation::Cast(ty) | EngineOperation::TryCast(ty) => {
                let tries = matches!(self.operation, EngineOperation::TryCast(_));
                f.write_str(if tries { "TRY_CAST(" } else { "CAST(" })?;
                list(f, ", ")?;
                write!(f, " AS {ty})")
            }
            EngineOperation::Bits(operator) => {
                f.write_str("(")?;
                list(f, &format!(" {} ", operator.as_str()))?;
                f.write_str(")")
            }
        }
    }
}
