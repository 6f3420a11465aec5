//! CREATE INDEX.

use std::borrow::Cow;
use std::sync::Arc;

use saltwing_access::Table;
use saltwing_bind::{create_index, resolve};
use saltwing_sql::Name;
use saltwing_sql::statement::CreateIndex;
use saltwing_types::{IndexDef, IndexState, TableDef};

use super::describer::Describer;
use super::effects::ROWS_INDEXED;
use super::{Effects, InTransaction, Privilege, Run, StatementKind, Target};
use crate::Error;
use crate::description::Description;
use crate::indexes::{build_index, build_later, check_stored};
use crate::outcome::{ExecResult, Outcome};
use crate::temporary::change_definition;

impl StatementKind for CreateIndex {
    fn tag(&self) -> &'static str {
        "CREATE INDEX"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        vec![Target::relation(&self.table, Privilege::Ddl)]
    }

    fn in_transaction(&self) -> InTransaction {
        InTransaction::definition("CREATE INDEX")
    }

    fn describe(&self, describer: &mut Describer<'_>) -> Result<Description, Error> {
        let table = resolve(&*describer.catalog()?, &self.table)?;
        create_index(&with_free_name(self, &table), &table)?;
        Ok(Description::default())
    }

    fn effects(&self) -> Effects {
        Effects::catalog(format!("creates index {} on table {}", self.name.text, self.table), ROWS_INDEXED)
    }

    fn run(&self, run: &Run<'_>) -> Result<Outcome, Error> {
        let session = run.session;
        session.writable()?;
        let is_kept = session.shared().tables.capabilities().check_atomic("an index");
        is_kept.map_err(|error| {
            Error::from(error).with_help(Some(
                "the system that has the table makes its indexes: CREATE INDEX with Phoenix, on a cluster",
            ))
        })?;
        let table = resolve(&*session.catalog()?, &self.table)?;
        let create = with_free_name(self, &table);
        let (name, index) = (&create.table, &create.name);
        if self.asynchronous {
            check_stored(session, &table, self.span)?;
        }
        if self.if_not_exists && table.def().index_place(&index.text).is_some() {
            return Ok(ExecResult::noticed(vec![format!("index {} exists already", index.text)]).into());
        }
        let added = |table: &Arc<Table>| {
            let mut def = TableDef::clone(table.def());
            def.indexes.push(create_index(&create, table)?);
            Ok(Some(def))
        };
        change_definition(session, name, added).map_err(|error| error.at(Some(index.span)))?;
        let new = |index: &IndexDef| (index.state == IndexState::Building).then_some(index.id);
        match self.asynchronous {
            true => build_later(session, name, index, new),
            false => build_index(session, name, index, new).map_err(|error| error.at(Some(self.span))),
        }
    }
}

/// The statement with a number after the name that it gives its index itself, if the table has such an index: `t_a_idx1`.
fn with_free_name<'c>(create: &'c CreateIndex, table: &Table) -> Cow<'c, CreateIndex> {
    let is_taken = |name: &str| table.def().index_place(name).is_some();
    if create.is_named || create.if_not_exists || !is_taken(&create.name.text) {
        return Cow::Borrowed(create);
    }
    let numbered = (1_u32..).map(|number| format!("{}{number}", create.name.text)).find(|name| !is_taken(name));
    let name = Name { text: numbered.unwrap_or_else(|| create.name.text.clone()), ..create.name.clone() };
    Cow::Owned(CreateIndex { name, ..create.clone() })
}
