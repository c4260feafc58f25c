//! Makes meanings smaller without changing them: a local that is read once, by the next statement that does anything,
//! is replaced by its expression. Inlined functions leave many of these behind.

use crate::semantics::{Block, Body, Expr, ExprKind, LocalId, Statement};

/// How deep an expression may become by substitution. What was written is no deeper than
/// [`limits::MEANING_DEPTH`](lathe_base::limits::MEANING_DEPTH); a chain of `let` would become as deep as it is long.
const DEPTH: u32 = 64;

/// Rewrites a body to use fewer locals.
pub(crate) fn simplify(mut body: Body) -> Body {
    let mut uses = Uses { reads: vec![0; body.locals.len()], writes: vec![0; body.locals.len()] };
    body.block.iter().for_each(|statement| statement.visit(&mut |statement| uses.statement(statement)));
    body.value.iter().for_each(|value| uses.expression(value));
    body.block = block(std::mem::take(&mut body.block), &uses);
    body
}

/// How often each local is read and written.
struct Uses {
    reads: Vec<u32>,
    writes: Vec<u32>,
}

impl Uses {
    fn statement(&mut self, statement: &Statement) {
        statement.expressions().for_each(|expr| self.expression(expr));
        match statement {
            Statement::Let(local, _)
            | Statement::Load { into: local, .. }
            | Statement::DeviceRead { into: local, .. } => self.writes[usize::from(local.0)] += 1,
            _ => {}
        }
    }

    fn expression(&mut self, expr: &Expr) {
        expr.visit(&mut |part| {
            if let ExprKind::Local(local) = part.kind {
                self.reads[usize::from(local.0)] += 1;
            }
        });
    }

    fn once(&self, local: LocalId) -> bool {
        let at = usize::from(local.0);
        self.reads[at] == 1 && self.writes[at] == 1
    }
}

fn block(statements: Block, uses: &Uses) -> Block {
    let mut result = Vec::with_capacity(statements.len());
    // Locals whose expression waits for its only reader, oldest first.
    let mut waiting: Vec<Waiting> = Vec::new();
    for mut statement in statements {
        statement.expressions_mut().into_iter().for_each(|expr| substitute(expr, 0, &mut waiting));
        match statement {
            Statement::Let(local, value) if uses.once(local) => {
                waiting.push(Waiting { local, depth: value.depth(), value });
            }
            // Waiting expressions may read a local that is assigned again.
            Statement::Let(..) if waiting.is_empty() => result.push(statement),
            mut other => {
                // The statement may change what the waiting expressions read, so they come before it.
                result.extend(waiting.drain(..).map(Waiting::into_statement));
                if let Statement::If { then, otherwise, .. } = &mut other {
                    *then = block(std::mem::take(then), uses);
                    *otherwise = block(std::mem::take(otherwise), uses);
                }
                result.push(other);
            }
        }
    }
    result.extend(waiting.into_iter().map(Waiting::into_statement));
    result
}

/// An expression that waits for the only reader of its local.
struct Waiting {
    local: LocalId,
    value: Expr,
    depth: u32,
}

impl Waiting {
    fn into_statement(self) -> Statement {
        Statement::Let(self.local, self.value)
    }
}

/// Replaces locals with their waiting expressions, in an expression that is `inside` levels deep.
fn substitute(expr: &mut Expr, inside: u32, waiting: &mut Vec<Waiting>) {
    if waiting.is_empty() {
        return;
    }
    if let ExprKind::Local(local) = expr.kind {
        let is_it = |one: &Waiting| one.local == local && one.depth + inside <= DEPTH;
        if let Some(at) = waiting.iter().position(is_it) {
            *expr = waiting.remove(at).value;
        }
        return;
    }
    expr.parts_mut().into_iter().for_each(|part| substitute(part, inside + 1, waiting));
}

#[cfg(test)]
mod tests {
    use lathe_base::Width;

    use super::*;
    use crate::model::RegisterId;
    use crate::operators::BinaryOperator;

    fn byte() -> Width {
        Width::new(8).unwrap()
    }

    fn register(id: u32) -> Expr {
        Expr { width: byte(), kind: ExprKind::Register(RegisterId(id)) }
    }

    fn local(id: u16) -> Expr {
        Expr::local(byte(), LocalId(id))
    }

    fn sum(x: Expr, y: Expr) -> Expr {
        Expr::binary(BinaryOperator::Add, x, y)
    }

    fn simplified(block: Block) -> Block {
        simplify(Body { locals: vec![byte(); 4], block, value: None }).block
    }

    #[test]
    fn arguments_of_a_call_disappear() {
        let before = vec![
            Statement::Let(LocalId(0), register(1)),
            Statement::Let(LocalId(1), register(2)),
            Statement::SetRegister(RegisterId(3), sum(local(0), local(1))),
        ];
        assert_eq!(simplified(before), [Statement::SetRegister(RegisterId(3), sum(register(1), register(2)))]);
    }

    #[test]
    fn what_is_written_in_between_is_read_before() {
        let before = vec![
            Statement::Let(LocalId(0), register(1)),
            Statement::SetRegister(RegisterId(1), register(2)),
            Statement::SetRegister(RegisterId(2), local(0)),
        ];
        assert_eq!(simplified(before.clone()), before);
    }

    #[test]
    fn what_is_read_twice_or_assigned_again_stays() {
        let twice = vec![
            Statement::Let(LocalId(0), register(1)),
            Statement::SetRegister(RegisterId(1), sum(local(0), local(0))),
        ];
        assert_eq!(simplified(twice.clone()), twice);
        let again = vec![
            Statement::Let(LocalId(0), register(1)),
            Statement::Let(LocalId(1), local(0)),
            Statement::Let(LocalId(0), register(2)),
            Statement::SetRegister(RegisterId(3), sum(local(0), local(1))),
        ];
        assert_eq!(simplified(again.clone()), again);
    }
}
