//! The value of a scalar subquery.
//!
//! A subquery that is joined to the outer rows is grouped by what these are equal to. This is the aggregate of one without an aggregate of its
//! own: NULL without a row, an error for several rows.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{DataFusionError, Result, ScalarValue};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::{AggregateOrderSensitivity, format_state_name};
use datafusion::logical_expr::{Accumulator, AggregateUDFImpl, Signature, Volatility};

use saltwing_bind::SINGLE_VALUE;

use crate::RelationalError;

/// The aggregate.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct SingleValue {
    signature: Signature,
}

impl Default for SingleValue {
    fn default() -> Self {
        Self { signature: Signature::any(1, Volatility::Immutable) }
    }
}

impl AggregateUDFImpl for SingleValue {
    fn name(&self) -> &str {
        SINGLE_VALUE
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        arg_types.first().cloned().ok_or_else(no_column)
    }

    fn return_field(&self, arg_fields: &[FieldRef]) -> Result<FieldRef> {
        let field = arg_fields.first().ok_or_else(no_column)?;
        Ok(Arc::new(field.as_ref().clone().with_name(SINGLE_VALUE).with_nullable(true)))
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let value = ScalarValue::try_from(args.return_field.data_type())?;
        Ok(Box::new(Single { value, rows: 0 }))
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let value = Field::new(format_state_name(args.name, "value"), args.return_type().clone(), true);
        let rows = Field::new(format_state_name(args.name, "rows"), DataType::UInt64, false);
        Ok(vec![Arc::new(value), Arc::new(rows)])
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }
}

fn no_column() -> DataFusionError {
    RelationalError::bug("a single value of nothing").into()
}

#[derive(Debug)]
struct Single {
    value: ScalarValue,
    rows: u64,
}

impl Single {
    fn see(&mut self, array: &ArrayRef, row: usize, rows: u64) -> Result<()> {
        self.rows += rows;
        if self.rows > 1 {
            return Err(RelationalError::several_rows().into());
        }
        if rows == 1 {
            self.value = ScalarValue::try_from_array(array, row)?;
        }
        Ok(())
    }
}

impl Accumulator for Single {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let array = values.first().ok_or_else(no_column)?;
        match array.len() {
            0 => Ok(()),
            rows => self.see(array, 0, rows as u64),
        }
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let [values, rows] = states else { return Err(no_column()) };
        let rows = rows.as_primitive::<arrow::datatypes::UInt64Type>();
        (0..values.len()).try_for_each(|i| self.see(values, i, rows.value(i)))
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        Ok(self.value.clone())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![self.value.clone(), ScalarValue::UInt64(Some(self.rows))])
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.value.size() - size_of_val(&self.value)
    }
}
