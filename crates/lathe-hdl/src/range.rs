//! The range of values that an expression can have, as far as its form tells: enough to see that a stack in one page
//! never reaches a mapped address in another.

use lathe_isa::operators::BinaryOperator;
use lathe_isa::semantics::{Block, Body, Expr, ExprKind, Statement};

/// The smallest and the largest value, both included.
pub(crate) type Range = (u64, u64);

/// The ranges of a body's locals.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges {
    locals: Vec<Range>,
}

impl Ranges {
    /// Returns the ranges of a body's locals. A local that is assigned more than once, or by an access, can be
    /// anything.
    pub(crate) fn of(body: &Body) -> Ranges {
        let mut assigned = vec![0; body.locals.len()];
        for statement in &body.block {
            statement.visit(&mut |statement| {
                if let Statement::Let(local, _)
                | Statement::Load { into: local, .. }
                | Statement::DeviceRead { into: local, .. } = statement
                {
                    assigned[usize::from(local.0)] += 1;
                }
            });
        }
        let mut ranges = Ranges { locals: body.locals.iter().map(|width| (0, width.mask())).collect() };
        ranges.block(&body.block, &assigned);
        ranges
    }

    fn block(&mut self, block: &Block, assigned: &[u32]) {
        for statement in block {
            match statement {
                Statement::Let(local, value) if assigned[usize::from(local.0)] == 1 => {
                    self.locals[usize::from(local.0)] = self.expression(value);
                }
                Statement::If { then, otherwise, .. } => {
                    self.block(then, assigned);
                    self.block(otherwise, assigned);
                }
                _ => {}
            }
        }
    }

    /// Returns the range of an expression.
    pub(crate) fn expression(&self, expr: &Expr) -> Range {
        let whole = (0, expr.width.mask());
        match &expr.kind {
            ExprKind::Constant(value) => (*value, *value),
            ExprKind::Local(local) => self.locals.get(usize::from(local.0)).copied().unwrap_or(whole),
            ExprKind::ZeroExtend(x) => self.expression(x),
            ExprKind::Join(high, low) => {
                let ((first, last), (least, most)) = (self.expression(high), self.expression(low));
                let shift = low.width.bits();
                (first << shift | least, last << shift | most)
            }
            ExprKind::Choose(_, x, y) => {
                let (x, y) = (self.expression(x), self.expression(y));
                (x.0.min(y.0), x.1.max(y.1))
            }
            ExprKind::Binary(BinaryOperator::Add, x, y) => {
                let (x, y) = (self.expression(x), self.expression(y));
                match x.1.checked_add(y.1).filter(|sum| *sum <= expr.width.mask()) {
                    Some(most) => (x.0 + y.0, most),
                    None => whole,
                }
            }
            ExprKind::Binary(BinaryOperator::And, x, y) => (0, self.expression(x).1.min(self.expression(y).1)),
            _ => whole,
        }
    }
}
