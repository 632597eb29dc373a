//! `#[handlers]`: an impl block becomes what a part does.
//!
//! The methods stay as they are, so that a test calls them like any other. Beside them stands an impl of `Behaviour`,
//! which puts the handlers into the table of their type and calls the hooks.
//!
//! ```text
//! #[from(client)] fn hit(&mut self, hit: Hit) -> u32    table.on::<Hit>(Callers::CLIENT, ..)
//! fn was_hit(&mut self, answer: Answered<Hit>)          table.on_answer::<Hit>(..)
//! #[migrate_from(1)] fn old(old: HealthV1) -> Self      table.migrate_from::<HealthV1>(1, ..)
//! #[hook] fn arrived(&mut self)                         fn arrived(&mut self, cx: ..) { Self::arrived(self) }
//! ```
//!
//! Keeps: one handler per message, one method per hook.
//! Leaves out: what a message is and who else handles it; the type registry sees all parts of a type.

mod hook;
mod mark;
mod method;

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{ImplItem, ItemImpl, Type};

use self::method::{Method, Role};
use crate::attributes::Options;
use crate::names::type_text;
use crate::shown_at;

pub(crate) fn expand(arguments: TokenStream, mut block: ItemImpl) -> TokenStream {
    let mut faults = Vec::new();
    let options = Options::read_handlers(arguments).unwrap_or_else(|fault| {
        faults.push(fault);
        Options::default()
    });
    let mut methods = read_methods(&mut block, &mut faults);
    faults.extend(twins(&methods));
    if !faults.is_empty() {
        // A behaviour that does nothing: else every use of the part would be an error, too.
        methods.clear();
    }
    let behaviour = check_block(&block).map(|()| behaviour(&block, &methods, &options.private()));
    let behaviour = behaviour.unwrap_or_else(|fault| fault.to_compile_error());
    let faults = faults.iter().map(syn::Error::to_compile_error);
    quote! {
        #block
        #behaviour
        #(#faults)*
    }
}

fn check_block(block: &ItemImpl) -> syn::Result<()> {
    if let Some((_, of, _)) = &block.trait_ {
        let text = "`#[handlers]` stands on `impl Type { .. }`; it writes the impl of `Behaviour` itself";
        return Err(syn::Error::new_spanned(of, text));
    }
    if !block.generics.params.is_empty() {
        let text = "a part has no generics: its name stands for one type on every node";
        return Err(syn::Error::new_spanned(&block.generics, text));
    }
    Ok(())
}

/// Reads all methods and takes our marks from them.
fn read_methods(block: &mut ItemImpl, faults: &mut Vec<syn::Error>) -> Vec<Method> {
    let mut methods = Vec::new();
    for item in &mut block.items {
        if let ImplItem::Fn(item) = item {
            match Method::take(item) {
                Ok(method) => methods.extend(method),
                Err(fault) => faults.push(fault),
            }
        }
    }
    methods
}

/// The methods that do what an earlier one does already. Those under a condition may never meet it.
fn twins(methods: &[Method]) -> Vec<syn::Error> {
    let what = |method: &Method| match &method.role {
        Role::Handler { message, .. } => format!("handlers of `{}`", type_text(message)),
        Role::Answer { message } => format!("handlers of `Answered<{}>`", type_text(message)),
        Role::Hook(hook) => format!("methods for the hook `{}`", hook.name),
        Role::Migration { from, .. } => format!("migrations from version {from}"),
    };
    let sure: Vec<_> = methods.iter().filter(|method| method.conditions.is_empty()).collect();
    let twin = |(at, method): (usize, &&Method)| {
        let first = sure[..at].iter().find(|earlier| what(earlier) == what(method))?;
        let text = format!("two {} in one block: the first is `{}`", what(method), first.ident);
        Some(syn::Error::new(method.ident.span(), text))
    };
    sure.iter().enumerate().filter_map(twin).collect()
}

/// The impl of `Behaviour`.
fn behaviour(block: &ItemImpl, methods: &[Method], private: &TokenStream) -> TokenStream {
    let part = &block.self_ty;
    let rows: Vec<_> = methods.iter().filter_map(|method| row(method, part, private)).collect();
    let table = (!rows.is_empty()).then(|| {
        quote! {
            fn handlers(table: &mut #private::Handlers<Self>) {
                #(#rows)*
            }
        }
    });
    let hooks = methods.iter().filter_map(|method| match method.role {
        Role::Hook(hook) => Some(hook.expand(method, private)),
        Role::Handler { .. } | Role::Answer { .. } | Role::Migration { .. } => None,
    });
    quote! {
        #[automatically_derived]
        impl #private::Behaviour for #part {
            #table
            #(#hooks)*
        }
    }
}

/// The line of a method in the table.
fn row(method: &Method, part: &Type, private: &TokenStream) -> Option<TokenStream> {
    let (bound, passed) = method.context();
    let row = match &method.role {
        Role::Hook(_) => return None,
        Role::Handler { callers, message } => {
            let callers = callers.constant(private);
            let call = method.call(quote!(part, message #passed));
            let at = shown_at(message.span());
            quote_spanned!(at=> table.on::<#message>(#callers, |part, message, #bound| #call);)
        }
        Role::Answer { message } => {
            let call = method.call(quote!(part, answer #passed));
            quote_spanned!(shown_at(message.span())=> table.on_answer::<#message>(|part, answer, #bound| #call);)
        }
        Role::Migration { from, old } => {
            let text =
                format!("`migrate_from({from})` reads an earlier version, so the part's `version` is above {from}");
            let call = method.call(quote!(old));
            let version = quote_spanned!(shown_at(from.span())=> #from < <#part as #private::Part>::VERSION);
            quote! {
                const _: () = ::core::assert!(#version, #text);
                table.migrate_from::<#old>(#from, |old| #call);
            }
        }
    };
    let conditions = &method.conditions;
    Some(quote!(#(#conditions)* { #row }))
}
