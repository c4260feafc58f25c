// Drives `lathe dap` with @vscode/debugadapter-testsupport, the client that Microsoft wrote for testing
// debug adapters. Arguments: the package's folder, the binary, a folder with the program.
const [packageFolder, binary, folder] = process.argv.slice(2);
const { DebugClient } = require(packageFolder);
const assert = require('assert');
const path = require('path');
const program = path.join(folder, 'program.asm');
const library = path.join(folder, 'library.asm');
const thread = { threadId: 1 };

async function main() {
  const client = new DebugClient(binary, 'dap', 'lathe', {}, true);
  client.defaultTimeout = 60000;
  await client.start();
  const stopped = () => client.waitForEvent('stopped');
  // The answer comes first, then the event; both are awaited from the beginning.
  const go = async (request) => (await Promise.all([stopped(), request]))[0].body;
  const top = async () => (await client.stackTraceRequest(thread)).body.stackFrames[0];
  const value = async (expression) =>
    (await client.evaluateRequest({ expression, context: 'watch' })).body.result;

  const { body: can } = await client.initializeRequest();
  for (const name of ['supportsStepBack', 'supportsDataBreakpoints', 'supportsInstructionBreakpoints',
    'supportsDisassembleRequest', 'supportsReadMemoryRequest', 'supportsWriteMemoryRequest', 'supportsLogPoints']) {
    assert.ok(can[name], name);
  }
  await assert.rejects(client.continueRequest(thread), /launch/);
  await assert.rejects(client.launchRequest({ program: path.join(folder, 'missing.asm') }), /missing/);
  const initialized = client.waitForEvent('initialized');
  await client.launchRequest({ program, input: 'x' });
  await initialized;

  // Breakpoints on lines: of the program, of an included file, where no code is, elsewhere.
  const set = await client.setBreakpointsRequest({ source: { path: program }, breakpoints: [{ line: 5 }, { line: 900 }] });
  assert.deepStrictEqual(set.body.breakpoints.map((one) => [one.verified, one.line]), [[true, 5], [false, undefined]]);
  const inside = await client.setBreakpointsRequest({ source: { path: library }, breakpoints: [{ line: 1, condition: 'r1 == 2' }] });
  assert.strictEqual(inside.body.breakpoints[0].verified, true);
  const other = await client.setBreakpointsRequest({ source: { path: '/elsewhere.asm' }, breakpoints: [{ line: 1 }] });
  assert.strictEqual(other.body.breakpoints[0].verified, false);

  const entry = await go(client.configurationDoneRequest());
  assert.strictEqual(entry.reason, 'entry');
  assert.strictEqual((await go(client.continueRequest(thread))).reason, 'breakpoint');
  let frame = await top();
  assert.deepStrictEqual([frame.line, frame.source.path], [5, require('fs').realpathSync(program)]);
  assert.strictEqual(frame.name, 'next');

  // Into the call, out of it, back to where it was called.
  await client.setBreakpointsRequest({ source: { path: program }, breakpoints: [] });
  await go(client.stepInRequest(thread));
  assert.strictEqual((await top()).line, 6);
  await go(client.stepInRequest(thread));
  frame = await top();
  assert.deepStrictEqual([frame.name, frame.source.path], ['double', require('fs').realpathSync(library)]);
  assert.strictEqual((await client.stackTraceRequest(thread)).body.stackFrames.length, 2);
  await go(client.stepOutRequest(thread));
  assert.strictEqual((await top()).line, 7);
  await go(client.stepBackRequest(thread));
  assert.strictEqual((await top()).line, 6);
  await go(client.nextRequest(thread));
  assert.strictEqual((await top()).line, 7);

  // The condition in the library holds in the second iteration.
  assert.strictEqual((await go(client.continueRequest(thread))).reason, 'breakpoint');
  assert.strictEqual(await value('r1'), '0x02');
  assert.strictEqual((await go(client.reverseContinueRequest(thread))).reason, 'entry');
  assert.strictEqual((await top()).line, 2);

  // Scopes, variables, setting one.
  const { scopes } = (await client.scopesRequest({ frameId: 0 })).body;
  assert.deepStrictEqual(scopes.map((scope) => scope.name), ['Registers', 'Machine', 'ram']);
  const registers = scopes[0].variablesReference;
  const { variables } = (await client.variablesRequest({ variablesReference: registers })).body;
  assert.deepStrictEqual(variables.slice(0, 2).map((one) => [one.name, one.value]), [['pc', '0x0000'], ['r0', '0x00']]);
  await client.setVariableRequest({ variablesReference: registers, name: 'r9', value: '7' });
  assert.strictEqual(await value('r9 + 1'), '0x08');
  const cells = (await client.variablesRequest({ variablesReference: scopes[2].variablesReference, start: 0, count: 2 })).body;
  assert.strictEqual(cells.variables.length, 2);

  // Data, instruction and log breakpoints.
  await client.setBreakpointsRequest({ source: { path: library }, breakpoints: [] });
  const info = (await client.dataBreakpointInfoRequest({ name: 'ram[0x80]' })).body;
  assert.deepStrictEqual(info.accessTypes, ['read', 'write', 'readWrite']);
  await client.setDataBreakpointsRequest({ breakpoints: [{ dataId: info.dataId, accessType: 'write' }] });
  const data = await go(client.continueRequest(thread));
  assert.strictEqual(data.reason, 'data breakpoint');
  assert.match(data.description, /ram\[0x0080\] = 0x02/);
  await client.setDataBreakpointsRequest({ breakpoints: [] });
  const instruction = (await client.customRequest('setInstructionBreakpoints', { breakpoints: [{ instructionReference: '0x2' }] })).body;
  assert.ok(instruction.breakpoints[0].verified);
  assert.strictEqual((await go(client.continueRequest(thread))).reason, 'instruction breakpoint');
  await client.customRequest('setInstructionBreakpoints', { breakpoints: [] });
  await client.setBreakpointsRequest({ source: { path: program }, breakpoints: [{ line: 5, logMessage: 'r1 is {r1}' }] });
  await client.setFunctionBreakpointsRequest({ breakpoints: [{ name: 'end' }] });
  const logged = client.waitForEvent('output');
  const printed = client.assertOutput('stdout', 'b');
  assert.strictEqual((await go(client.continueRequest(thread))).reason, 'function breakpoint');
  assert.match((await logged).body.output, /r1 is 0x0/);
  await printed;

  // Disassembly and memory.
  const { instructions } = (await client.disassembleRequest({ memoryReference: '0x2', instructionOffset: -1, instructionCount: 3 })).body;
  assert.deepStrictEqual(instructions.map((one) => one.address), ['0x0', '0x2', '0x5']);
  const read = (await client.customRequest('readMemory', { memoryReference: 'ram:0x80', count: 2 })).body;
  assert.strictEqual(Buffer.from(read.data, 'base64')[1], 0);
  await client.customRequest('writeMemory', { memoryReference: 'ram:0x80', offset: 1, data: Buffer.from([5]).toString('base64') });
  assert.strictEqual(await value('ram[0x81]'), '0x05');

  // The console takes commands; errors are answers.
  const where = await go(client.evaluateRequest({ expression: 'who printed "a"', context: 'repl' }));
  assert.strictEqual(where.reason, 'step');
  await assert.rejects(client.evaluateRequest({ expression: 'nonsense +', context: 'watch' }), /nonsense/);
  await assert.rejects(client.customRequest('noSuchRequest'), /noSuchRequest/);
  const completions = (await client.completionsRequest({ text: 'brea', column: 5 })).body.targets;
  assert.ok(completions.some((one) => one.label === 'break'));
  assert.strictEqual((await client.customRequest('loadedSources')).body.sources.length, 2);

  // A program that never ends is paused, and requests are answered while it runs.
  await client.setBreakpointsRequest({ source: { path: program }, breakpoints: [] });
  await client.evaluateRequest({ expression: 'restart', context: 'repl' });
  await client.setFunctionBreakpointsRequest({ breakpoints: [] });
  await client.evaluateRequest({ expression: 'set pc = forever', context: 'repl' });
  await client.continueRequest(thread);
  assert.strictEqual((await client.threadsRequest()).body.threads.length, 1);
  assert.strictEqual((await go(client.pauseRequest(thread))).reason, 'pause');
  await client.stop();
  console.log('everything passed');
}

main().then(() => process.exit(0), (error) => { console.error(error); process.exit(1); });
