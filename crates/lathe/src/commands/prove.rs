//! `lathe prove`: claims about a machine, decided by a solver.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{ErrorKind, IsTerminal, Write as _, stderr};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use lathe_asm::disassembler;
use lathe_isa::Isa;
use lathe_isa::model::{InstructionId, RegisterId};
use lathe_prove::{Answer, Case, Claim, Core, Module, Query};
use serde::Serialize;

use super::{Outcome, hdl};
use crate::arguments::{Format, Prove};
use crate::exit::{Exit, Failure};
use crate::{machine, output};

/// Proves what was asked for.
pub(super) fn execute(arguments: &Prove) -> Outcome {
    let (machine, claims) = match arguments.equal.as_slice() {
        [one, other] => equal(one, other)?,
        _ => {
            let Some(name) = arguments.machine.machine.as_deref() else {
                return Err(Failure::usage("which machine?").help("name one with `-m`, or compare two with `--equal`"));
            };
            let machine = machine::open(name)?;
            let claims =
                if arguments.keeps.is_empty() { core(arguments, &machine)? } else { keeps(arguments, &machine.isa)? };
            (machine.isa.name, claims)
        }
    };
    if claims.is_empty() {
        return Err(Failure::input("there is nothing to prove").help("`--only` takes mnemonics, such as `--only add`"));
    }
    let proofs = prove(arguments, &claims)?;
    let count = |wanted: Found| proofs.iter().filter(|proof| proof.found == wanted).count();
    let (proven, refuted, undecided) = (count(Found::Proven), count(Found::Refuted), count(Found::Undecided));
    let ok = proven == proofs.len();
    output::answer(&match arguments.format.format {
        Format::Text => {
            let mut text = format!("\n{machine}: {proven} of {} claims proven", proofs.len());
            if refuted > 0 {
                let _ = write!(text, ", {refuted} refuted");
            }
            if undecided > 0 {
                let _ = write!(text, ", {undecided} not decided in {} s", arguments.timeout);
            }
            text + "\n"
        }
        Format::Json => output::json(&serde_json::json!({
            "ok": ok, "machine": machine, "proven": proven, "refuted": refuted, "undecided": undecided, "claims": proofs,
        }))?,
    })?;
    Ok(if ok { Exit::Done } else { Exit::InputWrong })
}

/// Something to be proven.
struct ToProve {
    name: String,
    query: Query,
    /// The definition whose instructions a case is about.
    isa: Arc<Isa>,
    /// The clock cycles of a core that it is about.
    cycles: Option<u32>,
}

