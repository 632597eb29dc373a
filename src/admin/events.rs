//! Events as they happen, for as long as somebody reads them.
//!
//! ```text
//! id: n1=412,n2=77                        position after this event, per node
//! event: move.ok
//! data: {"node":"n2","number":77,...}     an `Event`
//! ```
//!
//! While a reader is connected, its stream asks the oracle again and again for what comes after its
//! position; without readers nobody asks, and there are never more than a few (`readers.rs`). A reader that comes back with `Last-Event-ID` goes on where
//! it stopped. Where there is nothing to tell, a comment shows that the stream is alive.
//!
//! Keeps: events of one node arrive in order and once; a gap in their numbers says that some were
//! dropped before they were read.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;
use std::time::{Duration, Instant};

use actix_web::web::{Bytes, Data, Query};
use actix_web::{HttpRequest, HttpResponse};
use futures_util::stream;
use slipgate_proto::admin::{Answer, Cursor, Event, Problem, Question};

use super::body::{EventsQuery, Family};
use super::readers::{Admitted, Readers, admit};
use super::reply::Rejection;
use super::{Oracle, Settings};

pub(super) async fn stream<O: Oracle>(
    oracle: Data<O>,
    settings: Data<Settings>,
    readers: Data<Readers>,
    query: Query<EventsQuery>,
    request: HttpRequest,
) -> Result<HttpResponse, Rejection> {
    let seen = match request.headers().get("Last-Event-ID") {
        Some(value) => Some(value.to_str().unwrap_or_default().parse::<Position>().map_err(|fault| {
            Rejection::usage("bad_position", format!("the header Last-Event-ID does not fit: {fault}"))
        })?),
        None => None,
    };
    let reader = Reader {
        oracle,
        filter: query.into_inner(),
        resumed: seen.is_some(),
        seen: seen.unwrap_or_default(),
        poll_every: settings.poll_every,
        heartbeat_every: settings.heartbeat_every,
        told: None,
        problem: None,
        _admitted: admit(readers)?,
    };
    let chunks = stream::unfold(reader, |mut reader| async {
        let chunk = reader.next_chunk().await;
        Some((Ok::<_, Infallible>(Bytes::from(chunk)), reader))
    });
    Ok(HttpResponse::Ok()
        .content_type("text/event-stream")
        .insert_header(("Cache-Control", "no-store"))
        .streaming(chunks))
}

/// One reader's stream.
struct Reader<O: Oracle> {
    oracle: Data<O>,
    filter: EventsQuery,
    resumed: bool,
    seen: Position,
    poll_every: Duration,
    heartbeat_every: Duration,
    /// When something was last told; nothing yet, before the first chunk.
    told: Option<Instant>,
    /// The last problem told; the same one is not told again until a poll has gone well.
    problem: Option<Problem>,
    _admitted: Admitted,
}

impl<O: Oracle> Reader<O> {
    /// Waits until there is something to tell, at the latest a heartbeat.
    async fn next_chunk(&mut self) -> String {
        let chunk = match self.told {
            None => self.first_chunk().await,
            Some(told) => self.later_chunk(told).await,
        };
        self.told = Some(Instant::now());
        chunk
    }

    /// Finds out where the nodes are. What they tell now happened before the reader came, unless the
    /// reader has come back.
    async fn first_chunk(&mut self) -> String {
        let mut chunk = String::from(": slipgate events\n\n");
        match self.poll().await {
            Ok(events) if self.resumed => self.tell(&events, &mut chunk),
            Ok(events) => events.iter().for_each(|event| self.seen.pass(event)),
            Err(problem) => self.tell_problem(problem, &mut chunk),
        }
        chunk
    }

    async fn later_chunk(&mut self, told: Instant) -> String {
        let mut chunk = String::new();
        while chunk.is_empty() {
            // Most of what is told comes from other nodes, which keep no list of readers here.
            tokio::time::sleep(self.poll_every).await;
            match self.poll().await {
                Ok(events) => self.tell(&events, &mut chunk),
                Err(problem) => self.tell_problem(problem, &mut chunk),
            }
            if chunk.is_empty() && told.elapsed() >= self.heartbeat_every {
                chunk.push_str(": alive\n\n");
            }
        }
        chunk
    }

    async fn poll(&self) -> Result<Vec<Event>, Problem> {
        match self.oracle.ask(Question::Events { after: self.seen.cursors(), limit: EVENTS_PER_POLL }).await? {
            Answer::Events(events) => Ok(events),
            Answer::Nodes(_)
            | Answer::Scenes(_)
            | Answer::Entities(_)
            | Answer::Entity(_)
            | Answer::Spawned(_)
            | Answer::SomeSpawned(_)
            | Answer::Sent(_)
            | Answer::Asked(_)
            | Answer::Move(_)
            | Answer::Despawned(_)
            | Answer::Unparked(_)
            | Answer::Moves(_)
            | Answer::Lost(_)
            | Answer::Drain(_)
            | Answer::Opened(_)
            | Answer::Closed(_)
            | Answer::Partial(_) => Ok(Vec::new()),
        }
    }

    fn tell_problem(&mut self, problem: Problem, chunk: &mut String) {
        if self.problem.as_ref() == Some(&problem) {
            return;
        }
        let data = serde_json::to_string(&problem).expect("a problem is plain data");
        chunk.push_str(&format!("event: problem\ndata: {data}\n\n"));
        self.problem = Some(problem);
    }

