//! Scenes that are made and closed at run time, in one node.

#[path = "scenes/closing.rs"]
mod closing;
#[path = "scenes/lone_node.rs"]
mod lone_node;
#[path = "scenes/reopened.rs"]
mod reopened;
