//! `lathe prove`: claims about a machine, decided by a solver.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{IsTerminal, stderr};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use lathe_asm::disassembler;
use lathe_hdl::{DECODER, Design};
use lathe_isa::Isa;
use lathe_isa::model::{InstructionId, RegisterId};
use lathe_prove::{Answer, Case, Claim, Core, Module, Query, decoder, division};
use serde::Serialize;

use super::{Outcome, hdl};
use crate::arguments::{Format, Prove};
use crate::exit::{Exit, Failure};
use crate::files::{self, Whole};
use crate::{machine, output, tool};

/// The longest Verilog file to read.
const VERILOG_LIMIT: u64 = 64 << 20;

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
                let _ = write!(text, ", {undecided} not decided in {} s:", arguments.timeout);
            }
            text.push('\n');
            for proof in proofs.iter().filter(|proof| proof.found == Found::Undecided) {
                let _ = writeln!(text, "  {}{}", proof.claim, undecided_questions(proof));
            }
            text
        }
        Format::Json => output::json(&serde_json::json!({
            "ok": ok, "machine": machine, "proven": proven, "refuted": refuted, "undecided": undecided, "claims": proofs,
        }))?,
    })?;
    Ok(if ok { Exit::Done } else { Exit::InputWrong })
}

/// A claim to prove.
struct ToProve {
    name: String,
    question: Question,
    /// The definition whose instructions the cases are about.
    isa: Arc<Isa>,
    /// The clock cycles of a core that the claim covers.
    cycles: Option<u32>,
}

/// How to ask it.
enum Question {
    /// A query ready for the solver.
    Asked(Box<Query>),
    /// A claim about a core in one piece.
    Whole(Arc<Sliced>, Arc<Module>, Claim),
    /// All these claims about one slice of a core, which Yosys has to read first.
    Slice(Arc<Sliced>, usize, Vec<Claim>),
    /// That a core decodes every row as that row, on which slices rely.
    Decoding(Arc<Sliced>),
    /// That a core's divider divides; with the core's Verilog.
    Division(Arc<Sliced>, String),
}

/// A core that is proven slice by slice.
struct Sliced {
    isa: Arc<Isa>,
    design: Design,
}

/// The result for a claim.
#[derive(Serialize)]
struct Proof {
    claim: String,
    found: Found,
    #[serde(skip_serializing_if = "Option::is_none")]
    cycles: Option<u32>,
    seconds: f64,
    /// The undecided questions among those the claim consists of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    undecided: Vec<&'static str>,
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
    /// A row of `examples` that describes the case.
    #[serde(skip_serializing_if = "Option::is_none")]
    example: Option<String>,
    /// The file with its waveform.
    #[serde(skip_serializing_if = "Option::is_none")]
    waveform: Option<String>,
}

#[derive(Serialize)]
struct DifferenceData {
    name: String,
    expected: u64,
    found: u64,
}

impl CaseData {
    fn new(isa: &Isa, case: Case, waveform: Option<String>) -> CaseData {
        let difference = |(name, expected, found)| DifferenceData { name, expected, found };
        CaseData {
            example: example(isa, &case),
            before: case.before.into_iter().collect(),
            code: case.code,
            after: case.after.into_iter().map(difference).collect(),
            broken: case.broken,
            waveform,
        }
    }
}

/// Renders a case as a row of `examples`, if it is about an instruction.
fn example(isa: &Isa, case: &Case) -> Option<String> {
    let pc = case.before.iter().find(|(name, _)| *name == isa.pc.name)?.1;
    let decoded = isa.decode(lathe_isa::encoding::window(case.code.iter().copied(), isa.code_memory().cell))?;
    case.example(&disassembler::instruction(isa, &decoded, pc, |_, address| Some(format!("{address:#x}"))))
}

/// Claims that the core of `lathe hdl`, or one derived from it by hand, does what the definition says.
fn core(arguments: &Prove, machine: &machine::Machine) -> Result<Vec<ToProve>, Failure> {
    let sources = &machine.written.sources;
    let (isa, program) = (machine.isa.clone(), lathe_hdl::Program::default());
    let (isa, program) = hdl::styled(isa, sources, program, arguments.style.style)?;
    let design = lathe_hdl::generate(&isa, sources, &program).map_err(|found| hdl::unsupported(sources, &found))?;
    let sliced = Arc::new(Sliced { isa: Arc::new(isa), design });
    let wanted = |claim: &Claim| match claim {
        Claim::Instruction(id) => is_wanted(arguments, &machine.isa, *id),
        // With slices, these are asked together with each instruction.
        Claim::Stopped | Claim::Waiting => arguments.only.is_empty() || !(arguments.whole || arguments.core.is_some()),
        Claim::Undefined | Claim::Replaced | Claim::ReplacedWaiting | Claim::Reset => {
            arguments.only.is_empty() || arguments.only.iter().any(|only| *only == called(&machine.isa, *claim))
        }
    };
    let claims: Vec<Claim> =
        lathe_prove::claims(&sliced.isa, &sliced.design.interface).into_iter().filter(wanted).collect();
    let generated = || sliced.design.files.first().map(|file| file.text.clone()).unwrap_or_default();
    let verilog = arguments.core.as_ref().map(|name| files::read_text(name, VERILOG_LIMIT)).transpose()?;
    let verilog = verilog.unwrap_or_else(generated);
    let mut all = if arguments.core.is_some() || arguments.whole {
        whole(&sliced, &claims, &verilog)?
    } else {
        slices(&sliced, &claims)
    };
    if sliced.design.interface.division.is_some() && arguments.only.is_empty() {
        let name = format!("(division of {} bits)", division::BITS);
        let question = Question::Division(sliced.clone(), verilog);
        all.push(ToProve { name, question, isa: sliced.isa.clone(), cycles: Some(division::BITS + 2) });
    }
    Ok(all)
}

