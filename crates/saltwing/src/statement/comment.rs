//! COMMENT ON.

use saltwing_bind::commented;
use saltwing_catalog::{CatalogChange, CatalogError, change};
use saltwing_sql::statement::{Comment, CommentObject};

use super::describer::Describer;
use super::effects::NO_ROWS;
use super::{Effects, InTransaction, Privilege, Run, StatementKind, Target};
use crate::Error;
use crate::description::Description;
use crate::outcome::{ExecResult, Outcome};
use crate::temporary::change_definition;

impl StatementKind for Comment {
    fn tag(&self) -> &'static str {
        "COMMENT"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        match &self.object {
            CommentObject::Table(name) => vec![Target::relation(name, Privilege::Ddl)],
            CommentObject::View(name) => vec![Target::stored(name, Privilege::Ddl)],
            // Only the catalog knows which of the names is the table's: `describe` adds the table.
            CommentObject::Column(_) => Vec::new(),
        }
    }

    fn in_transaction(&self) -> InTransaction {
        InTransaction::definition("COMMENT ON")
    }

    fn describe(&self, describer: &mut Describer<'_>) -> Result<Description, Error> {
        let catalog = describer.catalog()?;
        let commented = commented(self, &*catalog)?;
        let mut description = Description::default();
        description.touch(Target::relation(&commented.name, Privilege::Ddl), &*catalog)?;
        Ok(description)
    }

    fn effects(&self) -> Effects {
        let object = match &self.object {
            CommentObject::Table(name) => format!("table {name}"),
            CommentObject::View(name) => format!("view {name}"),
            CommentObject::Column(names) => {
                let names: Vec<&str> = names.iter().map(|name| name.text.as_str()).collect();
                format!("column {}", names.join("."))
            }
        };
        Effects::catalog(format!("changes the comment of {object}"), NO_ROWS)
    }

    fn run(&self, run: &Run<'_>) -> Result<Outcome, Error> {
        let session = run.session;
        session.writable()?;
        let text = self.text.as_ref();
        let commented = commented(self, &*session.catalog()?)?;
        let (schema, name) = commented.name.parts();
        let no_view = || CatalogError::NoSuchView { name: name.to_owned(), nearest: None };
        let done = match commented.is_view {
            true => change(&session.own.catalog, |catalog| -> Result<_, Error> {
                let (view, version) = (catalog.view(schema, name)?.ok_or_else(no_view)?, catalog.version());
                let def = commented.view(&view, text)?;
                Ok(Some(CatalogChange::CreateView { def, replaces: true, version }))
            }),
            false => change_definition(session, &commented.name, |table| {
                Ok(Some(commented.table(table, text)?).filter(|def| *def != **table.def()))
            }),
        };
        done.map_err(|error| error.at(Some(commented.name.span())))?;
        Ok(ExecResult::default().into())
    }
}
