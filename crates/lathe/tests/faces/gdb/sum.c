/* Adds up squares, for gdb: a loop, a call, a variable in memory. */

int total;

static int square(int number)
{
    return number * number;
}

int main(void)
{
    for (int number = 1; number <= 4; number++)
        total += square(number);
    return total;
}

/* Where execution begins: main's result is the code with which the program ends. */
__asm__(".globl _start\n"
        "_start:\n"
        "    li sp, 0x8000\n"
        "    call main\n"
        "    li a7, 93\n"
        "    ecall\n");