/// What became of it.
#[derive(Serialize)]
struct Proof {
    claim: String,
    found: Found,
    #[serde(skip_serializing_if = "Option::is_none")]
    cycles: Option<u32>,
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    case: Option<CaseData>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Found {
    Proven,
    Refuted,
    Undecided,
}

/// A state in which a claim does not hold.
#[derive(Serialize)]
struct CaseData {
    before: BTreeMap<String, u64>,
    code: Vec<u64>,
    after: Vec<DifferenceData>,
    broken: Vec<String>,
    /// A row of `examples` that tells what was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    example: Option<String>,
}

#[derive(Serialize)]
struct DifferenceData {
    name: String,
    expected: u64,
    found: u64,
}

impl CaseData {
    fn new(isa: &Isa, case: Case) -> CaseData {
        let difference = |(name, expected, found)| DifferenceData { name, expected, found };
        CaseData {
            example: example(isa, &case),
            before: case.before.into_iter().collect(),
            code: case.code,
            after: case.after.into_iter().map(difference).collect(),
            broken: case.broken,
        }
    }
}

/// A case as a row of `examples`, if it is about an instruction.
fn example(isa: &Isa, case: &Case) -> Option<String> {
    let pc = case.before.iter().find(|(name, _)| *name == isa.pc.name)?.1;
    let decoded = isa.decode(lathe_isa::encoding::window(case.code.iter().copied(), isa.code_memory().cell))?;
    case.example(&disassembler::instruction(isa, &decoded, pc, |_, address| Some(format!("{address:#x}"))))
}

/// That the core of `lathe hdl` does what the definition says.
fn core(arguments: &Prove, machine: &machine::Machine) -> Result<Vec<ToProve>, Failure> {
    let isa = &machine.isa;
    let design = lathe_hdl::generate(isa, &machine.written.sources, &lathe_hdl::Program::default())
        .map_err(|found| hdl::unsupported(&machine.written.sources, &found))?;
    let verilog = design.files.first().map_or("", |file| file.text.as_str());
    let module = translate(&design.module, verilog)?;
    let core = Core { isa, module: &module, interface: &design.interface, messages: &design.messages };
    let name = |claim: Claim| match claim {
        Claim::Instruction(id) => syntax(isa, id),
        Claim::Undefined => "(bits that no row has)".to_owned(),
        Claim::Reset => "(reset)".to_owned(),
        Claim::Stopped => "(stopped)".to_owned(),
        Claim::Waiting => "(waiting)".to_owned(),
    };
    let wanted = |claim: &Claim| match claim {
        Claim::Instruction(id) => is_wanted(arguments, isa, *id),
        _ => arguments.only.is_empty(),
    };
    let claims = core.claims().into_iter().filter(wanted);
    let shared = Arc::new(isa.clone());
    let claim = |claim: Claim| {
        let (query, cycles) = (core.query(claim), Some(core.cycles(claim)));
        ToProve { name: name(claim), query, isa: shared.clone(), cycles }
    };
    Ok(claims.map(claim).collect())
}

/// That two definitions describe one machine.
fn equal(one: &str, other: &str) -> Result<(String, Vec<ToProve>), Failure> {
    let (a, b) = (Arc::new(machine::open(one)?.isa), machine::open(other)?.isa);
    let pairs = lathe_prove::pairs(&a, &b).map_err(|found| {
        Failure::input(format!("these are different machines: {}", found.0))
            .help("two definitions of one machine have the same memories, registers and devices")
    })?;
    let text = |isa: &Isa, id: Option<InstructionId>| id.map_or("(no row)".to_owned(), |id| syntax(isa, id));
    let claim = |pair: lathe_prove::Pair| {
        let (first, second) = (text(&a, pair.0), text(&b, pair.1));
        let name = if first == second { first } else { format!("{first} = {second}") };
        ToProve { name, query: lathe_prove::equal(&a, &b, pair), isa: a.clone(), cycles: None }
    };
    Ok((format!("{one} and {other}"), pairs.into_iter().map(claim).collect()))
}

/// That no instruction changes some registers.
fn keeps(arguments: &Prove, isa: &Isa) -> Result<Vec<ToProve>, Failure> {
    let register = |name: &String| {
        let found = isa.registers.iter().position(|register| register.name == *name);
        found.map(|at| RegisterId(at as u32)).ok_or_else(|| {
            let names: Vec<&str> = isa.registers.iter().map(|register| register.name.as_str()).collect();
            Failure::usage(format!("{} has no register `{name}`", isa.name))
                .help(format!("it has {}", names.join(", ")))
        })
    };
    let registers = arguments.keeps.iter().map(register).collect::<Result<Vec<_>, _>>()?;
    for mnemonic in &arguments.but {
        if isa.instructions.iter().all(|instruction| instruction.syntax.mnemonic() != mnemonic) {
            return Err(Failure::usage(format!("{} has no instruction `{mnemonic}`", isa.name))
                .help("`--but` takes the mnemonic of an instruction"));
        }
    }
    let ids = (0..isa.instructions.len() as u32).map(InstructionId);
    let may = |id: &InstructionId| arguments.but.iter().any(|but| isa.instruction(*id).syntax.mnemonic() == but);
    let claimed = ids.filter(|id| !may(id) && is_wanted(arguments, isa, *id));
    let shared = Arc::new(isa.clone());
    let claim = |id: InstructionId| {
        let query = lathe_prove::keeps(isa, id, &registers);
        ToProve { name: syntax(isa, id), query, isa: shared.clone(), cycles: None }
    };
    Ok(claimed.map(claim).collect())
}

fn is_wanted(arguments: &Prove, isa: &Isa, id: InstructionId) -> bool {
    arguments.only.is_empty() || arguments.only.iter().any(|only| isa.instruction(id).syntax.mnemonic() == only)
}

fn syntax(isa: &Isa, id: InstructionId) -> String {
    let instruction = isa.instruction(id);
    instruction.syntax.render(|operand| isa.field(instruction.operands[operand]).name.clone())
}

/// The core as a solver reads it.
fn translate(module: &str, verilog: &str) -> Result<Module, Failure> {
    if stderr().is_terminal() {
        output::signal("Yosys reads the core");
    }
    let text = run("yosys", &["-q", "-s", "/dev/stdin"], &lathe_prove::yosys_script(module, verilog))?;
    Module::read(module, &text).map_err(|reason| {
        Failure::input(format!("Yosys wrote something unexpected: {reason}")).help("Lathe is tried with Yosys 0.23")
    })
}

/// Runs a tool that reads its standard input; gives what it printed.
fn run(tool: &str, arguments: &[&str], input: &str) -> Result<String, Failure> {
    let spawned =
        Command::new(tool).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = spawned.map_err(|error| {
        let reason =
            if error.kind() == ErrorKind::NotFound { "it is not installed".to_owned() } else { error.to_string() };
        Failure::input(format!("`{tool}` cannot be run: {reason}")).help(format!("install it: `apt install {tool}`"))
    })?;
    let stdin = child.stdin.take();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // A tool that ends before it has read everything says why by itself.
            let _ = stdin.map(|mut stdin| stdin.write_all(input.as_bytes()));
        });
        let output = child.wait_with_output().map_err(|error| Failure::input(format!("`{tool}` failed: {error}")))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if text.is_empty() && !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(Failure::input(format!("`{tool}` failed: {said}")));
        }
        Ok(text)
    })
}

