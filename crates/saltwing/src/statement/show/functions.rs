//! SHOW FUNCTIONS: the registry, forms with their own syntax, aggregates, and the functions of the relational engine.

use saltwing_types::Function;
use saltwing_types::function::syntax::FORMS;

use super::Listing;
use crate::Error;
use crate::session::Session;
use crate::text_rows::{TextRow, pattern};

/// A row of the answer.
struct Listed {
    name: String,
    kind: &'static str,
    signature: Option<String>,
    volatility: &'static str,
    description: Option<String>,
}

/// The functions that only the relational engine has.
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
    let names = saltwing_bind::AggregateFunction::ALL.iter().map(|function| function.name().to_owned());
    names
        .map(|name| Listed { name, kind: "aggregate", signature: None, volatility: "immutable", description: None })
        .collect()
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