/// Returns the claims about a core in one piece.
fn whole(sliced: &Arc<Sliced>, claims: &[Claim], verilog: &str) -> Result<Vec<ToProve>, Failure> {
    if stderr().is_terminal() {
        output::signal("Yosys reads the core");
    }
    let module = Arc::new(translate(&sliced.design.module, verilog)?);
    let claim = |claim: &Claim| sliced.claim(*claim, Question::Whole(sliced.clone(), module.clone(), *claim));
    Ok(claims.iter().map(claim).collect())
}

/// Returns the same claims about slices of the core. Claims about every instruction are asked together with that
/// instruction.
fn slices(sliced: &Arc<Sliced>, claims: &[Claim]) -> Vec<ToProve> {
    let is_everywhere = |claim: &&Claim| claim.slices(&sliced.isa).count() > 1;
    let everywhere: Vec<Claim> = claims.iter().filter(is_everywhere).copied().collect();
    let claim = |claim: &Claim| {
        let is_row = matches!(claim, Claim::Instruction(_) | Claim::Undefined);
        let together = if is_row { &everywhere } else { &[][..] };
        let all = std::iter::once(claim).chain(together).copied().collect();
        sliced.claim(*claim, Question::Slice(sliced.clone(), *claim.slices(&sliced.isa).start(), all))
    };
    let mut all: Vec<ToProve> = claims.iter().filter(|claim| !is_everywhere(claim)).map(claim).collect();
    if !all.is_empty() {
        let (name, question) = ("(decoding)".to_owned(), Question::Decoding(sliced.clone()));
        all.push(ToProve { name, question, isa: sliced.isa.clone(), cycles: None });
    }
    all
}

impl Sliced {
    fn core<'a>(&'a self, module: &'a Module) -> Core<'a> {
        Core { isa: &self.isa, module, interface: &self.design.interface, messages: &self.design.messages }
    }

    fn claim(&self, claim: Claim, question: Question) -> ToProve {
        let name = called(&self.isa, claim);
        ToProve { name, question, isa: self.isa.clone(), cycles: Some(claim.cycles(&self.design.interface)) }
    }
}

/// Claims that two definitions describe one machine.
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
        let question = Question::Asked(Box::new(lathe_prove::equal(&a, &b, pair)));
        ToProve { name, question, isa: a.clone(), cycles: None }
    };
    Ok((format!("{one} and {other}"), pairs.into_iter().map(claim).collect()))
}

/// Claims that no instruction changes some registers.
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
        let question = Question::Asked(Box::new(lathe_prove::keeps(isa, id, &registers)));
        ToProve { name: syntax(isa, id), question, isa: shared.clone(), cycles: None }
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

/// Translates the core for a solver.
fn translate(module: &str, verilog: &str) -> Result<Module, Failure> {
    read(module, &lathe_prove::yosys_script(module, verilog))
}

/// Translates the divider for a solver.
fn translate_unit(module: &str, verilog: &str) -> Result<Module, Failure> {
    let (script, unit) = division::yosys_script(module, verilog);
    read(&unit, &script)
}

/// Reads what Yosys makes of a module.
fn read(module: &str, script: &str) -> Result<Module, Failure> {
    let text = run("yosys", &["-q", "-s", "/dev/stdin"], script)?;
    Module::read(module, &text).map_err(|reason| {
        Failure::input(format!("Yosys wrote something unexpected: {reason}")).help("Lathe is tried with Yosys 0.23")
    })
}

