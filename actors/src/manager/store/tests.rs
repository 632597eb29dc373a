//! The store on real files, and on a disk that breaks.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use redb::StorageBackend;
use redb::backends::InMemoryBackend;
use slipgate_cluster::manager::{
    Counter, Grant, Input, JoinRequest, Manager, ManagerReply, ManagerRequest, Output, SceneDeclaration, Ticket, Waits,
};
use slipgate_cluster::view::{Home, ScenePlacement};
use slipgate_cluster::{NodeName, Now, Session};
use slipgate_entity::{RangeId, SceneId};

use super::*;

#[test]
fn a_store_makes_its_folders_and_begins_empty() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(&folder.path().join("a/b/manager.redb"));
    assert_eq!(store.load().expect("readable"), Stored::default());
}

#[test]
fn what_was_written_is_loaded_after_the_file_was_closed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("manager.redb");
    let mut expected = Stored::default();
    for writes in steps() {
        writes.iter().for_each(|write| expected.apply(write));
        let store = open(&path);
        store.write(&writes).expect("written");
        drop(store);
        assert_eq!(open(&path).load().expect("readable"), expected);
    }
    assert_eq!(expected.view.homes.len(), 2);
    assert_eq!(expected.view.scenes.len(), 1, "a scene was given up");
}

#[test]
fn a_store_is_open_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("manager.redb");
    let first = open(&path);
    assert!(matches!(Store::open(&path), Err(StoreError::InUse { .. })));
    drop(first);
    open(&path);
}

#[test]
fn a_store_of_another_format_is_refused_and_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("manager.redb");
    let store = open(&path);
    raw(&store, META, &key(FORMAT_KEY).expect("small"), &codec::encode(&9u32).expect("small"));
    drop(store);
    assert!(matches!(Store::open(&path), Err(StoreError::Format { found: 9 })));
}

#[test]
fn a_store_of_format_1_is_brought_up_with_every_home_in_term_0_and_every_scene_declared() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("manager.redb");
    let store = open(&path);
    let (range, session) = (RangeId(3), Session::new(2, 5));
    let home = codec::encode(&format_1::OldHome { range, session }).expect("small");
    raw(&store, HOMES, &key(&range).expect("small"), &home);
    let (id, name, node, capacity) = (SceneId(7), NodeName::new("forest").expect("a name"), session.node, 9);
    let scene = codec::encode(&format_1::OldScene { id, name: name.clone(), node, capacity }).expect("small");
    raw(&store, SCENES, &key(&id).expect("small"), &scene);
    raw(&store, META, &key(FORMAT_KEY).expect("small"), &codec::encode(&1u32).expect("small"));
    drop(store);
    for opening in ["brought up", "as it is"] {
        let View { homes, scenes, .. } = open(&path).load().expect("readable").view;
        assert_eq!(homes, [(range, Home::first(range, session))].into(), "{opening}");
        let declared = ScenePlacement::declared(id, name.clone(), node, capacity);
        assert_eq!(scenes, [(id, declared)].into(), "{opening}");
    }
}

#[test]
fn a_file_that_is_no_store_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("manager.redb");
    std::fs::write(&path, "not a store".repeat(1000)).expect("written");
    assert!(matches!(Store::open(&path), Err(StoreError::Open { .. })));
}

#[test]
fn a_path_below_a_file_is_refused_with_the_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    std::fs::write(&file, "x").expect("written");
    assert!(matches!(Store::open(&file.join("manager.redb")), Err(StoreError::Folder { .. })));
}

#[test]
fn a_damaged_entry_names_its_table() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(&folder.path().join("manager.redb"));
    raw(&store, HOMES, b"\x01\x01", b"\x01");
    assert!(matches!(store.load(), Err(StoreError::Damaged { table: "homes", .. })));
}

#[test]
fn a_manager_killed_between_write_and_reply_repeats_its_answer() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |life: u32| folder.path().join(format!("{life}.redb"));
    // A life ends by a copy of the file that it still has open: that is what a killed process leaves.
    let live = |life: u32, inputs: &[Input]| {
        let store = open(&file(life));
        let out = perform_writes(&store, inputs);
        std::fs::copy(file(life), file(life + 1)).expect("copied");
        out
    };
    live(1, &[Input::Join { ticket: Ticket(1), own_node: true, request: join("a", &[]) }]);
    let session = Session::new(1, 1);
    let ask = |request| Input::Request {
        from: session,
        request: ManagerRequest::Range { session, request, counter: Counter::Online },
    };
    live(2, &[ask(1)]);
    assert_eq!(ranges(&live(3, &[ask(1), ask(2)])), [RangeId(1), RangeId(2)]);
}

