//! The tree as text: a relation a line, that which it reads indented below it; columns with their ids.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

use saltwing_plan::Condition;
use saltwing_sql::{ExcludedRows, SequenceCall, SequenceVerb};
use saltwing_types::function::aggregate::AggregateFunction;
use saltwing_types::function::window::WindowFunction;
use saltwing_types::{ColumnRef, Expr, SortOrder, Value, text, typing};

use super::{
    BoundQuery, CallColumn, ComputedColumn, ExternalSource, GroupCall, GroupingColumn, GroupingSets, JoinKind, Output,
    Relation, Scan, SequenceDraw, SequenceUse, SetOperator, SortItem, SubqueryColumn, SubqueryKind, UnnestColumn,
    WindowColumn,
};
use crate::aggregate::AggregateCall;
use crate::engine::EngineAggregate;
use crate::row_count::RowCount;
use crate::window_call::{Frame, FrameBound, FrameUnits, SortKey, WindowCall};

impl Display for BoundQuery {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut used = BTreeMap::new();
        let mut note = |column: &ColumnRef| {
            used.entry(column.index).or_insert_with(|| column.name.clone());
        };
        self.relation.for_each(&mut |relation| relation.for_each_column(&mut note));
        self.output.iter().for_each(|output| note(&output.column));
        self.relation.write(f, 0, &used)?;
        match self.output.as_slice() {
            [] => f.write_str("output of no columns"),
            output => write!(f, "output {}", List(output)),
        }
    }
}

impl SequenceDraw {
    /// Writes the result that is made of the rows of a query and the values that they take.
    pub(crate) fn write(&self, f: &mut Formatter<'_>, query: &BoundQuery) -> fmt::Result {
        let uses: Vec<&SequenceUse> = self.uses.iter().collect();
        writeln!(f, "draw [{}]", List(&uses))?;
        query.to_string().lines().try_for_each(|line| writeln!(f, "  {line}"))?;
        let output = |Output { label, column }: &Output| match self.columns.iter().find(|it| it.column == *column) {
            Some(computed) => format!("{} AS {label}", WithIds(&computed.expr)),
            None => Output { label: label.clone(), column: column.clone() }.to_string(),
        };
        let output: Vec<String> = self.output.iter().map(output).collect();
        write!(f, "output {}", List(&output))
    }
}

impl Display for SequenceUse {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let call = |call: &SequenceCall| {
            let verb = match (call.verb, call.is_taken) {
                (SequenceVerb::Next, _) => "next",
                (SequenceVerb::Current, _) => "current",
                (SequenceVerb::Set, true) => "set",
                (SequenceVerb::Set, false) => "set next",
            };
            call.number.as_ref().map_or_else(|| verb.to_owned(), |number| format!("{verb} {number}"))
        };
        let mut calls: Vec<String> = self.calls.iter().map(call).collect();
        calls.dedup();
        write!(f, "{} = {}", Named(&self.column), calls.join(" and "))
    }
}