/// Asks solvers, several at once. People see each answer as soon as all before it are there.
fn prove(arguments: &Prove, claims: &[ToProve]) -> Result<Vec<Proof>, Failure> {
    let processors = || std::thread::available_parallelism().map_or(1, usize::from);
    let at_once = arguments.jobs.map_or_else(processors, usize::from).min(claims.len());
    let (is_watched, is_text) = (stderr().is_terminal(), arguments.format.format == Format::Text);
    let width = claims.iter().map(|claim| claim.name.chars().count()).max().unwrap_or(0).min(40);
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..at_once {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                while let Some((at, claim)) = take(claims, next) {
                    // Nobody listens any more once there has been a failure.
                    if sender.send((at, decide(claim, arguments.timeout))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let (mut done, mut waiting) = (Vec::new(), BTreeMap::new());
        for (at, proof) in receiver {
            waiting.insert(at, proof.inspect_err(|_| next.store(claims.len(), Ordering::Relaxed))?);
            while let Some(proof) = waiting.remove(&done.len()) {
                if is_watched {
                    output::signal("");
                }
                if is_text {
                    // A reader that has gone away is found out again at the end.
                    let _ = output::answer(&line(&proof, width));
                }
                done.push(proof);
            }
            if is_watched && done.len() < claims.len() {
                output::signal(&format!("{} of {}  {}", done.len(), claims.len(), claims[done.len()].name));
            }
        }
        Ok(done)
    })
}

fn take<'c>(claims: &'c [ToProve], next: &AtomicUsize) -> Option<(usize, &'c ToProve)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    claims.get(at).map(|claim| (at, claim))
}

fn decide(claim: &ToProve, timeout: u32) -> Result<Proof, Failure> {
    let begin = Instant::now();
    let output = run("z3", &["-in", &format!("-T:{timeout}")], &claim.query.script())?;
    let answer = claim.query.read(&output).map_err(|said| Failure::input(format!("z3 did not understand: {said}")))?;
    let (found, case) = match answer {
        Answer::Proven => (Found::Proven, None),
        Answer::Undecided => (Found::Undecided, None),
        Answer::Refuted(case) => (Found::Refuted, Some(CaseData::new(&claim.isa, case))),
    };
    let (claim, cycles) = (claim.name.clone(), claim.cycles);
    Ok(Proof { claim, found, cycles, seconds: rounded(begin.elapsed()), case })
}

fn rounded(time: Duration) -> f64 {
    (time.as_secs_f64() * 100.0).round() / 100.0
}

/// A line of the table; for what is refuted, the state in which it fails.
fn line(proof: &Proof, width: usize) -> String {
    let word = match proof.found {
        Found::Proven => "proven",
        Found::Refuted => "REFUTED",
        Found::Undecided => "undecided",
    };
    let cycles = proof.cycles.map_or(String::new(), |cycles| format!("  {cycles:>2} cycles"));
    let mut text = format!("{word:<9}  {:<width$}{cycles}  {:>6.2} s\n", proof.claim, proof.seconds);
    let Some(case) = &proof.case else { return text };
    let before: Vec<String> = case.before.iter().map(|(name, value)| format!("{name} = {value:#x}")).collect();
    if !before.is_empty() {
        let _ = writeln!(text, "    before: {}", before.join(", "));
    }
    if !case.code.is_empty() {
        let cells: Vec<String> = case.code.iter().map(|cell| format!("{cell:#x}")).collect();
        let _ = writeln!(text, "    cells at the program counter: {}", cells.join(" "));
    }
    for DifferenceData { name, expected, found } in &case.after {
        let _ = writeln!(text, "    after: {name} should be {expected:#x}, and is {found:#x}");
    }
    let named = |broken: &&String| case.after.iter().all(|difference| difference.name != **broken);
    let broken: Vec<&str> = case.broken.iter().filter(named).map(String::as_str).collect();
    if !broken.is_empty() {
        let _ = writeln!(text, "    not as it should be: {}", broken.join(", "));
    }
    if let Some(example) = &case.example {
        let _ = writeln!(text, "    as an example: {example}");
    }
    text
}
