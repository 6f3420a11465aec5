//! CREATE, ALTER, DROP and SHOW of indexes.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_bind::{IndexFacts, create_index, resolve};
use saltwing_sql::statement::{AlterIndex, CreateIndex, DropIndex, IndexChange};
use saltwing_sql::{Name, TableRef};
use saltwing_types::{ErrorCode, IndexDef, IndexState, Span, TableDef, TableId, suggest};

use crate::Error;
use crate::index_builder::{IndexBuilder, IndexName};
use crate::outcome::{ExecResult, Outcome};
use crate::session::Session;
use crate::text_rows::TextRow;

impl Session {
    pub(crate) fn run_create_index(&self, create: &CreateIndex) -> Result<Outcome, Error> {
        self.writable()?;
        let (name, index) = (&create.table, &create.name);
        let table = resolve(&*self.catalog(), name)?;
        if create.asynchronous {
            self.check_stored(&table, create.span)?;
        }
        if create.if_not_exists && table.def().index_place(&index.text).is_some() {
            return Ok(ExecResult::noticed(vec![format!("index {} exists already", index.text)]).into());
        }
        let added = |table: &Arc<Table>| {
            let mut def = TableDef::clone(table.def());
            def.indexes.push(create_index(create, table)?);
            Ok(Some(def))
        };
        self.change_definition(name, added).map_err(|error| error.at(Some(index.span)))?;
        if create.asynchronous {
            return self.build_index_later(table.def(), index);
        }
        self.build_index(table.def(), &index.text).map_err(|error| {
            // The error of the build says more.
            if let Err(failed) = self.change_index(name, index, |_| Ok(None)) {
                tracing::warn!(index = %index.text, error = %failed, "the index of a failed CREATE INDEX is still there");
            }
            error.at(Some(create.span))
        })?;
        Ok(ExecResult::default().into())
    }

    pub(crate) fn run_alter_index(&self, alter: &AlterIndex) -> Result<Outcome, Error> {
        self.writable()?;
        let table = resolve(&*self.catalog(), &alter.table)?;
        if let IndexChange::Rebuild { asynchronous: true } = alter.change {
            self.check_stored(&table, alter.span)?;
        }
        if alter.if_exists && table.def().index_place(&alter.name.text).is_none() {
            return Ok(ExecResult::noticed(vec![format!("there is no index {}", alter.name.text)]).into());
        }
        let def = table.def();
        let (table, name) = (&alter.table, &alter.name);
        let unready = || {
            let text = format!("index {} has not the entries of all rows", name.text);
            let error = Error::new(ErrorCode::NotSupported, text).at(Some(alter.span));
            Err(error.with_help(Some("ALTER INDEX .. REBUILD writes them")))
        };
        let in_state = |state| {
            self.change_index(table, name, |index| match index.state {
                IndexState::Building => unready(),
                IndexState::Ready | IndexState::Disabled => Ok(Some(IndexDef { state, ..index })),
            })
        };
        match alter.change {
            IndexChange::Disable => in_state(IndexState::Disabled)?,
            IndexChange::Usable => in_state(IndexState::Ready)?,
            IndexChange::Rebuild { asynchronous } => {
                let emptied = |index| Ok(Some(IndexDef { id: TableId(0), state: IndexState::Building, ..index }));
                self.change_index(table, name, emptied)?;
                if asynchronous {
                    return self.build_index_later(def, name);
                }
                self.build_index(def, &name.text).map_err(|error| error.at(Some(alter.span)))?;
            }
        }
        Ok(ExecResult::default().into())
    }

    /// The indexes of a table, or of all tables.
    pub(crate) fn show_indexes(&self, table: Option<&TableRef>) -> Result<Vec<TextRow>, Error> {
        let catalog = self.catalog();
        let tables = match table {
            Some(name) => vec![resolve(&*catalog, name)?],
            None => catalog.tables(),
        };
        let row = |def: &TableDef, index: &IndexDef| -> TextRow {
            let facts = IndexFacts::of(def, index);
            vec![
                def.name.schema.clone(),
                Some(def.name.name.clone()),
                Some(facts.name),
                Some(facts.kind.into()),
                Some(facts.is_unique.into()),
                Some(facts.key),
                facts.include,
                facts.predicate,
                facts.salt_buckets.map(|buckets| buckets.to_string()),
                Some(facts.state),
            ]
        };
        let rows = |table: &Arc<Table>| {
            let def = table.def();
            def.indexes.iter().map(|index| row(def, index)).collect::<Vec<_>>()
        };
        Ok(tables.iter().flat_map(rows).collect())
    }

