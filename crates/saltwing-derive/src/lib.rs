//! Derives of `saltwing`: [`FromRow`] reads rows as structs, [`IntoParams`] passes structs as parameters.
//!
//! The library exports both with its feature `derive`; its documentation has examples that run.

use proc_macro::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, Generics, Index, Type, parse_macro_input, parse_quote};

mod field;

use field::FieldOptions;

/// Reads a row as a struct: each field takes the column of its name, in any case; a tuple struct takes the columns in their
/// order, and all of them.
///
/// `#[saltwing(rename = "column")]` names another column, `#[saltwing(default)]` takes `Default::default()` if the row has no
/// such column, and `#[saltwing(skip)]` always takes it.
#[proc_macro_derive(FromRow, attributes(saltwing))]
pub fn from_row(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expanded(row_reader(&input))
}

/// Passes a struct, or a reference to one whose fields are `Clone`, as parameters: fields by their names, for `:name`; the
/// fields of a tuple struct by their order, for `?`.
///
/// `#[saltwing(rename = "parameter")]` names another parameter, and `#[saltwing(skip)]` leaves a field out.
#[proc_macro_derive(IntoParams, attributes(saltwing))]
pub fn into_params(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expanded(parameters(&input))
}

fn expanded(result: syn::Result<proc_macro2::TokenStream>) -> TokenStream {
    result.unwrap_or_else(Error::into_compile_error).into()
}

fn row_reader(input: &DeriveInput) -> syn::Result<proc_macro2::TokenStream> {
    let (name, fields) = (&input.ident, fields_of(input)?);
    let generics = with_bound(&input.generics, fields, |ty| parse_quote!(#ty: ::saltwing::FromValue))?;
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let mut values = Vec::new();
    let mut width = 0_usize;
    for field in fields {
        let options = FieldOptions::of(field)?;
        let column = match options.name(field) {
            Some(label) => quote!(#label),
            None => quote!(#width),
        };
        let value = match (options.skip, options.default) {
            (true, _) => quote!(::core::default::Default::default()),
            (false, true) => quote! {
                match ::saltwing::ColumnIndex::place(&#column, row.columns()) {
                    ::core::option::Option::Some(place) => row.get(place)?,
                    ::core::option::Option::None => ::core::default::Default::default(),
                }
            },
            (false, false) => quote!(row.get(#column)?),
        };
        width += usize::from(!options.skip);
        values.push(match &field.ident {
            Some(ident) => quote!(#ident: #value),
            None => value,
        });
    }
    let (made, check) = match fields {
        Fields::Named(_) => (quote!(Self { #(#values),* }), None),
        _ => (quote!(Self(#(#values),*)), Some(quote!(row.check_width(#width)?;))),
    };
    Ok(quote! {
        #[automatically_derived]
        impl #impl_generics ::saltwing::FromRow for #name #type_generics #where_clause {
            fn from_row(row: &::saltwing::Row) -> ::core::result::Result<Self, ::saltwing::Error> {
                #check
                ::core::result::Result::Ok(#made)
            }
        }
    })
}

fn parameters(input: &DeriveInput) -> syn::Result<proc_macro2::TokenStream> {
    let (name, fields) = (&input.ident, fields_of(input)?);
    let owned = with_bound(&input.generics, fields, |ty| parse_quote!(::saltwing::Value: ::core::convert::From<#ty>))?;
    let cloned = with_bound(&owned, fields, |ty| parse_quote!(#ty: ::core::clone::Clone))?;
    let (mut moved, mut copied) = (Vec::new(), Vec::new());
    for (place, field) in fields.iter().enumerate() {
        let options = FieldOptions::of(field)?;
        if options.default {
            return Err(Error::new_spanned(field, "`default` is for FromRow: a parameter has the field's value"));
        }
        if options.skip {
            continue;
        }
        let access = match &field.ident {
            Some(ident) => quote!(#ident),
            None => {
                let index = Index::from(place);
                quote!(#index)
            }
        };
        let with_name = |value: proc_macro2::TokenStream| match options.name(field) {
            Some(name) => quote!((::std::string::String::from(#name), #value)),
            None => value,
        };
        moved.push(with_name(quote!(::saltwing::Value::from(self.#access))));
        copied.push(with_name(quote!(::saltwing::Value::from(::core::clone::Clone::clone(&self.#access)))));
    }
    let kind = if matches!(fields, Fields::Named(_)) { quote!(Named) } else { quote!(Positional) };
    let (impl_generics, type_generics, where_clause) = owned.split_for_impl();
    let (_, _, cloned_where) = cloned.split_for_impl();
    Ok(quote! {
        #[automatically_derived]
        impl #impl_generics ::saltwing::IntoParams for #name #type_generics #where_clause {
            fn into_params(self) -> ::saltwing::Params {
                ::saltwing::Params::#kind(::std::vec![#(#moved),*])
            }
        }
        #[automatically_derived]
        impl #impl_generics ::saltwing::IntoParams for &#name #type_generics #cloned_where {
            fn into_params(self) -> ::saltwing::Params {
                ::saltwing::Params::#kind(::std::vec![#(#copied),*])
            }
        }
    })
}

fn fields_of(input: &DeriveInput) -> syn::Result<&Fields> {
    match &input.data {
        Data::Struct(data) if !data.fields.is_empty() => Ok(&data.fields),
        _ => Err(Error::new_spanned(&input.ident, "a row is a struct with fields")),
    }
}

/// The generics with a bound for each field whose type has a parameter of the struct in it.
fn with_bound(
    generics: &Generics,
    fields: &Fields,
    bound: impl Fn(&Type) -> syn::WherePredicate,
) -> syn::Result<Generics> {
    let mut bounded = generics.clone();
    if generics.type_params().next().is_none() {
        return Ok(bounded);
    }
    for field in fields {
        if !FieldOptions::of(field)?.skip {
            bounded.make_where_clause().predicates.push(bound(&field.ty));
        }
    }
    Ok(bounded)
}
