//! Definitions of sequences.

use saltwing_sql::TableRef;
use saltwing_sql::statement::{AlterSequence, CreateSequence, Restart, SequenceNumber, SequenceOptions};
use saltwing_types::sequence::SEQUENCE_CACHE;
use saltwing_types::{ObjectId, SequenceDef, SequencePosition, Span, TableName};

use crate::error::{Result, invalid_at};
use crate::table_path::table_path;

/// Checks a CREATE SEQUENCE and makes its definition; the catalog gives it its id.
///
/// # Errors
/// [`BindErrorKind::InvalidDefinition`](crate::BindErrorKind::InvalidDefinition).
pub fn create_sequence(statement: &CreateSequence) -> Result<SequenceDef> {
    let TableRef { schema, name } = &statement.name;
    let def = SequenceDef {
        id: ObjectId::NEW,
        name: TableName { schema: schema.as_ref().map(|schema| schema.text.clone()), name: name.text.clone() },
        start: 1,
        increment: 1,
        min: i64::MIN,
        max: i64::MAX,
        cycles: false,
        cache: SEQUENCE_CACHE,
    };
    let SequenceOptions { start, min, max, .. } = &statement.options;
    let mut def = changed(def, &statement.options);
    if start.is_none() {
        // The limit from which the values go, if there is one.
        let from = if def.increment > 0 { min } else { max };
        def.start = from.flatten().map_or(1, |number| number.value);
    }
    check(&def, &statement.options, statement.name.span())?;
    Ok(def)
}

/// Checks an ALTER SEQUENCE and makes the next definition, and the position if that is another one.
///
/// # Errors
/// As [`create_sequence`].
pub fn alter_sequence(statement: &AlterSequence, def: SequenceDef) -> Result<(SequenceDef, Option<SequencePosition>)> {
    let def = changed(def, &statement.options);
    check(&def, &statement.options, statement.name.span())?;
    let (position, span) = match statement.restart {
        None => return Ok((def, None)),
        Some(Restart::AtStart) => (def.beginning(), statement.name.span()),
        Some(Restart::With(SequenceNumber { value, span })) => {
            (SequencePosition { last: value, is_taken: false }, span)
        }
    };
    if !(def.min..=def.max).contains(&position.last) {
        let text = format!("{} lies outside MINVALUE {} and MAXVALUE {}", position.last, def.min, def.max);
        return Err(invalid_at(text, span).phoenix(1211).help("RESTART WITH n starts inside"));
    }
    Ok((def, Some(position)))
}

fn changed(def: SequenceDef, options: &SequenceOptions) -> SequenceDef {
    let SequenceOptions { start, increment, min, max, cycles, cache } = options;
    let value = |option: &Option<SequenceNumber>, other| option.map_or(other, |number| number.value);
    let limit = |option: &Option<Option<SequenceNumber>>, none, other| {
        option.map_or(other, |limit| limit.map_or(none, |number| number.value))
    };
    SequenceDef {
        start: value(start, def.start),
        increment: value(increment, def.increment),
        min: limit(min, i64::MIN, def.min),
        max: limit(max, i64::MAX, def.max),
        cycles: cycles.unwrap_or(def.cycles),
        // None in advance is one at a time.
        cache: cache.map_or(def.cache, |number| u64::try_from(number.value).unwrap_or(0).max(1)),
        ..def
    }
}

fn check(def: &SequenceDef, options: &SequenceOptions, span: Span) -> Result<()> {
    let at = |number: Option<SequenceNumber>| number.map_or(span, |number| number.span);
    let SequenceDef { start, min, max, .. } = def;
    if def.increment == 0 {
        return Err(invalid_at("INCREMENT BY 0 makes no sequence", at(options.increment)).phoenix(1214));
    }
    if let Some(cache) = options.cache.filter(|cache| cache.value < 0) {
        return Err(invalid_at("CACHE takes a number of values, at least 0", cache.span).phoenix(1204));
    }
    if min > max {
        let text = format!("MINVALUE {min} is above MAXVALUE {max}");
        return Err(invalid_at(text, at(options.min.flatten().or(options.max.flatten()))).phoenix(1210));
    }
    if !(min..=max).contains(&start) {
        let text = format!("START WITH {start} lies outside MINVALUE {min} and MAXVALUE {max}");
        return Err(invalid_at(text, at(options.start)).phoenix(1211));
    }
    Ok(())
}

/// A CREATE SEQUENCE that makes the same sequence.
pub fn create_sequence_text(def: &SequenceDef) -> String {
    format!("CREATE SEQUENCE {} {}", table_path(&def.name), sequence_options_text(def))
}

/// The options of a sequence.
pub(crate) fn sequence_options_text(def: &SequenceDef) -> String {
    let SequenceDef { start, increment, min, max, cache, .. } = def;
    let cycle = if def.cycles { " CYCLE" } else { "" };
    format!("START WITH {start} INCREMENT BY {increment} MINVALUE {min} MAXVALUE {max}{cycle} CACHE {cache}")
}