impl Relation {
    /// Writes the relation `depth` levels in. `used` has the names of all columns that the query names, by id.
    fn write(&self, f: &mut Formatter<'_>, depth: usize, used: &BTreeMap<usize, String>) -> fmt::Result {
        write!(f, "{:1$}", "", 2 * depth)?;
        match self {
            Self::Scan(scan) => scan.write(f, used)?,
            Self::External { source, alias, columns } => {
                match source {
                    ExternalSource::Arrow(table) => write!(f, "arrow {}", table.name)?,
                    ExternalSource::System(table) => write!(f, "system {}", table.name())?,
                    ExternalSource::Function { name, args } => write!(f, "function {name}({})", List(args))?,
                }
                if let Some(alias) = alias {
                    write!(f, " as {alias}")?;
                }
                let own: Vec<ColumnRef> = columns.iter().filter(|it| used.contains_key(&it.index)).cloned().collect();
                write!(f, " [{}]", List(&named(&own)))?;
            }
            Self::Values { rows, columns } => {
                write!(f, "values [{}]", List(&named(columns)))?;
                for row in rows {
                    let row: Vec<WithIds<'_>> = row.iter().map(WithIds).collect();
                    write!(f, " ({})", List(&row))?;
                }
            }
            Self::SetOperation { operator, inputs, columns } => {
                write!(f, "{} [{}]", operator.as_str(), List(&named(columns)))?;
                for input in inputs {
                    write!(f, " ({})", List(&named(&input.columns)))?;
                }
            }
            Self::Filter { conditions, .. } => {
                f.write_str("filter ")?;
                write_conditions(f, conditions)?;
            }
            Self::Join { kind, lateral, same, conditions, .. } => {
                write!(f, "{}{}", kind.as_str(), if *lateral { " lateral" } else { "" })?;
                if let JoinKind::Mark { column } = kind {
                    write!(f, " [{}:{column}]", used.get(column).map_or("mark", String::as_str))?;
                }
                let same = same.iter().map(|(left, right)| format!("{} is {}", Named(left), Named(right)));
                let on: Vec<String> = same.chain(conditions.iter().map(|it| WithIds(&it.expr).to_string())).collect();
                if !on.is_empty() {
                    write!(f, " on {}", List(&on))?;
                }
            }
            Self::Apply { subqueries, .. } => write!(f, "apply [{}]", List(subqueries))?,
            Self::Aggregate { keys, calls, sets, .. } => {
                write!(f, "aggregate [{}] [{}]", List(keys), List(calls))?;
                let of_keys = |places: &[usize]| {
                    let columns: Vec<ColumnRef> =
                        places.iter().filter_map(|place| keys.get(*place)).map(|key| key.column.clone()).collect();
                    List(&named(&columns)).to_string()
                };
                if let Some(GroupingSets { sets, groupings }) = sets {
                    let sets: Vec<String> = sets.iter().map(|set| format!("({})", of_keys(set))).collect();
                    write!(f, " sets {}", List(&sets))?;
                    for GroupingColumn { column, keys } in groupings {
                        write!(f, " [{} = GROUPING({})]", Named(column), of_keys(keys))?;
                    }
                }
            }
            Self::Window { calls, .. } => write!(f, "window [{}]", List(calls))?,
            Self::Project { columns, .. } => write!(f, "project [{}]", List(columns))?,
            Self::Distinct { columns, .. } => {
                write!(f, "distinct [{}]", List(&named(columns)))?;
            }
            Self::Recursive { number, name, first, next, distinct, columns } => {
                let union = if *distinct { "union" } else { "union all" };
                write!(f, "recursive {union} {name} #{number} [{}]", List(&named(columns)))?;
                write!(f, " ({}) ({})", List(&named(&first.columns)), List(&named(&next.columns)))?;
            }
            Self::WorkTable { number, columns } => {
                let own: Vec<ColumnRef> = columns.iter().filter(|it| used.contains_key(&it.index)).cloned().collect();
                write!(f, "work table #{number} [{}]", List(&named(&own)))?;
            }
            Self::Shared { number, rows, columns } => {
                write!(f, "shared #{number} [{}] ({})", List(&named(columns)), List(&named(&rows.columns)))?;
            }
            Self::Unnest { columns, keeps_rows, .. } => {
                write!(f, "unnest{} [{}]", if *keeps_rows { " left" } else { "" }, List(columns))?;
            }
            Self::DistinctOn { on, order, columns, .. } => {
                write!(f, "distinct on [{}] first by {} [{}]", List(&named(on)), List(order), List(&named(columns)))?;
            }
            Self::Sort { items, .. } => write!(f, "sort {}", List(items))?,
            Self::Limit { limit, offset, is_page, .. } => {
                write!(f, "limit {limit}")?;
                if *offset != RowCount::None {
                    write!(f, " offset {offset}")?;
                }
                f.write_str(if *is_page { " page" } else { "" })?;
            }
        }
        writeln!(f)?;
        self.inputs().into_iter().try_for_each(|input| input.write(f, depth + 1, used))
    }
}

