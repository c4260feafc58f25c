//! The workbench as a page uses it: texts in, findings and a running machine out.

use lathe_web::Workbench;
use serde_json::{Value, json};

/// A machine of the size that a first evening produces.
const TINY: &str = "\
machine tiny \"One accumulator\"

memory ram : u8 -> u8
pc     pc  : u8 in ram
register a : u8
field N : u8
field M : u8 address
device console : stream

instructions {
  halt   | 0000 0000          | halt
  ldi N  | 0001 0000 NNNNNNNN | a = N
  out    | 0010 0000          | console.write(a)
  in     | 0010 0001          | a = console.read()
  addi N | 0011 0000 NNNNNNNN | a = a + N
  jmp M  | 0100 0000 MMMMMMMM | pc = M
  sta M  | 0101 0000 MMMMMMMM | ram[M] = a
}
";

const COUNT: &str = "\
        ldi 'A'
again:  out
        sta 0x80
        addi 1
        jmp again
";

struct Page(Workbench);

impl Page {
    fn new(definition: &str, program: &str) -> Page {
        let mut page = Page(Workbench::default());
        page.edit(definition, program);
        page
    }

    fn ask(&mut self, request: &Value) -> Value {
        serde_json::from_str(&self.0.answer(&request.to_string())).expect("answers are JSON")
    }

    fn edit(&mut self, definition: &str, program: &str) -> Value {
        self.ask(&json!({"call": "edit", "definition": definition, "program": program}))
    }

    fn command(&mut self, line: &str) -> Value {
        self.ask(&json!({"call": "command", "line": line, "limit": 1_000_000}))
    }

    fn view(&mut self) -> Value {
        self.ask(&json!({"call": "view", "count": 256, "before": 4, "after": 4, "settle": true}))
    }

    fn register(&mut self, name: &str) -> Value {
        let view = self.view();
        view["registers"].as_array().unwrap().iter().find(|one| one["name"] == name).unwrap().clone()
    }
}

#[test]
fn a_row_that_is_added_can_be_used_at_once() {
    let mut page = Page::new(TINY, " ldi 5\n dec\n halt\n");
    let broken = page.edit(TINY, " ldi 6\n dec\n halt\n");
    assert_eq!(broken["program"]["diagnostics"][0]["line"], 2);
    assert_eq!(broken["definition"], Value::Null, "what has not changed is not looked at again");
    let richer = TINY.replace("  sta M", "  dec    | 0110 0000          | a = a - 1\n  sta M");
    let mended = page.edit(&richer, " ldi 6\n dec\n halt\n");
    assert_eq!((&mended["program"]["diagnostics"], &mended["restarted"]), (&json!([]), &json!(true)));
    assert_eq!(page.command("run")["reason"], "halted");
    assert_eq!(page.register("a")["value"], "05");
}

#[test]
fn findings_have_places_in_utf16_and_a_way_out() {
    let program = "; 𝄞 é\n ldi 5\n haltt\n";
    let mut page = Page::new(TINY, program);
    let checked = page.ask(&json!({"call": "edit", "definition": TINY, "program": program, "anew": true}));
    let finding = &checked["program"]["diagnostics"][0];
    let units: Vec<u16> = program.encode_utf16().collect();
    let (from, to) = (finding["from"].as_u64().unwrap() as usize, finding["to"].as_u64().unwrap() as usize);
    assert_eq!(String::from_utf16(&units[from..to]).unwrap(), "haltt");
    assert_eq!(finding["fixes"][0]["text"], "halt", "{finding}");
    assert_eq!(finding["severity"], "error");
}

#[test]
fn a_broken_definition_keeps_the_machine_that_was() {
    let mut page = Page::new(TINY, COUNT);
    let broken = page.edit(&TINY.replace("NNNNNNNN | a = N", "NNNNNNN | a = N"), COUNT);
    assert_eq!(broken["definition"]["diagnostics"][0]["code"], "E403");
    assert_eq!((&broken["stale_machine"], &broken["machine"]["name"]), (&json!(true), &json!("tiny")));
    assert_eq!(page.command("step 3")["reason"], "done");
    let mended = page.edit(TINY, COUNT);
    assert_eq!(mended["stale_machine"], false);
}

