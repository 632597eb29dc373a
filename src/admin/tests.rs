//! Requests as tools make them, against a canned oracle.

use actix_web::http::{Method, StatusCode};
use actix_web::test::{TestRequest, call_service, init_service, read_body};
use metrics_exporter_prometheus::PrometheusBuilder;
use serde_json::{Value, json};
use slipgate_entity::{PersistId, PlayerId};
use slipgate_proto::admin::{ClusterReport, Event, Outgoing, ProblemKind};

use uuid::Uuid;

use super::canned::{self, Canned};
use super::*;

const SCHEMA: &str = r#"{"types":[],"components":[]}"#;

fn settings() -> Settings {
    let metrics = PrometheusBuilder::new().build_recorder().handle();
    Settings { poll_every: Duration::from_millis(1), ..Settings::new("n1".into(), None, metrics, SCHEMA.into()) }
}

fn request(method: Method, path: &str) -> TestRequest {
    TestRequest::default()
        .method(method)
        .uri(path)
        .peer_addr(([127, 0, 0, 1], 40_000).into())
        .insert_header(("Host", "127.0.0.1:7780"))
}

fn get(path: &str) -> TestRequest {
    request(Method::GET, path)
}

fn post(path: &str, body: &Value) -> TestRequest {
    request(Method::POST, path).set_json(body)
}

async fn answer(oracle: &Canned, request: TestRequest) -> (StatusCode, Value) {
    let settings = settings();
    let rules = guard::Rules { listener: ([127, 0, 0, 1], 7780).into(), token: None };
    let app = App::new()
        .app_data(web::Data::new(oracle.clone()))
        .app_data(web::Data::new(settings))
        .app_data(web::Data::new(rules))
        .app_data(web::Data::new(readers::Readers::default()))
        .wrap(from_fn(intake::take))
        .wrap(from_fn(guard::check))
        .configure(routes::mount_with(oracle.clone()));
    let service = init_service(app).await;
    let request = request.to_request();
    let (status, body) = match actix_web::dev::Service::call(&service, request).await {
        Ok(response) => (response.status(), read_body(response).await),
        Err(error) => {
            let response = error.error_response();
            let status = response.status();
            (status, actix_web::body::to_bytes(response.into_body()).await.expect("a body in memory"))
        }
    };
    (status, serde_json::from_slice(&body).unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&body).into())))
}

async fn check_question(request: TestRequest, expected: Question) {
    let oracle = Canned::friendly();
    let (status, body) = answer(&oracle, request).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    assert_eq!(oracle.asked(), [expected]);
}

async fn check_usage(request: TestRequest, status: StatusCode, reason: &str) -> String {
    let oracle = Canned::friendly();
    let (got, body) = answer(&oracle, request).await;
    assert_eq!((got, &body["error"]["reason"]), (status, &json!(reason)), "{body}");
    assert_eq!(oracle.asked(), [], "a wrong request reaches nobody");
    body["error"]["text"].as_str().expect("a text").to_owned()
}

#[actix_web::test]
async fn each_read_asks_its_question() {
    let ann = || "ann".to_owned();
    check_question(get("/api/v1/status"), Question::Nodes).await;
    check_question(get("/api/v1/nodes"), Question::Nodes).await;
    check_question(get("/api/v1/scenes"), Question::Scenes).await;
    check_question(get("/api/v1/entities"), Question::Entities { scene: None, type_name: None, limit: 1000 }).await;
    let some = Question::Entities { scene: Some("forest".into()), type_name: Some("orc".into()), limit: 5 };
    check_question(get("/api/v1/entities?scene=forest&type=orc&limit=5"), some).await;
    check_question(get("/api/v1/entities/ann"), Question::Show { entity: ann() }).await;
    check_question(get("/api/v1/entities/a%20b%2Fc"), Question::Show { entity: "a b/c".into() }).await;
    check_question(get("/api/v1/moves"), Question::Moves { limit: 50 }).await;
}

