//! The content of an EXPLAIN.

use std::sync::Arc;

use saltwing_exec::SelectPlan;
use saltwing_planner::{AccessReport, DirectPlan, explain_text};

/// An effect of a statement besides reading rows by keys: the affected part, and a description.
pub(crate) type Effect = (&'static str, String);

/// The accesses, plans and effects of a statement.
pub(crate) struct Explained {
    pub(crate) executor: &'static str,
    /// The plan of a SELECT on the direct path.
    pub(crate) direct: Option<Arc<SelectPlan>>,
    pub(crate) reports: Vec<AccessReport>,
    /// The relational plan, as text.
    pub(crate) plan: Option<String>,
    /// The effects of the statement besides reading.
    pub(crate) effects: Vec<Effect>,
    /// The uncorrelated subqueries, which run first, with their texts.
    pub(crate) subqueries: Vec<(String, Explained)>,
}

impl Explained {
    /// The reads of a write on the direct path.
    pub(crate) fn direct(reports: Vec<AccessReport>) -> Self {
        Self { executor: "direct", direct: None, reports, plan: None, effects: Vec::new(), subqueries: Vec::new() }
    }

    /// The reads of two queries of one statement.
    pub(crate) fn together(one: Self, other: Self) -> Self {
        let Self { executor, direct: _, mut reports, plan, effects, mut subqueries } = one;
        reports.extend(other.reports);
        subqueries.extend(other.subqueries);
        let plan = plan.into_iter().chain(other.plan).reduce(|text, more| text + &more);
        let executor = if executor == other.executor { executor } else { "datafusion" };
        Self { executor, direct: None, reports, plan, effects, subqueries }
    }

    pub(crate) fn direct_plan(&self) -> Option<&DirectPlan> {
        self.direct.as_ref().map(|select| &select.planned().plan)
    }

    pub(crate) fn text(&self) -> String {
        let accesses = explain_text(self.executor, self.direct_plan(), &self.reports);
        let text = self.plan.iter().fold(accesses, |text, plan| text + plan);
        self.effects.iter().fold(text, |text, (name, effect)| text + &format!("{name:<10}{effect}\n"))
    }
}
