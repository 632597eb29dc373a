//! The second phase: faults have ceased, and everything must come to its answer.

use slipgate_cluster::Record;
use slipgate_cluster::directory::Directory;
use slipgate_cluster::message::Sender;
use slipgate_cluster::moves::Outcome;
use slipgate_cluster::view::Home;
use slipgate_entity::OnlineId;

use super::history::Line;
use super::stage::Stage;
use super::world::World;

/// Virtual ticks until everything must be at rest: far above every deadline and the latest message.
const TICKS_MAX: u32 = 1_500;

impl World {
    /// Heals the network, waits for rest, and demands that everything is answered.
    pub(crate) fn come_to_rest(&mut self) {
        self.network.heal();
        self.is_calm = true;
        self.note(|| "the network is whole again".into());
        let mut ticks = 0;
        while (!self.left_behind().is_empty() || !self.manager.is_quiet()) && ticks < TICKS_MAX {
            self.tick();
            ticks += 1;
        }
        assert_eq!(self.left_behind(), [""; 0], "left behind at {}", self.now.0);
        for entity in self.history.entities.clone() {
            self.check_entity(entity);
        }
        for (&(sender, receiver), line) in &self.history.lines {
            self.check_line(sender, receiver, line);
        }
        for (id, story) in &self.history.moves {
            let is_told = match story.ended[..] {
                [Outcome::Undecided] => story.decided == 1,
                [_] => story.decided == 0,
                _ => false,
            };
            assert!(!self.is_alive(story.source.session) || is_told && story.began == 1, "{id}: {story:?}");
        }
        for (ticket, (own, count)) in &self.history.answers {
            assert!(*count == 1 || !self.is_alive(own.session), "{ticket:?} was never answered by {own:?}");
        }
    }

    /// Exactly one scene is active for it, or it is dead; and nobody is lost whom no death has touched.
    fn check_entity(&mut self, entity: OnlineId) {
        let record = self.record(entity).unwrap_or_else(|| panic!("{entity} has no home at rest"));
        let active = self.active(entity);
        match record.owner {
            Some(owner) => assert_eq!(active, [owner], "{entity} at rest: {record:?}"),
            None => assert_eq!(active, [], "{entity} at rest: {record:?}"),
        }
        self.check_witness(entity, record);
        let may_be_lost = self.history.may_be_lost(entity);
        if record.lost {
            if record == slipgate_cluster::Record::absent(record.epoch.term(), true) {
                self.history.count("absent is lost");
            } else {
                assert!(may_be_lost, "{entity} is lost, though no death has touched it: {record:?}");
            }
        }
        if self.history.reset.contains(&entity) {
            self.history.count("streams reset");
        }
    }

    /// Whoever lives is known to the witness of its home; whoever died with its home has been named by the witness.
    fn check_witness(&self, entity: OnlineId, record: Record) {
        if record.owner.is_none() {
            let witnesses = self.history.witnessed.get(&entity).filter(|_| record.lost);
            let is_named = self.history.named.contains(&entity);
            assert!(is_named || witnesses.is_none(), "{entity} is lost without a name, though {witnesses:?} knew it");
            return;
        }
        let Home { session: home, term, .. } = self.manager.view.homes[&entity.range()];
        let Some(witness) = self.manager.view.witness_of(home) else { return };
        let witness = self.nodes.iter().find(|node| node.session == witness).expect("every member is a node");
        assert!(
            witness.directory.witnesses(entity, term),
            "{:?} does not know of {entity} of {home:?}",
            witness.session
        );
    }

    fn check_line(&self, sender: Sender, receiver: OnlineId, line: &Line) {
        let sender_is_gone = match sender {
            Sender::Tool(session) => !self.is_alive(session),
            Sender::Entity(sender) => {
                self.history.reset.contains(&sender) || self.record(sender).is_none_or(|record| record.owner.is_none())
            }
        };
        let is_reset = self.history.reset.contains(&receiver);
        let record = self.record(receiver).expect("everybody has a home at rest");
        let body = self.stages.iter().filter(|stage| !self.nodes[stage.node].has_crashed);
        let body = body.filter_map(|stage| stage.bodies.get(&receiver)).next_back();
        let kept = |number: &u64| {
            body.and_then(|body| body.applied.get(&sender)).is_some_and(|applied| applied.contains(number))
        };
        for number in &line.accepted {
            let is_answered = line.dead.contains(number) || line.unknown.contains(number);
            let is_fine = if record.owner.is_some() {
                kept(number) || is_answered || is_reset && line.applied.contains(number)
            } else {
                line.applied.contains(number) || is_answered
            };
            assert!(
                is_fine || sender_is_gone,
                "{number} of {sender:?} to {receiver} has vanished: {record:?} {line:?}"
            );
        }
        if record.owner.is_some() && !is_reset {
            let forgotten = line.acknowledged.iter().find(|number| !kept(number));
            assert_eq!(forgotten, None, "acknowledged by {receiver} to {sender:?}, and not in the copy that counts");
            let unknown = line.unknown.iter().next().filter(|_| !sender_is_gone);
            assert_eq!(unknown, None, "told unknown to {sender:?}, though {receiver} lives and was never reset");
        }
        // A sender that began anew itself is told so of all that it had said.
        if !record.lost && record.owner.is_none() && !is_reset && !sender_is_gone {
            assert_eq!(line.unknown.iter().next(), None, "told unknown to {sender:?}, though {receiver} was despawned");
        }
        if record.lost && !self.history.despawned.contains(&receiver) {
            assert_eq!(line.dead.iter().next(), None, "told dead to {sender:?}, though {receiver} was lost");
        }
    }

    fn is_alive(&self, session: slipgate_cluster::Session) -> bool {
        self.nodes.iter().any(|node| node.session == session && !node.has_crashed)
    }

    /// Whatever is not at rest.
    fn left_behind(&self) -> Vec<&'static str> {
        let alive = |stage: &&Stage| !self.nodes[stage.node].has_crashed;
        let stages: Vec<_> = self.stages.iter().filter(alive).collect();
        let unacknowledged = |stage: &&Stage| {
            let stands = stage.scene.entities().filter_map(|entity| stage.scene.stand(entity));
            stands.map(|stand| stand.unacknowledged).sum::<u64>() > 0
        };
        let bodies = |stage: &&Stage| !stage.aside.is_empty() || stage.bodies.len() != stage.scene.len();
        let homes = self.nodes.iter().filter(|node| !node.has_crashed).any(|node| node.directory.unsettled() > 0);
        let is_open = |home: &Directory| home.tables().naming > 0 || !home.is_witnessed();
        let rosters = self.nodes.iter().filter(|node| !node.has_crashed).any(|node| is_open(&node.directory));
        let all = [
            ("moves", stages.iter().any(|stage| stage.scene.moves_under_way() > 0)),
            ("copies and reservations", stages.iter().any(|stage| stage.scene.arriving() > 0)),
            ("messages of entities", stages.iter().any(unacknowledged)),
            ("messages of tools", self.waiting() > 0),
            ("messages on the way", self.network.on_the_way() > 0),
            ("bodies without an entity", stages.iter().any(bodies)),
            ("homes that are not complete or not handed over", homes),
            ("witnesses that are not told or not heard", rosters),
        ];
        all.into_iter().filter(|(_, is_left)| *is_left).map(|(what, _)| what).collect()
    }
}
