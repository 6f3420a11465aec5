//! The guard: the overrides of a refusal, and the error if none applies.

use saltwing_plan::{OverrideLadder, Policy, Refusal, Rule, resolve};
use saltwing_sql::statement::Hint;
use saltwing_sql::{Name, quote_name};
use saltwing_types::Value;

use crate::access::TableAccess;
use crate::error::Result;
use crate::index_hint::names_table;
use crate::refused::{HintVerb, RefusedScans, RefusedTable};
use saltwing_bind::{FULL_SCAN, ViewPlace};

/// Everything that may override a refusal, as it stands when a statement runs.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    /// The statement's hints.
    pub hints: Vec<Hint>,
    /// Where they stand.
    pub verb: HintVerb,
    /// `SET full_scan`.
    pub setting: Option<Policy>,
    /// The option with which the database was opened.
    pub open_option: Option<Policy>,
    /// Whether the operator forbids full scans.
    pub forbid: bool,
    /// Where the statement names views: a table that stands there is read by the view.
    pub views: Vec<ViewPlace>,
}

impl Guard {
    /// The policy of a word; `None` when it is none.
    pub fn policy(word: &str) -> Option<Policy> {
        match word.to_ascii_lowercase().as_str() {
            "allow" => Some(Policy::Allow),
            "warn" => Some(Policy::Warn),
            "error" => Some(Policy::Error),
            _ => None,
        }
    }

    /// The view that reads the table.
    fn view_of(&self, access: &TableAccess) -> Option<&str> {
        self.views.iter().find(|view| Some(view.span) == access.span).map(|view| view.name.as_str())
    }

    fn hinted(&self, access: &TableAccess) -> bool {
        let is_it =
            |name: &Name| names_table(name, access.table.def(), [access.alias.as_deref(), self.view_of(access)]);
        let names_it = |hint: &Hint| hint.args.is_empty() || hint.args.iter().any(is_it);
        self.hints.iter().any(|hint| hint.name.text.eq_ignore_ascii_case(FULL_SCAN) && names_it(hint))
    }

    fn ladder(&self, access: &TableAccess) -> OverrideLadder {
        let table_option = match access.table.def().option(FULL_SCAN) {
            Some(Value::Text(word)) => Self::policy(word),
            _ => None,
        };
        OverrideLadder {
            hint: self.hinted(access),
            setting: self.setting,
            table_option,
            open_option: self.open_option,
            forbid: self.forbid,
        }
    }
}

impl TableAccess {
    /// Applies the overrides to the plan's verdict, for EXPLAIN to show.
    #[must_use]
    pub fn with_overrides(mut self, guard: &Guard) -> Self {
        let ladder = guard.ladder(&self);
        self.verb = guard.verb;
        self.view = guard.view_of(&self).map(str::to_owned);
        self.access.verdict = resolve(self.access.verdict, ladder);
        self
    }

    /// [`TableAccess::judge`] with these overrides, for an access that stays as it was planned.
    ///
    /// # Errors
    /// As there.
    pub fn judge_with(&self, guard: &Guard) -> Result<Option<String>> {
        // An allowed access needs no override.
        if self.access.verdict.allowed == Some(true) { Ok(None) } else { self.clone().with_overrides(guard).judge() }
    }

    /// Lets the access pass, with a warning perhaps, or refuses it. After [`TableAccess::with_overrides`].
    ///
    /// # Errors
    /// [`crate::PlannerError::FullScanRefused`] with the place.
    pub fn judge(&self) -> Result<Option<String>> {
        if let Some(refused) = self.refused() {
            return Err(refused.into());
        }
        let verdict = &self.access.verdict;
        Ok(verdict.refusal.as_ref().filter(|_| verdict.warn).map(Refusal::message))
    }

    /// The refusal of this access, for an error that names other tables too. Call it after
    /// [`TableAccess::with_overrides`].
    pub fn refused(&self) -> Option<RefusedScans> {
        let verdict = &self.access.verdict;
        if !verdict.is_refused() {
            return None;
        }
        let name = &self.table.def().name;
        let schema = name.schema.as_ref().map(|schema| format!("{}.", quote_name(schema)));
        let table = RefusedTable {
            table: format!("{}{}", schema.unwrap_or_default(), quote_name(&name.name)),
            alias: self.alias.clone(),
            view: self.view.clone(),
            refusal: verdict.refusal.clone(),
            span: verdict.refusal.as_ref().and_then(|refusal| refusal.span).or(self.span),
            forbidden: verdict.rule == Rule::Forbidden,
            takes_option: !self.table.is_compared(),
        };
        Some(RefusedScans { tables: vec![table], verb: self.verb })
    }
}
