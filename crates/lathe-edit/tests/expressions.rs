//! What hovering over a definition's expressions shows: the width, and the value if there is one.

use lathe_base::files::MemoryFiles;
use lathe_edit::hover;

const DEFINITION: &str = r#"machine tiny "For hovers"
memory ram : u16 -> u8
pc pc : u16 in ram = 0x100 + 4
register acc, x : u8 = 2 * 3
register c, z : u1
register long : u64
constant five : u8 = 5
view low = acc[3:0]
field N : u8
field D : register { acc, x }
field B : u3
trap oops = 7
device console : stream
map ram { 0xFF00 | console.read() | console.write(value ^ 0x55) }
data ram 0x20 { 1 + 1, 3 }
fn half(v: uK) -> uK { v >> 1 }
fn twice(v: u8) -> u9 { u9(v) + u9(v) }
fn squared(v: uK) -> u(2 * K) { zext(v) * zext(v) }
family OP : u1 (a: u8, b: u8) -> u8 {
  add = a + b
  sub = a - b
}
instructions {
  ldi D, N    | 0000 000D {N}      | D = N ^ five
  {OP} D      | 0000 001{OP} 0000 000D | D = OP(acc, D)
  shr         | 0000 1000          | acc = half(acc); let w = half(acc ++ x); x = w[15:8]
  dbl         | 0000 1001          | let t = twice(x); c = t[8]
  st N        | 0000 1010 {N}      | ram[0x1200 + u16(N)] = low ++ u4(0b1010)
  bits        | 0000 1011          | for i in { 1, 2 } { if acc[0] == 1 { x = x + i } }
  set B       | 0001 0BBB where B != 5 | acc = (1 << B) | (z ? 0x80 : 0)
  stop        | 0000 1100          | fault "stop"
  wide        | 0000 1101          | let s = squared(long); acc = (s + (3 << 70))[127:120]; c = (u65(long) + 1)[64]
}
examples {
  ldi acc, 3 : x = 4 + 5 -> acc = 6
}
"#;

/// Returns what is shown where the text before the bar ends and the text after it begins.
fn shown(place: &str) -> String {
    let (before, after) = place.split_once('|').expect("a place has a bar");
    let at = DEFINITION.find(&format!("{before}{after}")).unwrap_or_else(|| panic!("`{place}` is not there"));
    hover::definition(DEFINITION, at + before.len(), &MemoryFiles::default(), None).unwrap_or_default()
}

