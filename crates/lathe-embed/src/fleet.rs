//! Many instances of one machine.

use std::sync::Arc;

use lathe_isa::Isa;

#[cfg(not(feature = "jit"))]
use crate::engine::EngineKind;
#[cfg(feature = "jit")]
use crate::engine::SharedEngine;
use crate::instance::Instance;

/// Instances of one machine that share compiled code: code that is hot in one instance is ready in all that have the
/// same code in memory. Otherwise they share nothing. A clone is the same fleet, and can be used from another thread.
#[derive(Clone)]
pub struct Fleet {
    #[cfg(not(feature = "jit"))]
    isa: Arc<Isa>,
    #[cfg(feature = "jit")]
    shared: SharedEngine,
}

impl Fleet {
    pub(crate) fn new(isa: &Arc<Isa>) -> Self {
        Fleet {
            #[cfg(not(feature = "jit"))]
            isa: isa.clone(),
            #[cfg(feature = "jit")]
            shared: SharedEngine::new(isa),
        }
    }

    /// Creates another instance, at reset.
    pub fn instance(&self) -> Instance {
        #[cfg(feature = "jit")]
        let engine = self.shared.engine();
        #[cfg(not(feature = "jit"))]
        let engine = EngineKind::Auto.build(&self.isa).expect("there is always one");
        Instance::on(engine)
    }
}
