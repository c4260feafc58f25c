// How many instructions there were since the reset, and how many cycles they took.
module lathe_counter (
  input  wire        clk,
  input  wire        reset,
  input  wire        retire,
  input  wire [63:0] retire_cycles,
  output reg  [63:0] instructions_value,
  output reg  [63:0] cycles_value
);
  always @(posedge clk) begin
    if (reset) begin
      instructions_value <= 64'd0;
      cycles_value <= 64'd0;
    end else if (retire) begin
      instructions_value <= instructions_value + 64'd1;
      cycles_value <= cycles_value + retire_cycles;
    end
  end
endmodule
