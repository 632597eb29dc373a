//! The manager's state on disk: one redb file, one transaction with fsync per list of writes.
//!
//! | table | key | value |
//! |---|---|---|
//! | `meta` | `"format"`, `"version"` | format of the file (u32), version of the view (u64) |
//! | `members` | node | member in its latest life |
//! | `scenes` | scene | placement |
//! | `homes` | range | home |
//! | `dead` | node | its latest life that is over |
//! | `draining` | node | the life of it that is about to stop |
//! | `scene_numbers` | number of a scene made at run time | its generation given last |
//! | `counters` | counter | next range |
//! | `grants` | node and counter | last grant |
//!
//! Keys and values are written by [`slipgate_proto::codec`].
//!
//! Format 2: homes have a term and a predecessor. A file of format 1 is brought to it when it is opened.
//!
//! Keeps: a list of writes is on disk whole or not at all; the file is open once (redb locks it), so
//! two managers never append to one store; a new file's folder entry is on disk before it is used.
//! Leaves out: what the writes mean (`slipgate_cluster::manager`), and the thread: every call blocks.

mod format_1;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use redb::{
    Database, DatabaseError, Durability, ReadTransaction, ReadableDatabase, ReadableTable, TableDefinition,
    WriteTransaction,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use slipgate_cluster::View;
use slipgate_cluster::manager::{Stored, Write};
use slipgate_proto::codec::{self, DecodeError, EncodeError};
use thiserror::Error;

/// Format of the file. One of format 1 is brought to it; a file of any other is refused.
pub const FORMAT: u32 = 2;

/// What went wrong with the store.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The folder is not there and could not be made. Nothing was changed.
    #[error("the folder {} cannot be used: check that it may be written", path.display())]
    Folder {
        /// Which folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Another manager has the file open, in this process or another one. Nothing was changed.
    #[error("the store {} is open already: another manager runs on it, stop that one first", path.display())]
    InUse {
        /// Which file.
        path: PathBuf,
    },
    /// The file is there and is no store, or cannot be read. Nothing was changed.
    #[error("the store {} cannot be opened: put the latest copy back, an older one would issue ids twice", path.display())]
    Open {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: Box<redb::Error>,
    },
    /// The file was written in another format. Nothing was changed.
    #[error("the store has format {found}, this program reads formats 1 and {FORMAT}: run the version that wrote it")]
    Format {
        /// The format found.
        found: u32,
    },
    /// Reading failed.
    #[error("the store cannot be read")]
    Read(#[source] Box<redb::Error>),
    /// An entry is not what its table holds.
    #[error("an entry of table {table} is damaged: put the latest copy of the store back")]
    Damaged {
        /// Which table.
        table: &'static str,
        /// Why.
        source: DecodeError,
    },
    /// Writing failed: what was to be written may be on disk or not. Answer nothing that depends on
    /// it; open the store again to learn which.
    #[error("the store cannot be written: free space or repair the disk, then start the manager again")]
    Write(#[source] Box<redb::Error>),
    /// An entry is too large. Nothing was written.
    #[error("an entry is too large for the store")]
    TooLarge(#[source] EncodeError),
}

/// The open store of a manager. Closed when dropped.
pub struct Store {
    database: Database,
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").finish_non_exhaustive()
    }
}

impl Store {
    /// Opens the file at `path`; makes it, and the folders above it, where they are missing. Blocks.
    ///
    /// # Errors
    ///
    /// If the folder cannot be used, or the file is open elsewhere, no store, or of another format.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let made = make_folders(folder)?;
        let database = Database::create(path).map_err(|error| unopened(path, error))?;
        for folder in made.iter().map(PathBuf::as_path).chain([folder]) {
            keep_entries(folder)?;
        }
        Self::begin(database)
    }

    /// Makes the tables, and checks the format.
    fn begin(database: Database) -> Result<Self, StoreError> {
        let transaction = begin_write(&database)?;
        let format = {
            let meta = transaction.open_table(META).map_err(unwritten)?;
            let format = meta.get(key(FORMAT_KEY)?.as_slice()).map_err(unread)?;
            format.map(|format| read_value::<u32>(META_NAME, format.value())).transpose()?
        };
        match format {
            Some(FORMAT) => {}
            Some(format_1::FORMAT) => {
                format_1::bring_up(&transaction)?;
                put(&transaction, META, FORMAT_KEY, &FORMAT)?;
            }
            Some(found) => return Err(StoreError::Format { found }),
            None => put(&transaction, META, FORMAT_KEY, &FORMAT)?,
        }
        for table in [MEMBERS, SCENES, SCENE_NUMBERS, HOMES, DEAD, DRAINING, COUNTERS, GRANTS] {
            transaction.open_table(table).map_err(unwritten)?;
        }
        transaction.commit().map_err(unwritten)?;
        Ok(Self { database })
    }

    /// Reads all of it. Blocks.
    ///
    /// # Errors
    ///
    /// If reading fails or an entry is damaged.
    pub fn load(&self) -> Result<Stored, StoreError> {
        let transaction = self.database.begin_read().map_err(unread)?;
        let meta = transaction.open_table(META).map_err(unread)?;
        let version = meta.get(key(VERSION_KEY)?.as_slice()).map_err(unread)?;
        let version = version.map(|version| read_value(META_NAME, version.value())).transpose()?;
        Ok(Stored {
            view: View {
                version: version.unwrap_or(0),
                members: read_all(&transaction, MEMBERS, "members")?,
                scenes: read_all(&transaction, SCENES, "scenes")?,
                homes: read_all(&transaction, HOMES, "homes")?,
                dead: read_all(&transaction, DEAD, "dead")?,
                draining: read_all(&transaction, DRAINING, "draining")?,
            },
            counters: read_all(&transaction, COUNTERS, "counters")?,
            grants: read_all(&transaction, GRANTS, "grants")?,
            scene_numbers: read_all(&transaction, SCENE_NUMBERS, "scene_numbers")?,
        })
    }

    /// Puts the writes on disk, in order, all or none, and returns once they are there. Blocks.
    ///
    /// # Errors
    ///
    /// If the disk fails: then it is not known whether the writes are there.
    pub fn write(&self, writes: &[Write]) -> Result<(), StoreError> {
        let transaction = begin_write(&self.database)?;
        for write in writes {
            match write {
                Write::Member(member) => put(&transaction, MEMBERS, &member.session.node, member)?,
                Write::Scene(scene) => put(&transaction, SCENES, &scene.id, scene)?,
                Write::SceneGone(scene) => remove(&transaction, SCENES, scene)?,
                Write::SceneNumber { number, generation } => put(&transaction, SCENE_NUMBERS, number, generation)?,
                Write::Home(home) => put(&transaction, HOMES, &home.range, home)?,
                Write::Counter { counter, next } => put(&transaction, COUNTERS, counter, next)?,
                Write::Grant { counter, grant } => {
                    put(&transaction, GRANTS, &(grant.session.node, *counter), grant)?;
                }
                Write::Dead(session) => put(&transaction, DEAD, &session.node, &session.incarnation)?,
                Write::Draining(session) => put(&transaction, DRAINING, &session.node, &session.incarnation)?,
                Write::Working(session) => remove(&transaction, DRAINING, &session.node)?,
                Write::Version(version) => put(&transaction, META, VERSION_KEY, version)?,
            }
        }
        transaction.commit().map_err(unwritten)
    }
}

type Table = TableDefinition<'static, &'static [u8], &'static [u8]>;

const META_NAME: &str = "meta";
const META: Table = TableDefinition::new(META_NAME);
const MEMBERS: Table = TableDefinition::new("members");
const SCENES: Table = TableDefinition::new("scenes");
const SCENE_NUMBERS: Table = TableDefinition::new("scene_numbers");
const HOMES: Table = TableDefinition::new("homes");
const DEAD: Table = TableDefinition::new("dead");
const DRAINING: Table = TableDefinition::new("draining");
const COUNTERS: Table = TableDefinition::new("counters");
const GRANTS: Table = TableDefinition::new("grants");

const FORMAT_KEY: &str = "format";
const VERSION_KEY: &str = "version";

fn begin_write(database: &Database) -> Result<WriteTransaction, StoreError> {
    let mut transaction = database.begin_write().map_err(unwritten)?;
    transaction.set_durability(Durability::Immediate).map_err(unwritten)?;
    Ok(transaction)
}

fn put<K: Serialize + ?Sized, V: Serialize>(
    transaction: &WriteTransaction,
    table: Table,
    under: &K,
    value: &V,
) -> Result<(), StoreError> {
    let value = codec::encode(value).map_err(StoreError::TooLarge)?;
    let mut table = transaction.open_table(table).map_err(unwritten)?;
    table.insert(key(under)?.as_slice(), value.as_slice()).map_err(unwritten)?;
    Ok(())
}

fn remove<K: Serialize>(transaction: &WriteTransaction, table: Table, under: &K) -> Result<(), StoreError> {
    let mut table = transaction.open_table(table).map_err(unwritten)?;
    table.remove(key(under)?.as_slice()).map_err(unwritten)?;
    Ok(())
}

fn read_all<K: DeserializeOwned + Ord, V: DeserializeOwned>(
    transaction: &ReadTransaction,
    table: Table,
    name: &'static str,
) -> Result<BTreeMap<K, V>, StoreError> {
    let table = transaction.open_table(table).map_err(unread)?;
    let mut values = BTreeMap::new();
    for entry in table.iter().map_err(unread)? {
        let (under, value) = entry.map_err(unread)?;
        values.insert(read_value(name, under.value())?, read_value(name, value.value())?);
    }
    Ok(values)
}

fn key<K: Serialize + ?Sized>(key: &K) -> Result<Vec<u8>, StoreError> {
    codec::encode(&key).map_err(StoreError::TooLarge)
}

fn read_value<T: DeserializeOwned>(table: &'static str, bytes: &[u8]) -> Result<T, StoreError> {
    codec::decode(bytes).map_err(|source| StoreError::Damaged { table, source })
}

fn unopened(path: &Path, error: DatabaseError) -> StoreError {
    let path = path.to_owned();
    if matches!(error, DatabaseError::DatabaseAlreadyOpen) {
        return StoreError::InUse { path };
    }
    StoreError::Open { path, source: Box::new(error.into()) }
}

fn unread(error: impl Into<redb::Error>) -> StoreError {
    StoreError::Read(Box::new(error.into()))
}

fn unwritten(error: impl Into<redb::Error>) -> StoreError {
    StoreError::Write(Box::new(error.into()))
}

/// Makes `folder` and what is missing above it; returns the folders that got a new entry by that.
fn make_folders(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let missing: Vec<&Path> = folder.ancestors().take_while(|folder| !folder.exists()).collect();
    std::fs::create_dir_all(folder).map_err(|source| StoreError::Folder { path: folder.to_owned(), source })?;
    Ok(missing
        .into_iter()
        .filter_map(Path::parent)
        .map(|parent| if parent.as_os_str().is_empty() { PathBuf::from(".") } else { parent.to_owned() })
        .collect())
}

/// Puts the entries of a folder on disk. Without that a power cut may take a new file away whole,
/// although its content was synced, and the manager would begin with range 1 again.
fn keep_entries(folder: &Path) -> Result<(), StoreError> {
    if cfg!(unix) {
        let synced = std::fs::File::open(folder).and_then(|folder| folder.sync_all());
        synced.map_err(|source| StoreError::Folder { path: folder.to_owned(), source })?;
    }
    Ok(())
}

#[cfg(test)]
pub(super) mod tests;
