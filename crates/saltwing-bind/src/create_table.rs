//! CREATE TABLE into a table's definition.

use std::collections::HashMap;
use std::ops::ControlFlow;

use saltwing_catalog::{CatalogReader, TEMPORARY_SCHEMA};
use saltwing_sql::Name;
use saltwing_sql::statement::{ColumnSpec, CreateTable, KeyPart, OptionSpec};
use saltwing_types::suggest;
use saltwing_types::table::{
    BUCKETS_MAX, COLUMNS_MAX, DefaultDef, DefaultKind, HIDDEN_COLUMNS, IMMUTABLE_ROWS, ROW_ID_COLUMN, SLOTS_MAX,
    TTL_COLUMN, TableHistory, TableOption, is_same_name,
};
use saltwing_types::{
    ColumnDef, Expr, KeyColumn, KeySchema, KeySource, ObjectId, Salt, SortOrder, Span, SqlType, TableDef, TableId,
    TableName, Value, eval, number,
};
use sqlparser::ast;

use crate::check::add_checks;
use crate::error::{BindError, BindErrorKind, Result, invalid};
use crate::generated::{check_generated, generated_default};
use crate::identity::{OwnSequence, identity_default, own_sequences, settle_names, take_free_names};
use crate::key_expression::{self, KeyItem};
use crate::lower::{LowerError, Lowerer, Params};
use crate::scope::Scope;
use crate::split_on::set_split_points;
use crate::table_option::{TableOptions, salt, whole};
use crate::time_column::{column_text, set_time_column};

/// Most column families of a table: a family's number is one byte.
const FAMILIES_MAX: usize = 255;

/// A definition, and notices for the user.
#[derive(Debug)]
pub struct BoundTable {
    /// The definition; the catalog gives it its id.
    pub def: TableDef,
    /// New sequences, for its identity columns.
    pub sequences: Vec<OwnSequence>,
    /// Notices.
    pub notices: Vec<String>,
    /// Notices of options that have no effect on an embedded store.
    pub option_notices: Vec<String>,
}

impl BoundTable {
    /// With names as the catalog has them: a table or sequence of the default schema has no schema in its name, and the sequences that the
    /// statement does not name have free names.
    ///
    /// # Errors
    /// That of the catalog.
    pub fn with_free_names(mut self, catalog: &dyn CatalogReader) -> Result<Self> {
        settle_names(&mut self.def, &mut self.sequences, catalog)?;
        take_free_names(&mut self.def, &mut self.sequences, catalog)?;
        Ok(self)
    }
}

/// Checks a CREATE TABLE and makes its definition; `default_salt` is used where it names no SALT_BUCKETS.
///
/// # Errors
/// [`BindErrorKind`] with the place.
pub fn create_table(statement: &CreateTable, default_salt: Option<u16>) -> Result<BoundTable> {
    let mut builder = Builder { notices: Vec::new(), families: Vec::new(), table: table_name(statement) };
    let count = statement.columns.len();
    if count > COLUMNS_MAX {
        let first_beyond = statement.columns.get(COLUMNS_MAX).map(|column| column.name.span());
        return Err(BindError::from(BindErrorKind::TooManyColumns { count, limit: COLUMNS_MAX }).at(first_beyond));
    }
    statement.columns.iter().try_for_each(|column| check_not_hidden(&column.name.name))?;
    check_temporary(statement)?;
    let parts = builder.key_parts(statement)?;
    let named: Vec<&NamedPart> = parts.iter().filter_map(Part::named).collect();
    let mut columns = builder.columns(&statement.columns, &named)?;
    let mut key_columns = builder.key_columns(&named, &columns)?;
    if named.len() < parts.len() {
        key_columns = builder.with_computed(&parts, key_columns, &columns, table_name(statement))?;
    }
    if key_columns.is_empty() {
        let (column, key) = hidden_key(columns.len());
        columns.push(column);
        key_columns.push(key);
    }
    for key in &key_columns {
        if let Some(column) = key.column().and_then(|column| columns.get_mut(column)) {
            column.nullable = key.nullable;
        }
    }
    // Split points and buckets exclude each other.
    let default_salt = default_salt.filter(|_| statement.split_on.is_empty());
    let mut settings = builder.options(&statement.options, &key_columns, default_salt)?;
    let mut options = settings.options;
    if statement.immutable && !options.iter().any(|o| o.name == IMMUTABLE_ROWS) {
        options.push(TableOption { name: IMMUTABLE_ROWS.into(), value: Value::Bool(true), honoured: false });
    }
    if builder.families.is_empty() {
        builder.families.push(None);
    }
    let mut def = TableDef {
        id: TableId(0),
        object_id: ObjectId::NEW,
        name: table_name(statement),
        columns,
        key: KeySchema { columns: key_columns, salt: settings.salt },
        key_name: statement.primary_key.as_ref().and_then(|k| k.name.as_ref()).map(|n| n.text.clone()),
        families: builder.families,
        ttl_s: settings.ttl_s,
        options,
        history: TableHistory::default(),
        comment: None,
        checks: Vec::new(),
        indexes: Vec::new(),
    };
    check_names(&def, &statement.columns)?;
    check_generated(&def, &statement.columns)?;
    set_time_column(&mut def, statement, settings.ttl_column)?;
    add_checks(&mut def, statement.columns.iter().flat_map(|column| &column.checks).chain(&statement.checks))?;
    def.history.versions_since = u32::from(def.kept_versions().is_some());
    let codec = saltwing_rowkey::RowKeyCodec::new(&def.key)
        .map_err(|error| invalid(error.to_string()).at(statement.primary_key.as_ref().map(|k| k.span)))?;
    set_split_points(&mut def, &codec, &statement.split_on)?;
    let sequences = own_sequences(&def, &statement.columns)?;
    let option_notices = std::mem::take(&mut settings.notices);
    Ok(BoundTable { def, sequences, notices: builder.notices, option_notices })
}

