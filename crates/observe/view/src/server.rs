//! The server of the page. It answers only browsers on this machine that have the address.
//!
//! It listens only on 127.0.0.1. Every path begins with a token that is only in the printed
//! address. The host and the origin in a request must be those of this server. So a page of another
//! origin gets no answer, even if its own name leads here (DNS rebinding).

use std::fs::File;
use std::io::{self, Read};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, OnceLock};

use crate::html::{self, Extra};
use wastenot_host::serve::{Reply, Request, Site};
use wastenot_model::Help;

use crate::{Answer, View};

/// Why a view cannot be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The port is taken, or not allowed.
    #[error("cannot listen on port {port} of 127.0.0.1: {}", why.kind())]
    Listen {
        /// Which; 0 stands for any that is free.
        port: u16,
        /// The kernel's error.
        why: io::Error,
    },
    /// There are no random numbers.
    #[error("cannot read /dev/urandom: {}", .0.kind())]
    Token(io::Error),
}

impl Help for Error {
    fn help(&self) -> std::borrow::Cow<'_, str> {
        match self {
            Error::Listen { .. } => "leave out `--port`; wastenot then takes a free port",
            Error::Token(_) => "mount /dev: wastenot needs random numbers to protect the page",
        }
        .into()
    }
}

/// Serves one [`View`] until it is dropped; before it is there, a glance at it, or a page that says
/// so and that loads itself again.
#[derive(Debug)]
pub struct Server {
    server: wastenot_host::serve::Server,
    token: String,
    views: Arc<Views>,
}

/// What there is to show.
#[derive(Debug, Default)]
struct Views {
    /// Under `/`.
    whole: OnceLock<View>,
    /// Under [`GLANCE`]: a page asks what it shows, and nothing else, whatever came meanwhile.
    glance: OnceLock<View>,
}

/// The folder of a glance.
const GLANCE: &str = "/glance";

impl Server {
    /// Listens on `port` of this machine, or on a free one for 0. `title` names what will be shown.
    ///
    /// # Errors
    /// The port is taken; there are no random numbers.
    pub fn begin(title: &str, port: u16) -> Result<Server, Error> {
        let token = token().map_err(Error::Token)?;
        let (here, views) = (Arc::new(OnceLock::new()), Arc::new(Views::default()));
        let guarded = Guarded {
            views: Arc::clone(&views),
            waiting: waiting(title),
            token: token.clone(),
            here: Arc::clone(&here),
        };
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let server = wastenot_host::serve::Server::begin(address, guarded);
        let server = server.map_err(|why| Error::Listen { port, why })?;
        let _ = here.set(server.address().port());
        Ok(Server { server, token, views })
    }

    /// From now on it shows `view`, unless it shows another one.
    pub fn show(&self, view: View) {
        let _ = self.views.whole.set(view);
    }

    /// Until then it shows this. Its page asks `complete` and goes to the view once it is there.
    pub fn show_glance(&self, glance: View) {
        let _ = self.views.glance.set(glance);
    }

    /// The address of the page.
    pub fn address(&self) -> String {
        format!("http://{}/{}/", self.server.address(), self.token)
    }
}

/// A view behind its token.
struct Guarded {
    views: Arc<Views>,
    /// The page before it is there.
    waiting: String,
    token: String,
    /// The port, once it is known.
    here: Arc<OnceLock<u16>>,
}

const HEADERS: &[(&str, &str)] = &[
    ("Content-Encoding", "gzip"),
    ("Cache-Control", "no-store"),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
];

/// The page is loaded again each second.
const WAITING: &[(&str, &str)] = &[
    ("Refresh", "1"),
    ("Cache-Control", "no-store"),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
];

/// From the page to that of the glance, and back. A browser keeps what its address has after `#`.
const TO_GLANCE: &[(&str, &str)] =
    &[("Location", "glance/"), ("Cache-Control", "no-store"), ("Referrer-Policy", "no-referrer")];
/// See [`TO_GLANCE`].
const TO_WHOLE: &[(&str, &str)] =
    &[("Location", "../"), ("Cache-Control", "no-store"), ("Referrer-Policy", "no-referrer")];

fn waiting(title: &str) -> String {
    let content = format!(
        "<h1>{}</h1>\n<p role=\"status\">wastenot is reading and checking the trace. The \
         result will appear on this page.</p>\n",
        html::text(title)
    );
    html::page(title, &content, &Extra::default())
}

impl Site for Guarded {
    fn answer(&self, request: &Request) -> Reply {
        let is_ours = |host: &str| {
            let port = host.strip_prefix("127.0.0.1:").or_else(|| host.strip_prefix("localhost:"));
            let port = port.and_then(|port| port.parse().ok());
            port.is_some() && port.as_ref() == self.here.get()
        };
        let of = |origin: &str| origin.strip_prefix("http://").is_some_and(is_ours);
        let is_here = request.headers("Host").count() == 1 && request.headers("Host").all(is_ours);
        if !is_here || !request.headers("Origin").all(of) {
            return Reply::text("403 Forbidden", "only pages of this server may send requests\n");
        }
        let path = request.path.strip_prefix('/').and_then(|path| path.strip_prefix(&*self.token));
        let path = path.filter(|path| path.starts_with('/'));
        path.and_then(|path| self.at(path))
            .unwrap_or_else(|| Reply::text("404 Not Found", "not found\n"))
    }
}

