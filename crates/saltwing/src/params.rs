//! Values for a statement's parameters.

use saltwing_sql::Parameter;
use saltwing_types::{ErrorCode, Value};

use crate::Error;

/// Values for `?`, `?1`, `$1` by position, or for `:name` by name. A statement accepts only the form of its own parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum Params {
    /// By position.
    Positional(Vec<Value>),
    /// By name, without the colon.
    Named(Vec<(String, Value)>),
}

impl Params {
    /// Values for `:name` parameters; the colon may be left out.
    pub fn named<N: AsRef<str>, V: Into<Value>>(pairs: impl IntoIterator<Item = (N, V)>) -> Self {
        let name = |n: N| n.as_ref().trim_start_matches(':').to_owned();
        Params::Named(pairs.into_iter().map(|(n, v)| (name(n), v.into())).collect())
    }

    /// Whether there are no values.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Params::Positional(values) => values.is_empty(),
            Params::Named(named) => named.is_empty(),
        }
    }

    /// The values in the order of the parameters' numbers; there are `wanted` parameters.
    ///
    /// # Errors
    /// Too few or too many values, an unknown or a missing name.
    pub(crate) fn values(self, parameters: &[Parameter], wanted: usize) -> Result<Vec<Value>, Error> {
        let bad = |message: String| Err(Error::new(ErrorCode::BadParameter, message));
        match self {
            Params::Positional(values) if !values.is_empty() && are_named(parameters) => {
                let names: Vec<String> =
                    parameters.iter().filter_map(|p| Some(format!(":{}", p.name.as_ref()?))).collect();
                let text =
                    format!("the statement names its parameters ({}), and the values have no names", names.join(", "));
                let help = "use Params::named or a struct that derives IntoParams; or write ? for values by position";
                Err(Error::new(ErrorCode::BadParameter, text).with_help(Some(help)))
            }
            Params::Positional(values) if values.len() == wanted => Ok(values),
            Params::Positional(values) => {
                let (given, plural) = (values.len(), |count| if count == 1 { "" } else { "s" });
                bad(format!(
                    "the statement has {wanted} parameter{}, and {given} value{} {} given",
                    plural(wanted),
                    plural(given),
                    if given == 1 { "was" } else { "were" }
                ))
            }
            Params::Named(named) => {
                let known = |name: &str| parameters.iter().any(|p| p.name.as_deref() == Some(name));
                if let Some((name, _)) = named.iter().find(|(name, _)| !known(name)) {
                    return bad(format!("the statement has no parameter :{name}"));
                }
                let value_of = |number: usize| {
                    let name = parameters.iter().find(|p| p.number as usize == number).and_then(|p| p.name.as_deref());
                    let found = named.iter().find(|(n, _)| Some(n.as_str()) == name).map(|(_, value)| value.clone());
                    found.ok_or_else(|| {
                        let text = format!("parameter :{} has no value", name.unwrap_or("?"));
                        Error::new(ErrorCode::BadParameter, text)
                    })
                };
                (1..=wanted).map(value_of).collect()
            }
        }
    }
}

/// Whether a statement names all its parameters.
fn are_named(parameters: &[Parameter]) -> bool {
    !parameters.is_empty() && parameters.iter().all(|parameter| parameter.name.is_some())
}

/// Values for a statement's parameters: `()`, a tuple of up to twelve values, [`params!`](crate::params!), a vector,
/// array or slice of values, [`Params::named`], a struct that derives `IntoParams`.
pub trait IntoParams {
    /// The parameters.
    fn into_params(self) -> Params;
}

impl IntoParams for Params {
    fn into_params(self) -> Params {
        self
    }
}

impl IntoParams for () {
    fn into_params(self) -> Params {
        Params::Positional(Vec::new())
    }
}

impl<V: Into<Value>> IntoParams for Vec<V> {
    fn into_params(self) -> Params {
        Params::Positional(self.into_iter().map(Into::into).collect())
    }
}

impl<V: Into<Value>, const N: usize> IntoParams for [V; N] {
    fn into_params(self) -> Params {
        Params::Positional(self.into_iter().map(Into::into).collect())
    }
}

impl<V: Clone + Into<Value>> IntoParams for &[V] {
    fn into_params(self) -> Params {
        Params::Positional(self.iter().cloned().map(Into::into).collect())
    }
}

impl<V: Clone + Into<Value>> IntoParams for &Vec<V> {
    fn into_params(self) -> Params {
        self.as_slice().into_params()
    }
}

impl<V: Clone + Into<Value>, const N: usize> IntoParams for &[V; N] {
    fn into_params(self) -> Params {
        self.as_slice().into_params()
    }
}

macro_rules! tuples {
    ($(($($name:ident)+))*) => { $(
        #[allow(non_snake_case)] // each value has the name of its type
        impl<$($name: Into<Value>),+> IntoParams for ($($name,)+) {
            fn into_params(self) -> Params {
                let ($($name,)+) = self;
                Params::Positional(vec![$($name.into()),+])
            }
        }
    )* };
}
tuples! {
    (A)
    (A B)
    (A B C)
    (A B C D)
    (A B C D E)
    (A B C D E F)
    (A B C D E F G)
    (A B C D E F G H)
    (A B C D E F G H I)
    (A B C D E F G H I J)
    (A B C D E F G H I J K)
    (A B C D E F G H I J K L)
}
