//! Compiled code: its memory, and the only call into it.

use std::sync::{Mutex, PoisonError};

use cranelift_codegen::Context as Compiler;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::FunctionBuilderContext;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Linkage, Module, default_libcall_names};
use lathe_isa::Isa;

use crate::emit::{Context, emit, signature};
use crate::region::Region;

/// How much the compiler does for a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// As little as possible: most regions do not run for long enough to earn more back.
    Quick,
    /// All it can: code that is up to twice as fast, and takes three times as long to make.
    Best,
}

/// What is kept from one compilation to the next.
pub(crate) struct Compilers {
    quick: OwnedTargetIsa,
    best: OwnedTargetIsa,
    compiler: Compiler,
    builder: FunctionBuilderContext,
}

/// The code of one region, freed with it.
pub(crate) struct Code {
    /// Owns the memory; always there until the code is dropped. It can be sent to another thread
    /// but not used from two, and the lock says so.
    module: Mutex<Option<JITModule>>,
    function: unsafe extern "C" fn(*mut Context, u32),
}

impl Compilers {
    /// A compiler for this computer, if there is one.
    pub(crate) fn new() -> Option<Compilers> {
        let native = cranelift_native::builder().ok()?;
        let target = |settings: &[(&str, &str)]| {
            let mut flags = settings::builder();
            for (name, value) in settings.iter().chain(&[("enable_verifier", "false"), ("is_pic", "false")]) {
                flags.set(name, value).ok()?;
            }
            native.finish(settings::Flags::new(flags)).ok()
        };
        let quick = target(&[("opt_level", "none"), ("regalloc_algorithm", "single_pass")])?;
        let best = target(&[("opt_level", "speed")])?;
        Some(Compilers { quick, best, compiler: Compiler::new(), builder: FunctionBuilderContext::new() })
    }

    /// Compiles a region; `None` if the compiler refuses it.
    pub(crate) fn compile(&mut self, isa: &Isa, region: &Region, effort: Effort) -> Option<Code> {
        let target = match effort {
            Effort::Quick => &self.quick,
            Effort::Best => &self.best,
        };
        let mut module = JITModule::new(JITBuilder::with_isa(target.clone(), default_libcall_names()));
        self.compiler.clear();
        self.compiler.func.signature = signature(module.make_signature());
        emit(isa, region, &mut self.compiler.func, &mut self.builder, target.frontend_config());
        let signature = self.compiler.func.signature.clone();
        let id = module.declare_function("region", Linkage::Local, &signature).ok()?;
        let defined = module.define_function(id, &mut self.compiler);
        if defined.is_err() || module.finalize_definitions().is_err() {
            Code::free(module);
            return None;
        }
        let address = module.get_finalized_function(id);
        // SAFETY: the address is that of the function just compiled with `signature`, which is
        // this type: a pointer and a 32-bit number by the platform's C convention, no result.
        let function = unsafe { std::mem::transmute::<*const u8, unsafe extern "C" fn(*mut Context, u32)>(address) };
        Some(Code { module: Mutex::new(Some(module)), function })
    }
}

impl Code {
    /// Runs the code from a block on.
    ///
    /// # Safety
    /// All pointers of the context must be valid for as many registers, marks and cells as the
    /// instruction set has that the region was compiled for.
    pub(crate) unsafe fn call(&self, context: &mut Context, block: u32) {
        // SAFETY: the function is alive as long as `self` is. It reaches registers at offsets
        // below their number, and marks and cells at masked offsets; the caller vouches for those.
        unsafe { (self.function)(context, block) }
    }

    fn free(module: JITModule) {
        // SAFETY: no code of the module is running, because running it borrows its owner, and its
        // function pointer goes away with the owner.
        unsafe { module.free_memory() }
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        let module = self.module.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = module.take() {
            Code::free(module);
        }
    }
}
