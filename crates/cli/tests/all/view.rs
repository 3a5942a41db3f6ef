//! `wastenot view` serves a page until a signal ends it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::root;

fn view(words: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_wastenot"))
        .args(["view", "traces/7.2-t4x4-make.dat", "--no-open"])
        .args(words)
        .current_dir(root())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("wastenot")
}

/// The first line of the answer.
fn get(host: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(host).expect("it listens");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").expect("heard");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("an answer");
    String::from_utf8_lossy(&answer).lines().next().unwrap_or_default().to_owned()
}

#[test]
fn it_serves_until_a_signal_and_ends_well() {
    let mut served = view(&[]);
    let mut lines = BufReader::new(served.stdout.take().expect("a pipe")).lines();
    let address = lines.next().expect("an address").expect("text");
    let (host, path) = address
        .strip_prefix("http://")
        .and_then(|rest| rest.split_once('/'))
        .expect("an address with a token");
    assert_eq!(get(host, &format!("/{path}")), "HTTP/1.1 200 OK");
    assert_eq!(get(host, &format!("/{path}head")), "HTTP/1.1 200 OK");
    assert_eq!(get(host, &format!("/{path}0/tile/0/10/0/0")), "HTTP/1.1 200 OK");
    assert_eq!(get(host, "/"), "HTTP/1.1 404 Not Found");

    let port = host.rsplit(':').next().expect("a port");
    let taken = view(&["--port", port]).wait_with_output().expect("it ends");
    assert_eq!(taken.status.code(), Some(2));
    let said = String::from_utf8_lossy(&taken.stderr);
    assert!(said.contains(&format!("cannot listen on port {port} of 127.0.0.1")), "{said}");
    assert!(said.contains("help: leave out `--port`"), "{said}");

    let pid = Pid::from_child(&served);
    kill_process(pid, Signal::INT).expect("it is there");
    assert!(served.wait().expect("it ends").success());
    assert_eq!(lines.count(), 0, "it prints the address and no more");
}