fn table_name(statement: &CreateTable) -> TableName {
    match statement.temporary {
        true => TableName { schema: Some(TEMPORARY_SCHEMA.into()), name: statement.table.name.text.clone() },
        false => statement.table.to_name(),
    }
}

/// # Errors
/// A temporary table in a schema, or with a column that needs a sequence, which would stay when the table ends.
fn check_temporary(statement: &CreateTable) -> Result<()> {
    if !statement.temporary {
        return Ok(());
    }
    if let Some(schema) = statement.table.schema.as_ref().filter(|schema| !is_same_name(&schema.text, TEMPORARY_SCHEMA))
    {
        let text = format!("a temporary table is in no schema, and {} has schema {schema}", statement.table);
        return Err(invalid(text)
            .at(Some(schema.span))
            .help(format!("CREATE TEMPORARY TABLE {}", statement.table.name)));
    }
    match statement.columns.iter().find_map(|column| column.identity.as_ref()) {
        Some(identity) => {
            let what = "an identity column of a temporary table, whose sequence would stay when the table ends,";
            Err(BindError::from(BindErrorKind::NotSupported(what.into()))
                .at(Some(identity.span))
                .help("CREATE SEQUENCE s, and write NEXT VALUE FOR s into the column"))
        }
        None => Ok(()),
    }
}

/// The names of a definition's columns differ in more than case within a family; a key column counts as one of the default
/// family. Statements also find each by its name with its family as one text.
///
/// # Errors
/// The duplicate among the columns that `specs` add.
pub(crate) fn check_names(def: &TableDef, specs: &[ColumnSpec]) -> Result<()> {
    let mut seen: HashMap<String, &ColumnDef> = HashMap::new();
    for column in &def.columns {
        let Some(first) = seen.insert(def.unique_name(column).to_lowercase(), column) else { continue };
        let spec = specs.iter().rev().find(|spec| spec.name.name.text == column.name);
        let kind = BindErrorKind::DuplicateColumn(column.name.clone());
        let error = BindError::from(kind).at(spec.map(|spec| spec.name.name.span));
        return Err(match first.name == column.name {
            true => error,
            false => error.help(format!("names match in any case, and {} is one already", first.name)),
        });
    }
    Ok(())
}

/// The error of a name that a column has already.
pub(crate) fn exists(def: &TableDef, column: &ColumnDef, name: &Name) -> BindError {
    let column = column.name.clone();
    let differs = column != name.text;
    let kind = BindErrorKind::ColumnExists { table: def.name.to_string(), column };
    let error = BindError::from(kind).at(Some(name.span));
    if differs { error.help("names match in any case") } else { error }
}

/// Hidden columns have their names to themselves.
pub(crate) fn check_not_hidden(name: &Name) -> Result<()> {
    if HIDDEN_COLUMNS.contains(&name.text.to_lowercase().as_str()) {
        return Err(invalid(format!("{} is the name of a hidden column", name.text)).at(Some(name.span)));
    }
    Ok(())
}

