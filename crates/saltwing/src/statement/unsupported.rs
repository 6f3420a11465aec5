//! Statements that are parsed but not supported.

use saltwing_sql::Name;
use saltwing_sql::statement::Unsupported;
use saltwing_types::ErrorCode;

use super::describer::Describer;
use super::{Effects, Run, StatementKind, Target};
use crate::Error;
use crate::description::Description;
use crate::outcome::Outcome;

/// USE.
pub(super) struct Use<'a>(pub(super) &'a Name);

impl Use<'_> {
    fn error(&self) -> Error {
        Error::new(ErrorCode::NotSupported, "USE is not supported")
            .with_help(Some("write the schema before the table: s.t"))
            .at(Some(self.0.span))
    }
}

impl StatementKind for Use<'_> {
    fn tag(&self) -> &'static str {
        "USE"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        Vec::new()
    }

    fn gives_rows(&self) -> bool {
        // The error of USE takes precedence over that of a statement without rows.
        true
    }

    fn describe(&self, _: &mut Describer<'_>) -> Result<Description, Error> {
        Err(self.error())
    }

    fn effects(&self) -> Effects {
        Effects::session("nothing".into())
    }

    fn run(&self, _: &Run<'_>) -> Result<Outcome, Error> {
        Err(self.error())
    }
}

fn unsupported(statement: &Unsupported) -> Error {
    Error::new(ErrorCode::NotSupported, format!("{} is not supported", statement.what))
        .at(Some(statement.span))
        .with_help(statement.help.as_deref())
}

impl StatementKind for Unsupported {
    fn tag(&self) -> &'static str {
        "UNSUPPORTED"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        Vec::new()
    }

    fn gives_rows(&self) -> bool {
        // As for USE.
        true
    }

    fn describe(&self, _: &mut Describer<'_>) -> Result<Description, Error> {
        Err(unsupported(self))
    }

    fn effects(&self) -> Effects {
        Effects::session("nothing".into())
    }

    fn run(&self, _: &Run<'_>) -> Result<Outcome, Error> {
        Err(unsupported(self))
    }
}
