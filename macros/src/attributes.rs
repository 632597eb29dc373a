//! What is written in `#[entity(..)]`, `#[component(..)]`, `#[message(..)]`, `#[state(..)]` and `#[handlers(..)]`.
//!
//! One reader for all: each macro names the keys that it knows, and a key that it does not know is an error
//! which names the nearest. Values are checked here as far as they can be alone.
//!
//! Leaves out: what two keys together, or a key and the fields, must keep; the macro that has them checks that.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::meta::ParseNestedMeta;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Attribute, LitInt, LitStr, Path, PathSegment, Token, Type, parenthesized, token};

use crate::names::{type_text, unknown};

/// The flags that every entity has, in lower case, as in `slipgate_entity::Flags`.
const FLAGS: [&str; 14] = [
    "is_client_visible",
    "is_dead",
    "is_player",
    "is_monster",
    "is_trap",
    "is_global",
    "is_combat",
    "is_ghost",
    "support_ghost",
    "support_migrate",
    "support_aoi_max_limit",
    "is_main_player",
    "is_other_player",
    "is_observer_player",
];

/// Everything that stands beside a type; what is not written is `None` or empty.
#[derive(Default)]
pub(crate) struct Options {
    /// Name of the attribute, which fields have, too.
    pub(crate) attribute: &'static str,
    pub(crate) name: Option<LitStr>,
    pub(crate) version: Option<u16>,
    pub(crate) answer: Option<Type>,
    pub(crate) parent: Option<Type>,
    pub(crate) kind: Option<LitInt>,
    pub(crate) flags: Vec<Flag>,
    pub(crate) components: Vec<Path>,
    pub(crate) is_abstract: bool,
    pub(crate) default: bool,
    pub(crate) position: Option<Place>,
    root: Option<Path>,
    written: Vec<Ident>,
}

/// A flag that a type has, or with `!` one that it has not.
pub(crate) struct Flag {
    pub(crate) set: bool,
    name: Path,
}

/// Where an entity keeps its position: `position = at`, or `position = at()`.
pub(crate) enum Place {
    Field(Ident),
    Method(Ident),
}

/// What stands beside a field.
#[derive(Clone, Copy, Default)]
pub(crate) struct FieldOptions {
    pub(crate) transient: bool,
    pub(crate) persistent: bool,
}

impl Options {
    /// Reads every `#[attribute(..)]` among `attributes`.
    pub(crate) fn read(attributes: &[Attribute], attribute: &'static str, keys: &[&str]) -> syn::Result<Self> {
        let mut options = Self { attribute, ..Self::default() };
        for found in attributes.iter().filter(|found| found.path().is_ident(attribute)) {
            found.parse_nested_meta(|meta| options.take(&meta, keys))?;
        }
        Ok(options)
    }

    /// Reads the arguments of `#[handlers(..)]`.
    pub(crate) fn read_handlers(arguments: TokenStream) -> syn::Result<Self> {
        let mut options = Self { attribute: "handlers", ..Self::default() };
        let parser = syn::meta::parser(|meta| options.take(&meta, &["crate"]));
        parser.parse2(arguments)?;
        Ok(options)
    }

    fn take(&mut self, meta: &ParseNestedMeta<'_>, keys: &[&str]) -> syn::Result<()> {
        let key = key_of(meta, keys)?;
        if self.written.contains(&key) {
            return Err(syn::Error::new(key.span(), format!("`{key}` is written twice")));
        }
        match key.to_string().as_str() {
            "name" => self.name = Some(meta.value()?.parse()?),
            "version" => self.version = Some(version(&meta.value()?.parse()?)?),
            "answer" => self.answer = Some(meta.value()?.parse()?),
            "parent" => self.parent = Some(meta.value()?.parse()?),
            "kind" => self.kind = Some(kind(meta.value()?.parse()?)?),
            "flags" => self.flags = list(meta)?,
            "components" => self.components = list(meta)?,
            "abstract" => self.is_abstract = true,
            "default" => self.default = true,
            "position" => self.position = Some(meta.value()?.parse()?),
            "crate" => self.root = Some(root(&meta.value()?.parse()?)?),
            other => unreachable!("`{other}` is among the keys of a macro and is not read"),
        }
        self.written.push(key);
        Ok(())
    }

