// Pixels that are on or off, the leftmost of a row highest.
module lathe_display #(parameter WIDTH = 64, parameter HEIGHT = 32, parameter X = 6, parameter Y = 5) (
  input  wire             clk,
  input  wire             reset,
  input  wire             row,
  input  wire [Y-1:0]     row_y,
  output reg  [WIDTH-1:0] row_value,
  input  wire             get,
  input  wire [X-1:0]     get_x,
  input  wire [Y-1:0]     get_y,
  output reg              get_value,
  input  wire             set,
  input  wire [X-1:0]     set_x,
  input  wire [Y-1:0]     set_y,
  input  wire             set_data,
  input  wire             set_row,
  input  wire [Y-1:0]     set_row_y,
  input  wire [WIDTH-1:0] set_row_data,
  input  wire             clear
);
  // A row that does not exist is dark and stays dark.
  reg [WIDTH-1:0] rows [0:(1<<Y)-1];
  reg [WIDTH-1:0] chosen;
  integer at;
  always @(posedge clk) begin
    if (reset || clear) begin
      for (at = 0; at < (1 << Y); at = at + 1) rows[at] <= {WIDTH{1'b0}};
    end else begin
      if (set_row && set_row_y < HEIGHT) rows[set_row_y] <= set_row_data;
      if (set && set_y < HEIGHT && set_x < WIDTH) rows[set_y][WIDTH-1-set_x] <= set_data;
    end
    if (row) row_value <= rows[row_y];
    if (get) begin
      chosen = rows[get_y];
      get_value <= get_x < WIDTH && chosen[WIDTH-1-get_x];
    end
  end
endmodule
