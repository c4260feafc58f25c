//! What people write: pseudo-instructions, whose expansions must exist, and other habits.

use std::collections::BTreeMap;

use lathe_base::{Diagnostic, Diagnostics, Span, Width, limits};

use super::Declarations;
use super::constants::constant_in;
use super::rows::{ByShape, combinations, member, same_syntax, told_apart};
use super::source_line::{Heads, forms, no_form};
use super::syntaxes::{self, Inline, Operand};
use crate::codes;
use crate::language::ast::{self, Binary, Column, Expr, ExprKind, Habit, Item, Name};
use crate::matching::Found;
use crate::model::{Assembly, BareLabels, Chosen, Field, Instruction, Section};
use crate::pseudo::{Argument, Arithmetic, Pseudo, Template};

pub(crate) fn pseudos(
    declarations: &Declarations,
    definition: &ast::Definition,
    heads: &Heads,
    diagnostics: &mut Diagnostics,
) -> Vec<Pseudo> {
    let blocks = definition
        .items
        .iter()
        .filter_map(|item| if let Item::Pseudos(table) = item { Some(&table.rows) } else { None });
    let mut pseudos: Vec<Pseudo> = Vec::new();
    let mut names = 0;
    for (count, row) in blocks.flatten().enumerate() {
        if count >= limits::ROWS || names > limits::FIELD_NAMES {
            let message = format!("a definition has at most {} pseudo-instructions", limits::ROWS);
            diagnostics.push(
                Diagnostic::new(codes::TOO_MANY, row.syntax.span, message).help("use macros in the assembly instead"),
            );
            break;
        }
        let spread = spread(declarations, row, heads, diagnostics).unwrap_or_default();
        names += spread.iter().flat_map(|pseudo| &pseudo.parameters).map(|field| field.names().count()).sum::<usize>();
        pseudos.extend(spread);
    }
    pseudos
}

/// Checks that no pseudo-instruction is written like an instruction or like another one.
pub(crate) fn check_syntax(
    declarations: &Declarations,
    pseudos: &[Pseudo],
    instructions: &ByShape,
    diagnostics: &mut Diagnostics,
) {
    let mut before: BTreeMap<String, Vec<(Span, Vec<&Field>)>> = BTreeMap::new();
    for pseudo in pseudos {
        let fields: Vec<&Field> = pseudo.parameters.iter().collect();
        for key in pseudo.syntax.shapes() {
            let of = |instruction: &Instruction| -> Vec<&Field> {
                instruction.operands.iter().map(|id| &declarations.fields[id.index()]).collect()
            };
            let mut alike = instructions.get(&key).into_iter().flatten();
            let same = alike.find(|one| !told_apart(&of(one), &fields)).map(|one| one.span);
            let group = before.entry(key).or_default();
            let same = same.or_else(|| Some(group.iter().find(|(_, known)| !told_apart(known, &fields))?.0));
            diagnostics.extend(same.map(|other| same_syntax(&pseudo.syntax, pseudo.span, other)));
            group.push((pseudo.span, fields.clone()));
        }
    }
}

