//! Answers HTTP: `GET` and `HEAD` of a [`Site`], nothing else.
//!
//! A few paths without parameters need no web server: this one has no thread pool, which an
//! always-on watch would have to keep, and closes each connection after its response.

use std::io::{self, PipeWriter, Read, Write, pipe};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};

/// What a server answers from.
pub trait Site: Send + Sync + 'static {
    /// Answers a request for a path.
    fn answer(&self, request: &Request) -> Reply;
}

/// What was asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Without what follows a question mark.
    pub path: String,
    headers: Vec<(String, String)>,
}

/// What is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Code and words: `200 OK`.
    pub status: &'static str,
    /// The media type.
    pub kind: &'static str,
    /// Further headers.
    pub headers: &'static [(&'static str, &'static str)],
    /// The content.
    pub body: Vec<u8>,
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
/// How many clients are served at the same time. A browser connects ahead, six times a page.
const AT_ONCE: usize = 32;
/// The largest request.
const REQUEST_BYTES: usize = 8 << 10;
/// The media type of plain text.
const PLAIN: &str = "text/plain; charset=utf-8";

impl Request {
    /// The values of a header: one for each time that it stands there.
    pub fn headers(&self, name: &str) -> impl Iterator<Item = &str> {
        let of = self.headers.iter().filter(move |(known, _)| known.eq_ignore_ascii_case(name));
        of.map(|(_, value)| value.as_str())
    }

    /// Method and request of the text up to the empty line; `None` where a line is no header.
    fn parse(text: &str) -> Option<(&str, Request)> {
        let mut lines = text.lines();
        let mut words = lines.next().unwrap_or_default().split(' ');
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let path = target.split('?').next().unwrap_or_default().to_owned();
        let header = |line: &str| {
            let (name, value) = line.split_once(':')?;
            Some((name.trim().to_owned(), value.trim().to_owned()))
        };
        let headers = lines.take_while(|line| !line.is_empty()).map(header);
        Some((method, Request { path, headers: headers.collect::<Option<_>>()? }))
    }
}

impl Reply {
    /// Plain text.
    pub fn text(status: &'static str, text: impl Into<String>) -> Reply {
        Reply { status, kind: PLAIN, headers: &[], body: text.into().into_bytes() }
    }

    fn send(&self, stream: &mut TcpStream, whole: bool) -> io::Result<()> {
        let mut head = format!(
            "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n",
            self.status,
            self.kind,
            self.body.len()
        );
        for (name, value) in self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        head += "\r\n";
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(if whole { &self.body } else { &[] });
        stream.write_all(&bytes)
    }
}

impl Server {
    /// Answers at `address` from `site`.
    ///
    /// # Errors
    /// The address is taken, or not of this machine.
    pub fn begin(address: SocketAddr, site: impl Site) -> io::Result<Server> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let (ended, end) = pipe()?;
        let asked: Arc<dyn Site> = Arc::new(site);
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
fn attend(stream: TcpStream, asked: &Arc<dyn Site>) {
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

fn answer(mut stream: TcpStream, site: &dyn Site) -> io::Result<()> {
    let Some(text) = request(&mut stream)? else {
        let status = "431 Request Header Fields Too Large";
        return Reply::text(status, "shorten the request\n").send(&mut stream, true);
    };
    let Some((method, request)) = Request::parse(&text) else {
        return Reply::text("400 Bad Request", "the header line has no colon\n")
            .send(&mut stream, true);
    };
    match method {
        "GET" | "HEAD" => site.answer(&request).send(&mut stream, method != "HEAD"),
        _ => {
            Reply::text("405 Method Not Allowed", "only GET is supported\n").send(&mut stream, true)
        }
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

    struct Page;

    impl Site for Page {
        fn answer(&self, request: &Request) -> Reply {
            match &*request.path {
                "/" => Reply::text("200 OK", "a page\n"),
                "/host" => {
                    Reply::text("200 OK", request.headers("host").next().unwrap_or_default())
                }
                _ => Reply::text("404 Not Found", "there is /\n"),
            }
        }
    }

    fn server() -> Server {
        Server::begin("127.0.0.1:0".parse().expect("an address"), Page).expect("a port")
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
        slow.write_all(b"GET / HTTP/1.1\r\n").expect("heard");
        assert!(answer(&mut connect(), b"GET /?x HTTP/1.1\r\n\r\n").ends_with("a page\n"));
        assert!(answer(&mut slow, b"\r\n").starts_with("HTTP/1.1 200 OK"), "it is heard as well");
    }

    #[test]
    fn what_is_no_question_gets_its_code() {
        let server = server();
        let long = format!("GET / HTTP/1.1\r\nX: {}", "x".repeat(REQUEST_BYTES));
        for (asked, code) in [
            ("GET /nothing HTTP/1.1\r\n\r\n", "404"),
            ("HEAD / HTTP/1.1\r\n\r\n", "200"),
            ("POST / HTTP/1.1\r\n\r\n", "405"),
            ("GET / HTTP/1.1\r\nno header\r\nOrigin: x\r\n\r\n", "400"),
            (&long, "431"),
        ] {
            let mut stream = TcpStream::connect(server.address()).expect("a server");
            let answer = answer(&mut stream, asked.as_bytes());
            assert!(answer.starts_with(&format!("HTTP/1.1 {code} ")), "{answer}");
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    #[test]
    fn after_any_bytes_it_answers_others() {
        let server = server();
        let words: [&[u8]; 12] = [
            b"GET ",
            b"/",
            b"?",
            b"%00",
            b" HTTP/1.1",
            b"\r\n",
            b"\r\n\r\n",
            b":",
            b"\xff\xfe",
            b"\0",
            b"Host: ",
            b"HEAD",
        ];
        // Any order of words, by a generator of numbers (Marsaglia, 2003).
        let mut bits = 88_172_645_463_325_252u64;
        let mut next = |below: usize| {
            bits ^= bits << 13;
            bits ^= bits >> 7;
            bits ^= bits << 17;
            (bits % below as u64) as usize
        };
        for _ in 0..500 {
            let asked: Vec<&[u8]> = (0..next(12)).map(|_| words[next(words.len())]).collect();
            let mut stream = TcpStream::connect(server.address()).expect("a server");
            // It may close at once: then there is no one to read it.
            let _ = stream.write_all(&asked.concat());
            let _ = stream.shutdown(Shutdown::Write);
            let _ = stream.read_to_end(&mut Vec::new());
        }
        let mut stream = TcpStream::connect(server.address()).expect("a server");
        assert!(answer(&mut stream, b"GET / HTTP/1.1\r\n\r\n").ends_with("a page\n"));
    }

    #[test]
    fn headers_are_read_whatever_their_case() {
        let server = server();
        let mut stream = TcpStream::connect(server.address()).expect("a server");
        let asked = b"GET /host HTTP/1.1\r\nhOST:  here:1 \r\n\r\n";
        assert!(answer(&mut stream, asked).ends_with("\r\n\r\nhere:1"));
    }
}
