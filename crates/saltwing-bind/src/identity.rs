//! Identity columns: each counts with a sequence of its own.

use saltwing_catalog::{CatalogReader, canonical_name};
use saltwing_sql::statement::{ColumnSpec, CreateSequence, IdentitySpec};
use saltwing_sql::{Name, TableRef};
use saltwing_types::table::{DefaultDef, DefaultKind, IdentityDef};
use saltwing_types::{ColumnDef, Expr, SequenceDef, Span, TableDef, TableName};
use sqlparser::ast;

use crate::error::{BindError, BindErrorKind, Result, invalid_at};
use crate::lookups::Lookups;
use crate::sequence::{create_sequence, sequence_options_text};
use crate::table_path::{free_name, table_path};

/// The definition of an identity column of `table`, whose sequence has the name that is given, or that Postgres would give.
pub(crate) fn identity_default(spec: &ColumnSpec, identity: &IdentitySpec, table: &TableName) -> Result<DefaultDef> {
    if spec.default.is_some() || spec.generated.is_some() {
        let text = format!("{} is an identity column, which takes no DEFAULT and no expression", spec.name.name.text);
        return Err(invalid_at(text, identity.span));
    }
    if spec.sql_type.integer_range().is_none() {
        let text = format!("{} is {}, and an identity column counts in integers", spec.name.name.text, spec.sql_type);
        return Err(invalid_at(text, spec.type_span));
    }
    if spec.not_null == Some(false) {
        return Err(invalid_at(format!("{} is an identity column, which is NOT NULL", spec.name.name.text), spec.span));
    }
    let sequence = match &identity.sequence {
        Some(TableRef { schema, name }) => {
            let schema = schema.as_ref().map(|schema| schema.text.clone());
            TableName { schema: schema.or_else(|| table.schema.clone()), name: name.text.clone() }
        }
        None => TableName { schema: table.schema.clone(), name: format!("{}_{}_seq", table.name, spec.name.name.text) },
    };
    Ok(of_sequence(IdentityDef { always: identity.always, sequence }))
}

fn of_sequence(identity: IdentityDef) -> DefaultDef {
    let text = format!("NEXT VALUE FOR {}", table_path(&identity.sequence));
    DefaultDef { text, expr: Expr::NULL, kind: DefaultKind::Identity(identity) }
}

/// A sequence that is made with its table.
#[derive(Debug)]
pub struct OwnSequence {
    /// The definition.
    pub def: SequenceDef,
    /// The index of the column that counts with it.
    column: usize,
    /// Whether the statement gives it its name.
    is_named: bool,
}

/// The sequences of the identity columns of a new table.
///
/// # Errors
/// Those of the options of a sequence.
pub(crate) fn own_sequences(def: &TableDef, specs: &[ColumnSpec]) -> Result<Vec<OwnSequence>> {
    let mut sequences = Vec::new();
    for (index, (column, spec)) in def.columns.iter().zip(specs).enumerate() {
        let (Some(known), Some(identity)) = (column.identity(), &spec.identity) else { continue };
        let quoted = |text: &str| Name { text: text.to_owned(), quoted: true, span: identity.span };
        let TableName { schema, name } = &known.sequence;
        let mut sequence = create_sequence(&CreateSequence {
            if_not_exists: false,
            name: TableRef { schema: schema.as_deref().map(quoted), name: quoted(name) },
            options: identity.options.clone(),
        })?;
        if let Some((low, high)) = column.ty.integer_range() {
            // Values beyond the column's type would fail one by one.
            (sequence.min, sequence.max) = (sequence.min.max(low), sequence.max.min(high));
        }
        if !(sequence.min..=sequence.max).contains(&sequence.start) {
            let text = format!("START WITH {} is no {}", sequence.start, column.ty);
            return Err(invalid_at(text, identity.span));
        }
        sequences.push(OwnSequence { def: sequence, column: index, is_named: identity.sequence.is_some() });
    }
    Ok(sequences)
}

/// Gives a table and its sequences their canonical names.
///
/// # Errors
/// That of the catalog.
pub(crate) fn settle_names(
    def: &mut TableDef,
    sequences: &mut [OwnSequence],
    catalog: &dyn CatalogReader,
) -> Result<()> {
    def.name = canonical_name(catalog, def.name.clone())?;
    for sequence in sequences {
        let name = canonical_name(catalog, sequence.def.name.clone())?;
        put_sequence(def, sequence, name);
    }
    Ok(())
}

/// Gives a sequence a name, also in the definition of its column.
fn put_sequence(def: &mut TableDef, sequence: &mut OwnSequence, name: TableName) {
    if let Some(column) = def.columns.get_mut(sequence.column)
        && let Some(identity) = column.identity().cloned()
    {
        column.default = Some(of_sequence(IdentityDef { sequence: name.clone(), ..identity }));
    }
    sequence.def.name = name;
}

/// Gives sequences that the statement does not name a free name, with a number appended if need be, as Postgres does.
pub(crate) fn take_free_names(
    def: &mut TableDef,
    sequences: &mut [OwnSequence],
    catalog: &dyn CatalogReader,
) -> Result<()> {
    let lookups = Lookups::new(catalog);
    let mut taken = vec![def.name.clone()];
    taken.extend(sequences.iter().filter(|sequence| sequence.is_named).map(|sequence| sequence.def.name.clone()));
    for sequence in sequences.iter_mut().filter(|sequence| !sequence.is_named) {
        let TableName { schema, name } = sequence.def.name.clone();
        let is_taken = |name: &str| {
            let schema = schema.as_deref();
            taken.iter().any(|taken| taken.schema.as_deref() == schema && taken.name == name)
                || lookups.sequence(schema, name).is_some()
                || lookups.table(schema, name).is_some()
                || lookups.view(schema, name).is_some()
        };
        let free = TableName { name: free_name(&name, is_taken), schema: schema.clone() };
        taken.push(free.clone());
        put_sequence(def, sequence, free);
    }
    lookups.finish()
}

/// `GENERATED .. AS IDENTITY` of a column, without its sequence.
pub fn identity_text(identity: &IdentityDef) -> &'static str {
    match identity.always {
        true => "GENERATED ALWAYS AS IDENTITY",
        false => "GENERATED BY DEFAULT AS IDENTITY",
    }
}

/// As [`identity_text`], with the name and the options of the sequence.
pub fn identity_definition(identity: &IdentityDef, sequence: Option<&SequenceDef>) -> String {
    let options = sequence.map(|def| format!(" {}", sequence_options_text(def))).unwrap_or_default();
    format!("{} (SEQUENCE NAME {}{options})", identity_text(identity), table_path(&identity.sequence))
}

/// # Errors
/// A value, but DEFAULT, for a column that is GENERATED ALWAYS.
pub(crate) fn check_identity(
    def: &TableDef,
    column: &ColumnDef,
    value: Option<&ast::Expr>,
    span: Option<Span>,
) -> Result<()> {
    let Some(identity) = column.identity().filter(|identity| identity.always) else { return Ok(()) };
    if value.is_some_and(saltwing_sql::is_default) {
        return Ok(());
    }
    let text = format!("{}.{} is {}: it counts by itself", def.name, column.name, identity_text(identity));
    let span = value.and_then(saltwing_sql::expr_span).or(span);
    Err(BindError::from(BindErrorKind::GeneratedColumn(text))
        .at(span)
        .help("leave it out, give it DEFAULT, or write OVERRIDING SYSTEM VALUE before VALUES"))
}
