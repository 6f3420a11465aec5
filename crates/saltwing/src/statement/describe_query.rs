//! DESCRIBE of a query: its columns, without a run.

use saltwing_bind::ResultColumn;
use saltwing_planner::HintVerb;
use saltwing_sql::statement::QueryStatement;
use saltwing_types::ViewColumn;

use super::describe_object::{COLUMNS, view_column_row};
use super::describer::{Describer, columns_of};
use super::{Effects, Run, StatementKind, Target};
use crate::Error;
use crate::description::Description;
use crate::outcome::Outcome;
use crate::query_run::Purpose;
use crate::text_rows::{text_columns, text_rows};

pub(super) struct DescribeQuery<'a>(pub(super) &'a QueryStatement);

impl StatementKind for DescribeQuery<'_> {
    fn tag(&self) -> &'static str {
        "DESCRIBE"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        Vec::new()
    }

    fn columns(&self) -> Option<Vec<ResultColumn>> {
        Some(text_columns(&COLUMNS))
    }

    fn describe(&self, describer: &mut Describer<'_>) -> Result<Description, Error> {
        describer.purpose = Purpose::Explain;
        describer.described_query(self.0, HintVerb::Select)?;
        Ok(Description::default())
    }

    fn effects(&self) -> Effects {
        Effects::shows("the columns of the query".to_owned())
    }

    fn run(&self, run: &Run<'_>) -> Result<Outcome, Error> {
        let columns = columns_of(run.session, self.0, run.params, Purpose::Explain)?;
        let column = |column: &ResultColumn| {
            let ResultColumn { label, ty, nullable } = column.clone();
            view_column_row(&ViewColumn { name: label, ty, nullable, comment: None })
        };
        let rows: Vec<_> = columns.iter().map(column).collect();
        text_rows(text_columns(&COLUMNS), &rows).map(Outcome::Rows)
    }
}