/// Runs a tool that reads its standard input; returns what it printed. When asked for values without a model, z3 ends
/// with an error, after saying so.
fn run(tool: &str, arguments: &[&str], input: &str) -> Result<String, Failure> {
    let said = tool::run(tool, None, arguments, input)?;
    if said.text.is_empty() && !said.succeeded { Err(said.failure(tool)) } else { Ok(said.text) }
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
                    // After a failure, nobody listens any more.
                    if sender.send((at, decide(arguments, claim))).is_err() {
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
                    // A closed pipe is detected again at the end.
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

/// Decides claims about a core, up to the first that is refuted, and gives a case for that one only. Also returns which
/// claims were not decided.
fn about(arguments: &Prove, core: &Core, claims: &[Claim]) -> Result<(Answer, Vec<&'static str>), Failure> {
    let mut undecided = Vec::new();
    for claim in claims {
        match ask(arguments, &core.query(*claim))? {
            Answer::Proven => {}
            Answer::Undecided => undecided.push(question(*claim)),
            Answer::Refuted(_) => return Ok((ask(arguments, &core.query_with_case(*claim))?, undecided)),
        }
    }
    let answer = if undecided.is_empty() { Answer::Proven } else { Answer::Undecided };
    Ok((answer, undecided))
}

/// Returns a claim's name in the table.
fn called(isa: &Isa, claim: Claim) -> String {
    match claim {
        Claim::Instruction(id) => syntax(isa, id),
        Claim::Undefined => "(bits that no row has)".to_owned(),
        Claim::Replaced => "(on step jumps)".to_owned(),
        Claim::Reset => "(reset)".to_owned(),
        Claim::Stopped => "(stopped)".to_owned(),
        Claim::Waiting => "(waiting)".to_owned(),
        Claim::ReplacedWaiting => "(waiting while on step jumps)".to_owned(),
    }
}

/// Returns a claim's name among the questions asked together.
fn question(claim: Claim) -> &'static str {
    match claim {
        Claim::Instruction(_) => "the instruction itself",
        Claim::Undefined => "what is done with such bits",
        Claim::Stopped => "staying stopped",
        Claim::Waiting => "waiting",
        Claim::Replaced => "jumping instead",
        Claim::ReplacedWaiting => "waiting while jumping instead",
        Claim::Reset => "the reset",
    }
}

/// Lists the undecided questions of a claim, to follow its name.
fn undecided_questions(proof: &Proof) -> String {
    if proof.undecided.is_empty() { String::new() } else { format!(": {}", proof.undecided.join(", ")) }
}

fn ask(arguments: &Prove, query: &Query) -> Result<Answer, Failure> {
    let output = run("z3", &["-in", &format!("-T:{}", arguments.timeout)], query.script())?;
    query.read(&output).map_err(|said| Failure::input(format!("z3 did not understand: {said}")))
}

/// Asks all questions of a claim.
fn decide(arguments: &Prove, claim: &ToProve) -> Result<Proof, Failure> {
    let begin = Instant::now();
    let (answer, undecided) = match &claim.question {
        Question::Asked(query) => (ask(arguments, query)?, Vec::new()),
        Question::Whole(sliced, module, claim) => about(arguments, &sliced.core(module), &[*claim])?,
        Question::Slice(sliced, at, claims) => {
            let text = sliced.design.slice(*at).unwrap_or_default();
            let module = translate(&sliced.design.module, &text)?;
            about(arguments, &sliced.core(&module), claims)?
        }
        Question::Decoding(sliced) => {
            let decoder = read(DECODER, &decoder::yosys_script(&sliced.design.decoder()))?;
            (ask(arguments, &decoder::decoding(&sliced.isa, &sliced.design.interface, &decoder))?, Vec::new())
        }
        Question::Division(sliced, verilog) => {
            let unit = translate_unit(&sliced.design.module, verilog)?;
            (ask(arguments, &division::division(&unit))?, Vec::new())
        }
    };
    let (found, case) = match answer {
        Answer::Proven => (Found::Proven, None),
        Answer::Undecided => (Found::Undecided, None),
        Answer::Refuted(case) => {
            let waveform = waveform(arguments, claim, &case)?;
            (Found::Refuted, Some(CaseData::new(&claim.isa, case, waveform)))
        }
    };
    let (claim, cycles) = (claim.name.clone(), claim.cycles);
    Ok(Proof { claim, found, cycles, seconds: rounded(begin.elapsed()), undecided, case })
}

/// Writes the waveform of a case, if it is wanted and there is one; returns the name of the file.
fn waveform(arguments: &Prove, claim: &ToProve, case: &Case) -> Result<Option<String>, Failure> {
    let (Some(folder), Some(text)) = (&arguments.waves, case.vcd(&claim.isa.name)) else { return Ok(None) };
    std::fs::create_dir_all(folder).map_err(|error| {
        Failure::input(format!("the folder {folder} cannot be made: {}", files::reason(&error)))
            .help("give another name with `--waves`")
    })?;
    let words: Vec<&str> =
        claim.name.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let name = Path::new(folder).join(format!("{}.vcd", words.join("-"))).to_string_lossy().into_owned();
    files::write_all(&[Whole { name: name.clone(), bytes: text.into_bytes() }])?;
    Ok(Some(name))
}

fn rounded(time: Duration) -> f64 {
    (time.as_secs_f64() * 100.0).round() / 100.0
}

/// Renders a line of the table; for a refuted claim, with the state in which it fails.
fn line(proof: &Proof, width: usize) -> String {
    let word = match proof.found {
        Found::Proven => "proven",
        Found::Refuted => "REFUTED",
        Found::Undecided => "undecided",
    };
    let cycles = proof.cycles.map_or(String::new(), |cycles| format!("  {cycles:>2} cycles"));
    let undecided = undecided_questions(proof);
    let mut text = format!("{word:<9}  {:<width$}{cycles}  {:>6.2} s{undecided}\n", proof.claim, proof.seconds);
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
    if let Some(name) = &case.waveform {
        let _ = writeln!(text, "    as a waveform: {name}");
    }
    text
}
