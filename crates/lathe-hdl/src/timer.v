// A number that goes down by one after every EVERY instructions, until it is 0.
module lathe_timer #(parameter WIDTH = 8, parameter EVERY = 1) (
  input  wire             clk,
  input  wire             reset,
  input  wire             retire,
  output wire [WIDTH-1:0] read_value,
  input  wire             write,
  input  wire [WIDTH-1:0] write_data
);
  reg [WIDTH-1:0] left;
  reg [31:0] count;
  wire [WIDTH-1:0] now = write ? write_data : left;
  wire due = retire && count == 32'd1;
  assign read_value = left;
  always @(posedge clk) begin
    if (reset) begin
      left <= {WIDTH{1'b0}};
      count <= EVERY;
    end else begin
      left <= due && now != {WIDTH{1'b0}} ? now - {{WIDTH-1{1'b0}}, 1'b1} : now;
      if (retire) count <= due ? EVERY : count - 32'd1;
    end
  end
endmodule
