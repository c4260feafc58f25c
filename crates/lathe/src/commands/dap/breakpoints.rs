//! Breakpoints as editors set them: each request replaces all in one source, or all on labels, addresses, data or
//! events.

use lathe_debug::{Answer, Effect, What, execute};
use serde_json::{Value, json};

use super::target::{Launched, Owner};

impl Launched {
    pub(super) fn set_source_breakpoints(&mut self, arguments: &Value) -> Result<Value, String> {
        let wanted = list(&arguments["breakpoints"]);
        let Some(source) = self.source_named(&arguments["source"]) else {
            let unknown = json!({ "verified": false, "message": "this file is not part of the program" });
            return Ok(json!({ "breakpoints": vec![unknown; wanted.len()] }));
        };
        self.replace(Owner::Source(source), wanted, |target, wanted| {
            let line = wanted["line"].as_u64().ok_or("`line` is missing")? as usize;
            let program = target.debugger.program();
            let (line, stops) = program.stops_of_line(source, line).map_err(|problem| problem.to_string())?;
            let text = format!("{}:{line}", program.sources()[source].name);
            let id = target.add(&text, What::At(stops), wanted)?;
            Ok((id, json!({ "line": line, "source": target.source(source) })))
        })
    }

    pub(super) fn set_function_breakpoints(&mut self, arguments: &Value) -> Result<Value, String> {
        self.replace(Owner::Functions, list(&arguments["breakpoints"]), |target, wanted| {
            let name = wanted["name"].as_str().ok_or("`name` is missing")?;
            let stops = target.debugger.program().find(name).map_err(|problem| problem.to_string())?;
            let place = target.debugger.program().source_line(stops[0]);
            let (source, line) = target.place(place.as_ref());
            let id = target.add(name, What::At(stops), wanted)?;
            Ok((id, json!({ "source": source, "line": line })))
        })
    }

    pub(super) fn set_instruction_breakpoints(&mut self, arguments: &Value) -> Result<Value, String> {
        self.replace(Owner::Instructions, list(&arguments["breakpoints"]), |target, wanted| {
            let reference = wanted["instructionReference"].as_str().ok_or("`instructionReference` is missing")?;
            let address =
                crate::arguments::number(reference)?.wrapping_add_signed(wanted["offset"].as_i64().unwrap_or(0));
            let address = target.debugger.program().isa().pc.width.wrap(address);
            let id = target.add(&format!("{address:#x}"), What::At(vec![address]), wanted)?;
            Ok((id, json!({ "instructionReference": format!("{address:#x}") })))
        })
    }

    pub(super) fn set_data_breakpoints(&mut self, arguments: &Value) -> Result<Value, String> {
        self.replace(Owner::Data, list(&arguments["breakpoints"]), |target, wanted| {
            let data = wanted["dataId"].as_str().ok_or("`dataId` is missing")?;
            let kind = match wanted["accessType"].as_str() {
                _ if !data.contains('[') => "",
                Some("read") => "reads ",
                Some("readWrite") => "accesses ",
                _ => "writes ",
            };
            let condition = wanted["condition"].as_str().filter(|text| !text.is_empty());
            let condition = condition.map(|text| format!(" if {text}")).unwrap_or_default();
            target.command(&format!("watch {kind}{data}{condition}"))
        })
    }

    pub(super) fn set_exception_breakpoints(&mut self, arguments: &Value) -> Result<Value, String> {
        self.replace(Owner::Exceptions, list(&arguments["filters"]), |target, wanted| {
            target.command(&format!("break on {}", wanted.as_str().unwrap_or_default()))
        })
    }

    /// Returns what a data breakpoint would watch: a register by its name, or cells of a memory.
    pub(super) fn data_info(&mut self, arguments: &Value) -> Result<Value, String> {
        let name = arguments["name"].as_str().ok_or("`name` is missing")?;
        let isa = self.debugger.program().isa().clone();
        let reference = arguments["variablesReference"].as_u64().unwrap_or(0);
        let memory = super::session::memory_of(reference).and_then(|at| isa.memories.get(at));
        let data = match memory {
            Some(memory) => format!("{}[{name}]", memory.name),
            None => name.to_owned(),
        };
        if self.debugger.evaluate(&data).is_err() {
            return Ok(json!({ "dataId": null, "description": format!("`{data}` cannot be watched") }));
        }
        let is_cell = data.contains('[');
        let kinds: &[&str] = if is_cell { &["read", "write", "readWrite"] } else { &["write"] };
        let note = if is_cell { "" } else { " (looks at every instruction)" };
        Ok(json!({ "dataId": data, "description": format!("{data}{note}"), "accessTypes": kinds, "canPersist": true }))
    }

    fn command(&mut self, line: &str) -> Result<(u32, Value), String> {
        match execute(&mut self.debugger, line, &mut ()) {
            Ok(Answer::Breakpoint(line)) => Ok((line.id, json!({}))),
            Ok(_) => Err("this sets no breakpoint".to_owned()),
            Err(problem) => Err(problem.to_string()),
        }
    }

    /// Adds a breakpoint with the condition, the hit count and the log message that the client wants.
    fn add(&mut self, text: &str, what: What, wanted: &Value) -> Result<u32, String> {
        let given = |key: &str| wanted[key].as_str().filter(|text| !text.trim().is_empty());
        let effect = given("logMessage").map_or(Effect::Stop, |text| Effect::Log(text.to_owned()));
        let passes = match given("hitCondition") {
            Some(text) => {
                let digits = text.trim_start_matches(['>', '=', ' ']);
                digits.parse::<u64>().map_err(|_| format!("`{text}` is not a number of hits, such as 3"))?
            }
            None => 1,
        };
        let id = self.debugger.add(text, what, given("condition"), effect).map_err(|problem| problem.to_string())?;
        if let Some(breakpoint) = self.debugger.breakpoints.get_mut(id) {
            breakpoint.ignore = passes.saturating_sub(1);
        }
        Ok(id)
    }

    /// Replaces the breakpoints that the last request of the same kind set.
    fn replace(
        &mut self,
        owner: Owner,
        wanted: &[Value],
        set: impl Fn(&mut Launched, &Value) -> Result<(u32, Value), String>,
    ) -> Result<Value, String> {
        for id in self.set.remove(&owner).unwrap_or_default() {
            self.debugger.breakpoints.remove(id);
        }
        let mut answers = Vec::new();
        for one in wanted {
            answers.push(match set(self, one) {
                Ok((id, mut answer)) => {
                    self.set.entry(owner).or_default().push(id);
                    answer["id"] = json!(id);
                    answer["verified"] = json!(true);
                    answer
                }
                Err(message) => json!({ "verified": false, "message": message }),
            });
        }
        Ok(json!({ "breakpoints": answers }))
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
