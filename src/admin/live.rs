//! An admin interface on a thread of its own, for tests of its callers.

use std::net::{SocketAddr, TcpListener};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use actix_web::dev::ServerHandle;
use metrics_exporter_prometheus::PrometheusBuilder;

use super::{Oracle, Settings, serve};

/// Serves until it is dropped.
pub(crate) struct Live {
    pub(crate) at: SocketAddr,
    handle: ServerHandle,
    thread: Option<JoinHandle<()>>,
}

impl Live {
    pub(crate) fn start(oracle: impl Oracle) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let metrics = PrometheusBuilder::new().build_recorder().handle();
        let settings = Settings { poll_every: Duration::from_millis(1), ..Settings::new("n1".into(), None, metrics) };
        let (tell, told) = std::sync::mpsc::channel();
        let thread = thread::spawn(move || {
            actix_rt::System::new().block_on(async {
                let serving = serve(listener, oracle, settings).expect("a server");
                tell.send((serving.address(), serving.handle())).expect("somebody waits");
                serving.run().await.expect("the server ends well");
            });
        });
        let (at, handle) = told.recv().expect("the server starts");
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
