//! Whole nodes in one process: all actors together, without sockets; the manager, if any, is the test.

mod alone;
mod closing;
mod evacuation;
mod faulty_games;
mod games;
mod granted;
mod home;
mod hook_panics;
mod lists;
mod newcomers;
mod node;
mod paused;
mod reopened;
mod returned;
mod says;
mod slow_scene;
mod timers;
mod two_nodes;
mod versions;
mod wishes;
