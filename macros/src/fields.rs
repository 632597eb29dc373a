//! The fields of an entity type, a component or a message, and the tables that describe them.
//!
//! Leaves out: their bytes (`mirror`).

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::ext::IdentExt;
use syn::{Data, DataStruct, DeriveInput, Fields};

use crate::attributes::FieldOptions;
use crate::names::type_text;

/// A field as the schema tells it.
pub(crate) struct NamedField<'a> {
    pub(crate) ident: &'a Ident,
    type_text: String,
    options: FieldOptions,
}

/// The fields of a struct that has names for them, or has none.
///
/// `what` is the word of an error, as in "an entity".
pub(crate) fn named<'a>(input: &'a DeriveInput, what: &str, attribute: &str) -> syn::Result<Vec<NamedField<'a>>> {
    if !input.generics.params.is_empty() {
        let text = format!("{what} has no generics: its name stands for one type on every node");
        return Err(syn::Error::new_spanned(&input.generics, text));
    }
    let no_names = |found: &str| format!("{what} has named fields, for JSON and the schema; {found}");
    match &input.data {
        Data::Struct(DataStruct { fields: Fields::Unit, .. }) => Ok(Vec::new()),
        Data::Struct(DataStruct { fields: Fields::Named(fields), .. }) => fields
            .named
            .iter()
            .filter_map(|field| Some((field.ident.as_ref()?, field)))
            .map(|(ident, field)| {
                let options = FieldOptions::read(&field.attrs, attribute)?;
                Ok(NamedField { ident, type_text: type_text(&field.ty), options })
            })
            .collect(),
        Data::Struct(DataStruct { fields: tuple @ Fields::Unnamed(_), .. }) => {
            Err(syn::Error::new_spanned(tuple, no_names("write `{ name: Type }`")))
        }
        Data::Enum(data) => {
            let text = no_names("put the enum into one, with `#[derive(State)]` on it");
            Err(syn::Error::new_spanned(data.enum_token, text))
        }
        Data::Union(data) => {
            Err(syn::Error::new_spanned(data.union_token, no_names("a union has no bytes of its own")))
        }
    }
}

/// The constant `FIELDS`.
pub(crate) fn table(fields: &[NamedField<'_>], private: &TokenStream) -> TokenStream {
    let rows = fields.iter().map(|NamedField { ident, type_text, options }| {
        let (name, travels, persistent) = (ident.unraw().to_string(), !options.transient, options.persistent);
        quote!(#private::Field { name: #name, rust_type: #type_text, travels: #travels, persistent: #persistent })
    });
    quote!(const FIELDS: &'static [#private::Field] = &[#(#rows),*];)
}

/// The constant `PERSISTENT`.
pub(crate) fn persistent(fields: &[NamedField<'_>]) -> TokenStream {
    let persistent = fields.iter().filter(|field| field.options.persistent);
    let names = persistent.map(|field| field.ident.unraw().to_string());
    quote!(const PERSISTENT: &'static [&'static str] = &[#(#names),*];)
}
