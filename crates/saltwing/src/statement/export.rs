//! EXPORT .. AS PHOENIX.

use saltwing_bind::ResultColumn;
use saltwing_sql::statement::{Export, ExportedObjects};

use super::{Effects, Privilege, Run, StatementKind, Target};
use crate::Error;
use crate::export::export;
use crate::outcome::Outcome;
use crate::text_rows::text_columns;

impl StatementKind for Export {
    fn tag(&self) -> &'static str {
        "EXPORT"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        vec![match &self.objects {
            ExportedObjects::Table(name) => Target::relation(name, Privilege::Select),
            ExportedObjects::Schema(name) => Target::schema(name, Privilege::Select),
            ExportedObjects::All => Target::database(Privilege::Select),
        }]
    }

    fn columns(&self) -> Option<Vec<ResultColumn>> {
        Some(text_columns(&["statement"]))
    }

    fn effects(&self) -> Effects {
        let what = match &self.objects {
            ExportedObjects::Table(name) => format!("table {name}"),
            ExportedObjects::Schema(name) => format!("schema {}", name.text),
            ExportedObjects::All => "all tables".into(),
        };
        Effects::storage(format!("gives statements that make {what} in Apache Phoenix"), "all are read")
    }

    fn run(&self, run: &Run<'_>) -> Result<Outcome, Error> {
        export(run.session, self).map(Outcome::Rows)
    }
}
