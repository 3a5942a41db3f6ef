//! The formatter: one form for each text, and nothing lost.

use wastenot_rota::{format, parse};

use crate::texts::{FAIR, STEALING};

#[test]
fn shows() {
    for text in [STEALING, FAIR] {
        let once = format(text).unwrap();
        println!("{once}");
        assert_eq!(format(&once).unwrap(), once);
        assert_eq!(parse(&once).1, []);
    }
}
#[test]
fn compiles() {
    for text in [STEALING, FAIR] {
        println!("{:?}", wastenot_rota::compile(text).map(|_| ()));
    }
}
