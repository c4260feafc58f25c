//! Reading files of single-step test vectors.
//!
//! A file is read test by test and each test is passed on at once, so that large files need no more memory than their
//! text. Names are looked up while reading: tests refer to registers and memories of one machine, and all values are in
//! range.

use std::collections::HashMap;
use std::fmt;

use lathe_base::{Width, nearest};
use lathe_isa::Isa;
use lathe_isa::model::{Device, DeviceId, DeviceKind, MemoryId, Place, Status};
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// One test.
#[derive(Debug, Default)]
pub(crate) struct Vector {
    /// Its name in the file; may be empty.
    pub(crate) name: String,
    /// Its position in the file, from 1.
    pub(crate) number: usize,
    /// The state before.
    pub(crate) before: Setting,
    /// The state required after.
    pub(crate) after: Setting,
    /// Console input.
    pub(crate) input: Vec<u8>,
    /// Required console output.
    pub(crate) output: Option<Vec<u8>>,
    /// How the step must end.
    pub(crate) status: Option<Status>,
    /// How many cycles it must take.
    pub(crate) cycles: Option<u64>,
    /// Bus reads to answer and bus writes to expect, in order.
    pub(crate) transfers: Vec<(DeviceId, Transfer)>,
}

/// One access to a bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Transfer {
    pub(crate) address: u64,
    pub(crate) value: u64,
    pub(crate) direction: Direction,
}

/// The direction of a bus transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Read,
    Write,
}

impl Vector {
    /// Returns the test's name or its number.
    pub(crate) fn title(&self) -> String {
        if self.name.is_empty() { format!("number {}", self.number) } else { format!("`{}`", self.name) }
    }
}

/// A part of a state.
#[derive(Debug, Default)]
pub(crate) struct Setting {
    /// Registers, views and the program counter, with their values.
    pub(crate) values: Vec<(NameId, u64)>,
    /// Cells, with their values.
    pub(crate) cells: Vec<(MemoryId, u64, u64)>,
}

impl Setting {
    fn clear(&mut self) {
        self.values.clear();
        self.cells.clear();
    }
}

/// An index into [`Names`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NameId(usize);

/// The names that vectors for one machine may use.
#[derive(Debug)]
pub(crate) struct Names {
    list: Vec<Named>,
    index: HashMap<String, Option<NameId>>,
    cells: Vec<(Width, Width)>,
    has_console: bool,
    buses: Vec<(String, DeviceId, Width, Width)>,
}

/// A name and what it stands for.
#[derive(Debug)]
pub(crate) struct Named {
    /// The name.
    pub(crate) name: String,
    /// What it stands for.
    pub(crate) meaning: Meaning,
    /// Whether to leave it out when states are compared.
    pub(crate) ignored: bool,
}

/// What a name stands for.
#[derive(Debug)]
pub(crate) enum Meaning {
    /// The program counter.
    Pc(Width),
    /// A register or view.
    Place(Place),
    /// A memory.
    Memory(MemoryId),
}

impl Names {
    /// Collects the names of a machine, and those to ignore.
    pub(crate) fn new(isa: &Isa, ignored: &[String]) -> Names {
        let pc = (&isa.pc.name, Meaning::Pc(isa.pc.width));
        let memories = isa.memories.iter().zip(0..).map(|(memory, id)| (&memory.name, Meaning::Memory(MemoryId(id))));
        let places = isa.registers.iter().map(|register| &register.name).chain(isa.views.iter().map(|view| &view.name));
        let places = places.filter_map(|name| isa.place_named(name).map(|place| (name, Meaning::Place(place))));
        let all = std::iter::once(pc).chain(memories).chain(places);
        let list: Vec<Named> = all.map(|(name, meaning)| Named::new(name, meaning, ignored)).collect();
        let mut index: HashMap<String, Option<NameId>> = ignored.iter().map(|name| (name.clone(), None)).collect();
        index.extend(list.iter().enumerate().map(|(at, named)| (named.name.clone(), Some(NameId(at)))));
        let cells = isa.memories.iter().map(|memory| (memory.address, memory.cell)).collect();
        let has_console = isa.devices.iter().any(|device| device.kind == DeviceKind::Stream);
        let bus = |(device, id): (&Device, u32)| match device.kind {
            DeviceKind::Bus { address, value } => Some((device.name.clone(), DeviceId(id), address, value)),
            _ => None,
        };
        let buses = isa.devices.iter().zip(0..).filter_map(bus).collect();
        Names { list, index, cells, has_console, buses }
    }

