//! Nodes, their lives, and their names.
//!
//! A node is a process of the cluster. The manager gives a name its [`NodeId`] once and keeps it on
//! disk; at every join it gives a higher [`Incarnation`]. Both together are a [`Session`]: one life
//! of one node, never confused with the one before it.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Number of a node, given by the manager at the first join under a name; kept for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NodeId(pub u16);

/// One life of a node; rises at every join. 0 is never given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Incarnation(pub u32);

/// One life of one node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Session {
    /// Which node.
    pub node: NodeId,
    /// Which of its lives.
    pub incarnation: Incarnation,
}

impl Session {
    /// Life `incarnation` of node `node`.
    #[must_use]
    pub fn new(node: u16, incarnation: u32) -> Self {
        Self { node: NodeId(node), incarnation: Incarnation(incarnation) }
    }
}

impl fmt::Display for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node {} life {}", self.node.0, self.incarnation.0)
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.node.0, self.incarnation.0)
    }
}

/// Name of a node, unique in the cluster: 1 to 32 of `a-z A-Z 0-9 - _ .`, first a letter or digit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct NodeName(String);

/// Why a text is not a name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{text:?} is not a name: 1 to 32 of a-z A-Z 0-9 - _ . and first a letter or digit")]
pub struct NameError {
    /// The text as it came, cut at 64 characters.
    pub text: String,
}

/// Why a text is not the name of a scene.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SceneNameError {
    /// It is no name at all.
    #[error(transparent)]
    NotAName(#[from] NameError),
    /// It could be taken for the number of a scene.
    #[error(
        "a scene that is named {text:?} could be taken for one with that number; a name has more than digits and dots"
    )]
    LikeANumber {
        /// The text as it came.
        text: String,
    },
}

impl NodeName {
    /// Longest name, in bytes.
    pub const BYTES_MAX: usize = 32;

    /// Checks a text.
    ///
    /// # Errors
    ///
    /// If it is empty, too long, or holds a character outside the set; so a name may go into a log
    /// line or a terminal as it is.
    ///
    /// ```
    /// use slipgate_cluster::NodeName;
    /// assert_eq!(NodeName::new("n1")?.as_str(), "n1");
    /// assert!(NodeName::new("\u{1b}[2J").is_err());
    /// # Ok::<(), slipgate_cluster::node::NameError>(())
    /// ```
    pub fn new(text: impl Into<String>) -> Result<Self, NameError> {
        let text = text.into();
        let fits = text.len() <= Self::BYTES_MAX
            && text.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'));
        if fits { Ok(Self(text)) } else { Err(NameError { text: text.chars().take(64).collect() }) }
    }

    /// Checks the name of a scene, which is of the same kind; but scenes are also called by their numbers.
    ///
    /// # Errors
    ///
    /// If it is no name, or could be taken for a number.
    ///
    /// ```
    /// use slipgate_cluster::NodeName;
    /// assert_eq!(NodeName::of_scene("floor7")?.as_str(), "floor7");
    /// assert!(["7", "40000.2", "70000"].iter().all(|number| NodeName::of_scene(*number).is_err()));
    /// # Ok::<(), slipgate_cluster::node::SceneNameError>(())
    /// ```
    pub fn of_scene(text: impl Into<String>) -> Result<Self, SceneNameError> {
        let name = Self::new(text)?;
        if name.0.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
            return Err(SceneNameError::LikeANumber { text: name.0 });
        }
        Ok(name)
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for NodeName {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        Self::new(text)
    }
}

impl From<NodeName> for String {
    fn from(name: NodeName) -> Self {
        name.0
    }
}

impl fmt::Display for NodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}