#[test]
fn every_expression_has_its_width_and_its_value() {
    let loaded = lathe_isa::load(DEFINITION);
    assert!(!loaded.diagnostics.has_errors(), "{:?}", loaded.diagnostics.into_sorted());
    #[rustfmt::skip]
    let expected = [
        ("= 0x1|00 + 4",              "`0x100 + 4` = 260 (0x104) is 16 bits wide"),
        ("= 2 |* 3",                  "`2 * 3` = 6 (0x6) is 8 bits wide"),
        ("u8 = |5",                   "`5` = 5 (0x5) is 8 bits wide"),
        ("map ram { 0xF|F00",         "`0xFF00` = 65280 (0xff00) is 16 bits wide"),
        ("console.re|ad() ",          "`console.read()` is 8 bits wide"),
        ("value |^ 0x55",             "`value ^ 0x55` is 8 bits wide"),
        ("^ 0x5|5",                   "`0x55` = 85 (0x55) is 8 bits wide"),
        ("ram 0x2|0 {",               "`0x20` = 32 (0x20) is 16 bits wide"),
        ("1 |+ 1, 3",                 "`1 + 1` = 2 (0x2) is 8 bits wide"),
        ("v |>> 1",                   "`v >> 1` is 8 or 16 bits wide"),
        ("u9(v) |+ u9",               "`u9(v) + u9(v)` is 9 bits wide"),
        ("a |+ b\n",                  "`a + b` is 8 bits wide"),
        ("N |^ five",                 "`N ^ five` is 8 bits wide"),
        ("^ fi|ve",                   "`five` = 5 (0x5) is 8 bits wide"),
        ("OP|(acc, D)",               "`OP(acc, D)` is 8 bits wide"),
        ("half(a|cc ++ x)",           "`acc` is 8 bits wide"),
        ("acc +|+ x)",                "`acc ++ x` is 16 bits wide"),
        ("w[1|5:8]",                  "`w[15:8]` is 8 bits wide"),
        ("c = t|[8]",                 "`t` is 9 bits wide"),
        ("ram|[0x1200",               "`ram[0x1200 + u16(N)]` is 8 bits wide"),
        ("0x12|00 + u16",             "`0x1200` = 4608 (0x1200) is 16 bits wide"),
        ("low |++ u4",                 "`low ++ u4(0b1010)` is 8 bits wide"),
        ("acc[0] =|= 1",              "`acc[0] == 1` is 1 bit wide"),
        ("x + |i }",                  "`i` is 8 bits wide"),
        ("!= |5 ",                    "`5` = 5 (0x5) is 3 bits wide"),
        ("(1 << B) || (",             "`(1 << B) | (z ? 0x80 : 0)` is 8 bits wide"),
        ("z ? 0|x80",                 "`0x80` = 128 (0x80) is 8 bits wide"),
        ("zext(v) |* zext(v)",        "`zext(v) * zext(v)` is 128 bits wide"),
        ("squar|ed(long)",            "`squared(long)` is 128 bits wide"),
        ("s |+ (3 << 70)",            "`s + (3 << 70)` is 128 bits wide"),
        ("(3 |<< 70)",                "`3 << 70` = 3541774862152233910272 (0xc00000000000000000) is 128 bits wide"),
        ("[127:1|20]",                "`(s + (3 << 70))[127:120]` is 8 bits wide"),
        ("u65(long) |+ 1",            "`u65(long) + 1` is 65 bits wide"),
        ("x = 4 |+ 5",                "`4 + 5` = 9 (0x9) is 8 bits wide"),
        ("acc = |6",                  "`6` = 6 (0x6) is 8 bits wide"),
    ];
    for (place, wanted) in expected {
        let found = shown(place);
        assert!(found.starts_with(wanted), "at `{place}`: wanted {wanted}, found {found}");
    }
}

#[test]
fn a_name_is_told_with_its_declaration() {
    let found = shown("^ fi|ve");
    assert!(found.contains("constant five : u8 = 5"), "{found}");
}

/// A mistake elsewhere hides nothing.
#[test]
fn broken_definitions_tell_what_they_can() {
    let broken = DEFINITION.replace("| 0000 1100          | fault", "| 00 | nothing + (");
    let at = broken.find("^ five").expect("it is there");
    let found = hover::definition(&broken, at, &MemoryFiles::default(), None).unwrap_or_default();
    assert!(found.starts_with("`N ^ five` is 8 bits wide"), "{found}");
}

/// A row of a map says whether instructions are fetched through it.
#[test]
fn rows_of_maps_tell_whom_they_are_for() {
    let text = "machine banked \"\"
memory ram : u16 -> u8
memory rom : u17 -> u8
pc pc : u16 in ram
register bank : u3
map ram with code {
  0x4000..0x7FFF | rom[bank ++ address[13:0]] | bank = value[2:0]
}
map ram {
  0xFF00 | 0 |
}
instructions {
  nop | 0000 0000 |
}
";
    let shown = |place: &str| {
        let at = text.find(place).expect("it is there");
        hover::definition(text, at, &MemoryFiles::default(), None).unwrap_or_default()
    };
    let with_code = "`0x4000..0x7FFF` of `ram` · for reads and writes, and for instructions, which are fetched from the cell that a read gives";
    assert_eq!(shown("0x4000"), format!("`0x4000` = 16384 (0x4000) is 16 bits wide\n\n{with_code}"));
    assert!(shown("++ address").ends_with(with_code), "{}", shown("++ address"));
    assert!(shown("bank ++").contains("register bank : u3"), "{}", shown("bank ++"));
    let without = "`0xFF00` of `ram` · for reads and writes; instructions are fetched from the cells below it";
    assert!(shown("0xFF00").ends_with(without), "{}", shown("0xFF00"));
    assert_eq!(shown("nop"), "");
}