/// Makes the pseudo-instructions of a row: one for each choice of members from its families.
fn spread(
    declarations: &Declarations,
    row: &ast::Pseudo,
    heads: &Heads,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<Pseudo>> {
    let written = syntaxes::read(declarations, &row.syntax, Inline::Allowed, diagnostics)?;
    let mut parameters = Vec::new();
    for operand in written.operands() {
        parameters.push(parameter(declarations, operand, diagnostics)?);
    }
    let mut pseudos = Vec::new();
    for chosen in combinations(declarations, &written.families()) {
        let syntax = written.syntax(|family| member(declarations, &chosen, family));
        let named = |Chosen { family, .. }: &Chosen| {
            (declarations.families[*family].tree.name.text.clone(), member(declarations, &chosen, *family))
        };
        let members: Vec<(String, String)> = chosen.iter().map(named).collect();
        let mut expansion = Vec::new();
        for column in &row.expansion {
            expansion.push(template(declarations, column, &parameters, &members, heads, diagnostics)?);
        }
        pseudos.push(Pseudo { syntax, parameters: parameters.clone(), expansion, span: row.syntax.span });
    }
    Some(pseudos)
}

/// Elaborates the habits of the people who write programs.
pub(crate) fn assembly(
    declarations: &Declarations,
    definition: &ast::Definition,
    diagnostics: &mut Diagnostics,
) -> Assembly {
    let mut assembly = Assembly::default();
    let blocks = definition
        .items
        .iter()
        .filter_map(|item| if let Item::Assembly(table) = item { Some(&table.rows) } else { None });
    for row in blocks.flatten() {
        match &row.habit {
            Habit::Function { name, parameter, value } => {
                let named = |name: &str| (name == parameter.text).then_some(0);
                match arithmetic(value, &named) {
                    Ok(value) => assembly.functions.push((name.text.clone(), value)),
                    Err(diagnostic) => diagnostics.push(*diagnostic),
                }
            }
            Habit::Unary { name, parameter, value } => {
                let named = |name: &str| (name == parameter.text).then_some(0);
                match arithmetic(value, &named) {
                    Ok(value) => assembly.unary.push((name.text.clone(), value)),
                    Err(diagnostic) => diagnostics.push(*diagnostic),
                }
            }
            Habit::Operator { written, means } => {
                if !Binary::is_written(&means.text) {
                    let message = format!("expressions have no operator `{}`", means.text);
                    let help = "write one that they have, as in `operator \"<>\" = \"!=\"`";
                    diagnostics.push(Diagnostic::new(codes::BAD_SYNTAX, means.span, message).help(help));
                }
                assembly.operators.push((written.text.clone(), means.text.clone()));
            }
            Habit::Section { names, memory, address } => {
                let Some(memory) = declarations.memory_of(memory, diagnostics) else { continue };
                let width = declarations.memories[memory.index()].address;
                let Some(address) = constant_in(width, address, &declarations.names, diagnostics) else { continue };
                let section = |name: &Name| Section { name: name.text.clone(), memory, address };
                assembly.sections.extend(names.iter().map(section));
            }
            Habit::Local(mark) => assembly.locals.extend(one_mark(mark, diagnostics)),
            Habit::Here(mark) => assembly.heres.extend(one_mark(mark, diagnostics)),
            Habit::Directives { names, means } => {
                let means = means.as_ref().map(|means| means.text.to_ascii_lowercase());
                assembly.directives.extend(names.iter().map(|name| (name.text.to_ascii_lowercase(), means.clone())));
            }
            Habit::Prefix { text, base } => {
                let value = constant_in(Width::MAX, base, &declarations.names, diagnostics);
                match value {
                    Some(value @ 2..=36) => {
                        assembly.prefixes.push((text.text.to_ascii_lowercase(), value as u32));
                    }
                    Some(_) => {
                        let message = "numbers cannot have this base";
                        let help = "use a base from 2 to 36, as in `prefix \"x\" = 16`";
                        diagnostics.push(Diagnostic::new(codes::BAD_SYNTAX, base.span, message).help(help));
                    }
                    None => {}
                }
            }
            Habit::Comment(text) => assembly.comments.push(text.text.clone()),
            Habit::Separator(text) => assembly.separators.push(text.text.clone()),
            Habit::BareLabels { in_first_column: true } => assembly.bare_labels = BareLabels::InFirstColumn,
            Habit::BareLabels { in_first_column: false } => assembly.bare_labels = BareLabels::Anywhere,
            Habit::BareDirectives => assembly.bare_directives = true,
            Habit::CaselessLabels => assembly.caseless_labels = true,
            Habit::OctalNumbers => assembly.octal_numbers = true,
        }
    }
    assembly
}

/// Returns the mark if a text is a single one, or reports it.
fn one_mark(text: &Name, diagnostics: &mut Diagnostics) -> Option<char> {
    let mut chars = text.text.chars();
    let mark = chars.next().filter(|mark| chars.next().is_none() && mark.is_ascii_punctuation() && *mark != '_');
    if mark.is_none() {
        let message = format!("`{}` is not one mark", text.text);
        let help = "write a mark that means nothing else, as in `local \"@\"`";
        diagnostics.push(Diagnostic::new(codes::BAD_SYNTAX, text.span, message).help(help));
    }
    mark
}

fn parameter(declarations: &Declarations, operand: &Operand, diagnostics: &mut Diagnostics) -> Option<Field> {
    match operand {
        Operand::Field(id) => Some(declarations.fields[id.index()].clone()),
        Operand::Inline(name, number) => {
            let (width, order, domain) = declarations.number_field(number, diagnostics)?;
            let spellings = declarations.number_names(number, width, diagnostics)?;
            let (name, span) = (name.text.clone(), name.span);
            Some(Field { name, width, order, domain, spellings, words: Vec::new(), documentation: String::new(), span })
        }
    }
}

fn template(
    declarations: &Declarations,
    column: &Column,
    parameters: &[Field],
    members: &[(String, String)],
    heads: &Heads,
    diagnostics: &mut Diagnostics,
) -> Option<Template> {
    let is_named = |field: &&Field| !field.is_number();
    let stand_ins: Vec<String> = parameters.iter().filter(is_named).map(|field| field.name.clone()).collect();
    let (mut found, mut partial) = (Vec::new(), Vec::new());
    let mut problem = None;
    for (id, operands) in forms(declarations, column, heads, &stand_ins, members) {
        let fields = heads.instructions[id.index()].operands.iter().map(|field| &declarations.fields[field.index()]);
        let lost = operands.iter().zip(fields.clone()).find_map(|(operand, field)| lost(operand, parameters, field));
        let arguments = operands.iter().zip(fields).map(|(operand, field)| argument(operand, parameters, field));
        match arguments.collect::<Result<Vec<_>, Box<Diagnostic>>>() {
            Ok(arguments) if lost.is_none() => found.push((id, arguments)),
            Ok(arguments) => {
                partial.push((id, arguments));
                problem = lost;
            }
            Err(diagnostic) => problem = Some(*diagnostic),
        }
    }
    if found.is_empty() {
        diagnostics.extend(problem.or_else(|| no_form(codes::BAD_EXPANSION, declarations, column, heads.instructions)));
        return None;
    }
    // Instructions that do not take all registers may still be shorter.
    found.extend(partial);
    Some(Template { text: column.text.clone(), forms: found })
}

fn argument(operand: &Found<Expr>, parameters: &[Field], field: &Field) -> Result<Argument, Box<Diagnostic>> {
    let expr = match operand {
        Found::Bits(bits) => return Ok(Argument::Bits(*bits)),
        Found::Value(expr) => expr,
    };
    if field.is_number() {
        let named = |name: &str| parameters.iter().position(|parameter| parameter.name == *name);
        return arithmetic(expr, &named).map(Argument::Value);
    }
    let ExprKind::Name(name) = &expr.kind else { return Err(not_arithmetic(expr)) };
    let at = parameters.iter().position(|parameter| parameter.name == *name).ok_or_else(|| not_arithmetic(expr))?;
    Ok(Argument::Parameter(at))
}

/// Reports a register that a parameter can be but the instruction's field cannot.
fn lost(operand: &Found<Expr>, parameters: &[Field], field: &Field) -> Option<Diagnostic> {
    let Found::Value(expr) = operand else { return None };
    let ExprKind::Name(name) = &expr.kind else { return None };
    let parameter = parameters.iter().find(|one| one.name == *name)?;
    // Nearly always it is the same field, and comparing the fields is much quicker than comparing their names.
    if parameter == field {
        return None;
    }
    let lost = parameter.names().find(|name| field.bits_named(name).is_none() && !field.is_number())?;
    let message = format!("`{name}` can be `{lost}`, which this instruction does not take");
    let help = "use a field with only the registers that this instruction takes";
    Some(Diagnostic::new(codes::BAD_EXPANSION, expr.span, message).help(help))
}

fn not_arithmetic(expr: &Expr) -> Box<Diagnostic> {
    let message = "this cannot be computed when a program is assembled";
    let help = "use numbers, operands, their bits as in `N[7:4]`, and arithmetic";
    Box::new(Diagnostic::new(codes::BAD_EXPANSION, expr.span, message).help(help))
}

/// Reads arithmetic on the parameters that `named` knows.
fn arithmetic(expr: &Expr, named: &dyn Fn(&str) -> Option<usize>) -> Result<Arithmetic, Box<Diagnostic>> {
    let inner = |expr: &Expr| arithmetic(expr, named).map(Box::new);
    let bit = |expr: &Expr| match expr.kind {
        ExprKind::Number(bit) if bit < 128 => Ok(bit as u32),
        _ => Err(not_arithmetic(expr)),
    };
    match &expr.kind {
        ExprKind::Number(value) => Ok(Arithmetic::Number(i128::from(*value))),
        ExprKind::Name(name) => named(name).map(Arithmetic::Parameter).ok_or_else(|| not_arithmetic(expr)),
        ExprKind::Slice(value, high, low) if bit(high)? >= bit(low)? => {
            Ok(Arithmetic::Slice(inner(value)?, bit(high)?, bit(low)?))
        }
        ExprKind::Index(value, at) => Ok(Arithmetic::Slice(inner(value)?, bit(at)?, bit(at)?)),
        ExprKind::Unary(operator, value) => Ok(Arithmetic::Unary(*operator, inner(value)?)),
        ExprKind::Binary(operator, left, right) if *operator != ast::Binary::Join => {
            Ok(Arithmetic::Binary(*operator, inner(left)?, inner(right)?))
        }
        _ => Err(not_arithmetic(expr)),
    }
}
