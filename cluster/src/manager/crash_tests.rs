//! The manager's promises over crashes: random runs, cut off after any output, loaded again.
//!
//! Each run is one seed. After every performed output the disk must already hold what was told;
//! every few inputs the manager dies in the middle of its outputs and a new one loads the disk.
//! A failure names the seed: put it into `run` to repeat it.

use std::collections::{BTreeMap, BTreeSet};

use slipgate_entity::{RangeId, SceneId};

use super::*;
use crate::view::{Clearing, Home, Made};

#[test]
fn nothing_told_is_lost_and_nothing_is_given_twice_whenever_the_manager_dies() {
    let mut seen = Seen::default();
    for seed in 0..RUNS {
        let run = run(seed, Ordering::AsOrdered);
        seen.crashes_before_reply += run.crashes_before_reply;
        seen.ranges += run.ranges.len();
        seen.lives += run.lives.len();
        seen.scenes += run.scenes.len();
        if let Some(broken) = run.broken {
            panic!("seed {seed}: {broken}");
        }
    }
    assert!(seen.crashes_before_reply > 100, "{seen:?}");
    assert!(seen.ranges > 1000 && seen.lives > 1000 && seen.scenes > 1000, "{seen:?}");
}

#[test]
fn the_check_finds_a_manager_that_tells_before_it_writes() {
    let broken = (0..RUNS).filter(|seed| run(*seed, Ordering::TellsFirst).broken.is_some()).count();
    assert!(broken > 0, "no seed shows it");
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let [one, other] = [(); 2].map(|()| run(7, Ordering::AsOrdered));
    assert_eq!((one.ranges, one.lives, one.version), (other.ranges, other.lives, other.version));
}

const RUNS: u64 = 200;
const STEPS: u32 = 300;

/// How the outputs are performed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ordering {
    AsOrdered,
    /// The forged violation: writes go last.
    TellsFirst,
}

/// How often the rare things happened.
#[derive(Debug, Default)]
struct Seen {
    crashes_before_reply: usize,
    ranges: usize,
    lives: usize,
    scenes: usize,
}

/// What the world outside was told, over all lives of the manager.
#[derive(Debug, Default)]
struct Told {
    ranges: BTreeMap<RangeId, (Session, u64)>,
    homes: BTreeMap<RangeId, Home>,
    lives: BTreeSet<Session>,
    version: u64,
    scenes: BTreeMap<SceneId, Made>,
    crashes_before_reply: usize,
    broken: Option<String>,
}

impl Told {
    fn perform(&mut self, output: &Output, disk: &mut Stored) {
        match output {
            Output::Persist(writes) => writes.iter().for_each(|write| disk.apply(write)),
            Output::Tell { reply, .. } | Output::TellAll(reply) => self.hear(reply, disk),
            Output::JoinAnswer { reply, .. } => self.hear_answer(reply, disk),
            Output::Probe(_) | Output::Event(_) => {}
        }
    }

    fn hear(&mut self, reply: &ManagerReply, disk: &Stored) {
        match reply {
            ManagerReply::View(view) => self.hear_view(view, disk),
            ManagerReply::Range { session, request, range, .. } => {
                let holder = *self.ranges.entry(*range).or_insert((*session, *request));
                self.check(holder == (*session, *request), || format!("range {range} is issued twice"));
                let home = disk.view.homes.get(range).map(|home| home.session);
                self.check(home == Some(*session), || format!("range {range} is told before it is on disk"));
                let next = disk.counters.get(&Counter::Online).copied();
                self.check(next > Some(*range), || format!("range {range} is not spent on disk"));
            }
            ManagerReply::Scene { session, request, result: Ok(scene) } => {
                let made = Made { by: *session, request: *request };
                let first = *self.scenes.entry(*scene).or_insert(made);
                let number = disk.scene_numbers.get(&scene.number()).copied();
                self.check(number >= Some(scene.generation()), || {
                    format!("scene {scene} is told before it is on disk")
                });
                let placement = disk.view.scenes.get(scene);
                let is_of_another = first != made || placement.is_some_and(|placement| placement.made != Some(made));
                // The others of these requests close scenes, by numbers of their own.
                self.check(request % 2 == 1 || !is_of_another, || format!("scene {scene} is made twice"));
            }
            ManagerReply::Renewed { .. } | ManagerReply::NotMember { .. } | ManagerReply::Scene { .. } => {}
        }
    }

    fn hear_answer(&mut self, reply: &JoinReply, disk: &Stored) {
        let JoinReply::Welcome { session, view, .. } = reply else { return };
        let fresh = self.lives.insert(*session);
        self.check(fresh, || format!("{session} is given twice"));
        self.check(disk.view.is_latest(*session), || format!("{session} is welcomed before it is on disk"));
        self.hear_view(view, disk);
    }

    fn hear_view(&mut self, view: &View, disk: &Stored) {
        let before = self.version;
        self.check(view.version >= before, || format!("version {} after {before}", view.version));
        self.check(*view == disk.view, || format!("view {} is told before it is on disk", view.version));
        let names: BTreeSet<_> = view.present_scenes().map(|scene| &scene.name).collect();
        self.check(names.len() == view.present_scenes().count(), || {
            format!("two scenes have one name in view {}", view.version)
        });
        self.version = view.version;
        for home in view.homes.values() {
            let known = self.homes.insert(home.range, *home).unwrap_or(*home);
            let stays = known == *home;
            let passed = home.term > known.term && (home.term > known.term + 1 || home.before == Some(known.session));
            self.check(stays || passed, || format!("{home:?} follows {known:?}"));
            let lacks_one = view.is_dead(home.session) && view.members.values().any(|m| view.takes_homes(m.session));
            self.check(!lacks_one, || format!("{home:?} is dead in a view with somebody to take its place"));
        }
    }