#[test]
fn a_program_for_the_machine_as_it_was_does_not_run_on_the_new_one() {
    let mut page = Page::new(TINY, COUNT);
    page.command("step");
    let poorer = TINY.replace("  addi N | 0011 0000 NNNNNNNN | a = a + N\n", "");
    let edited = page.edit(&poorer, COUNT);
    assert!(!edited["program"]["diagnostics"].as_array().unwrap().is_empty());
    assert_eq!(page.command("step")["problem"]["message"], "the program has errors");
    assert_eq!(page.view()["problem"]["message"], "the program has errors");
}

#[test]
fn steps_go_forward_and_back_and_changes_are_marked() {
    let mut page = Page::new(TINY, COUNT);
    page.view();
    page.command("step 3");
    let view = page.view();
    assert_eq!((&view["position"], &view["line"]), (&json!(3), &json!(4)));
    assert_eq!(view["memory"]["changed"], json!([0x80]));
    assert_eq!(view["memory"]["first_change"], "80");
    assert_eq!(view["console"]["text"], "A");
    page.command("back 2");
    let view = page.view();
    assert_eq!((&view["position"], &view["end"], &view["console"]["written"]), (&json!(1), &json!(3), &json!(0)));
    let current: Vec<&Value> = view["code"].as_array().unwrap().iter().filter(|line| line["current"] == true).collect();
    assert_eq!((current.len(), &current[0]["label"], &current[0]["text"]), (1, &json!("again"), &json!("out")));
    assert_eq!(page.command("back 9")["reason"], "beginning");
    assert!(page.command("back")["problem"]["help"].is_string());
}

#[test]
fn what_a_macro_of_another_file_lays_down_belongs_to_the_line_that_calls_it() {
    let mut page = Page(Workbench::default());
    let texts = page.ask(&json!({"call": "shipped", "machine": "quad8", "program": "mandelbrot"}));
    let (definition, program) = (&texts["definition"], &texts["program"]);
    page.ask(&json!({"call": "edit", "definition": definition, "program": program, "library": "quad8"}));
    page.command("set pc = 0x77");
    let line = page.view()["line"].as_u64().expect("a macro of an included file is called in the program");
    assert!(program.as_str().unwrap().lines().nth(line as usize - 1).unwrap().contains("jnz"), "{line}");
}

#[test]
fn a_program_that_never_ends_is_run_in_slices() {
    let mut page = Page::new(TINY, COUNT);
    let first = page.ask(&json!({"call": "command", "line": "run", "limit": 100_000}));
    assert_eq!(first["reason"], "paused");
    assert_eq!(first["step"], 100_000);
    let second = page.ask(&json!({"call": "command", "line": "run", "limit": 23}));
    assert_eq!(second["step"], 100_023);
    assert_eq!(page.command("goto 7")["step"], 7);
    assert_eq!(page.view()["end"], second["step"]);
}

#[test]
fn breakpoints_of_the_margin_stop_and_survive_an_edit() {
    let mut page = Page::new(TINY, COUNT);
    let margin = page.ask(&json!({"call": "breakpoints", "lines": [4, 99]}));
    assert_eq!(margin, json!([{"asked": 4, "line": 4}]));
    assert_eq!((&page.command("run")["reason"], &page.view()["line"]), (&json!("breakpoint"), &json!(4)));
    page.edit(TINY, &format!("{COUNT}; a comment\n"));
    assert_eq!(page.command("run")["reason"], "breakpoint");
    page.command("run");
    assert_eq!(page.register("a")["value"], "42");
    assert_eq!(page.command("back run")["reason"], "breakpoint");
    assert_eq!(page.register("a")["value"], "41");
    page.ask(&json!({"call": "breakpoints", "lines": []}));
    assert_eq!(page.ask(&json!({"call": "command", "line": "run", "limit": 1}))["reason"], "paused");
}

#[test]
fn input_is_waited_for_and_the_history_knows_it() {
    let mut page = Page::new(TINY, " in\n out\n in\n halt\n");
    assert_eq!(page.command("run")["reason"], "waiting");
    page.ask(&json!({"call": "input", "text": "z"}));
    assert_eq!(page.command("run")["reason"], "waiting");
    assert_eq!(page.view()["console"]["text"], "z");
    page.ask(&json!({"call": "end_input"}));
    assert_eq!(page.command("run")["reason"], "halted");
    page.command("goto 0");
    page.command("step 2");
    assert_eq!(page.view()["console"]["text"], "z");
}

