//! `cycles` as a value: how many cycles the instruction has taken, for `after each`.
//!
//! It is a local that starts with the cycles of the row and counts along with every `cycles + …`. So a definition can
//! keep the time in a register, and no engine needs to know.

use lathe_base::Width;

use super::{Binding, Lowerer, Value};
use crate::language::ast;
use crate::operators::BinaryOperator;
use crate::semantics::{Block, Expr, ExprKind, LocalId, Statement};

impl Lowerer<'_, '_> {
    /// Lowers what is done after an instruction whose row gives this many cycles.
    pub(super) fn block_after(&mut self, block: &ast::Block, cycles: u64) -> Option<()> {
        let (width, names) = (Width::TWO_BYTES, self.scope.len());
        let taken = self.local(width);
        let value = Value::unsigned(Expr::local(width, taken));
        self.scope.push(("cycles".to_owned(), Binding::Value(value)));
        let from = self.emitted();
        let done = self.block_of_all(block);
        self.scope.truncate(names);
        if let Some(block) = self.blocks.last_mut()
            && block[from..].iter().any(|statement| reads(statement, taken))
        {
            count(block, taken, width);
            block.insert(0, Statement::Let(taken, Expr::constant(width, cycles)));
        }
        done
    }
}

fn reads(statement: &Statement, local: LocalId) -> bool {
    let mut found = false;
    statement.visit(&mut |statement| {
        let mut see = |part: &Expr| found |= part.kind == ExprKind::Local(local);
        statement.expressions().for_each(|expr| expr.visit(&mut see));
    });
    found
}

/// Makes the statements of a block count their cycles in a local as well.
fn count(block: &mut Block, taken: LocalId, width: Width) {
    for mut statement in std::mem::take(block) {
        if let Statement::If { then, otherwise, .. } = &mut statement {
            [then, otherwise].into_iter().for_each(|block| count(block, taken, width));
        }
        let more = match &statement {
            Statement::Cycles(more) => Some(Expr::slice(more.clone(), 0, width)),
            _ => None,
        };
        block.push(statement);
        let sum = |more| Expr::binary(BinaryOperator::Add, Expr::local(width, taken), more);
        block.extend(more.map(|more| Statement::Let(taken, sum(more))));
    }
}
