//! Aggregations within each key.

use saltwing_types::{ColumnRef, Expr, SqlType, Value, typing};

use super::ids::FreshIds;
use super::keys::{Keyed, Keys, joined};
use super::refusal::not_supported;
use crate::error::Result;
use crate::tree::{CallColumn, ComputedColumn, GroupingSets, JoinKind, Relation};

impl Keys<'_> {
    /// The groups of each key.
    pub(super) fn groups(
        &self,
        input: Relation,
        mut groups: Vec<ComputedColumn>,
        mut calls: Vec<CallColumn>,
        mut sets: Option<GroupingSets>,
    ) -> Result<Keyed> {
        let Keyed { relation, mut keys } = self.through(input)?;
        let mut has_total = false;
        groups.iter_mut().for_each(|group| self.put_keys(&mut group.expr, &keys));
        self.put_keys_in_calls(&mut calls, &keys);
        match &mut sets {
            None => groups.extend(keys.iter().map(key_of)),
            Some(GroupingSets { sets, .. }) => {
                has_total = match sets.iter().filter(|set| set.is_empty()).count() {
                    0 => false,
                    1 => true,
                    _ => return Err(not_supported(self.span)),
                };
                let places = groups.len()..groups.len() + keys.len();
                sets.iter_mut().for_each(|set| set.extend(places.clone()));
                let of_rows: Vec<ColumnRef> = keys.iter().map(|key| self.ids.like(key)).collect();
                let of_rows = std::mem::replace(&mut keys, of_rows);
                let pairs = keys.iter().cloned().zip(of_rows);
                groups.extend(pairs.map(|(column, key)| ComputedColumn { column, expr: Expr::Column(key) }));
            }
        }
        let input = Box::new(relation);
        match has_total {
            true => self.with_totals(input, groups, calls, sets, keys),
            false => Ok(Keyed { relation: Relation::Aggregate { input, keys: groups, calls, sets }, keys }),
        }
    }

    /// Sets of groups, one of which is all rows: it has a row even for a key without rows.
    fn with_totals(
        &self,
        input: Box<Relation>,
        groups: Vec<ComputedColumn>,
        calls: Vec<CallColumn>,
        mut sets: Option<GroupingSets>,
        of_groups: Vec<ColumnRef>,
    ) -> Result<Keyed> {
        let (calls, mut defaults) = with_defaults(self.ids, calls)?;
        for grouping in sets.iter_mut().flat_map(|sets| &mut sets.groupings) {
            let all = (1_i64 << grouping.keys.len().min(31)) - 1;
            let counted = ColumnRef { nullable: true, ..self.ids.like(&grouping.column) };
            let column = std::mem::replace(&mut grouping.column, counted.clone());
            let all = typing::as_type(Expr::Literal(Value::Int(all), SqlType::BigInt), column.ty)?;
            let expr = typing::call_named("COALESCE", vec![Expr::Column(counted), all])?;
            defaults.push(ComputedColumn { column, expr });
        }
        let groups = Relation::Aggregate { input, keys: groups, calls, sets };
        let Keyed { relation, keys } = self.fresh()?;
        let same = keys.iter().cloned().zip(of_groups).collect();
        let relation = joined(JoinKind::Left, relation, groups, same, Vec::new()).projected(defaults);
        Ok(Keyed { relation, keys })
    }

    /// An aggregation without groups: it has a row for each key, even for one without rows.
    pub(super) fn totals(&self, input: Relation, calls: Vec<CallColumn>) -> Result<Keyed> {
        let (Keyed { relation: input, keys: of_groups }, calls) = self.grouped(input, calls)?;
        let (calls, defaults) = with_defaults(self.ids, calls)?;
        let groups = of_groups.iter().map(key_of).collect();
        let groups = Relation::Aggregate { input: Box::new(input), keys: groups, calls, sets: None };
        let Keyed { relation, keys } = self.fresh()?;
        let same = keys.iter().cloned().zip(of_groups).collect();
        let relation = joined(JoinKind::Left, relation, groups, same, Vec::new()).projected(defaults);
        Ok(Keyed { relation, keys })
    }

    /// What an aggregation without groups computes, for each key that has rows: the rows, and the calls over them.
    ///
    /// # Errors
    /// As [`Self::through`].
    pub(super) fn grouped(&self, input: Relation, mut calls: Vec<CallColumn>) -> Result<(Keyed, Vec<CallColumn>)> {
        let keyed = self.through(input)?;
        self.put_keys_in_calls(&mut calls, &keyed.keys);
        Ok((keyed, calls))
    }

    fn put_keys_in_calls(&self, calls: &mut [CallColumn], keys: &[ColumnRef]) {
        calls.iter_mut().flat_map(|it| it.call.exprs_mut()).for_each(|expr| self.put_keys(expr, keys));
    }
}

/// A column as a key of groups.
pub(super) fn key_of(column: &ColumnRef) -> ComputedColumn {
    ComputedColumn { column: column.clone(), expr: Expr::Column(column.clone()) }
}

/// The calls, and the values that a COUNT and the like have for no rows: what is never NULL counts.
///
/// # Errors
/// A call that is never NULL, and no number.
pub(super) fn with_defaults(
    ids: &FreshIds,
    mut calls: Vec<CallColumn>,
) -> Result<(Vec<CallColumn>, Vec<ComputedColumn>)> {
    let mut defaults = Vec::new();
    for call in &mut calls {
        if call.column.nullable {
            continue;
        }
        let counted = ColumnRef { nullable: true, ..ids.like(&call.column) };
        let column = std::mem::replace(&mut call.column, counted.clone());
        let none = typing::as_type(Expr::Literal(Value::Int(0), SqlType::BigInt), column.ty)?;
        let expr = typing::call_named("COALESCE", vec![Expr::Column(counted), none])?;
        defaults.push(ComputedColumn { column, expr });
    }
    Ok((calls, defaults))
}
