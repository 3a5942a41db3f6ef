//! Answers scrapes: `GET /metrics` and `GET /healthz`, nothing else, one at a time.
//!
//! Two paths without parameters need no web server: this one has no pool of threads that a watch
//! that is always on would carry along, and no connection outlives its answer.

use std::io::{self, PipeWriter, Read, Write, pipe};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};

use super::metrics::{CONTENT_TYPE, Metrics};
use super::pulse::Pulse;
use crate::{Error, clock};

/// Serves until it is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    /// Closed, it ends the thread.
    end: Option<PipeWriter>,
    thread: Option<JoinHandle<()>>,
}

/// Who asks gets so long to say what.
const PATIENCE: Duration = Duration::from_secs(2);
/// And may say so much.
const REQUEST_BYTES: usize = 8 << 10;
const PLAIN: &str = "text/plain; charset=utf-8";

impl Server {
    pub(super) fn begin(
        address: SocketAddr,
        metrics: Arc<Metrics>,
        pulse: Pulse,
    ) -> Result<Server, Error> {
        let listener = TcpListener::bind(address).map_err(|error| Error::Failed {
            doing: format!("listen on {address}"),
            why: error.to_string(),
        })?;
        let address = listener.local_addr()?;
        let (ended, end) = pipe()?;
        let serve = move || {
            loop {
                let mut ready =
                    [PollFd::new(&listener, PollFlags::IN), PollFd::new(&ended, PollFlags::IN)];
                if poll(&mut ready, None).is_err() {
                    continue; // a signal that the main thread is concerned with
                }
                if !ready[1].revents().is_empty() {
                    return;
                }
                if let Ok((stream, _)) = listener.accept() {
                    // A client that goes away is no concern of ours.
                    let _ = answer(stream, &metrics, &pulse);
                }
            }
        };
        let thread = std::thread::Builder::new().name("wastenot-serve".into()).spawn(serve)?;
        Ok(Server { address, end: Some(end), thread: Some(thread) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end.take();
        if let Some(thread) = self.thread.take() {
            // It ends in any case; a panic in it was told of on stderr.
            let _ = thread.join();
        }
    }
}

fn answer(mut stream: TcpStream, metrics: &Metrics, pulse: &Pulse) -> io::Result<()> {
    let request = request(&mut stream)?;
    let line = request.lines().next().unwrap_or_default();
    let mut words = line.split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let path = target.split('?').next().unwrap_or_default();
    let (status, kind, body) = match (method, path) {
        ("GET" | "HEAD", "/metrics") => match pulse.read() {
            Ok(figures) => {
                metrics.look(&figures, clock::own_cpu());
                ("200 OK", CONTENT_TYPE, metrics.text())
            }
            Err(error) => ("500 Internal Server Error", PLAIN, format!("{error}\n")),
        },
        ("GET" | "HEAD", "/healthz") => health(pulse),
        ("GET" | "HEAD", _) => {
            ("404 Not Found", PLAIN, "there are /metrics and /healthz\n".to_owned())
        }
        _ => ("405 Method Not Allowed", PLAIN, "only GET\n".to_owned()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n",
        body.len()
    );
    let body = if method == "HEAD" { "" } else { &body };
    stream.write_all(format!("{head}{body}").as_bytes())
}

/// Well is a watch that looks on.
fn health(pulse: &Pulse) -> (&'static str, &'static str, String) {
    match pulse.is_well() {
        true => ("200 OK", PLAIN, "ok\n".to_owned()),
        false => ("503 Service Unavailable", PLAIN, "the watch stands still\n".to_owned()),
    }
}

/// What is asked, up to the empty line: what comes behind it concerns nobody.
fn request(stream: &mut TcpStream) -> io::Result<String> {
    let until = Instant::now() + PATIENCE;
    let mut bytes = Vec::new();
    let mut piece = [0; 1024];
    while !bytes.windows(4).any(|end| end == b"\r\n\r\n") {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || bytes.len() > REQUEST_BYTES {
            return Err(io::ErrorKind::InvalidData.into());
        }
        stream.set_read_timeout(Some(left))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        match stream.read(&mut piece)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => bytes.extend_from_slice(&piece[..count]),
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
