// What the engine needs from its host: code that it generates at run time is compiled and put into its table, and its
// later part (`build/split.mjs`) is put beside the first part.

/**
 * Instantiates a module of Lathe, and compiles what it asks for from then on.
 * @param {(imports: WebAssembly.Imports) => Promise<WebAssembly.Instance>} instantiate
 * @param {() => BufferSource} [fetchRest] Returns the second module at once, if it is needed before it has come.
 */
export async function start(instantiate, fetchRest) {
  /** @type {{ memory: WebAssembly.Memory, table: WebAssembly.Table, isComplete?: WebAssembly.Global }} */
  let engine;
  /** Empty places in the table. @type {number[]} */
  const free = [];
  const count = { compiled: 0, released: 0 };
  const lathe = {
    /**
     * Compiles the module in these bytes; returns the place of its function, or 0 if the browser refuses it.
     * @param {number} at
     * @param {number} length
     */
    compile(at, length) {
      try {
        const bytes = new Uint8Array(engine.memory.buffer, at, length);
        const instance = new WebAssembly.Instance(new WebAssembly.Module(bytes), { lathe: { memory: engine.memory } });
        const place = free.pop() ?? engine.table.grow(1);
        engine.table.set(place, instance.exports["region"]);
        count.compiled += 1;
        return place;
      } catch {
        return 0;
      }
    },
    /** @param {number} place */
    release(place) {
      engine.table.set(place, null);
      free.push(place);
      count.released += 1;
    },
    /** Returns when the whole engine is there. */
    later() {
      if (engine.isComplete?.value === 0 && fetchRest) complete(new WebAssembly.Module(fetchRest()));
    },
  };
  const { exports } = await instantiate({ lathe });
  engine = /** @type {any} */ ({ memory: exports["memory"], table: exports["__indirect_function_table"], isComplete: exports["complete"] });
  /**
   * Puts the second module beside the first, unless it is there already.
   * @param {WebAssembly.Module} module
   */
  function complete(module) {
    if (engine.isComplete?.value !== 0) return;
    new WebAssembly.Instance(module, { lathe: { ...exports, memory: engine.memory, table: engine.table } });
    engine.isComplete.value = 1;
  }
  return { exports, count, complete };
}