    fn tell(&mut self, events: &[Event], chunk: &mut String) {
        self.problem = None;
        for event in events {
            if !self.seen.is_new(event) {
                continue;
            }
            self.seen.pass(event);
            if passes(&self.filter, event) {
                let data = serde_json::to_string(event).expect("an event is plain data");
                chunk.push_str(&format!("id: {}\nevent: {}\ndata: {data}\n\n", self.seen, one_line(&event.event)));
            }
        }
    }
}

/// A line break within a field would end it.
fn one_line(text: &str) -> String {
    text.replace(['\r', '\n'], " ")
}

fn passes(filter: &EventsQuery, event: &Event) -> bool {
    let prefixes: &[&str] = match filter.what {
        None => &[""],
        Some(Family::Moves) => &["move."],
        Some(Family::Entities) => &["entity.", "entities."],
        Some(Family::Nodes) => &["node.", "link.", "lease.", "home.", "entities."],
        Some(Family::Scenes) => &["scene."],
    };
    prefixes.iter().any(|prefix| event.event.starts_with(prefix))
        && filter.entity.as_ref().is_none_or(|entity| is_about(entity, &event.fields))
}

fn is_about(entity: &str, fields: &str) -> bool {
    let Ok(serde_json::Value::Object(fields)) = serde_json::from_str(fields) else { return false };
    ["entity", "label"].iter().any(|key| fields.get(*key).and_then(|value| value.as_str()) == Some(entity))
}

/// The last event seen of each node. Prints as `n1=412,n2=77`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Position {
    numbers: BTreeMap<String, u64>,
}

impl Position {
    fn is_new(&self, event: &Event) -> bool {
        self.numbers.get(&event.node).is_none_or(|seen| event.number > *seen)
    }

    fn pass(&mut self, event: &Event) {
        let seen = self.numbers.entry(event.node.clone()).or_default();
        *seen = event.number.max(*seen);
    }

    fn cursors(&self) -> Vec<Cursor> {
        self.numbers.iter().map(|(node, number)| Cursor { node: node.clone(), number: *number }).collect()
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (node, number)) in self.numbers.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            write!(f, "{comma}{}={number}", one_line(node))?;
        }
        Ok(())
    }
}

impl FromStr for Position {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split(',').filter(|part| !part.is_empty());
        let numbers = parts.map(|part| match part.split_once('=') {
            Some((node, number)) => match number.parse() {
                Ok(number) => Ok((node.to_owned(), number)),
                Err(_) => Err(format!("`{number}` is not a number")),
            },
            None => Err(format!("`{part}` is not of the form NODE=NUMBER")),
        });
        Ok(Self { numbers: numbers.collect::<Result<_, _>>()? })
    }
}

/// Most events of a node in one poll: five polls a second read 2,560 events a second and node.
const EVENTS_PER_POLL: u32 = 512;

#[cfg(test)]
mod tests {
    use super::*;

    fn event(node: &str, number: u64, name: &str, fields: &str) -> Event {
        Event { node: node.into(), number, ts: String::new(), event: name.into(), fields: fields.into() }
    }

    #[test]
    fn a_position_prints_and_parses() {
        let mut position = Position::default();
        position.pass(&event("n2", 77, "move.ok", "{}"));
        position.pass(&event("n1", 412, "move.ok", "{}"));
        assert_eq!(position.to_string(), "n1=412,n2=77");
        assert_eq!("n1=412,n2=77".parse(), Ok(position));
        assert_eq!("".parse(), Ok(Position::default()));
    }

    #[test]
    fn a_position_that_does_not_parse_says_where() {
        assert_eq!("n1".parse::<Position>(), Err("`n1` is not of the form NODE=NUMBER".into()));
        assert_eq!("n1=x".parse::<Position>(), Err("`x` is not a number".into()));
    }

    #[test]
    fn a_position_never_goes_back() {
        let mut position = Position::default();
        position.pass(&event("n1", 5, "a", "{}"));
        position.pass(&event("n1", 3, "a", "{}"));
        assert!(!position.is_new(&event("n1", 5, "a", "{}")));
        assert!(position.is_new(&event("n1", 6, "a", "{}")));
    }

    #[test]
    fn filters_pass_their_family_and_entity_only() {
        let moves = EventsQuery { what: Some(Family::Moves), entity: None };
        let nodes = EventsQuery { what: Some(Family::Nodes), entity: None };
        let scenes = EventsQuery { what: Some(Family::Scenes), entity: None };
        let entities = EventsQuery { what: Some(Family::Entities), entity: None };
        let of_ann = EventsQuery { what: None, entity: Some("1.4".into()) };
        let moved = event("n1", 1, "move.ok", r#"{"entity":"1.4"}"#);
        let joined = event("n1", 2, "node.joined", "{}");
        let verdicts =
            |event: &Event| [&moves, &nodes, &scenes, &entities, &of_ann].map(|filter| passes(filter, event));
        assert_eq!(verdicts(&moved), [true, false, false, false, true]);
        assert_eq!(verdicts(&joined), [false, true, false, false, false]);
        assert_eq!(verdicts(&event("n1", 3, "scene.over", "{}")), [false, false, true, false, false]);
        assert_eq!(verdicts(&event("n1", 4, "entities.lost", "{}")), [false, true, false, true, false]);
        assert!(!passes(&of_ann, &event("n1", 3, "move.ok", r#"{"entity":"1.40"}"#)));
        assert!(!passes(&of_ann, &event("n1", 3, "move.ok", "not json")));
    }
}
