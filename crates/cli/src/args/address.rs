//! The parser of the addresses to listen on.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, ToSocketAddrs};

/// `127.0.0.1:9777`, `localhost:9777`; `:9777` and `9777` mean the loopback. All interfaces must be
/// named (`0.0.0.0:9777`): there is no password, so no user should listen on them by accident.
pub(crate) fn address(text: &str) -> Result<SocketAddr, String> {
    const FORMS: &str =
        "expected ADDR:PORT or PORT: 127.0.0.1:9777, localhost:9777, [::1]:9777, 9777";
    if let Ok(port) = text.strip_prefix(':').unwrap_or(text).parse::<u16>() {
        return Ok((Ipv4Addr::LOCALHOST, port).into());
    }
    let mut known = text.to_socket_addrs().map_err(|error| match error.kind() {
        ErrorKind::InvalidInput => FORMS.to_owned(),
        _ => format!("cannot resolve the host name; {FORMS}"),
    })?;
    known.next().ok_or_else(|| FORMS.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_one_of_the_loopback_and_an_error_names_the_form() {
        for text in ["9777", ":9777", "127.0.0.1:9777"] {
            assert_eq!(address(text), Ok(([127, 0, 0, 1], 9777).into()), "{text}");
        }
        assert_eq!(address("[::1]:0"), "[::1]:0".parse().map_err(|_| String::new()));
        assert_eq!(address("0.0.0.0:1"), Ok(([0, 0, 0, 0], 1).into()));
        assert!(address("localhost:9777").is_ok_and(|it| it.ip().is_loopback()));
        for bad in ["", ":", "localhost", "localhost:", "127.0.0.1", "1.2.3.4:99999", "99999", "::"]
        {
            let error = address(bad).expect_err(bad);
            assert!(error.contains("expected ADDR:PORT or PORT"), "{bad}: {error}");
        }
        let error = address("no such name:9777").expect_err("no name");
        assert!(error.starts_with("cannot resolve the host name"), "{error}");
    }
}
