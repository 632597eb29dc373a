//! Puts types together: collects parts, looks for faults, gives numbers.

use std::any::{TypeId, type_name};
use std::collections::{BTreeMap, BTreeSet};

use super::fault::{TypeFault, TypeFaults};
use super::info::{EntityInfo, PartInfo, Takes, TypeInfo};
use super::{Inner, TypeNumber, Types};
use crate::FixedMap;
use crate::game::body::parts::At;
use crate::game::erased::{AnyPart, downcast};
use crate::game::flags::Flags;
use crate::game::message::Tag;
use crate::game::number::PartNumber;
use crate::game::part::{Component, ComponentList, Entity, Lineage, Position};

/// Collects types. What is named twice is taken once.
#[derive(Debug, Default)]
pub struct TypesBuilder {
    components: Drafts,
    entities: Drafts,
    ids: BTreeSet<TypeId>,
}

/// Parts by name, then by Rust name: whatever the order of registration, the result is the same.
type Drafts = BTreeMap<(&'static str, &'static str), fn() -> PartInfo>;

impl TypesBuilder {
    /// With an entity type, those above it and the components that they list.
    #[must_use]
    pub fn entity<T: Entity>(mut self) -> Self {
        self.add_entity::<T>();
        self
    }

    /// With a component.
    #[must_use]
    pub fn component<C: Component>(mut self) -> Self {
        self.add_component::<C>();
        self
    }

    pub(crate) fn add_entity<T: Entity>(&mut self) {
        if self.ids.insert(TypeId::of::<T>()) {
            self.entities.insert((T::NAME, type_name::<T>()), draft_entity::<T>);
            T::Parent::enrol(self);
            list::<T>().listed.iter().for_each(|listed| (listed.enrol)(self));
        }
    }

    pub(crate) fn add_component<C: Component>(&mut self) {
        if self.ids.insert(TypeId::of::<C>()) {
            self.components.insert((C::NAME, type_name::<C>()), || PartInfo::of::<C>(None));
        }
    }

    /// In the order of names. Components draw their numbers first: a body's array is as long as the highest of them.
    fn draw(&self) -> Vec<PartInfo> {
        let drafts = self.components.values().chain(self.entities.values());
        let mut parts: Vec<_> = drafts.map(|draw| draw()).collect();
        parts.sort_by_key(|part| (part.name(), part.rust_name));
        parts
    }

    /// The types.
    ///
    /// # Errors
    ///
    /// All that is wrong with them.
    pub fn build(self) -> Result<Types, TypeFaults> {
        let parts = self.draw();
        let mut faults = Vec::new();
        check_names(&parts, &mut faults);
        check_numbers(&parts, &mut faults);
        for part in &parts {
            check_part(part, &mut faults);
        }
        let messages = check_messages(&parts, &mut faults);
        let kinds: Vec<_> = (parts.iter().enumerate())
            .filter_map(|(place, part)| Some((place, part.id, part.entity.as_ref()?.parent)))
            .collect();
        let tree = Tree::grow(&kinds);
        let reached: BTreeSet<_> = tree.order.iter().map(|node| node.place).collect();
        let unreached = kinds.iter().filter(|(place, ..)| !reached.contains(place));
        faults.extend(unreached.map(|(place, ..)| TypeFault::Cycle { name: parts[*place].name() }));
        if faults.iter().any(|fault| matches!(fault, TypeFault::Cycle { .. } | TypeFault::Number { .. })) {
            return Err(TypeFaults { faults });
        }
        let types = tree.types(&parts, &mut faults);
        check_client_kinds(&types, &mut faults);
        if faults.is_empty() { Ok(assemble(parts, types, messages)) } else { Err(TypeFaults { faults }) }
    }
}

fn draft_entity<T: Entity>() -> PartInfo {
    PartInfo::of::<T>(Some(EntityInfo {
        parent: T::Parent::id(),
        is_abstract: T::ABSTRACT,
        flags: T::FLAGS,
        client_kind: T::CLIENT_KIND,
        components: list::<T>().listed,
        stands: stands::<T>,
    }))
}

fn list<T: Entity>() -> ComponentList {
    let mut list = ComponentList::default();
    T::components(&mut list);
    list
}

fn stands<T: Entity>(part: &dyn AnyPart) -> Option<Position> {
    downcast::<T>(part)?.position()
}

fn check_names(parts: &[PartInfo], faults: &mut Vec<TypeFault>) {
    for part in parts {
        check_name(part.name(), part.rust_name, faults);
    }
    for pair in parts.windows(2) {
        let (one, other) = (&pair[0], &pair[1]);
        if one.name() == other.name() {
            faults.push(TypeFault::Name { name: one.name(), one: one.rust_name, other: other.rust_name });
        }
    }
    let mut tags: BTreeMap<Tag, &'static str> = BTreeMap::new();
    for part in parts {
        check_tag(part.name(), &mut tags, faults);
    }
}

