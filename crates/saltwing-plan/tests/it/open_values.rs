//! A plan without the values of its parameters makes no claim that the plan with them contradicts: random conditions, in which
//! parameters take the place of constants.

use proptest::prelude::*;
use saltwing_plan::{
    Access, AccessKind, CandidateKey, Condition, IndexTraits, OrderItem, OrderKind, Request, Rule, Use, choose,
};
use saltwing_types::{Expr, SqlType, Value, eval};

use crate::no_row_lost::{as_index, check_order, index_order, index_rows, indexed, rows, shown};
use crate::support::Table;
use crate::support::brute_force::{Stored, check_rows, holds};
use crate::support::random::{self, Tape};

/// The condition with parameters for some of its constants; `values` are theirs.
fn opened(condition: &Condition, values: &mut Vec<Value>, tape: &mut Tape) -> Condition {
    fn open(expr: &mut Expr, values: &mut Vec<Value>, tape: &mut Tape) {
        match expr {
            Expr::Literal(value, ty) if !value.is_null() && !tape.one_in(3) => {
                // The same value is the same parameter now and then.
                let known = values.iter().position(|known| known == value).filter(|_| tape.one_in(2));
                let index = known.unwrap_or(values.len());
                if index == values.len() {
                    values.push(value.clone());
                }
                *expr = Expr::Param(index, Some(*ty));
            }
            other => other.for_each_child_mut(&mut |child| open(child, values, tape)),
        }
    }
    let mut expr = condition.expr.clone();
    open(&mut expr, values, tape);
    Condition::new(expr)
}

/// Whether a value lies inside its type, where each bound leaves something out, and inside each narrower type of its family.
fn is_inner(value: &Value) -> bool {
    match value {
        Value::Int(n) => (1..=5).contains(n),
        Value::Text(text) => !text.is_empty() && text.chars().all(|c| c.is_ascii_lowercase()),
        Value::Bytes(bytes) => bytes.first().is_some_and(u8::is_ascii_lowercase),
        Value::Date(ms) => (1..=1000).contains(ms),
        _ => false,
    }
}

/// What the plan with values makes of the claims of the one without them.
struct Claims<'a> {
    table: &'a Table,
    /// Of the columns of the rows.
    types: Vec<SqlType>,
    keys: &'a [CandidateKey<'a>],
    conditions: &'a [Condition],
    opened: &'a [Condition],
    values: &'a [Value],
    order: &'a [OrderItem],
    nulls_apart: bool,
    stored: &'a [Stored],
}

