// The core of rv32i behind the RISC-V Formal Interface, for riscv-formal and for whoever wants to look on:
//
//   lathe hdl -m rv32i -o rv32i
//   iverilog -o sim rv32i/rv32i.v machines/rv32i/rvfi.v your_bench.v
//
// The core needs nothing for this: everything comes from its retire port and from its memory port. What an
// instruction did is told in the cycle after it has retired. The control registers are in here; there is no console input,
// and console output goes nowhere.
//
// Memory may be misaligned, as the core has it: riscv-formal's RISCV_FORMAL_ALIGNED_MEM stays undefined.

`default_nettype none

module rv32i_rvfi (
  input  wire        clk,
  input  wire        reset,
  input  wire [31:0] reset_pc,

  // The memory port of the core.
  output wire [31:0] ram_address,
  output wire        ram_read,
  output wire [3:0]  ram_write,
  output wire [31:0] ram_data,
  input  wire [31:0] ram_value,
  input  wire        ram_ready,

  output wire        rvfi_valid,
  output reg  [63:0] rvfi_order,
  output wire [31:0] rvfi_insn,
  output wire        rvfi_trap,
  output wire        rvfi_halt,
  output wire        rvfi_intr,
  output wire [1:0]  rvfi_mode,
  output wire [1:0]  rvfi_ixl,
  output wire [4:0]  rvfi_rs1_addr,
  output wire [4:0]  rvfi_rs2_addr,
  output wire [31:0] rvfi_rs1_rdata,
  output wire [31:0] rvfi_rs2_rdata,
  output wire [4:0]  rvfi_rd_addr,
  output wire [31:0] rvfi_rd_wdata,
  output wire [31:0] rvfi_pc_rdata,
  output wire [31:0] rvfi_pc_wdata,
  output wire [31:0] rvfi_mem_addr,
  output wire [3:0]  rvfi_mem_rmask,
  output wire [3:0]  rvfi_mem_wmask,
  output wire [31:0] rvfi_mem_rdata,
  output wire [31:0] rvfi_mem_wdata
);
  // The core, with its control registers and its counter.

  wire [11:0]  csr_address;
  wire         csr_read, csr_write;
  wire [31:0]  csr_data;
  reg  [31:0]  csr_value;
  reg  [31:0]  csr [0:4095];
  reg  [63:0]  instructions;
  wire         retire, halted, faulted;
  wire [31:0]  retire_pc, retire_bits, retire_next;
  wire [991:0] retire_registers;

  rv32i core (
    .clk(clk), .reset(reset), .reset_pc(reset_pc), .reset_registers(992'd0),
    .ram_address(ram_address), .ram_read(ram_read), .ram_write(ram_write), .ram_data(ram_data),
    .ram_value(ram_value), .ram_ready(ram_ready),
    .csr_address(csr_address), .csr_read(csr_read), .csr_write(csr_write), .csr_data(csr_data), .csr_value(csr_value),
    .console_read(), .console_read_ready(1'b1), .console_read_value(8'd0),
    .console_write(), .console_write_data(), .console_write_ready(1'b1), .console_ready_value(1'b0),
    .clock_instructions_value(instructions),
    .retire(retire), .retire_pc(retire_pc), .retire_bits(retire_bits), .retire_replaced(), .retire_next(retire_next),
    .retire_registers(retire_registers),
    .halted(halted), .faulted(faulted), .faulted_code(), .faulted_detail()
  );

  integer at;
  initial for (at = 0; at < 4096; at = at + 1) csr[at] = 32'd0;

  always @(posedge clk) begin
    if (csr_read) csr_value <= csr[csr_address];
    if (csr_write) csr[csr_address] <= csr_data;
    instructions <= reset ? 64'd0 : instructions + {63'd0, retire};
  end

  // What is told comes from the cycle before.

  reg         done, failed;
  reg [31:0]  bits, pc, next;
  reg [991:0] registers, before; // after the instruction, and before it
  reg         fetched;           // the instruction is there: what is read from now on is data
  reg         raised;            // it goes to the handler of traps
  reg [31:0]  address, data, value;
  reg [3:0]   write;
  reg         read;

  wire takes = ram_read && ram_ready;
  wire puts = ram_write != 4'd0 && ram_ready;
  wire [6:0] retire_opcode = retire_bits[30:24];

  always @(posedge clk) begin
    done <= retire && !reset;
    failed <= faulted && !reset;
    bits <= retire_bits;
    pc <= retire_pc;
    next <= retire_next;
    value <= ram_value;
    if (retire) registers <= retire_registers;
    if (rvfi_valid) before <= registers;
    // The access of this instruction, if it has come to that.
    fetched <= !retire && (fetched || takes);
    if (done || !fetched) begin
      read <= 1'b0;
      write <= 4'd0;
    end
    if (fetched && takes) begin
      read <= 1'b1;
      address <= ram_address;
    end
    if (puts) begin
      write <= ram_write;
      address <= ram_address;
      data <= ram_data;
    end
    // mcause is written by what raises a trap; or by an instruction for control registers, which has another opcode.
    raised <= !done && raised || csr_write && csr_address == 12'h342 && !(retire_opcode == 7'h73 && retire_bits[22:20] != 3'd0);
    rvfi_order <= reset ? 64'd0 : rvfi_order + {63'd0, rvfi_valid};
    if (reset) begin
      {done, failed, fetched, raised, read, write} <= 9'd0;
      {registers, before} <= 1984'd0;
    end
  end

  // The first cell is highest in the retire port, and lowest in an instruction.
  wire [31:0] insn = {bits[7:0], bits[15:8], bits[23:16], bits[31:24]};
  wire [6:0]  opcode = insn[6:0];
  wire        is_load = opcode == 7'h03;
  wire        is_system = opcode == 7'h73;
  wire        is_call = insn == 32'h00000073;
  wire        has_result = opcode == 7'h37 || opcode == 7'h17 || opcode == 7'h6f || opcode == 7'h67 || is_load
                        || opcode == 7'h13 || opcode == 7'h33 || is_system && insn[14:12] != 3'd0;
  // An environment call gives its answer in x10.
  wire [4:0]  rd = has_result ? insn[11:7] : is_call ? 5'd10 : 5'd0;

  function [31:0] register(input [991:0] all, input [4:0] number);
    register = number == 5'd0 ? 32'd0 : all[32 * (number - 1) +: 32];
  endfunction

  wire fails = faulted && !failed;
  assign rvfi_valid = done || fails;
  assign rvfi_insn = insn;
  assign rvfi_trap = fails || raised;
  assign rvfi_halt = halted || faulted;
  assign rvfi_intr = 1'b0; // there are no interrupts, and a trap says itself where it goes
  assign rvfi_mode = 2'd3;
  assign rvfi_ixl = 2'd1;
  assign rvfi_rs1_addr = insn[19:15];
  assign rvfi_rs2_addr = insn[24:20];
  assign rvfi_rs1_rdata = register(before, insn[19:15]);
  assign rvfi_rs2_rdata = register(before, insn[24:20]);
  assign rvfi_rd_addr = rvfi_trap ? 5'd0 : rd;
  assign rvfi_rd_wdata = register(registers, rvfi_rd_addr);
  assign rvfi_pc_rdata = pc;
  assign rvfi_pc_wdata = fails ? pc : next;
  assign rvfi_mem_addr = address;
  assign rvfi_mem_rmask = !read ? 4'd0 : !is_load ? 4'd1 : insn[13:12] == 2'd0 ? 4'd1 : insn[13:12] == 2'd1 ? 4'd3 : 4'd15;
  assign rvfi_mem_wmask = write;
  assign rvfi_mem_rdata = value;
  assign rvfi_mem_wdata = data;
endmodule

`default_nettype wire
