//! AND, OR, NOT and the tests of truth.

use arrow::array::{Array, BooleanArray};
use arrow::buffer::{BooleanBuffer, NullBuffer};
use arrow::compute::{and_kleene, or_kleene};

use crate::batch::{Batch, Columnwise, RowByRow};
use crate::step::{Compute, Step, Truth, Vector, null_mask};

/// AND or OR: one part with the deciding truth is enough.
#[derive(Debug)]
pub(crate) struct Chain {
    pub(crate) parts: Vec<Step>,
    /// The truth that decides: `false` for AND, `true` for OR.
    pub(crate) decides: bool,
}

impl Compute for Chain {
    /// A part that may fail or is slow runs only over rows that no part before it decided,
    /// just as the scalar evaluator stops there; the others run over all rows, which costs less than choosing.
    fn compute(&self, batch: &Batch) -> Columnwise<Vector> {
        let mut so_far = Truth::Constant(Some(!self.decides));
        for part in &self.parts {
            if !part.selective {
                so_far = self.join(so_far, part.truth(batch)?)?;
                continue;
            }
            let decided = so_far.known_as(self.decides, batch.rows);
            match decided.count_set_bits() {
                0 => so_far = self.join(so_far, part.truth(batch)?)?,
                n if n == batch.rows => break,
                _ => {
                    let open = !&decided;
                    let truth = part.truth(&batch.select(&open, &part.columns)?)?;
                    // Rows already decided may get any truth from this part.
                    so_far = self.join(so_far, scatter(&open, truth))?;
                }
            }
        }
        Ok(so_far.into())
    }
}

impl Chain {
    fn join(&self, a: Truth, b: Truth) -> Columnwise<Truth> {
        Ok(match (a, b) {
            (Truth::Constant(Some(c)), other) | (other, Truth::Constant(Some(c))) => {
                if c == self.decides {
                    Truth::Constant(Some(c))
                } else {
                    other
                }
            }
            (Truth::Constant(None), Truth::Constant(None)) => Truth::Constant(None),
            (Truth::Constant(None), Truth::Array(array)) | (Truth::Array(array), Truth::Constant(None)) => {
                self.join_arrays(&array, &BooleanArray::new_null(array.len()))?
            }
            (Truth::Array(a), Truth::Array(b)) => self.join_arrays(&a, &b)?,
        })
    }

    fn join_arrays(&self, a: &BooleanArray, b: &BooleanArray) -> Columnwise<Truth> {
        let joined = if self.decides { or_kleene(a, b) } else { and_kleene(a, b) };
        Ok(Truth::Array(joined.map_err(|_| RowByRow)?))
    }
}

/// Gives the rows of `mask`, in order, the truths of a smaller batch; the other rows get
/// false or unknown, which is no matter where they are decided.
fn scatter(mask: &BooleanBuffer, truth: Truth) -> Truth {
    let Truth::Array(array) = truth else { return truth };
    let place = |bits: &BooleanBuffer| {
        let mut placed = vec![false; mask.len()];
        for (row, bit) in mask.set_indices().zip(bits) {
            if let Some(place) = placed.get_mut(row) {
                *place = bit;
            }
        }
        BooleanBuffer::from(placed)
    };
    let nulls = array.nulls().map(|valid| NullBuffer::new(place(valid.inner())));
    Truth::Array(BooleanArray::new(place(array.values()), nulls))
}

/// NOT.
#[derive(Debug)]
pub(crate) struct Not(pub(crate) Step);

impl Compute for Not {
    fn compute(&self, batch: &Batch) -> Columnwise<Vector> {
        Ok(match self.0.truth(batch)? {
            Truth::Constant(known) => Truth::Constant(known.map(|b| !b)).into(),
            Truth::Array(array) => Vector::of(BooleanArray::new(!array.values(), array.nulls().cloned())),
        })
    }
}

/// IS NULL.
#[derive(Debug)]
pub(crate) struct IsNull(pub(crate) Step);

impl Compute for IsNull {
    fn compute(&self, batch: &Batch) -> Columnwise<Vector> {
        Ok(match self.0.compute(batch)? {
            Vector::Constant(value) => Truth::Constant(Some(value.is_null())).into(),
            Vector::Array(array) => Vector::of(BooleanArray::new(null_mask(array.nulls(), array.len()), None)),
        })
    }
}

/// IS TRUE, IS FALSE, IS UNKNOWN.
#[derive(Debug)]
pub(crate) struct IsTruth(pub(crate) Step, pub(crate) Option<bool>);

impl Compute for IsTruth {
    fn compute(&self, batch: &Batch) -> Columnwise<Vector> {
        let truth = self.0.truth(batch)?;
        let mask = match self.1 {
            Some(wanted) => truth.known_as(wanted, batch.rows),
            None => truth.unknown(batch.rows),
        };
        Ok(Vector::of(BooleanArray::new(mask, None)))
    }
}