    /// Returns the name with what it stands for.
    pub(crate) fn get(&self, id: NameId) -> &Named {
        &self.list[id.0]
    }

    /// Whether to leave the memory out when states are compared.
    pub(crate) fn ignores(&self, memory: MemoryId) -> bool {
        self.list.iter().any(|named| named.ignored && matches!(named.meaning, Meaning::Memory(id) if id == memory))
    }

    /// Looks a name up; `None` for an ignored one.
    fn find(&self, name: &str) -> Result<Option<NameId>, String> {
        self.index.get(name).copied().ok_or_else(|| {
            let near = nearest(name, self.list.iter().map(|named| named.name.as_str()));
            let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
            format!("the machine has nothing with the name `{name}`; {near}--ignore {name} passes over it")
        })
    }
}

impl Named {
    fn new(name: &str, meaning: Meaning, ignored: &[String]) -> Named {
        Named { name: name.to_owned(), meaning, ignored: ignored.iter().any(|other| other == name) }
    }
}

/// Reads all tests of a file and passes each on. A problem comes back as text with the line and column, the test and
/// the key; `each` may report one too.
pub(crate) fn read(
    text: &[u8],
    names: &Names,
    each: &mut dyn FnMut(&Vector) -> Result<(), String>,
) -> Result<(), String> {
    let mut reader = Reader { names, vector: Vector::default(), section: "", key: String::new() };
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let read = Tests { reader: &mut reader, each }.deserialize(&mut deserializer);
    read.and_then(|()| deserializer.end()).map_err(|error| explain(&reader, &error))
}

/// Formats a JSON error: the reader's position and message, then our test and key.
fn explain(reader: &Reader, error: &serde_json::Error) -> String {
    let (line, column) = (error.line(), error.column());
    let words = error.to_string();
    let words = words.trim_end_matches(&format!(" at line {line} column {column}"));
    let test = if reader.vector.number == 0 { String::new() } else { format!("\n  in test {}", reader.vector.title()) };
    let key = if reader.key.is_empty() { String::new() } else { format!(", key `{}{}`", reader.section, reader.key) };
    format!("line {line}, column {column}: {words}{test}{key}")
}

/// What is kept while reading: the current test and key.
struct Reader<'n> {
    names: &'n Names,
    vector: Vector,
    /// The prefix of the key: `initial.` and the like, or nothing.
    section: &'static str,
    key: String,
}

impl Reader<'_> {
    /// Prepares for the next test, keeping allocations.
    fn begin(&mut self) {
        let vector = &mut self.vector;
        vector.name.clear();
        vector.number += 1;
        vector.before.clear();
        vector.after.clear();
        vector.input.clear();
        vector.transfers.clear();
        (vector.output, vector.status, vector.cycles) = (None, None, None);
        self.key.clear();
    }

    fn setting(&mut self, side: Side) -> &mut Setting {
        match side {
            Side::Before => &mut self.vector.before,
            Side::After => &mut self.vector.after,
        }
    }
}

/// The array that makes up the file.
struct Tests<'r, 'n> {
    reader: &'r mut Reader<'n>,
    each: &'r mut dyn FnMut(&Vector) -> Result<(), String>,
}

impl<'de> DeserializeSeed<'de> for Tests<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Tests<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an array of tests")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut tests: A) -> Result<(), A::Error> {
        while tests.next_element_seed(Test(&mut *self.reader))?.is_some() {
            self.reader.key.clear();
            (self.each)(&self.reader.vector).map_err(A::Error::custom)?;
        }
        Ok(())
    }
}

