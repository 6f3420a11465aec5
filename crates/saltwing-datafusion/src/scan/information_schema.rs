//! `information_schema`: the catalog as tables.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::Schema;
use datafusion::catalog::{MemTable, TableProvider};
use datafusion::common::Result;
use saltwing_bind::{IndexFacts, is_updatable};
use saltwing_catalog::{CatalogError, CatalogReader, INFORMATION_SCHEMA, VIEWS, catalog_view};
use saltwing_expr::ColumnBuilder;
use saltwing_types::{SequenceDef, SqlType, TableDef, TableName, Value, ViewDef};

use crate::RelationalError;
use crate::expression::sql_field::column_field;

/// The name of the only catalog.
const CATALOG: &str = "saltwing";

/// One of the tables.
///
/// # Errors
/// No such table.
pub(crate) fn table(name: &str, catalog: &dyn CatalogReader) -> Result<Arc<dyn TableProvider>> {
    let Some(view) = catalog_view(Some(INFORMATION_SCHEMA), name) else {
        let name = format!("{INFORMATION_SCHEMA}.{name}");
        let known: Vec<String> = VIEWS.iter().map(|view| format!("{INFORMATION_SCHEMA}.{}", view.name)).collect();
        let nearest = saltwing_types::suggest(&name, known.iter().map(String::as_str)).map(str::to_owned);
        return Err(RelationalError::from(CatalogError::NoSuchTable { name, nearest }).into());
    };
    let rows = match view.name {
        "schemata" => schemata(catalog),
        "tables" => tables(catalog),
        "sequences" => sequences(catalog),
        "views" => views(catalog),
        "indexes" => indexes(catalog),
        _ => columns(catalog),
    }?;
    let batch = Rows { columns: view.columns, rows }.into_batch()?;
    Ok(Arc::new(MemTable::try_new(batch.schema(), vec![vec![batch]])?))
}

/// Columns by name and type, and rows.
struct Rows {
    columns: &'static [(&'static str, SqlType)],
    rows: Vec<Vec<Value>>,
}

impl Rows {
    fn into_batch(self) -> Result<RecordBatch> {
        let schema =
            Schema::new(self.columns.iter().map(|(name, ty)| column_field(name, *ty, true)).collect::<Vec<_>>());
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(self.columns.len());
        for (place, (_, ty)) in self.columns.iter().enumerate() {
            let mut builder = ColumnBuilder::new(*ty, self.rows.len());
            for row in &self.rows {
                let value = row.get(place).unwrap_or(&Value::Null);
                builder.append_value(value).map_err(RelationalError::from)?;
            }
            arrays.push(builder.finish());
        }
        Ok(RecordBatch::try_new(Arc::new(schema), arrays)?)
    }
}

type Answer = std::result::Result<Vec<Vec<Value>>, RelationalError>;

/// A table that is in no schema has none here, as in SHOW TABLES.
fn schema_name(schema: Option<&String>) -> Value {
    schema.map_or(Value::Null, Value::text)
}

fn text(text: Option<impl Into<String>>) -> Value {
    text.map_or(Value::Null, Value::text)
}

fn schemata(catalog: &dyn CatalogReader) -> Answer {
    let names = catalog.schemas()?.into_iter().chain([INFORMATION_SCHEMA.to_owned()]);
    Ok(names.map(|name| vec![Value::text(CATALOG), Value::text(name)]).collect())
}

fn tables(catalog: &dyn CatalogReader) -> Answer {
    let row = |schema: Value, name: &str, kind: &str, comment: Option<&String>| {
        vec![Value::text(CATALOG), schema, Value::text(name), Value::text(kind), text(comment)]
    };
    let stored = |name: &TableName, kind: &str, comment: Option<&String>| {
        row(schema_name(name.schema.as_ref()), &name.name, kind, comment)
    };
    let own = catalog.tables()?;
    let kind = |table: &TableDef| if catalog.is_temporary(table) { "LOCAL TEMPORARY" } else { "BASE TABLE" };
    let own = own.iter().map(|t| stored(&t.def().name, kind(t.def()), t.def().comment.as_ref()));
    let defined = catalog.views()?;
    let defined = defined.iter().map(|it| stored(&it.name, "VIEW", it.comment.as_ref()));
    let views = VIEWS.iter().map(|view| row(Value::text(INFORMATION_SCHEMA), view.name, "VIEW", None));
    Ok(own.chain(defined).chain(views).collect())
}

