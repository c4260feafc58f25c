//! The compiler for native code, and the memory that holds its code.

use std::sync::{Mutex, PoisonError};

use cranelift_codegen::Context as Workspace;
use cranelift_codegen::binemit::CodeOffset;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{AbiParam, Signature, Value};
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, ModuleReloc, default_libcall_names};
use lathe_isa::Isa;

use super::{CraneliftBuilder, placement};
use crate::code::{Code, Function};
use crate::emit::emit;
use crate::region::Region;
use crate::shared::Effort;

/// Adds the parameters of a compiled region to a signature.
fn signature(mut signature: Signature) -> Signature {
    signature.params.push(AbiParam::new(I64));
    signature.params.push(AbiParam::new(I32));
    signature
}

/// The compiler, with everything that is kept from one compilation to the next.
pub(crate) struct CraneliftCompiler {
    quick: OwnedTargetIsa,
    best: OwnedTargetIsa,
    workspace: Workspace,
    builder: FunctionBuilderContext,
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    space: crate::direct::Space,
}

/// The memory of the code of one region, freed with it. It can be sent to another thread but not used from two, hence
/// the lock. It contains the module until that is freed.
struct ModuleMemory(Mutex<Option<JITModule>>);

/// Whether `direct/` makes the first code.
const HAS_DIRECT: bool = cfg!(all(target_arch = "x86_64", unix));

impl CraneliftCompiler {
    /// Finding the region of an instruction and compiling it quickly takes about as long as interpreting it this
    /// often...
    pub(crate) const QUICK: u32 = if HAS_DIRECT { 1_000 } else { 6_000 };
    /// ...and full effort pays after this many times as many executions: it takes ten times as long, and makes code
    /// about a fifth faster.
    pub(crate) const BEST: u64 = if HAS_DIRECT { 4_096 } else { 16 };

    /// Creates a compiler for this computer, if there is one.
    pub(crate) fn new() -> Option<CraneliftCompiler> {
        let native = cranelift_native::builder().ok()?;
        let target = |settings: &[(&str, &str)]| {
            let mut flags = settings::builder();
            // The placement is chosen by where blocks begin and lead.
            let common = [("enable_verifier", "false"), ("is_pic", "false"), ("machine_code_cfg_info", "true")];
            for (name, value) in settings.iter().chain(&common) {
                flags.set(name, value).ok()?;
            }
            native.finish(settings::Flags::new(flags)).ok()
        };
        let quick = target(&[("opt_level", "none"), ("regalloc_algorithm", "single_pass")])?;
        let best = target(&[("opt_level", "speed")])?;
        Some(CraneliftCompiler {
            quick,
            best,
            workspace: Workspace::new(),
            builder: FunctionBuilderContext::new(),
            #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
            space: crate::direct::Space::default(),
        })
    }

    /// Compiles a region; `None` if the compiler refuses it.
    pub(crate) fn compile(&mut self, isa: &Isa, region: &Region, effort: Effort) -> Option<Code> {
        #[cfg(all(target_arch = "x86_64", unix))]
        if effort == Effort::Quick {
            let crate::direct::Finished { code, ways_in } = crate::direct::compile(isa, region);
            return self.place(&code).map(|code| code.with_ways_in(ways_in));
        }
        let executions: Vec<u64> = region.blocks.values().map(|block| block.executions).collect();
        self.build(effort, &executions, |builder, [context, number]| emit(isa, region, builder, context, number))
    }

    /// Compiles what `build` makes from the parameters; `executions` says how often each of its blocks was executed.
    pub(crate) fn build(
        &mut self,
        effort: Effort,
        executions: &[u64],
        build: impl FnOnce(&mut CraneliftBuilder, [Value; 2]),
    ) -> Option<Code> {
        let target = match effort {
            Effort::Quick => &self.quick,
            Effort::Best => &self.best,
        };
        let mut module = JITModule::new(JITBuilder::with_isa(target.clone(), default_libcall_names()));
        self.workspace.clear();
        self.workspace.func.signature = signature(module.make_signature());
        let mut builder = CraneliftBuilder::new(FunctionBuilder::new(&mut self.workspace.func, &mut self.builder));
        let parameters = builder.parameters();
        build(&mut builder, parameters);
        builder.builder.finalize(target.frontend_config());
        let signature = self.workspace.func.signature.clone();
        let id = module.declare_function("region", Linkage::Local, &signature).ok()?;
        let Some(offset) = define(&mut self.workspace, &mut module, id, executions) else {
            ModuleMemory::free(module);
            return None;
        };
        Some(code_in(module, id, offset))
    }

    /// Places code that `direct/` has made where it can be executed.
    #[cfg(all(target_arch = "x86_64", unix))]
    pub(crate) fn place(&mut self, bytes: &[u8]) -> Option<Code> {
        #[cfg(target_os = "linux")]
        if let Some(placed) = self.space.place(bytes) {
            return Some(Code::new(function_at(placed.address()), placed));
        }
        let mut module = JITModule::new(JITBuilder::with_isa(self.quick.clone(), default_libcall_names()));
        let signature = signature(module.make_signature());
        let id = module.declare_function("region", Linkage::Local, &signature).ok()?;
        let placed = module.define_function_bytes(id, u64::from(placement::LINE), bytes, &[]);
        if placed.is_err() || module.finalize_definitions().is_err() {
            ModuleMemory::free(module);
            return None;
        }
        Some(code_in(module, id, 0))
    }
}

/// Returns the function of a module, which begins this many bytes after the address that the module has for it.
fn code_in(module: JITModule, id: FuncId, offset: usize) -> Code {
    let address = module.get_finalized_function(id).wrapping_add(offset);
    Code::new(function_at(address), ModuleMemory(Mutex::new(Some(module))))
}

/// Returns the function whose code is at this address.
fn function_at(address: *const u8) -> Function {
    // SAFETY: the code there was just compiled with `signature`, or written for it, which is this type: a pointer and a
    // 32-bit number by the platform's C convention, no result.
    unsafe { std::mem::transmute::<*const u8, Function>(address) }
}

/// Compiles the function in the workspace and puts it into the module. Returns how many bytes after the address that
/// the module has for it the function begins. `executions` says how often each of its blocks was executed.
fn define(workspace: &mut Workspace, module: &mut JITModule, id: FuncId, executions: &[u64]) -> Option<usize> {
    workspace.compile(module.isa(), &mut ControlPlane::default()).ok()?;
    let code = workspace.compiled_code()?;
    let offset = placement::offset(code, executions);
    let alignment = u64::from(code.buffer.alignment.max(placement::LINE));
    let mut bytes = vec![0; offset];
    bytes.extend(code.code_buffer());
    let relocations = code.buffer.relocs().iter().map(|relocation| {
        let mut moved = ModuleReloc::from_mach_reloc(relocation, &workspace.func, id);
        moved.offset += offset as CodeOffset;
        moved
    });
    module.define_function_bytes(id, alignment, &bytes, &relocations.collect::<Vec<_>>()).ok()?;
    module.finalize_definitions().ok()?;
    Some(offset)
}

impl ModuleMemory {
    fn free(module: JITModule) {
        // SAFETY: no code of the module is running, because running it borrows its owner, and its function pointer goes
        // away with the owner.
        unsafe { module.free_memory() }
    }
}

impl Drop for ModuleMemory {
    fn drop(&mut self) {
        let module = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        module.take().into_iter().for_each(ModuleMemory::free);
    }
}
