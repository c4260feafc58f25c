//! Constants given on the command line: `-D NAME=VALUE`.

use lathe_isa::Isa;

use crate::arguments;
use crate::exit::Failure;

/// Parses `NAME=VALUE`, or `NAME` for 1; each name may occur once.
pub(crate) fn read(given: &[String]) -> Result<Vec<(String, i128)>, Failure> {
    let mut all: Vec<(String, i128)> = Vec::new();
    for text in given {
        let (name, value) = definition(text)?;
        if all.iter().any(|(known, _)| *known == name) {
            return Err(Failure::usage(format!("`-D {name}` is given twice")).help("leave one of them out"));
        }
        all.push((name, value));
    }
    Ok(all)
}

fn definition(text: &str) -> Result<(String, i128), Failure> {
    let (name, value) = text.split_once('=').unwrap_or((text, "1"));
    let (digits, sign) = value.strip_prefix('-').map_or((value, 1), |digits| (digits, -1));
    let wrong = |what: String| Failure::usage(what).help("as in `-D DEBUG` or `-D SIZE=0x100`");
    if !is_word(name) {
        return Err(wrong(format!(
            "`{name}` in `-D {text}` is not a name: use letters, digits and _, and no digit first"
        )));
    }
    let number = arguments::number(digits).map_err(|error| wrong(format!("`{value}` in `-D {text}` is {error}")))?;
    Ok((name.to_owned(), sign * i128::from(number)))
}

/// Whether a source could use this name.
fn is_word(name: &str) -> bool {
    let letters = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !name.is_empty() && name.chars().all(letters) && !name.starts_with(|c: char| c.is_ascii_digit())
}

/// Checks that no definition hides a name of the machine: a source could not define it either.
pub(crate) fn check_free(definitions: &[(String, i128)], isa: &Isa) -> Result<(), Failure> {
    let is_taken = |name: &str| {
        isa.registers.iter().any(|register| register.name.eq_ignore_ascii_case(name))
            || isa.views.iter().any(|view| view.name.eq_ignore_ascii_case(name))
            || isa.fields.iter().any(|field| field.bits_named(name).is_some())
    };
    let Some((name, _)) = definitions.iter().find(|(name, _)| is_taken(name)) else { return Ok(()) };
    let message = format!("`{name}` in `-D {name}` is a name of the machine {}", isa.name);
    Err(Failure::usage(message).help(format!("choose another name, such as `{name}_`")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_words_with_or_without_a_value() {
        assert_eq!(definition("DEBUG").unwrap(), ("DEBUG".into(), 1));
        assert_eq!(definition("SIZE=0x10").unwrap(), ("SIZE".into(), 16));
        assert_eq!(definition("_n=-3").unwrap(), ("_n".into(), -3));
        for wrong in ["=3", "", "N=", "N=x", "N=--3", "N=+3", "1x", "a b=1", "a-b", ".a", "é=1"] {
            assert!(definition(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_definition_is_given_once() {
        let given = ["A=1".to_owned(), "a=2".to_owned()];
        assert_eq!(read(&given).unwrap().len(), 2);
        assert!(read(&[given[0].clone(), "A".to_owned()]).is_err());
    }
}
