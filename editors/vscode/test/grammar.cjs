// Colours files with the grammars, as VS Code does, and checks what can be told from the text alone. The files are the
// arguments; NODE_PATH names the folder with vscode-textmate and vscode-oniguruma.
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { OnigScanner, OnigString, loadWASM } = require('vscode-oniguruma');
const { Registry, INITIAL, parseRawGrammar } = require('vscode-textmate');

const FILES = { 'source.isa': 'isa.tmLanguage.json', 'source.lathe-asm': 'lathe-asm.tmLanguage.json' };

/** Words inside of declarations. */
const WORDS = [
  /^machine \w+ (extends) /d,
  /^(?:before|after) (each) /d,
  /^prefix \w+ [^#"]* (with) /d,
  /^(?:register|view)[^#"]* (at) \w+\[/d,
  /^operand [^#"]* (of) u/d,
];

/** What must have which scope: where a word of a line stands, and a part of its scope's name. */
function expected(scope, line, depth) {
  const isComment = scope === 'source.isa' ? /^\s*#/ : /^\s*;/;
  if (isComment.test(line)) return [[line.search(/\S/), 'comment']];
  if (scope === 'source.isa') {
    const found = [];
    if (depth === 0 && /^[a-z]/.test(line)) found.push([0, 'keyword.declaration']);
    if (/^machine /.test(line)) found.push([line.indexOf('"'), 'string.quoted']);
    const device = /^device \w+\s*: (\w+)/.exec(line);
    if (device) found.push([device[0].length - device[1].length, 'keyword.control']);
    for (const pattern of WORDS) {
      const match = pattern.exec(line);
      if (match) found.push([match.indices[1][0], 'keyword.control']);
    }
    return found;
  }
  const label = /^[a-z_]\w*:/i.exec(line);
  if (label) return [[0, 'entity.name.label']];
  return /^\s*\.(machine|include|byte|asciiz)\b/.test(line) ? [[line.indexOf('.'), 'keyword.control.directive']] : [];
}

async function main() {
  await loadWASM(fs.readFileSync(require.resolve('vscode-oniguruma/release/onig.wasm')).buffer);
  const registry = new Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new OnigScanner(patterns),
      createOnigString: (text) => new OnigString(text),
    }),
    loadGrammar: async (scope) => {
      const file = path.join(__dirname, '../syntaxes', FILES[scope]);
      return parseRawGrammar(fs.readFileSync(file, 'utf8'), file);
    },
  });
  let checked = 0;
  for (const file of process.argv.slice(2)) {
    const scope = file.endsWith('.isa') ? 'source.isa' : 'source.lathe-asm';
    const grammar = await registry.loadGrammar(scope);
    let [stack, depth] = [INITIAL, 0];
    fs.readFileSync(file, 'utf8').split('\n').forEach((line, number) => {
      const { tokens, ruleStack, stoppedEarly } = grammar.tokenizeLine(line, stack);
      stack = ruleStack;
      const place = `${file}:${number + 1}: ${line}`;
      assert.ok(!stoppedEarly, place);
      for (const [at, part] of expected(scope, line, depth)) {
        const token = tokens.find(({ startIndex, endIndex }) => startIndex <= at && at < endIndex);
        assert.ok(token && token.scopes.some((name) => name.startsWith(part)), `${place}: no ${part} in column ${at + 1}`);
        checked += 1;
      }
      const code = line.replace(/(^|\s)#.*$/, '').replace(/"[^"]*"/g, '');
      depth += (code.match(/\{/g) ?? []).length - (code.match(/\}/g) ?? []).length;
    });
  }
  console.log(`${process.argv.length - 2} files, ${checked} words have the colour they must have`);
  assert.ok(checked > 0);
}

main().catch((error) => {
  console.error(error.message ?? error);
  process.exit(1);
});
