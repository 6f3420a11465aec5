//! Row keys and ranges of row keys, encoded from a statement's values without a plan.
//!
//! ```text
//! key (host, day, ts)      part
//! host = ? AND day = ? AND ts = ?      one row key
//! host = ? AND day = ?                 the keys that begin with both
//! host = ? AND day >= ? AND day < 7    those of them in a span of the next column
//! host IN (?, ?) AND day = ?           such a part for each value, or row of values, of one list
//! ```
//!
//! The key is the table's own, or that of an index: then the parts are of its entries, and never a single row.
//!
//! # Law
//! If a part of the key is made for some values, then the plan of the SELECT with these values reads the same keys in
//! the same buckets, and each row of the part meets all conditions.

use std::borrow::Cow;
use std::ops::Bound;

use saltwing_access::keys::{KeyList, KeyRanges, RangeList};
use saltwing_access::{KeySet, Table};
use saltwing_rowkey::{BucketRange, PlainKey, RowKeyCodec};
use saltwing_types::key_form::key_form_of_entry;
use saltwing_types::{ColumnRef, CompareOp, Expr, KeyColumn, KeySchema, SqlType, Value, typing};

use crate::direct_query::DirectQuery;
use crate::key_access::{KeyAccess, is_plain_value};

/// Where a value comes from.
#[derive(Clone, Debug)]
enum Operand {
    Parameter(usize),
    Literal(Value),
}

impl Operand {
    fn of(expr: &Expr) -> Option<Self> {
        match expr {
            Expr::Param(index, _) => Some(Self::Parameter(*index)),
            Expr::Literal(value, _) if !value.is_null() => Some(Self::Literal(value.clone())),
            _ => None,
        }
    }

    /// The operand, if it already has the column's type or is a date literal.
    fn value<'v>(&'v self, values: &'v [Value], column: &ColumnRef) -> Option<Cow<'v, Value>> {
        let value = match self {
            Self::Parameter(index) => values.get(*index)?,
            Self::Literal(value) => value,
        };
        if is_plain_value(value, column.ty) {
            return Some(Cow::Borrowed(value));
        }
        if !matches!((value, column.ty), (Value::Text(_), SqlType::Date)) {
            return None;
        }
        let literal = Expr::Literal(value.clone(), typing::natural_type(value));
        match typing::compare(CompareOp::Eq, Expr::Column(column.clone()), literal).ok()? {
            Expr::Compare(CompareOp::Eq, left, right) => match (*left, *right) {
                (Expr::Column(_), Expr::Literal(value, _)) if is_plain_value(&value, column.ty) => {
                    Some(Cow::Owned(value))
                }
                _ => None,
            },
            _ => None,
        }
    }
}

/// Whether a plain value is the smallest or the largest of its type: up to there a span leaves nothing out.
fn is_last_value(value: &Value, ty: SqlType) -> bool {
    match value {
        Value::Int(n) => ty.integer_range().is_some_and(|(low, high)| *n == low || *n == high),
        Value::Text(text) => text.is_empty(),
        Value::Date(ms) => *ms == i64::MIN || *ms == i64::MAX,
        _ => true,
    }
}

/// Whether no value of their type lies between two.
fn are_neighbours(low: &Value, high: &Value) -> bool {
    match (low, high) {
        (Value::Int(low), Value::Int(high)) | (Value::Date(low), Value::Date(high)) => {
            low.checked_add(1) == Some(*high)
        }
        _ => false,
    }
}

/// The conditions on one key column.
#[derive(Clone, Debug, Default)]
struct ColumnBounds {
    /// The column, if it has conditions.
    column: Option<ColumnRef>,
    equal: Option<Operand>,
    /// With whether the value itself lies inside.
    low: Option<(Operand, bool)>,
    high: Option<(Operand, bool)>,
    /// The place of its value in the rows of the list.
    listed: Option<usize>,
}

/// Conditions that give a [`KeyAccess`] for all values.
pub(super) struct KeyTemplate {
    /// The place of the index whose key it is among those of the table; `None` for the table's own.
    index: Option<usize>,
    /// By position in the key; a computed column has no conditions.
    bounds: Vec<ColumnBounds>,
    /// How many leading columns equal a value, or are computed.
    equal: usize,
    /// Whether the next column lies in a span.
    has_span: bool,
    /// Whether the columns do not tell the bucket: all are read.
    in_any_bucket: bool,
    /// Rows of values: one of them is that of the columns listed.
    list: Option<Vec<Vec<Operand>>>,
}

