//! What tests need beyond Cargo: which packages, whether they are installed, and how to install them.
//!
//! Python and Node packages go below `target/tools`, out of everybody's way; `lathe_tests::tools` looks there.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::root;

const LIST: &str = include_str!("../packages.txt");

/// The package manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manager {
    /// The system's, on Debian and its derivatives.
    Apt,
    /// Python's, into an environment of the project.
    Pip,
    /// Node's, into a folder of the project.
    Npm,
}

/// Something to install.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Package {
    pub(crate) manager: Manager,
    pub(crate) name: String,
}

impl fmt::Display for Package {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let manager = match self.manager {
            Manager::Apt => "apt",
            Manager::Pip => "pip",
            Manager::Npm => "npm",
        };
        write!(f, "{} ({manager})", self.name)
    }
}

/// Returns the packages of the list that are not installed.
pub(crate) fn missing() -> Vec<Package> {
    read(LIST).into_iter().filter(|package| !is_installed(package)).collect()
}

/// Installs packages; returns those that failed, with the reason.
pub(crate) fn install(packages: &[Package]) -> Vec<(Package, String)> {
    [Manager::Apt, Manager::Pip, Manager::Npm]
        .into_iter()
        .flat_map(|manager| {
            let wanted: Vec<&Package> = packages.iter().filter(|package| package.manager == manager).collect();
            let failed = if wanted.is_empty() { Ok(()) } else { install_with(manager, &wanted) };
            let reason = failed.err();
            wanted.into_iter().filter_map(move |package| Some((package.clone(), reason.clone()?)))
        })
        .collect()
}

/// Returns the folder for Python and Node packages.
pub(crate) fn folder() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    target.join("tools")
}

fn read(list: &str) -> Vec<Package> {
    let lines = list.lines().map(|line| line.split('#').next().unwrap_or("").trim()).filter(|line| !line.is_empty());
    let package = |line: &str| {
        let (manager, name) = line.split_once(' ').unwrap_or_else(|| panic!("packages.txt: no name in `{line}`"));
        let manager = match manager {
            "apt" => Manager::Apt,
            "pip" => Manager::Pip,
            "npm" => Manager::Npm,
            other => panic!("packages.txt: `{other}` is no package manager"),
        };
        Package { manager, name: name.trim().to_owned() }
    };
    lines.map(package).collect()
}

fn is_installed(package: &Package) -> bool {
    match package.manager {
        Manager::Apt => {
            let output = Command::new("dpkg-query").args(["-W", "-f=${db:Status-Status}", &package.name]).output();
            output.is_ok_and(|output| output.stdout == b"installed")
        }
        Manager::Pip => {
            let python = folder().join("python/bin/python");
            succeeds(Command::new(python).args(["-m", "pip", "show", "--quiet", without_version(&package.name)]))
        }
        Manager::Npm => folder().join("node/node_modules").join(without_version(&package.name)).is_dir(),
    }
}

/// Strips `pygls==1.3` and `mocha@10` of what follows the name; `@scope/name@1` keeps its scope.
fn without_version(name: &str) -> &str {
    let end = name.char_indices().skip(1).find(|(_, letter)| matches!(letter, '=' | '@' | '<' | '>' | '~'));
    end.map_or(name, |(at, _)| &name[..at])
}

fn install_with(manager: Manager, packages: &[&Package]) -> Result<(), String> {
    let names: Vec<&str> = packages.iter().map(|package| package.name.as_str()).collect();
    match manager {
        Manager::Apt => {
            let mut update = as_root("apt-get");
            perform(update.args(["update", "--quiet"]))?;
            let mut install = as_root("apt-get");
            perform(install.env("DEBIAN_FRONTEND", "noninteractive").args(["install", "--yes", "--quiet"]).args(names))
        }
        Manager::Pip => {
            let environment = folder().join("python");
            if !environment.join("bin/python").exists() {
                perform(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
            }
            perform(Command::new(environment.join("bin/python")).args(["-m", "pip", "install", "--quiet"]).args(names))
        }
        Manager::Npm => {
            let folder = folder().join("node");
            std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
            perform(npm(&folder).arg("install").args(names))
        }
    }
}

fn npm(folder: &Path) -> Command {
    let mut command = Command::new("npm");
    command.arg("--prefix").arg(folder).args(["--silent", "--no-audit", "--no-fund"]);
    command
}

/// Returns a command that runs as root: as it is for root, with `sudo` for others.
fn as_root(program: &str) -> Command {
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0");
    if is_root {
        return Command::new(program);
    }
    let mut command = Command::new("sudo");
    command.arg(program);
    command
}

fn succeeds(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

fn perform(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    match command.stdin(Stdio::null()).stdout(Stdio::null()).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{program}` failed ({status})")),
        Err(error) => Err(format!("`{program}` cannot be started: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sound() {
        let names: Vec<String> = read(LIST).into_iter().map(|package| package.to_string()).collect();
        let mut once = names.clone();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), names.len(), "a package is listed twice: {names:?}");
    }

    #[test]
    fn lines_are_read() {
        let list = "# tools\napt gdb-multiarch  # the debugger\n\npip pygls==1.3\nnpm @scope/name@1\n";
        let package = |manager, name: &str| Package { manager, name: name.to_owned() };
        let expected = [
            package(Manager::Apt, "gdb-multiarch"),
            package(Manager::Pip, "pygls==1.3"),
            package(Manager::Npm, "@scope/name@1"),
        ];
        assert_eq!(read(list), expected);
        assert_eq!(without_version("pygls==1.3"), "pygls");
        assert_eq!(without_version("@scope/name@1"), "@scope/name");
    }
}