fn hidden_key(column: usize) -> (ColumnDef, KeyColumn) {
    let name = ROW_ID_COLUMN.to_owned();
    let def = ColumnDef { nullable: false, hidden: true, ..ColumnDef::new(&name, SqlType::BigInt) };
    (
        def,
        KeyColumn {
            source: KeySource::Column(column),
            name,
            ty: SqlType::BigInt,
            order: SortOrder::Asc,
            nullable: false,
        },
    )
}

/// A key column as the statement names it.
struct NamedPart {
    name: String,
    order: SortOrder,
    span: Span,
}

/// An element of PRIMARY KEY.
enum Part<'a> {
    Named(NamedPart),
    Computed(&'a KeyPart),
}

impl Part<'_> {
    fn named(&self) -> Option<&NamedPart> {
        if let Part::Named(named) = self { Some(named) } else { None }
    }
}

struct Builder {
    table: TableName,
    notices: Vec<String>,
    families: Vec<Option<String>>,
}

struct Settings {
    salt: Option<Salt>,
    ttl_s: Option<u64>,
    /// The value of TTL_COLUMN.
    ttl_column: Option<(String, Span)>,
    options: Vec<TableOption>,
    /// Notices of the options.
    notices: Vec<String>,
}

impl Builder {
    fn key_parts<'s>(&self, statement: &'s CreateTable) -> Result<Vec<Part<'s>>> {
        let inline: Vec<&ColumnSpec> = statement.columns.iter().filter(|c| c.primary_key.is_some()).collect();
        match (&statement.primary_key, inline.as_slice()) {
            (None, []) => Ok(Vec::new()),
            (Some(_), [column, ..]) | (None, [_, column, ..]) => {
                let span = column.primary_key.map(|k| k.span);
                Err(invalid("a table has one primary key").at(span).help("name all key columns in PRIMARY KEY (a, b)"))
            }
            (None, [column]) => Ok(vec![Part::Named(NamedPart {
                name: column.name.name.text.clone(),
                order: column.primary_key.map_or(SortOrder::Asc, |k| k.order),
                span: column.name.name.span,
            })]),
            (Some(key), []) => Ok(key.parts.iter().map(|part| key_access(part, &part.expr)).collect()),
        }
    }

    fn columns(&mut self, specs: &[ColumnSpec], key: &[&NamedPart]) -> Result<Vec<ColumnDef>> {
        let mut slots: Vec<u16> = Vec::new();
        let mut columns = Vec::with_capacity(specs.len());
        for spec in specs {
            let name = &spec.name.name.text;
            // A column of a family may have the name of a key column.
            let is_other =
                |other: &ColumnSpec| other.name.family.is_none() && is_same_name(&other.name.name.text, name);
            let is_key = key.iter().any(|part| is_same_name(&part.name, name))
                && (spec.name.family.is_none() || !specs.iter().any(is_other));
            let family = match (&spec.name.family, is_key) {
                (Some(family), true) => {
                    return Err(invalid(format!(
                        "key column {name} lies in the row key, not in family {}",
                        family.text
                    ))
                    .at(Some(spec.name.span()))
                    .phoenix(1003));
                }
                (_, true) => None,
                (family, false) => Some(family_index(&mut self.families, family.as_ref(), spec.span)?),
            };
            let slot = match family {
                None => 0,
                Some(family) => {
                    slots.resize(self.families.len(), 0);
                    slots.get_mut(family).map_or(0, |next| {
                        *next += 1;
                        *next - 1
                    })
                }
            };
            columns.push(ColumnDef {
                name: name.clone(),
                ty: spec.sql_type,
                nullable: spec.not_null != Some(true) && spec.identity.is_none(),
                default: default_of(spec, &self.table)?,
                family,
                slot,
                hidden: false,
                comment: None,
                absent: None,
            });
        }
        Ok(columns)
    }

    fn key_columns(&mut self, parts: &[&NamedPart], columns: &[ColumnDef]) -> Result<Vec<KeyColumn>> {
        let mut key: Vec<KeyColumn> = Vec::with_capacity(parts.len());
        for (i, part) in parts.iter().enumerate() {
            let place = |error: BindError| error.at(Some(part.span));
            let found = columns.iter().position(|c| c.family.is_none() && is_same_name(&c.name, &part.name));
            let Some(column) = found else {
                let near = suggest(&part.name, columns.iter().map(|c| c.name.as_str())).map(str::to_owned);
                let error = BindErrorKind::NoSuchColumn { table: self.table.to_string(), column: part.name.clone() };
                let error = place(error.into());
                return Err(match near {
                    Some(near) => error.help(format!("there is {near}")),
                    None => error,
                });
            };
            if key.iter().any(|k| k.column() == Some(column)) {
                return Err(place(BindErrorKind::DuplicateColumn(part.name.clone()).into()));
            }
            let def = columns.get(column).ok_or_else(|| invalid("a key column is missing"))?;
            self.check_key_type(def, part, i + 1 == parts.len())?;
            key.push(KeyColumn {
                source: KeySource::Column(column),
                name: def.name.clone(),
                ty: def.ty,
                order: part.order,
                nullable: self.key_nullable(def, parts.len()),
            });
        }
        Ok(key)
    }

    /// The key with its computed parts, in the order of the statement; `named` are the columns among them.
    fn with_computed(
        &mut self,
        parts: &[Part<'_>],
        named: Vec<KeyColumn>,
        columns: &[ColumnDef],
        name: TableName,
    ) -> Result<Vec<KeyColumn>> {
        let mut names = named.iter().cloned();
        let items = parts.iter().filter_map(|part| match part {
            Part::Named(_) => names.next().map(KeyItem::Column),
            Part::Computed(part) => Some(KeyItem::Computed(part)),
        });
        let items = items.collect();
        let def = TableDef {
            id: TableId(0),
            object_id: ObjectId::NEW,
            name,
            columns: columns.to_vec(),
            key: KeySchema { columns: named, salt: None },
            key_name: None,
            families: self.families.clone(),
            ttl_s: None,
            options: Vec::new(),
            history: TableHistory::default(),
            comment: None,
            checks: Vec::new(),
            indexes: Vec::new(),
        };
        key_expression::key_columns(items, def, &mut self.notices)
    }

    fn check_key_type(&self, def: &ColumnDef, part: &NamedPart, is_last: bool) -> Result<()> {
        let place = |error: BindError| error.at(Some(part.span));
        match def.ty {
            SqlType::Varbinary if !is_last => {
                Err(place(invalid(format!("{} is VARBINARY, which a key takes as its last column only", def.name)))
                    .help("use VARBINARY_ENCODED, or put it last")
                    .phoenix(1005))
            }
            SqlType::Varbinary if part.order == SortOrder::Desc => {
                Err(place(invalid(format!("{} is VARBINARY, which a key takes ascending only", def.name)))
                    .help("use VARBINARY_ENCODED")
                    .phoenix(1056))
            }
            SqlType::Array(..) if !is_last => {
                let text = format!("{} is an array, which a key takes as its last column only", def.name);
                Err(place(invalid(text)).help("put it last").phoenix(1005))
            }
            SqlType::Interval => Err(place(invalid(format!("{} is INTERVAL, which has no form in a key", def.name)))
                .help("intervals that compare as equal can differ ('1 day', '24 hours'): use BIGINT or DECIMAL for a length")),
            SqlType::Json => Err(place(invalid(format!("{} is JSON, which has no form in a key", def.name)))
                .help("put a part of it into a column of its own: JSON_VALUE(json, '$.id')")),
            _ => Ok(()),
        }
    }

    /// Fixed-width key columns are never NULL, and a key of one column never is.
    fn key_nullable(&mut self, def: &ColumnDef, parts: usize) -> bool {
        if !def.nullable {
            return false;
        }
        if def.ty.fixed_key_bytes().is_some() {
            if parts > 1 {
                self.notices.push(format!("key column {} is {}, of fixed width: it is NOT NULL", def.name, def.ty));
            }
            return false;
        }
        parts > 1
    }

    fn options(&mut self, specs: &[OptionSpec], key: &[KeyColumn], default_salt: Option<u16>) -> Result<Settings> {
        let mut options = TableOptions::new();
        let (mut buckets, mut by, mut ttl_column) = (default_salt.filter(|n| *n > 0), None, None);
        for spec in specs {
            match spec.name.text.to_uppercase().as_str() {
                "SALT_BUCKETS" => {
                    let count = whole(spec, 0, BUCKETS_MAX.into()).map_err(|e| e.phoenix(1021))?;
                    buckets = (count > 0).then_some(count as u16);
                }
                "SALT_BY" => by = Some((salt_by(spec, key)?, spec.span)),
                TTL_COLUMN => ttl_column = Some((column_text(spec)?, spec.value_span)),
                _ => options.set(spec)?,
            }
        }
        let salt = salt(buckets, by)?;
        let TableOptions { ttl_s, options, notices } = options;
        Ok(Settings { salt, ttl_s, ttl_column, options, notices })
    }
}

