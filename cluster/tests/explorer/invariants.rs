//! What must hold in every state, and what must have come about once everything is at rest.

use slipgate_cluster::message::Sender;
use slipgate_cluster::{Epoch, Own, Record};

use super::desks::Fate;
use super::plan::{Plan, number};
use super::sight::{Here, Scene, Sight, Stand, Tool};

/// Everybody, as far as the promises speak of it.
pub(crate) struct Sights<'a> {
    plan: &'a Plan,
    scenes: Vec<&'a Scene>,
    homes: Vec<&'a Vec<Option<Record>>>,
    tool: Option<&'a Tool>,
}

impl<'a> Sights<'a> {
    pub(crate) fn new(plan: &'a Plan, sights: impl Iterator<Item = &'a Sight>) -> Self {
        let mut all = Self { plan, scenes: Vec::new(), homes: Vec::new(), tool: None };
        for sight in sights {
            match sight {
                Sight::Scene(scene) => all.scenes.push(scene),
                Sight::Home(records) => all.homes.push(records),
                Sight::Desk(tool) => all.tool = Some(tool),
                Sight::Gone => {}
            }
        }
        all
    }

    /// What must hold at every moment.
    pub(crate) fn check(&self) -> Result<(), String> {
        (0..self.plan.entities.len()).try_for_each(|index| {
            self.one_owner(index)?;
            self.streams(index)
        })
    }

    /// The record, if there is a home that is complete. Where a former home goes on, since it has yet to hear of the
    /// next one, that one's word counts.
    fn record(&self, index: usize) -> Option<Record> {
        self.homes.iter().filter_map(|records| records[index]).max_by_key(|record| record.epoch)
    }

    /// Bit per entity: it lives, and is not lost with those for whom `is_dead` holds. Where no home knows, that is
    /// certain only if none of them has a copy.
    pub(crate) fn safe_from(&self, is_dead: impl Fn(u16) -> bool) -> u8 {
        let is_there = |own: Own| is_dead(number(own.session));
        let is_safe = |&index: &usize| match self.record(index) {
            Some(Record { owner: Some(owner), .. }) => !is_there(owner),
            Some(Record { owner: None, .. }) => false,
            None => self.holders(index).all(|(scene, _)| !is_there(scene.me)),
        };
        (0..self.plan.entities.len()).filter(is_safe).fold(0, |bits, index| bits | 1 << index)
    }