impl KeyTemplate {
    /// The template of a SELECT all of whose conditions are about leading columns of the table's key, or of that of an
    /// index, by its place.
    pub(super) fn of(bound: &DirectQuery, index: Option<usize>) -> Option<Self> {
        let (key, codec) = key_of(&bound.table, index)?;
        let mut bounds = vec![ColumnBounds::default(); key.columns.len()];
        let mut list = None;
        for condition in &bound.conditions {
            let all =
                if let Expr::And(all) = &condition.expr { &all[..] } else { std::slice::from_ref(&condition.expr) };
            for expr in all {
                match listed(expr) {
                    Some((columns, rows)) => add_list(columns, rows, key, &mut bounds, &mut list)?,
                    None => add_comparison(expr, key, &mut bounds)?,
                }
            }
        }
        let is_fixed = |column: usize| {
            key.position(column).and_then(|position| bounds.get(position)).is_some_and(ColumnBounds::is_fixed)
        };
        let is_equal = |(bounds, part): &(&ColumnBounds, &KeyColumn)| {
            // The parts of an index that are expressions take a plan.
            bounds.is_fixed()
                || index.is_none() && part.computed().is_some_and(|e| e.columns().into_iter().all(is_fixed))
        };
        let equal = bounds.iter().zip(&key.columns).take_while(is_equal).count();
        let (leading, rest) = bounds.split_at_checked(equal)?;
        let has_span = rest.first().is_some_and(ColumnBounds::is_span);
        let fits =
            leading.iter().all(|bounds| !bounds.is_span() && (bounds.equal.is_none() || bounds.listed.is_none()))
                && rest.iter().enumerate().all(|(i, bounds)| i == 0 && !bounds.is_fixed() || bounds.is_nothing())
                && (equal > 0 || has_span)
                && (index.is_none() || equal < key.columns.len());
        let salted = codec.salt_column_count();
        let in_any_bucket = salted > equal;
        // A span of one value may tell the bucket too, and so may the columns of a row for the entries of a local index: that
        // takes a plan.
        let is_local = index.and_then(|index| bound.table.indexes().get(index)).is_some_and(|index| index.def().local);
        let is_of_row = |bounds: &ColumnBounds| {
            bounds.column.as_ref().is_some_and(|column| bound.table.def().key.position(column.index).is_some())
        };
        let tells_bucket =
            in_any_bucket && (salted == equal + usize::from(has_span) || is_local && bounds.iter().any(is_of_row));
        (fits && !tells_bucket).then_some(Self { index, bounds, equal, has_span, in_any_bucket, list })
    }

    /// The part that these values ask for; `None` where more than encoding is to be thought of.
    pub(super) fn part(&self, table: &Table, values: &[Value]) -> Option<KeyAccess> {
        let (key, codec) = key_of(table, self.index)?;
        let row_key = |listed: &[Operand]| self.leading(table, values, listed)?.row_key();
        let is_row = self.equal == key.columns.len();
        Some(match &self.list {
            None if is_row => KeyAccess::Row(row_key(&[])?),
            None if self.in_any_bucket => {
                KeyAccess::Keys(KeySet::everywhere(KeyRanges::from_iter([self.range(table, values, &[])?.range])))
            }
            None => KeyAccess::Keys(KeySet::Range(self.range(table, values, &[])?)),
            Some(list) if is_row => {
                let rows = KeyList::new(codec.bucket_bytes(), list.iter(), |row, out| {
                    out.extend_from_slice(&row_key(row)?);
                    Some(())
                })?;
                KeyAccess::Keys(rows.into())
            }
            Some(list) => {
                let range = |row: &Vec<Operand>| Some(self.range(table, values, row)?.into());
                let ranges = list.iter().map(range).collect::<Option<Vec<_>>>()?;
                KeyAccess::Keys(RangeList::new(ranges).into())
            }
        })
    }

    /// The keys for one row of the list, or all keys without a list; the leading columns are not a whole key.
    fn range(&self, table: &Table, values: &[Value], listed: &[Operand]) -> Option<BucketRange> {
        let key = self.leading(table, values, listed)?;
        if !self.has_span {
            return key.prefix_range();
        }
        let bounds = self.bounds.get(self.equal)?;
        let column = bounds.column.as_ref()?;
        // The key of an entry has the same bytes for '' and NULL.
        if self.index.is_some() && bounds.low.is_none() && matches!(column.ty, SqlType::Varchar(_)) {
            return None;
        }
        // Keys of an index have DECIMAL for whole numbers and dates that may be NULL, and so room between neighbours.
        if let (Some((low, false)), Some((high, false))) = (&bounds.low, &bounds.high)
            && are_neighbours(low.value(values, column)?.as_ref(), high.value(values, column)?.as_ref())
        {
            return None;
        }
        let ty = key_of(table, self.index)?.0.columns.get(self.equal)?.ty;
        let in_key = |value| self.in_key(value, column.ty, ty);
        let (low, high) = (bound(&bounds.low, values, column, in_key)?, bound(&bounds.high, values, column, in_key)?);
        key.span_range(low.as_ref().map(|value| &**value), high.as_ref().map(|value| &**value))
    }

