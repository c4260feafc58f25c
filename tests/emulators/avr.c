// One instruction on simavr's ATtiny85. Each line of the input is a state, in hexadecimal: the program counter (in
// words), the stack pointer, the status, a seed for the memories, the two words at the program counter, and r0 to r31.
// Each line of the output is the state after it: program counter, stack pointer, status, cycles, r0 to r31, and then the
// cells of the memory and of the three ports without a purpose that have changed, as address and value.
//
// Memories hold what `filled` says, which tests/tests/emulators.rs says as well.

#include <stdio.h>
#include <stdint.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_core.h>

enum { WORDS = 0x1000, LAST = 0x25F, SPL = 0x5D, SPH = 0x5E, SREG = 0x5F };

static uint16_t filled(unsigned seed, unsigned at) { return (uint16_t)((at * 0x9E37u + seed * 0x6A09u) >> 3); }

// GPIOR0 to GPIOR2, and the memory.
static int is_plain(unsigned at) { return (at >= 0x31 && at <= 0x33) || at >= 0x60; }

int main(void) {
  avr_t *avr = avr_make_mcu_by_name("attiny85");
  if (!avr) return 1;
  avr_init(avr);
  unsigned pc, sp, status, seed, first, second;
  while (scanf("%x %x %x %x %x %x", &pc, &sp, &status, &seed, &first, &second) == 6) {
    for (unsigned at = 0; at < WORDS; at++) {
      uint16_t word = at == pc ? first : at == ((pc + 1) & (WORDS - 1)) ? second : filled(seed, at);
      avr->flash[2 * at] = word & 0xFF;
      avr->flash[2 * at + 1] = word >> 8;
    }
    for (unsigned at = 0; at <= LAST; at++) avr->data[at] = is_plain(at) ? filled(seed, at) & 0xFF : 0;
    for (unsigned at = 0; at < 32; at++) {
      unsigned value;
      if (scanf("%x", &value) != 1) return 1;
      avr->data[at] = value;
    }
    avr->data[SPL] = sp & 0xFF;
    avr->data[SPH] = sp >> 8;
    for (unsigned bit = 0; bit < 8; bit++) avr->sreg[bit] = status >> bit & 1;
    avr->data[SREG] = status;
    avr->state = cpu_Running;
    avr->cycle = 0;
    avr->pc = 2 * pc;
    avr->pc = avr_run_one(avr);
    status = 0;
    for (unsigned bit = 0; bit < 8; bit++) status |= (unsigned)(avr->sreg[bit] & 1) << bit;
    printf("%x %x %x %x", (unsigned)avr->pc / 2 & (WORDS - 1), avr->data[SPL] | avr->data[SPH] << 8, status, (unsigned)avr->cycle);
    for (unsigned at = 0; at < 32; at++) printf(" %x", avr->data[at]);
    for (unsigned at = 0; at <= LAST; at++)
      if (is_plain(at) && avr->data[at] != (filled(seed, at) & 0xFF)) printf(" %x %x", at, avr->data[at]);
    printf("\n");
  }
  return 0;
}
