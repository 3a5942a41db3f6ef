//! clang compiles what is emitted.
use super::*;

#[test]
fn x() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../policies");
    for name in ["work-stealing", "fair-vtime"] {
        let text = fs::read_to_string(root.join(format!("{name}.rota"))).unwrap();
        let program = wastenot_rota::compile(&text).unwrap();
        let c = emit(&program).unwrap();
        let to = PathBuf::from("/tmp/w/emit").join(format!("{name}.bpf.c"));
        fs::write(&to, c).unwrap();
        let out = Command::new("clang")
            .args([
                "-g",
                "-O2",
                "-target",
                "bpf",
                "-mcpu=v3",
                "-Wall",
                "-Wextra",
                "-Wno-unused-parameter",
                "-c",
            ])
            .arg(&to)
            .arg("-o")
            .arg(to.with_extension("o"))
            .output()
            .unwrap();
        println!("{}", String::from_utf8_lossy(&out.stderr));
    }
    let _ = env::temp_dir();
}