    fn holders(&self, index: usize) -> impl Iterator<Item = (&'a Scene, &'a Here)> + '_ {
        self.scenes.iter().filter_map(move |scene| Some((*scene, scene.here[index].as_ref()?)))
    }

    /// The copy that the record names, if its node lives.
    fn counted(&self, index: usize) -> Option<&'a Here> {
        let record = self.record(index)?;
        let named = |(scene, here): &(&Scene, &Here)| record.names(scene.me) && here.data == record.data;
        self.holders(index).find(named).map(|(_, here)| here)
    }

    fn one_owner(&self, index: usize) -> Result<(), String> {
        let mut terms: Vec<_> = self.homes.iter().filter_map(|records| Some(records[index]?.epoch.term())).collect();
        terms.sort_unstable();
        if terms.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(format!("two homes answer in one term: {terms:?}"));
        }
        let active: Vec<_> = self.holders(index).filter(|(_, here)| here.stand == Stand::Active).collect();
        if let [first, second, ..] = active[..] {
            return Err(format!("two are active: {:?} and {:?}", first.0.me, second.0.me));
        }
        let Some(record) = self.record(index) else { return Ok(()) };
        if record.base > Epoch::ZERO && !self.plan.may_reset() {
            return Err(format!("no scene has died, but the streams are reset: {record:?}"));
        }
        if record.lost && !self.plan.may_lose() {
            return Err(format!("no scene has died, but the entity is lost: {record:?}"));
        }
        for (scene, here) in active {
            if !record.names(scene.me) || here.data != record.data || here.epoch > record.epoch {
                return Err(format!("{:?} is active at {:?}, but the record is {record:?}", scene.me, here.epoch));
            }
        }
        let lives = |scene: &&&Scene| record.names(scene.me);
        if let Some(owner) = self.scenes.iter().find(lives)
            && self.counted(index).is_none()
        {
            return Err(format!("{:?} is the owner and has no copy of {:?}", owner.me, record.data));
        }
        Ok(())
    }

    fn streams(&self, index: usize) -> Result<(), String> {
        self.told_by_tool(index)?;
        let Some(counted) = self.counted(index) else { return Ok(()) };
        if self.plan.may_reset() {
            // A copy that is revived says its numbers anew, and what it has heard may have gaps.
            return Ok(());
        }
        for (sender, heard) in &counted.body.heard {
            if let Sender::Entity(_) = sender
                && heard.iter().zip(1..).any(|(&heard, next)| heard != next)
            {
                return Err(format!("from {sender:?} it has heard {heard:?}: a gap"));
            }
        }
        self.acknowledged_to_entities(index, counted)
    }

    fn told_by_tool(&self, index: usize) -> Result<(), String> {
        let Some(tool) = self.tool else { return Ok(()) };
        let record = self.record(index);
        let is_reset = record.is_some_and(|record| record.base > Epoch::ZERO);
        let is_active = self.holders(index).any(|(_, here)| here.stand == Stand::Active);
        let heard = self.counted(index).map(|here| here.heard_from_tool(self.plan));
        let to_it = self.plan.says.iter().zip(&tool.fates).zip(1u8..).filter(|((line, _), _)| line.to == index);
        for ((_, fate), number) in to_it {
            let is_heard = heard.is_none_or(|heard| heard.contains(&number));
            let is_passed = heard.is_some_and(|heard| heard.last().is_some_and(|&last| last > number));
            match fate {
                Some(Fate::Applied(base)) if !is_heard && record.is_some_and(|record| record.base == *base) => {
                    return Err(format!("message {number} is acknowledged and not in the copy that counts"));
                }
                Some(Fate::Failed(base)) if !is_heard && record.is_some_and(|record| record.base == *base) => {
                    return Err(format!("message {number} is answered failed and not in the copy that counts"));
                }
                Some(Fate::Applied(_)) if self.plan.stumbles_at == Some(number) => {
                    return Err(format!("message {number} is answered applied, and its handler panicked"));
                }
                Some(Fate::Parked) if heard.is_some_and(|heard| heard.contains(&number)) => {
                    return Err(format!("message {number} is answered parked, and applied"));
                }
                Some(Fate::Failed(_) | Fate::Parked) if self.plan.stumbles_at.is_none() => {
                    return Err(format!("no handler panics, but message {number} is answered {:?}", tool.fates));
                }
                Some(Fate::Accepted | Fate::Dead) if !is_heard && is_passed => {
                    return Err(format!("message {number} is left out: {heard:?} are applied"));
                }
                Some(Fate::Dead) if is_active && !is_reset => {
                    return Err(format!("message {number} is answered dead, but the record is {record:?}"));
                }
                Some(Fate::Lost) if record.is_some_and(|record| !record.lost) && !is_reset => {
                    return Err(format!("message {number} is answered lost, but the record is {record:?}"));
                }
                Some(Fate::Lost) if heard.is_some_and(|heard| heard.contains(&number)) => {
                    return Err(format!("message {number} is answered lost, and applied"));
                }
                Some(Fate::Unknown) if record.is_some_and(|record| !record.lost) && !is_reset => {
                    return Err(format!("message {number} is answered unknown, but the record is {record:?}"));
                }
                Some(_) | None => {}
            }
        }
        Ok(())
    }

    fn acknowledged_to_entities(&self, index: usize, receiver: &Here) -> Result<(), String> {
        for (other, sender) in self.plan.entities().into_iter().enumerate() {
            let lines = self.plan.says.iter().filter(|line| line.to == other);
            if !lines.clone().all(|line| line.tell == Some(index)) {
                continue;
            }
            for (_, here) in self.holders(other).filter(|(_, here)| here.stand != Stand::Staged) {
                let acknowledged = u64::from(here.body.told).saturating_sub(here.unacknowledged);
                let heard = receiver.body.heard.get(&Sender::Entity(sender)).map_or(0, Vec::len) as u64;
                if acknowledged > heard {
                    return Err(format!("{sender} knows {acknowledged} of its messages applied, {heard} are"));
                }
            }
        }
        Ok(())
    }

    /// Whatever an entity was told, it tells on: also when it is despawned before that is acknowledged.
    fn told_on(&self, index: usize) -> Result<(), String> {
        let (Some(receiver), Some(tool)) = (self.counted(index), self.tool) else { return Ok(()) };
        if self.plan.may_reset() || self.plan.stumbles_at.is_some() {
            return Ok(());
        }
        for (other, sender) in self.plan.entities().into_iter().enumerate() {
            if self.record(other).is_none_or(|record| record.lost) {
                continue;
            }
            let lines = self.plan.says.iter().zip(&tool.fates);
            let told = lines.filter(|(line, fate)| {
                line.to == other && line.tell == Some(index) && matches!(fate, Some(Fate::Applied(_)))
            });
            let (told, heard) = (told.count(), receiver.body.heard.get(&Sender::Entity(sender)).map_or(0, Vec::len));
            if heard < told {
                return Err(format!("{sender} was told {told} to tell on, and {heard} of those are heard"));
            }
        }
        Ok(())
    }

    /// What must have come about once faults have ceased and nothing moves any more.
    pub(crate) fn check_at_rest(&self, safe: u8) -> Result<(), String> {
        self.check()?;
        for (index, entity) in self.plan.entities().into_iter().enumerate() {
            let Some(record) = self.record(index) else { return Err(format!("nobody is the home of {entity}")) };
            let holders: Vec<_> = self.holders(index).map(|(scene, here)| (scene.me, here.stand)).collect();
            if record.lost && safe & 1 << index != 0 {
                return Err(format!("{entity} is lost, though its owner has not died: {holders:?}"));
            }
            self.told_on(index)?;
            match record.owner {
                Some(owner) if holders == [(owner, Stand::Active)] => {}
                None if holders.is_empty() => {}
                Some(_) | None => return Err(format!("at rest the record is {record:?}, and there are {holders:?}")),
            }
        }
        if let Some(scene) = self.scenes.iter().find(|scene| scene.unsettled > 0) {
            return Err(format!("at rest {:?} has {} moves, copies or reservations open", scene.me, scene.unsettled));
        }
        if self.scenes.iter().any(|scene| scene.here.iter().flatten().any(|here| here.unacknowledged > 0)) {
            return Err("at rest an entity waits for an acknowledgement".into());
        }
        let open = self.scenes.iter().map(|scene| scene.streams).sum::<usize>();
        let open = open + self.tool.map_or(0, |tool| tool.streams);
        if self.plan.idles && open > 0 {
            return Err(format!("at rest {open} rows are kept for streams"));
        }
        match self.tool {
            Some(tool) if tool.waiting > 0 => Err(format!("at rest the router waits for answers: {:?}", tool.fates)),
            Some(_) | None => Ok(()),
        }
    }
}

