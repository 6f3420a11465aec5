//! The text of a refused full scan: the missing condition, why the others do not count, and possible fixes.

use saltwing_types::sql_type::TypeFamily;
use saltwing_types::table::ROW_ID_COLUMN;
use saltwing_types::{Expr, KeyColumn, KeySchema, Span, SqlType};

use crate::computed;
use crate::cover::Cover;
use crate::key_space::{KeySpace, Part};
use crate::predicates::CoverBuilder;
use crate::{Condition, LIMITED_ROWS_MAX, OrderKind, Request, RowLimit, reasons};

/// Everything that the error of a refused access needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The table.
    pub table: String,
    /// The first column of its key; of a computed one its text.
    pub leading: String,
    /// The columns that the first one is computed from; none, when it is a column of the table.
    pub inputs: Vec<String>,
    /// Its key columns in order, with ` desc` where they descend.
    pub key: Vec<String>,
    /// Bounded key columns after the leading one, each with the condition that bounds it.
    pub bound: Vec<(String, String)>,
    /// The conditions that do not count, each with its reason.
    pub others: Vec<(String, String)>,
    /// Why LIMIT does not count, where there is one.
    pub limit: Option<String>,
    /// Advice, each as a sentence.
    pub fixes: Vec<String>,
    /// The column of the first condition that does not count: where the caret goes. `None`: the table's place.
    pub span: Option<Span>,
}

impl Refusal {
    /// One line: the refused scan and the missing condition.
    pub fn message(&self) -> String {
        format!("this would read all of {}: {}", self.table, self.missing())
    }

    /// The missing condition, without the table's name.
    pub fn missing(&self) -> String {
        let what = if self.inputs.is_empty() { "column" } else { "part" };
        format!("no condition bounds {}, the first {what} of its key ({})", self.leading, self.key.join(", "))
    }

    /// Why the conditions do not count, and possible fixes: a sentence each. The override depends on the statement,
    /// which is not known here.
    pub fn reasons(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for (column, condition) in &self.bound {
            lines.push(format!("{condition} bounds {column}, but not the columns before it"));
        }
        for (condition, why) in &self.others {
            lines.push(format!("{condition} does not count: {why}"));
        }
        lines.extend(self.limit.clone());
        lines.extend(self.fixes.iter().cloned());
        lines
    }
}

/// The refusal of a request, by its first key: the table's own. `filtered` tells whether rows are read that the conditions
/// leave out.
pub(crate) fn of(request: &Request<'_>, order: OrderKind, filtered: bool) -> Refusal {
    let empty = KeySchema { columns: Vec::new(), salt: None };
    let schema = request.keys.first().map_or(&empty, |key| key.schema);
    let space = KeySpace::new(schema, request.conditions.iter().map(|condition| &condition.expr));
    let (mut bound, mut others, mut span) = (Vec::new(), Vec::new(), None);
    let too_many = too_many_combinations(request, &space);
    for Condition { expr, text } in &request.conditions {
        // If all sides of an OR but one bound the key, the caret is under that one.
        span = span.or_else(|| reasons::open_side(expr, 0, &space).and_then(Expr::span)).or_else(|| expr.span());
        let names = |part: &Part<'_>| {
            expr.columns().into_iter().filter_map(|c| space.schema().position(c)).any(|at| part.inputs.contains(&at))
        };
        if let Some((_, why)) = too_many.as_ref().filter(|(part, _)| names(part)) {
            others.push((text.clone(), why.clone()));
            continue;
        }
        match reasons::not_leading(expr, &space) {
            Ok(column) => bound.push((column, text.clone())),
            Err(why) => others.push((text.clone(), why)),
        }
    }
    let leading = schema.columns.first();
    let inputs: Vec<&KeyColumn> =
        space.part(0).map_or(Vec::new(), |part| part.inputs.iter().map(|position| space.column(*position)).collect());
    Refusal {
        table: request.table.to_owned(),
        leading: leading.map_or_else(String::new, |key| key.name.clone()),
        key: schema.columns.iter().map(|key| reasons::key_text(&key.name, key.order)).collect(),
        bound,
        others,
        limit: limit_text(request, order, filtered),
        fixes: fixes(leading, &inputs),
        inputs: inputs.into_iter().map(|key| key.name.clone()).collect(),
        span,
    }
}

/// The leading part and why it is not fixed, where the inputs have more combinations of values than are computed.
fn too_many_combinations<'s>(request: &Request<'_>, space: &'s KeySpace<'s>) -> Option<(&'s Part<'s>, String)> {
    let part = space.part(0)?;
    let covers = request.conditions.iter().map(|condition| CoverBuilder::holds(&condition.expr, space));
    let count = computed::too_many(part, &Cover::intersect_all(covers, space), space)?;
    Some((part, reasons::too_many(part, count, space)))
}

/// Why LIMIT does not make a small scan of it.
fn limit_text(request: &Request<'_>, order: OrderKind, filtered: bool) -> Option<String> {
    let RowLimit::Rows(limit) = request.limit else { return None };
    let offset = if request.offset > 0 { format!(" OFFSET {}", request.offset) } else { String::new() };
    let why = match () {
        () if !request.order.is_empty() && order == OrderKind::None => {
            "ORDER BY does not follow the key, so all rows have to be read and sorted".to_owned()
        }
        () if filtered => "the conditions may pass over any number of rows before it".to_owned(),
        () if limit.saturating_add(request.offset) > LIMITED_ROWS_MAX => {
            format!("without conditions a scan reads at most {LIMITED_ROWS_MAX} rows, OFFSET included")
        }
        () if !request.single_table => "the statement reads more than this table".to_owned(),
        () => "it counts rows of the result, which takes all rows of the table".to_owned(),
    };
    Some(format!("LIMIT {limit}{offset} does not count: {why}"))
}

/// A condition on the leading column, or on its inputs.
fn fixes(leading: Option<&KeyColumn>, inputs: &[&KeyColumn]) -> Vec<String> {
    let mut fixes = Vec::new();
    let named: Vec<&KeyColumn> = if inputs.is_empty() { leading.into_iter().collect() } else { inputs.to_vec() };
    if named.iter().all(|key| key.name != ROW_ID_COLUMN) {
        let names: Vec<&str> = named.iter().map(|key| key.name.as_str()).collect();
        let examples: Vec<String> = named.iter().map(|key| format!("{} = {}", key.name, example(key.ty))).collect();
        let what = if named.len() > 1 { "conditions" } else { "a condition" };
        fixes.push(format!("add {what} on {}, such as {}", names.join(" and "), examples.join(" AND ")));
    }
    fixes
}

/// A literal of a type, for an example.
fn example(ty: SqlType) -> &'static str {
    match ty.family() {
        TypeFamily::Boolean => "TRUE",
        TypeFamily::Number | TypeFamily::Null | TypeFamily::Opaque => "1",
        TypeFamily::Text => "'..'",
        TypeFamily::Bytes if ty == SqlType::Uuid => "UUID '..'",
        TypeFamily::Bytes => "X'..'",
        TypeFamily::Array => "ARRAY[..]",
        TypeFamily::Interval => "INTERVAL '..'",
        TypeFamily::Instant if ty.is_timestamp() => "TIMESTAMP '2024-01-31 12:00:00'",
        TypeFamily::Instant => "DATE '2024-01-31'",
    }
}
