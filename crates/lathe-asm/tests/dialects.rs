//! What a definition's `assembly` block lets programs write. The reference shows the shipped dialects; these tests show
//! what each row does by itself, and what it leaves alone.

use lathe_asm::{KnownLines, Options, assemble, assemble_again};
use lathe_base::Source;
use lathe_base::files::MemoryFiles;
use lathe_isa::Isa;

fn machine(habits: &str) -> Isa {
    let text = format!(
        "machine m \"A machine with habits\"\nmemory ram : u8 -> u8\npc pc : u8 in ram\nregister a, b : u8\n\
         field D : register {{ a, b }}\nfield N : u8\nfield B : u1\n\
         instructions {{\n  nop | 0x00 |\n  jmp N | 0x01 {{N}} | pc = N\n  set B, D | 0001 00BD | D = u8(B)\n}}\n\
         assembly {{\n{habits}\n}}\n"
    );
    let loaded = lathe_isa::load(&text);
    loaded.isa.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics))
}

/// Returns the cells from address 0 on, gaps as 0; or the codes of all errors.
fn cells(habits: &str, text: &str) -> Result<Vec<u64>, Vec<&'static str>> {
    let isa = machine(habits);
    let (files, options) = (MemoryFiles::default(), Options { names: true, ..Options::default() });
    let main = || Source::new("main.asm", text);
    let found = assemble(&isa, &files, main(), &options);
    let mut known = KnownLines::default();
    for _ in 0..2 {
        let again = assemble_again(&isa, &files, main(), &options, &mut known);
        assert_eq!(format!("{:?}{:?}", again.image, again.names), format!("{:?}{:?}", found.image, found.names));
    }
    let Some(image) = found.image else {
        let errors = found.diagnostics.into_sorted();
        return Err(errors.iter().map(|one| one.code.name).filter(|code| code.starts_with('A')).collect());
    };
    let mut cells = Vec::new();
    for segment in &image.segments {
        cells.resize(cells.len().max(segment.start as usize + segment.cells.len()), 0);
        cells[segment.start as usize..][..segment.cells.len()].copy_from_slice(&segment.cells);
    }
    Ok(cells)
}

#[test]
fn a_constant_that_is_set_again_has_the_last_value_before_a_line() {
    let text = ".byte n\n.set n, 1\n.byte n\n.set n, n + 1\n.byte n\n jmp n";
    assert_eq!(cells("", text), Ok(vec![1, 1, 2, 1, 2]));
    assert_eq!(cells("\"=\" = .set", "n = 1\nn = n + 4\n.byte n"), Ok(vec![5]));
    assert_eq!(cells("", "n = 1\nn = 2"), Err(vec!["A202"]));
    assert_eq!(cells("", "n = 1\n.set n, 2"), Err(vec!["A202"]));
    assert_eq!(cells("", "n: nop\n.set n, 2\n jmp n"), Err(vec!["A202"]));
    assert_eq!(cells("", ".set n, n + 1\n.byte n"), Err(vec!["A203"]));
}

#[test]
fn all_definitions_of_a_name_are_one_name() {
    let text = ".set n, 1\n.byte n\n.set n, n + 1\n";
    let options = Options { names: true, ..Options::default() };
    let found = assemble(&machine(""), &MemoryFiles::default(), Source::new("main.asm", text), &options);
    let [name] = found.names.as_slice() else { panic!("{:?}", found.names) };
    let places: Vec<u32> = name.definition.iter().chain(&name.uses).map(|span| span.start).collect();
    assert_eq!(places, [5, 16, 23, 26]);
}

#[test]
fn marks_between_a_name_and_its_value() {
    assert_eq!(cells("\":=\" = .equ", "n := 3\nm:=4\nl: .byte n, m, l"), Ok(vec![3, 4, 0]));
    assert_eq!(cells("", "n := 3").map_err(|codes| codes[0]), Err("A301"));
    assert_eq!(cells("define = .equ", "define n 3\ndefine m, 4\ndefine l = 5\n.byte n, m, l"), Ok(vec![3, 4, 5]));
}

#[test]
fn operators_of_other_assemblers() {
    let rows = "lo V = V[7:0]\noperator \"=\" = \"==\"\noperator \"mod\" = \"%\"\noperator \"<>\" = \"!=\"";
    let text = "n = 7\n.byte n = 7, n == 7, n MOD 4, n <> 7, lo 0x1234, lo (0x1234) + 1, lo n";
    assert_eq!(cells(rows, text), Ok(vec![1, 1, 3, 0, 0x34, 0x35, 7]));
    assert_eq!(cells(rows, "lo: .byte lo, lo + 1"), Ok(vec![0, 1]));
    assert_eq!(cells("", "n = 7\n.byte n = 7"), Err(vec!["A104"]));
}

