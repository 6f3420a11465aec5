//! A scan that aggregates.

use super::expression::ScanExpression;
use super::function::Aggregate;
use crate::writable::write_number;
use crate::{Attribute, PhoenixError};

/// How rows are grouped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// One result a region.
    None,
    /// By expressions in any order: a result for each group and region, from a hash table there.
    Unordered(Vec<ScanExpression>),
    /// By the first columns of the key: results in the order of the key.
    Ordered(Vec<ScanExpression>),
}

/// A scan whose rows are aggregates of a region's rows. Phoenix's coprocessors of the table compute them; the scan must lie
/// within one region. What several regions give is combined by the caller.
///
/// # Laws
/// 1. Any bytes are read as values or an error, never a panic; memory is linear in the number of aggregates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AggregateScan {
    pub(super) aggregates: Vec<Aggregate>,
    /// The places of the aggregates in the order in which the server has them: counts first.
    pub(super) order: Vec<usize>,
    grouping: Grouping,
}

impl AggregateScan {
    /// A scan for these aggregates, whose results come in the same order.
    ///
    /// # Errors
    /// [`PhoenixError::NotPushed`] if there is no aggregate, or no expression to group by.
    pub fn new(aggregates: Vec<Aggregate>, grouping: Grouping) -> Result<Self, PhoenixError> {
        let is_empty = match &grouping {
            Grouping::None => false,
            Grouping::Unordered(groups) | Grouping::Ordered(groups) => groups.is_empty(),
        };
        if aggregates.is_empty() || is_empty {
            return Err(PhoenixError::NotPushed { what: "a scan without aggregates or without groups".into() });
        }
        let mut order: Vec<usize> = (0..aggregates.len()).collect();
        order.sort_by_key(|place| !aggregates.get(*place).is_some_and(Aggregate::is_count));
        Ok(Self { aggregates, order, grouping })
    }

    /// The attributes that the scan has to have.
    pub fn attributes(&self) -> Vec<Attribute> {
        let mut value = Vec::new();
        write_number(self.count_of_counts() as i64, &mut value);
        write_number(self.aggregates.len() as i64, &mut value);
        for aggregate in self.order.iter().filter_map(|place| self.aggregates.get(*place)) {
            aggregate.write(&mut value);
        }
        let grouping = match &self.grouping {
            Grouping::None => Attribute { name: "_UngroupedAgg", value: vec![1] },
            Grouping::Unordered(groups) => {
                Attribute { name: "_UnorderedGroupByExpressions", value: expressions(groups) }
            }
            Grouping::Ordered(groups) => Attribute { name: "_OrderedGroupByExpressions", value: expressions(groups) },
        };
        vec![Attribute { name: "_Aggs", value }, grouping]
    }

    /// That a region server gives an answer soon: after about `ms` milliseconds it gives what it has come to, or a cell without
    /// family and qualifier that says nothing.
    pub fn page(ms: u64) -> Attribute {
        Attribute { name: "_ServerPageSizeMs", value: ms.to_be_bytes().to_vec() }
    }

    /// How many of the results can't be NULL: the server has them first.
    pub(super) fn count_of_counts(&self) -> usize {
        self.aggregates.iter().filter(|aggregate| aggregate.is_count()).count()
    }
}

fn expressions(list: &[ScanExpression]) -> Vec<u8> {
    list.iter().flat_map(|expression| expression.bytes.iter().copied()).collect()
}
