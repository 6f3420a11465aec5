//! The plan of a query on the direct path, kept from one run to the next.

use std::sync::Arc;

use saltwing_access::TableError;
use saltwing_bind::{EngineFunctions, ParamValues, Params, query};
use saltwing_catalog::CatalogReader;
use saltwing_exec::SelectPlan;
use saltwing_planner::{DirectQuery, KeyAccess, PlannedSelect, SelectTemplate, plan_select};
use saltwing_sql::statement::QueryStatement;
use saltwing_types::interrupt;

use crate::Error;
use crate::kept::Kept;

/// The plan that is kept for a query.
#[derive(Default)]
pub(crate) struct KeptSelect(Kept<Arc<PlanKind>>);

/// How a query runs, as far as it is known without values.
pub(crate) enum PlanKind {
    /// Planned to the end: there are no parameters.
    Whole(Arc<SelectPlan>),
    /// A template; with the plan for values that give a part of the key.
    Template(Box<SelectTemplate>, Option<Arc<SelectPlan>>),
    /// More than the direct path runs.
    Relational,
    /// Planned at each execution.
    None,
}

/// A plan to be run now.
pub(crate) struct ReadyPlan {
    pub(crate) plan: Arc<SelectPlan>,
    /// The part of the key that it reads, if known without its ranges.
    pub(crate) part: Option<KeyAccess>,
}

impl KeptSelect {
    /// The plan for a version of the catalog, if the query was planned on it.
    pub(crate) fn of(&self, version: u64) -> Option<Arc<PlanKind>> {
        self.0.of(version)
    }

    /// Plans the query as far as possible without values, for all its runs.
    ///
    /// # Errors
    /// The statement must stop. Its own errors are reported when it runs.
    pub(crate) fn plan(
        &self,
        statement: &QueryStatement,
        (catalog, engine): (&dyn CatalogReader, &dyn EngineFunctions),
        values: ParamValues<'_>,
    ) -> Result<Arc<PlanKind>, Error> {
        let kind = Arc::new(kind(statement, (catalog, engine), values));
        // Planning that was stopped says nothing about the plan.
        interrupt::spend(0).map_err(TableError::from)?;
        self.0.put(catalog.version(), kind.clone());
        Ok(kind)
    }
}

impl PlanKind {
    /// The plan of the query with these values; `None` where it must be made from the text.
    pub(crate) fn with_values(&self, values: ParamValues<'_>) -> Option<ReadyPlan> {
        match self {
            Self::Whole(plan) => Some(ReadyPlan { plan: plan.clone(), part: None }),
            Self::Template(template, part_plan) => {
                if let Some(plan) = part_plan
                    && let Some(part) = template.key_access(&values)
                {
                    return Some(ReadyPlan { plan: plan.clone(), part: Some(part) });
                }
                let plan = Arc::new(SelectPlan::new(template.bind(values)?).ok()?);
                Some(ReadyPlan { plan, part: None })
            }
            Self::Relational | Self::None => None,
        }
    }

    /// Whether the relational engine runs the query.
    pub(crate) fn is_relational(&self) -> bool {
        matches!(self, Self::Relational)
    }
}

/// Plans a query as far as possible before it has values: of those that are given now, only the types count. Its errors are reported when it runs.
fn kind(
    statement: &QueryStatement,
    (catalog, engine): (&dyn CatalogReader, &dyn EngineFunctions),
    values: ParamValues<'_>,
) -> PlanKind {
    let _span = tracing::debug_span!(target: "saltwing::plan", "plan").entered();
    let has_parameters = !values.is_empty();
    let params = if has_parameters { Params::Later(values.types) } else { Params::NONE };
    let bound = match query(statement, catalog, engine, params) {
        Ok(root) if !root.has_one_plan() => return PlanKind::None,
        Ok(root) => DirectQuery::of(root.query),
        Err(_) => return PlanKind::None,
    };
    let Some(bound) = bound else { return PlanKind::Relational };
    let ready = |planned: PlannedSelect| SelectPlan::new(planned).ok().map(Arc::new);
    if has_parameters {
        let Some((template, of_parts)) = SelectTemplate::new(bound) else { return PlanKind::None };
        return PlanKind::Template(Box::new(template), of_parts.and_then(ready));
    }
    match plan_select(bound) {
        Ok(Some(planned)) => ready(planned).map_or(PlanKind::None, PlanKind::Whole),
        Ok(None) => PlanKind::Relational,
        Err(_) => PlanKind::None,
    }
}