fn write_conditions(f: &mut Formatter<'_>, conditions: &[Condition]) -> fmt::Result {
    let conditions: Vec<WithIds<'_>> = conditions.iter().map(|it| WithIds(&it.expr)).collect();
    write!(f, "{}", List(&conditions))
}

impl JoinKind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Inner => "inner join",
            Self::Left => "left join",
            Self::Right => "right join",
            Self::Full => "full join",
            Self::Semi => "semi join",
            Self::Anti => "anti join",
            Self::NotIn => "not in join",
            Self::Mark { .. } => "mark join",
        }
    }
}

impl SetOperator {
    fn as_str(self) -> &'static str {
        match self {
            Self::Union => "union all",
            Self::Intersect { all: true } => "intersect all",
            Self::Intersect { all: false } => "intersect",
            Self::Except { all: true } => "except all",
            Self::Except { all: false } => "except",
        }
    }
}

impl Scan {
    fn write(&self, f: &mut Formatter<'_>, used: &BTreeMap<usize, String>) -> fmt::Result {
        write!(f, "scan {}", self.table.def().name)?;
        if let Some(alias) = &self.alias {
            write!(f, " as {alias}")?;
        }
        if let Some(as_of) = &self.as_of {
            write!(f, " as of {}", as_of.time)?;
        }
        let own = used.range(self.first_column..self.first_column + self.table.width());
        let own: Vec<String> = own.map(|(id, name)| format!("{name}:{id}")).collect();
        write!(f, " [{}]", List(&own))
    }
}

/// Items with commas between them.
struct List<'a, T>(&'a [T]);

impl<T: Display> Display for List<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (place, item) in self.0.iter().enumerate() {
            f.write_str(if place == 0 { "" } else { ", " })?;
            item.fmt(f)?;
        }
        Ok(())
    }
}

fn named(columns: &[ColumnRef]) -> Vec<Named<'_>> {
    columns.iter().map(Named).collect()
}

/// A column by its name and its id.
struct Named<'a>(&'a ColumnRef);

impl Display for Named<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.0.name, self.0.index)
    }
}

/// An expression whose columns have their ids.
struct WithIds<'a>(&'a Expr);

impl Display for WithIds<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut expr = self.0.clone();
        expr.map_columns(&mut |column| column.name = Named(column).to_string());
        expr.fmt(f)
    }
}

impl Display for ComputedColumn {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.is_input_column() {
            true => Named(&self.column).fmt(f),
            false => write!(f, "{} = {}", Named(&self.column), WithIds(&self.expr)),
        }
    }
}

impl Display for SubqueryColumn {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let values: Vec<WithIds<'_>> = self.values().iter().map(WithIds).collect();
        let columns: Vec<Named<'_>> = self.query.output.iter().map(|output| Named(&output.column)).collect();
        write!(f, "{} = ", Named(&self.column))?;
        match &self.kind {
            SubqueryKind::Scalar => write!(f, "scalar {}", List(&columns)),
            SubqueryKind::Exists => f.write_str("exists"),
            SubqueryKind::In { .. } => write!(f, "({}) in ({})", List(&values), List(&columns)),
            SubqueryKind::Quantified { op, all, .. } => {
                let quantifier = if *all { "all" } else { "any" };
                write!(f, "{} {} {quantifier} ({})", List(&values), op.as_str(), List(&columns))
            }
        }
    }
}

