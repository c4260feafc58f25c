//! Every diagnostic of the language, one row each. A test checks that each has a fixture in `tests/diagnostics/`.

#[rustfmt::skip]
lathe_base::codes! {
    UNKNOWN_CHARACTER    = "E101", "a character that means nothing here";
    BAD_NUMBER           = "E102", "a number that cannot be read";
    UNCLOSED_TEXT        = "E103", "a text without its closing quote";
    UNEXPECTED           = "E104", "something else was expected here";
    UNKNOWN_ITEM         = "E105", "a line that begins with no known word";
    UNCLOSED_BLOCK       = "E106", "a block without its closing brace";
    MISSING_COLUMN       = "E107", "a row without all its columns";

    UNKNOWN_NAME         = "E201", "a name that nothing declares";
    DECLARED_TWICE       = "E202", "a name declared twice";
    WRONG_KIND           = "E203", "a name of the wrong kind";
    BAD_RANGE            = "E204", "a range of names that does not count up or down";
    RECURSION            = "E205", "a function that calls itself";
    MISSING_ITEM         = "E206", "a definition without something it needs";
    ARGUMENT_COUNT       = "E207", "too many or too few arguments";
    UNKNOWN_DEVICE       = "E208", "a device kind or operation that does not exist";
    BAD_FILE             = "E209", "another file that cannot be used here";
    NOTHING_REMOVED      = "E210", "something to remove that is not there";

    WIDTH_MISMATCH       = "E301", "values of different widths";
    WIDTH_UNKNOWN        = "E302", "a value whose width nothing tells";
    DOES_NOT_FIT         = "E303", "a number too large for its place";
    SLICE_OUTSIDE        = "E304", "bits that the value does not have";
    MIXED_SIGNS          = "E305", "signed and unsigned mixed";
    NOT_ASSIGNABLE       = "E306", "something that cannot be assigned";
    NO_VALUE             = "E307", "a value where none is given, or none where one is needed";
    BAD_WIDTH            = "E308", "a width that is not possible";
    NOT_CONSTANT         = "E309", "a value that must be a fixed number";
    NOT_HERE             = "E310", "something that has no meaning in this place";

    OVERLAP              = "E401", "two rows for one encoding";
    LENGTH_UNDECIDED     = "E402", "a length that the leading cells do not decide";
    BITS_MISSING         = "E403", "bits of a field missing from the encoding";
    BITS_REPEATED        = "E404", "bits of a field given more than once";
    OPERAND_LOST         = "E405", "an operand in only one of syntax and encoding";
    BAD_PICTURE          = "E406", "an encoding that cannot be read";
    RAGGED_LENGTH        = "E407", "an encoding that does not fill whole cells";
    UNREACHABLE          = "E408", "a row that no encoding reaches";
    SAME_SYNTAX          = "E409", "two rows with one syntax";
    BAD_CONDITION        = "E410", "a condition that cannot be decided from the bits";
    BAD_SYNTAX           = "E411", "a syntax that cannot be read";
    BAD_EXPANSION        = "E412", "a pseudo-instruction that expands to no instruction";

    BAD_EXAMPLE          = "E501", "an example that no instruction matches";
    EXAMPLE_FAILS        = "E502", "an example that does not come out as written";

    NEVER_READ           = "W601", "a register that nothing reads";
    UNUSED               = "W602", "something declared and never used";
    UNCLEAR_JOIN         = "W603", "`++` beside arithmetic without parentheses";
    ROW_AS_COMMENT       = "W604", "a comment that looks like a row";
    NO_CYCLES            = "W605", "cycles that nothing counts";

    TOO_LARGE            = "E901", "a definition over a limit of size";
    TOO_DEEP             = "E902", "nesting over the limit";
    TOO_MANY             = "E903", "more of a thing than the limit allows";
}

#[cfg(test)]
mod tests {
    use super::ALL;

    #[test]
    fn codes_are_distinct_and_in_order() {
        assert!(ALL.windows(2).all(|pair| pair[0].name[1..] < pair[1].name[1..]));
    }
}
