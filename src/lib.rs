//! Entities that walk between scene servers without their players noticing.
//!
//! | module | holds |
//! |---|---|
//! | [`config`] | file, environment and flags to checked values |

pub mod config;
