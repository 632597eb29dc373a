//! The sentences of a script: one a line, indented by four blanks. What is not indented is prose; the script ends with a
//! line of `=`.
//!
//! | sentence | what it does |
//! |---|---|
//! | `node 2: hearth, cellar` | there is a node with these scenes; node 1 runs the manager |
//! | `node 3, later: meadow` | it does not start by itself |
//! | `scenes have room for 1` | each takes so many entities; 8, if nothing is said |
//! | `the curtain rises` | from here on it is written down |
//! | `all is quiet` | time passes until everything is at rest |
//! | `20 ms pass`, `3 s pass` | so much time passes |
//! | `ann is spawned in hearth` | a tool spawns her |
//! | `ann moves to meadow`, `ann and bob move to meadow` | a tool moves her; he comes along |
//! | `ann is to move to meadow, but says: in a fight` | her own code is against it |
//! | `the move of ann is cancelled` | by a tool |
//! | `ann is despawned` | by a tool |
//! | `node 1 says m1 m2 to ann` | a tool says so by way of this node's router |
//! | `node 1 says m1 to ann for bob` | she is to say `m1'` to him |
//! | `node 4 is killed`, `node 4 starts` | its process is gone; another one starts |
//! | `node 4 stands still for 13 s` | its process is stopped, and goes on |
//! | `node 3 gets a signal to stop` | the planned stop, for good |
//! | `node 3 is ordered to drain` | by a tool: it stops once it is empty |
//! | `the way from 2 to 3 is cut` | nothing passes in that direction |
//! | `nodes 2 3 and 1 4 are cut off` | nothing passes between the two groups, in either direction |
//! | `the network is whole` | nothing is cut any more |
//! | `once forest has heard Prepare ann: node 4 is killed; ...` | at that moment, once; what was said by then is on its way |
//! | `before forest hears Prepare ann: ...` | the moment before |

use std::fmt;

use slipgate_cluster::Now;

/// A sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Rise,
    Quiet,
    Pass { us: u64 },
    Spawn { who: String, scene: String },
    Move { who: Vec<String>, to: String, objection: Option<String> },
    Cancel { who: String },
    Despawn { who: String },
    Say { node: usize, what: Vec<String>, to: String, tell: Option<String> },
    Kill { node: usize },
    Start { node: usize },
    Stop { node: usize, us: u64 },
    Cut { from: Vec<usize>, to: Vec<usize>, both_ways: bool },
    Heal,
    Signal { node: usize },
    Drain { node: usize },
    Cue(Cue),
}

/// What is to be done at a moment that a message makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cue {
    pub(crate) when: When,
    /// Who hears it.
    pub(crate) who: String,
    /// How it begins.
    pub(crate) words: String,
    /// Each with its text.
    pub(crate) then: Vec<(String, Direction)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    Before,
    Once,
}

/// A node, as it is at first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) scenes: Vec<String>,
    /// Whether it starts by itself.
    pub(crate) starts: bool,
}

/// A script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Script {
    pub(crate) nodes: Vec<Place>,
    pub(crate) capacity: u32,
    /// Each with its text.
    pub(crate) directions: Vec<(String, Direction)>,
}

/// A line that says nothing that a director knows; nothing was played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unknown {
    line: String,
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no sentence of a script: {:?}; the header of script.rs has all of them", self.line)
    }
}

impl Script {
    /// Reads a file up to its transcript.
    pub(crate) fn read(text: &str) -> Result<Self, Unknown> {
        let mut script = Self { nodes: Vec::new(), capacity: 8, directions: Vec::new() };
        let lines = text.lines().take_while(|line| !is_end(line));
        for line in lines.filter_map(|line| line.strip_prefix("    ")) {
            script.take(line.trim_end()).ok_or_else(|| Unknown { line: line.to_owned() })?;
        }
        Ok(script)
    }

