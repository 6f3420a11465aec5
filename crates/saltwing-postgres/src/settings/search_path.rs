//! search_path: the schemas in which a name without a schema is looked up.
//!
//! The library looks such a name up among the objects without a schema, which are `public` to a client. So a path holds
//! `public`, the schema of the user's own name, which has no effect here, and `pg_catalog`; another schema is refused.

use super::value::{Refusal, Value};

/// The names of a path, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SearchPath(Vec<&'static str>);

impl Default for SearchPath {
    fn default() -> Self {
        Self(vec!["$user", "public"])
    }
}

const NAMES: [&str; 3] = ["$user", "public", "pg_catalog"];

impl SearchPath {
    /// The path of these names; names in double quotes come without them.
    fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, Refusal> {
        let mut path = Vec::new();
        for name in names {
            let known = NAMES.into_iter().find(|known| *known == name);
            // The empty name stands for the empty path: SET search_path = ''.
            match known {
                Some(known) if !path.contains(&known) => path.push(known),
                None if !name.is_empty() => {
                    return Err(Refusal::NotSupported("names without a schema are those of public"));
                }
                _ => {}
            }
        }
        Ok(Self(path))
    }
}

impl Value for SearchPath {
    /// The names with commas between them, in quotes where PostgreSQL needs them.
    fn show(&self) -> String {
        let quoted = |name: &&'static str| if *name == "$user" { "\"$user\"" } else { name };
        let names: Vec<&str> = self.0.iter().map(quoted).collect();
        names.join(", ")
    }

    /// Reads names with commas between them: without quotes in any case, and exactly in double quotes.
    fn read(&mut self, text: &str) -> Result<(), Refusal> {
        let mut names = Vec::new();
        for name in text.split(',').map(str::trim) {
            let inside = name.strip_prefix('"').and_then(|name| name.strip_suffix('"'));
            names.push(inside.map_or_else(|| name.to_ascii_lowercase(), str::to_owned));
        }
        let has_gap = names.len() > 1 && names.iter().any(String::is_empty);
        if has_gap {
            return Err(Refusal::Takes("names of schemas with commas between them".to_owned()));
        }
        *self = Self::of(names.iter().map(String::as_str))?;
        Ok(())
    }

    /// Takes each value as one name, as it is.
    fn assign(&mut self, values: &[&str]) -> Result<(), Refusal> {
        *self = Self::of(values.iter().copied())?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_a_list_and_a_value_is_a_name() {
        for (text, shown) in [
            ("", ""),
            ("\"\"", ""),
            ("PUBLIC", "public"),
            ("public,public , \"$user\"", "public, \"$user\""),
            ("\"$user\", public, pg_catalog", "\"$user\", public, pg_catalog"),
        ] {
            let mut path = SearchPath::default();
            path.read(text).unwrap();
            assert_eq!(path.show(), shown, "{text}");
        }
        let mut path = SearchPath::default();
        path.assign(&["pg_catalog", "$user"]).unwrap();
        assert_eq!(path.0, ["pg_catalog", "$user"]);
        path.assign(&[""]).unwrap();
        assert!(path.0.is_empty());
        assert!(path.assign(&["public, pg_catalog"]).is_err());
    }

    #[test]
    fn other_schemas_are_refused() {
        for text in ["app", "public, app", "\"Public\"", "information_schema", "\"$USER\""] {
            let mut path = SearchPath::default();
            assert!(matches!(path.read(text), Err(Refusal::NotSupported(_))), "{text}");
            assert_eq!(path, SearchPath::default());
        }
        assert!(matches!(SearchPath::default().read("public,,public"), Err(Refusal::Takes(_))));
    }
}