fn check_name(name: &'static str, rust_name: &'static str, faults: &mut Vec<TypeFault>) {
    let is_fine = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let begins = name.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase());
    if !begins || name.len() > NAME_BYTES_MAX || !name.bytes().all(is_fine) {
        faults.push(TypeFault::BadName { name, rust_name });
    }
}

fn check_tag(name: &'static str, tags: &mut BTreeMap<Tag, &'static str>, faults: &mut Vec<TypeFault>) {
    let tag = Tag::of(name);
    let one = *tags.entry(tag).or_insert(name);
    if one != name {
        faults.push(TypeFault::Tag { tag, one, other: name });
    }
}

fn check_numbers(parts: &[PartInfo], faults: &mut Vec<TypeFault>) {
    let mut numbers = BTreeMap::new();
    for part in parts {
        let one = *numbers.entry(part.number).or_insert(part.rust_name);
        if one != part.rust_name {
            faults.push(TypeFault::Number { one, other: part.rust_name });
        }
    }
}

fn check_part(info: &PartInfo, faults: &mut Vec<TypeFault>) {
    let (part, version) = (info.name(), info.version());
    if version == 0 {
        faults.push(TypeFault::Version { part });
    }
    let reads: Vec<_> = info.migrations.iter().map(|migration| migration.from).chain([version]).collect();
    if reads.windows(2).any(|pair| pair[0].checked_add(1) != Some(pair[1])) {
        faults.push(TypeFault::Migrations { part, version, reads });
    }
    for &field in info.persistent {
        if !info.fields.is_empty() && !info.has_field(field) {
            faults.push(TypeFault::Persistent { part, field });
        }
    }
    let mut takes = Takes::default();
    for (message, _) in takes.add(At::Own, info) {
        faults.push(TypeFault::Handler { type_name: part, message, one: part, other: part });
    }
}

fn check_messages(parts: &[PartInfo], faults: &mut Vec<TypeFault>) -> FixedMap<Tag, &'static str> {
    let mut known = BTreeMap::new();
    let mut tags = BTreeMap::new();
    let mut names = FixedMap::default();
    let handled = parts.iter().flat_map(|part| part.handlers.iter().map(|handler| handler.message));
    let heard = parts.iter().flat_map(|part| part.answers.iter().map(|answer| answer.message));
    for message in handled.chain(heard) {
        let (name, rust_name) = (message.name, message.rust_name);
        let &mut (id, one) = known.entry(name).or_insert((message.id, rust_name));
        if id != message.id {
            faults.push(TypeFault::MessageName { name, one, other: rust_name });
        }
        if names.insert(message.tag, name) != Some(name) {
            check_name(name, rust_name, faults);
            check_tag(name, &mut tags, faults);
        }
    }
    names
}

fn check_client_kinds(types: &[TypeInfo], faults: &mut Vec<TypeFault>) {
    let mut kinds = BTreeMap::new();
    for kind in types {
        let Some(number) = kind.client_kind else { continue };
        let one = *kinds.entry(number).or_insert(kind.name);
        if one != kind.name {
            faults.push(TypeFault::ClientKind { kind: number, one, other: kind.name });
        }
    }
}

/// Entity types by their places in the list of parts, as a forest.
struct Tree {
    /// Depth first: place, place of the parent in this list, and the number behind the last below it.
    order: Vec<Node>,
}

struct Node {
    place: usize,
    parent: Option<usize>,
    end: usize,
}

impl Tree {
    /// From types by their place, their id and that of their parent. Those that no walk from a root comes to are in a
    /// cycle, or below one, and are not in the tree.
    fn grow<K: Ord>(types: &[(usize, K, Option<K>)]) -> Self {
        let mut below: BTreeMap<Option<&K>, Vec<(usize, &K)>> = BTreeMap::new();
        for (place, id, parent) in types {
            below.entry(parent.as_ref()).or_default().push((*place, id));
        }
        let mut order: Vec<Node> = Vec::new();
        let roots = below.remove(&None).unwrap_or_default().into_iter().rev();
        let mut ahead: Vec<_> = roots.map(|child| (child, None)).collect();
        while let Some(((place, id), parent)) = ahead.pop() {
            let own = order.len();
            order.push(Node { place, parent, end: own + 1 });
            let children = below.remove(&Some(id)).unwrap_or_default().into_iter().rev();
            ahead.extend(children.map(|child| (child, Some(own))));
        }
        for own in (0..order.len()).rev() {
            if let Some(parent) = order[own].parent {
                order[parent].end = order[parent].end.max(order[own].end);
            }
        }
        Self { order }
    }