    fn take(&mut self, line: &str) -> Option<()> {
        if let Some((node, scenes)) = cast_of(line) {
            let starts = !node.ends_with(", later");
            let number: usize = node.trim_end_matches(", later").parse().ok()?;
            let scenes: Vec<_> = scenes.split(", ").map(str::to_owned).collect();
            let is_next = number == self.nodes.len() + 1;
            let is_alike = self.nodes.first().is_none_or(|first| first.scenes.len() == scenes.len());
            if !is_next || !is_alike || !self.directions.is_empty() {
                return None;
            }
            self.nodes.push(Place { scenes, starts });
        } else if let Some(room) = line.strip_prefix("scenes have room for ") {
            self.capacity = room.parse().ok()?;
        } else {
            self.directions.push((line.to_owned(), direction(line)?));
        }
        Some(())
    }
}

/// Whether a script ends with this line.
pub(crate) fn is_end(line: &str) -> bool {
    line.len() >= 8 && line.bytes().all(|byte| byte == b'=')
}

/// `node NUMBER: SCENES`.
fn cast_of(line: &str) -> Option<(&str, &str)> {
    line.strip_prefix("node ")?.split_once(": ")
}

fn direction(line: &str) -> Option<Direction> {
    let fixed = match line {
        "the curtain rises" => Some(Direction::Rise),
        "all is quiet" => Some(Direction::Quiet),
        "the network is whole" => Some(Direction::Heal),
        _ => None,
    };
    fixed
        .or_else(|| cue(line))
        .or_else(|| time(line, " passes").or_else(|| time(line, " pass")).map(|us| Direction::Pass { us }))
        .or_else(|| of_node(line))
        .or_else(|| of_network(line))
        .or_else(|| of_entity(line))
}

fn cue(line: &str) -> Option<Direction> {
    let (when, rest, verb) = match line.strip_prefix("once ") {
        Some(rest) => (When::Once, rest, " has heard "),
        None => (When::Before, line.strip_prefix("before ")?, " hears "),
    };
    let (who, rest) = rest.split_once(verb)?;
    // What is heard may hold a colon, and what follows none before its own end.
    let (words, then) = rest.rsplit_once(": ")?;
    let then = then.split("; ").map(|text| Some((text.to_owned(), direction(text)?))).collect::<Option<Vec<_>>>()?;
    let is_short = then.iter().all(|(_, then)| !matches!(then, Direction::Pass { .. } | Direction::Quiet));
    is_short.then(|| Direction::Cue(Cue { when, who: who.into(), words: words.into(), then }))
}

fn of_node(line: &str) -> Option<Direction> {
    let (node, rest) = line.strip_prefix("node ")?.split_once(' ')?;
    let node = number(node)?;
    match rest {
        "is killed" => return Some(Direction::Kill { node }),
        "starts" => return Some(Direction::Start { node }),
        "gets a signal to stop" => return Some(Direction::Signal { node }),
        "is ordered to drain" => return Some(Direction::Drain { node }),
        _ => {}
    }
    if let Some(span) = rest.strip_prefix("stands still for ") {
        return Some(Direction::Stop { node, us: time(span, "")? });
    }
    let (what, to) = rest.strip_prefix("says ")?.split_once(" to ")?;
    let (to, tell) = to.split_once(" for ").map_or((to, None), |(to, tell)| (to, Some(tell.to_owned())));
    let what = what.split(' ').map(str::to_owned).collect();
    Some(Direction::Say { node, what, to: word(to)?, tell })
}

fn of_network(line: &str) -> Option<Direction> {
    if let Some(rest) = line.strip_prefix("the way from ") {
        let (from, to) = rest.strip_suffix(" is cut")?.split_once(" to ")?;
        return Some(Direction::Cut { from: vec![number(from)?], to: vec![number(to)?], both_ways: false });
    }
    let (some, others) = line.strip_prefix("nodes ")?.strip_suffix(" are cut off")?.split_once(" and ")?;
    let numbers = |text: &str| text.split(' ').map(number).collect::<Option<Vec<_>>>();
    Some(Direction::Cut { from: numbers(some)?, to: numbers(others)?, both_ways: true })
}

