//! `#[derive(State)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, GenericParam};

use crate::attributes::Options;
use crate::mirror::{self, Missing};

pub(crate) fn expand(input: &DeriveInput) -> syn::Result<TokenStream> {
    let options = Options::read(&input.attrs, "state", &["default", "crate"])?;
    let borrowed = input.generics.params.iter().find(|parameter| matches!(parameter, GenericParam::Lifetime(_)));
    if let Some(lifetime) = borrowed {
        return Err(syn::Error::new_spanned(lifetime, "state travels, so it owns its data: it has no lifetime"));
    }
    if let (Some(span), Data::Enum(_)) = (options.span_of("default"), &input.data) {
        return Err(syn::Error::new(span, "`default` is for the fields of a struct: an enum has to say which it is"));
    }
    let missing = if options.default { Missing::Default } else { Missing::Error };
    let serde = mirror::serde(input, &options, missing)?;
    Ok(quote!(const _: () = { #serde };))
}
