//! CASE and COALESCE.
//!
//! A branch runs only over the rows that get to it, so that it fails only where it counts.

use arrow::array::{Array, ArrayRef};
use arrow::buffer::BooleanBuffer;
use arrow::compute::interleave;
use saltwing_types::SqlType;

use crate::batch::{Batch, Columnwise, RowByRow, nulls};
use crate::step::{Compute, Step, Vector, null_mask};

/// CASE.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) whens: Vec<(Step, Step)>,
    pub(crate) otherwise: Option<Step>,
    pub(crate) ty: SqlType,
}

impl Compute for Case {
    fn compute(&self, batch: &Batch) -> Columnwise<Vector> {
        let mut mosaic = Mosaic::new(self.ty, batch.rows);
        for (condition, result) in &self.whens {
            if !mosaic.open.has_true() {
                break;
            }
            let here = open_rows(batch, &mosaic.open, condition)?;
            let holds = condition.truth(&here)?.known_as(true, here.rows);
            let chosen = within(&mosaic.open, &holds);
            if chosen.has_true() {
                let piece = open_rows(batch, &chosen, result)?;
                mosaic.place(&chosen, result.compute(&piece)?)?;
            }
        }
        if let (Some(result), true) = (&self.otherwise, mosaic.open.has_true()) {
            let open = mosaic.open.clone();
            let piece = open_rows(batch, &open, result)?;
            mosaic.place(&open, result.compute(&piece)?)?;
        }
        mosaic.finish()
    }
}

/// COALESCE.
#[derive(Debug)]
pub(crate) struct Coalesce {
    pub(crate) parts: Vec<Step>,
    pub(crate) ty: SqlType,
}

impl Compute for Coalesce {
    fn compute(&self, batch: &Batch) -> Columnwise<Vector> {
        let mut mosaic = Mosaic::new(self.ty, batch.rows);
        for part in &self.parts {
            if !mosaic.open.has_true() {
                break;
            }
            let open = mosaic.open.clone();
            let here = open_rows(batch, &open, part)?;
            let vector = part.compute(&here)?;
            let array = match vector {
                Vector::Constant(saltwing_types::Value::Null) => continue,
                Vector::Constant(_) => {
                    mosaic.place(&open, vector)?;
                    break;
                }
                Vector::Array(array) => array,
            };
            // Its NULLs are open, and later branches overwrite them.
            let still_open = within(&open, &null_mask(array.nulls(), array.len()));
            mosaic.place(&open, Vector::Array(array))?;
            mosaic.open = still_open;
        }
        mosaic.finish()
    }
}

fn open_rows(batch: &Batch, mask: &BooleanBuffer, step: &Step) -> Columnwise<Batch> {
    // A whole batch is selected as well: the copy is cheap compared with the CASE.
    batch.select(mask, &step.columns)
}

/// The rows of `mask` whose bit in `inner`, which has a bit for each of them, is set.
fn within(mask: &BooleanBuffer, inner: &BooleanBuffer) -> BooleanBuffer {
    let mut rows = vec![false; mask.len()];
    for (row, bit) in mask.set_indices().zip(inner) {
        if let Some(place) = rows.get_mut(row) {
            *place = bit;
        }
    }
    rows.into()
}

/// A column put together from pieces.
struct Mosaic {
    ty: SqlType,
    /// The first piece is one NULL, for rows that nothing is placed on.
    pieces: Vec<ArrayRef>,
    places: Vec<(usize, usize)>,
    /// Rows without a value so far.
    open: BooleanBuffer,
}

impl Mosaic {
    fn new(ty: SqlType, rows: usize) -> Self {
        Self { ty, pieces: vec![nulls(ty, 1)], places: vec![(0, 0); rows], open: BooleanBuffer::new_set(rows) }
    }

    /// Gives the rows of `mask`, in order, the values of `vector`.
    fn place(&mut self, mask: &BooleanBuffer, vector: Vector) -> Columnwise<()> {
        let is_constant = matches!(vector, Vector::Constant(_));
        let piece = vector.into_array(self.ty, 1)?;
        for (row_of_piece, row) in mask.set_indices().enumerate() {
            if let Some(place) = self.places.get_mut(row) {
                *place = (self.pieces.len(), if is_constant { 0 } else { row_of_piece });
            }
        }
        self.pieces.push(piece);
        self.open = &self.open & &!mask;
        Ok(())
    }

    fn finish(self) -> Columnwise<Vector> {
        let pieces: Vec<&dyn Array> = self.pieces.iter().map(|piece| &**piece).collect();
        interleave(&pieces, &self.places).map(Vector::Array).map_err(|_| RowByRow)
    }
}