#[test]
fn the_display_and_the_keys_of_chip8() {
    let mut page = Page(Workbench::default());
    let texts = page.ask(&json!({"call": "shipped", "machine": "chip8", "program": "keypad"}));
    let edited = page.ask(&json!({"call": "edit", "definition": texts["definition"], "program": texts["program"]}));
    assert_eq!((&edited["machine"]["keys"], &edited["machine"]["display"]), (&json!(16), &json!([64, 32])));
    page.command("run");
    let rows = |page: &mut Page| page.view()["display"]["rows"].as_str().unwrap().to_owned();
    let before = rows(&mut page);
    assert_eq!(before.len(), 64 * 32);
    page.ask(&json!({"call": "key", "key": 5, "down": true}));
    page.command("step 5000");
    page.ask(&json!({"call": "key", "key": 5, "down": false}));
    page.command("step 5000");
    assert_ne!(rows(&mut page), before, "a key draws its digit");
}

#[test]
fn every_shipped_program_assembles_in_the_page() {
    let mut page = Page(Workbench::default());
    let gallery = page.ask(&json!({"call": "gallery"}));
    let mut count = 0;
    for machine in gallery["machines"].as_array().unwrap() {
        for program in machine["programs"].as_array().unwrap() {
            let name = (&machine["name"], &program["name"]);
            let texts = page.ask(&json!({"call": "shipped", "machine": name.0, "program": name.1}));
            let edited = page.ask(&json!({
                "call": "edit", "definition": texts["definition"], "program": texts["program"], "library": name.0,
            }));
            let found = edited["program"]["diagnostics"].as_array().unwrap();
            let errors: Vec<&Value> = found.iter().filter(|one| one["severity"] == "error").collect();
            assert!(errors.is_empty(), "{name:?}: {errors:?}");
            assert!(page.view()["registers"].is_array(), "{name:?}");
            count += 1;
        }
    }
    assert!(count > 80, "{count}");
}

#[test]
fn an_editor_is_told_what_fits_and_what_is_meant() {
    let mut page = Page::new(TINY, " ld");
    let suggested = page.ask(&json!({"call": "complete", "pane": "program", "at": 3}));
    assert!(suggested.as_array().unwrap().iter().any(|one| one["label"] == "ldi" && one["kind"] == "instruction"));
    let hovered = page.ask(&json!({"call": "hover", "pane": "definition", "at": TINY.find("halt").unwrap()}));
    assert!(hovered.as_str().unwrap().contains("0000"), "{hovered}");
    page.edit(TINY, "x:ldi 5\n");
    let tidied = page.ask(&json!({"call": "tidy", "pane": "program"}));
    assert!(tidied.as_str().unwrap().contains("ldi 5"));
    let reference = page.ask(&json!({"call": "reference"}));
    assert_eq!(reference["coverage"]["slots"].as_array().unwrap().len(), 256);
}

/// [`TINY`] with ports.
fn with_ports() -> String {
    let rows = "  put N | 0110 0000 NNNNNNNN | ports.write(N, a)\n  get N | 0110 0001 NNNNNNNN | a = ports.read(N)\n}";
    TINY.replace("device console : stream", "device console : stream\ndevice ports : bus u8 -> u8").replace('}', rows)
}

#[test]
fn ports_are_seen_and_set_and_the_history_knows_it() {
    let mut page = Page::new(&with_ports(), "again: get 4\n put 5\n jmp again\n");
    let set =
        |page: &mut Page, value: u64| page.ask(&json!({"call": "port", "bus": "ports", "port": 4, "value": value}));
    page.command("step 3");
    let unset = json!([{"bus": "ports", "port": 5, "read": "00", "written": "00"}]);
    assert_eq!(page.ask(&json!({"call": "view"}))["ports"], unset);
    assert_eq!(set(&mut page, 0x2A), Value::Null);
    page.command("step 3");
    let both = json!([
        {"bus": "ports", "port": 4, "read": "2A", "written": null},
        {"bus": "ports", "port": 5, "read": "00", "written": "2A"},
    ]);
    assert_eq!(page.ask(&json!({"call": "view"}))["ports"], both);
    page.command("back 4");
    assert_eq!(page.ask(&json!({"call": "view"}))["ports"], unset);
    page.command("step 4");
    assert_eq!(page.ask(&json!({"call": "view"}))["ports"], both);
    assert_eq!(set(&mut page, 256)["problem"]["message"], "the value 256 does not fit in 8 bits");
    let elsewhere = page.ask(&json!({"call": "port", "bus": "nowhere", "port": 4, "value": 1}));
    assert_eq!(elsewhere["problem"]["message"], "this machine has no bus `nowhere`");
}

