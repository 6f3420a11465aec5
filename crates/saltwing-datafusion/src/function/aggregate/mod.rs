//! Aggregates of DataFusion's with our types, and without wrapping.
//!
//! * SUM of integers is a BIGINT, that of decimals a DECIMAL without precision (`sum.rs`). WRAPPING_SUM is Phoenix's SUM.
//! * AVG of decimals is exact (`sum.rs`); of all other numbers it is DataFusion's, and a DOUBLE.
//! * SUM and AVG of intervals are intervals (`sum.rs`).
//! * MIN and MAX have the SQL type of their argument: the minimum of a CHAR(5) is a CHAR(5). Intervals and arrays are
//!   compared as SQL does, and so are the floats of many groups (`extreme.rs`).
//! * Over frames whose both ends move, floats are added anew, and each aggregate is there (`moving.rs`).
//! * PERCENTILE_DISC and PERCENTILE_CONT are ours (`percentile.rs`).
//! * [`SingleValue`] stands for a subquery of one row.

mod extreme;
mod moving;
mod percentile;
mod single_value;
mod sum;

use std::cmp::Ordering;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::Result;
use datafusion::functions_aggregate::average::avg_udaf;
use datafusion::functions_aggregate::min_max::{max_udaf, min_udaf};
use datafusion::functions_aggregate::sum::sum_udaf;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::{AggregateOrderSensitivity, format_state_name};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Coercion, GroupsAccumulator, ReversedUDAF, SetMonotonicity, Signature,
    TypeSignature, TypeSignatureClass,
};
use saltwing_expr::arrow_type;
use saltwing_expr::sum::SumKind;
use saltwing_types::SqlType;
use saltwing_types::function::aggregate::AggregateFunction;

use self::extreme::{Extreme, FloatExtremes};
use self::moving::moving_floats;
use self::percentile::Percentile;
use self::single_value::SingleValue;
use self::sum::{DistinctIntervals, DistinctSum, accumulator, groups_accumulator};
use crate::RelationalError;
use crate::expression::sql_field::field_type;

pub(crate) use self::moving::{States, over_moving_frame};

/// The aggregates that take the place of DataFusion's of the same name.
pub(crate) fn functions() -> Vec<Arc<AggregateUDF>> {
    let of_ours = AggregateFunction::all().filter_map(TypedAggregate::of).map(AggregateUDF::new_from_impl);
    let percentiles = [Percentile::discrete(), Percentile::continuous()].map(AggregateUDF::from);
    let new = percentiles.into_iter().chain([AggregateUDF::from(SingleValue::default())]);
    of_ours.chain(new).map(Arc::new).collect()
}

/// The arguments that DataFusion's function takes; of AVG intervals, too.
fn with_intervals(native: &Signature, kind: Kind) -> Signature {
    let mut signature = native.clone();
    if let (Kind::Average, TypeSignature::OneOf(forms)) = (kind, &mut signature.type_signature) {
        forms.push(TypeSignature::Coercible(vec![Coercion::new_exact(TypeSignatureClass::Interval)]));
    }
    signature
}

/// An aggregate of DataFusion's, but for the types that it has a way of its own for.
#[derive(Debug, PartialEq, Eq, Hash)]
struct TypedAggregate {
    name: String,
    native: Arc<AggregateUDF>,
    kind: Kind,
    signature: Signature,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Sum,
    /// Integers wrap.
    WrappingSum,
    Average,
    /// How the extreme compares with all other values.
    Extreme(Ordering),
}

impl TypedAggregate {
    /// `None` if DataFusion's is as ours.
    fn of(function: AggregateFunction) -> Option<Self> {
        let (native, kind) = match function {
            AggregateFunction::Count => return None,
            AggregateFunction::Sum => (sum_udaf(), Kind::Sum),
            AggregateFunction::WrappingSum => (sum_udaf(), Kind::WrappingSum),
            AggregateFunction::Avg => (avg_udaf(), Kind::Average),
            AggregateFunction::Min => (min_udaf(), Kind::Extreme(Ordering::Less)),
            AggregateFunction::Max => (max_udaf(), Kind::Extreme(Ordering::Greater)),
        };
        let signature = with_intervals(native.signature(), kind);
        Some(Self { name: function.entry().engine_name(), native, kind, signature })
    }

    /// How values of a type are summed; `None` if that is DataFusion's task.
    fn summed(&self, ty: Option<&DataType>, is_distinct: bool) -> Option<SumKind> {
        let summed = SumKind::of(ty?)?;
        let is_ours = match (self.kind, summed) {
            (Kind::Sum | Kind::WrappingSum, SumKind::Floats) => !is_distinct,
            (Kind::Sum | Kind::WrappingSum, _) => true,
            (Kind::Average, SumKind::Decimals(_)) => !is_distinct,
            (Kind::Average, SumKind::Intervals) => true,
            (Kind::Average | Kind::Extreme(_), _) => false,
        };
        is_ours.then_some(if self.kind == Kind::WrappingSum { summed.wrapping() } else { summed })
    }