impl Display for CallColumn {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (word, distinct, args, order_by, filter) = match &self.call {
            GroupCall::Own(AggregateCall { function, argument, distinct, filter, .. }) => {
                (function.name(), distinct, argument.as_slice(), [].as_slice(), filter)
            }
            GroupCall::Engine(EngineAggregate { name, args, distinct, order_by, filter, .. }) => {
                (name.as_str(), distinct, args.as_slice(), order_by.as_slice(), filter)
            }
        };
        write!(f, "{} = {word}({}", Named(&self.column), if *distinct { "DISTINCT " } else { "" })?;
        match args {
            [] => f.write_str("*")?,
            args => List(&args.iter().map(WithIds).collect::<Vec<_>>()).fmt(f)?,
        }
        if !order_by.is_empty() {
            write!(f, " order by {}", List(order_by))?;
        }
        f.write_str(")")?;
        filter.as_ref().map_or(Ok(()), |filter| write!(f, " FILTER (WHERE {})", WithIds(filter)))
    }
}

impl Display for UnnestColumn {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", Named(&self.column), WithIds(&self.array))
    }
}

impl Display for WindowColumn {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let WindowCall { function, arguments, distinct, filter, ignore_nulls, partition_by, order_by, frame, .. } =
            &self.call;
        let with_ids = |list: &[Expr]| List(&list.iter().map(WithIds).collect::<Vec<_>>()).to_string();
        let is_count = *function == WindowFunction::Aggregate(AggregateFunction::Count);
        let arguments = if is_count && arguments.is_empty() { "*".to_owned() } else { with_ids(arguments) };
        let distinct = if *distinct { "DISTINCT " } else { "" };
        write!(f, "{} = {}({distinct}{arguments})", Named(&self.column), function.name())?;
        if let Some(filter) = filter {
            write!(f, " FILTER (WHERE {})", WithIds(filter))?;
        }
        f.write_str(if *ignore_nulls { " ignore nulls" } else { "" })?;
        f.write_str(" over (")?;
        if !partition_by.is_empty() {
            write!(f, "partition by {} ", with_ids(partition_by))?;
        }
        if !order_by.is_empty() {
            write!(f, "order by {} ", List(order_by))?;
        }
        write!(f, "{frame})")
    }
}

impl Display for SortKey {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", WithIds(&self.expr), direction(self.order, self.nulls_first))
    }
}

impl Display for Frame {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let units = match self.units {
            FrameUnits::Rows => "rows",
            FrameUnits::Range => "range",
            FrameUnits::Groups => "groups",
        };
        write!(f, "{units} {}..{}", self.start, self.end)?;
        f.write_str(match self.excluded {
            None => "",
            Some(ExcludedRows::CurrentRow) => " without the row",
            Some(ExcludedRows::Group) => " without the row and its peers",
            Some(ExcludedRows::Ties) => " without its peers",
        })
    }
}

impl Display for FrameBound {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let text = |value: &Value| text::literal(value, typing::natural_type(value));
        match self {
            Self::UnboundedPreceding => f.write_str("unbounded"),
            Self::Preceding(value) => write!(f, "{} preceding", text(value)),
            Self::CurrentRow => f.write_str("current"),
            Self::Following(value) => write!(f, "{} following", text(value)),
            Self::UnboundedFollowing => f.write_str("unbounded"),
        }
    }
}

fn direction(order: SortOrder, nulls_first: bool) -> String {
    let direction = if order == SortOrder::Desc { "desc" } else { "asc" };
    format!("{direction} nulls {}", if nulls_first { "first" } else { "last" })
}

impl Display for SortItem {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", Named(&self.column), direction(self.order, self.nulls_first))
    }
}

impl Display for Output {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Named(&self.column).fmt(f)?;
        if self.label == self.column.name { Ok(()) } else { write!(f, " AS {}", self.label) }
    }
}

impl Display for RowCount {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Rows(rows) => write!(f, "{rows}"),
            Self::Parameter(place) => write!(f, "?{}", place + 1),
            Self::Subquery(number) => write!(f, "(subquery {})", number + 1),
        }
    }
}
