//! Regions that an engine has ordered from the compiler and not received yet.
//!
//! Compiling may happen on another thread while the interpreter goes on. This crate knows no threads: whoever creates
//! the [shared code](crate::SharedCode) says who does the work, and an engine looks now and then whether something has
//! arrived. If nobody is named, the engine compiles at once and takes delivery in the same way.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use lathe_base::numbers::ByNumber;

use crate::regions::RegionId;
use crate::shared::{Compiled, Effort};

/// Work to be done once.
pub type Job = Box<dyn FnOnce() + Send>;

/// Does a job, now or later, on this thread or another.
pub type Background = Arc<dyn Fn(Job) + Send + Sync>;

/// A region that was compiled, or refused.
pub(crate) struct Delivery {
    pub(crate) entry: u64,
    pub(crate) region: Option<Arc<Compiled>>,
    /// The region that it is to replace.
    pub(crate) replaces: Option<RegionId>,
    pub(crate) effort: Effort,
    /// The time that compiling took.
    pub(crate) time: Duration,
}

/// The orders of one engine.
pub(crate) struct Orders {
    sender: Sender<Delivery>,
    receiver: Receiver<Delivery>,
    /// The leaders of each region that is being compiled, by the address it was ordered for.
    open: ByNumber<u64, Vec<u64>>,
}

impl Orders {
    pub(crate) fn new() -> Self {
        let (sender, receiver) = channel();
        Orders { sender, receiver, open: ByNumber::default() }
    }

    /// Whether the code at an address is being compiled.
    pub(crate) fn cover(&self, pc: u64) -> bool {
        self.open.contains_key(&pc) || self.open.values().any(|leaders| leaders.contains(&pc))
    }

    /// Records an order. Deliveries are sent to the returned sender.
    pub(crate) fn open(&mut self, entry: u64, leaders: Vec<u64>) -> Sender<Delivery> {
        self.open.insert(entry, leaders);
        self.sender.clone()
    }

    /// Returns the next delivery that has arrived.
    pub(crate) fn next(&mut self) -> Option<Delivery> {
        if self.open.is_empty() {
            return None;
        }
        let delivery = self.receiver.try_recv().ok()?;
        self.open.remove(&delivery.entry);
        Some(delivery)
    }
}
