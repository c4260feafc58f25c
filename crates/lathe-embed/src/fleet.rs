//! Many instances of one machine.

use lathe_isa::Isa;

use crate::engine::EngineKind;
#[cfg(feature = "jit")]
use crate::engine::SharedEngine;
use crate::instance::Instance;

/// Instances of one machine that share what is compiled: code that is hot in one of them is ready in
/// all that have the same code in memory. Otherwise they have nothing in common. A copy is the same
/// fleet, and can be used from another thread.
#[derive(Clone)]
pub struct Fleet<'m> {
    isa: &'m Isa,
    #[cfg(feature = "jit")]
    shared: Option<SharedEngine<'m>>,
}

impl<'m> Fleet<'m> {
    pub(crate) fn new(isa: &'m Isa) -> Self {
        Fleet {
            isa,
            #[cfg(feature = "jit")]
            shared: SharedEngine::new(isa).ok(),
        }
    }

    /// One more instance, at reset.
    pub fn instance(&self) -> Instance<'m> {
        #[cfg(feature = "jit")]
        if let Some(shared) = &self.shared {
            return Instance::new(self.isa, shared.engine());
        }
        Instance::new(self.isa, EngineKind::Auto.build(self.isa).expect("there is always one"))
    }
}
