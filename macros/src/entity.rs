//! `#[derive(Entity)]`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{DeriveInput, parse_quote};

use crate::attributes::{Options, Place};
use crate::fields::NamedField;
use crate::names::unknown;
use crate::{fields, part, shown_at};

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
    let flags = flags(&options, &private)?;
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

/// Those that are set, beside the parent's; a type without a parent begins with what every entity has.
fn flags(options: &Options, private: &TokenStream) -> syn::Result<TokenStream> {
    if let (Some(taken), Some(_)) = (options.flags.iter().find(|flag| !flag.set), &options.parent) {
        let text = "a type has all flags of its parent: only one without a `parent` can leave out a default";
        return Err(syn::Error::new_spanned(taken, text));
    }
    let first = if options.parent.is_some() { quote!(NONE) } else { quote!(DEFAULT) };
    let flags = options.flags.iter().fold(quote!(#private::Flags::#first), |flags, flag| {
        let constant = flag.constant(private);
        let change = if flag.set { quote!(with) } else { quote!(without) };
        quote_spanned!(shown_at(flag.span())=> #flags.#change(#constant))
    });
    Ok(quote!(const FLAGS: #private::Flags = #flags;))
}

fn components(options: &Options, private: &TokenStream) -> Option<TokenStream> {
    let listed = options
        .components
        .iter()
        .map(|component| quote_spanned!(shown_at(component.span())=> list.with::<#component>();));
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
        Place::Method(method) => quote_spanned!(shown_at(method.span())=> self.#method()),
        Place::Field(field) => {
            if !fields.iter().any(|known| known.ident == field) {
                let known: Vec<_> = fields.iter().map(|known| known.ident.to_string()).collect();
                let known: Vec<_> = known.iter().map(String::as_str).collect();
                return Err(unknown(field, "field", &known));
            }
            quote_spanned!(shown_at(field.span())=> self.#field)
        }
    };
    let option = quote!(::core::option::Option);
    Ok(quote! {
        fn position(&self) -> #option<#private::Position> {
            #option::Some(#read)
        }
    })
}