    /// The columns that equal a value, or are computed of such; none of them is NULL.
    fn leading<'t>(&self, table: &'t Table, values: &[Value], listed: &[Operand]) -> Option<PlainKey<'t>> {
        let (key_schema, codec) = key_of(table, self.index)?;
        let mut row = Vec::new();
        if self.index.is_none() && key_schema.has_computed() {
            row.resize(table.def().columns.len(), Value::Null);
            for bounds in self.bounds.iter().filter(|bounds| bounds.is_fixed()) {
                *row.get_mut(bounds.column.as_ref()?.index)? = bounds.value(values, listed)?.into_owned();
            }
        }
        let mut key = codec.plain_key();
        for (bounds, part) in self.bounds.iter().zip(&key_schema.columns).take(self.equal) {
            match part.computed() {
                None => {
                    let value = self.in_key(bounds.value(values, listed)?, bounds.column.as_ref()?.ty, part.ty)?;
                    key.push(&value)?;
                }
                Some(_) => key.push(&part.value(&row).ok()?)?,
            }
        }
        Some(if self.in_any_bucket { key.in_any_bucket() } else { key })
    }

    /// The form of a column's value in a key column of the type `key_ty`.
    fn in_key<'v>(&self, value: Cow<'v, Value>, ty: SqlType, key_ty: SqlType) -> Option<Cow<'v, Value>> {
        match self.index {
            None => Some(value),
            Some(_) => key_form_of_entry(&value, ty, key_ty).ok().map(Cow::Owned),
        }
    }
}

/// The key of a table, or of the entries of an index.
fn key_of(table: &Table, index: Option<usize>) -> Option<(&KeySchema, &RowKeyCodec)> {
    match index {
        None => Some((&table.def().key, table.codec())),
        Some(index) => table.indexes().get(index).map(|index| (index.key(), &**index.codec())),
    }
}

/// An end of a span; `in_key` gives the form of its value in the key.
fn bound<'v>(
    end: &'v Option<(Operand, bool)>,
    values: &'v [Value],
    column: &ColumnRef,
    in_key: impl Fn(Cow<'v, Value>) -> Option<Cow<'v, Value>>,
) -> Option<Bound<Cow<'v, Value>>> {
    let Some((given, inside)) = end else { return Some(Bound::Unbounded) };
    let value = in_key(given.value(values, column).filter(|value| !is_last_value(value, column.ty))?)?;
    Some(if *inside { Bound::Included(value) } else { Bound::Excluded(value) })
}

impl ColumnBounds {
    /// The value that the column equals.
    fn value<'v>(&'v self, values: &'v [Value], listed: &'v [Operand]) -> Option<Cow<'v, Value>> {
        let given = self.equal.as_ref().or_else(|| listed.get(self.listed?));
        given?.value(values, self.column.as_ref()?)
    }

    fn is_span(&self) -> bool {
        self.low.is_some() || self.high.is_some()
    }

    /// Whether the column's value is given, alone or in a list.
    fn is_fixed(&self) -> bool {
        self.equal.is_some() || self.listed.is_some()
    }

    fn is_nothing(&self) -> bool {
        !self.is_fixed() && !self.is_span()
    }
}

/// The columns of an IN list, and its rows.
fn listed(expr: &Expr) -> Option<(Vec<ColumnRef>, Vec<Vec<&Expr>>)> {
    let column = |e: &'_ Expr| if let Expr::Column(column) = e { Some(column.clone()) } else { None };
    match expr {
        Expr::InList(left, list) => Some((vec![column(left)?], list.iter().map(|value| vec![value]).collect())),
        Expr::RowInList(row, rows) => Some((
            row.iter().map(column).collect::<Option<_>>()?,
            rows.iter().map(|row| row.iter().collect()).collect(),
        )),
        _ => None,
    }
}

/// Adds a list; `None` for a second list, and for one over columns that are not key columns or have other conditions.
fn add_list(
    columns: Vec<ColumnRef>,
    rows: Vec<Vec<&Expr>>,
    key: &KeySchema,
    bounds: &mut [ColumnBounds],
    list: &mut Option<Vec<Vec<Operand>>>,
) -> Option<()> {
    for (place, column) in columns.into_iter().enumerate() {
        let bounds = bounds.get_mut(key.position(column.index)?)?;
        bounds.column.get_or_insert(column);
        bounds.listed.replace(place).is_none().then_some(())?;
    }
    let rows = rows.into_iter().map(|row| row.into_iter().map(Operand::of).collect()).collect::<Option<_>>()?;
    list.replace(rows).is_none().then_some(())
}

/// Adds a comparison of a key column; `None` if it is another expression, or the second of its kind.
fn add_comparison(expr: &Expr, key: &KeySchema, bounds: &mut [ColumnBounds]) -> Option<()> {
    let Expr::Compare(op, a, b) = expr else { return None };
    let (op, column, value) = match (&**a, &**b) {
        (Expr::Column(column), value) => (*op, column, value),
        (value, Expr::Column(column)) => (op.swapped(), column, value),
        _ => return None,
    };
    let bounds = bounds.get_mut(key.position(column.index)?)?;
    let given = Operand::of(value)?;
    bounds.column.get_or_insert_with(|| column.clone());
    let is_new = match op {
        CompareOp::Eq => bounds.equal.replace(given).is_none(),
        CompareOp::Gt => bounds.low.replace((given, false)).is_none(),
        CompareOp::GtEq => bounds.low.replace((given, true)).is_none(),
        CompareOp::Lt => bounds.high.replace((given, false)).is_none(),
        CompareOp::LtEq => bounds.high.replace((given, true)).is_none(),
        _ => false,
    };
    is_new.then_some(())
}
