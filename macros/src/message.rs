//! `#[derive(Message)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, parse_quote};

use crate::attributes::Options;
use crate::fields;
use crate::mirror::{self, Missing};
use crate::names::name_of;

pub(crate) fn expand(input: &DeriveInput) -> syn::Result<TokenStream> {
    let options = Options::read(&input.attrs, "message", &["name", "answer", "crate"])?;
    let fields = fields::named(input, "a message", "message")?;
    let (private, ident) = (options.private(), &input.ident);
    let name = name_of(ident, options.name.as_ref())?;
    let table = fields::table(&fields, &private);
    let answer = options.answer.clone().unwrap_or_else(|| parse_quote!(()));
    let serde = mirror::serde(input, &options, Missing::Error)?;
    Ok(quote! {
        const _: () = {
            #serde

            #[automatically_derived]
            impl #private::Message for #ident {
                const NAME: &'static str = #name;
                #table
                type Answer = #answer;
            }
        };
    })
}
