//! PERCENTILE_DISC: the first value whose share of the values up to it is large enough. PERCENTILE_CONT: the value at a share of the
//! way from the first to the last, between two values if need be. DataFusion's cuts the weight of the two to six digits.

use std::sync::{Arc, LazyLock};

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::{SortOptions, cast, sort};
use arrow::datatypes::{DataType, Field, FieldRef, Float64Type};
use datafusion::common::{DataFusionError, Result, ScalarValue};
use datafusion::functions_aggregate::array_agg::array_agg_udaf;
use datafusion::functions_aggregate::percentile_cont::percentile_cont_udaf;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{Accumulator, AggregateUDFImpl, Signature, Volatility};
use datafusion::physical_expr::expressions::Literal;
use saltwing_types::ValueError;

use crate::RelationalError;

/// `PERCENTILE_DISC(share) WITHIN GROUP (ORDER BY value)` and PERCENTILE_CONT, whose arguments are the value and the share.
///
/// The values are collected as ARRAY_AGG collects them, and sorted at the end.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Percentile {
    kind: PercentileKind,
    signature: Signature,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum PercentileKind {
    /// One of the values.
    Discrete,
    /// A DOUBLE.
    Continuous,
}

impl Percentile {
    pub(super) fn discrete() -> Self {
        Self { kind: PercentileKind::Discrete, signature: Signature::any(2, Volatility::Immutable) }
    }

    pub(super) fn continuous() -> Self {
        Self { kind: PercentileKind::Continuous, signature: percentile_cont_udaf().signature().clone() }
    }
}

impl AggregateUDFImpl for Percentile {
    fn name(&self) -> &str {
        match self.kind {
            PercentileKind::Discrete => "percentile_disc",
            PercentileKind::Continuous => "percentile_cont",
        }
    }

    fn aliases(&self) -> &[String] {
        static CONTINUOUS: LazyLock<[String; 1]> = LazyLock::new(|| ["quantile_cont".to_owned()]);
        match self.kind {
            PercentileKind::Discrete => &[],
            PercentileKind::Continuous => &*CONTINUOUS,
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        match self.kind {
            PercentileKind::Discrete => arg_types.first().cloned().ok_or_else(no_value),
            PercentileKind::Continuous => Ok(DataType::Float64),
        }
    }

    fn return_field(&self, arg_fields: &[FieldRef]) -> Result<FieldRef> {
        let field = arg_fields.first().ok_or_else(no_value)?;
        Ok(Arc::new(match self.kind {
            PercentileKind::Discrete => field.as_ref().clone().with_name(self.name()).with_nullable(true),
            PercentileKind::Continuous => Field::new(self.name(), DataType::Float64, true),
        }))
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let options = args.order_bys.first().map(|order| order.options).unwrap_or_default();
        let options = SortOptions { nulls_first: false, ..options };
        let share = share_of(&args)?;
        let item = args.expr_fields.first().ok_or_else(no_value)?;
        let item = Field::new_list_field(item.data_type().clone(), true);
        let return_field = Arc::new(Field::new_list(args.name, item, true));
        let args = AccumulatorArgs { return_field, order_bys: &[], ..args };
        let collected = array_agg_udaf().accumulator(args)?;
        Ok(Box::new(Collected { kind: self.kind, collected, share, options }))
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
            let text = "a percentile takes a constant from 0 to 1";
            Err(RelationalError::from(ValueError::BadArgument(text.into())).into())
        }
    }
}

#[derive(Debug)]
struct Collected {
    kind: PercentileKind,
    collected: Box<dyn Accumulator>,
    share: f64,
    options: SortOptions,
}

impl Accumulator for Collected {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.collected.update_batch(values.get(..1).ok_or_else(no_value)?)
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.collected.merge_batch(states)
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let ScalarValue::List(list) = self.collected.evaluate()? else { return Err(no_value()) };
        match self.kind {
            PercentileKind::Discrete => discrete(&sort(list.values(), Some(self.options))?, self.share),
            PercentileKind::Continuous => {
                let values = cast(list.values(), &DataType::Float64)?;
                Ok(continuous(&sort(&values, Some(self.options))?, self.share))
            }
        }
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.collected.state()
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.collected.size()
    }
}

/// Of sorted values, NULLs last.
fn discrete(sorted: &ArrayRef, share: f64) -> Result<ScalarValue> {
    let known = sorted.len() - sorted.null_count();
    if known == 0 {
        return ScalarValue::try_from(sorted.data_type());
    }
    let place = (share * known as f64).ceil() as usize;
    ScalarValue::try_from_array(sorted, place.clamp(1, known) - 1)
}

/// Of sorted DOUBLEs, NULLs last.
fn continuous(sorted: &ArrayRef, share: f64) -> ScalarValue {
    let sorted = sorted.as_primitive::<Float64Type>();
    let values = sorted.values().get(..sorted.len() - sorted.null_count()).unwrap_or_default();
    let Some(last) = values.len().checked_sub(1) else { return ScalarValue::Float64(None) };
    let place = share * last as f64;
    let (low, weight) = (place.floor() as usize, place.fract());
    let value = |place: usize| values.get(place.min(last)).copied();
    ScalarValue::Float64(match (value(low), value(low + 1)) {
        (Some(low), Some(high)) if weight > 0.0 => Some(low + (high - low) * weight),
        (low, _) => low,
    })
}
