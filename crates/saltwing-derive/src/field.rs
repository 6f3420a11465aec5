//! The options of a field: `#[saltwing(..)]`.

use syn::ext::IdentExt;
use syn::{Field, LitStr};

/// What a field says of itself.
#[derive(Default)]
pub(crate) struct FieldOptions {
    rename: Option<String>,
    /// Takes its type's default if there is no such column.
    pub(crate) default: bool,
    /// Is no column, and no parameter.
    pub(crate) skip: bool,
}

impl FieldOptions {
    pub(crate) fn of(field: &Field) -> syn::Result<Self> {
        let mut options = Self::default();
        for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("saltwing")) {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("rename") {
                    options.rename = Some(meta.value()?.parse::<LitStr>()?.value());
                } else if meta.path.is_ident("default") {
                    options.default = true;
                } else if meta.path.is_ident("skip") {
                    options.skip = true;
                } else {
                    return Err(meta.error("expected rename, default or skip"));
                }
                Ok(())
            })?;
        }
        if options.rename.is_some() && field.ident.is_none() {
            return Err(syn::Error::new_spanned(field, "a field without a name is a column by its place"));
        }
        Ok(options)
    }

    /// The name of its column or parameter; `None` of a field without a name.
    pub(crate) fn name(&self, field: &Field) -> Option<String> {
        let ident = field.ident.as_ref()?;
        Some(self.rename.clone().unwrap_or_else(|| ident.unraw().to_string()))
    }
}
