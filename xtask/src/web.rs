//! `cargo xtask web`: the playground, built into `target/web` as files for any static host.
//!
//! Whatever compiler is there makes the WebAssembly. The page is smallest where the standard library can be built with
//! it: by the compiler in use if it has its `rust-src`, or by Debian's. Otherwise the library is the one of rustup's
//! target.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Component, Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use crate::packages::{self, Manager, Package};
use crate::{cargo, root};

const TARGET: &str = "wasm32-unknown-unknown";
/// Debian's packages for WebAssembly, and their linker.
const DEBIAN: [&str; 4] = ["rustc-web", "cargo-web", "rust-web-src", "lld-22"];
const DEBIAN_LINKER: &str = "wasm-ld-22";
/// The most KB that opening the page may fetch, compressed with gzip; and the same where the standard library is not
/// built for size.
const MOST: &str = "600";
const MOST_WITH_LIBRARY_AS_IT_IS: &str = "615";
/// The default port of `--serve`.
const PORT: u16 = 8080;

/// Builds the page; then serves or tests it, if asked.
pub(crate) fn run(arguments: &[&str]) -> ExitCode {
    let result = match arguments {
        [] => build(),
        ["--serve"] => build().and_then(|()| serve(PORT)),
        ["--serve", port] => match port.parse() {
            Ok(port) => build().and_then(|()| serve(port)),
            Err(_) => Err(format!("`{port}` is no port")),
        },
        ["test"] => build().and_then(|()| test()),
        ["picture"] => build().and_then(|()| node("pictures.mjs", &[root().join("docs"), "playground".into()])),
        ["pictures"] => build().and_then(|()| node("pictures.mjs", &[root().join("target/pictures")])),
        other => Err(format!(
            "`web {}` is none of: web, web --serve [PORT], web test, web picture, web pictures",
            other.join(" ")
        )),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn build() -> Result<(), String> {
    let module = wasm()?;
    let web = root().join("web");
    let generated = web.join("generated");
    std::fs::create_dir_all(&generated).map_err(|error| format!("{}: {error}", generated.display()))?;
    split(&module, &generated)?;
    install_packages(&web)?;
    perform(npm(&web).args(["run", "--silent", "check"]), "the types of the page do not fit")?;
    perform(npm(&web).args(["run", "--silent", "build"]), "the page could not be built")?;
    println!("the playground is in target/web");
    Ok(())
}

/// Returns what is missing for building and testing the page, if anything. Installs a compiler for WebAssembly if that
/// is allowed: rustup's target, or Debian's compiler.
pub(crate) fn missing_for_tests(may_install: bool) -> Option<&'static str> {
    let starts = |program: &str| Command::new(program).arg("--version").stdout(Stdio::null()).status().is_ok();
    if !starts("node") || !starts("npm") {
        return Some("Node and npm");
    }
    if !starts("chromium") && std::env::var_os("LATHE_CHROMIUM").is_none() {
        return Some("Chromium");
    }
    let compiles = || has_target() || has_debian();
    let installed = || may_install && (add_target() || (install_debian() && has_debian()));
    (!compiles() && !installed()).then_some("a compiler for WebAssembly")
}

/// Builds the WebAssembly module of the page; returns its path.
fn wasm() -> Result<PathBuf, String> {
    wasm_module(&["--package", "lathe-web", "--crate-type", "cdylib"], "lathe_web.wasm")
}

/// Builds the module that tests compiled code; returns its path.
fn wasm_tests() -> Result<PathBuf, String> {
    wasm_module(&["--package", "lathe-jit", "--example", "in_wasm"], "examples/in_wasm.wasm")
}

/// Builds a WebAssembly module whose table the host can extend with functions.
fn wasm_module(what: &[&str], file: &str) -> Result<PathBuf, String> {
    let folder = root().join("target/wasm");
    let mut command = if let Some(command) = with_own_library() {
        command
    } else if has_target() || add_target() {
        cargo()
    } else {
        return Err(format!(
            "this compiler has no {TARGET}; `rustup target add {TARGET}` adds it, or on Debian `apt-get install {}`",
            DEBIAN.join(" ")
        ));
    };
    command.arg("rustc").args(what).args(["--profile", "web", "--target", TARGET]);
    command.arg("--locked").arg("--target-dir").arg(&folder);
    // `split` needs the last option.
    let linking = ["--export-table", "--growable-table", "--emit-relocs"];
    command.arg("--").args(linking.map(|one| format!("-Clink-arg={one}")));
    perform(&mut command, "the WebAssembly module could not be built")?;
    Ok(folder.join(TARGET).join("web").join(file))
}

/// Whether the compiler in use has the library for WebAssembly.
fn has_target() -> bool {
    let output = Command::new("rustc").args(["--print", "target-libdir", "--target", TARGET]).output();
    output.is_ok_and(|output| Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir())
}

fn add_target() -> bool {
    let mut command = Command::new("rustup");
    command.args(["target", "add", TARGET]).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success()) && has_target()
}

fn has_debian() -> bool {
    Path::new("/usr/bin/cargo").exists()
        && Command::new(DEBIAN_LINKER).arg("--version").stdout(Stdio::null()).status().is_ok()
}

fn install_debian() -> bool {
    eprintln!("installing a compiler for WebAssembly: {}", DEBIAN.join(", "));
    let packages = DEBIAN.map(|name| Package { manager: Manager::Apt, name: name.to_owned() });
    packages::install(&packages).is_empty()
}