    /// The extreme of values whose order is not DataFusion's.
    fn extreme(&self, args: &AccumulatorArgs<'_>, is_moving: bool) -> Option<Box<dyn Accumulator>> {
        let (Kind::Extreme(wanted), argument) = (self.kind, args.expr_fields.first()?) else { return None };
        let ty = if has_own_order(argument.data_type()) { field_type(argument)? } else { return None };
        Some(Box::new(Extreme::new(wanted, ty, is_moving)))
    }

    /// The extremes of the floats of many groups: DataFusion's forget what came before a NaN.
    fn float_extremes(&self, args: &AccumulatorArgs<'_>) -> Option<FloatExtremes> {
        let (Kind::Extreme(wanted), argument) = (self.kind, args.expr_fields.first()?) else { return None };
        argument.data_type().is_floating().then(|| FloatExtremes::new(wanted, argument.data_type().clone()))
    }

    fn summed_of(&self, args: &AccumulatorArgs<'_>) -> Option<SumKind> {
        self.summed(args.expr_fields.first().map(|field| field.data_type()), args.is_distinct)
    }
}

impl AggregateUDFImpl for TypedAggregate {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        self.native.coerce_types(arg_types)
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        let is_average = self.kind == Kind::Average;
        match self.summed(arg_types.first(), false) {
            Some(summed) => Ok(arrow_type(summed.sql_type())),
            // As of a BIGINT, which it is cast to when the plan is lowered.
            None if arg_types == [DataType::Null] && !matches!(self.kind, Kind::Extreme(_)) => {
                Ok(arrow_type(if is_average { SqlType::Double } else { SqlType::BigInt }))
            }
            None => self.native.return_type(arg_types),
        }
    }

    fn return_field(&self, arg_fields: &[FieldRef]) -> Result<FieldRef> {
        let types: Vec<DataType> = arg_fields.iter().map(|field| field.data_type().clone()).collect();
        let field = Field::new(self.name(), self.return_type(&types)?, true);
        Ok(Arc::new(match arg_fields.first() {
            Some(argument) if matches!(self.kind, Kind::Extreme(_)) => field.with_metadata(argument.metadata().clone()),
            _ => field,
        }))
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        if let Some(extreme) = self.extreme(&args, false) {
            return Ok(extreme);
        }
        let is_average = self.kind == Kind::Average;
        match self.summed_of(&args) {
            None => self.native.accumulator(args),
            Some(SumKind::Intervals) if args.is_distinct => Ok(Box::new(DistinctIntervals::new(is_average))),
            Some(summed) if args.is_distinct => Ok(Box::new(DistinctSum::new(summed, &self.native, args)?)),
            Some(summed) => Ok(accumulator(summed, is_average)),
        }
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let argument = args.input_fields.first().map(|field| field.data_type());
        let Some(summed) = self.summed(argument, args.is_distinct) else { return self.native.state_fields(args) };
        if args.is_distinct && summed == SumKind::Intervals {
            return Ok(vec![Arc::new(Field::new(args.name, DistinctIntervals::state_type(), false))]);
        }
        let sum = match args.is_distinct {
            true => {
                let item = Field::new_list_field(summed.partial_type(), true);
                Field::new_list(format_state_name(args.name, "sum distinct"), item, false)
            }
            false => Field::new(format_state_name(args.name, "sum"), summed.partial_type(), true),
        };
        let count = Field::new(format_state_name(args.name, "count"), DataType::UInt64, false);
        let count = (self.kind == Kind::Average).then_some(count);
        Ok([sum].into_iter().chain(count).map(Arc::new).collect())
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        match self.summed_of(&args) {
            Some(_) => self.kind != Kind::Average && !args.is_distinct,
            None if self.float_extremes(&args).is_some() => true,
            None => self.extreme(&args, false).is_none() && self.native.groups_accumulator_supported(args),
        }
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        match self.summed_of(&args) {
            Some(summed) => Ok(groups_accumulator(summed)),
            None => match self.float_extremes(&args) {
                Some(extremes) => Ok(Box::new(extremes)),
                None => self.native.create_groups_accumulator(args),
            },
        }
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        if let Some(extreme) = self.extreme(&args, true) {
            return Ok(extreme);
        }
        let is_average = self.kind == Kind::Average;
        let is_of_floats = args.expr_fields.first().is_some_and(|field| field.data_type().is_floating());
        match self.summed_of(&args) {
            Some(SumKind::Floats) => Ok(moving_floats(false)),
            None if is_average && is_of_floats && !args.is_distinct => Ok(moving_floats(true)),
            None => self.native.create_sliding_accumulator(args),
            Some(_) if args.is_distinct => {
                let name = self.name.to_uppercase();
                Err(RelationalError::not_supported(format!("{name}(DISTINCT ..) over a moving window")).into())
            }
            Some(_) => self.accumulator(args),
        }
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }

    fn is_descending(&self) -> Option<bool> {
        self.native.is_descending()
    }

    fn set_monotonicity(&self, data_type: &DataType) -> SetMonotonicity {
        match self.kind {
            Kind::Extreme(_) if !has_own_order(data_type) => self.native.inner().set_monotonicity(data_type),
            _ => SetMonotonicity::NotMonotonic,
        }
    }
}

/// Whether values of a type have another order in SQL than in Arrow.
fn has_own_order(ty: &DataType) -> bool {
    matches!(ty, DataType::Interval(_) | DataType::List(_))
}
