//! A play as it is written down: beats, each of one who hears or does something.
//!
//! ```text
//!      3  forest hears Prepare ann 0.3, who has heard m1, from meadow        when, who, what
//!           ann at forest: not here => staged                                what changed
//!           > home@2: Cas ann: meadow 0.2 -> forest 0.3                      what was said, or told to whoever asked
//! ```
//!
//! Left out is what changes nothing and was written down before, word for word.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use slipgate_cluster::Now;
use slipgate_entity::OnlineId;

use super::drain::{Leave, News};
use super::names::Names;
use super::script::Cue;
use crate::life::LifeIndex;

/// One who hears or does something.
#[derive(Clone, Debug)]
struct Beat {
    at: Now,
    who: String,
    /// What is heard or done.
    head: String,
    /// Whether the head is worth a line although nothing follows.
    stands_alone: bool,
    /// How entities stand now, and records.
    stands: Vec<String>,
    /// What was done.
    deeds: Vec<String>,
    /// What was said: to whom, and what.
    says: Vec<(String, String)>,
}

/// A play, as far as it has come.
#[derive(Debug, Default)]
pub(crate) struct Play {
    pub(crate) names: Names,
    /// Cues that have not come.
    pub(crate) cues: Vec<Cue>,
    /// Who is being spawned.
    pub(crate) awaited: Option<String>,
    /// Who was asked to move, to die, by ticket.
    pub(crate) asked: BTreeMap<u64, String>,
    /// How each entity stands in each scene, as of late.
    pub(crate) stands: BTreeMap<(usize, OnlineId), String>,
    /// The record of each entity at each home, as of late.
    pub(crate) records: BTreeMap<(LifeIndex, OnlineId), String>,
    /// Nodes that are about to stop, and what they hear.
    pub(crate) leaves: Vec<Leave>,
    pub(crate) news: News,
    /// Lives without a lease.
    pub(crate) paused: BTreeSet<LifeIndex>,
    /// When the curtain rose.
    began: Option<Now>,
    beat: Option<Beat>,
    written: BTreeSet<String>,
    text: String,
}

impl Play {
    pub(crate) fn rise(&mut self, now: Now) {
        self.end_beat();
        self.began = Some(now);
        self.written.clear();
        self.text.clear();
    }

    pub(crate) fn has_risen(&self) -> bool {
        self.began.is_some()
    }

    /// What is not done by the cast.
    pub(crate) fn stage_direction(&mut self, now: Now, what: &str) {
        self.end_beat();
        self.put(now, &format!("-- {what}"));
    }

    /// What was said comes to nobody; told once.
    pub(crate) fn falls_on_deaf_ears(&mut self, now: Now, what: &str) {
        if self.written.insert(what.to_owned()) {
            self.stage_direction(now, what);
        }
    }

    /// More about it.
    pub(crate) fn detail(&mut self, line: &str) {
        let _ = writeln!(self.text, "           {line}");
    }

    /// Somebody hears or does something; what follows is his until the next does.
    pub(crate) fn begin_beat(&mut self, now: Now, who: &str, head: &str, stands_alone: bool) {
        self.end_beat();
        let (who, head) = (who.to_owned(), head.to_owned());
        self.beat = Some(Beat { at: now, who, head, stands_alone, stands: vec![], deeds: vec![], says: vec![] });
    }

    /// Somebody stands otherwise than before.
    pub(crate) fn stands(&mut self, now: Now, who: &str, change: String) {
        self.beat_of(now, who).stands.push(change);
    }

    /// Somebody does something, or tells it to people.
    pub(crate) fn does(&mut self, now: Now, who: &str, what: String) {
        let beat = self.beat_of(now, who);
        let line = if beat.who == who { what } else { format!("{who} {what}") };
        beat.deeds.push(line);
    }

    /// Somebody says something to another.
    pub(crate) fn says(&mut self, now: Now, who: &str, to: &str, what: &str) {
        let beat = self.beat_of(now, who);
        let speaker = if beat.who == who { String::new() } else { format!("{who} ") };
        let what = format!("{speaker}> {{}}: {what}");
        match beat.says.last_mut() {
            Some((all, same)) if *same == what => *all = format!("{all}, {to}"),
            Some(_) | None => beat.says.push((to.to_owned(), what)),
        }
    }

    /// Somebody does what he may do again and again.
    pub(crate) fn remarks(&mut self, now: Now, who: &str, what: &str) {
        self.beat_of(now, who).says.push((String::new(), what.to_owned()));
    }

    /// The beat under way, or else one in which somebody acts because time has passed.
    fn beat_of(&mut self, now: Now, who: &str) -> &mut Beat {
        let fits = |beat: &Beat| beat.at == now && (!beat.head.is_empty() || beat.who == who);
        if !self.beat.as_ref().is_some_and(fits) {
            self.begin_beat(now, who, "", false);
        }
        self.beat.as_mut().expect("it has just begun")
    }

    /// Whoever was on is off: what he did is written down, if it is new.
    pub(crate) fn end_beat(&mut self) {
        let Some(Beat { at, who, head, stands_alone, stands, deeds, says }) = self.beat.take() else { return };
        let head = if head.is_empty() { format!("{who}, as time passes") } else { format!("{who} {head}") };
        let says: Vec<_> = says.iter().map(|(to, what)| what.replacen("{}", to, 1)).collect();
        let mut is_new = stands_alone && self.written.insert(head.clone());
        for line in &says {
            is_new |= self.written.insert(format!("{who} {line}"));
        }
        if !is_new && stands.is_empty() && deeds.is_empty() {
            return;
        }
        self.put(at, &head);
        for line in [stands, deeds, says].iter().flatten() {
            self.detail(line);
        }
    }

    fn put(&mut self, now: Now, line: &str) {
        let since = now.0 / 1_000 - self.began.unwrap_or(now).0 / 1_000;
        let _ = writeln!(self.text, "{since:>7}  {line}");
    }

    /// The transcript so far, if the curtain has risen.
    pub(crate) fn text(&mut self) -> &str {
        self.end_beat();
        if self.has_risen() { &self.text } else { "" }
    }
}

/// A play that is broken off by a broken promise shows how far it came.
impl Drop for Play {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}", self.text());
        }
    }
}
