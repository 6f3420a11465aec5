//! The bound query and the plans of a cached statement, which later runs use again.
//!
//! # Law
//! They are used only with the version of the catalog that they were made on: a plan names columns by their positions, and
//! another version may have other columns there.

use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use saltwing_access::{Table, TableError};
use saltwing_bind::{
    BoundUpdate, EngineFunctions, ParamValues, ParameterTypes, Params, RootQuery, StatementQuery, query,
};
use saltwing_catalog::CatalogReader;
#[cfg(feature = "datafusion")]
use saltwing_datafusion::Template;
use saltwing_exec::{Returning, SelectPlan};
use saltwing_planner::{DirectQuery, KeyAccess, PlannedSelect, SelectTemplate, SystemQuery, plan_select};
use saltwing_types::{SqlType, interrupt};

use crate::Error;
use crate::description::Description;

/// The plans of a statement for the version of the catalog of its last run.
#[derive(Default)]
pub(crate) struct PlanCache(Mutex<Option<Arc<StatementPlans>>>);

impl PlanCache {
    /// The plans for a version of the catalog; empty if the statement has not run on this version.
    pub(crate) fn of(&self, version: u64) -> Arc<StatementPlans> {
        let mut plans = self.0.lock();
        match &*plans {
            Some(plans) if plans.version == version => plans.clone(),
            _ => plans.insert(Arc::new(StatementPlans::new(version))).clone(),
        }
    }
}

/// The plans of a statement for one version of the catalog. Each is made when a run first needs it.
///
/// The query is the statement itself, or the query for the rows that the statement writes.
pub(crate) struct StatementPlans {
    version: u64,
    /// The query, bound without values of its parameters; `None` if that is an error.
    bound: OnceLock<Option<Arc<RootQuery>>>,
    direct: OnceLock<GenericPlan>,
    #[cfg(feature = "datafusion")]
    relational: Mutex<RelationalTemplate>,
    /// A bound UPDATE, which does not depend on the values of its parameters.
    pub(crate) update: OnceLock<Arc<BoundUpdate>>,
    /// The types that the query's conditions determine for its parameters.
    parameter_types: OnceLock<Box<[Option<SqlType>]>>,
    /// The description of the statement, which was not judged by the guard.
    pub(crate) description: OnceLock<Arc<Description>>,
    /// The RETURNING of a statement; `None` if it has none. It is kept because planning it takes longer than writing a row.
    pub(crate) returning: OnceLock<Option<ReturningPlan>>,
}

/// How the RETURNING of a statement is computed.
#[derive(Clone)]
pub(crate) enum ReturningPlan {
    /// Of each row by itself.
    Rows(Arc<Returning>),
    /// By a query over the rows of this table that are written or deleted.
    Query(Arc<Table>),
}

/// The plan of the direct path for all values of the parameters.
pub(crate) enum GenericPlan {
    /// A complete plan: the query has no parameters.
    Whole(Arc<SelectPlan>),
    /// A template, with the plan for values that determine a part of the key.
    Template(Box<SelectTemplate>, Option<Arc<SelectPlan>>),
    /// The relational engine runs the query.
    Relational,
    /// The query is planned at each run.
    Custom,
}

/// The plan of the relational engine for all values of the parameters.
#[cfg(feature = "datafusion")]
#[derive(Clone, Default)]
pub(crate) enum RelationalTemplate {
    /// The query has not run yet.
    #[default]
    New,
    /// The last run was planned for its own values alone.
    SeenOnce,
    /// The query runs with this template.
    Template(Arc<Template>),
    /// The query is planned at each run.
    Never,
}

/// A plan for one run.
pub(crate) struct ReadyPlan {
    pub(crate) plan: Arc<SelectPlan>,
    /// The part of the key that the plan reads, if it is known without the ranges.
    pub(crate) part: Option<KeyAccess>,
}

impl StatementPlans {
    fn new(version: u64) -> Self {
        Self {
            version,
            bound: OnceLock::new(),
            direct: OnceLock::new(),
            #[cfg(feature = "datafusion")]
            relational: Mutex::default(),
            update: OnceLock::new(),
            parameter_types: OnceLock::new(),
            description: OnceLock::new(),
            returning: OnceLock::new(),
        }
    }