    fn check(&mut self, holds: bool, broken: impl FnOnce() -> String) {
        if !holds && self.broken.is_none() {
            self.broken = Some(broken());
        }
    }
}

fn run(seed: u64, ordering: Ordering) -> Told {
    let mut draws = Draws(seed);
    let mut told = Told::default();
    let mut disk = Stored::default();
    let mut now = Now(0);
    let mut manager = Manager::load(disk.clone(), Waits::default(), now);
    for step in 0..STEPS {
        now = Now(now.0 + u64::from(draws.below(400)) * 1000);
        let mut out = Vec::new();
        manager.handle(draws.input(step, manager.view()), now, &mut out);
        if ordering == Ordering::TellsFirst {
            out.sort_by_key(|output| matches!(output, Output::Persist(_)));
        }
        let dies = draws.below(8) == 0;
        let performed = if dies { draws.below(out.len() + 1) as usize } else { out.len() };
        out[..performed].iter().for_each(|output| told.perform(output, &mut disk));
        if dies {
            told.crashes_before_reply += usize::from((1..out.len()).contains(&performed));
            manager = Manager::load(disk.clone(), Waits::default(), now);
        }
        told.check(manager.stored == disk, || format!("step {step}: the machine and its disk differ"));
    }
    told
}

/// Draws from a linear congruential generator (the constants of Knuth's MMIX).
struct Draws(u64);

impl Draws {
    /// A number below `bound`, which is small.
    fn below(&mut self, bound: impl TryInto<u32>) -> u32 {
        let bound = bound.try_into().unwrap_or(u32::MAX);
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from(self.0 >> 33).expect("31 bits") % bound
    }

    fn session(&mut self, view: &View) -> Session {
        let node = u16::try_from(1 + self.below(3u32)).expect("small");
        let latest = view.members.get(&NodeId(node)).map_or(1, |member| member.session.incarnation.0);
        let older = u32::from(self.below(6u32) == 0);
        Session::new(node, latest.saturating_sub(older))
    }

    fn input(&mut self, step: u32, view: &View) -> Input {
        match self.below(14u32) {
            0..=2 => self.join(step),
            3..=6 => {
                let session = self.session(view);
                let request = u64::from(step / 5);
                let request = ManagerRequest::Range { session, request, counter: Counter::Online };
                Input::Request { from: session, request }
            }
            7 => {
                let session = self.session(view);
                let request = match self.below(4u32) {
                    0 => ManagerRequest::Drain { session },
                    1 => ManagerRequest::Resume { session },
                    2 => ManagerRequest::Retire { session },
                    _ => ManagerRequest::Renew { session, sent: Now(0), version: u64::from(self.below(9u32)) },
                };
                Input::Request { from: session, request }
            }
            8 => Input::LinkUp(self.session(view)),
            9 => Input::LinkDown(self.session(view)),
            10 => match self.below(3u32) {
                0 => Input::ProbeAnswered(self.session(view)),
                1 => Input::Left(self.session(view)),
                _ => Input::Withdrawn { ticket: Ticket(u64::from(self.below(step + 1))) },
            },
            11 | 12 => {
                let session = self.session(view);
                Input::Request { from: session, request: self.about_scenes(session, step, view) }
            }
            _ => Input::Tick,
        }
    }

    /// Scenes are made under even numbers, and the others of these requests have odd ones.
    fn about_scenes(&mut self, session: Session, step: u32, view: &View) -> ManagerRequest {
        let request = u64::from(step / 5) * 2;
        let some = self.below(view.scenes.len().max(1)) as usize;
        let scene = view.scenes.keys().nth(some).copied().unwrap_or(SceneId::of(40_000, 1));
        match self.below(5u32) {
            0 | 1 => {
                let name = NodeName::new(format!("s{}", self.below(9u32))).expect("a name");
                let node = Some(NodeId(u16::try_from(self.below(4u32)).expect("small"))).filter(|node| node.0 > 0);
                ManagerRequest::OpenScene { session, request, name, node, capacity: 1 }
            }
            2 => ManagerRequest::CloseScene { session, request: request + 1, scene, clearing: Clearing::Move },
            3 => ManagerRequest::SceneIs { session, scene, news: SceneNews::Opened },
            _ => {
                let news = if self.below(2u32) == 0 { SceneNews::Cleared } else { SceneNews::Forgotten };
                ManagerRequest::SceneIs { session, scene, news }
            }
        }
    }

    fn join(&mut self, step: u32) -> Input {
        let node = self.below(3u32);
        let name = |text: String| NodeName::new(text).expect("a name");
        let scenes = (0..self.below(3u32)).map(|_| {
            let id = u16::try_from(self.below(6u32)).expect("small");
            SceneDeclaration { id: SceneId::from(id), name: name(format!("s{id}")), capacity: 1 }
        });
        let request = JoinRequest {
            name: name(format!("n{node}")),
            address: format!("h:{node}"),
            admin: String::new(),
            scenes: scenes.collect(),
            seen: None,
        };
        Input::Join { ticket: Ticket(u64::from(step)), own_node: node == 0, request }
    }
}
