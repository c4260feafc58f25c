// The main program of the bench for Verilator: a clock, until the bench says $finish.
#include "Vbench.h"
#include "verilated.h"

int main(int argc, char **argv) {
  VerilatedContext context;
  context.commandArgs(argc, argv);
  Vbench bench(&context);
  while (!context.gotFinish()) {
    bench.clk = 1;
    bench.eval();
    bench.clk = 0;
    bench.eval();
  }
  bench.final();
  return 0;
}
