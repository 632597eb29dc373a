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
//! Where the type of a field has no bytes, that is said once, at the field: a constant knows it, and has serde look at
//! stand-ins, with which it has no quarrel. They never run.
//!
//! Keeps: fields travel in the order in which they are written; a struct without fields is `{}` in JSON, however it
//! is written.
//! Leaves out: what the fields' types do to become bytes; serde asks them.

use std::mem;

use proc_macro2::{Ident, TokenStream};
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
    let mut mirror = mirror(input, options.attribute)?;
    let (ident, generics) = (&input.ident, &input.generics);
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

    let Own { beside, remote_type, own, lend, take } = if generics.params.is_empty() {
        Own::checked(ident, &mut mirror, &private)
    } else {
        Own::unchecked(&quote!(#ident #arguments))
    };
    // Serde's remote derive reads the mirror's fields by their names and never makes one; whether a compiler calls that
    // dead depends on the shape, so that `expect` would fail for some.
    Ok(quote! {
        #beside
        const _: () = {
            #remote_type

            #[derive(#serde::Serialize, #serde::Deserialize)]
            #[serde(remote = #remote, crate = #serde_text, #default #bounds, deny_unknown_fields)]
            #[allow(dead_code)]
            #mirror

            #[automatically_derived]
            impl #serialize_impl #serde::Serialize for #own #serialize_where {
                fn serialize<__S: #serde::Serializer>(
                    &self,
                    serializer: __S,
                ) -> ::core::result::Result<__S::Ok, __S::Error> {
                    #mirror_path::serialize(#lend(self), serializer)
                }
            }

            #[automatically_derived]
            impl #deserialize_impl #serde::Deserialize<'__de> for #own #deserialize_where {
                fn deserialize<__D: #serde::Deserializer<'__de>>(
                    deserializer: __D,
                ) -> ::core::result::Result<Self, __D::Error> {
                    ::core::result::Result::map(#mirror_path::deserialize(deserializer), #take)
                }
            }
        };
    })
}

/// The type, as the block of its mirror names it.
struct Own {
    /// Beside that block, where the type has its own name.
    beside: TokenStream,
    /// What has the type's name in it.
    remote_type: TokenStream,
    own: TokenStream,
    /// From a reference to the type to one of that name.
    lend: TokenStream,
    /// Back.
    take: TokenStream,
}

impl Own {
    /// A generic type: whether its fields travel depends.
    fn unchecked(own: &TokenStream) -> Self {
        let (nothing, itself) = (TokenStream::new(), quote!(::core::convert::identity));
        Self { beside: nothing.clone(), remote_type: nothing, own: own.clone(), lend: itself.clone(), take: itself }
    }

    /// Asks each field whether it travels. If one does not, that is the error, and serde is given the mirror itself in
    /// place of the type, and `()` in place of the field, so that it finds nothing to add.
    fn checked(ident: &Ident, mirror: &mut DeriveInput, private: &TokenStream) -> Self {
        let (mut asked, mut all) = (TokenStream::new(), quote!(true));
        for (number, field) in fields_mut(&mut mirror.data).into_iter().enumerate() {
            let (stands, answer) = (format_ident!("__Field{number}"), format_ident!("__FIELD_{number}"));
            let ty = mem::replace(&mut field.ty, parse_quote!(#stands));
            let is_transient = !field.attrs.is_empty();
            if is_transient {
                asked.extend(quote!(type #stands = #ty;));
                continue;
            }
            let question = quote_spanned!(shown_at(ty.span())=> #private::travels::<#ty>());
            asked.extend(quote! {
                const _: fn() = || #question;
                const #answer: bool = #private::Question::<#ty>::TRAVELS;
                type #stands = <#ty as #private::Stands<{ #answer }, ()>>::Type;
            });
            all.extend(quote!(&& #answer));
        }
        let stands = quote!(#private::Stands<{ #all }, __Mirror>);
        Self {
            // The trait has the constants of those that do not travel; mostly there are none.
            beside: quote!(#[allow(unused_imports)] use #private::Otherwise as _; type __Own = #ident; #asked),
            remote_type: quote! {
                type #ident = <__Own as #stands>::Type;

                impl ::core::default::Default for __Mirror {
                    fn default() -> Self {
                        ::core::unreachable!()
                    }
                }
            },
            own: quote!(__Own),
            lend: quote!(<__Own as #stands>::lend),
            take: quote!(<__Own as #stands>::take),
        }
    }
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

fn fields_mut(data: &mut Data) -> Vec<&mut Field> {
    match data {
        Data::Struct(data) => data.fields.iter_mut().collect(),
        Data::Enum(data) => data.variants.iter_mut().flat_map(|variant| &mut variant.fields).collect(),
        Data::Union(_) => Vec::new(),
    }
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
