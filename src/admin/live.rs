//! An admin interface on a thread of its own, for tests of its callers.

use std::net::{SocketAddr, TcpListener};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use actix_web::dev::ServerHandle;
use metrics_exporter_prometheus::PrometheusBuilder;

use super::{Oracle, Settings, serve};

/// A node with one component.
const SCHEMA: &str = r#"{"types":[],"components":[{"name":"leaf","version":1,"oldest":1,"fields":[],"handlers":[]}]}"#;

/// Serves until it is dropped.
pub(crate) struct Live {
    pub(crate) at: SocketAddr,
    handle: ServerHandle,
    thread: Option<JoinHandle<()>>,
}

impl Live {
    /// Listens on loopback.
    pub(crate) fn start(oracle: impl Oracle) -> Self {
        Self::start_at([127, 0, 0, 1], None, oracle)
    }

    /// Listens on every address, so that writes need a token; `at` is still the one on loopback.
    pub(crate) fn start_wide(token: Option<&str>, oracle: impl Oracle) -> Self {
        Self::start_at([0, 0, 0, 0], token, oracle)
    }

    fn start_at(ip: [u8; 4], token: Option<&str>, oracle: impl Oracle) -> Self {
        let listener = TcpListener::bind(SocketAddr::from((ip, 0))).expect("a free port");
        let metrics = PrometheusBuilder::new().build_recorder().handle();
        let settings = Settings {
            poll_every: Duration::from_millis(1),
            ..Settings::new("n1".into(), token.map(Into::into), metrics, SCHEMA.into())
        };
        let (tell, told) = std::sync::mpsc::channel();
        let thread = thread::spawn(move || {
            actix_rt::System::new().block_on(async {
                let serving = serve(listener, oracle, settings).expect("a server");
                tell.send((serving.address(), serving.handle())).expect("somebody waits");
                serving.run().await.expect("the server ends well");
            });
        });
        let (at, handle): (SocketAddr, _) = told.recv().expect("the server starts");
        let at = SocketAddr::from(([127, 0, 0, 1], at.port()));
        Self { at, handle, thread: Some(thread) }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        drop(self.handle.stop(false));
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the server's thread ends well");
        }
    }
}