impl Claims<'_> {
    fn plan(&self, conditions: &[Condition]) -> Access {
        let mut request = Request::new("t", self.keys, conditions.to_vec());
        (request.order, request.nulls_apart) = (self.order, self.nulls_apart);
        choose(request).unwrap()
    }

    /// Whether all that names no column has a value: what fails is planned as no constant, and fails for each row that it meets.
    fn is_computed(&self) -> bool {
        let mut is_computed = true;
        for condition in self.conditions {
            condition.expr.walk(&mut |e| is_computed &= !e.is_constant() || eval::eval(e, &[]).is_ok());
        }
        is_computed
    }

    fn check(&self) -> Result<(), TestCaseError> {
        if !self.is_computed() {
            return Ok(());
        }
        let (open, known) = (self.plan(self.opened), self.plan(self.conditions));
        self.check_plans(&open, &known).map_err(|error| {
            let shown = format!("{}\n{}\norder {:?}", self.table.definition(), shown(self.opened), self.order);
            TestCaseError::fail(format!(
                "{error}\n{shown}\nvalues {:?}\n{open:#?}\nwith values {known:#?}",
                self.values
            ))
        })
    }

    fn check_plans(&self, open: &Access, known: &Access) -> Result<(), TestCaseError> {
        if open.kind == AccessKind::Empty {
            prop_assert!(!self.stored.iter().any(|stored| holds(self.conditions, &stored.row) == Some(true)));
            return Ok(());
        }
        // Both values of BOOLEAN are no list any more.
        if open.kind == AccessKind::Point && !self.has_key_column(SqlType::Boolean) {
            prop_assert!(matches!(known.kind, AccessKind::Point | AccessKind::Empty));
        }
        // The ranges with values and what is left to be checked without them give the rows.
        let kept = self.conditions.iter().zip(&open.predicates).filter(|(_, p)| p.use_ != Use::Key);
        let residual: Vec<Condition> = kept.map(|(condition, _)| condition.clone()).collect();
        let (ranges, buckets) = (known.ranges.clone(), known.buckets.clone());
        let bound = Access { residual: residual.clone(), ranges, buckets, skip: None, ..open.clone() };
        check_rows(&bound, self.conditions, self.stored)?;
        if open.ranges.is_known() {
            check_rows(&Access { residual, ..open.clone() }, self.conditions, self.stored)?;
        }
        if open.in_turn.is_none() {
            check_order(self.table, open, self.order, self.conditions, self.stored)?;
            prop_assert!(open.order == OrderKind::None || known.in_turn.is_none());
        }
        if self.is_forecast_certain(open) {
            prop_assert_eq!(known.verdict.allowed, Some(true));
        }
        Ok(())
    }

    fn has_key_column(&self, ty: SqlType) -> bool {
        self.table.schema.columns.iter().any(|key| key.column().is_some_and(|column| self.types[column] == ty))
    }

    /// Whether a verdict holds for these values: not for those at an end of their type, as both of BOOLEAN are, and those of
    /// which a function or a pattern is made.
    fn is_forecast_certain(&self, open: &Access) -> bool {
        open.verdict.rule == Rule::Bounded
            && self.values.iter().all(is_inner)
            && !self.has_key_column(SqlType::Boolean)
            && open.predicates.iter().all(|predicate| !predicate.why.contains("wider"))
    }
}

fn types(table: &Table) -> Vec<SqlType> {
    table.columns.iter().map(|column| column.ty).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: ProptestConfig::default().cases * 4, ..ProptestConfig::default() })]

    #[test]
    fn values_contradict_no_claim(mut shape in random::tape(48), mut wish in random::tape(120), mut values in random::tape(300)) {
        let table = random::table(&mut shape);
        let palette = random::palette(&table, &mut shape);
        let order = random::order(&table, &mut wish);
        let nulls_apart = wish.one_in(2);
        let conditions = random::conditions(&table, &palette, &mut wish);
        let mut params = Vec::new();
        let opened: Vec<Condition> = conditions.iter().map(|condition| opened(condition, &mut params, &mut wish)).collect();
        let stored = rows(&table, &palette, &mut values, 40);
        let keys = [table.candidate()];
        Claims {
            table: &table, types: types(&table), keys: &keys, conditions: &conditions, opened: &opened, values: &params, order: &order, nulls_apart, stored: &stored,
        }
        .check()?;
    }

    #[test]
    fn values_contradict_no_claim_of_an_index(mut wish in random::tape(120), mut values in random::tape(300)) {
        let (table, index) = indexed(wish.below(6));
        let palette = random::palette(&table, &mut wish);
        let order = index_order(&index, &mut wish);
        let nulls_apart = wish.one_in(2);
        let conditions = random::conditions(&table, &palette, &mut wish);
        let mut params = Vec::new();
        let opened: Vec<Condition> = conditions.iter().map(|condition| opened(condition, &mut params, &mut wish)).collect();
        let stored = index_rows(&table, &index, &palette, &mut values, |_| 0);
        let keys = [as_index(&index, IndexTraits::default())];
        Claims {
            table: &index, types: types(&table), keys: &keys, conditions: &conditions, opened: &opened, values: &params, order: &order, nulls_apart, stored: &stored,
        }
        .check()?;
    }
}
