//! Every diagnostic of the assembler, one row each. A test checks that each has a fixture in `tests/assembly/`.

#[rustfmt::skip]
lathe_base::codes! {
    BAD_TOKEN           = "A101", "something that cannot be read";
    BAD_NUMBER          = "A102", "a number that cannot be read";
    UNCLOSED            = "A103", "a text, character or comment without its end";
    EXPECTED            = "A104", "something else was expected here";

    UNDEFINED           = "A201", "a name that nothing defines";
    DEFINED_TWICE       = "A202", "a name defined twice";
    CIRCULAR            = "A203", "a name defined by itself";
    RESERVED            = "A204", "a name that means something else";
    NOT_YET_KNOWN       = "A205", "a value that must be known before this line";

    UNKNOWN_MNEMONIC    = "A301", "a mnemonic that the machine does not have";
    NO_FORM             = "A302", "operands that no form of the instruction takes";
    OUT_OF_RANGE        = "A303", "a value that does not fit";
    OUT_OF_REACH        = "A304", "an address that the instruction cannot reach";
    ARITHMETIC          = "A305", "arithmetic that has no result";
    MISALIGNED          = "A306", "a value that is not a multiple of what is needed";

    UNKNOWN_DIRECTIVE   = "A401", "a directive that does not exist";
    BAD_DIRECTIVE       = "A402", "a directive that is not written right";
    UNBALANCED          = "A403", "a block without its beginning or end";
    OTHER_MACHINE       = "A404", "a program for another machine";
    FILE                = "A405", "a file that cannot be had";
    INCLUDE_CYCLE       = "A406", "a file that includes itself";
    ASSERTION           = "A407", "an assertion that does not hold";
    SAID                = "A408", "an error that the program declares";
    MACRO_ARGUMENTS     = "A409", "too many or too few arguments for a macro";

    OVERLAP             = "A501", "two things at one address";
    PAST_MEMORY         = "A502", "more than the memory holds";
    UNSETTLED           = "A503", "addresses that do not settle";

    UNUSED_LABEL        = "W701", "a label that nothing uses";
    WARNED              = "W702", "a warning that the program declares";
    AFTER_END           = "W703", "lines after `.end`, which are not read";

    TOO_LARGE           = "A901", "a source over a limit of size";
    TOO_DEEP            = "A902", "nesting over the limit";
    TOO_MANY            = "A903", "more of a thing than the limit allows";
}