/// Of those who set out together nobody freezes alone: in a plan with one move, whoever is here.
pub(crate) fn check_party(plan: &Plan, before: &Sight, after: &Sight) -> Result<(), String> {
    let (Sight::Scene(before), Sight::Scene(after)) = (before, after) else { return Ok(()) };
    let stands = |scene: &Scene, stand| {
        let here = scene.here.iter().map(move |here| here.as_ref().is_some_and(|here| here.stand == stand));
        here.collect::<Vec<_>>()
    };
    let (active, frozen) = (stands(before, Stand::Active), stands(after, Stand::Frozen));
    let freezes = active.iter().zip(&frozen).any(|(active, frozen)| *active && *frozen);
    if plan.together && plan.moves == 1 && freezes && active != frozen {
        return Err(format!("active were {active:?}, and of those only {frozen:?} freeze"));
    }
    Ok(())
}

/// What a home may never do to a record: lower its epoch, or bring back the dead.
pub(crate) fn check_change(before: &Sight, after: &Sight) -> Result<(), String> {
    let (Sight::Home(before), Sight::Home(after)) = (before, after) else { return Ok(()) };
    for (before, after) in before.iter().zip(after) {
        let (Some(before), Some(after)) = (before, after) else { continue };
        let was_dead = before.owner.is_none() && before.epoch > Epoch::ZERO;
        if after.epoch < before.epoch || (was_dead && after != before) {
            return Err(format!("the record {before:?} becomes {after:?}"));
        }
    }
    Ok(())
}
