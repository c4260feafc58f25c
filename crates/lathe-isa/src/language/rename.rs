//! Renaming in meanings: what registers mean after a prefix.

use std::collections::BTreeMap;

use super::ast::*;

/// New names, keyed by the old ones.
pub(crate) type Renames = BTreeMap<String, String>;

/// Returns a block with other names. Locals are renamed as well, where they are declared and where they are used.
pub(crate) fn renamed(block: &Block, renames: &Renames) -> Block {
    let mut block = block.clone();
    if !renames.is_empty() {
        Renamer(renames).block(&mut block);
    }
    block
}

struct Renamer<'r>(&'r Renames);

impl Renamer<'_> {
    fn text(&self, text: &mut String) {
        if let Some(new) = self.0.get(text.as_str()) {
            text.clone_from(new);
        }
    }

    fn block(&self, block: &mut Block) {
        block.statements.iter_mut().for_each(|statement| self.statement(statement));
        block.value.iter_mut().for_each(|value| self.expr(value));
    }

    fn statement(&self, statement: &mut Statement) {
        match statement {
            Statement::Let(name, _, value) => {
                self.text(&mut name.text);
                self.expr(value);
            }
            Statement::Assign(target, value) => {
                self.expr(target);
                self.expr(value);
            }
            Statement::If(condition, then, otherwise) => {
                self.expr(condition);
                self.block(then);
                otherwise.iter_mut().for_each(|block| self.block(block));
            }
            Statement::For(repetition) => {
                repetition.index.iter_mut().for_each(|name| self.text(&mut name.text));
                self.text(&mut repetition.name.text);
                for item in &mut repetition.items {
                    if let ForItem::Value(value) = item {
                        self.expr(value);
                    }
                }
                self.block(&mut repetition.body);
            }
            Statement::Call(value) | Statement::Cycles(value) => self.expr(value),
            Statement::Fault(_, _, detail) => detail.iter_mut().for_each(|value| self.expr(value)),
            Statement::Skip(_) | Statement::Halt(_) => {}
        }
    }

    fn expr(&self, expr: &mut Expr) {
        match &mut expr.kind {
            ExprKind::Name(name) => self.text(name),
            ExprKind::Call(_, arguments) | ExprKind::Method(_, _, arguments) => {
                arguments.iter_mut().for_each(|argument| self.expr(argument));
            }
            ExprKind::Index(base, index) => {
                self.expr(base);
                self.expr(index);
            }
            ExprKind::Wide(_, _, inner) | ExprKind::Unary(_, inner) => self.expr(inner),
            ExprKind::Slice(base, high, low) | ExprKind::Choice(base, high, low) => {
                [base, high, low].into_iter().for_each(|part| self.expr(part));
            }
            ExprKind::Binary(_, left, right) => {
                self.expr(left);
                self.expr(right);
            }
            ExprKind::Number(_) | ExprKind::Sized(..) | ExprKind::Word(..) | ExprKind::Broken => {}
        }
    }
}
