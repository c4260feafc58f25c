//! From pictures to cells: how an encoding column is laid out in memory.

use lathe_isa::encoding::cells;
use lathe_isa::load;

/// Encodes the first row with all operands set to this number, and returns its cells.
fn laid_down(fields: &str, block: &str, operand: u64) -> Vec<u64> {
    let text =
        format!("machine m \"\"\nmemory ram : u16 -> u8\npc pc : u16 in ram\nregister a : u8\n{fields}\n{block}\n");
    let loaded = load(&text);
    let isa = loaded.isa.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    let encoding = &isa.instructions[0].encoding;
    cells(encoding.encode(&[operand; 8]), isa.code_memory().cell).take(encoding.cells as usize).collect()
}

#[test]
fn a_little_field_has_its_low_cell_first_in_every_unit() {
    let rows = "{\n  go W | 0x0102 {W} | a = W[7:0]\n}";
    for (unit, opcode) in [("", [1, 2]), ("as u16", [1, 2]), ("as u16 little", [2, 1])] {
        let block = format!("instructions {unit} {rows}");
        assert_eq!(laid_down("field W : u16 little", &block, 0xABCD), [&opcode[..], &[0xCD, 0xAB]].concat(), "{unit}");
        let wide = laid_down("field W : u32 little", &block, 0x1234_5678);
        assert_eq!(wide, [&opcode[..], &[0x78, 0x56, 0x34, 0x12]].concat(), "{unit}");
    }
    let big = laid_down("field W : u16", &format!("instructions {rows}"), 0xABCD);
    assert_eq!(big, [1, 2, 0xAB, 0xCD]);
}

#[test]
fn a_little_field_smaller_than_its_unit_is_put_in_order_with_it() {
    let block = "instructions as u32 little {\n  go W | 0x0102 {W} | a = W[7:0]\n}";
    assert_eq!(laid_down("field W : u16 little", block, 0xABCD), [0xCD, 0xAB, 2, 1]);
}
