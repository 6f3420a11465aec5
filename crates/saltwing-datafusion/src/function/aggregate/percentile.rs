//! PERCENTILE_DISC: the first value whose share of the values up to it is large enough.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef};
use arrow::compute::{SortOptions, sort};
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{DataFusionError, Result, ScalarValue};
use datafusion::functions_aggregate::array_agg::array_agg_udaf;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{Accumulator, AggregateUDFImpl, Signature, Volatility};
use datafusion::physical_expr::expressions::Literal;
use saltwing_types::ValueError;

use crate::RelationalError;

const NAME: &str = "percentile_disc";

/// `PERCENTILE_DISC(share) WITHIN GROUP (ORDER BY value)`, whose arguments are the value and the share.
///
/// The values are collected as ARRAY_AGG collects them, and sorted at the end.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct PercentileDisc {
    signature: Signature,
}

impl Default for PercentileDisc {
    fn default() -> Self {
        Self { signature: Signature::any(2, Volatility::Immutable) }
    }
}

impl AggregateUDFImpl for PercentileDisc {
    fn name(&self) -> &str {
        NAME
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        arg_types.first().cloned().ok_or_else(no_value)
    }

    fn return_field(&self, arg_fields: &[FieldRef]) -> Result<FieldRef> {
        let field = arg_fields.first().ok_or_else(no_value)?;
        Ok(Arc::new(field.as_ref().clone().with_name(NAME).with_nullable(true)))
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let options = args.order_bys.first().map(|order| order.options).unwrap_or_default();
        let options = SortOptions { nulls_first: false, ..options };
        let share = share_of(&args)?;
        let item = Field::new_list_field(args.return_field.data_type().clone(), true);
        let return_field = Arc::new(Field::new_list(args.name, item, true));
        let args = AccumulatorArgs { return_field, order_bys: &[], ..args };
        Ok(Box::new(Percentile { collected: array_agg_udaf().accumulator(args)?, share, options }))
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        array_agg_udaf().state_fields(StateFieldsArgs { ordering_fields: &[], ..args })
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }

    fn supports_within_group_clause(&self) -> bool {
        true
    }
}

fn no_value() -> DataFusionError {
    RelationalError::bug("a percentile of nothing").into()
}

/// The second argument, a constant.
fn share_of(args: &AccumulatorArgs<'_>) -> Result<f64> {
    let constant = args.exprs.get(1).and_then(|share| share.downcast_ref::<Literal>());
    let share = constant.and_then(|constant| constant.value().cast_to(&DataType::Float64).ok());
    match share {
        Some(ScalarValue::Float64(Some(share))) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => {
            let text = "PERCENTILE_DISC takes a constant from 0 to 1";
            Err(RelationalError::from(ValueError::BadArgument(text.into())).into())
        }
    }
}

#[derive(Debug)]
struct Percentile {
    collected: Box<dyn Accumulator>,
    share: f64,
    options: SortOptions,
}

impl Accumulator for Percentile {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.collected.update_batch(values.get(..1).ok_or_else(no_value)?)
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.collected.merge_batch(states)
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let ScalarValue::List(list) = self.collected.evaluate()? else { return Err(no_value()) };
        let sorted = sort(list.values(), Some(self.options))?;
        let known = sorted.len() - sorted.null_count();
        if known == 0 {
            return ScalarValue::try_from(sorted.data_type());
        }
        let place = (self.share * known as f64).ceil() as usize;
        ScalarValue::try_from_array(&sorted, place.clamp(1, known) - 1)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.collected.state()
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.collected.size()
    }
}
