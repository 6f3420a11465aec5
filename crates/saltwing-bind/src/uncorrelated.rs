//! Uncorrelated subqueries of one value: they name nothing around them, so that they run once, before the statement.
//!
//! ```text
//! SELECT .. WHERE k <= (SELECT MAX(x) FROM u WHERE ..)
//!                      └── runs first: k <= 42
//! ```
//!
//! Both executors get the value, and a condition with it becomes ranges like one with a constant. `EXISTS` over a whole table is such a
//! value, too: its first row decides.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use saltwing_types::{Expr, ObjectId, Span, SqlType, TableName, Value, ViewDef, typing};

use crate::error::{BindError, BindErrorKind, Result};
use crate::row_count::RowCount;
use crate::tree::{AsOf, BoundQuery, ColumnIds, Output, Relation, SequenceDraw, time_of};

/// The query of a statement, and the subqueries that run before it.
#[derive(Clone, Debug)]
pub struct RootQuery {
    /// The subqueries. [`Expr::Subquery`] refers to them by position, in the query and in subqueries after the one that it names.
    pub subqueries: Vec<UncorrelatedSubquery>,
    /// The query.
    pub query: BoundQuery,
    /// The values of sequences that its rows take. Without it the rows of the query are those of the statement.
    pub draw: Option<SequenceDraw>,
    /// The views that it reads, those that views read among them, each as often as it is named.
    pub views: Vec<Arc<ViewDef>>,
    /// The tables and views that it reads, each as often as it is named.
    pub reads: Vec<QueryRead>,
}

/// A table or view that a query reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryRead {
    /// Its name.
    pub name: TableName,
    /// The view of the statement that reads it, if the statement does not name it itself.
    pub through: Option<TableName>,
}

impl RootQuery {
    /// Calls `visit` on every relation of the query and of its subqueries.
    pub(crate) fn for_each(&self, visit: &mut dyn FnMut(&Relation)) {
        let queries = self.subqueries.iter().map(|subquery| &subquery.query).chain([&self.query]);
        queries.for_each(|query| query.relation.for_each(&mut |relation| visit(relation)));
    }

    /// The column of a table that each column of the result is; `None` of one that is computed.
    pub fn origins(&self) -> Vec<Option<ColumnOrigin>> {
        let origin = |output: &Output| {
            let mut origin = None;
            self.query.relation.for_each(&mut |relation| {
                if let Relation::Scan(scan) = relation
                    && let Some(place) = output.column.index.checked_sub(scan.first_column)
                    && let Some(column) = scan.table.def().columns.get(place)
                {
                    let def = scan.table.def();
                    let before = def.columns.iter().take(place).filter(|column| !column.hidden).count();
                    let position = i16::try_from(before).ok().and_then(|before| before.checked_add(1));
                    origin = Some(ColumnOrigin {
                        table: def.name.clone(),
                        column: column.name.clone(),
                        table_id: def.object_id,
                        position: position.filter(|_| !column.hidden),
                    });
                }
            });
            origin
        };
        self.query.output.iter().map(origin).collect()
    }

    /// Whether a plan of its query serves all runs, whatever happens between them: no subquery runs before it, its rows take no values of
    /// sequences, and it reads no rows of a table as they were.
    pub fn has_one_plan(&self) -> bool {
        self.subqueries.is_empty() && self.draw.is_none() && !self.reads_past()
    }

    /// Whether it reads rows of a table as they were.
    fn reads_past(&self) -> bool {
        let mut reads_past = false;
        self.for_each(&mut |relation| {
            if let Relation::Scan(scan) = relation {
                reads_past |= scan.as_of.is_some() || scan.table.as_of_ms().is_some();
            }
        });
        reads_past
    }
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnOrigin {
    /// The table.
    pub table: TableName,
    /// The column.
    pub column: String,
    /// The number of the table: `object_id` of `information_schema.tables`. [`ObjectId::NEW`] of a table that the catalog does not store.
    pub table_id: ObjectId,
    /// The place of the column, from 1: its `ordinal_position`. `None` of a hidden column.
    pub position: Option<i16>,
}

/// A subquery of one value that names nothing around it.
#[derive(Clone, Debug)]
pub struct UncorrelatedSubquery {
    /// Its text, for EXPLAIN.
    pub text: String,
    /// The query, which gives one column. Without a row the value is NULL; several rows are an error.
    pub query: BoundQuery,
    /// The type of the value.
    pub ty: SqlType,
    /// Where it stands in the statement.
    pub span: Option<Span>,
}

impl Display for RootQuery {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (number, subquery) in self.subqueries.iter().enumerate() {
            writeln!(f, "subquery {}", number + 1)?;
            subquery.query.to_string().lines().try_for_each(|line| writeln!(f, "  {line}"))?;
        }
        match &self.draw {
            None => self.query.fmt(f),
            Some(draw) => draw.write(f, &self.query),
        }
    }
}

