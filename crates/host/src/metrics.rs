//! Answers scrapes: `GET /metrics` and `GET /healthz`, nothing else.

use std::borrow::Cow;
use std::io;
use std::net::SocketAddr;

use wastenot_model::Help;

use crate::serve::{Reply, Request, Server, Site};

/// What a server answers from.
pub trait Source: Send + Sync + 'static {
    /// The text of /metrics, in OpenMetrics.
    ///
    /// # Errors
    /// The figures cannot be read; the text names the reason.
    fn metrics(&self) -> Result<String, String>;

    /// Returns true while the measured work goes on. /healthz answers with this.
    fn is_well(&self) -> bool;
}

/// The metrics cannot be served.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address}: {}", why.kind())]
pub struct ListenError {
    address: SocketAddr,
    why: io::Error,
}

impl Help for ListenError {
    fn help(&self) -> Cow<'_, str> {
        match self.why.kind() {
            io::ErrorKind::AddrInUse => {
                "find the program that uses this port with `ss -ltnp`, or use port 0 for any free \
                 port"
            }
            _ => "give an address of this machine and a port above 1023",
        }
        .into()
    }
}

/// The media type of OpenMetrics.
const METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Answers scrapes at `address` from `source`, until the server is dropped.
///
/// # Errors
/// The address is taken, or not of this machine.
pub fn serve(address: SocketAddr, source: impl Source) -> Result<Server, ListenError> {
    Server::begin(address, Scraped(source)).map_err(|why| ListenError { address, why })
}

struct Scraped<S>(S);

impl<S: Source> Site for Scraped<S> {
    fn answer(&self, request: &Request) -> Reply {
        match &*request.path {
            "/metrics" => match self.0.metrics() {
                Ok(text) => Reply { kind: METRICS, ..Reply::text("200 OK", text) },
                Err(why) => Reply::text("500 Internal Server Error", format!("{why}\n")),
            },
            "/healthz" if self.0.is_well() => Reply::text("200 OK", "ok\n"),
            "/healthz" => Reply::text("503 Service Unavailable", "no response for too long\n"),
            _ => Reply::text("404 Not Found", "the paths are /metrics and /healthz\n"),
        }
    }
}
