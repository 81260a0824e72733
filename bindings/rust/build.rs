//! build.rs - finds libpawl and compiles shim.c, which has the inline functions of its headers
//!
//! PAWL_INCLUDE_DIR and PAWL_LIB_DIR say where Pawl is; without them pkg-config does. PAWL_STATIC=1 links libpawl.a.
//! CC and AR name the compiler and the archiver for the target, PKG_CONFIG another pkg-config.

use std::env;
use std::path::PathBuf;
use std::process::{exit, Command};

fn fail(why: String) -> ! {
    eprintln!("pawl: {why}");
    exit(1)
}

fn run(command: &mut Command) -> String {
    match command.output() {
        Err(e) => fail(format!("{command:?}: {e}")),
        Ok(o) if !o.status.success() => fail(format!("{command:?}: {}", String::from_utf8_lossy(&o.stderr))),
        Ok(o) => String::from_utf8_lossy(&o.stdout).into_owned(),
    }
}

/// What pkg-config says, word by word; a space in a folder's name has a backslash before it.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut letters = text.chars();
    while let Some(c) = letters.next() {
        let last = words.last_mut().unwrap();
        match c {
            '\\' => last.extend(letters.next()),
            c if c.is_whitespace() => words.push(String::new()),
            c => last.push(c),
        }
    }
    words.retain(|w| !w.is_empty());
    words
}

fn main() {
    let ours = ["PAWL_INCLUDE_DIR", "PAWL_LIB_DIR", "PAWL_STATIC", "CC", "AR"];
    let of_pkg_config = ["", "_PATH", "_LIBDIR", "_SYSROOT_DIR"].map(|end| format!("PKG_CONFIG{end}"));
    for name in ours.iter().copied().chain(of_pkg_config.iter().map(String::as_str)) {
        println!("cargo:rerun-if-env-changed={name}");
    }
    println!("cargo:rerun-if-changed=shim.c");
    let out = PathBuf::from(env::var("OUT_DIR").unwrap());
    let kind = if env::var("PAWL_STATIC").map_or(false, |v| v == "1") {
        "static"
    } else {
        "dylib"
    };
    let mut flags = Vec::new();
    if let Ok(include) = env::var("PAWL_INCLUDE_DIR") {
        flags.push(format!("-I{include}"));
        match env::var("PAWL_LIB_DIR") {
            Ok(lib) => println!("cargo:rustc-link-search=native={lib}"),
            Err(_) => fail("PAWL_INCLUDE_DIR is set, PAWL_LIB_DIR is not".into()),
        }
    } else {
        let program = env::var("PKG_CONFIG").unwrap_or("pkg-config".into());
        let found = run(Command::new(program).args(["--cflags", "--libs", "pawl"]));
        for word in words(&found) {
            match word.strip_prefix("-L") {
                Some(lib) => println!("cargo:rustc-link-search=native={lib}"),
                None if word.starts_with("-l") => (),
                None => flags.push(word),
            }
        }
    }
    let (cc, ar) = (
        env::var("CC").unwrap_or("cc".into()),
        env::var("AR").unwrap_or("ar".into()),
    );
    let (object, archive) = (out.join("shim.o"), out.join("libpawl_rust.a"));
    let mut words = cc.split_whitespace();
    run(Command::new(words.next().unwrap_or("cc"))
        .args(words)
        .args(["-O2", "-fPIC", "-D_GNU_SOURCE", "-c", "shim.c", "-o"])
        .arg(&object)
        .args(&flags));
    let _ = std::fs::remove_file(&archive);
    run(Command::new(ar).arg("rcs").arg(&archive).arg(&object));
    println!("cargo:rustc-link-search=native={}", out.display());
    println!("cargo:rustc-link-lib=static=pawl_rust");
    println!("cargo:rustc-link-lib={kind}=pawl");
}
