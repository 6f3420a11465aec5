//! What of an aggregation region servers make: the aggregates of their scans, and where the results of each call are among them.

use saltwing_access::{Aggregation, PartialCall, Table};
use saltwing_phoenix::{Aggregate, AggregateFunction, AggregateScan, GroupKey, Grouping, PhoenixError, ScanExpression};
use saltwing_types::SqlType;

use crate::phoenix_table::{ColumnPlace, PhoenixTable};

/// Where the results of a call are among those of the scan. The first one is the number of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Made {
    /// A count.
    Count(usize),
    /// A count of values and their sum.
    Total { known: usize, sum: usize },
    /// The same, where the sum may have wrapped, with the least and the greatest value.
    Wrapping { known: usize, sum: usize, least: usize, greatest: usize },
    /// A value.
    End(usize),
}

/// How BIGINTs are summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sums {
    /// At 64 bits, which is quick; whether one has wrapped is seen by the values' ends.
    Wrapping,
    /// As DECIMALs.
    Exact,
}

/// An aggregation that region servers make.
pub(super) struct Pushed {
    pub(super) scan: AggregateScan,
    pub(super) groups: Option<GroupKey>,
    /// For each call.
    pub(super) made: Vec<Made>,
}

impl Pushed {
    /// That of an aggregation; `None` if its results could differ from those of the rows that a scan gives: for views, with a filter, and for what
    /// [`PhoenixError::NotPushed`] is about.
    ///
    /// # Errors
    /// Other errors of the table's format.
    pub(super) fn of(
        aggregation: &Aggregation<'_>,
        phoenix: &PhoenixTable,
        sums: Sums,
    ) -> Result<Option<Self>, PhoenixError> {
        if !phoenix.adds_up || !phoenix.has_all_rows() || aggregation.spec.is_filtered() {
            return Ok(None);
        }
        match Self::of_plain(aggregation, phoenix, sums) {
            Err(PhoenixError::NotPushed { .. }) => Ok(None),
            pushed => pushed.map(Some),
        }
    }

    /// Whether a sum may have wrapped.
    pub(super) fn may_wrap(&self) -> bool {
        self.made.iter().any(|made| matches!(made, Made::Wrapping { .. }))
    }

    fn of_plain(aggregation: &Aggregation<'_>, phoenix: &PhoenixTable, sums: Sums) -> Result<Self, PhoenixError> {
        let column = |place: &usize| expression(aggregation.spec.table(), aggregation.spec.columns(), phoenix, *place);
        let groups: Vec<ScanExpression> = aggregation.groups.iter().map(column).collect::<Result<_, _>>()?;
        let groups = if groups.is_empty() { None } else { Some(GroupKey::new(groups)?) };
        let mut aggregates = vec![Aggregate::count_rows()];
        let mut add = |aggregate: Result<Aggregate, PhoenixError>| -> Result<usize, PhoenixError> {
            Ok(place_of(&mut aggregates, aggregate?))
        };
        let aggregate = |function, place: usize| Aggregate::of(function, column(&place)?);
        let mut made = Vec::with_capacity(aggregation.calls.len());
        for call in aggregation.calls {
            made.push(match *call {
                PartialCall::Rows => Made::Count(0),
                PartialCall::Known(place) => Made::Count(add(aggregate(AggregateFunction::Count, place))?),
                PartialCall::Total(place) => {
                    let known = add(aggregate(AggregateFunction::Count, place))?;
                    match sums == Sums::Wrapping && column(&place)?.sql_type() == SqlType::BigInt {
                        true => Made::Wrapping {
                            known,
                            sum: add(Aggregate::wrapping_sum(column(&place)?))?,
                            least: add(aggregate(AggregateFunction::Min, place))?,
                            greatest: add(aggregate(AggregateFunction::Max, place))?,
                        },
                        false => Made::Total { known, sum: add(aggregate(AggregateFunction::Sum, place))? },
                    }
                }
                PartialCall::Min(place) | PartialCall::Max(place) => {
                    let ty = column(&place)?.sql_type();
                    if !has_order_of_sql(ty) {
                        return Err(PhoenixError::NotPushed { what: format!("MIN and MAX of {ty} as SQL has them") });
                    }
                    let is_least = matches!(call, PartialCall::Min(_));
                    let function = if is_least { AggregateFunction::Min } else { AggregateFunction::Max };
                    Made::End(add(aggregate(function, place))?)
                }
            });
        }
        let grouping = groups.as_ref().map_or(Grouping::None, |key| Grouping::Unordered(key.expressions()));
        Ok(Self { scan: AggregateScan::new(aggregates, grouping)?, groups, made })
    }
}

/// The place of an aggregate, which is added if it is not there.
fn place_of(aggregates: &mut Vec<Aggregate>, aggregate: Aggregate) -> usize {
    aggregates.iter().position(|known| *known == aggregate).unwrap_or_else(|| {
        aggregates.push(aggregate);
        aggregates.len() - 1
    })
}

/// A column of the scan in the form of the servers.
fn expression(
    table: &Table,
    columns: &[usize],
    phoenix: &PhoenixTable,
    place: usize,
) -> Result<ScanExpression, PhoenixError> {
    let format = phoenix.codec.format();
    let of_table = columns.get(place).and_then(|column| phoenix.places.get(*column));
    match of_table {
        Some(ColumnPlace::Value(value)) => ScanExpression::value_column(format, *value),
        Some(ColumnPlace::Key(part)) => {
            // NULL has no width there, and servers would read beyond it.
            let is_absent =
                |column: &&saltwing_types::KeyColumn| column.nullable && column.ty.fixed_key_bytes().is_some();
            match format.key.columns.get(*part).filter(is_absent) {
                Some(column) => {
                    Err(PhoenixError::NotPushed { what: format!("key column {}, which may be NULL", column.name) })
                }
                None => ScanExpression::key_column(format, *part),
            }
        }
        // The key as a whole, or the time of a row.
        None => Err(PhoenixError::NotPushed { what: format!("a hidden column of {}", table.def().name) }),
    }
}

/// Whether the servers' order of a type is that of SQL, and equal values have equal bytes or it does not matter which one is given.
fn has_order_of_sql(ty: SqlType) -> bool {
    use SqlType::{Date, Decimal, Time, Timestamp, Varchar};
    ty.is_integer() || matches!(ty, Decimal(_) | Date | Time | Timestamp | Varchar(_))
}
