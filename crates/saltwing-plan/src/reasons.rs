//! Why a condition is used as it is, in words.

use std::ops::Range;

use saltwing_types::function::KeyProperty;
use saltwing_types::sql_type::TypeFamily;
use saltwing_types::{CompareOp, Expr, SortOrder, SqlType, Value};

use crate::computed::{COMBINATIONS_MAX, Effect};
use crate::cover::Cover;
use crate::key_box::KeyBox;
use crate::key_space::{KeySpace, Part};
use crate::predicates::CoverBuilder;
use crate::shape::{Shape, Spread};

/// The relation of a condition that narrows the ranges to the key: "equality on key column 1".
pub(crate) fn key_use(cover: &Cover, space: &KeySpace) -> String {
    if cover.boxes.is_empty() {
        return "never true".into();
    }
    let positions = narrowed(cover, space);
    match positions.as_slice() {
        [] if cover.is_full() => "always true".into(),
        [position] => format!("{} on key column {}", shape(cover, *position, space), position + 1),
        many => {
            let numbers: Vec<String> = many.iter().map(|position| (position + 1).to_string()).collect();
            let parts = match (cover.boxes.as_slice(), cover.boxes.first().and_then(KeyBox::rows)) {
                ([_], Some(rows)) => format!("list of {} row values", rows.rows().len()),
                ([_], None) => "one part".into(),
                (boxes, _) => format!("{} parts", boxes.len()),
            };
            format!("{parts} over key columns {}", numbers.join(", "))
        }
    }
}

/// The effect of a condition on computed parts of the key, as the end of a text.
pub(crate) fn effects(effects: &[(usize, Effect)], space: &KeySpace) -> String {
    let text = |(position, effect): &(usize, Effect)| {
        let part = &space.column(*position).name;
        match effect {
            Effect::Fixes => format!(", which fixes {part}"),
            Effect::Bounds => format!(", which bounds {part}"),
            Effect::Helps => format!(", an input of {part}"),
        }
    };
    effects.iter().map(text).collect()
}

/// Which of some columns are skipped, as a text's end: those that are no list of values.
pub(crate) fn skipped(all: &Cover, positions: Range<usize>, space: &KeySpace) -> String {
    let is_list = |key_box: &KeyBox, position| {
        key_box.get(position).is_some_and(|set| set.point_count(space.domain(position)).is_some())
    };
    let is_open = |position: &usize| !all.boxes.iter().all(|key_box| is_list(key_box, *position));
    let names: Vec<&str> = positions.filter(is_open).map(|position| space.column(position).name.as_str()).collect();
    if names.is_empty() { String::new() } else { format!(", skipping over {}", names.join(", ")) }
}

/// The positions that some box narrows.
fn narrowed(cover: &Cover, space: &KeySpace) -> Vec<usize> {
    (0..space.len()).filter(|position| cover.boxes.iter().any(|b| b.get(*position).is_some())).collect()
}

fn shape(cover: &Cover, position: usize, space: &KeySpace) -> String {
    let (set, domain) = (cover.projection(position, space), space.domain(position));
    let is_null = set.known().is_some_and(|set| set.as_single(domain).is_some_and(Value::is_null));
    match set.shape(domain) {
        _ if is_null => "NULL test".into(),
        _ if set.holds_all_values(domain) && set.point_count(domain).is_none() => "NOT NULL test".into(),
        Shape { spread: Spread::Points(1), .. } => "equality".into(),
        Shape { spread: Spread::Points(usize::MAX), .. } => "list".into(),
        Shape { spread: Spread::Points(count), .. } => format!("list of {count}"),
        shape if shape.bounds() => "range".into(),
        _ => "exclusion".into(),
    }
}

/// Why a condition does not narrow the ranges, whose lists of values end before the column at `stop`.
pub(crate) fn residual(expr: &Expr, cover: &Cover, stop: usize, space: &KeySpace) -> String {
    match narrowed(cover, space).as_slice() {
        [] => shape_of(expr, cover, space),
        [position, ..] if *position > stop => {
            format!("key column {}, and {} before it is not fixed", position + 1, space.column(stop).name)
        }
        [_] => "it leaves out no end of the key column".into(),
        [first, ..] => open_side_text(expr, *first, space),
    }
}