/// The index of a family, which is added when it is new.
pub(crate) fn family_index(families: &mut Vec<Option<String>>, name: Option<&Name>, span: Span) -> Result<usize> {
    let same = |f: &Option<String>| f.as_ref().map(|f| f.to_lowercase()) == name.map(|name| name.text.to_lowercase());
    if let Some(index) = families.iter().position(same) {
        return Ok(index);
    }
    if families.len() == FAMILIES_MAX {
        return Err(invalid(format!("{FAMILIES_MAX} column families are the limit")).at(Some(span)));
    }
    families.push(name.map(|name| name.text.clone()));
    Ok(families.len() - 1)
}

/// The slot of a new column of a family.
pub(crate) fn next_slot(def: &TableDef, family: usize) -> Result<u16> {
    let slot = def.slots(family).len();
    match slot < SLOTS_MAX {
        true => Ok(slot as u16),
        false => Err(invalid(format!("a column family has room for {SLOTS_MAX} columns, dropped ones included"))),
    }
}

/// The DEFAULT of a column of `table`.
pub(crate) fn default_of(spec: &ColumnSpec, table: &TableName) -> Result<Option<DefaultDef>> {
    if let Some(identity) = &spec.identity {
        return identity_default(spec, identity, table).map(Some);
    }
    if let Some(generated) = &spec.generated {
        return Ok(Some(generated_default(generated)));
    }
    let Some(default) = &spec.default else { return Ok(None) };
    let scope = Scope::of_default();
    let lowerer = Lowerer::new(&scope, Params::NONE);
    let place = |error: BindError| error.at(Some(default.span));
    let expr = match lowerer.lower(&default.expr) {
        // Of the relational engine's language: the text is kept, and computed for each new row.
        Err(LowerError::Unsupported(..)) if is_of_one_row(&default.expr) => {
            return Ok(Some(DefaultDef { text: default.text.clone(), expr: Expr::NULL, kind: DefaultKind::NewRow }));
        }
        lowered => lowered.map_err(|e| place(e.into_error()))?,
    };
    let column = format!("{table}.{}", spec.name.name.text);
    let wrong = |source| place(BindErrorKind::Value { column: Some(column.clone()), source }.into());
    let value = eval::eval(&expr, &[]).and_then(|value| number::assign(value, spec.sql_type)).map_err(wrong)?;
    let expr = Expr::Literal(value, spec.sql_type);
    Ok(Some(DefaultDef { text: default.text.clone(), expr, kind: DefaultKind::Constant }))
}