impl Guarded {
    /// The answer to one that has the token.
    fn at(&self, path: &str) -> Option<Reply> {
        let Views { whole, glance } = &*self.views;
        let (whole, glance) = (whole.get(), glance.get());
        let of_glance = path.strip_prefix(GLANCE).filter(|path| path.starts_with('/'));
        let answer = match (of_glance, whole) {
            (Some("/"), Some(_)) => return Some(elsewhere(TO_WHOLE)),
            (Some("/complete"), _) => Answer::json(&whole.is_some().into()),
            (Some(path), _) => glance?.answer(path)?,
            (None, Some(whole)) => whole.answer(path)?,
            (None, None) if path == "/" && glance.is_some() => {
                return Some(elsewhere(TO_GLANCE));
            }
            (None, None) => {
                // The page is shown as any other; what it will ask is not there yet.
                let (status, body) = match path {
                    "/" => ("202 Accepted", self.waiting.clone()),
                    _ => ("503 Service Unavailable", String::new()),
                };
                let kind = "text/html; charset=utf-8";
                return Some(Reply { status, kind, headers: WAITING, body: body.into() });
            }
        };
        Some(Reply { status: "200 OK", kind: answer.kind, headers: HEADERS, body: answer.body })
    }
}

fn elsewhere(headers: &'static [(&'static str, &'static str)]) -> Reply {
    Reply { headers, ..Reply::text("302 Found", "") }
}

/// 128 random bits.
fn token() -> io::Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(wastenot_host::hex(&bytes))
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::TcpStream;

    use wastenot_check::Options;
    use wastenot_model::{Builder, Head, Machine};

    use super::*;
    use crate::{Recording, check};

    fn recording() -> Recording {
        let history = Builder::new(Head::new(Machine::flat(1))).finish();
        let options = Options::default();
        let spilled = &mut Vec::new();
        let (found, content) = check(&history, &options, spilled).expect("memory does not fail");
        let report = found.report(&history, &options);
        Recording::new(&history, &options, &found, &report, content)
    }

    fn begin(port: u16) -> Result<Server, Error> {
        let server = Server::begin("<a>", port)?;
        let answer = ask_whole(&server, &format!("/{}/", server.token));
        assert!(answer.starts_with("HTTP/1.1 202 ") && answer.contains("\r\nRefresh: 1\r\n"));
        assert!(answer.contains("<h1>&lt;a&gt;</h1>"), "{answer}");
        server.show(View::new(recording()));
        Ok(server)
    }

    fn ask_whole(server: &Server, path: &str) -> String {
        let address = server.server.address();
        let mut stream = TcpStream::connect(address).expect("a server");
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n").expect("heard");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("an answer");
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// The code of the answer.
    fn ask(server: &Server, path: &str, headers: &str) -> String {
        let mut stream = TcpStream::connect(server.server.address()).expect("a server");
        write!(stream, "GET {path} HTTP/1.1\r\n{headers}\r\n").expect("heard");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("an answer");
        String::from_utf8_lossy(&answer[9..12]).into_owned()
    }

    #[test]
    fn only_pages_of_this_server_with_its_token_get_an_answer() {
        let server = begin(0).expect("a free port");
        let (port, token) = (server.server.address().port(), server.token.clone());
        let (head, host) = (format!("/{token}/head"), format!("Host: 127.0.0.1:{port}\r\n"));
        let local = format!("Host: localhost:{port}\r\n");
        let own = format!("{host}Origin: http://127.0.0.1:{port}\r\n");
        for headers in [&host, &local, &own] {
            assert_eq!(ask(&server, &head, headers), "200", "{headers}");
        }
        let foreign = [
            String::new(),
            "Host: evil.example\r\n".to_owned(),
            format!("Host: evil.example:{port}\r\n"),
            "Host: 127.0.0.1:1\r\n".to_owned(),
            format!("{host}Origin: http://evil.example\r\n"),
            format!("{own}Origin: http://evil.example\r\n"),
            format!("{host}Host: evil.example\r\n"),
            format!("{host}Origin: null\r\n"),
            format!("{host}Origin: https://127.0.0.1:{port}\r\n"),
        ];
        for headers in &foreign {
            assert_eq!(ask(&server, &head, headers), "403", "{headers}");
        }
        let guessed = format!("/{}/head", "0".repeat(32));
        for path in ["/", "/head", &guessed, &format!("/{token}head"), &format!("/{token}")] {
            assert_eq!(ask(&server, path, &host), "404", "{path}");
        }
    }

    #[test]
    fn a_glance_is_shown_until_all_is_there() {
        let server = Server::begin("a", 0).expect("a free port");
        let host = format!("Host: {}\r\n", server.server.address());
        let at = |path: &str| ask_whole(&server, &format!("/{}{path}", server.token));
        let code = |path: &str| ask(&server, &format!("/{}{path}", server.token), &host);
        assert_eq!((&*code("/"), &*code("/glance/"), &*code("/glance")), ("202", "404", "503"));
        server.show_glance(View::of(vec![recording()]));
        assert!(at("/").contains("\r\nLocation: glance/\r\n"), "{}", at("/"));
        assert_eq!(
            (&*code("/glance/"), &*code("/glance/0/tasks"), &*code("/head")),
            ("200", "200", "503")
        );
        let is_complete = |answer: bool| {
            let body = Answer::json(&answer.into()).body;
            at("/glance/complete").ends_with(&*String::from_utf8_lossy(&body))
        };
        assert!(is_complete(false));
        server.show(View::new(recording()));
        assert_eq!((&*code("/"), &*code("/head"), &*code("/glance/head")), ("200", "200", "200"));
        assert!(is_complete(true));
        assert!(at("/glance/").contains("\r\nLocation: ../\r\n"), "{}", at("/glance/"));
    }

    #[test]
    fn a_taken_port_is_an_error() {
        let first = begin(0).expect("a free port");
        let error = begin(first.server.address().port()).expect_err("it is taken");
        assert!(error.to_string().starts_with("cannot listen on port"), "{error}");
    }
}
