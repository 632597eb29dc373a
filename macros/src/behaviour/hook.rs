//! The hooks of `Behaviour`, and how a method of the game becomes one.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::method::Method;

/// A hook as the trait has it; a `cx: &mut Context<'_>` follows its argument.
#[derive(Debug)]
pub(super) struct Hook {
    pub(super) name: &'static str,
    /// Name and type of what it is told.
    pub(super) argument: Option<(&'static str, &'static str)>,
    output: Output,
}

#[derive(Clone, Copy, Debug)]
enum Output {
    Nothing,
    Result,
    Leave,
}

const fn hook(name: &'static str, argument: Option<(&'static str, &'static str)>, output: Output) -> Hook {
    Hook { name, argument, output }
}

pub(super) const HOOKS: [Hook; 10] = [
    hook("init", None, Output::Result),
    hook("on_enter_scene", Some(("entry", "Entry")), Output::Nothing),
    hook("activate", None, Output::Nothing),
    hook("deactivate", None, Output::Nothing),
    hook("on_leave_scene", None, Output::Nothing),
    hook("leaving", Some(("to", "Destination")), Output::Leave),
    hook("left", None, Output::Nothing),
    hook("arrived", None, Output::Nothing),
    hook("move_failed", Some(("why", "MoveFailed")), Output::Nothing),
    hook("returned", Some(("back", "ReturnedMessage")), Output::Nothing),
];

impl Hook {
    pub(super) fn find(name: &Ident) -> Option<&'static Self> {
        HOOKS.iter().find(|hook| name == hook.name)
    }

    /// How a method for it looks, for errors.
    pub(super) fn signature(&self) -> String {
        let argument = self.argument.map(|(name, ty)| format!(", {name}: &{ty}")).unwrap_or_default();
        let output = match self.output {
            Output::Nothing => "",
            Output::Result => " -> Result<(), String>",
            Output::Leave => " -> Leave",
        };
        format!("fn {}(&mut self{argument}, cx: &mut Context<'_>){output}", self.name)
    }

    /// The method of the trait, which calls the game's.
    pub(super) fn expand(&self, method: &Method, private: &TokenStream) -> TokenStream {
        let hook = format_ident!("{}", self.name);
        let conditions = &method.conditions;
        let argument = self.argument.map(|(name, _)| format_ident!("{name}"));
        let kind = self.argument.map(|(_, kind)| format_ident!("{kind}"));
        let (argument, kind): (Vec<_>, Vec<_>) = (argument.into_iter().collect(), kind.into_iter().collect());
        let (bound, passed) = method.context();
        let returns = match self.output {
            Output::Nothing => TokenStream::new(),
            Output::Result => quote!(-> ::core::result::Result<(), ::std::string::String>),
            Output::Leave => quote!(-> #private::Leave),
        };
        let call = method.call(quote!(self #(, #argument)* #passed));
        quote! {
            #(#conditions)*
            fn #hook(&mut self, #(#argument: &#private::#kind,)* #bound: &mut #private::Context<'_>) #returns {
                #call
            }
        }
    }
}