impl BoundQuery {
    /// Whether the query of a subquery, whose own columns have ids from `first_own` on, can run by itself. The rows of a query that
    /// several relations share are those of one run, so that it cannot have them to itself.
    pub(crate) fn is_uncorrelated(&self, first_own: usize) -> bool {
        let mut is_alone = self.outer_columns(first_own).is_empty();
        self.relation.for_each(&mut |relation| match relation {
            Relation::Shared { .. } => is_alone = false,
            Relation::WorkTable { number, .. } => is_alone &= *number >= first_own,
            _ => {}
        });
        is_alone
    }

    /// `TRUE` for the first row of a query that reads all rows of a table; `None` for another query.
    pub(crate) fn first_of_all(&self, ids: &ColumnIds<'_>) -> Option<Self> {
        let read = match &self.relation {
            Relation::Project { input, .. } => input,
            other => other,
        };
        if !matches!(read, Relation::Scan(_) | Relation::External { .. }) {
            return None;
        }
        let found = ids.new_column_of(Expr::boolean(true), Expr::to_string);
        let output = vec![Output::of(&found.column)];
        let input = Box::new(read.clone().projected([found]));
        let (limit, offset) = (RowCount::Rows(1), RowCount::None);
        Some(Self { relation: Relation::Limit { input, limit, offset, is_page: false }, output })
    }

    /// Puts the value of the subquery at a position in its places.
    ///
    /// # Errors
    /// A value that LIMIT or AS OF does not take.
    pub fn set_subquery(&mut self, number: usize, subquery: &UncorrelatedSubquery, value: &Value) -> Result<()> {
        let UncorrelatedSubquery { ty, span, .. } = *subquery;
        let known = Known { number, value, ty, expr: typing::computed(value.clone(), ty), span };
        let mut done = Ok(());
        self.relation.for_each_mut(&mut |relation| {
            if done.is_ok() {
                done = known.put(relation);
            }
        });
        done
    }
}

/// The value of a subquery.
struct Known<'a> {
    number: usize,
    value: &'a Value,
    ty: SqlType,
    /// The value as a part of an expression.
    expr: Expr,
    span: Option<Span>,
}

impl Known<'_> {
    /// Puts the value in its places in a relation, without those in what that reads.
    fn put(&self, relation: &mut Relation) -> Result<()> {
        relation.for_each_own_expr_mut(&mut |expr| self.replace(expr));
        match relation {
            Relation::Limit { limit, offset, .. } => {
                self.put_row_count(limit, "LIMIT")?;
                self.put_row_count(offset, "OFFSET")
            }
            Relation::Scan(scan) => {
                let Some(AsOf { time, span }) = &mut scan.as_of else { return Ok(()) };
                self.replace(time);
                if time.is_constant() {
                    scan.table = Arc::new(scan.table.as_of(time_of(time).map_err(|error| error.at(*span))?));
                    scan.as_of = None;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn replace(&self, expr: &mut Expr) {
        match expr {
            Expr::Subquery(number, _) if *number == self.number => *expr = self.expr.clone(),
            other => other.for_each_child_mut(&mut |child| self.replace(child)),
        }
    }

    fn put_row_count(&self, count: &mut RowCount, clause: &str) -> Result<()> {
        if *count == RowCount::Subquery(self.number) {
            let given = || Expr::Literal(self.value.clone(), self.ty);
            *count = RowCount::of_value(self.value).ok_or_else(|| no_row_count(clause, &given(), self.span))?;
        }
        Ok(())
    }
}

/// The error of what LIMIT or OFFSET does not take.
pub(crate) fn no_row_count(clause: &str, given: &Expr, span: Option<Span>) -> BindError {
    let text = format!("{clause} takes a number of rows, and {given} is none");
    BindError::from(BindErrorKind::Syntax(text)).at(span)
}
