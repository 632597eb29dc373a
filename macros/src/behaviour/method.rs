//! One method of a `#[handlers]` block, and what its mark and its signature make of it.
//!
//! ```text
//! #[from(client)] #[from(cluster)]   handler of the message that is its first parameter
//! #[hook], #[hook(arrived)]          the hook of its own name, or of the one that is given
//! #[migrate_from(1)]                 reads version 1 of the part
//! no mark, takes an `Answered<M>`    handler of the answer to an `M` that the entity asked
//! no mark                            a method like any other
//! ```

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, FnArg, GenericArgument, ImplItemFn, LitInt, PathArguments, PathSegment, Receiver, ReturnType};
use syn::{Signature, Type};

use super::hook::{HOOKS, Hook};
use super::mark::{Callers, Mark};
use crate::names::unknown;
use crate::shown_at;

/// A method that the part's behaviour calls.
pub(super) struct Method {
    pub(super) ident: Ident,
    pub(super) role: Role,
    takes_context: bool,
    /// The `#[cfg(..)]` that it stands under.
    pub(super) conditions: Vec<Attribute>,
    /// Where an error about what it returns is shown.
    output: Span,
}

pub(super) enum Role {
    Handler { callers: Callers, message: Type },
    Answer { message: Type },
    Hook(&'static Hook),
    Migration { from: LitInt, old: Type },
}

impl Method {
    /// Takes our mark from a method. `None` if it is one like any other.
    pub(super) fn take(item: &mut ImplItemFn) -> syn::Result<Option<Self>> {
        let mark = Mark::take(&mut item.attrs)?;
        let signature = &item.sig;
        let parameters = Parameters::of(signature);
        let Some(role) = parameters.role(mark, signature)? else { return Ok(None) };
        let output = match &signature.output {
            ReturnType::Default => signature.ident.span(),
            ReturnType::Type(_, output) => output.span(),
        };
        let conditions = item.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg")).cloned().collect();
        let (ident, takes_context) = (signature.ident.clone(), parameters.context.is_some());
        Ok(Some(Self { ident, role, takes_context, conditions, output }))
    }

    /// How the context is bound, and passed on as the last argument, if the method takes it.
    pub(super) fn context(&self) -> (TokenStream, TokenStream) {
        if self.takes_context { (quote!(cx), quote!(, cx)) } else { (quote!(_), TokenStream::new()) }
    }

    /// The call of the method.
    pub(super) fn call(&self, arguments: TokenStream) -> TokenStream {
        let at = shown_at(self.output);
        let mut called = self.ident.clone();
        called.set_span(at);
        quote_spanned!(at=> Self::#called(#arguments))
    }
}

/// The parameters of a method by their place: `(&mut self, others, cx: &mut Context<'_>)`.
struct Parameters<'a> {
    receiver: Option<&'a Receiver>,
    others: Vec<&'a Type>,
    context: Option<&'a Type>,
}

impl<'a> Parameters<'a> {
    fn of(signature: &'a Signature) -> Self {
        let typed = signature.inputs.iter().filter_map(|input| match input {
            FnArg::Receiver(_) => None,
            FnArg::Typed(typed) => Some(&*typed.ty),
        });
        let mut others: Vec<_> = typed.collect();
        let context = others.pop_if(|last| is_context(last));
        Self { receiver: signature.receiver(), others, context }
    }

    fn role(&self, mark: Mark, signature: &Signature) -> syn::Result<Option<Role>> {
        let role = match mark {
            Mark::None => match self.unmarked(signature)? {
                Some(role) => role,
                None => return Ok(None),
            },
            Mark::From(callers) => Role::Handler { callers, message: self.message(signature)?.clone() },
            Mark::Hook(name) => Role::Hook(self.hook(name.as_ref().unwrap_or(&signature.ident), signature)?),
            Mark::MigrateFrom(from) => Role::Migration { from, old: self.old(signature)?.clone() },
        };
        if let Some(word) = &signature.asyncness {
            let text = "handlers are synchronous: `ask`, and take the answer as a message, `Answered<M>`";
            return Err(syn::Error::new_spanned(word, text));
        }
        Ok(Some(role))
    }

