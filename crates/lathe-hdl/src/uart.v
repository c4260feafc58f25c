// A serial port, eight bits and no parity: one byte at a time in each direction.
module lathe_uart #(parameter DIVISOR = 104) (
  input  wire       clk,
  input  wire       reset,
  input  wire       rx,
  output wire       tx,
  input  wire       write,
  input  wire [7:0] write_data,
  output wire       write_ready,
  input  wire       read,
  output reg  [7:0] read_value,
  output reg        read_ready
);
  localparam [15:0] BIT = DIVISOR;

  // What is being sent: bits still to go, with a 1 above them.
  reg [9:0] sending;
  reg [15:0] send_wait;
  assign tx = sending == 10'd0 ? 1'b1 : sending[0];
  assign write_ready = sending == 10'd0;

  // What is being received.
  reg [2:0] line;
  reg [3:0] bits;
  reg [15:0] receive_wait;
  reg [7:0] received;

  always @(posedge clk) begin
    line <= {line[1:0], rx};
    if (reset) begin
      sending <= 10'd0;
      send_wait <= 16'd0;
      line <= 3'd7;
      bits <= 4'd0;
      receive_wait <= 16'd0;
      received <= 8'd0;
      read_ready <= 1'b0;
      read_value <= 8'd0;
    end else begin
      if (write && write_ready) begin
        sending <= {1'b1, write_data, 1'b0};
        send_wait <= BIT - 16'd1;
      end else if (sending != 10'd0) begin
        if (send_wait != 16'd0) send_wait <= send_wait - 16'd1;
        else begin
          sending <= {1'b0, sending[9:1]};
          send_wait <= BIT - 16'd1;
        end
      end

      if (read) read_ready <= 1'b0;
      if (bits == 4'd0) begin
        if (!line[2]) begin
          bits <= 4'd9;
          receive_wait <= BIT + (BIT >> 1) - 16'd2;
        end
      end else if (receive_wait != 16'd0) receive_wait <= receive_wait - 16'd1;
      else begin
        receive_wait <= BIT - 16'd1;
        bits <= bits - 4'd1;
        if (bits != 4'd1) received <= {line[2], received[7:1]};
        else begin
          read_value <= received;
          read_ready <= 1'b1;
        end
      end
    end
  end
endmodule
