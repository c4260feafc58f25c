// The main program of a core that runs beside the interpreter: what it does, as numbers of 64 bits on standard output.
// A line of standard input is one program: the options of the bench, with spaces between.
#include "Vbench.h"
#include "verilated.h"

#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <iostream>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

static int output;
// Less than a pipe takes at once: the core would stand still while the rest waits for its reader.
static uint64_t buffer[1 << 12];
static size_t used;
static uint64_t cycles; // of the program that is running

static void flush() {
  const char *from = reinterpret_cast<const char *>(buffer);
  size_t left = used * sizeof *buffer;
  used = 0;
  while (left > 0) {
    const ssize_t written = write(output, from, left);
    if (written <= 0) _exit(1); // nobody listens any more
    from += written;
    left -= static_cast<size_t>(written);
  }
}

// Room for a record with so many numbers.
static uint64_t *room(size_t count) {
  if (used + count > sizeof buffer / sizeof *buffer) flush();
  uint64_t *at = buffer + used;
  used += count;
  return at;
}

extern "C" void record_cell(int memory, unsigned long long address, unsigned long long value) {
  uint64_t *at = room(3);
  at[0] = 1 | static_cast<uint64_t>(memory) << 8;
  at[1] = address;
  at[2] = value;
}

extern "C" void record_device(int operation, unsigned long long a, unsigned long long b, unsigned long long c) {
  uint64_t *at = room(4);
  at[0] = 2 | static_cast<uint64_t>(operation) << 8;
  at[1] = a;
  at[2] = b;
  at[3] = c;
}

extern "C" void record_retired(unsigned long long pc, unsigned long long next, const uint32_t *bits, int halves,
                               const uint32_t *registers) {
  const size_t count = (static_cast<size_t>(halves) + 1) / 2;
  uint64_t *at = room(6 + count);
  at[0] = 3;
  at[1] = pc;
  at[2] = next;
  at[3] = bits[0] | static_cast<uint64_t>(bits[1]) << 32;
  at[4] = bits[2] | static_cast<uint64_t>(bits[3]) << 32;
  at[5] = cycles;
  if (count == 0) return;
  at[5 + count] = 0;
  std::memcpy(at + 6, registers, static_cast<size_t>(halves) * sizeof *registers);
}

extern "C" void record_faulted(int code, unsigned long long detail) {
  uint64_t *at = room(2);
  at[0] = 4 | static_cast<uint64_t>(code) << 8;
  at[1] = detail;
}

extern "C" void record_halted() { *room(1) = 5; }

// $finish without a word about it.
void vl_finish(const char *, int, const char *) { Verilated::threadContextp()->gotFinish(true); }

static void run(const std::string &line) {
  std::vector<std::string> words{"model"};
  std::istringstream from(line);
  for (std::string word; from >> word;) words.push_back(word);
  std::vector<const char *> arguments;
  for (const std::string &word : words) arguments.push_back(word.c_str());
  VerilatedContext context;
  context.commandArgs(static_cast<int>(arguments.size()), arguments.data());
  Vbench bench(&context);
  for (cycles = 1; !context.gotFinish(); cycles++) {
    bench.clk = 1;
    bench.eval();
    bench.clk = 0;
    bench.eval();
  }
  bench.final();
  *room(1) = 6;
  flush();
}

int main() {
  // Whatever the simulator itself prints must not come between the numbers.
  output = dup(1);
  dup2(2, 1);
#ifdef F_SETPIPE_SZ
  fcntl(output, F_SETPIPE_SZ, 1 << 20); // where this is not allowed, the pipe is as it was
#endif
  for (std::string line; std::getline(std::cin, line);) run(line);
  return 0;
}
