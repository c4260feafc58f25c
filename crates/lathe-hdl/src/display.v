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
  localparam [X:0] COLUMNS = WIDTH[X:0];
  localparam [Y:0] ROWS = HEIGHT[Y:0];
  localparam [X-1:0] LAST = COLUMNS[X-1:0] - {{X-1{1'b0}}, 1'b1};
  // A row that does not exist is dark and stays dark.
  reg [WIDTH-1:0] rows [0:(1<<Y)-1];
  wire [WIDTH-1:0] chosen = rows[get_y];
  integer at;
  always @(posedge clk) begin
    if (reset || clear) begin
      for (at = 0; at < (1 << Y); at = at + 1) rows[at] <= {WIDTH{1'b0}};
    end else begin
      if (set_row && {1'b0, set_row_y} < ROWS) rows[set_row_y] <= set_row_data;
      if (set && {1'b0, set_y} < ROWS && {1'b0, set_x} < COLUMNS) rows[set_y][LAST - set_x] <= set_data;
    end
    if (row) row_value <= rows[row_y];
    if (get) begin
      get_value <= {1'b0, get_x} < COLUMNS && chosen[LAST - get_x];
    end
  end
endmodule
