//! From a request to a [`Question`], and from its answer to JSON.
//!
//! Keeps: numbers are checked here, so that an oracle sees only those within the limits of [`body`].

use actix_web::http::StatusCode;
use actix_web::web::{Data, Json, Path, Query, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse, Resource, web};
use slipgate_proto::admin::{Answer, DrainOrder, Outgoing, Problem, ProblemKind, Question};

use super::body::{
    self, AskBody, BatchBody, CloseBody, DespawnQuery, DrainBody, EntitiesQuery, LostQuery, MessageBody, MoveBody,
    MovesQuery, OpenBody, SpawnBody, UnparkBody,
};
use super::reply::{self, Rejection};
use super::{BODY_BYTES_MAX, Oracle, Settings, events, health};

type Reply = Result<HttpResponse, Rejection>;

/// Mounts every route, for oracles of the type of the one given.
pub(super) fn mount_with<O: Oracle>(_oracle: O) -> impl FnOnce(&mut ServiceConfig) {
    |config| {
        let limits =
            web::JsonConfig::default().limit(BODY_BYTES_MAX).error_handler(|error, _| reply::bad_body(&error).into());
        config
            .app_data(limits)
            .app_data(web::QueryConfig::default().error_handler(|error, _| reply::bad_query(&error).into()))
            .app_data(web::PathConfig::default().error_handler(|error, _| reply::bad_path(&error).into()))
            .service(at("/api/v1/status").route(web::get().to(status::<O>)))
            .service(at("/api/v1/nodes").route(web::get().to(nodes::<O>)))
            .service(at("/api/v1/scenes").route(web::get().to(scenes::<O>)).route(web::post().to(open_scene::<O>)))
            .service(at("/api/v1/scenes/{scene}/close").route(web::post().to(close_scene::<O>)))
            .service(at("/api/v1/moves").route(web::get().to(moves::<O>)))
            .service(at("/api/v1/events").route(web::get().to(events::stream::<O>)))
            .service(at("/api/v1/messages").route(web::post().to(send_batch::<O>)))
            .service(at("/api/v1/entities").route(web::get().to(entities::<O>)).route(web::post().to(spawn::<O>)))
            .service(at("/api/v1/lost").route(web::get().to(lost::<O>)))
            .service(at("/api/v1/entities/{id}").route(web::get().to(show::<O>)).route(web::delete().to(despawn::<O>)))
            .service(at("/api/v1/entities/{id}/messages").route(web::post().to(send::<O>)))
            .service(at("/api/v1/entities/{id}/ask").route(web::post().to(ask::<O>)))
            .service(at("/api/v1/entities/{id}/unpark").route(web::post().to(unpark::<O>)))
            .service(at("/api/v1/entities/{id}/moves").route(web::post().to(migrate::<O>)))
            .service(
                at("/api/v1/nodes/{node}/drain")
                    .route(web::get().to(look_at_drain::<O>))
                    .route(web::post().to(drain::<O>))
                    .route(web::delete().to(cancel_drain::<O>)),
            )
            .service(at("/api/v1/schema").route(web::get().to(schema)))
            .service(at("/health/live").route(web::get().to(health::live)))
            .service(at("/health/ready").route(web::get().to(health::ready::<O>)))
            .service(at("/metrics").route(web::get().to(health::metrics)))
            .default_service(web::to(unknown_path));
    }
}

/// A resource that says which methods it does not take.
fn at(path: &str) -> Resource {
    web::resource(path).default_service(web::to(unknown_method))
}

async fn unknown_path(request: HttpRequest) -> Reply {
    Err(Problem {
        kind: ProblemKind::NotFound,
        reason: "unknown_path".into(),
        text: format!("there is nothing at {}", request.path()),
        state: None,
        hint: Some("the interface is under /api/v1, /health/live, /health/ready and /metrics".into()),
    }
    .into())
}

async fn unknown_method(request: HttpRequest) -> Reply {
    let text = format!("{} does not take {}", request.path(), request.method());
    Err(Rejection::usage("method", text).with_status(StatusCode::METHOD_NOT_ALLOWED))
}

async fn asked<O: Oracle>(oracle: &Data<O>, question: Question) -> Reply {
    Ok(reply::json_of(&oracle.ask(question).await?))
}

async fn status<O: Oracle>(oracle: Data<O>) -> Reply {
    asked(&oracle, Question::Nodes).await
}

async fn nodes<O: Oracle>(oracle: Data<O>) -> Reply {
    let answer = oracle.ask(Question::Nodes).await?;
    let Answer::Nodes(report) = answer else { return Ok(reply::json_of(&answer)) };
    Ok(HttpResponse::Ok().json(report.nodes))
}

async fn scenes<O: Oracle>(oracle: Data<O>) -> Reply {
    asked(&oracle, Question::Scenes).await
}

async fn open_scene<O: Oracle>(oracle: Data<O>, body: Json<OpenBody>) -> Reply {
    let OpenBody { name, node, capacity, timeout_ms } = body.into_inner();
    within("capacity", capacity, u32::MAX)?;
    in_time(timeout_ms)?;
    asked(&oracle, Question::OpenScene { name, node, capacity, timeout_ms }).await
}

async fn close_scene<O: Oracle>(oracle: Data<O>, scene: Path<String>, body: Json<CloseBody>) -> Reply {
    let CloseBody { clearing, wait, timeout_ms } = body.into_inner();
    in_time(timeout_ms)?;
    asked(&oracle, Question::CloseScene { scene: scene.into_inner(), clearing, wait, timeout_ms }).await
}

