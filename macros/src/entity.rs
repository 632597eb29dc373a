//! `#[derive(Entity)]`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{DeriveInput, parse_quote};

use crate::attributes::{Options, Place};
use crate::fields::NamedField;
use crate::names::unknown;
use crate::{fields, part};

const KEYS: [&str; 9] = ["name", "version", "parent", "kind", "flags", "components", "abstract", "position", "crate"];

pub(crate) fn expand(input: &DeriveInput) -> syn::Result<TokenStream> {
    let options = Options::read(&input.attrs, "entity", &KEYS)?;
    let fields = fields::named(input, "an entity", "entity")?;
    if let (true, Some(kind)) = (options.is_abstract, &options.kind) {
        let text = "an `abstract` entity is never created, so no client is shown one: it has no `kind`";
        return Err(syn::Error::new(kind.span(), text));
    }
    let (private, ident) = (options.private(), &input.ident);
    let parent = options.parent.clone().unwrap_or_else(|| parse_quote!(()));
    let is_abstract = options.is_abstract;
    let flags = flags(&options, &private);
    let kind = options
        .kind
        .as_ref()
        .map(|kind| quote!(const CLIENT_KIND: ::core::option::Option<u8> = ::core::option::Option::Some(#kind);));
    let components = components(&options, &private);
    let position = options.position.as_ref().map(|place| position(place, &fields, &private)).transpose()?;
    let own = quote! {
        #[automatically_derived]
        impl #private::Entity for #ident {
            type Parent = #parent;
            const ABSTRACT: bool = #is_abstract;
            #flags
            #kind
            #components
            #position
        }
        #private::register!(entity #ident);
    };
    part::expand(input, &options, &fields, &own)
}

/// What every entity has, with those that are set and without those that are not.
fn flags(options: &Options, private: &TokenStream) -> TokenStream {
    let flags = options.flags.iter().fold(quote!(#private::Flags::DEFAULT), |flags, flag| {
        let constant = flag.constant(private);
        let change = if flag.set { quote!(with) } else { quote!(without) };
        quote_spanned!(flag.span()=> #flags.#change(#constant))
    });
    quote!(const FLAGS: #private::Flags = #flags;)
}

fn components(options: &Options, private: &TokenStream) -> Option<TokenStream> {
    let listed =
        options.components.iter().map(|component| quote_spanned!(component.span()=> list.with::<#component>();));
    let listed: Vec<_> = listed.collect();
    (!listed.is_empty()).then(|| {
        quote! {
            fn components(list: &mut #private::ComponentList) {
                #(#listed)*
            }
        }
    })
}

fn position(place: &Place, fields: &[NamedField<'_>], private: &TokenStream) -> syn::Result<TokenStream> {
    let read = match place {
        Place::Method(method) => quote_spanned!(method.span()=> self.#method()),
        Place::Field(field) => {
            if !fields.iter().any(|known| known.ident == field) {
                let known: Vec<_> = fields.iter().map(|known| known.ident.to_string()).collect();
                let known: Vec<_> = known.iter().map(String::as_str).collect();
                return Err(unknown(field, "field", &known));
            }
            quote_spanned!(field.span()=> self.#field)
        }
    };
    let option = quote!(::core::option::Option);
    Ok(quote! {
        fn position(&self) -> #option<#private::Position> {
            #option::Some(#read)
        }
    })
}
