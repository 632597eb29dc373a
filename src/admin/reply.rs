//! Answers and problems as HTTP responses.

use actix_web::error::{JsonPayloadError, PathError, QueryPayloadError};
use actix_web::http::StatusCode;
use actix_web::{HttpResponse, ResponseError};
use serde::Serialize;
use slipgate_proto::admin::{Answer, EntityRow, PartialList, Problem, ProblemKind, Rows, SomeSpawned};

use super::BODY_BYTES_MAX;

/// Header of a list that lacks what these nodes have: their names, with commas between.
pub const SILENT: &str = "slipgate-silent";

/// HTTP status of a kind of problem.
#[must_use]
pub fn status_of(kind: ProblemKind) -> StatusCode {
    match kind {
        ProblemKind::Usage => StatusCode::BAD_REQUEST,
        ProblemKind::NotFound => StatusCode::NOT_FOUND,
        ProblemKind::Refused => StatusCode::CONFLICT,
        ProblemKind::Timeout => StatusCode::GATEWAY_TIMEOUT,
        ProblemKind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        ProblemKind::Unauthorized => StatusCode::UNAUTHORIZED,
    }
}

/// A request that gets no answer, with its status.
#[derive(Debug, thiserror::Error)]
#[error("{}", problem.text)]
pub(super) struct Rejection {
    pub(super) status: StatusCode,
    pub(super) problem: Problem,
}

impl Rejection {
    /// The question is wrong.
    pub(super) fn usage(reason: &str, text: String) -> Self {
        Problem { kind: ProblemKind::Usage, reason: reason.into(), text, state: None, hint: None }.into()
    }

    /// The same with another status of the same meaning.
    pub(super) fn with_status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }
}

impl From<Problem> for Rejection {
    fn from(problem: Problem) -> Self {
        Self { status: status_of(problem.kind), problem }
    }
}

impl ResponseError for Rejection {
    fn status_code(&self) -> StatusCode {
        self.status
    }

    fn error_response(&self) -> HttpResponse {
        HttpResponse::build(self.status).json(Envelope { error: &self.problem, spawned: None })
    }
}

/// A problem, as JSON.
#[derive(Serialize)]
struct Envelope<'a> {
    error: &'a Problem,
    /// Of several that were to be spawned, those that were.
    #[serde(skip_serializing_if = "Option::is_none")]
    spawned: Option<&'a [EntityRow]>,
}

/// What is inside an answer, as JSON.
pub(super) fn json_of(answer: &Answer) -> HttpResponse {
    let mut ok = HttpResponse::Ok();
    match answer {
        Answer::Nodes(report) => ok.json(report),
        Answer::Scenes(scenes) => ok.json(scenes),
        Answer::Entities(rows) | Answer::Spawned(rows) => ok.json(rows),
        Answer::SomeSpawned(SomeSpawned { rows, problem }) => {
            HttpResponse::build(status_of(problem.kind)).json(Envelope { error: problem, spawned: Some(rows) })
        }
        Answer::Entity(report) => ok.json(report),
        Answer::Sent(report) => ok.json(report),
        Answer::Asked(report) => ok.json(report),
        Answer::Move(report) => ok.json(report),
        Answer::Despawned(row) | Answer::Unparked(row) => ok.json(row),
        Answer::Moves(reports) => ok.json(reports),
        Answer::Events(events) => ok.json(events),
        Answer::Lost(rows) => ok.json(rows),
        Answer::Drain(report) => ok.json(report),
        Answer::Opened(report) => ok.json(report),
        Answer::Closed(report) => ok.json(report),
        Answer::Partial(PartialList { rows, silent }) => {
            ok.insert_header((SILENT, silent.join(",")));
            match rows {
                Rows::Entities(rows) => ok.json(rows),
                Rows::Moves(reports) => ok.json(reports),
                Rows::Lost(rows) => ok.json(rows),
            }
        }
    }
}

/// Says that a body is too large.
pub(super) fn body_too_large() -> Rejection {
    Rejection::usage("body_too_large", format!("the body is above the limit of {BODY_BYTES_MAX} bytes"))
        .with_status(StatusCode::PAYLOAD_TOO_LARGE)
}

/// Says what is wrong with a body.
pub(super) fn bad_body(error: &JsonPayloadError) -> Rejection {
    #[expect(clippy::wildcard_enum_match_arm, reason = "the list of another crate's faults is open")]
    match error {
        JsonPayloadError::OverflowKnownLength { .. } | JsonPayloadError::Overflow { .. } => body_too_large(),
        JsonPayloadError::ContentType => {
            Rejection::usage("content_type", "the body must be sent as `Content-Type: application/json`".into())
        }
        JsonPayloadError::Deserialize(fault) => Rejection::usage("bad_json", format!("the body does not fit: {fault}")),
        other => Rejection::usage("bad_body", format!("the body could not be read: {other}")),
    }
}

/// Says what is wrong with the parameters.
pub(super) fn bad_query(error: &QueryPayloadError) -> Rejection {
    Rejection::usage("bad_query", format!("the parameters do not fit: {error}"))
}

/// Says what is wrong with the path.
pub(super) fn bad_path(error: &PathError) -> Rejection {
    Rejection::usage("bad_path", format!("the path does not fit: {error}"))
}
