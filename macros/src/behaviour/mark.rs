//! Our attributes on a method: `#[from(..)]`, `#[hook]`, `#[migrate_from(..)]`.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::punctuated::Punctuated;
use syn::{Attribute, LitInt, Meta, Token};

use crate::attributes::version;
use crate::names::unknown;

/// What a method is marked as.
#[derive(Default)]
pub(super) enum Mark {
    #[default]
    None,
    /// `#[from(client)]`, `#[from(cluster)]`
    From(Callers),
    /// `#[hook]`, or `#[hook(name)]`
    Hook(Option<Ident>),
    /// `#[migrate_from(1)]`
    MigrateFrom(LitInt),
}

/// Who may call a handler; at least one.
#[derive(Clone, Copy, Default)]
pub(super) struct Callers {
    client: bool,
    cluster: bool,
}

impl Mark {
    /// Takes our attributes from among those of a method.
    pub(super) fn take(attributes: &mut Vec<Attribute>) -> syn::Result<Self> {
        let mut mark = Ok(Self::None);
        attributes.retain(|attribute| {
            let known = ["from", "hook", "migrate_from"].into_iter().find(|name| attribute.path().is_ident(name));
            if let (Some(name), Ok(earlier)) = (known, &mut mark) {
                mark = std::mem::take(earlier).and(name, attribute);
            }
            known.is_none()
        });
        mark
    }

    fn and(self, name: &str, attribute: &Attribute) -> syn::Result<Self> {
        match (self, name) {
            (Self::None, "from") => Ok(Self::From(Callers::default().and(attribute)?)),
            (Self::From(callers), "from") => Ok(Self::From(callers.and(attribute)?)),
            (Self::None, "hook") => match &attribute.meta {
                Meta::Path(_) => Ok(Self::Hook(None)),
                Meta::List(_) | Meta::NameValue(_) => Ok(Self::Hook(Some(attribute.parse_args()?))),
            },
            (Self::None, "migrate_from") => {
                let from = attribute.parse_args()?;
                version(&from)?;
                Ok(Self::MigrateFrom(from))
            }
            _ => {
                let text = "a method is a handler, a hook or a migration: `from`, `hook` and `migrate_from` exclude each other";
                Err(syn::Error::new_spanned(attribute, text))
            }
        }
    }
}

impl Callers {
    fn and(mut self, attribute: &Attribute) -> syn::Result<Self> {
        let nobody =
            || syn::Error::new_spanned(attribute, "who may call? `#[from(client)]`, `#[from(cluster)]`, or both");
        if let Meta::Path(_) = attribute.meta {
            return Err(nobody());
        }
        let callers = attribute.parse_args_with(Punctuated::<Ident, Token![,]>::parse_terminated)?;
        for caller in &callers {
            if caller == "client" {
                self.client = true;
            } else if caller == "cluster" {
                self.cluster = true;
            } else {
                return Err(unknown(caller, "caller", &["client", "cluster"]));
            }
        }
        if callers.is_empty() { Err(nobody()) } else { Ok(self) }
    }

    pub(super) fn constant(self, private: &TokenStream) -> TokenStream {
        match (self.client, self.cluster) {
            (true, true) => quote!(#private::Callers::ANY),
            (true, false) => quote!(#private::Callers::CLIENT),
            (false, _) => quote!(#private::Callers::CLUSTER),
        }
    }
}
