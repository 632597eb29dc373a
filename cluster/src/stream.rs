//! skeleton
use serde::{Deserialize, Serialize};
/// x
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StreamId {}
/// x
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Received {}
/// x
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SendStream {}
