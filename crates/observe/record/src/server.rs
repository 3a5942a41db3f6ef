//! Answers scrapes: `GET /metrics` and `GET /healthz`, nothing else.

use std::net::SocketAddr;

pub use wastenot_host::serve::Server;
use wastenot_host::serve::{Reply, Request, Site};

use crate::Error;

/// What a server answers from.
pub trait Source: Send + Sync + 'static {
    /// The text of /metrics, in OpenMetrics.
    ///
    /// # Errors
    /// The figures cannot be read.
    fn metrics(&self) -> Result<String, Error>;

    /// Whether what it watches goes on: /healthz.
    fn is_well(&self) -> bool;
}

/// The media type of OpenMetrics.
const METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Answers scrapes at `address` from `source`, until the server is dropped.
///
/// # Errors
/// The address is taken, or not of this machine.
pub fn serve(address: SocketAddr, source: impl Source) -> Result<Server, Error> {
    Server::begin(address, Scraped(source)).map_err(|why| Error::Listen { address, why })
}

struct Scraped<S>(S);

impl<S: Source> Site for Scraped<S> {
    fn answer(&self, request: &Request) -> Reply {
        match &*request.path {
            "/metrics" => match self.0.metrics() {
                Ok(text) => Reply { kind: METRICS, ..Reply::text("200 OK", text) },
                Err(error) => Reply::text("500 Internal Server Error", format!("{error}\n")),
            },
            "/healthz" if self.0.is_well() => Reply::text("200 OK", "ok\n"),
            "/healthz" => Reply::text("503 Service Unavailable", "the watcher does not respond\n"),
            _ => Reply::text("404 Not Found", "the paths are /metrics and /healthz\n"),
        }
    }
}
