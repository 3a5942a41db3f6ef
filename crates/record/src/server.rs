//! Answers scrapes: `GET /metrics` and `GET /healthz`, nothing else.
//!
//! Two paths without parameters need no web server: this one has no thread pool, which an always-on
//! watch would have to keep, and closes each connection after its response.

use std::io::{self, PipeWriter, Read, Write, pipe};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};

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

/// Serves until it is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    /// Closing it ends the thread.
    end: Option<PipeWriter>,
    thread: Option<JoinHandle<()>>,
}

/// How long a client may take to send its request.
const PATIENCE: Duration = Duration::from_secs(2);
/// How many clients are served at the same time.
const AT_ONCE: usize = 8;
/// The largest request.
const REQUEST_BYTES: usize = 8 << 10;
/// The media type of OpenMetrics.
const METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const PLAIN: &str = "text/plain; charset=utf-8";

impl Server {
    /// Answers at `address` from `source`.
    ///
    /// # Errors
    /// The address is taken, or not of this machine.
    pub fn begin(address: SocketAddr, source: impl Source) -> Result<Server, Error> {
        let listener = TcpListener::bind(address).map_err(|why| Error::Listen { address, why })?;
        let address = listener.local_addr()?;
        let (ended, end) = pipe()?;
        let asked: Arc<dyn Source> = Arc::new(source);
        let serve = move || {
            loop {
                let mut ready =
                    [PollFd::new(&listener, PollFlags::IN), PollFd::new(&ended, PollFlags::IN)];
                if poll(&mut ready, None).is_err() {
                    continue; // a signal that the main thread handles
                }
                if !ready[1].revents().is_empty() {
                    return;
                }
                match listener.accept() {
                    Ok((stream, _)) => attend(stream, &asked),
                    // Without free descriptors, it would retry at once and for ever.
                    Err(_) => std::thread::sleep(Duration::from_millis(100)),
                }
            }
        };
        let thread = std::thread::Builder::new().name("wastenot-serve".into()).spawn(serve)?;
        Ok(Server { address, end: Some(end), thread: Some(thread) })
    }

    /// The address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end.take();
        if let Some(thread) = self.thread.take() {
            // It ends in any case; a panic in it was reported on stderr.
            let _ = thread.join();
        }
    }
}

/// Answers concurrently: a slow client delays no other.
fn attend(stream: TcpStream, asked: &Arc<dyn Source>) {
    // One reference per client being served, and this one.
    if Arc::strong_count(asked) > AT_ONCE {
        return; // the connection closes
    }
    let asked = Arc::clone(asked);
    let answer = move || {
        // A client that disconnects is not an error.
        let _ = answer(stream, &*asked);
    };
    // If no thread can be created, the connection closes without an answer.
    let _ = std::thread::Builder::new().name("wastenot-answer".into()).spawn(answer);
}

fn answer(mut stream: TcpStream, source: &dyn Source) -> io::Result<()> {
    let Some(request) = request(&mut stream)? else {
        let status = "431 Request Header Fields Too Large";
        return reply(&mut stream, status, PLAIN, "ask for less\n", true);
    };
    let line = request.lines().next().unwrap_or_default();
    let mut words = line.split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let path = target.split('?').next().unwrap_or_default();
    let (status, kind, body) = match (method, path) {
        ("GET" | "HEAD", "/metrics") => match source.metrics() {
            Ok(text) => ("200 OK", METRICS, text),
            Err(error) => ("500 Internal Server Error", PLAIN, format!("{error}\n")),
        },
        ("GET" | "HEAD", "/healthz") => health(source),
        ("GET" | "HEAD", _) => {
            ("404 Not Found", PLAIN, "there are /metrics and /healthz\n".to_owned())
        }
        _ => ("405 Method Not Allowed", PLAIN, "only GET\n".to_owned()),
    };
    reply(&mut stream, status, kind, &body, method != "HEAD")
}

fn reply(
    stream: &mut TcpStream,
    status: &str,
    kind: &str,
    body: &str,
    whole: bool,
) -> io::Result<()> {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n",
        body.len()
    );
    let body = if whole { body } else { "" };
    stream.write_all(format!("{head}{body}").as_bytes())
}

fn health(source: &dyn Source) -> (&'static str, &'static str, String) {
    match source.is_well() {
        true => ("200 OK", PLAIN, "ok\n".to_owned()),
        false => ("503 Service Unavailable", PLAIN, "what is watched stands still\n".to_owned()),
    }
}

/// The request up to the empty line; the rest is ignored. `None` if it is too long.
fn request(stream: &mut TcpStream) -> io::Result<Option<String>> {
    let until = Instant::now() + PATIENCE;
    let mut bytes = Vec::new();
    let mut piece = [0; 1024];
    stream.set_write_timeout(Some(PATIENCE))?;
    while !bytes.windows(4).any(|end| end == b"\r\n\r\n") {
        let left = until.saturating_duration_since(Instant::now());
        if bytes.len() > REQUEST_BYTES {
            return Ok(None);
        }
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut piece)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => bytes.extend_from_slice(&piece[..count]),
        }
    }
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

#[cfg(test)]
mod tests {
    use std::net::Shutdown;

    use super::*;

    struct Well;

    impl Source for Well {
        fn metrics(&self) -> Result<String, Error> {
            Ok("# EOF\n".to_owned())
        }

        fn is_well(&self) -> bool {
            true
        }
    }

    fn server() -> Server {
        Server::begin("127.0.0.1:0".parse().expect("an address"), Well).expect("a port")
    }

    fn answer(stream: &mut TcpStream, rest: &[u8]) -> String {
        stream.write_all(rest).expect("heard");
        let mut answer = String::new();
        // The unread part of an oversized request makes the connection end with a reset.
        let _ = stream.read_to_string(&mut answer);
        answer
    }

    #[test]
    fn who_asks_slowly_holds_up_nobody() {
        let server = server();
        let connect = || TcpStream::connect(server.address()).expect("a server");
        let mut slow = connect();
        slow.write_all(b"GET /metrics HTTP/1.1\r\n").expect("heard");
        assert!(answer(&mut connect(), b"GET /metrics HTTP/1.1\r\n\r\n").ends_with("# EOF\n"));
        assert!(answer(&mut slow, b"\r\n").starts_with("HTTP/1.1 200 OK"), "it is heard as well");
    }

    #[test]
    fn what_is_no_question_gets_its_code() {
        let server = server();
        let long = format!("GET / HTTP/1.1\r\nX: {}", "x".repeat(REQUEST_BYTES));
        for (asked, code) in [
            ("GET /nothing HTTP/1.1\r\n\r\n", "404"),
            ("POST /metrics HTTP/1.1\r\n\r\n", "405"),
            (&long, "431"),
        ] {
            let mut stream = TcpStream::connect(server.address()).expect("a server");
            let answer = answer(&mut stream, asked.as_bytes());
            assert!(answer.starts_with(&format!("HTTP/1.1 {code} ")), "{answer}");
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}