/// One test.
struct Test<'r, 'n>(&'r mut Reader<'n>);

/// One of the two states of a test.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    After,
}

impl<'de> DeserializeSeed<'de> for Test<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.0.begin();
        deserializer.deserialize_map(self)
    }
}

/// The keys of a test, in the order of the documentation.
const KEYS: [&str; 7] = ["name", "initial", "final", "in", "out", "status", "cycles"];

impl<'de> Visitor<'de> for Test<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a test: an object with `name`, `initial` and `final`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let reader = self.0;
        let mut seen = [false; KEYS.len()];
        while map.next_key_seed(Key(&mut reader.key))?.is_some() {
            match KEYS.iter().position(|key| *key == reader.key) {
                Some(at) if std::mem::replace(&mut seen[at], true) => {
                    return Err(A::Error::custom("this key is there twice"));
                }
                Some(_) => reader.read_value(&mut map)?,
                None if reader.names.index.get(&reader.key) == Some(&None) => drop(map.next_value::<IgnoredAny>()?),
                None if reader.names.buses.iter().any(|(name, ..)| *name == reader.key) => {
                    reader.read_transfers(&mut map)?;
                }
                None => return Err(A::Error::custom(unknown_key(&reader.key))),
            }
        }
        reader.key.clear();
        match KEYS[1..3].iter().zip(&seen[1..3]).find(|(_, seen)| !**seen) {
            Some((missing, _)) => Err(A::Error::custom(format!("the test has no `{missing}`"))),
            None => Ok(()),
        }
    }
}

fn unknown_key(key: &str) -> String {
    let near = nearest(key, KEYS).map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
    format!("a test has no such key; {near}--ignore {key} passes over it")
}

impl Reader<'_> {
    /// Reads the value of a test's key.
    fn read_value<'de, A: MapAccess<'de>>(&mut self, map: &mut A) -> Result<(), A::Error> {
        match self.key.as_str() {
            "name" => map.next_value_seed(Key(&mut self.vector.name))?,
            "initial" => map.next_value_seed(State(self, Side::Before))?,
            "final" => map.next_value_seed(State(self, Side::After))?,
            "in" => {
                self.vector.input = map.next_value()?;
                if !self.vector.input.is_empty() && !self.names.has_console {
                    return Err(A::Error::custom("the machine has no console to read from"));
                }
            }
            "out" => self.vector.output = Some(map.next_value()?),
            "status" => self.vector.status = Some(map.next_value_seed(StatusWord)?),
            _ => self.vector.cycles = Some(map.next_value_seed(Cycles)?),
        }
        Ok(())
    }
}

impl Reader<'_> {
    /// Reads the transfers of the bus that the key names.
    fn read_transfers<'de, A: MapAccess<'de>>(&mut self, map: &mut A) -> Result<(), A::Error> {
        let bus = self.names.buses.iter().find(|(name, ..)| *name == self.key);
        let Some((_, id, addresses, values)) = bus else { return Ok(()) };
        for (address, value, word) in map.next_value::<Vec<(u64, u64, String)>>()? {
            let direction = match word.as_str() {
                "r" => Direction::Read,
                "w" => Direction::Write,
                _ => return Err(A::Error::custom("a transfer is `[address, value, \"r\"]` or `[…, \"w\"]`")),
            };
            let (address, value) = (in_range(address, *addresses, "address")?, in_range(value, *values, "value")?);
            self.vector.transfers.push((*id, Transfer { address, value, direction }));
        }
        Ok(())
    }
}

/// A text read into an existing string.
struct Key<'s>(&'s mut String);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Key<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.0.clear();
        self.0.push_str(text);
        Ok(())
    }
}

/// The state before or after.
struct State<'r, 'n>(&'r mut Reader<'n>, Side);

