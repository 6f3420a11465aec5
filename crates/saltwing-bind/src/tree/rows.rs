//! A relation without the filters and projections at its top.
//!
//! ```text
//! filter c:7 > 5                                    scan t
//!   project [c:7 = b:1 + 1]        ──►              conditions d:3 = 1, b:1 + 1 > 5
//!     filter d:3 = 1                                columns c:7 = b:1 + 1
//!       scan t
//! ```
//!
//! So the conditions of a query, and those of the views and the queries in brackets that it reads, give one set of key ranges, and the guard judges
//! them together.

use saltwing_plan::Condition;
use saltwing_types::Expr;

use super::{ComputedColumn, Relation, Scan};

/// A relation, and what filters and projections make of it.
#[derive(Debug)]
pub struct Rows {
    /// The relation: neither a filter nor a projection.
    pub relation: Relation,
    /// The conditions that its rows meet, over its columns: those of the innermost filter first.
    pub conditions: Vec<Condition>,
    /// The columns that projections add, each over its columns.
    pub computed: Vec<ComputedColumn>,
}

/// Most parts of expressions that come in the place of columns. Each view may name the columns of the view below it many times, so without
/// a limit views on one another would make expressions of exponential size.
const PARTS_MAX: usize = 10_000;

impl Relation {
    /// Takes filters and projections off. `None` if a value that is another one each time it is computed would be computed several times, or
    /// expressions would be too large.
    pub fn into_rows(self) -> Option<Rows> {
        let (mut levels, mut relation) = (Vec::new(), self);
        let relation = loop {
            relation = match relation {
                Self::Filter { input, conditions } => {
                    levels.push(Level::Filter(conditions));
                    *input
                }
                Self::Project { input, columns } => {
                    levels.push(Level::Project(columns));
                    *input
                }
                other => break other,
            }
        };
        let mut rows = Rows { relation, conditions: Vec::new(), computed: Vec::new() };
        let mut parts_left = PARTS_MAX;
        for level in levels.into_iter().rev() {
            match level {
                Level::Filter(conditions) => {
                    for mut condition in conditions {
                        if rows.put_values(&mut condition.expr, &mut parts_left)? {
                            condition = Condition::new(condition.expr);
                        }
                        rows.conditions.push(condition);
                    }
                }
                Level::Project(mut columns) => {
                    for column in &mut columns {
                        rows.put_values(&mut column.expr, &mut parts_left)?;
                    }
                    rows.computed.append(&mut columns);
                }
            }
        }
        Some(rows)
    }
}

impl Relation {
    /// The scan whose rows filters and projections give; `None` of another relation.
    pub(crate) fn only_scan_mut(&mut self) -> Option<&mut Scan> {
        match self {
            Self::Filter { input, .. } | Self::Project { input, .. } => input.only_scan_mut(),
            Self::Scan(scan) => Some(scan),
            _ => None,
        }
    }
}

/// A filter or a projection.
enum Level {
    Filter(Vec<Condition>),
    Project(Vec<ComputedColumn>),
}

impl Rows {
    /// Puts the values of computed columns in the places of these columns. `None` as of [`Relation::into_rows`].
    pub fn values_in(&self, expr: &mut Expr) -> Option<()> {
        let mut parts_left = PARTS_MAX;
        self.put_values(expr, &mut parts_left).map(drop)
    }

    /// The same; whether there were such columns.
    fn put_values(&self, expr: &mut Expr, parts_left: &mut usize) -> Option<bool> {
        if self.computed.is_empty() {
            return Some(false);
        }
        if let Expr::Column(column) = expr {
            let Some(known) = self.computed.iter().find(|known| known.column.index == column.index) else {
                return Some(false);
            };
            if known.expr.is_volatile() {
                return None;
            }
            let mut parts = 0;
            known.expr.walk(&mut |_| parts += 1);
            *parts_left = parts_left.checked_sub(parts)?;
            *expr = known.expr.clone();
            return Some(true);
        }
        let (mut all, mut any) = (true, false);
        expr.for_each_child_mut(&mut |child| match self.put_values(child, parts_left) {
            _ if !all => {}
            Some(found) => any |= found,
            None => all = false,
        });
        all.then_some(any)
    }
}
