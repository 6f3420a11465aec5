//! COLLATE: texts compare by keys that are computed of them, so that nothing but an expression arises.
//!
//! | collation | key of a text |
//! |---|---|
//! | `binary`, `"C"`, `"POSIX"`, `ucs_basic`, `"default"` | the text |
//! | `nocase` | `LOWER(text)` |
//! | `noaccent` | `STRIP_ACCENTS(text)` |
//! | `rtrim` | `RTRIM(text)` |
//! | `unicode`, and locales such as `de` or `"sv-x-icu"` | `COLLATION_KEY(text, locale)` |

use saltwing_sql::expr_span;
use saltwing_types::sql_type::TypeFamily;
use saltwing_types::{Expr, SqlType, ValueError, typing};
use sqlparser::ast::{self, ObjectName};

use crate::error::{BindError, BindErrorKind, Result};
use crate::lower::{Lower, LowerError, Lowerer};

/// How texts compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Collation {
    /// By their characters, as without it.
    Binary,
    /// By the results of a function.
    Function(&'static str),
    /// As in a locale.
    Locale(String),
}

impl Collation {
    fn of(name: &ObjectName) -> Result<Self> {
        let last = name.0.last().and_then(|part| part.as_ident()).map(|part| part.value.to_lowercase());
        let last = last.unwrap_or_default();
        let locale = last.strip_suffix("-x-icu").or(last.strip_suffix(".utf8")).unwrap_or(&last);
        Ok(match last.as_str() {
            "binary" | "c" | "posix" | "ucs_basic" | "default" => Self::Binary,
            "nocase" => Self::Function("LOWER"),
            "noaccent" => Self::Function("STRIP_ACCENTS"),
            "rtrim" => Self::Function("RTRIM"),
            "unicode" => Self::Locale("und".to_owned()),
            _ if is_locale(locale) => Self::Locale(locale.to_owned()),
            _ => {
                let error = BindError::from(BindErrorKind::NotSupported(format!("COLLATE {name}")));
                return Err(error.help("there are binary, nocase, noaccent, rtrim, unicode, and locales: de, sv_SE"));
            }
        })
    }

    /// What stands for a text in comparisons.
    ///
    /// # Errors
    /// A value that is no text.
    pub(crate) fn key(&self, value: Expr) -> Result<Expr> {
        if let Some(ty) = value.sql_type()
            && ty.family() != TypeFamily::Text
            && ty != SqlType::Null
        {
            let text = format!("COLLATE is for texts, and {value} is {ty}");
            return Err(BindError::from(ValueError::TypeMismatch(text)).at(value.span()));
        }
        Ok(match self {
            Self::Binary => value,
            Self::Function(name) => typing::call_named(name, vec![value])?,
            Self::Locale(locale) => typing::call_named("COLLATION_KEY", vec![value, typing::string(locale)])?,
        })
    }
}

/// Whether a name begins with a language of two or three letters, `und` too.
fn is_locale(name: &str) -> bool {
    let language = name.split(['_', '-']).next().unwrap_or_default();
    (2..=3).contains(&language.len()) && language.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Splits `expression COLLATE name` into the expression and the collation.
///
/// # Errors
/// A collation that there is not.
pub(crate) fn without_collation(e: &ast::Expr) -> Result<(&ast::Expr, Option<Collation>)> {
    match e {
        ast::Expr::Nested(inner) if matches!(**inner, ast::Expr::Nested(_) | ast::Expr::Collate { .. }) => {
            without_collation(inner)
        }
        ast::Expr::Collate { expr, collation } => {
            let collation = Collation::of(collation).map_err(|error| error.at(expr_span(expr)))?;
            match without_collation(expr)? {
                (inner, None) => Ok((inner, Some(collation))),
                _ => Err(BindError::from(BindErrorKind::Syntax("COLLATE stands twice".into())).at(expr_span(e))),
            }
        }
        _ => Ok((e, None)),
    }
}

impl Lowerer<'_> {
    /// Operands of a comparison: their keys if COLLATE stands behind one of them.
    pub(crate) fn operands<const N: usize>(
        &self,
        operands: [&ast::Expr; N],
    ) -> std::result::Result<[Expr; N], LowerError> {
        let mut collation: Option<Collation> = None;
        let mut lowered = Vec::with_capacity(N);
        for operand in operands {
            let (operand, own) = without_collation(operand)?;
            if let (Some(known), Some(own)) = (&collation, &own)
                && known != own
            {
                let error = BindErrorKind::Syntax("two texts with different COLLATE do not compare".into());
                return Err(BindError::from(error).at(expr_span(operand)).into());
            }
            collation = collation.or(own);
            lowered.push(self.lower(operand)?);
        }
        if let Some(collation) = collation {
            for value in &mut lowered {
                *value = collation.key(std::mem::replace(value, Expr::NULL))?;
            }
        }
        lowered.try_into().map_err(|_| BindError::bug("a comparison has lost an operand").into())
    }

    /// The operand before IN, and those of the list.
    pub(crate) fn listed(
        &self,
        left: &ast::Expr,
        list: &[ast::Expr],
    ) -> std::result::Result<(Expr, Vec<Expr>), LowerError> {
        let (left, collation) = without_collation(left)?;
        let (left, list) = (self.lower(left)?, self.all(list)?);
        let Some(collation) = collation else { return Ok((left, list)) };
        let list = list.into_iter().map(|item| collation.key(item)).collect::<Result<_>>()?;
        Ok((collation.key(left)?, list))
    }

    /// What an item of an order sorts by.
    pub(crate) fn sorted_by(&self, e: &ast::Expr) -> Lower {
        let (e, collation) = without_collation(e)?;
        let value = self.lower(e)?;
        match collation {
            Some(collation) => Ok(collation.key(value)?),
            None => Ok(value),
        }
    }

    /// `text COLLATE binary` as a value: nothing compares it otherwise.
    pub(crate) fn collated_value(&self, e: &ast::Expr) -> Lower {
        match without_collation(e)? {
            (inner, Some(Collation::Binary)) => Ok(Collation::Binary.key(self.lower(inner)?)?),
            _ => {
                let error = BindError::from(BindErrorKind::NotSupported("COLLATE here".into())).at(expr_span(e));
                let help = "it stands in ORDER BY, and beside =, <, BETWEEN and IN; LOWER(text) is a text without case";
                Err(error.help(help).into())
            }
        }
    }
}
