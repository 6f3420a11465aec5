//! AVG of decimals, exact and without wrapping.
//!
//! The sum is kept in 256 bits, as for SUM, and divided at the end by the rules of `/`. The average is a DECIMAL
//! without precision. AVG of any other type is DataFusion's and gives a DOUBLE.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::{DataType, Field, FieldRef, UInt64Type, i256};
use datafusion::common::{Result, ScalarValue};
use datafusion::functions_aggregate::average::Avg;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::{AggregateOrderSensitivity, format_state_name};
use datafusion::logical_expr::{Accumulator, AggregateUDFImpl, GroupsAccumulator, ReversedUDAF, Signature};
use saltwing_expr::arrow_type;
use saltwing_expr::sum::SumKind;
use saltwing_types::SqlType;

use crate::RelationalError;
use crate::sum::OneSum;

/// `AVG`.
#[derive(Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct ExactAverage {
    native: Avg,
}

/// How a column of decimals is summed.
fn decimals(ty: &DataType) -> Option<SumKind> {
    SumKind::of(ty).filter(|kind| matches!(kind, SumKind::Decimals(_)))
}

fn of_args(args: &AccumulatorArgs<'_>) -> Option<SumKind> {
    decimals(args.expr_fields.first()?.data_type()).filter(|_| !args.is_distinct)
}

impl AggregateUDFImpl for ExactAverage {
    fn name(&self) -> &str {
        "avg"
    }

    fn signature(&self) -> &Signature {
        self.native.signature()
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        match arg_types.first().and_then(decimals) {
            Some(_) => Ok(arrow_type(SqlType::Decimal(None))),
            None => self.native.return_type(arg_types),
        }
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        match of_args(&args) {
            Some(summed) => Ok(Box::new(OneAverage { sum: OneSum::new(summed) })),
            None => self.native.accumulator(args),
        }
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let summed = args.input_fields.first().and_then(|field| decimals(field.data_type()));
        let Some(summed) = summed.filter(|_| !args.is_distinct) else { return self.native.state_fields(args) };
        let sum = Field::new(format_state_name(args.name, "sum"), summed.partial_type(), true);
        let count = Field::new(format_state_name(args.name, "count"), DataType::UInt64, false);
        Ok(vec![Arc::new(sum), Arc::new(count)])
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        of_args(&args).is_none() && self.native.groups_accumulator_supported(args)
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        self.native.create_groups_accumulator(args)
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        match of_args(&args) {
            Some(_) => self.accumulator(args),
            None => self.native.create_sliding_accumulator(args),
        }
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }
}

/// The average of one group, also of a moving window.
#[derive(Debug)]
struct OneAverage {
    sum: OneSum<i256>,
}

impl Accumulator for OneAverage {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.sum.update_batch(values)
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let [sums, counts] = states else { return Err(RelationalError::bug("AVG without its state").into()) };
        self.sum.merge(sums, counts.as_primitive::<UInt64Type>())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.sum.retract_batch(values)
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.sum.average()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let mut state = self.sum.state()?;
        state.push(ScalarValue::UInt64(Some(self.sum.count())));
        Ok(state)
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }
}