/// The side of an OR, at any depth, that does not bound the key column at `position`; `None` if there is no OR.
pub(crate) fn open_side<'e>(expr: &'e Expr, position: usize, space: &KeySpace) -> Option<&'e Expr> {
    let Expr::Or(list) = expr else { return None };
    let is_open = |side: &&Expr| {
        let cover = CoverBuilder::holds(side, space);
        !cover.projection(position, space).bounds(space.domain(position))
    };
    let side = list.iter().find(is_open)?;
    Some(open_side(side, position, space).unwrap_or(side))
}

fn open_side_text(expr: &Expr, position: usize, space: &KeySpace) -> String {
    let name = &space.column(position).name;
    match open_side(expr, position, space) {
        Some(side) => format!("one side of OR, {side}, does not bound {name}"),
        None if matches!(expr, Expr::Or(_)) => format!("its sides together leave out nothing of {name}"),
        None => format!("it leaves out neither the low nor the high end of {name}"),
    }
}

/// The reason why an expression has no box.
fn shape_of(expr: &Expr, cover: &Cover, space: &KeySpace) -> String {
    if cover.is_exact() && cover.is_full() {
        return "it is always true".into();
    }
    shape_of_opaque(expr, space)
}

fn shape_of_opaque(expr: &Expr, space: &KeySpace) -> String {
    let key_column = |e: &Expr| {
        e.columns().into_iter().find_map(|column| {
            let position = space.schema().position(column)?;
            Some(space.column(position).name.clone())
        })
    };
    let Some(name) = key_column(expr) else {
        return match first_column(expr) {
            Some(column) => format!("{column} is not a key column"),
            None => "it names no column".into(),
        };
    };
    match expr {
        Expr::Or(list) => match list.iter().find(|e| key_column(e).is_none()) {
            Some(side) => format!("one side of OR, {side}, names no key column"),
            None => "one side of OR bounds no key column".into(),
        },
        Expr::Not(inner) => shape_of_opaque(inner, space),
        Expr::Compare(_, a, b) => match (side(a), side(b)) {
            (Side::Column, Side::Column) => "it compares two columns".into(),
            (Side::Wrapped(_), Side::Column | Side::Wrapped(_)) | (Side::Column, Side::Wrapped(_)) => {
                "it compares two columns".into()
            }
            (Side::Wrapped(what), _) => format!("{what} on {name}{}", other_type(a, &name)),
            (_, Side::Wrapped(what)) => format!("{what} on {name}{}", other_type(b, &name)),
            _ if [a, b].iter().any(|e| e.sql_type().and_then(SqlType::element).is_some()) => {
                format!("only = and IN bound the array {name}")
            }
            _ => format!("the types of {name} and the constant do not meet"),
        },
        Expr::Like { .. } => "the pattern does not begin with plain text".into(),
        Expr::InList(e, _) => match side(e) {
            Side::Wrapped(what) => format!("{what} on {name}{}", other_type(e, &name)),
            _ => "the list is not of constants".into(),
        },
        Expr::RowCompare(CompareOp::NotEq, ..) => "`<>` of rows bounds no key column".into(),
        Expr::RowCompare(..) | Expr::RowInList(..) => "its first column is no bare key column".into(),
        Expr::Call(function, ..) if function.key_property == KeyProperty::StartsWith => {
            "the prefix is not a constant text".into()
        }
        Expr::Call(function, ..) if function.key_property == KeyProperty::Matches => {
            "the expression does not begin with ^ and plain text".into()
        }
        other => match side(other) {
            Side::Wrapped(what) => format!("{what} on {name}"),
            _ => format!("it is true for values of {name} at any place"),
        },
    }
}

/// The effect of a cast to another family of types on comparisons, as the end of a text.
fn other_type(e: &Expr, name: &str) -> String {
    let Expr::Cast(inner, ty) = e else { return String::new() };
    match (inner.sql_type().map(SqlType::family), ty.family()) {
        (Some(TypeFamily::Text), TypeFamily::Text) => String::new(),
        (Some(TypeFamily::Text), _) => format!(": many texts are one {ty}, so compare {name} with a text"),
        (Some(_), TypeFamily::Text) => {
            format!(": texts are in another order than {name}, so compare it with its own type")
        }
        _ => String::new(),
    }
}

enum Side {
    Column,
    Constant,
    Wrapped(String),
}