/// Whether an expression reads nothing but the row that it stands in: no tables, no parameters, no other rows.
fn is_of_one_row(expr: &ast::Expr) -> bool {
    let look = ast::visit_expressions(expr, |expr| match expr {
        ast::Expr::Subquery(_) | ast::Expr::Exists { .. } | ast::Expr::InSubquery { .. } => ControlFlow::Break(()),
        ast::Expr::Value(value) if matches!(value.value, ast::Value::Placeholder(_)) => ControlFlow::Break(()),
        ast::Expr::Function(function) if function.over.is_some() => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    look.is_continue()
}

fn key_access<'a>(part: &'a KeyPart, expr: &ast::Expr) -> Part<'a> {
    match expr {
        ast::Expr::Nested(inner) => key_access(part, inner),
        ast::Expr::Identifier(ident) => {
            Part::Named(NamedPart { name: ident.value.clone(), order: part.order, span: part.span })
        }
        _ => Part::Computed(part),
    }
}

/// How many leading key columns SALT_BY names; the computed parts before a named column count with it.
fn salt_by(spec: &OptionSpec, key: &[KeyColumn]) -> Result<usize> {
    let names = spec.names();
    let named: Vec<(usize, &KeyColumn)> = key.iter().enumerate().filter(|(_, k)| k.column().is_some()).collect();
    let same = |(name, (_, key)): (&&str, &(usize, &KeyColumn))| is_same_name(name, &key.name);
    let leading = names.len() <= named.len() && names.iter().zip(&named).all(same);
    let last = names.len().checked_sub(1).and_then(|last| named.get(last));
    let Some((last, _)) = last.filter(|_| leading) else {
        let columns: Vec<&str> = key.iter().map(|k| k.name.as_str()).collect();
        return Err(invalid("SALT_BY names leading key columns, in key order")
            .at(Some(spec.value_span))
            .help(format!("the key is ({})", columns.join(", "))));
    };
    Ok(last + 1)
}
