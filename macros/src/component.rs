//! `#[derive(Component)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::DeriveInput;

use crate::attributes::Options;
use crate::{fields, part};

pub(crate) fn expand(input: &DeriveInput) -> syn::Result<TokenStream> {
    let options = Options::read(&input.attrs, "component", &["name", "version", "crate"])?;
    let fields = fields::named(input, "a component", "component")?;
    let (private, ident) = (options.private(), &input.ident);
    let own = quote! {
        #[automatically_derived]
        impl #private::Component for #ident {}
        #private::register!(component #ident);
    };
    part::expand(input, &options, &fields, &own)
}