#[test]
fn labels_without_a_colon_in_column_1() {
    let rows = "bare labels in column 1\nbare directives";
    assert_eq!(cells(rows, "here nop\nthere\n jmp there\nerror byte 5\n jmp error"), Ok(vec![0, 1, 1, 5, 1, 3]));
    assert_eq!(cells(rows, " nip"), Err(vec!["A301"]));
    assert_eq!(cells("bare labels", " nop\n.loop\n jmp .loop"), Ok(vec![0, 1, 1]));
    assert_eq!(
        cells("local \"@\"", "main: nop\n@loop: jmp @loop\nnext:\n@loop: jmp main.loop"),
        Ok(vec![0, 1, 1, 1, 1])
    );
}

#[test]
fn directives_without_a_dot_leave_names_to_others() {
    let rows = "bare directives";
    assert_eq!(cells(rows, " set 1, b\nn set 5\n byte n\n rept 2\n byte 1\n endr"), Ok(vec![0x13, 5, 1, 1]));
    assert_eq!(cells(rows, "byte macro\n nop\n endm\n byte"), Ok(vec![0]));
    assert_eq!(cells(rows, "end: byte end\nfill = 4\n byte fill"), Ok(vec![0, 4]));
    assert_eq!(cells("", " byte 1"), Err(vec!["A301"]));
}

#[test]
fn arguments_by_number_and_words_made_of_pieces() {
    let text =
        "m macro\nl\\@: jmp l\\@\n \\1 \\2\nt\\2x: .byte \\@ - \\@, t\\2x\n endm\n m jmp, 7\n m .byte, 8\n jmp t7x";
    let rows = "bare directives";
    assert_eq!(cells(rows, text), Ok(vec![1, 0, 1, 7, 0, 4, 1, 6, 8, 0, 9, 1, 4]));
    let named = ".macro m first last\nname\\first: .byte \\last, first\n.endm\n m 1, 2\n jmp name1";
    assert_eq!(cells("", named), Ok(vec![2, 1, 1, 0]));
    assert_eq!(
        cells("", "m: .macro\n .byte 1\n.endm\n m\n.macro n a\na: nop\n.endm\n n x\n jmp x"),
        Ok(vec![1, 0, 1, 1])
    );
    // A default is made of pieces, too, and so is the next default, made from it.
    let defaults = ".macro m a, b = t\\a, c = u\\b\n.byte b, c\n.endm\nt1 = 5\nut1 = 6\n m 1";
    assert_eq!(cells("", defaults), Ok(vec![5, 6]));
    let deep = ".macro m\n.rept 2\nl\\@: jmp l\\@\n.endr\n.endm\n m\n m";
    assert_eq!(cells("", deep), Ok(vec![1, 0, 1, 2, 1, 4, 1, 6]));
}

#[test]
fn sections_keep_their_places() {
    let rows = "section low, LOWER = ram[4]\nsection high = ram[0x10]\nbare directives\nhere \"@\"";
    let text =
        " section high\n byte 1\n low\n byte @\n .high\n byte @\n section \"any\", low[8]\n byte @\n low\n byte @";
    let mut expected = vec![0; 18];
    (expected[4], expected[8], expected[9], expected[16], expected[17]) = (4, 8, 9, 1, 17);
    assert_eq!(cells(rows, text), Ok(expected));
    assert_eq!(cells(rows, " section middle"), Err(vec!["A402"]));
    assert_eq!(cells(rows, " section \"any\", low(8)"), Err(vec!["A402"]));
}

#[test]
fn conditions_on_names() {
    let text = ".ifdef n\n.byte 1\n.else\n.byte 2\n.endif\nn = 1\n.ifndef n\n.byte 3\n.elif n\n.byte 4\n.endif";
    assert_eq!(cells("", text), Ok(vec![2, 4]));
    assert_eq!(cells("endc = .endif", ".if def(n)\n.byte 1\n.if 1\nendc\nendc\n.byte 2"), Ok(vec![2]));
    assert_eq!(cells("", ".ifdef\n.byte 1\n.endif"), Err(vec!["A402"]));
}