async fn schema(settings: Data<Settings>) -> Reply {
    Ok(HttpResponse::Ok().content_type("application/json").body(settings.schema.to_string()))
}

async fn moves<O: Oracle>(oracle: Data<O>, query: Query<MovesQuery>) -> Reply {
    within("limit", query.limit, body::MOVES_MAX)?;
    asked(&oracle, Question::Moves { limit: query.limit }).await
}

async fn entities<O: Oracle>(oracle: Data<O>, query: Query<EntitiesQuery>) -> Reply {
    let EntitiesQuery { scene, type_name, limit } = query.into_inner();
    within("limit", limit, body::ENTITIES_MAX)?;
    asked(&oracle, Question::Entities { scene, type_name, limit }).await
}

async fn lost<O: Oracle>(oracle: Data<O>, query: Query<LostQuery>) -> Reply {
    let LostQuery { limit } = query.into_inner();
    within("limit", limit, body::ENTITIES_MAX)?;
    asked(&oracle, Question::Lost { limit }).await
}

async fn show<O: Oracle>(oracle: Data<O>, entity: Path<String>) -> Reply {
    asked(&oracle, Question::Show { entity: entity.into_inner() }).await
}

async fn spawn<O: Oracle>(oracle: Data<O>, body: Json<SpawnBody>) -> Reply {
    let SpawnBody { type_name, scene, label, count, data, persist, player } = body.into_inner();
    within("count", count, body::SPAWN_MAX)?;
    let data = data.map(|data| serde_json::Value::Object(data).to_string());
    asked(&oracle, Question::Spawn { type_name, scene, label, count, data, persist, player }).await
}

async fn send<O: Oracle>(oracle: Data<O>, entity: Path<String>, body: Json<MessageBody>) -> Reply {
    let MessageBody { name, arguments, count, via, wait, timeout_ms } = body.into_inner();
    within("count", count, body::MESSAGES_MAX)?;
    in_time(timeout_ms)?;
    let message = Outgoing { entity: entity.into_inner(), name, arguments: arguments.to_string() };
    let messages = (0..count).map(|_| message.clone()).collect();
    asked(&oracle, Question::Send { via, messages, wait, timeout_ms }).await
}

async fn ask<O: Oracle>(oracle: Data<O>, entity: Path<String>, body: Json<AskBody>) -> Reply {
    let AskBody { name, arguments, via, timeout_ms } = body.into_inner();
    in_time(timeout_ms)?;
    let message = Outgoing { entity: entity.into_inner(), name, arguments: arguments.to_string() };
    asked(&oracle, Question::Ask { via, message, raw: false, timeout_ms }).await
}

async fn send_batch<O: Oracle>(oracle: Data<O>, body: Json<BatchBody>) -> Reply {
    let body = body.into_inner();
    within("number of messages", u32::try_from(body.messages.len()).unwrap_or(u32::MAX), body::MESSAGES_MAX)?;
    in_time(body.timeout_ms)?;
    asked(&oracle, body.into()).await
}

async fn migrate<O: Oracle>(oracle: Data<O>, entity: Path<String>, body: Json<MoveBody>) -> Reply {
    let MoveBody { to, timeout_ms } = body.into_inner();
    in_time(timeout_ms)?;
    asked(&oracle, Question::Migrate { entity: entity.into_inner(), to, timeout_ms }).await
}

async fn despawn<O: Oracle>(oracle: Data<O>, entity: Path<String>, query: Query<DespawnQuery>) -> Reply {
    let timeout_ms = query.timeout_ms;
    in_time(timeout_ms)?;
    asked(&oracle, Question::Despawn { entity: entity.into_inner(), timeout_ms }).await
}

async fn unpark<O: Oracle>(oracle: Data<O>, entity: Path<String>, body: Json<UnparkBody>) -> Reply {
    let timeout_ms = body.timeout_ms;
    in_time(timeout_ms)?;
    asked(&oracle, Question::Unpark { entity: entity.into_inner(), timeout_ms }).await
}

async fn look_at_drain<O: Oracle>(oracle: Data<O>, node: Path<String>) -> Reply {
    asked(&oracle, Question::Drain { node: node.into_inner(), order: DrainOrder::Look }).await
}

async fn drain<O: Oracle>(oracle: Data<O>, node: Path<String>, body: Json<DrainBody>) -> Reply {
    let timeout_ms = body.timeout_ms;
    timeout_ms.map_or(Ok(()), in_time)?;
    asked(&oracle, Question::Drain { node: node.into_inner(), order: DrainOrder::Begin { timeout_ms } }).await
}

async fn cancel_drain<O: Oracle>(oracle: Data<O>, node: Path<String>) -> Reply {
    asked(&oracle, Question::Drain { node: node.into_inner(), order: DrainOrder::Cancel }).await
}

fn within(what: &str, given: u32, most: u32) -> Result<(), Rejection> {
    if (1..=most).contains(&given) {
        return Ok(());
    }
    Err(Rejection::usage("out_of_range", format!("the {what} is {given}; it must be 1 to {most}")))
}

fn in_time(timeout_ms: u64) -> Result<(), Rejection> {
    let most = body::TIMEOUT_MS_MAX;
    if (1..=most).contains(&timeout_ms) {
        return Ok(());
    }
    Err(Rejection::usage("out_of_range", format!("timeout_ms is {timeout_ms}; it must be 1 to {most}")))
}
