//! `CREATE TABLE t (LIKE u ..)`: the columns of another table.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_catalog::CatalogReader;
use saltwing_sql::statement::{
    CheckSpec, ColumnSpec, CreateTable, DefaultSpec, IdentitySpec, KeyPart, LikePart, LikeSpec, PrimaryKeySpec,
    SequenceOptions, UniqueSpec,
};
use saltwing_sql::{ColumnName, Name};
use saltwing_types::table::CheckDef;
use saltwing_types::{ColumnDef, KeyColumn, Span, TableDef};

use crate::computed::expr_of;
use crate::error::{BindError, Result, invalid};
use crate::resolve::resolve;
use crate::table_path::column_path;

/// The statement with the columns of the tables that it names after LIKE, in their places, and notices for the user.
///
/// Columns come with their names, types and NOT NULL, as in PostgreSQL; INCLUDING adds the rest.
///
/// # Errors
/// A table that is not there; two primary keys.
pub fn create_table_like(create: &CreateTable, catalog: &dyn CatalogReader) -> Result<(CreateTable, Vec<String>)> {
    let (mut create, mut notices) = (create.clone(), Vec::new());
    for like in std::mem::take(&mut create.like).iter().rev() {
        let table = resolve(catalog, &like.table)?;
        add(&mut create, like, &table, &mut notices).map_err(|error: BindError| error.at(Some(like.table.span())))?;
    }
    Ok((create, notices))
}

fn add(create: &mut CreateTable, like: &LikeSpec, table: &Arc<Table>, notices: &mut Vec<String>) -> Result<()> {
    let (def, span) = (table.def(), like.table.span());
    let copy = Copy { def, like, span };
    let visible = def.columns.iter().filter(|column| !column.hidden);
    let columns: Vec<ColumnSpec> = visible.map(|column| copy.column(column)).collect::<Result<_>>()?;
    create.columns.splice(like.at..like.at, columns);
    if like.includes(LikePart::Constraints) {
        let checks: Vec<CheckSpec> = def.checks.iter().map(|check| copy.check(check)).collect::<Result<_>>()?;
        create.checks.extend(checks);
    }
    if like.includes(LikePart::Indexes) {
        if let Some(key) = copy.primary_key()? {
            if create.primary_key.is_some() || create.columns.iter().any(|column| column.primary_key.is_some()) {
                return Err(invalid(format!("{} has a primary key, and so has {}", create.table, def.name))
                    .help("EXCLUDING INDEXES leaves it out"));
            }
            create.primary_key = Some(key);
        }
        create.unique.extend(copy.unique_keys(notices)?);
    }
    Ok(())
}

/// A table whose columns are copied.
struct Copy<'a> {
    def: &'a TableDef,
    like: &'a LikeSpec,
    /// Where the statement names it.
    span: Span,
}

impl Copy<'_> {
    fn column(&self, column: &ColumnDef) -> Result<ColumnSpec> {
        let name = |text: &str| Name { text: text.to_owned(), quoted: true, span: self.span };
        let family = self.def.family_name(column).map(name);
        let mut spec = ColumnSpec::new(ColumnName { family, name: name(&column.name) }, column.ty, self.span);
        spec.not_null = (!column.nullable).then_some(true);
        let written = |text: &str| {
            Ok::<_, BindError>(DefaultSpec { expr: expr_of(text)?, text: text.to_owned(), span: self.span })
        };
        if let Some(identity) = column.identity() {
            if self.like.includes(LikePart::Identity) {
                let options = SequenceOptions::default();
                spec.identity =
                    Some(IdentitySpec { always: identity.always, sequence: None, options, span: self.span });
            }
        } else if let Some(text) = column.generated() {
            if self.like.includes(LikePart::Generated) {
                spec.generated = Some(written(text)?);
            }
        } else if let Some(default) = &column.default
            && self.like.includes(LikePart::Defaults)
        {
            spec.default = Some(written(&default.text)?);
        }
        Ok(spec)
    }

    fn check(&self, check: &CheckDef) -> Result<CheckSpec> {
        let name = Name { text: check.name.clone(), quoted: true, span: self.span };
        Ok(CheckSpec { name: Some(name), expr: expr_of(&check.text)?, text: check.text.clone(), span: self.span })
    }

    fn part(&self, text: &str, order: saltwing_types::SortOrder) -> Result<KeyPart> {
        Ok(KeyPart { expr: expr_of(text)?, text: text.to_owned(), order, is_row_timestamp: false, span: self.span })
    }

    fn primary_key(&self) -> Result<Option<PrimaryKeySpec>> {
        if self.def.has_hidden_key() {
            return Ok(None);
        }
        let part = |key: &KeyColumn| match key.column().and_then(|column| self.def.columns.get(column)) {
            Some(column) => self.part(&column_path(self.def, column), key.order),
            None => self.part(&key.name, key.order),
        };
        let parts = self.def.key.columns.iter().map(part).collect::<Result<_>>()?;
        Ok(Some(PrimaryKeySpec { name: None, parts, span: self.span }))
    }

    /// The UNIQUE constraints. For each index that is no constraint a notice says that it is not copied.
    fn unique_keys(&self, notices: &mut Vec<String>) -> Result<Vec<UniqueSpec>> {
        let mut unique = Vec::new();
        for index in &self.def.indexes {
            if !index.unique || index.predicate.is_some() {
                notices.push(format!("index {} is not copied: CREATE INDEX makes one", index.name));
                continue;
            }
            let parts = index.parts.iter().map(|part| self.part(&part.text, part.order)).collect::<Result<_>>()?;
            unique.push(UniqueSpec { name: None, parts, span: self.span });
        }
        Ok(unique)
    }
}