    pub(crate) fn run_drop_index(&self, drop: &DropIndex) -> Result<Outcome, Error> {
        self.writable()?;
        let table = resolve(&*self.catalog(), &drop.table)?;
        if drop.if_exists && table.def().index_place(&drop.name.text).is_none() {
            return Ok(ExecResult::noticed(vec![format!("there is no index {}", drop.name.text)]).into());
        }
        self.change_index(&drop.table, &drop.name, |_| Ok(None))?;
        Ok(ExecResult::default().into())
    }

    /// # Errors
    /// The table is temporary: what runs in the background belongs to no connection.
    fn check_stored(&self, table: &Table, span: Span) -> Result<(), Error> {
        if !self.catalog().is_temporary(table.def()) {
            return Ok(());
        }
        let error = Error::new(ErrorCode::NotSupported, "ASYNC for an index of a temporary table is not supported");
        Err(error.at(Some(span)).with_help(Some("leave ASYNC out: the statement then waits for the index")))
    }

    fn index_builder<D>(&self, definitions: D) -> IndexBuilder<D> {
        let durability = self.read_settings(|settings| settings.durability);
        IndexBuilder { tables: self.shared().tables.clone(), definitions, durability }
    }

    /// Builds an index of a table.
    fn build_index(&self, def: &TableDef, index: &str) -> Result<(), Error> {
        let (name, context) = (index_name(def, index), self.begin());
        let report = |progress| self.progress.index(progress);
        match self.catalog().is_temporary(def) {
            true => self.index_builder(&self.own.catalog).build(&name, &context, report),
            false => self.index_builder(self.shared().catalog.clone()).build(&name, &context, report),
        }
    }

    /// Builds the indexes of a table that are not complete; some of them are disabled then.
    pub(crate) fn build_indexes(&self, name: &TableRef, disabled: &[String]) -> Result<(), Error> {
        let table = resolve(&*self.catalog(), name)?;
        table.def().indexes.iter().try_for_each(|index| self.build_index(table.def(), &index.name))?;
        let is_disabled = |index: &IndexDef| disabled.contains(&index.name) && index.state == IndexState::Ready;
        self.change_definition(name, |table| {
            let mut def = TableDef::clone(table.def());
            def.indexes
                .iter_mut()
                .filter(|index| is_disabled(index))
                .for_each(|index| index.state = IndexState::Disabled);
            Ok(Some(def).filter(|def| def != &**table.def()))
        })
    }

    /// Builds an index of a table in the background.
    fn build_index_later(&self, def: &TableDef, index: &Name) -> Result<Outcome, Error> {
        let (shared, name) = (self.shared(), index_name(def, &index.text));
        let builder = self.index_builder(shared.catalog.clone());
        shared.index_builds.start(builder, vec![name], shared.storage.clone())?;
        let text = format!("index {} is built in the background: SHOW INDEXES tells when it is ready", index.text);
        Ok(ExecResult::noticed(vec![text]).into())
    }

    /// Changes the definition of an index, or drops it.
    fn change_index(
        &self,
        table: &TableRef,
        name: &Name,
        change: impl FnOnce(IndexDef) -> Result<Option<IndexDef>, Error>,
    ) -> Result<(), Error> {
        self.change_definition(table, |table| {
            let mut def = TableDef::clone(table.def());
            let place = def.index_place(&name.text).ok_or_else(|| no_such_index(&def, name))?;
            let index = def.indexes.remove(place);
            if let Some(index) = change(index)? {
                def.indexes.insert(place, index);
            }
            Ok(Some(def))
        })
    }
}

fn index_name(def: &TableDef, index: &str) -> IndexName {
    IndexName { schema: def.name.schema.clone(), name: index.to_owned() }
}

fn no_such_index(def: &TableDef, name: &Name) -> Error {
    let near = suggest(&name.text, def.indexes.iter().map(|index| index.name.as_str()));
    let help = near.map(|near| format!("there is {near}"));
    let text = format!("no index {} on {}", name.text, def.name);
    Error::new(ErrorCode::NoSuchTable, text).at(Some(name.span)).with_help(help.as_deref())
}

#[cfg(test)]
mod tests;
