//! What entity types and components have in common: both are parts.

use proc_macro2::TokenStream;
use quote::quote;
use syn::DeriveInput;

use crate::attributes::Options;
use crate::fields::{self, NamedField};
use crate::mirror::{self, Missing};
use crate::names::name_of;

/// The impl of `Part` and the bytes, with `own` beside them: what only the one or the other has.
pub(crate) fn expand(
    input: &DeriveInput,
    options: &Options,
    fields: &[NamedField<'_>],
    own: &TokenStream,
) -> syn::Result<TokenStream> {
    let private = options.private();
    let ident = &input.ident;
    let name = name_of(ident, options.name.as_ref())?;
    let version = options.version.unwrap_or(1);
    let (persistent, table) = (fields::persistent(fields), fields::table(fields, &private));
    let serde = mirror::serde(input, options, Missing::Default)?;
    Ok(quote! {
        const _: () = {
            #serde

            #[automatically_derived]
            impl #private::Part for #ident {
                const NAME: &'static str = #name;
                const VERSION: u16 = #version;
                #persistent
                #table

                fn number() -> #private::PartNumber {
                    static CELL: #private::PartCell = #private::PartCell::new();
                    CELL.number()
                }
            }

            #own
        };
    })
}
