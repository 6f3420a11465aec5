//! Whether an access may run, and the overrides of a refusal.

use crate::Refusal;

/// A judgement on one table access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whether it may run; `None` while that depends on `LIMIT ?`.
    pub allowed: Option<bool>,
    /// By which rule.
    pub rule: Rule,
    /// Whether it runs with a warning: the refusal's text.
    pub warn: bool,
    /// The message if it may not run, or runs only by an override.
    pub refusal: Option<Refusal>,
}

impl Verdict {
    pub(crate) fn allowed(rule: Rule) -> Self {
        Self { allowed: Some(true), rule, warn: false, refusal: None }
    }

    /// Whether it is refused for good.
    pub fn is_refused(&self) -> bool {
        self.allowed == Some(false)
    }
}

/// The deciding rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// The leading key column is bounded.
    Bounded,
    /// A small LIMIT over a plain scan.
    Limit,
    /// MIN or MAX of the leading key column.
    MinMax,
    /// A table of the catalog.
    Catalog,
    /// Nothing is read.
    Empty,
    /// The leading key column of an index is bounded.
    Index,
    /// `/*+ FULL_SCAN(t) */`.
    Hint,
    /// `SET full_scan`.
    Setting,
    /// The table's option.
    TableOption,
    /// The option with which the database was opened.
    OpenOption,
    /// Nothing allows it.
    Refused,
    /// The operator forbids it, regardless of all overrides.
    Forbidden,
}

impl Rule {
    /// The word in EXPLAIN.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Bounded => "bounded",
            Self::Limit => "limit",
            Self::MinMax => "min_max",
            Self::Catalog => "catalog",
            Self::Empty => "empty",
            Self::Index => "index",
            Self::Hint => "hint",
            Self::Setting => "setting",
            Self::TableOption => "table_option",
            Self::OpenOption => "open_option",
            Self::Refused => "refused",
            Self::Forbidden => "forbidden",
        }
    }
}

/// The policy for a full scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Run it.
    Allow,
    /// Run it, and warn.
    Warn,
    /// Refuse it.
    Error,
}

/// Everything that may override a refusal, gathered at each execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct OverrideLadder {
    /// The statement's hint names this table.
    pub hint: bool,
    /// `SET full_scan`, if it was set.
    pub setting: Option<Policy>,
    /// The table's option, if it has one.
    pub table_option: Option<Policy>,
    /// The open option, if it was given.
    pub open_option: Option<Policy>,
    /// Whether the operator forbids full scans.
    pub forbid: bool,
}

/// Applies the overrides to a verdict, most specific first: hint, SET, table option, open option. The first one that is
/// set decides; `forbid` beats them all.
///
/// A verdict that allows without overrides is final: nothing can forbid it.
pub fn resolve(verdict: Verdict, ladder: OverrideLadder) -> Verdict {
    if verdict.allowed == Some(true) {
        return verdict;
    }
    if ladder.forbid {
        // While `LIMIT ?` is open there is nothing to forbid yet.
        let rule = if verdict.allowed.is_none() { verdict.rule } else { Rule::Forbidden };
        return Verdict { rule, ..verdict };
    }
    let rungs = [
        (ladder.hint.then_some(Policy::Allow), Rule::Hint),
        (ladder.setting, Rule::Setting),
        (ladder.table_option, Rule::TableOption),
        (ladder.open_option, Rule::OpenOption),
    ];
    match rungs.into_iter().find_map(|(policy, rule)| policy.map(|policy| (policy, rule))) {
        None | Some((Policy::Error, _)) => verdict,
        Some((policy, rule)) => {
            let warn = policy == Policy::Warn;
            Verdict { allowed: Some(true), rule, warn, refusal: verdict.refusal.filter(|_| warn) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused() -> Verdict {
        Verdict { allowed: Some(false), rule: Rule::Refused, warn: false, refusal: None }
    }

    #[test]
    fn most_specific_override_wins() {
        let ladder = OverrideLadder::default();
        let all = OverrideLadder {
            hint: true,
            setting: Some(Policy::Error),
            table_option: Some(Policy::Allow),
            open_option: Some(Policy::Warn),
            forbid: false,
        };
        for (ladder, allowed, rule, warn) in [
            (ladder, false, Rule::Refused, false),
            (all, true, Rule::Hint, false),
            (OverrideLadder { hint: false, ..all }, false, Rule::Refused, false),
            (OverrideLadder { hint: false, setting: Some(Policy::Warn), ..all }, true, Rule::Setting, true),
            (OverrideLadder { hint: false, setting: None, ..all }, true, Rule::TableOption, false),
            (OverrideLadder { hint: false, setting: None, table_option: None, ..all }, true, Rule::OpenOption, true),
            (OverrideLadder { forbid: true, ..all }, false, Rule::Forbidden, false),
        ] {
            let verdict = resolve(refused(), ladder);
            assert_eq!((verdict.allowed, verdict.rule, verdict.warn), (Some(allowed), rule, warn), "{ladder:?}");
        }
    }

    #[test]
    fn what_is_allowed_by_itself_stays() {
        let forbid = OverrideLadder { forbid: true, ..OverrideLadder::default() };
        assert_eq!(resolve(Verdict::allowed(Rule::Bounded), forbid).rule, Rule::Bounded);
        let open = Verdict { allowed: None, rule: Rule::Limit, ..refused() };
        assert_eq!(resolve(open.clone(), forbid), open);
        let hint = OverrideLadder { hint: true, ..OverrideLadder::default() };
        assert_eq!(resolve(open, hint).rule, Rule::Hint);
    }
}