fn of_entity(line: &str) -> Option<Direction> {
    if let Some(who) = line.strip_prefix("the move of ") {
        return Some(Direction::Cancel { who: word(who.strip_suffix(" is cancelled")?)? });
    }
    if let Some(who) = line.strip_suffix(" is despawned") {
        return Some(Direction::Despawn { who: word(who)? });
    }
    if let Some((who, scene)) = line.split_once(" is spawned in ") {
        return Some(Direction::Spawn { who: word(who)?, scene: word(scene)? });
    }
    if let Some((who, rest)) = line.split_once(" is to move to ") {
        let (to, reason) = rest.split_once(", but says: ")?;
        return Some(Direction::Move { who: vec![word(who)?], to: word(to)?, objection: Some(reason.into()) });
    }
    let (who, to) = line.split_once(" moves to ").or_else(|| line.split_once(" move to "))?;
    let who = who.split(" and ").map(word).collect::<Option<Vec<_>>>()?;
    Some(Direction::Move { who, to: word(to)?, objection: None })
}

fn word(text: &str) -> Option<String> {
    (!text.is_empty() && !text.contains(' ')).then(|| text.to_owned())
}

/// The index of the node with this number.
fn number(text: &str) -> Option<usize> {
    text.parse::<usize>().ok()?.checked_sub(1)
}

/// `3 s` or `20 ms`, then `end`.
fn time(text: &str, end: &str) -> Option<u64> {
    let (count, unit) = text.strip_suffix(end)?.split_once(' ')?;
    let count: u64 = count.parse().ok()?;
    match unit {
        "ms" => Some(count * 1_000),
        "s" => Some(count * 1_000_000),
        _ => None,
    }
}

/// The end of time.
pub(crate) const NEVER: Now = Now(u64::MAX);

#[test]
fn sentences_are_read() {
    let kill = |node| Direction::Kill { node };
    let ann = || "ann".to_owned();
    let cases = [
        ("3 s pass", Direction::Pass { us: 3_000_000 }),
        (
            "ann and bob move to hill",
            Direction::Move { who: vec![ann(), "bob".into()], to: "hill".into(), objection: None },
        ),
        (
            "node 1 says m1 m2 to ann",
            Direction::Say { node: 0, what: vec!["m1".into(), "m2".into()], to: ann(), tell: None },
        ),
        ("nodes 1 2 and 3 are cut off", Direction::Cut { from: vec![0, 1], to: vec![2], both_ways: true }),
        (
            "once home@2 has heard Cas ann: meadow: node 2 is killed; node 4 is killed",
            Direction::Cue(Cue {
                when: When::Once,
                who: "home@2".into(),
                words: "Cas ann: meadow".into(),
                then: vec![("node 2 is killed".into(), kill(1)), ("node 4 is killed".into(), kill(3))],
            }),
        ),
    ];
    for (line, read) in cases {
        assert_eq!(direction(line), Some(read), "{line}");
    }
}

#[test]
fn what_is_no_sentence_is_refused_with_its_line() {
    for line in [
        "ann goes to hill",
        "node 0 is killed",
        "3 hours pass",
        "once hill has heard Prepare: all is quiet",
        "ann is despawned twice",
    ] {
        let read = Script::read(&format!("A play.\n\n    node 1: hill\n    {line}\n========\n"));
        assert_eq!(read, Err(Unknown { line: line.to_owned() }), "{line}");
    }
    for cast in ["node 2: hill", "node 1: hill\n    node 3: moor", "node 1: hill\n    node 2: moor, fen"] {
        assert!(Script::read(&format!("    {cast}\n")).is_err(), "{cast}");
    }
}
