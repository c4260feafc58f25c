// The wrapper of rv32i with 64 KiB of memory that is not always ready: a line for everything it tells.
`timescale 1ns/1ns
module bench;
  reg clk = 1'b0, reset = 1'b1;
  always #1 clk = !clk;

  wire [31:0] address, data;
  wire        read;
  wire [3:0]  write;
  reg  [31:0] value;
  reg  [7:0]  ram [0:65535];
  reg  [15:0] wait_state = 16'hACE1;
  wire        ready = wait_state[0] | wait_state[3];
  wire [15:0] at = address[15:0], at1 = at + 16'd1, at2 = at + 16'd2, at3 = at + 16'd3;
  wire        valid, trap, halt;
  wire [63:0] order;
  wire [31:0] insn, rs1, rs2, result, pc, next, where, got, put;
  wire [4:0]  rs1_addr, rs2_addr, rd;
  wire [3:0]  rmask, wmask;

  rv32i_rvfi dut (
    .clk(clk), .reset(reset), .reset_pc(32'd0),
    .ram_address(address), .ram_read(read), .ram_write(write), .ram_data(data), .ram_value(value), .ram_ready(ready),
    .rvfi_valid(valid), .rvfi_order(order), .rvfi_insn(insn), .rvfi_trap(trap), .rvfi_halt(halt), .rvfi_intr(),
    .rvfi_mode(), .rvfi_ixl(), .rvfi_rs1_addr(rs1_addr), .rvfi_rs2_addr(rs2_addr), .rvfi_rs1_rdata(rs1),
    .rvfi_rs2_rdata(rs2), .rvfi_rd_addr(rd), .rvfi_rd_wdata(result), .rvfi_pc_rdata(pc), .rvfi_pc_wdata(next),
    .rvfi_mem_addr(where), .rvfi_mem_rmask(rmask), .rvfi_mem_wmask(wmask), .rvfi_mem_rdata(got), .rvfi_mem_wdata(put));

  integer lane;
  reg [63:0] count; // of instructions
  initial begin
    if (!$value$plusargs("count=%d", count)) count = 64'd0;
    for (lane = 0; lane < 65536; lane = lane + 1) ram[lane] = 8'd0;
    $readmemh("program.hex", ram);
    #4 reset = 1'b0;
  end

  always @(posedge clk) begin
    wait_state <= {wait_state[0] ^ wait_state[2] ^ wait_state[3] ^ wait_state[5], wait_state[15:1]};
    if (read && ready) value <= {ram[at3], ram[at2], ram[at1], ram[at]};
    if (ready && write[0]) ram[at] <= data[7:0];
    if (ready && write[1]) ram[at1] <= data[15:8];
    if (ready && write[2]) ram[at2] <= data[23:16];
    if (ready && write[3]) ram[at3] <= data[31:24];
    if (valid && !reset)
      $display("%0d %h %b %b %h %h %h %h %h %h %h %h %h %h", order, insn, trap, halt, rs1, rs2, rd, result, pc, next,
        where, rmask, wmask, rmask != 4'd0 ? got : put);
    if (valid && (halt || order + 64'd1 == count) && !reset) $finish;
  end
endmodule
