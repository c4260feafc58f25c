//! Shrinks a case while it still fails.

use lathe_isa::Isa;

use super::Case;

/// Finds the smallest case that still disagrees, by leaving things out. Every smaller one on the way is shown to
/// `found`.
pub fn shrink(isa: &Isa, case: &Case, disagrees: &mut dyn FnMut(&Case) -> bool, found: &mut dyn FnMut(&Case)) -> Case {
    let mut best = case.clone();
    while let Some(smaller) = smaller(isa, &best).into_iter().find(|candidate| disagrees(candidate)) {
        found(&smaller);
        best = smaller;
    }
    best
}

fn smaller(isa: &Isa, case: &Case) -> Vec<Case> {
    let mut list = Vec::new();
    without_instructions(case, &mut list);
    for at in 0..case.limits.len() {
        list.push(changed(case, |case| _ = case.limits.remove(at)));
        for limit in [case.limits[at] / 2, case.limits[at].saturating_sub(1)] {
            if limit < case.limits[at] {
                list.push(changed(case, |case| case.limits[at] = limit));
            }
        }
    }
    for at in 0..case.data.len() {
        list.push(changed(case, |case| _ = case.data.remove(at)));
    }
    for at in 0..case.input.len() {
        list.push(changed(case, |case| _ = case.input.remove(at)));
    }
    for (at, register) in isa.registers.iter().enumerate() {
        if case.registers[at] != register.reset {
            list.push(changed(case, |case| case.registers[at] = register.reset));
        }
    }
    list
}

fn changed(case: &Case, change: impl FnOnce(&mut Case)) -> Case {
    let mut other = case.clone();
    change(&mut other);
    other
}

/// Leaves out many instructions at a time first, so that a large program soon becomes small.
fn without_instructions(case: &Case, list: &mut Vec<Case>) {
    let mut count = case.program.len() / 2;
    while count > 0 {
        for from in (0..=case.program.len() - count).step_by(count) {
            list.push(changed(case, |case| _ = case.program.drain(from..from + count)));
        }
        count /= 2;
    }
    if case.program.len() == 1 {
        list.push(changed(case, |case| case.program.clear()));
    }
}
