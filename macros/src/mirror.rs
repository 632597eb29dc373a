//! The bytes of a type: serde's own, by its remote derive.
//!
//! A mirror of the type, in a block that nobody can name, says which fields travel; the type's two impls call it.
//! So a game needs no serde, and a type has the bytes that the same one with serde's derives has.
//!
//! ```text
//! struct Health { hp: u32, #[component(transient)] seen: u8 }
//!
//! #[serde(remote = "Health", default, deny_unknown_fields)]
//! struct __Mirror { hp: u32, #[serde(skip)] seen: u8 }
//! ```
//!
//! Keeps: fields travel in the order in which they are written; a struct without fields is `{}` in JSON, however it
//! is written.
//! Leaves out: what the fields' types do to become bytes; serde asks them.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Field, Fields, FieldsNamed, Generics, Visibility, parse_quote};

use crate::attributes::{FieldOptions, Options};
use crate::shown_at;

/// What a field is that is not in the text that a type is read from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// As in the type's `Default`; so is one that does not travel.
    Default,
    /// An error; one that does not travel is as in the `Default` of its own type.
    Error,
}

/// The mirror and the two impls. They stand in a block of their own.
pub(crate) fn serde(input: &DeriveInput, options: &Options, missing: Missing) -> syn::Result<TokenStream> {
    let private = options.private();
    let serde = quote!(#private::serde);
    let mirror = mirror(input, options.attribute)?;
    let (ident, generics) = (&input.ident, &mirror.generics);
    let (_, arguments, _) = generics.split_for_impl();
    let remote = ident.to_string();
    let serde_text = serde.to_string();
    let bounds = bounds(generics, &serde);
    let default = (missing == Missing::Default && has_fields(&mirror.data)).then(|| quote!(default,));

    let serialize_generics = with_bound(generics, &quote!(#serde::Serialize));
    let (serialize_impl, _, serialize_where) = serialize_generics.split_for_impl();
    let mut deserialize_generics = with_bound(generics, &quote!(#serde::de::DeserializeOwned));
    deserialize_generics.params.insert(0, parse_quote!('__de));
    let (deserialize_impl, _, deserialize_where) = deserialize_generics.split_for_impl();
    let mirror_path = quote!(<__Mirror #arguments>);

    let travelling = travelling(&mirror, &private);
    // Serde's remote derive reads the mirror's fields by their names and never makes one; whether a compiler calls that
    // dead depends on the shape, so that `expect` would fail for some.
    Ok(quote! {
        #travelling

        #[derive(#serde::Serialize, #serde::Deserialize)]
        #[serde(remote = #remote, crate = #serde_text, #default #bounds, deny_unknown_fields)]
        #[allow(dead_code)]
        #mirror

        #[automatically_derived]
        impl #serialize_impl #serde::Serialize for #ident #arguments #serialize_where {
            fn serialize<__S: #serde::Serializer>(
                &self,
                serializer: __S,
            ) -> ::core::result::Result<__S::Ok, __S::Error> {
                #mirror_path::serialize(self, serializer)
            }
        }

        #[automatically_derived]
        impl #deserialize_impl #serde::Deserialize<'__de> for #ident #arguments #deserialize_where {
            fn deserialize<__D: #serde::Deserializer<'__de>>(
                deserializer: __D,
            ) -> ::core::result::Result<Self, __D::Error> {
                #mirror_path::deserialize(deserializer)
            }
        }
    })
}

/// The type under another name, with nothing but what serde must know.
fn mirror(input: &DeriveInput, attribute: &str) -> syn::Result<DeriveInput> {
    let mut mirror = input.clone();
    mirror.ident = format_ident!("__Mirror");
    mirror.vis = Visibility::Inherited;
    mirror.attrs.clear();
    match &mut mirror.data {
        Data::Struct(data) => {
            if let Fields::Unit = data.fields {
                data.fields = Fields::Named(FieldsNamed { brace_token: Default::default(), named: Default::default() });
                data.semi_token = None;
            }
            data.fields.iter_mut().try_for_each(|field| strip(field, attribute))?;
        }
        Data::Enum(data) => {
            for variant in &mut data.variants {
                variant.attrs.clear();
                variant.discriminant = None;
                variant.fields.iter_mut().try_for_each(|field| strip(field, attribute))?;
            }
        }
        Data::Union(data) => return Err(syn::Error::new_spanned(data.union_token, "a union has no bytes of its own")),
    }
    Ok(mirror)
}

fn strip(field: &mut Field, attribute: &str) -> syn::Result<()> {
    let options = FieldOptions::read(&field.attrs, attribute)?;
    field.vis = Visibility::Inherited;
    field.attrs.clear();
    if options.transient {
        field.attrs.push(parse_quote!(#[serde(skip)]));
    }
    Ok(())
}

/// Asks the types of the fields whether they travel, before serde does. In a generic type that depends.
fn travelling(mirror: &DeriveInput, private: &TokenStream) -> Option<TokenStream> {
    let fields: Vec<_> = match &mirror.data {
        Data::Struct(data) => data.fields.iter().collect(),
        Data::Enum(data) => data.variants.iter().flat_map(|variant| &variant.fields).collect(),
        Data::Union(_) => Vec::new(),
    };
    let types = fields.iter().filter(|field| field.attrs.is_empty()).map(|field| &field.ty);
    let questions = types.map(|ty| quote_spanned!(shown_at(ty.span())=> #private::travels::<#ty>();));
    mirror.generics.params.is_empty().then(|| quote!(const _: fn() = || { #(#questions)* };))
}

fn has_fields(data: &Data) -> bool {
    matches!(data, Data::Struct(data) if !data.fields.is_empty())
}

fn with_bound(generics: &Generics, bound: &TokenStream) -> Generics {
    let mut generics = generics.clone();
    for parameter in generics.type_params_mut() {
        parameter.bounds.push(parse_quote!(#bound));
    }
    generics
}

/// The bounds of the mirror, which serde would otherwise guess from the fields; without any it would ask for a mirror
/// that has a `Default`.
fn bounds(generics: &Generics, serde: &TokenStream) -> TokenStream {
    let bound = |name: TokenStream| {
        let parameters = generics.type_params().map(|parameter| &parameter.ident);
        quote!(#(#parameters: #name),*).to_string()
    };
    let (serialize, deserialize) = (bound(quote!(#serde::Serialize)), bound(quote!(#serde::de::DeserializeOwned)));
    quote!(bound(serialize = #serialize, deserialize = #deserialize))
}
