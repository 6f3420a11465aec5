//! Values for the parameters of statements: `.param`.

use saltwing::syntax::{Parameter, parameters};
use saltwing::{Dialect, Params, Value};

/// A value with its name.
struct Given {
    /// `:name`, or `?1` for the first by position.
    name: String,
    /// The expression, as typed.
    text: String,
    value: Value,
}

/// The values that `.param set` gave, in the order of their names.
#[derive(Default)]
pub(crate) struct Parameters(Vec<Given>);

impl Parameters {
    /// Sets a value; `name` has the form of [`Parameters::name_of`].
    pub(crate) fn set(&mut self, name: String, text: String, value: Value) {
        let given = Given { name, text, value };
        match self.0.binary_search_by(|known| known.name.cmp(&given.name)) {
            Ok(place) => self.0[place] = given,
            Err(place) => self.0.insert(place, given),
        }
    }

    /// Removes one value, or all; returns whether there was one.
    pub(crate) fn clear(&mut self, name: Option<&str>) -> bool {
        let before = self.0.len();
        match name {
            Some(name) => self.0.retain(|given| given.name != name),
            None => self.0.clear(),
        }
        self.0.len() < before || name.is_none()
    }

    /// One line for each value.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.iter().map(|given| format!("{} {}", given.name, given.text)).collect()
    }

    /// The canonical form of a name: `:host` for `:host` and `host`, `?1` for `?1`, `$1` and `1`. `None` if the text is not a name.
    pub(crate) fn name_of(written: &str) -> Option<String> {
        let bare = written.trim_start_matches([':', '?', '$', '@']);
        let is_name = |text: &str| {
            text.starts_with(|c: char| c.is_alphabetic() || c == '_')
                && text.chars().all(|c| c.is_alphanumeric() || c == '_')
        };
        match bare.parse::<u32>() {
            Ok(number) if number > 0 => Some(format!("?{number}")),
            _ => is_name(bare).then(|| format!(":{bare}")),
        }
    }

    /// The values of a statement's parameters; empty if it has none, or if some parameters have no value: then
    /// the statement reports the error.
    pub(crate) fn of(&self, sql: &str) -> Params {
        const NONE: Params = Params::Positional(Vec::new());
        // Most statements have no parameters, and need no parsing here.
        if self.0.is_empty() || !sql.contains(['?', ':', '$']) {
            return NONE;
        }
        let Ok(parameters) = parameters(sql, Dialect::Saltwing) else { return NONE };
        let mut numbered: Vec<&Parameter> = parameters.iter().collect();
        numbered.sort_by_key(|parameter| parameter.number);
        numbered.dedup_by_key(|parameter| parameter.number);
        if numbered.is_empty() {
            return NONE;
        }
        let value_of = |parameter: &&Parameter| {
            let name = match &parameter.name {
                Some(name) => format!(":{name}"),
                None => format!("?{}", parameter.number),
            };
            self.0.iter().find(|given| given.name == name).map(|given| given.value.clone())
        };
        match numbered.iter().map(|parameter| Some((parameter, value_of(parameter)?))).collect::<Option<Vec<_>>>() {
            Some(values) if numbered.iter().all(|parameter| parameter.name.is_some()) => Params::Named(
                values.into_iter().map(|(p, value)| (p.name.clone().unwrap_or_default(), value)).collect(),
            ),
            Some(values) => Params::Positional(values.into_iter().map(|(_, value)| value).collect()),
            None => NONE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_one_form() {
        for (written, name) in [(":host", ":host"), ("host", ":host"), ("?1", "?1"), ("$2", "?2"), ("3", "?3")] {
            assert_eq!(Parameters::name_of(written).as_deref(), Some(name), "{written}");
        }
        for written in ["", "?", "?0", ":1x", "a b", "a-b"] {
            assert_eq!(Parameters::name_of(written), None, "{written}");
        }
    }

    #[test]
    fn values_go_to_the_statements_parameters() {
        let mut parameters = Parameters::default();
        assert_eq!(parameters.of("SELECT ?"), Params::Positional(Vec::new()));
        parameters.set("?2".into(), "'b'".into(), Value::text("b"));
        parameters.set("?1".into(), "1".into(), Value::Int(1));
        parameters.set(":x".into(), "7".into(), Value::Int(7));
        assert_eq!(parameters.lines(), [":x 7", "?1 1", "?2 'b'"]);
        let both = Params::Positional(vec![Value::Int(1), Value::text("b")]);
        for sql in ["SELECT ?, ?", "SELECT ?2, ?1", "SELECT $1, $2, $1"] {
            assert_eq!(parameters.of(sql), both, "{sql}");
        }
        assert_eq!(parameters.of("SELECT :x, :x"), Params::Named(vec![("x".into(), Value::Int(7))]));
        // The statement's error names the missing parameter.
        assert_eq!(parameters.of("SELECT ?, ?, ?"), Params::Positional(Vec::new()));
        assert_eq!(parameters.of("SELECT 'a?'"), Params::Positional(Vec::new()));
        assert!(parameters.clear(Some(":x")) && !parameters.clear(Some(":x")) && parameters.clear(None));
        assert!(parameters.lines().is_empty());
    }
}
