//! One node alone: the manager and the other nodes are the test, which hears what they are asked and answers for them.

#[path = "alone/closing.rs"]
mod closing;
#[path = "alone/granted.rs"]
mod granted;
#[path = "alone/home.rs"]
mod home;
#[path = "alone/lists.rs"]
mod lists;
#[path = "alone/node.rs"]
mod node;
#[path = "alone/reopened.rs"]
mod reopened;
#[path = "alone/returned.rs"]
mod returned;