    /// Path of the module with everything that an expansion names.
    pub(crate) fn private(&self) -> TokenStream {
        match &self.root {
            Some(root) => quote!(#root::__private),
            None => quote!(::slipgate::__private),
        }
    }

    /// Where a key was written.
    pub(crate) fn span_of(&self, key: &str) -> Option<Span> {
        self.written.iter().find(|written| *written == key).map(Ident::span)
    }
}

impl FieldOptions {
    /// Reads every `#[attribute(..)]` of a field.
    pub(crate) fn read(attributes: &[Attribute], attribute: &str) -> syn::Result<Self> {
        let keys: &[&str] = match attribute {
            "entity" | "component" => &["transient", "persistent"],
            "state" => &["transient"],
            _ => &[],
        };
        let mut options = Self::default();
        for found in attributes.iter().filter(|found| found.path().is_ident(attribute)) {
            found.parse_nested_meta(|meta| {
                let key = key_of(&meta, keys)?;
                if key == "transient" {
                    options.transient = true;
                } else {
                    options.persistent = true;
                }
                if options.transient && options.persistent {
                    let text = "a field is `transient` or `persistent`: what does not even travel is not saved";
                    return Err(syn::Error::new(key.span(), text));
                }
                Ok(())
            })?;
        }
        Ok(options)
    }
}

fn key_of(meta: &ParseNestedMeta<'_>, keys: &[&str]) -> syn::Result<Ident> {
    let key = meta.path.require_ident()?;
    if keys.contains(&key.to_string().as_str()) {
        return Ok(key.clone());
    }
    Err(unknown(key, "key", keys))
}

/// A number of a version, from 1.
pub(crate) fn version(written: &LitInt) -> syn::Result<u16> {
    match written.base10_parse() {
        Ok(version) if version > 0 => Ok(version),
        _ => Err(syn::Error::new(written.span(), "a version is a number from 1 to 65535")),
    }
}

fn kind(written: LitInt) -> syn::Result<LitInt> {
    match written.base10_parse::<u8>() {
        Ok(_) => Ok(written),
        Err(_) => Err(syn::Error::new(written.span(), "a client kind is a number from 0 to 255")),
    }
}

/// The path in `crate = "slipgate_entity"`, from the root of names unless it says otherwise.
fn root(written: &LitStr) -> syn::Result<Path> {
    let mut path: Path = written.parse()?;
    let is_relative = |first: &PathSegment| ["crate", "self", "super"].iter().any(|word| first.ident == word);
    if !path.segments.first().is_some_and(is_relative) {
        path.leading_colon = Some(token::PathSep(written.span()));
    }
    Ok(path)
}

/// The items of `key(item, ..)`, none of them twice.
fn list<T: Parse + ToTokens>(meta: &ParseNestedMeta<'_>) -> syn::Result<Vec<T>> {
    let content;
    parenthesized!(content in meta.input);
    let items: Vec<T> = Punctuated::<T, Token![,]>::parse_terminated(&content)?.into_iter().collect();
    let texts: Vec<_> = items.iter().map(type_text).collect();
    match (0..items.len()).find(|&at| texts[..at].contains(&texts[at])) {
        None => Ok(items),
        Some(twin) => Err(syn::Error::new_spanned(&items[twin], format!("`{}` is listed twice", texts[twin]))),
    }
}

impl Flag {
    /// The flag's constant: one of the fourteen by its name in lower case, or a constant of the game's own.
    pub(crate) fn constant(&self, private: &TokenStream) -> TokenStream {
        match built_in(&self.name) {
            Some(name) => {
                let constant = Ident::new(&name.to_string().to_uppercase(), name.span());
                quote!(#private::Flags::#constant)
            }
            None => self.name.to_token_stream(),
        }
    }
}

/// The name if it is written like one of the fourteen, which are in lower case.
fn built_in(name: &Path) -> Option<&Ident> {
    name.get_ident().filter(|ident| !ident.to_string().contains(|letter: char| letter.is_ascii_uppercase()))
}

impl Parse for Flag {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let set = input.parse::<Option<Token![!]>>()?.is_none();
        let name = input.parse()?;
        match built_in(&name) {
            Some(ident) if !FLAGS.iter().any(|flag| ident == flag) => Err(unknown(ident, "flag", &FLAGS)),
            _ => Ok(Self { set, name }),
        }
    }
}

impl ToTokens for Flag {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.name.to_tokens(tokens);
    }
}

impl Parse for Place {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name = input.parse()?;
        if !input.peek(token::Paren) {
            return Ok(Self::Field(name));
        }
        let content;
        parenthesized!(content in input);
        if content.is_empty() {
            Ok(Self::Method(name))
        } else {
            Err(content.error("`position` is called without arguments"))
        }
    }
}
