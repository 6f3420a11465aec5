//! Where DataFusion gives wrong rows, and what happens instead. Each entry names a query of the suites that shows it.
//!
//! A new release of DataFusion may rename a rule or repair it: the tests of this list say so, and an entry whose query is right
//! without it goes.

use std::sync::Arc;

use datafusion::optimizer::OptimizerRule;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;

use crate::engine::group_keys::GroupKeys;
use crate::engine::node_rewrites::{Rewrite, as_groups, with_tied_conditions};
use crate::physical::constants::HideConstants;

/// A query of the suites, by its file under `sql-tests/slt` and a part of its text.
pub(super) type Query = (&'static str, &'static str);

/// A rule or a setting that gives wrong rows.
pub(super) struct Correction<I> {
    /// The rule or the setting.
    pub(super) name: &'static str,
    /// What happens instead, or the other value of the setting.
    pub(super) instead: I,
    #[cfg_attr(not(test), allow(dead_code))] // for the reader, and the test
    pub(super) shown_by: Query,
}

/// What happens instead of a rule for logical plans.
#[derive(Clone, Copy)]
pub(super) enum LogicalCorrection {
    /// Another rule first.
    After(fn() -> Arc<dyn OptimizerRule + Send + Sync>),
    /// Something else with some nodes.
    OfNodes(Rewrite),
}

/// What happens instead of a rule for physical plans.
#[derive(Clone, Copy)]
pub(super) enum PhysicalCorrection {
    /// Nothing.
    Off,
    /// It runs the first time only.
    Once,
    /// Another rule first.
    After(fn() -> Arc<dyn PhysicalOptimizerRule + Send + Sync>),
}

pub(super) const LOGICAL: [Correction<LogicalCorrection>; 5] = [
    // A condition without columns moves below every aggregate. An aggregate without groups, or with an empty grouping set, has a row
    // even for no input, which the condition no longer drops. It may come of a condition over a projection's constant.
    Correction {
        name: "push_down_filter",
        instead: LogicalCorrection::OfNodes(with_tied_conditions),
        shown_by: (
            "aggregate/derived.slt",
            "SELECT k FROM (SELECT 1 AS k FROM (SELECT max(x) FROM t) AS m) AS d WHERE k IN (2, 5, 3)",
        ),
    },
    // DISTINCT over columns of which a part is taken for a key is left out, or keeps that part alone.
    Correction {
        name: "replace_distinct_aggregate",
        instead: LogicalCorrection::OfNodes(as_groups),
        shown_by: (
            "aggregate/derived.slt",
            "SELECT DISTINCT d.x, t.k FROM (SELECT DISTINCT x FROM t) AS d JOIN t ON t.x = d.x WHERE d.x > 2",
        ),
    },
    // The keys of groups are wrong (`GroupKeys`). By them these rules leave out columns of GROUP BY and of ORDER BY, and joins.
    Correction {
        name: "eliminate_join",
        instead: LogicalCorrection::After(group_keys),
        shown_by: (
            "aggregate/derived.slt",
            "SELECT t.k, d.x FROM t LEFT JOIN (SELECT d.x, t.y FROM (SELECT DISTINCT x FROM t)",
        ),
    },
    Correction {
        name: "eliminate_duplicated_expr",
        instead: LogicalCorrection::After(group_keys),
        shown_by: (
            "aggregate/derived.slt",
            "SELECT d.x, t.k FROM (SELECT DISTINCT x FROM t) AS d JOIN t ON t.x = d.x GROUP BY d.x, t.k ORDER BY",
        ),
    },
    Correction {
        name: "optimize_projections",
        instead: LogicalCorrection::After(group_keys),
        shown_by: (
            "aggregate/derived.slt",
            "SELECT d.x, count(*) FROM (SELECT DISTINCT d.x, t.k, t.y FROM (SELECT DISTINCT x FROM t)",
        ),
    },
];