#[test]
fn a_disk_that_breaks_fails_the_write() {
    let (store, breaks) = breaking_store();
    let steps = steps();
    store.write(&steps[0]).expect("written");
    breaks.store(true, Ordering::SeqCst);
    assert!(matches!(store.write(&steps[1]), Err(StoreError::Write(_))));
}

/// A store on a disk in memory, and the switch that breaks that disk.
pub(in crate::manager) fn breaking_store() -> (Store, Arc<AtomicBool>) {
    let breaks = Arc::new(AtomicBool::new(false));
    let disk = BreakingDisk { inner: InMemoryBackend::new(), breaks: breaks.clone() };
    let database = Database::builder().create_with_backend(disk).expect("a database");
    (Store::begin(database).expect("a store"), breaks)
}

/// A node without scenes asks to join, unless some are named.
pub(in crate::manager) fn join(node: &str, scenes: &[(u16, &str)]) -> JoinRequest {
    let name = |text: &str| NodeName::new(text).expect("a name");
    let declare =
        |&(id, scene): &(u16, &str)| SceneDeclaration { id: SceneId::from(id), name: name(scene), capacity: 9 };
    JoinRequest {
        name: name(node),
        address: "127.0.0.1:1".into(),
        admin: "127.0.0.1:2".into(),
        scenes: scenes.iter().map(declare).collect(),
        seen: None,
    }
}

/// A disk in memory that can be broken: no sync succeeds any more.
#[derive(Debug)]
struct BreakingDisk {
    inner: InMemoryBackend,
    breaks: Arc<AtomicBool>,
}

impl StorageBackend for BreakingDisk {
    fn len(&self) -> Result<u64, io::Error> {
        self.inner.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), io::Error> {
        self.inner.read(offset, out)
    }

    fn set_len(&self, len: u64) -> Result<(), io::Error> {
        self.inner.set_len(len)
    }

    fn sync_data(&self) -> Result<(), io::Error> {
        if self.breaks.load(Ordering::SeqCst) {
            return Err(io::Error::other("the disk broke"));
        }
        self.inner.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> Result<(), io::Error> {
        self.inner.write(offset, data)
    }
}

/// Runs a manager on a store and performs its writes only; returns all that it ordered.
fn perform_writes(store: &Store, inputs: &[Input]) -> Vec<Output> {
    let mut manager = Manager::load(store.load().expect("readable"), Waits::default(), Now(0));
    let mut out = Vec::new();
    inputs.iter().for_each(|input| manager.handle(input.clone(), Now(0), &mut out));
    for output in &out {
        if let Output::Persist(writes) = output {
            store.write(writes).expect("written");
        }
    }
    out
}

fn open(path: &Path) -> Store {
    Store::open(path).expect("a store")
}

fn raw(store: &Store, table: Table, key: &[u8], value: &[u8]) {
    let transaction = begin_write(&store.database).expect("a transaction");
    transaction.open_table(table).expect("a table").insert(key, value).expect("written");
    transaction.commit().expect("committed");
}

fn ranges(out: &[Output]) -> Vec<RangeId> {
    let ranges = out.iter().filter_map(|output| {
        let Output::Tell { reply: ManagerReply::Range { range, .. }, .. } = output else { return None };
        Some(*range)
    });
    ranges.collect()
}

/// The writes of a few inputs, with every kind of write among them.
fn steps() -> Vec<Vec<Write>> {
    let mut manager = Manager::load(Stored::default(), Waits::default(), Now(0));
    let a = Session::new(1, 1);
    let range = |request| Input::Request {
        from: a,
        request: ManagerRequest::Range { session: a, request, counter: Counter::Online },
    };
    let join = |scenes: &[(u16, &str)]| Input::Join { ticket: Ticket(1), own_node: true, request: join("a", scenes) };
    let inputs = [join(&[(1, "forest"), (2, "desert")]), range(1), range(2), join(&[(2, "desert")])];
    let mut steps = Vec::new();
    for input in inputs {
        let mut out = Vec::new();
        manager.handle(input, Now(0), &mut out);
        steps.extend(out.into_iter().filter_map(|output| {
            let Output::Persist(writes) = output else { return None };
            Some(writes)
        }));
    }
    assert!(
        steps.iter().flatten().any(|write| { matches!(write, Write::Grant { grant: Grant { request: 2, .. }, .. }) })
    );
    steps
}