fn side(e: &Expr) -> Side {
    match e {
        Expr::Column(_) => Side::Column,
        _ if e.columns().is_empty() => Side::Constant,
        Expr::Call(function, ..) => Side::Wrapped(format!("function {}", function.name)),
        Expr::Cast(_, ty) => Side::Wrapped(format!("cast to {ty}")),
        Expr::Arith(..) | Expr::Negate(..) if e.columns().len() > 1 => {
            Side::Wrapped("arithmetic of several columns".into())
        }
        Expr::Arith(..) | Expr::Negate(..) => Side::Wrapped("arithmetic that neither rises nor falls".into()),
        Expr::Case { .. } => Side::Wrapped("CASE".into()),
        _ => Side::Wrapped("a condition".into()),
    }
}

/// The name of the first column that an expression names. A dynamic one stands for the column that keeps it.
pub(crate) fn first_column(expr: &Expr) -> Option<String> {
    let mut name = None;
    expr.walk(&mut |e| {
        let named = match e {
            Expr::Column(column) => Some(column.name.as_str()),
            other => other.dynamic_column(),
        };
        if name.is_none() {
            name = named.map(str::to_owned);
        }
    });
    name
}

/// The first key column, in key order, that an expression names.
pub(crate) fn first_key_column(expr: &Expr, space: &KeySpace) -> Option<String> {
    let position = expr.columns().into_iter().filter_map(|column| space.schema().position(column)).min()?;
    Some(space.column(position).name.clone())
}

/// Why a condition does not bound the leading key column, for a refusal; `None`
/// with the key column that it does bound, when that is a later one.
pub(crate) fn not_leading(expr: &Expr, space: &KeySpace) -> Result<String, String> {
    let cover = CoverBuilder::holds(expr, space);
    let Some(leading) = space.schema().columns.first() else { return Err(String::new()) };
    let positions = narrowed(&cover, space);
    if let Some(part) = space.part(0)
        && !positions.contains(&0)
        && positions.iter().any(|position| part.inputs.contains(position))
    {
        return Err(not_fixing(part, &cover, space));
    }
    if let [position] = positions.as_slice()
        && *position > 0
        && cover.projection(*position, space).bounds(space.domain(*position))
    {
        return Ok(space.column(*position).name.clone());
    }
    Err(match positions.as_slice() {
        [] => shape_of(expr, &cover, space),
        [0] => match shape(&cover, 0, space).as_str() {
            "NOT NULL test" => format!("it leaves out only NULLs of {}", leading.name),
            _ => format!("it leaves out neither the low nor the high end of {}", leading.name),
        },
        [first, ..] if *first > 0 => format!("it says nothing about {}", leading.name),
        _ => open_side_text(expr, 0, space),
    })
}

/// Why the conditions on the inputs of a computed part, which are lists all, do not fix it.
pub(crate) fn too_many(part: &Part<'_>, count: usize, space: &KeySpace) -> String {
    let name = |position: &usize| space.column(*position).name.as_str();
    let inputs: Vec<&str> = part.inputs.iter().map(name).collect();
    format!(
        "{} would follow from {count} combinations of {}, and no more than {COMBINATIONS_MAX} are computed",
        name(&part.position),
        inputs.join(" and ")
    )
}

/// Why a condition on inputs of a computed part does not fix it.
fn not_fixing(part: &Part<'_>, cover: &Cover, space: &KeySpace) -> String {
    let name = |position: &usize| space.column(*position).name.as_str();
    let named = |at: &&usize| cover.boxes.iter().all(|b| b.get(**at).is_some());
    let (given, missing): (Vec<&usize>, Vec<&usize>) = part.inputs.iter().partition(named);
    let part_name = name(&part.position);
    match (given.as_slice(), missing.as_slice()) {
        ([], _) => format!("one side of OR does not bound {part_name}"),
        (_, []) => format!("{part_name} follows from single values, not from a range"),
        (_, missing) => {
            let missing: Vec<&str> = missing.iter().map(|at| name(at)).collect();
            format!("{part_name} follows from {} too", missing.join(" and "))
        }
    }
}

/// A key column's name, with its direction where it descends.
pub(crate) fn key_text(name: &str, order: SortOrder) -> String {
    if order == SortOrder::Desc { format!("{name} desc") } else { name.to_owned() }
}