#[actix_web::test]
async fn each_write_asks_its_question() {
    let spawn = |label: Option<&str>, persist, player| Question::Spawn {
        type_name: "walker".into(),
        scene: "forest".into(),
        label: label.map(str::to_owned),
        count: 1,
        data: None,
        persist,
        player: PlayerId(player),
    };
    check_question(post("/api/v1/entities", &json!({"type": "walker", "scene": "forest"})), spawn(None, None, 0)).await;
    let persist = Some(PersistId(Uuid::from_u128(7)));
    let whole = json!({
        "type": "walker", "scene": "forest", "label": "ann", "count": 1,
        "persist": "00000000-0000-0000-0000-000000000007", "player": 9,
    });
    check_question(post("/api/v1/entities", &whole), spawn(Some("ann"), persist, 9)).await;
    let step = Outgoing { entity: "ann".into(), name: "step".into(), arguments: r#"{"x":1}"#.into() };
    let send = Question::Send { via: None, messages: vec![step.clone(), step.clone()], wait: true, timeout_ms: 500 };
    let body = json!({"name": "step", "arguments": {"x": 1}, "count": 2, "wait": true, "timeout_ms": 500});
    check_question(post("/api/v1/entities/ann/messages", &body), send).await;
    let batch = Question::Send { via: Some("n2".into()), messages: vec![step], wait: false, timeout_ms: 10_000 };
    let body = json!({"via": "n2", "messages": [{"entity": "ann", "name": "step", "arguments": "{\"x\":1}"}]});
    check_question(post("/api/v1/messages", &body), batch).await;
    let migrate = Question::Migrate { entity: "ann".into(), to: "harbor@n2".into(), timeout_ms: 10_000 };
    check_question(post("/api/v1/entities/ann/moves", &json!({"to": "harbor@n2"})), migrate).await;
    let despawn = Question::Despawn { entity: "ann".into(), timeout_ms: 7 };
    check_question(request(Method::DELETE, "/api/v1/entities/ann?timeout_ms=7"), despawn).await;
    let unpark = Question::Unpark { entity: "ann".into(), timeout_ms: 10_000 };
    check_question(post("/api/v1/entities/ann/unpark", &json!({})), unpark).await;
}

#[actix_web::test]
async fn answers_are_what_is_inside_of_them() {
    let oracle = Canned::friendly();
    let body_of = async |path| answer(&oracle, get(path)).await.1;
    assert_eq!(body_of("/api/v1/status").await, json!(canned::cluster()));
    assert_eq!(body_of("/api/v1/nodes").await, json!([canned::node()]));
    assert_eq!(body_of("/api/v1/entities").await, json!([canned::row()]));
    assert_eq!(body_of("/api/v1/entities/ann").await["entity"], json!("1.4"));
    assert_eq!(body_of("/api/v1/schema").await, json!({"types": [], "components": []}));
    assert_eq!(body_of("/api/v1/entities/ann").await["body"], json!({"hp": 10}));
}

#[actix_web::test]
async fn a_problem_keeps_its_fields_and_sets_the_status() {
    let oracle = Canned::by(|_| Err(canned::refused()));
    let (status, body) = answer(&oracle, get("/api/v1/entities/ann")).await;
    assert_eq!(status, StatusCode::CONFLICT);
    let expected = json!({"error": {
        "kind": "refused", "reason": "full", "text": "keep takes nobody",
        "state": "ann is still in forest on n1", "hint": "slipgate show ann",
    }});
    assert_eq!(body, expected);
}

#[test]
fn each_kind_of_problem_has_its_status() {
    use ProblemKind::{NotFound, Refused, Timeout, Unauthorized, Unavailable, Usage};
    let statuses = [Usage, NotFound, Refused, Timeout, Unavailable, Unauthorized].map(|kind| status_of(kind).as_u16());
    assert_eq!(statuses, [400, 404, 409, 504, 503, 401]);
}

#[actix_web::test]
async fn wrong_bodies_are_refused_with_what_is_wrong() {
    let bad = StatusCode::BAD_REQUEST;
    let half = request(Method::POST, "/api/v1/entities")
        .insert_header(("Content-Type", "application/json"))
        .set_payload("{\"type\":");
    check_usage(half, bad, "bad_json").await;
    let misspelt = json!({"type": "walker", "scene": "forest", "cuont": 3});
    let text = check_usage(post("/api/v1/entities", &misspelt), bad, "bad_json").await;
    assert!(text.contains("cuont"), "{text}");
    let missing = check_usage(post("/api/v1/entities/ann/moves", &json!({})), bad, "bad_json").await;
    assert!(missing.contains("`to`"), "{missing}");
    let plain = request(Method::POST, "/api/v1/messages").set_payload("{}");
    check_usage(plain, bad, "content_type").await;
}

#[actix_web::test]
async fn a_body_above_the_limit_is_refused() {
    let body = json!({"name": "note", "arguments": "x".repeat(BODY_BYTES_MAX)});
    let text =
        check_usage(post("/api/v1/entities/ann/messages", &body), StatusCode::PAYLOAD_TOO_LARGE, "body_too_large")
            .await;
    assert!(text.contains("262144"), "{text}");
}

#[actix_web::test]
async fn numbers_out_of_range_are_refused_with_the_range() {
    let bad = StatusCode::BAD_REQUEST;
    let text = check_usage(get("/api/v1/entities?limit=0"), bad, "out_of_range").await;
    assert_eq!(text, "the limit is 0; it must be 1 to 10000");
    let spawn = json!({"type": "walker", "scene": "forest", "count": 10_001});
    check_usage(post("/api/v1/entities", &spawn), bad, "out_of_range").await;
    check_usage(post("/api/v1/messages", &json!({"messages": []})), bad, "out_of_range").await;
    let forever = json!({"to": "harbor", "timeout_ms": 600_001});
    check_usage(post("/api/v1/entities/ann/moves", &forever), bad, "out_of_range").await;
}

#[actix_web::test]
async fn unknown_parameters_paths_and_methods_are_refused_as_json() {
    check_usage(get("/api/v1/entities?scnee=forest"), StatusCode::BAD_REQUEST, "bad_query").await;
    check_usage(get("/api/v1/entities?limit=many"), StatusCode::BAD_REQUEST, "bad_query").await;
    check_usage(get("/api/v1/events?what=clouds"), StatusCode::BAD_REQUEST, "bad_query").await;
    check_usage(get("/api/v2/status"), StatusCode::NOT_FOUND, "unknown_path").await;
    check_usage(get("/"), StatusCode::NOT_FOUND, "unknown_path").await;
    check_usage(request(Method::PUT, "/api/v1/status"), StatusCode::METHOD_NOT_ALLOWED, "method").await;
}

#[actix_web::test]
async fn a_foreign_host_gets_json_and_reaches_nobody() {
    let request = TestRequest::get().uri("/api/v1/status").insert_header(("Host", "evil.example"));
    check_usage(request, StatusCode::FORBIDDEN, "host").await;
    let request = post("/api/v1/entities", &json!({})).insert_header(("Origin", "http://evil.example"));
    check_usage(request, StatusCode::FORBIDDEN, "origin").await;
}

#[actix_web::test]
async fn ready_is_about_the_own_node_and_says_why_not() {
    let check = async |report: ClusterReport, status: u16, expected: Value| {
        let oracle = Canned::by(move |_| Ok(Answer::Nodes(report.clone())));
        let (got, body) = answer(&oracle, get("/health/ready")).await;
        assert_eq!((got.as_u16(), body), (status, expected));
    };
    let ready = canned::cluster();
    check(ready.clone(), 200, json!({"ready": true, "node": "n1", "state": "ready", "not_ready": []})).await;
    let mut starting = ready.clone();
    starting.nodes[0].state = "starting".into();
    starting.nodes[0].not_ready = vec!["no range".into()];
    let body = json!({"ready": false, "node": "n1", "state": "starting", "not_ready": ["no range"]});
    check(starting, 503, body).await;
    let mut stopping = ready.clone();
    stopping.nodes[0].state = "stopping".into();
    let body = json!({"ready": false, "node": "n1", "state": "stopping", "not_ready": ["the node is stopping"]});
    check(stopping, 503, body).await;
    let mut alone = ready;
    alone.nodes.clear();
    let why = json!(["it has not joined the cluster"]);
    check(alone, 503, json!({"ready": false, "node": "n1", "state": "unknown", "not_ready": why})).await;
}

#[actix_web::test]
async fn a_node_whose_desk_does_not_answer_is_live_and_not_ready() {
    let oracle = Canned::by(|_| Err(canned::refused()));
    assert_eq!(answer(&oracle, get("/health/live")).await, (StatusCode::OK, json!({"live": true, "node": "n1"})));
    let (status, body) = answer(&oracle, get("/health/ready")).await;
    assert_eq!((status, &body["not_ready"]), (StatusCode::SERVICE_UNAVAILABLE, &json!(["keep takes nobody"])));
}

#[actix_web::test]
async fn metrics_are_text() {
    let (status, body) = answer(&Canned::friendly(), get("/metrics")).await;
    assert_eq!((status, body), (StatusCode::OK, json!("")));
}

#[actix_web::test]
async fn a_served_interface_answers_streams_and_stops() {
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let serving = serve(listener, Canned::friendly(), settings()).expect("a server");
    let (address, handle) = (serving.address(), serving.handle());
    let running = actix_rt::spawn(serving.run());

    let mut socket = tokio::net::TcpStream::connect(address).await.expect("a connection");
    let request = format!("GET /api/v1/events?what=moves HTTP/1.1\r\nHost: {address}\r\nLast-Event-ID: n1=5\r\n\r\n");
    socket.write_all(request.as_bytes()).await.expect("a request");
    let mut lines = BufReader::new(socket).lines();
    let mut told = Vec::new();
    while told.len() < 6 {
        let line = lines.next_line().await.expect("a stream").expect("a stream that goes on");
        if line.starts_with("id:") || line.starts_with("event:") || line.starts_with("data:") {
            told.push(line);
        }
    }
    assert_eq!((told[0].as_str(), told[1].as_str()), ("id: n1=6", "event: move.ok"));
    assert_eq!(told[3], "id: n1=7");
    let event: Event = serde_json::from_str(told[2].trim_start_matches("data: ")).expect("an event");
    assert_eq!(event.number, 6);

    handle.stop(false).await;
    running.await.expect("the task ends").expect("the server ends well");
}

#[actix_web::test]
async fn a_silent_stream_shows_that_it_is_alive() {
    let oracle = Canned::by(|_| Ok(Answer::Events(Vec::new())));
    let quick = Settings { heartbeat_every: Duration::from_millis(1), ..settings() };
    let app = App::new()
        .app_data(web::Data::new(oracle.clone()))
        .app_data(web::Data::new(quick))
        .app_data(web::Data::new(readers::Readers::default()))
        .route("/events", web::get().to(events::stream::<Canned>));
    let service = init_service(app).await;
    let mut body = call_service(&service, get("/events").to_request()).await.into_body();
    let mut chunk = async || {
        let next =
            std::future::poll_fn(|cx| actix_web::body::MessageBody::poll_next(std::pin::Pin::new(&mut body), cx));
        next.await.expect("a chunk").map_err(|_| "broken").expect("whole")
    };
    assert_eq!(chunk().await, ": slipgate events\n\n");
    assert_eq!(chunk().await, ": alive\n\n");
}

#[actix_web::test]
async fn readers_beyond_the_bound_are_refused_until_one_has_gone() {
    let app = App::new()
        .app_data(web::Data::new(Canned::friendly()))
        .app_data(web::Data::new(settings()))
        .app_data(web::Data::new(readers::Readers::default()))
        .route("/events", web::get().to(events::stream::<Canned>));
    let service = init_service(app).await;
    let mut streams = Vec::new();
    for _ in 0..readers::EVENT_READERS_MAX {
        let response = call_service(&service, get("/events").to_request()).await;
        assert_eq!(response.status(), StatusCode::OK);
        streams.push(response);
    }
    let refused = call_service(&service, get("/events").to_request()).await;
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    let body: Value = serde_json::from_slice(&read_body(refused).await).expect("an object");
    assert_eq!(body["error"]["reason"], "too_many_readers");
    assert!(body["error"]["hint"].as_str().is_some_and(|hint| hint.contains("another node")), "{body}");
    streams.pop();
    let response = call_service(&service, get("/events").to_request()).await;
    assert_eq!(response.status(), StatusCode::OK);
}
