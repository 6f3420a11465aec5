//! One node of an expression, made ready to run over whole columns.

use std::fmt::Debug;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray};
use arrow::buffer::{BooleanBuffer, NullBuffer};
use saltwing_types::{SqlType, Value};

use crate::batch::{Batch, Columnwise, RowByRow, nulls, shared};
use crate::value_at::is_of_kind;
use crate::{ColumnBuilder, arrow_type};

/// How a node is computed.
pub(crate) trait Compute: Debug + Send + Sync {
    /// The node's value in each row of the batch.
    fn compute(&self, batch: &Batch) -> Columnwise<Vector>;
}

/// A node.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) ty: SqlType,
    /// The columns read, ascending.
    pub(crate) columns: Vec<usize>,
    /// Whether it should run only over the rows that need it, because it may fail or is slow.
    pub(crate) selective: bool,
    node: Node,
}

#[derive(Debug)]
enum Node {
    Constant(Value),
    Column(usize),
    Computed(Box<dyn Compute>),
}

impl Step {
    pub(crate) fn constant(value: Value, ty: SqlType) -> Self {
        Self { ty, columns: Vec::new(), selective: false, node: Node::Constant(value) }
    }

    pub(crate) fn column(index: usize, ty: SqlType) -> Self {
        Self { ty, columns: vec![index], selective: false, node: Node::Column(index) }
    }

    pub(crate) fn computed(compute: Box<dyn Compute>, ty: SqlType, columns: Vec<usize>, selective: bool) -> Self {
        Self { ty, columns, selective, node: Node::Computed(compute) }
    }

    /// The value, when it is the same for all rows.
    pub(crate) fn as_constant(&self) -> Option<&Value> {
        if let Node::Constant(value) = &self.node { Some(value) } else { None }
    }

    /// The text, when it is the same for all rows.
    pub(crate) fn as_text(&self) -> Option<&str> {
        if let Value::Text(text) = self.as_constant()? { Some(text) } else { None }
    }

    /// Whether the step's columns are columns of `ty`.
    pub(crate) fn gives(&self, ty: SqlType) -> bool {
        self.as_constant().is_some() || arrow_type(self.ty) == arrow_type(ty)
    }

    /// The value in each row. Never an array of Arrow's type Null: that is a constant.
    pub(crate) fn compute(&self, batch: &Batch) -> Columnwise<Vector> {
        match &self.node {
            Node::Constant(value) => Ok(Vector::Constant(value.clone())),
            _ if self.ty == SqlType::Null => self.compute_nulls(batch),
            Node::Column(index) => batch.column(*index).cloned().map(Vector::Array).ok_or(RowByRow),
            Node::Computed(compute) => compute.compute(batch),
        }
    }

    fn compute_nulls(&self, batch: &Batch) -> Columnwise<Vector> {
        if let Node::Computed(compute) = &self.node {
            compute.compute(batch)?;
        }
        Ok(Vector::Constant(Value::Null))
    }

    /// The node as a condition.
    pub(crate) fn truth(&self, batch: &Batch) -> Columnwise<Truth> {
        Ok(match self.compute(batch)? {
            Vector::Constant(Value::Bool(b)) => Truth::Constant(Some(b)),
            Vector::Constant(_) => Truth::Constant(None),
            Vector::Array(array) => Truth::Array(array.as_boolean_opt().ok_or(RowByRow)?.clone()),
        })
    }
}

/// A value in each row.
#[derive(Debug)]
pub(crate) enum Vector {
    /// The same value in all rows.
    Constant(Value),
    /// An array of [`crate::arrow_type()`] of the step's type.
    Array(ArrayRef),
}

impl Vector {
    pub(crate) fn of(array: impl Array + 'static) -> Self {
        Vector::Array(shared(array))
    }

    /// As an array of `rows` rows of `ty`.
    pub(crate) fn into_array(self, ty: SqlType, rows: usize) -> Columnwise<ArrayRef> {
        match self {
            Vector::Array(array) => Ok(array),
            Vector::Constant(Value::Null) => Ok(nulls(ty, rows)),
            Vector::Constant(value) => repeat(&value, ty, rows),
        }
    }
}

/// `rows` times the same value.
pub(crate) fn repeat(value: &Value, ty: SqlType, rows: usize) -> Columnwise<ArrayRef> {
    let mut builder = ColumnBuilder::new(ty, rows);
    for _ in 0..rows {
        append_exact(&mut builder, value)?;
    }
    Ok(builder.finish())
}

/// Appends a value that the column gives back unchanged.
pub(crate) fn append_exact(builder: &mut ColumnBuilder, value: &Value) -> Columnwise<()> {
    let fits = match (value, builder.sql_type()) {
        (Value::Decimal(d), SqlType::Decimal(Some((_, scale)))) => d.scale() <= scale.into(),
        (value, ty) => is_of_kind(value, ty),
    };
    if !fits {
        return Err(RowByRow);
    }
    builder.append_value(value).map_err(|_| RowByRow)
}

/// A condition in each row.
#[derive(Debug)]
pub(crate) enum Truth {
    /// The same in all rows; `None` is unknown.
    Constant(Option<bool>),
    /// Null is unknown.
    Array(BooleanArray),
}

impl Truth {
    /// The rows where it is known to be `wanted`.
    pub(crate) fn known_as(&self, wanted: bool, rows: usize) -> BooleanBuffer {
        match self {
            Truth::Constant(known) if *known == Some(wanted) => BooleanBuffer::new_set(rows),
            Truth::Constant(_) => BooleanBuffer::new_unset(rows),
            Truth::Array(array) => {
                let values = if wanted { array.values().clone() } else { !array.values() };
                match array.nulls() {
                    None => values,
                    Some(known) => &values & known.inner(),
                }
            }
        }
    }

    /// The rows where it is unknown.
    pub(crate) fn unknown(&self, rows: usize) -> BooleanBuffer {
        match self {
            Truth::Constant(None) => BooleanBuffer::new_set(rows),
            Truth::Constant(Some(_)) => BooleanBuffer::new_unset(rows),
            Truth::Array(array) => null_mask(array.nulls(), rows),
        }
    }
}

impl From<Truth> for Vector {
    fn from(truth: Truth) -> Self {
        match truth {
            Truth::Constant(known) => Vector::Constant(known.map_or(Value::Null, Value::Bool)),
            Truth::Array(array) => Vector::of(array),
        }
    }
}

/// The rows that are null.
pub(crate) fn null_mask(nulls: Option<&NullBuffer>, rows: usize) -> BooleanBuffer {
    nulls.map_or_else(|| BooleanBuffer::new_unset(rows), |valid| !valid.inner())
}