    /// The query, bound without values; `None` if that is an error, which the run reports. Only the types of the values are
    /// used.
    ///
    /// # Errors
    /// The statement must stop.
    pub(crate) fn bound(
        &self,
        statement: StatementQuery<'_>,
        (catalog, engine): (&dyn CatalogReader, &dyn EngineFunctions),
        values: ParamValues<'_>,
    ) -> Result<Option<Arc<RootQuery>>, Error> {
        debug_assert_eq!(catalog.version(), self.version, "plans of another version of the catalog");
        if let Some(known) = self.bound.get() {
            return Ok(known.clone());
        }
        let params = if values.is_empty() { Params::NONE } else { Params::Later(values.types) };
        let bound = query(statement, catalog, engine, params).ok().map(Arc::new);
        check_stop()?;
        Ok(self.bound.get_or_init(|| bound).clone())
    }

    /// The types that the query determines for its parameters; `None` if it cannot be bound.
    ///
    /// # Errors
    /// As [`StatementPlans::bound`].
    pub(crate) fn parameter_types(
        &self,
        statement: StatementQuery<'_>,
        names: (&dyn CatalogReader, &dyn EngineFunctions),
        values: ParamValues<'_>,
    ) -> Result<Option<&[Option<SqlType>]>, Error> {
        if let Some(known) = self.parameter_types.get() {
            return Ok(Some(known));
        }
        let Some(root) = self.bound(statement, names, values)? else { return Ok(None) };
        let mut types = ParameterTypes::default();
        types.note_query(&root.query);
        Ok(Some(self.parameter_types.get_or_init(|| types.into_types(values.len()).into())))
    }

    /// The plan of the direct path, if the query was planned.
    pub(crate) fn known_direct(&self) -> Option<&GenericPlan> {
        self.direct.get()
    }

    /// The plan of the direct path, made as far as possible without values, for all runs.
    ///
    /// # Errors
    /// The statement must stop. Errors of the query are reported when it runs.
    pub(crate) fn direct(
        &self,
        statement: StatementQuery<'_>,
        names: (&dyn CatalogReader, &dyn EngineFunctions),
        values: ParamValues<'_>,
    ) -> Result<&GenericPlan, Error> {
        if let Some(known) = self.direct.get() {
            return Ok(known);
        }
        let bound = self.bound(statement, names, values)?;
        let plan = bound.map_or(GenericPlan::Custom, |root| GenericPlan::of(&root, !values.is_empty()));
        check_stop()?;
        Ok(self.direct.get_or_init(|| plan))
    }

    /// The plan of the relational engine.
    #[cfg(feature = "datafusion")]
    pub(crate) fn relational(&self) -> RelationalTemplate {
        self.relational.lock().clone()
    }

    /// Sets the plan of the relational engine for the next runs.
    #[cfg(feature = "datafusion")]
    pub(crate) fn set_relational(&self, plan: RelationalTemplate) {
        *self.relational.lock() = plan;
    }
}

/// Checks that the statement was not stopped: the result of a stopped planning must not be kept.
fn check_stop() -> Result<(), Error> {
    Ok(interrupt::spend(0).map_err(TableError::from)?)
}

impl GenericPlan {
    fn of(root: &RootQuery, has_parameters: bool) -> Self {
        let _span = tracing::debug_span!(target: "saltwing::plan", "plan").entered();
        if !root.has_one_plan() {
            return Self::Custom;
        }
        let Some(query) = DirectQuery::of(root.query.clone()) else {
            // Planning a query over a system table takes far less time than making its rows.
            return if SystemQuery::of(&root.query).is_some() { Self::Custom } else { Self::Relational };
        };
        let ready = |planned: PlannedSelect| SelectPlan::new(planned).ok().map(Arc::new);
        if has_parameters {
            let Some((template, of_parts)) = SelectTemplate::new(query) else { return Self::Custom };
            return Self::Template(Box::new(template), of_parts.and_then(ready));
        }
        match plan_select(query) {
            Ok(Some(planned)) => ready(planned).map_or(Self::Custom, Self::Whole),
            Ok(None) => Self::Relational,
            Err(_) => Self::Custom,
        }
    }

    /// The plan of the query with these values; `None` if the query must be planned from its text.
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
            Self::Relational | Self::Custom => None,
        }
    }

    /// Whether the relational engine runs the query.
    pub(crate) fn is_relational(&self) -> bool {
        matches!(self, Self::Relational)
    }
}