    /// The types in the order of their numbers; a parent comes before those below it.
    fn types(&self, parts: &[PartInfo], faults: &mut Vec<TypeFault>) -> Vec<TypeInfo> {
        let mut types: Vec<TypeInfo> = Vec::new();
        let places: BTreeMap<_, _> = parts.iter().enumerate().map(|(place, part)| (part.id, place)).collect();
        let numbers: BTreeMap<_, _> = parts.iter().map(|part| (part.number, part)).collect();
        for (own, node) in self.order.iter().enumerate() {
            let part = &parts[node.place];
            let entity = part.entity.as_ref().expect("the tree has entity types alone");
            let above = node.parent.map(|parent| &types[parent]);
            let mut listed = above.map_or_else(Vec::new, |above| above.listed.clone());
            for component in &entity.components {
                let component = &parts[places[&component.id]];
                if listed.iter().all(|&(number, _)| number != component.number) {
                    listed.push((component.number, component.name()));
                }
            }
            let flags = above.map_or(Flags::NONE, |above| above.flags).with(entity.flags);
            let takes = takes(part, &listed, &numbers, faults);
            types.push(TypeInfo {
                number: number(own),
                end: number(node.end),
                name: part.name(),
                version: part.version(),
                oldest: part.oldest(),
                parent: node.parent.map(number),
                flags,
                client_kind: entity.client_kind,
                is_abstract: entity.is_abstract,
                part: part.number,
                listed,
                stands: entity.stands,
                takes,
            });
        }
        types
    }
}

fn takes(
    part: &PartInfo,
    listed: &[(PartNumber, &'static str)],
    numbers: &BTreeMap<PartNumber, &PartInfo>,
    faults: &mut Vec<TypeFault>,
) -> Takes {
    let mut takes = Takes::default();
    // What one part takes twice is told of the part.
    let _ = takes.add(At::Own, part);
    for &(number, name) in listed {
        for (message, one) in takes.add(At::Component(number), numbers[&number]) {
            if one != name {
                faults.push(TypeFault::Handler { type_name: part.name(), message, one, other: name });
            }
        }
    }
    takes
}

fn assemble(parts: Vec<PartInfo>, types: Vec<TypeInfo>, messages: FixedMap<Tag, &'static str>) -> Types {
    let length = parts.iter().map(|part| part.number.index() + 1).max().unwrap_or(0);
    let mut by_number: Vec<_> = std::iter::repeat_with(|| None).take(length).collect();
    let mut numbers = vec![None; length];
    let (mut components, mut component_tags) = (BTreeMap::new(), FixedMap::default());
    for kind in &types {
        numbers[kind.part.index()] = Some(kind.number);
    }
    for part in parts {
        if part.is_component() {
            components.insert(part.name(), part.number);
            component_tags.insert(Tag::of(part.name()), part.number);
        }
        let index = part.number.index();
        by_number[index] = Some(part);
    }
    let names = types.iter().map(|kind| (kind.name, kind.number)).collect();
    let inner = Inner { types, names, numbers, parts: by_number, components, component_tags, messages };
    Types { inner: inner.into() }
}

fn number(place: usize) -> TypeNumber {
    TypeNumber(u32::try_from(place).expect("no program has 2^32 types"))
}

/// Longest name: short enough to be read in a column.
const NAME_BYTES_MAX: usize = 48;

#[cfg(test)]
mod tests {
    use super::*;

    /// Types by the number of their parent, which may be any other.
    fn grown(parents: &[Option<usize>]) -> Tree {
        let kinds: Vec<_> = parents.iter().enumerate().map(|(id, parent)| (id, id, *parent)).collect();
        Tree::grow(&kinds)
    }

    /// Whether one is the other or below it: by a walk up, and by the numbers.
    fn check(parents: &[Option<usize>], tree: &Tree) {
        let mut numbers = vec![0; parents.len()];
        for (own, node) in tree.order.iter().enumerate() {
            numbers[node.place] = own;
        }
        for one in (0..parents.len()).step_by(1 + parents.len() / 60) {
            let up: BTreeSet<_> = std::iter::successors(Some(one), |&at| parents[at]).collect();
            for other in 0..parents.len() {
                let (own, end) = (numbers[other], tree.order[numbers[other]].end);
                assert_eq!((own..end).contains(&numbers[one]), up.contains(&other), "{one} below {other}");
            }
        }
    }

    #[test]
    fn thousands_of_types_have_their_place_deep_wide_and_mixed() {
        let count = 5_000;
        let deep: Vec<_> = (0..count).map(|id: usize| id.checked_sub(1)).collect();
        let wide: Vec<_> = (0..count).map(|id| (id > 0).then_some(0)).collect();
        let mixed: Vec<_> = (0..count).map(|id| (id > 0).then(|| id * 7 / 10)).collect();
        let upside_down: Vec<_> = (0..count).map(|id| (id + 1 < count).then_some(id + 1)).collect();
        for parents in [deep, wide, mixed, upside_down] {
            let tree = grown(&parents);
            assert_eq!(tree.order.len(), count);
            check(&parents, &tree);
        }
    }

    #[test]
    fn types_in_a_cycle_and_those_below_it_are_not_in_the_tree() {
        let tree = grown(&[None, Some(2), Some(1), Some(2), Some(0)]);
        assert_eq!(tree.order.iter().map(|node| node.place).collect::<Vec<_>>(), [0, 4]);
    }
}
