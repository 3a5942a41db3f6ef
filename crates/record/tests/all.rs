//! Recordings of this machine, as far as it allows them.

mod all {
    mod agree;
    mod tracefs;
}
