//! SHOW FUNCTIONS: the registries, forms with their own syntax, and the scalar and table functions of the relational engine.

use saltwing_types::Function;
use saltwing_types::function::aggregate::{AggregateEntry, Executors};
use saltwing_types::function::syntax::FORMS;
use saltwing_types::function::window::{WINDOW_FUNCTIONS, WindowEntry};

use super::Listing;
use crate::Error;
use crate::session::Session;
use crate::text_rows::{TextRow, pattern};

/// Whether this build has the relational engine.
const HAS_ENGINE: bool = cfg!(feature = "datafusion");

/// A row of the result.
struct Listed {
    name: String,
    kind: &'static str,
    signature: Option<String>,
    volatility: &'static str,
    description: Option<String>,
}

/// The scalar and table functions that only the relational engine has.
#[cfg(feature = "datafusion")]
fn engine_functions(session: &Session) -> Vec<Listed> {
    let is_form = |name: &str| FORMS.iter().any(|form| form.name == name);
    let added = session.shared().engine.functions().into_iter().filter(|function| {
        function.kind != "scalar" || Function::by_name(&function.name).is_none() && !is_form(&function.name)
    });
    let listed = added.map(|function| Listed {
        name: function.name,
        kind: function.kind,
        signature: function.syntax,
        volatility: function.volatility,
        description: function.description,
    });
    listed.collect()
}

#[cfg(not(feature = "datafusion"))]
fn engine_functions(_: &Session) -> Vec<Listed> {
    Vec::new()
}

/// One row for each name and each way to call it.
fn aggregate_functions() -> impl Iterator<Item = Listed> {
    let here = AggregateEntry::all().filter(|entry| HAS_ENGINE || entry.executors() == Executors::Both);
    let named = here.flat_map(|entry| entry.names().map(move |name| (name, entry)));
    named.flat_map(|(name, entry)| {
        entry.forms.iter().map(move |form| Listed {
            name: name.to_owned(),
            kind: "aggregate",
            signature: Some(format!("{name}{form}")),
            volatility: AggregateEntry::VOLATILITY.as_str(),
            description: Some(entry.description.to_owned()),
        })
    })
}

/// One row for each function.
fn window_functions() -> impl Iterator<Item = Listed> {
    let here = WINDOW_FUNCTIONS.iter().filter(|_| HAS_ENGINE);
    here.map(|entry| Listed {
        name: entry.name.to_owned(),
        kind: "window",
        signature: Some(entry.to_string()),
        volatility: WindowEntry::VOLATILITY.as_str(),
        description: Some(entry.description.to_owned()),
    })
}

/// One row for each name and each way to call it.
fn own_functions() -> Vec<Listed> {
    let mut listed = Vec::new();
    for function in Function::all() {
        for name in std::iter::once(&function.name).chain(function.aliases) {
            listed.extend(function.signatures.iter().map(|signature| Listed {
                name: (*name).to_owned(),
                kind: "scalar",
                signature: Some(format!("{name}{signature}")),
                volatility: function.volatility.as_str(),
                description: Some(function.description.to_owned()),
            }));
        }
    }
    listed.extend(FORMS.iter().map(|form| Listed {
        name: form.name.to_owned(),
        kind: "scalar",
        signature: Some(format!("{}{}", form.name, form.form)),
        volatility: "immutable",
        description: Some(form.description.to_owned()),
    }));
    listed
}

/// SHOW FUNCTIONS.
pub(crate) struct Functions<'a>(pub(crate) Option<&'a str>);

impl Listing for Functions<'_> {
    fn labels(&self) -> &'static [&'static str] {
        &["name", "kind", "signature", "volatility", "description"]
    }

    fn what(&self) -> String {
        "functions".into()
    }

    fn rows(&self, session: &Session) -> Result<Vec<TextRow>, Error> {
        let pattern = pattern(self.0)?;
        let mut listed = own_functions();
        listed.extend(aggregate_functions());
        listed.extend(window_functions());
        listed.extend(engine_functions(session));
        listed.retain(|function| pattern.as_ref().is_none_or(|pattern| pattern.matches(&function.name)));
        listed.sort_by(|a, b| (&a.name, a.kind, &a.signature).cmp(&(&b.name, b.kind, &b.signature)));
        let row = |function: Listed| {
            let texts = [Some(function.kind.to_owned()), function.signature, Some(function.volatility.to_owned())];
            std::iter::once(Some(function.name)).chain(texts).chain([function.description]).collect()
        };
        Ok(listed.into_iter().map(row).collect())
    }
}
