//! Reads the body of a request, within a size and a time.
//!
//! Without it a caller that sends a byte now and then would hold a connection for as long as it likes; there are
//! only so many. The head of a request has a time of its own, by the server.
//!
//! Keeps: a handler sees a body whole or not at all; what is read of a body is at most [`BODY_BYTES_MAX`].
//! Leaves out: what is in it.

use std::time::Duration;

use actix_web::body::MessageBody;
use actix_web::dev::{Payload, ServiceRequest, ServiceResponse};
use actix_web::http::StatusCode;
use actix_web::http::header::CONTENT_LENGTH;
use actix_web::middleware::Next;
use actix_web::web::{Bytes, BytesMut};
use actix_web::{Error, HttpMessage};
use futures_util::StreamExt;
use slipgate_proto::admin::{Problem, ProblemKind};
use tokio::time::timeout;

use super::BODY_BYTES_MAX;
use super::reply::{self, Rejection};

/// Reads the body and lets the request pass, or answers in its place.
pub(super) async fn take(
    mut request: ServiceRequest,
    next: Next<impl MessageBody>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    if claimed(&request).is_some_and(|bytes| bytes > BODY_BYTES_MAX as u64) {
        return Err(reply::body_too_large().into());
    }
    let payload = request.take_payload();
    if !matches!(payload, Payload::None) {
        let body = timeout(BODY_WAIT, read(payload)).await.map_err(|_| too_slow())??;
        request.set_payload(Payload::from(body));
    }
    next.call(request).await
}

fn claimed(request: &ServiceRequest) -> Option<u64> {
    request.headers().get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

async fn read(mut payload: Payload) -> Result<Bytes, Rejection> {
    let mut body = BytesMut::new();
    while let Some(chunk) = payload.next().await {
        let chunk =
            chunk.map_err(|error| Rejection::usage("bad_body", format!("the body could not be read: {error}")))?;
        if body.len() + chunk.len() > BODY_BYTES_MAX {
            return Err(reply::body_too_large());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.freeze())
}

fn too_slow() -> Rejection {
    let problem = Problem {
        kind: ProblemKind::Timeout,
        reason: "body_too_slow".into(),
        text: format!("the body did not come within {} s", BODY_WAIT.as_secs()),
        state: Some("nothing was changed".into()),
        hint: None,
    };
    Rejection::from(problem).with_status(StatusCode::REQUEST_TIMEOUT)
}

/// How long a body may take: as long as the head of a request.
const BODY_WAIT: Duration = Duration::from_secs(5);
