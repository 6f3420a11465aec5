//! The key columns of one candidate, as conditions see them.

use std::cell::Cell;

use saltwing_types::{ColumnRef, Expr, Interrupted, KeyColumn, KeySchema, KeySource, SqlType, interrupt};

use crate::domain::Domain;

/// Most pairs of boxes, or of boxes and listed rows, that all steps of planning one key look at together. Beyond it each step may
/// look at [`PAIRS_OF_BOX`] for each of its boxes, so that planning takes time in proportion to the conditions.
const PAIRS_OF_KEY_MAX: usize = 250_000;
/// Pairs that a step may look at for each of its boxes, whatever the steps before it have looked at.
pub(crate) const PAIRS_OF_BOX: usize = 4;

/// A key schema with the domain of each of its columns.
#[derive(Clone)]
pub(crate) struct KeySpace<'a> {
    schema: &'a KeySchema,
    domains: Vec<Domain>,
    parts: Vec<Part<'a>>,
    /// Pairs of boxes that may still be looked at.
    pairs_left: Cell<usize>,
}

impl<'a> KeySpace<'a> {
    /// The key columns, typed as `conditions` name them: an index may keep a
    /// table column in another type, and values are the table column's.
    pub(crate) fn new<'e>(schema: &'a KeySchema, conditions: impl IntoIterator<Item = &'e Expr>) -> Self {
        let type_of = |key: &KeyColumn| match &key.source {
            KeySource::Indexed(expr) => expr.sql_type().unwrap_or(key.ty),
            KeySource::Column(_) | KeySource::Computed(_) => key.ty,
        };
        let mut types: Vec<SqlType> = schema.columns.iter().map(type_of).collect();
        for condition in conditions {
            condition.walk(&mut |e| {
                if let Expr::Column(column) = e
                    && let Some(position) = schema.position(column.index)
                    && let Some(ty) = types.get_mut(position)
                {
                    *ty = column.ty;
                }
            });
        }
        let domains = schema.columns.iter().zip(types).enumerate();
        let domains = domains.map(|(position, (key, ty))| Domain::new(key, ty, position == last(schema))).collect();
        Self { schema, domains, parts: parts(schema), pairs_left: Cell::new(PAIRS_OF_KEY_MAX) }
    }

    /// The columns of an index as conditions know them: NULL and '' are two values, though an entry has the same bytes for
    /// both. [`Cover::with_empty_as_null`](crate::cover::Cover::with_empty_as_null) leads back to the bytes.
    pub(crate) fn with_empty_apart(&self) -> Self {
        let domain = |(position, (key, domain)): (usize, (&KeyColumn, &Domain))| match key.nullable {
            true => Domain::of_index(key, domain.ty(), position == last(self.schema)),
            false => domain.clone(),
        };
        let domains = self.schema.columns.iter().zip(&self.domains).enumerate().map(domain).collect();
        Self { domains, ..self.clone() }
    }

    /// Most pairs that a step over so many boxes may look at.
    pub(crate) fn pairs_max(&self, boxes: usize) -> usize {
        self.pairs_left.get().max(boxes.saturating_mul(PAIRS_OF_BOX))
    }

    /// Whether a step over so many boxes may look at these pairs, which are then counted.
    pub(crate) fn may_look_at(&self, pairs: usize, boxes: usize) -> bool {
        pairs <= self.pairs_max(boxes) && self.look_at(pairs).is_ok()
    }

    /// Counts pairs of boxes that are looked at.
    ///
    /// # Errors
    /// [`Interrupted`] when the statement must stop: then any cover will do.
    pub(crate) fn look_at(&self, pairs: usize) -> Result<(), Interrupted> {
        self.pairs_left.set(self.pairs_left.get().saturating_sub(pairs));
        interrupt::spend(pairs)
    }

    /// The computed parts, in key order.
    pub(crate) fn parts(&self) -> &[Part<'a>] {
        &self.parts
    }

    /// The computed part at a position.
    pub(crate) fn part(&self, position: usize) -> Option<&Part<'a>> {
        self.parts.iter().find(|part| part.position == position)
    }

    /// Position of the part that this very expression computes.
    pub(crate) fn expression(&self, expr: &Expr) -> Option<usize> {
        self.schema.columns.iter().position(|key| key.computed() == Some(expr))
    }

    /// The schema.
    pub(crate) fn schema(&self) -> &'a KeySchema {
        self.schema
    }

    /// Number of key columns.
    pub(crate) fn len(&self) -> usize {
        self.domains.len()
    }

    /// The key column at a position below [`KeySpace::len`].
    pub(crate) fn column(&self, position: usize) -> &'a KeyColumn {
        &self.schema.columns[position]
    }

    /// Its values.
    pub(crate) fn domain(&self, position: usize) -> &Domain {
        &self.domains[position]
    }

    /// Position in the key of a column of a condition.
    pub(crate) fn position(&self, column: &ColumnRef) -> Option<usize> {
        self.schema.position(column.index)
    }
}

/// The last place in a key.
fn last(schema: &KeySchema) -> usize {
    schema.columns.len().saturating_sub(1)
}

/// A computed part of a key.
#[derive(Clone, Debug)]
pub(crate) struct Part<'a> {
    /// Its place in the key.
    pub(crate) position: usize,
    /// The places of its inputs, ascending, all after it.
    pub(crate) inputs: Vec<usize>,
    /// The expression that computes it.
    pub(crate) expr: &'a Expr,
}

/// The computed parts of a key.
fn parts(schema: &KeySchema) -> Vec<Part<'_>> {
    (0..schema.columns.len()).filter_map(|position| part(schema, position)).collect()
}

fn part(schema: &KeySchema, position: usize) -> Option<Part<'_>> {
    // A part of an index is no function of other parts.
    let KeySource::Computed(expr) = &schema.columns.get(position)?.source else { return None };
    let inputs = expr.columns().into_iter().map(|column| schema.position(column));
    let mut inputs = inputs.collect::<Option<Vec<_>>>()?;
    inputs.sort_unstable();
    Some(Part { position, inputs, expr })
}
