//! The error of a statement that the guard refuses.
//!
//! It names every table that would be read whole, each with its own reason, and the override in the form of the
//! statement: a user who adds it is not refused again for the next table.

use saltwing_plan::Refusal;
use saltwing_types::Span;

/// The verb that a statement's hints follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HintVerb {
    /// `SELECT /*+ .. */`
    #[default]
    Select,
    /// `UPSERT /*+ .. */ INTO`
    Upsert,
    /// `INSERT /*+ .. */ INTO`
    Insert,
    /// `DELETE /*+ .. */ FROM`
    Delete,
    /// `UPDATE /*+ .. */ t`
    Update,
    /// `MERGE /*+ .. */ INTO`
    Merge,
}

impl HintVerb {
    /// The statement's words around a hint.
    fn around(self) -> (&'static str, &'static str) {
        match self {
            Self::Select => ("SELECT", ".."),
            Self::Upsert => ("UPSERT", "INTO .."),
            Self::Insert => ("INSERT", "INTO .."),
            Self::Delete => ("DELETE", "FROM .."),
            Self::Update => ("UPDATE", ".. SET .."),
            Self::Merge => ("MERGE", "INTO .."),
        }
    }
}

/// A table that a statement would read whole, and may not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedTable {
    /// The table, as hints and ALTER TABLE name it.
    pub table: String,
    /// How the statement calls it, where that is not its name.
    pub alias: Option<String>,
    /// The view of the statement that reads it.
    pub view: Option<String>,
    /// The reason; `None` if no more is known of the table.
    pub refusal: Option<Refusal>,
    /// The place of the first condition that does not count, or of the table.
    pub span: Option<Span>,
    /// Whether the operator forbids full scans, so that no override helps.
    pub forbidden: bool,
    /// Whether it can have the option FULL_SCAN: the catalog of another system has no such option.
    pub takes_option: bool,
}

impl RefusedTable {
    /// The table with its alias, as reasons name it.
    fn label(&self) -> String {
        match (&self.view, &self.alias) {
            (Some(view), _) => format!("{} in view {view}", self.table),
            (None, Some(alias)) => format!("{} {alias}", self.table),
            (None, None) => self.table.clone(),
        }
    }

    fn reasons(&self) -> Vec<String> {
        self.refusal.as_ref().map(Refusal::reasons).unwrap_or_default()
    }
}

/// A statement that the guard refuses: the tables at fault, at least one, in the order of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedScans {
    /// The tables.
    pub tables: Vec<RefusedTable>,
    /// Where an override stands.
    pub verb: HintVerb,
}

impl RefusedScans {
    /// The tables of both, each use once.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        for table in other.tables {
            if !self.tables.contains(&table) {
                self.tables.push(table);
            }
        }
        self
    }

    /// One line: the tables that would be read whole, and the missing conditions.
    pub fn message(&self) -> String {
        if let [RefusedTable { refusal: Some(refusal), view, .. }] = self.tables.as_slice() {
            let view = view.as_ref().map(|view| format!("in view {view}, ")).unwrap_or_default();
            return format!("{view}{}", refusal.message());
        }
        let labels: Vec<String> = self.tables.iter().map(RefusedTable::label).collect();
        match labels.as_slice() {
            [one] => format!("this would read all of {one}"),
            many => format!(
                "this would read all of {} tables, {}: no condition bounds the first column of their keys",
                many.len(),
                listed(many)
            ),
        }
    }

    /// Several lines: each table's reasons, and how to override the refusal.
    pub fn help(&self) -> String {
        let mut lines = Vec::new();
        match self.tables.as_slice() {
            [one] => lines.extend(one.reasons()),
            many => {
                for table in many {
                    let label = table.label();
                    lines.extend(table.refusal.as_ref().map(|refusal| format!("{label}: {}", refusal.missing())));
                    lines.extend(table.reasons().into_iter().map(|reason| format!("{label}: {reason}")));
                }
            }
        }
        match self.tables.iter().any(|table| table.forbidden) {
            true => lines = vec!["the operator forbids full scans".to_owned()],
            false => lines.extend(self.overrides()),
        }
        lines.join("\n")
    }

    fn overrides(&self) -> Vec<String> {
        let distinct = |names: &mut dyn Iterator<Item = &String>| {
            let mut names: Vec<String> = names.cloned().collect();
            names.sort_unstable();
            names.dedup();
            names
        };
        let names = distinct(&mut self.tables.iter().map(|table| &table.table));
        // A hint names what the statement names.
        let hinted = distinct(&mut self.tables.iter().map(|table| table.view.as_ref().unwrap_or(&table.table)));
        let (before, after) = self.verb.around();
        let what = if names.len() > 1 { "them" } else { "it" };
        let hint = format!(
            "to read {what} all the same: {before} /*+ FULL_SCAN({}) */ {after}, or SET full_scan = 'allow'",
            hinted.join(", ")
        );
        let takes_option = |name: &&String| self.tables.iter().any(|table| table.table == **name && table.takes_option);
        let options: Vec<String> = names
            .iter()
            .filter(takes_option)
            .map(|name| format!("ALTER TABLE {name} SET FULL_SCAN = 'allow'"))
            .collect();
        let once = format!("for a small table, once and for all: {}", options.join("; "));
        std::iter::once(hint).chain((!options.is_empty()).then_some(once)).collect()
    }

    /// The place of the first table that has one.
    pub fn span(&self) -> Option<Span> {
        self.tables.iter().find_map(|table| table.span)
    }
}

/// `a, b and c`.
fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [before @ .., last] => format!("{} and {last}", before.join(", ")),
    }
}
