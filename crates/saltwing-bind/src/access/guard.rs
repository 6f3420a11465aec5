//! The guard: what may override a refusal, and the error when nothing does.

use saltwing_plan::{OverrideLadder, Policy, resolve};
use saltwing_sql::statement::Hint;
use saltwing_types::Value;

use super::TableAccess;
use crate::error::{BindError, BindErrorKind, Result};

/// The hint that allows a full scan of the tables it names; of all, when it names none.
const FULL_SCAN_HINT: &str = "FULL_SCAN";

/// Everything that may override a refusal, as it stands when a statement runs.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    /// The statement's hints.
    pub hints: Vec<Hint>,
    /// `SET full_scan`.
    pub setting: Option<Policy>,
    /// The option with which the database was opened.
    pub open_option: Option<Policy>,
    /// Whether the operator forbids full scans.
    pub forbid: bool,
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

    fn hinted(&self, access: &TableAccess) -> bool {
        let def = access.table.def();
        let is_table = |name: &str| {
            let name = name.to_lowercase();
            let names = [Some(def.name.name.as_str()), access.alias.as_deref()];
            names.into_iter().flatten().any(|n| n.to_lowercase() == name) || def.name.to_string().to_lowercase() == name
        };
        let names_it = |hint: &Hint| hint.args.is_empty() || hint.args.iter().any(|a| is_table(&a.text));
        self.hints.iter().any(|hint| hint.name.text.eq_ignore_ascii_case(FULL_SCAN_HINT) && names_it(hint))
    }

    fn ladder(&self, access: &TableAccess) -> OverrideLadder {
        let table_option = match access.table.def().option(FULL_SCAN_HINT) {
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
        self.access.verdict = resolve(self.access.verdict, ladder);
        self
    }

    /// [`TableAccess::judge`] with these overrides, for an access that stays as it was planned.
    ///
    /// # Errors
    /// As there.
    pub fn judge_with(&self, guard: &Guard) -> Result<Option<String>> {
        // What is allowed by itself needs no override.
        if self.access.verdict.allowed == Some(true) { Ok(None) } else { self.clone().with_overrides(guard).judge() }
    }

    /// Lets the access pass, with a warning perhaps, or refuses it. After [`TableAccess::with_overrides`].
    ///
    /// # Errors
    /// [`BindErrorKind::FullScanRefused`] with the place.
    pub fn judge(&self) -> Result<Option<String>> {
        let verdict = &self.access.verdict;
        match (&verdict.refusal, verdict.allowed) {
            (Some(refusal), Some(true)) if verdict.warn => Ok(Some(refusal.message())),
            (Some(refusal), Some(false)) => {
                let forbidden = verdict.rule == saltwing_plan::Rule::Forbidden;
                let help = if forbidden { "the operator forbids full scans".to_owned() } else { refusal.help() };
                let error = BindError::from(BindErrorKind::FullScanRefused(refusal.message()));
                Err(error.at(refusal.span.or(self.span)).help(help))
            }
            (None, Some(false)) => {
                let name = &self.table.def().name;
                Err(BindErrorKind::FullScanRefused(format!("this would read all of {name}")).into())
            }
            _ => Ok(None),
        }
    }
}
