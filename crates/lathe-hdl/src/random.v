// Numbers without a pattern: SplitMix64, the same numbers as in the interpreter.
module lathe_random (
  input  wire        clk,
  input  wire        reset,
  input  wire        read,
  output wire [63:0] value
);
  reg [63:0] state;
  wire [63:0] next = state + 64'h9E3779B97F4A7C15;
  wire [63:0] once = (next ^ (next >> 30)) * 64'hBF58476D1CE4E5B9;
  wire [63:0] twice = (once ^ (once >> 27)) * 64'h94D049BB133111EB;
  assign value = twice ^ (twice >> 31);
  always @(posedge clk) begin
    if (reset) state <= 64'd1;
    else if (read) state <= next;
  end
endmodule
