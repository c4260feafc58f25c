//! `lathe doc`.

use crate::Bench;

#[test]
fn a_folder_gets_everything() {
    let bench = Bench::new();
    let names = ["quad8.html", "quad8.md", "quad8-card.html", "quad8-card.svg", "quad8.json"];
    let answer = bench.run(&["doc", "-m", "quad8", "-o", "sheets"]);
    assert_eq!((answer.code, answer.out.as_str()), (0, ""), "{}", answer.err);
    for name in names {
        let text = bench.read_text(&format!("sheets/{name}"));
        assert!(text.contains("quad8") && text.contains("stackpage"), "{name}");
    }
}

#[test]
fn the_name_of_the_file_says_the_format() {
    let bench = Bench::new();
    for (name, begins) in [("a.html", "<!doctype html>"), ("a.md", "# hex8"), ("a.svg", "<svg"), ("a.json", "{")] {
        bench.run(&["doc", "-m", "hex8", "-o", name]).writes(&[name]);
        assert!(bench.read_text(name).starts_with(begins), "{name}");
    }
    bench.run(&["doc", "-m", "hex8", "-o", "a.pdf"]).complains(2, &["a.pdf", ".html, .md, .svg or .json"]);
    let json = bench.run(&["doc", "-m", "hex8", "--json"]);
    assert_eq!(json.json()["name"], "hex8");
}

#[test]
fn a_definition_that_is_wrong_has_no_datasheet() {
    Bench::with("bad.isa", "machine x").run(&["doc", "-m", "bad.isa"]).complains(1, &["bad.isa", "cannot be used"]);
}

#[test]
fn programs_get_json_on_every_path() {
    let bench = Bench::new();
    let run = |arguments: &[&str], code: i32| {
        let answer = bench.run(&[&["doc", "--format", "json"], arguments].concat());
        assert_eq!((answer.code, answer.err.as_str()), (code, ""), "{answer:?}");
        answer.json()
    };
    let written = run(&["-m", "quad8", "-o", "quad8.html"], 0);
    assert_eq!((&written["machine"], &written["files"][0]["name"]), (&"quad8".into(), &"quad8.html".into()));
    assert_eq!(written["files"][0]["bytes"].as_u64().unwrap(), bench.read("quad8.html").len() as u64);
    assert_eq!(run(&["-m", "quad8"], 0), bench.run(&["doc", "-m", "quad8", "--json"]).json());
    let wrong = [(&["-m", "none.isa"][..], 2), (&["-m", "quad8", "--card"], 2), (&["-m", "quad8", "-o", "x.zip"], 2)];
    for (arguments, code) in wrong {
        assert_eq!(run(arguments, code)["ok"], false);
    }
    let answer = bench.run(&["doc", "-m", "none.isa", "--json"]);
    assert!(answer.code == 2 && answer.json()["error"].to_string().contains("none.isa"), "{answer:?}");
}
