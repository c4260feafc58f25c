// The extension: starts `lathe lsp` and `lathe dap`, and runs commands of `lathe` as tasks.
// Everything that it knows about a text comes from the server.

const fs = require('fs');
const path = require('path');
const os = require('os');
const vscode = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

let client;

const lathe = () => vscode.workspace.getConfiguration('lathe').get('path') || 'lathe';

/** The file that a command is about: the one it is given, or the one in the editor. */
function file(uri) {
  if (uri) return vscode.Uri.parse(String(uri)).fsPath;
  const editor = vscode.window.activeTextEditor;
  return editor ? editor.document.fileName : undefined;
}

/** The machine that a command is about: the definition itself, or what a program names, which may lie beside it. */
function machine(name) {
  if (name.endsWith('.isa')) return name;
  const [, named] = /^\s*\.machine\s+"?([^\s";]+)/im.exec(fs.readFileSync(name, 'utf8')) || [];
  const beside = named && path.join(path.dirname(name), named.replace(/\.isa$/, '') + '.isa');
  return beside && fs.existsSync(beside) ? beside : named || name;
}

/**
 * Runs `lathe` in a terminal, without a shell that could misread a name. It is a task, since the terminal of a program that
 * has ended would be gone before anybody has read it.
 */
function inTerminal(...args) {
  const scope = vscode.workspace.workspaceFolders ? vscode.TaskScope.Workspace : vscode.TaskScope.Global;
  const run = new vscode.ProcessExecution(lathe(), args);
  const task = new vscode.Task({ type: 'process' }, scope, args[0], 'Lathe', run, []);
  task.presentationOptions = { reveal: vscode.TaskRevealKind.Always, clear: true, focus: true };
  return vscode.tasks.executeTask(task);
}

function command(context, name, action) {
  const handler = (uri) => {
    const name = file(uri);
    return name ? action(name) : vscode.window.showInformationMessage('Open a program or a definition first.');
  };
  context.subscriptions.push(vscode.commands.registerCommand(name, handler));
}

async function datasheet(definition) {
  const page = path.join(os.tmpdir(), path.basename(definition, '.isa') + '.html');
  const { execFile } = require('child_process');
  execFile(lathe(), ['doc', '-m', definition, '-o', page], (error, _out, complaint) => {
    if (error) vscode.window.showErrorMessage(complaint || String(error));
    else vscode.env.openExternal(vscode.Uri.file(page));
  });
}

exports.activate = async function (context) {
  const server = { command: lathe(), args: ['lsp'] };
  client = new LanguageClient('lathe', 'Lathe', server, {
    documentSelector: [{ language: 'isa' }, { language: 'lathe-asm' }],
    // A file that another includes may change without being open.
    synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher('**/*.{isa,asm,s,a,inc}') },
  });
  command(context, 'lathe.run', (name) => inTerminal('run', name));
  command(context, 'lathe.check', (name) =>
    name.endsWith('.isa') ? inTerminal('check', name) : inTerminal('asm', name, '--to', 'listing', '-o', '-'));
  command(context, 'lathe.opcodeMap', (name) => inTerminal('check', machine(name), '--map'));
  command(context, 'lathe.datasheet', (name) => datasheet(machine(name)));
  command(context, 'lathe.debug', (name) =>
    vscode.debug.startDebugging(undefined, { type: 'lathe', request: 'launch', name: 'Debug', program: name, stopOnEntry: true }));
  context.subscriptions.push(
    vscode.debug.registerDebugAdapterDescriptorFactory('lathe', {
      createDebugAdapterDescriptor: () => new vscode.DebugAdapterExecutable(lathe(), ['dap']),
    }),
  );
  await client.start().catch((error) => {
    if (!String(error).includes('ENOENT')) throw error;
    vscode.window.showErrorMessage(`There is no program "${lathe()}". Install Lathe, or set "lathe.path" to its place.`);
  });
};

exports.deactivate = () => client && client.stop();