#[test]
fn the_hardware_is_handed_out_with_the_program_in_it() {
    let mut page = Page::new(TINY, " ldi 'H'\n halt\n");
    let files = page.ask(&json!({"call": "download", "what": "hardware"}));
    let files: Vec<(&str, &str)> = { files.as_array().unwrap() }
        .iter()
        .map(|file| (file["name"].as_str().unwrap(), file["bytes"].as_str().unwrap()))
        .collect();
    assert!(files.iter().any(|(name, text)| *name == "tiny.v" && text.contains("module tiny")), "{files:?}");
    assert!(files.iter().any(|(name, text)| name.ends_with(".hex") && text.contains("48")), "{files:?}");
}

#[test]
fn files_are_handed_out() {
    let mut page = Page::new(TINY, " ldi 'H'\n halt\n");
    let mut file = |what: &str| page.ask(&json!({"call": "download", "what": what}));
    assert_eq!(file("bin")[0]["bytes"], "\u{10}H\u{0}");
    assert!(file("datasheet")[0]["bytes"].as_str().unwrap().contains("<svg"));
    assert!(file("nonsense")["problem"]["help"].is_string());
    for format in page.ask(&json!({"call": "gallery"}))["formats"].as_array().unwrap() {
        let answer = page.ask(&json!({"call": "download", "what": format["name"]}));
        // The LC-3's own format requires 16-bit cells.
        assert!(answer[0]["name"].is_string() || format["name"] == "lc3", "{format}: {answer}");
    }
}

#[test]
fn what_is_no_request_is_a_problem_and_nothing_more() {
    let mut page = Page(Workbench::default());
    for request in [json!(null), json!({}), json!({"call": "fly"}), json!({"call": "edit"}), json!([1, 2])] {
        assert!(page.ask(&request)["problem"]["message"].is_string(), "{request}");
    }
    assert!(page.0.answer("no JSON").contains("problem"));
    for call in ["view", "reference", "end_input"] {
        assert!(page.ask(&json!({"call": call}))["problem"]["help"].is_string(), "{call}");
    }
    assert!(page.command("save x")["problem"].is_object());
}

/// A page's numbers have 53 bits, so addresses are texts.
#[test]
fn memory_is_shown_at_any_address() {
    let far = include_str!("../../../tests/machines/far64.isa");
    let mut page = Page::new(far, "start: li b, 0xFFFF_FFFF_FFFF_FFFE\n li a, 7\n sb a, 1(b)\n halt\n");
    page.command("run");
    let view = page.ask(&json!({"call": "view", "from": "fffffffffffffff8", "count": 64, "before": 4, "after": 4}));
    assert_eq!(
        (&view["memory"]["from"], &view["memory"]["cells"]),
        (&json!("fffffffffffffff8"), &json!("3634210000000007"))
    );
    assert_eq!(view["code"][0]["hex"], "0x0000800000000000");
    assert_eq!(page.register("b")["value"], "FFFFFFFFFFFFFFFE");
    let edited = page.edit(far, "start: halt\n");
    assert_eq!(edited["machine"]["memories"][0]["address_bits"], 64);
    for from in [json!("x"), json!(7), json!("10000000000000000")] {
        assert!(page.ask(&json!({"call": "view", "from": from}))["problem"].is_object(), "{from}");
    }
}

#[test]
fn a_definition_beyond_the_limits_is_a_finding() {
    let mut page = Page::new(TINY, COUNT);
    let rows: String = (0..20_000).map(|at| format!("  x{at} | {:016b} | halt\n", at)).collect();
    let huge = format!("machine huge \"\"\nmemory ram : u16 -> u16\npc pc : u16 in ram\ninstructions {{\n{rows}}}\n");
    let edited = page.edit(&huge, COUNT);
    assert_eq!(edited["definition"]["diagnostics"][0]["severity"], "error");
    assert_eq!(page.command("step")["reason"], "done", "the machine before is still there");
}