/// Returns Debian's Cargo, which has to build the standard library for WebAssembly itself.
fn debian() -> Command {
    let mut command = Command::new("/usr/bin/cargo");
    command.current_dir(root()).env("RUSTC", "/usr/bin/rustc");
    command.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", DEBIAN_LINKER);
    // These are set by the Cargo that runs this program, for itself.
    command.env_remove("CARGO").env_remove("RUSTUP_TOOLCHAIN").env_remove("RUSTC_WRAPPER");
    with_library(command)
}

/// Returns a Cargo that builds the standard library for size, if there is one.
fn with_own_library() -> Option<Command> {
    match () {
        () if builds_library() => Some(with_library(cargo())),
        () if has_debian() => Some(debian()),
        () => None,
    }
}

/// Whether the compiler in use can build the standard library: its source is there, and it knows the settings.
fn builds_library() -> bool {
    let sysroot = Command::new("rustc").args(["--print", "sysroot"]).output();
    let has_source = sysroot.is_ok_and(|output| {
        let sysroot = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
        sysroot.join("lib/rustlib/src/rust/library/Cargo.lock").is_file()
    });
    let mut asked = with_library(cargo());
    asked.arg("locate-project").stdout(Stdio::null()).stderr(Stdio::null());
    has_source && asked.status().is_ok_and(|status| status.success())
}

/// Makes Cargo build the standard library for size, and panics abort at once: nobody would see their messages, and the
/// page restarts the machine either way. These settings are unstable, so the compiler must be told to accept them.
fn with_library(mut command: Command) -> Command {
    command.args(["-Zbuild-std=std,panic_abort", "-Zbuild-std-features=optimize_for_size", "-Zpanic-immediate-abort"]);
    command.env("RUSTC_BOOTSTRAP", "1").env("CARGO_PROFILE_WEB_PANIC", "immediate-abort");
    command.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", "-Zlocation-detail=none");
    command
}

/// Splits the module into what opening the page needs and what is loaded later.
fn split(module: &Path, folder: &Path) -> Result<(), String> {
    let mut command = Command::new("node");
    command.arg(root().join("web/build/split.mjs")).args([module, folder]);
    perform(&mut command, "the WebAssembly module could not be divided")
}

/// Installs the packages of the lock file, unless they were installed after it last changed.
fn install_packages(web: &Path) -> Result<(), String> {
    let modified = |path: PathBuf| std::fs::metadata(path).and_then(|data| data.modified()).ok();
    let (lock, installed) =
        (modified(web.join("package-lock.json")), modified(web.join("node_modules/.package-lock.json")));
    if installed.is_some() && installed >= lock {
        return Ok(());
    }
    perform(npm(web).args(["ci", "--silent", "--no-audit", "--no-fund"]), "npm could not install the page's packages")
}

/// Runs compiled code, compares the module with the native build, and drives the page.
fn test() -> Result<(), String> {
    node("engines.mjs", &[wasm_tests()?])?;
    node("agreement.mjs", &[])?;
    let most = if with_own_library().is_some() { MOST } else { MOST_WITH_LIBRARY_AS_IT_IS };
    node("page.mjs", &[most.into()])
}

/// Runs one of the page's scripts.
fn node(script: &str, arguments: &[PathBuf]) -> Result<(), String> {
    let web = root().join("web");
    let mut command = Command::new("node");
    command.current_dir(&web).arg(web.join("tests").join(script)).args(arguments);
    perform(&mut command, &format!("{script} failed"))
}

fn npm(web: &Path) -> Command {
    let mut command = Command::new("npm");
    command.arg("--prefix").arg(web);
    command
}

fn perform(command: &mut Command, failure: &str) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(failure.to_owned()),
        Err(error) => Err(format!("`{}` cannot be started: {error}", command.get_program().to_string_lossy())),
    }
}

/// Serves `target/web` on loopback until it is interrupted.
fn serve(port: u16) -> Result<(), String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|error| format!("port {port}: {error}"))?;
    println!("http://127.0.0.1:{port}/  (Ctrl-C ends it)");
    for stream in listener.incoming().flatten() {
        // A browser that disconnects early is none of our business.
        let _ = answer(stream);
    }
    Ok(())
}

fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    while reader.read_line(&mut String::new())? > 2 {}
    match requested(&line).and_then(|path| Some((std::fs::read(&path).ok()?, media_type(&path)))) {
        Some((bytes, kind)) => {
            let length = bytes.len();
            write!(stream, "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n")?;
            stream.write_all(&bytes)
        }
        None => write!(stream, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"),
    }
}

/// Returns the file that the first line of a request asks for, if it may be served.
fn requested(line: &str) -> Option<PathBuf> {
    let path = line.strip_prefix("GET /")?.split([' ', '?', '#']).next()?;
    let path = Path::new(if path.is_empty() { "index.html" } else { path });
    let is_inside = path.components().all(|part| matches!(part, Component::Normal(_)));
    is_inside.then(|| root().join("target/web").join(path))
}

fn media_type(path: &Path) -> &'static str {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript",
        Some("css") => "text/css",
        Some("wasm") => "application/wasm",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_the_page_are_served() {
        let served = |line: &str| requested(line).map(|path| path.strip_prefix(root()).unwrap().to_owned());
        assert_eq!(served("GET / HTTP/1.1"), Some("target/web/index.html".into()));
        assert_eq!(served("GET /assets/x.js?v=1 HTTP/1.1"), Some("target/web/assets/x.js".into()));
        assert_eq!(served("GET /../Cargo.toml HTTP/1.1"), None);
        assert_eq!(served("GET //etc/passwd HTTP/1.1"), None);
        assert_eq!(served("POST / HTTP/1.1"), None);
    }
}