fn columns(catalog: &dyn CatalogReader) -> Answer {
    let mut rows = Vec::new();
    for table in catalog.tables()? {
        let def = table.def();
        for (place, (index, column)) in def.columns.iter().enumerate().filter(|(_, c)| !c.hidden).enumerate() {
            let key = def.key.position(index);
            let order = key.and_then(|key| def.key.columns.get(key)).map(|key| match key.order {
                saltwing_types::SortOrder::Asc => "ASC",
                saltwing_types::SortOrder::Desc => "DESC",
            });
            let generated = column.generated();
            rows.push(vec![
                Value::text(CATALOG),
                schema_name(def.name.schema.as_ref()),
                Value::text(&def.name.name),
                Value::text(&column.name),
                Value::Int(place as i64 + 1),
                text(
                    column
                        .default
                        .as_ref()
                        .filter(|_| generated.is_none() && column.identity().is_none())
                        .map(|d| &d.text),
                ),
                Value::text(if column.nullable { "YES" } else { "NO" }),
                Value::text(column.ty.to_string()),
                key.map_or(Value::Null, |key| Value::Int(key as i64 + 1)),
                text(order),
                text(def.family_name(column)),
                text(column.comment.as_ref()),
                Value::text(if generated.is_some() { "ALWAYS" } else { "NEVER" }),
                text(generated),
                Value::text(if column.identity().is_some() { "YES" } else { "NO" }),
                text(column.identity().map(|identity| if identity.always { "ALWAYS" } else { "BY DEFAULT" })),
            ]);
        }
    }
    for view in catalog.views()? {
        for (place, column) in view.columns.iter().enumerate() {
            rows.push(vec![
                Value::text(CATALOG),
                schema_name(view.name.schema.as_ref()),
                Value::text(&view.name.name),
                Value::text(&column.name),
                Value::Int(place as i64 + 1),
                Value::Null,
                Value::text(if column.nullable { "YES" } else { "NO" }),
                Value::text(column.ty.to_string()),
                Value::Null,
                Value::Null,
                Value::Null,
                text(column.comment.as_ref()),
                Value::text("NEVER"),
                Value::Null,
                Value::text("NO"),
                Value::Null,
            ]);
        }
    }
    Ok(rows)
}

fn indexes(catalog: &dyn CatalogReader) -> Answer {
    let mut rows = Vec::new();
    for table in catalog.tables()? {
        let def = table.def();
        rows.extend(def.indexes.iter().map(|index| {
            let facts = IndexFacts::of(def, index);
            vec![
                Value::text(CATALOG),
                schema_name(def.name.schema.as_ref()),
                Value::text(&def.name.name),
                Value::text(facts.name),
                Value::text(facts.kind),
                Value::text(facts.is_unique),
                Value::text(facts.key),
                text(facts.include),
                text(facts.predicate),
                facts.salt_buckets.map_or(Value::Null, |buckets| Value::Int(i64::from(buckets))),
                Value::text(facts.state),
            ]
        }));
    }
    Ok(rows)
}

fn views(catalog: &dyn CatalogReader) -> Answer {
    let row = |def: &Arc<ViewDef>| {
        let is_updatable = is_updatable(def, catalog).map_err(RelationalError::from)?;
        Ok(vec![
            Value::text(CATALOG),
            schema_name(def.name.schema.as_ref()),
            Value::text(&def.name.name),
            Value::text(&def.query),
            Value::text(if is_updatable { "YES" } else { "NO" }),
        ])
    };
    catalog.views()?.iter().map(row).collect()
}

fn sequences(catalog: &dyn CatalogReader) -> Answer {
    let row = |def: &SequenceDef| {
        vec![
            Value::text(CATALOG),
            schema_name(def.name.schema.as_ref()),
            Value::text(&def.name.name),
            Value::text(SqlType::BigInt.to_string()),
            Value::Int(def.start),
            Value::Int(def.min),
            Value::Int(def.max),
            Value::Int(def.increment),
            Value::text(if def.cycles { "YES" } else { "NO" }),
            Value::Int(def.cache.cast_signed()),
        ]
    };
    Ok(catalog.sequences()?.iter().map(|def| row(def)).collect())
}
