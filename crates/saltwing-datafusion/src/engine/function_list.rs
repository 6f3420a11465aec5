//! The scalar functions and table functions that statements may call because DataFusion has them. Aggregate and window functions are in
//! the registries of `saltwing-types`.

use std::sync::Arc;

use datafusion::logical_expr::{Documentation, ScalarUDF, Volatility};

use super::Engine;

/// A function of DataFusion's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineFunction {
    /// The name, in upper case.
    pub name: String,
    /// `scalar` or `table`.
    pub kind: &'static str,
    /// A call of it, if DataFusion documents one.
    pub syntax: Option<String>,
    /// The first sentence about it, if DataFusion has one.
    pub description: Option<String>,
    /// `immutable`, `stable` or `volatile`.
    pub volatility: &'static str,
}

impl EngineFunction {
    /// `None` for an alias, and for a function that no statement can name.
    fn new(
        called: &str,
        kind: &'static str,
        (name, volatility): (&str, Volatility),
        documentation: Option<&Documentation>,
    ) -> Option<Self> {
        if called != name || !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return None;
        }
        let description = documentation.map(|documentation| first_sentence(&documentation.description));
        let syntax = documentation.map(|documentation| documentation.syntax_example.trim().to_owned());
        let volatility = match volatility {
            Volatility::Immutable => "immutable",
            Volatility::Stable => "stable",
            Volatility::Volatile => "volatile",
        };
        Some(Self { name: name.to_uppercase(), kind, syntax, description, volatility })
    }
}

impl Engine {
    /// All of them in no particular order, among them those that the expression language also has.
    pub fn functions(&self) -> Vec<EngineFunction> {
        let of_scalar = |(called, function): (&String, &Arc<ScalarUDF>)| {
            let signature = (function.name(), function.signature().volatility);
            EngineFunction::new(called, "scalar", signature, function.documentation())
        };
        let session = self.session();
        let mut all: Vec<EngineFunction> = session.scalar_functions().iter().filter_map(of_scalar).collect();
        let tables = self.table_functions.names();
        all.extend(tables.filter_map(|name| EngineFunction::new(name, "table", (name, Volatility::Stable), None)));
        all
    }
}

fn first_sentence(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    line.split_inclusive(". ").next().unwrap_or_default().trim().to_owned()
}