impl<'de> DeserializeSeed<'de> for State<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for State<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object with registers and memories by name")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let State(reader, side) = self;
        let names = reader.names;
        reader.section = match side {
            Side::Before => "initial.",
            Side::After => "final.",
        };
        reader.key.clear();
        while map.next_key_seed(Key(&mut reader.key))?.is_some() {
            let Some(id) = names.find(&reader.key).map_err(A::Error::custom)? else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let setting = reader.setting(side);
            match &names.get(id).meaning {
                Meaning::Pc(width) => setting.values.push((id, value(&mut map, *width)?)),
                Meaning::Place(place) => setting.values.push((id, value(&mut map, place.width)?)),
                Meaning::Memory(memory) => {
                    let (address, cell) = names.cells[memory.index()];
                    map.next_value_seed(Cells { into: &mut setting.cells, memory: *memory, address, cell })?;
                }
            }
        }
        reader.section = "";
        Ok(())
    }
}

fn value<'de, A: MapAccess<'de>>(map: &mut A, width: Width) -> Result<u64, A::Error> {
    in_range(map.next_value::<Number>()?.0, width, "value")
}

fn in_range<E: Error>(value: u64, width: Width, what: &str) -> Result<u64, E> {
    if width.holds(value) {
        return Ok(value);
    }
    let (bits, most) = (width.bits(), width.mask());
    Err(E::custom(format!("the {what} {value} does not fit into {bits} bits; the largest is {most}")))
}

/// The cells of one memory, as pairs.
struct Cells<'r> {
    into: &'r mut Vec<(MemoryId, u64, u64)>,
    memory: MemoryId,
    address: Width,
    cell: Width,
}

impl<'de> DeserializeSeed<'de> for Cells<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Cells<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an array of [address, value] pairs")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut pairs: A) -> Result<(), A::Error> {
        while let Some(Pair(address, value)) = pairs.next_element()? {
            let (address, value) = (in_range(address, self.address, "address")?, in_range(value, self.cell, "value")?);
            self.into.push((self.memory, address, value));
        }
        Ok(())
    }
}

/// An address and a value.
struct Pair(u64, u64);

impl<'de> Deserialize<'de> for Pair {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(PairVisitor)
    }
}

struct PairVisitor;

impl<'de> Visitor<'de> for PairVisitor {
    type Value = Pair;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a pair [address, value]")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut pair: A) -> Result<Pair, A::Error> {
        let Number(address) = pair.next_element()?.ok_or_else(|| A::Error::invalid_length(0, &self))?;
        let Number(value) = pair.next_element()?.ok_or_else(|| A::Error::invalid_length(1, &self))?;
        match pair.next_element::<IgnoredAny>()? {
            None => Ok(Pair(address, value)),
            Some(_) => Err(A::Error::invalid_length(3, &self)),
        }
    }
}

/// A number.
struct Number(u64);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_u64(NumberVisitor)
    }
}

struct NumberVisitor;

impl Visitor<'_> for NumberVisitor {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a whole number that is not negative")
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Number, E> {
        Ok(Number(value))
    }
}

/// How a step ended.
struct StatusWord;

impl<'de> DeserializeSeed<'de> for StatusWord {
    type Value = Status;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Status, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for StatusWord {
    type Value = Status;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("`running`, `halted` or `fault`")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Status, E> {
        match text {
            "running" => Ok(Status::Running),
            "halted" => Ok(Status::Halted),
            "fault" => Ok(Status::Fault),
            _ => Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
        }
    }
}

/// A number of cycles, or a list with an entry for each.
struct Cycles;

impl<'de> DeserializeSeed<'de> for Cycles {
    type Value = u64;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<u64, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Cycles {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a number of cycles, or an array with an entry for each")
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<u64, E> {
        Ok(value)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<u64, A::Error> {
        let mut count = 0;
        while list.next_element::<IgnoredAny>()?.is_some() {
            count += 1;
        }
        Ok(count)
    }
}