pub(super) const PHYSICAL: [Correction<PhysicalCorrection>; 4] = [
    // Conditions are where they belong before. The rule moves one below an outer join by the other side's key, and loses rows' NULLs on
    // the way.
    Correction {
        name: "FilterPushdown",
        instead: PhysicalCorrection::Off,
        shown_by: (
            "join/outer.slt",
            "SELECT x.k, z.k FROM a x RIGHT JOIN b z ON x.k = z.k WHERE z.k BETWEEN 0 AND x.k",
        ),
    },
    Correction {
        name: "FilterPushdown(Post)",
        instead: PhysicalCorrection::Off,
        shown_by: (
            "join/outer.slt",
            "SELECT x.k, z.k FROM a x RIGHT JOIN b z ON x.k = z.k WHERE z.k BETWEEN 0 AND x.k",
        ),
    },
    // The first run makes filters put out some of their input's columns. The second one takes the places of these for places in the
    // input, and puts out other columns.
    Correction {
        name: "ProjectionPushdown",
        instead: PhysicalCorrection::Once,
        shown_by: (
            "join/one_value.slt",
            "SELECT COALESCE(r0.k, r0.z) AS c0, r1.z AS c1 FROM b r0 FULL JOIN b r1 ON r0.x = r1.k",
        ),
    },
    // Columns that hold one value, or equal each other, stay known where that no longer holds (`HideConstants`).
    Correction {
        name: "EnsureRequirements",
        instead: PhysicalCorrection::After(hide_constants),
        shown_by: (
            "join/plans.slt",
            "SELECT a.k, s.c FROM a LEFT JOIN (SELECT k, v AS c FROM b WHERE v = 1) s ON s.k = a.k ORDER BY s.c DESC, a.k DESC",
        ),
    },
];

pub(super) const SETTINGS: [Correction<&str>; 2] = [
    // A limit above a window would cut the rows that the window ranks and counts.
    Correction {
        name: "datafusion.optimizer.enable_window_limits",
        instead: "false",
        shown_by: ("join/plans.slt", "SELECT v, count(*) OVER (ORDER BY v) FROM a ORDER BY v LIMIT 2"),
    },
    // The keys of a correlated UNION may be nullable in the physical plan alone, which this check takes for a broken plan. Nothing is
    // computed from it.
    Correction {
        name: "datafusion.execution.skip_physical_aggregate_schema_check",
        instead: "true",
        shown_by: (
            "subquery/aggregates.slt",
            "IN (SELECT t.k + 0 FROM arms AS q2 WHERE q2.k = q2.k UNION ALL SELECT q3.k + 0",
        ),
    },
];

/// DataFusion's rules for physical plans, corrected.
pub(super) fn physical_rules() -> Vec<Arc<dyn PhysicalOptimizerRule + Send + Sync>> {
    let mut known = Vec::new();
    let corrected = |rule: Arc<dyn PhysicalOptimizerRule + Send + Sync>| {
        let Some(correction) = PHYSICAL.iter().find(|correction| correction.name == rule.name()) else {
            return vec![rule];
        };
        let is_first = !known.contains(&correction.name);
        known.push(correction.name);
        match correction.instead {
            PhysicalCorrection::Once if is_first => vec![rule],
            PhysicalCorrection::Off | PhysicalCorrection::Once => Vec::new(),
            PhysicalCorrection::After(first) => vec![first(), rule],
        }
    };
    PhysicalOptimizer::new().rules.into_iter().flat_map(corrected).collect()
}

fn group_keys() -> Arc<dyn OptimizerRule + Send + Sync> {
    Arc::new(GroupKeys)
}

fn hide_constants() -> Arc<dyn PhysicalOptimizerRule + Send + Sync> {
    Arc::new(HideConstants)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn datafusion_names_its_rules_as_expected() {
        let rules = PhysicalOptimizer::new().rules;
        for correction in &PHYSICAL {
            let runs = rules.iter().filter(|rule| rule.name() == correction.name).count();
            let expected = if matches!(correction.instead, PhysicalCorrection::Once) { 2 } else { 1 };
            assert_eq!(runs, expected, "{}", correction.name);
        }
    }

    #[test]
    fn a_query_of_the_suites_shows_each_correction() {
        let suites = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sql-tests/slt");
        let logical = LOGICAL.iter().map(|correction| correction.shown_by);
        let physical = PHYSICAL.iter().map(|correction| correction.shown_by);
        for (file, query) in logical.chain(physical).chain(SETTINGS.iter().map(|setting| setting.shown_by)) {
            let text = std::fs::read_to_string(suites.join(file)).unwrap();
            assert!(text.contains(query), "{file} has no query `{query}`");
        }
    }
}
