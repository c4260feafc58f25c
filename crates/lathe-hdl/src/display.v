// Pixels that are on or off, the leftmost of a row highest. A row is reached in parts of PART pixels, from a column on.
module lathe_display #(parameter WIDTH = 64, parameter HEIGHT = 32, parameter X = 6, parameter Y = 5, parameter PART = 64) (
  input  wire             clk,
  input  wire             reset,
  input  wire             row,
  input  wire [X-1:0]     row_x,
  input  wire [Y-1:0]     row_y,
  output reg  [PART-1:0]  row_value,
  input  wire             get,
  input  wire [X-1:0]     get_x,
  input  wire [Y-1:0]     get_y,
  output reg              get_value,
  input  wire             set,
  input  wire [X-1:0]     set_x,
  input  wire [Y-1:0]     set_y,
  input  wire             set_data,
  input  wire             set_row,
  input  wire [X-1:0]     set_row_x,
  input  wire [Y-1:0]     set_row_y,
  input  wire [PART-1:0]  set_row_data,
  input  wire             scroll,
  input  wire [X:0]       scroll_dx,
  input  wire [Y:0]       scroll_dy,
  input  wire             clear
);
  localparam [X:0] COLUMNS = WIDTH[X:0];
  localparam [Y:0] ROWS = HEIGHT[Y:0];
  localparam [X-1:0] LAST = COLUMNS[X-1:0] - {{X-1{1'b0}}, 1'b1};
  // A row that does not exist is dark and stays dark.
  reg [WIDTH-1:0] rows [0:(1<<Y)-1];
  wire [WIDTH-1:0] chosen = rows[get_y];
  // A row moved until the part is first; the part where it belongs, and which pixels these are. What is beyond the
  // edge is not used.
  /* verilator lint_off UNUSEDSIGNAL */
  wire [2*WIDTH-1:0] seen = {rows[row_y], {WIDTH{1'b0}}} << row_x;
  wire [2*WIDTH-1:0] part = {set_row_data, {2*WIDTH-PART{1'b0}}} >> set_row_x;
  wire [2*WIDTH-1:0] mask = {{PART{1'b1}}, {2*WIDTH-PART{1'b0}}} >> set_row_x;
  // How far the picture moves down, and which row comes to a place.
  wire [31:0] down = {{31-Y{scroll_dy[Y]}}, scroll_dy};
  function [Y-1:0] source(input [31:0] row_number);
    source = row_number[Y-1:0];
  endfunction
  /* verilator lint_on UNUSEDSIGNAL */
  integer at;
  always @(posedge clk) begin
    if (reset || clear) begin
      for (at = 0; at < (1 << Y); at = at + 1) rows[at] <= {WIDTH{1'b0}};
    end else begin
      if (set_row && {1'b0, set_row_y} < ROWS)
        rows[set_row_y] <= rows[set_row_y] & ~mask[2*WIDTH-1:WIDTH] | part[2*WIDTH-1:WIDTH];
      if (scroll) begin
        for (at = 0; at < HEIGHT; at = at + 1) begin
          if (at - down >= HEIGHT) rows[at] <= {WIDTH{1'b0}};
          else if (scroll_dx[X]) rows[at] <= rows[source(at - down)] << -scroll_dx;
          else rows[at] <= rows[source(at - down)] >> scroll_dx;
        end
      end
      if (set && {1'b0, set_y} < ROWS && {1'b0, set_x} < COLUMNS) rows[set_y][LAST - set_x] <= set_data;
    end
    if (row) row_value <= seen[2*WIDTH-1:2*WIDTH-PART];
    if (get) begin
      get_value <= {1'b0, get_x} < COLUMNS && chosen[LAST - get_x];
    end
  end
endmodule