    /// A method without a mark: it may take an answer, which nobody but the one that was asked can send.
    fn unmarked(&self, signature: &Signature) -> syn::Result<Option<Role>> {
        if let (Some(_), [only]) = (self.receiver, &*self.others)
            && let Some(message) = answered(only)
        {
            self.check_receiver(signature)?;
            return Ok(Some(Role::Answer { message: message.clone() }));
        }
        if let (Some(hook), Some(_), Some(_)) = (Hook::find(&signature.ident), self.receiver, self.context) {
            let text = format!("`{}` is the name of a hook: write `#[hook]` above it, or give it another", hook.name);
            return Err(syn::Error::new(signature.ident.span(), text));
        }
        Ok(None)
    }

    fn message(&self, signature: &Signature) -> syn::Result<&'a Type> {
        self.check_receiver(signature)?;
        let ident = &signature.ident;
        match &*self.others {
            [Type::Reference(borrowed)] => {
                Err(syn::Error::new_spanned(borrowed, "a handler gets its message as a value, not borrowed"))
            }
            [message] if answered(message).is_some() => {
                let text = "an answer comes from whoever was asked: a handler for it has no `#[from(..)]`";
                Err(syn::Error::new_spanned(message, text))
            }
            [message] => Ok(message),
            [] => {
                let text = format!("a handler takes a message: `fn {ident}(&mut self, message: Message)`");
                Err(syn::Error::new(ident.span(), text))
            }
            [_, second, ..] => {
                let text = "a handler takes one message, and after it `cx: &mut Context<'_>` or nothing";
                Err(syn::Error::new_spanned(second, text))
            }
        }
    }

    fn hook(&self, name: &Ident, signature: &Signature) -> syn::Result<&'static Hook> {
        let names = HOOKS.map(|hook| hook.name);
        let hook = Hook::find(name).ok_or_else(|| unknown(name, "hook", &names))?;
        self.check_receiver(signature)?;
        if self.others.len() == usize::from(hook.argument.is_some()) {
            return Ok(hook);
        }
        let text = format!("the hook is `{}`; `cx` may be left out", hook.signature());
        Err(syn::Error::new_spanned(&signature.inputs, text))
    }

    fn old(&self, signature: &Signature) -> syn::Result<&'a Type> {
        match (self.receiver, &*self.others, self.context) {
            (None, [old], None) => Ok(old),
            _ => {
                let text =
                    format!("a migration makes the part of its old state: `fn {}(old: Old) -> Self`", signature.ident);
                Err(syn::Error::new_spanned(&signature.inputs, text))
            }
        }
    }

    fn check_receiver(&self, signature: &Signature) -> syn::Result<()> {
        let text = "a handler or hook begins with `&mut self`, the part that it belongs to";
        match self.receiver {
            Some(Receiver { reference: Some(_), colon_token: None, .. }) => Ok(()),
            Some(other) => Err(syn::Error::new_spanned(other, text)),
            None => Err(syn::Error::new(signature.ident.span(), text)),
        }
    }
}

fn is_context(ty: &Type) -> bool {
    matches!(ty, Type::Reference(to) if to.mutability.is_some() && last(&to.elem).is_some_and(|last| last.ident == "Context"))
}

/// The `M` of `Answered<M>`.
fn answered(ty: &Type) -> Option<&Type> {
    let PathArguments::AngleBracketed(arguments) = &last(ty).filter(|last| last.ident == "Answered")?.arguments else {
        return None;
    };
    if let Some(GenericArgument::Type(message)) = arguments.args.first() { Some(message) } else { None }
}

fn last(ty: &Type) -> Option<&PathSegment> {
    if let Type::Path(path) = ty { path.path.segments.last() } else { None }
}
