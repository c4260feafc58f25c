//! A bus with nothing attached: the host sees and sets its ports.

use std::collections::BTreeMap;
use std::sync::Arc;

use lathe_isa::model::DeviceOperation;

use super::Device;

/// How many ports are remembered. Writes to any others are not kept, and reads from them give 0.
pub const REMEMBERED_PORTS: usize = 1024;

/// What is known about a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Port {
    /// What the machine reads there: the value set by the host, or 0.
    pub read: u64,
    /// What the machine last wrote there.
    pub written: Option<u64>,
}

/// A bus whose ports read as the host has set them, or as 0, and which remembers what was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ports {
    // Saved whenever an instruction reads from a device, and rarely changed.
    known: Arc<BTreeMap<u64, Port>>,
}

impl Ports {
    /// Sets what the machine reads at a port from now on.
    pub fn set(&mut self, port: u64, value: u64) {
        self.change(port, |known| known.read = value);
    }

    /// Returns what the machine last wrote to a port.
    pub fn written(&self, port: u64) -> Option<u64> {
        self.known.get(&port)?.written
    }

    /// Returns the ports that have been set or written, by number.
    pub fn known(&self) -> impl Iterator<Item = (u64, Port)> {
        self.known.iter().map(|(number, port)| (*number, *port))
    }

    fn change(&mut self, port: u64, change: impl FnOnce(&mut Port)) {
        let before = self.known.get(&port);
        if before.is_none() && self.known.len() >= REMEMBERED_PORTS {
            return;
        }
        let mut after = before.copied().unwrap_or_default();
        change(&mut after);
        if before != Some(&after) {
            Arc::make_mut(&mut self.known).insert(port, after);
        }
    }
}

impl Device for Ports {
    type Saved = Ports;

    fn read(&mut self, _operation: DeviceOperation, arguments: &[u64]) -> Option<u64> {
        let port = arguments.first().and_then(|port| self.known.get(port));
        Some(port.map_or(0, |port| port.read))
    }

    fn write(&mut self, _operation: DeviceOperation, arguments: &[u64]) {
        if let [port, value] = arguments {
            self.change(*port, |known| known.written = Some(*value));
        }
    }

    fn save(&mut self) -> Ports {
        self.clone()
    }

    fn restore(&mut self, saved: &Ports) {
        self.clone_from(saved);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_reads_what_was_set_and_remembers_what_was_written() {
        let mut ports = Ports::default();
        assert_eq!(ports.read(DeviceOperation::Read, &[7]), Some(0));
        ports.write(DeviceOperation::Write, &[7, 3]);
        assert_eq!(ports.read(DeviceOperation::Read, &[7]), Some(0), "what is written goes out");
        let saved = ports.save();
        ports.set(7, 5);
        assert_eq!(ports.read(DeviceOperation::Read, &[7]), Some(5));
        assert_eq!(ports.known().collect::<Vec<_>>(), [(7, Port { read: 5, written: Some(3) })]);
        ports.restore(&saved);
        assert_eq!(ports.read(DeviceOperation::Read, &[7]), Some(0));
    }

    #[test]
    fn no_more_ports_are_remembered_than_the_limit_says() {
        let mut ports = Ports::default();
        (0..2 * REMEMBERED_PORTS as u64).for_each(|port| ports.write(DeviceOperation::Write, &[port, 1]));
        assert_eq!(ports.known().count(), REMEMBERED_PORTS);
        ports.write(DeviceOperation::Write, &[0, 2]);
        assert_eq!(ports.known().next(), Some((0, Port { read: 0, written: Some(2) })));
    }
}
