-- Neovim as a client of `lathe lsp`, with the settings of docs/editors.md: opens a program with a mistake, waits for the finding, then asks every request,
-- while the program is broken and after it was mended, and the same for a definition.
local folder = vim.fn.tempname()
vim.fn.mkdir(folder, 'p')
local file = folder .. '/hello.asm'
vim.fn.writefile({ '.machine hex8', 'start:  loadimm r1, 300', '        .entry start' }, file)
vim.cmd('edit ' .. file)

local function fail(message)
  io.stdout:write('neovim: ' .. message .. '\n')
  vim.cmd('cquit 1')
end

local found = vim.wait(30000, function() return #vim.diagnostic.get(0) > 0 end, 20)
if not found then fail('no finding') end
local finding = vim.diagnostic.get(0)[1]
if finding.lnum ~= 1 or not finding.message:find('300 does not fit') then fail(vim.inspect(finding)) end

local function ask(method, more)
  local params = vim.tbl_extend('force', { textDocument = vim.lsp.util.make_text_document_params(0) }, more or {})
  local answers = vim.lsp.buf_request_sync(0, method, params, 30000)
  local _, answer = next(answers or {})
  if not answer or answer.error then fail(method .. ': ' .. vim.inspect(answers)) end
  return answer.result
end

-- A request that must have an answer in which a text occurs.
local function expect(method, more, text)
  local shown = vim.inspect(ask(method, more))
  if not shown:find(text, 1, true) then fail(method .. ' does not say ' .. text .. ': ' .. shown) end
end

local function at(line, character, more)
  return vim.tbl_extend('force', { position = { line = line, character = character } }, more or {})
end

local whole = { range = { start = { line = 0, character = 0 }, ['end'] = { line = 99, character = 0 } } }
local options = { options = { tabSize = 8, insertSpaces = true } }

local function program()
  expect('textDocument/hover', at(1, 10), '0001 AAAA VVVVVVVV')
  expect('textDocument/completion', at(1, 10), 'loadimm')
  expect('textDocument/signatureHelp', at(1, 20), 'loadimm A, V')
  expect('textDocument/definition', at(2, 16), 'start')
  expect('textDocument/references', at(2, 16, { context = { includeDeclaration = true } }), 'range')
  expect('textDocument/prepareRename', at(2, 16), 'start')
  expect('textDocument/rename', at(2, 16, { newName = 'begin' }), 'begin')
  expect('textDocument/documentSymbol', {}, 'start')
  expect('workspace/symbol', { query = 'sta' }, 'start')
  expect('textDocument/semanticTokens/full', {}, 'data')
  expect('textDocument/semanticTokens/range', whole, 'data')
  expect('textDocument/codeLens', {}, 'Run')
  ask('textDocument/foldingRange')
  ask('textDocument/codeAction', vim.tbl_extend('force', whole, { context = { diagnostics = {} } }))
  ask('textDocument/inlayHint', whole)
  ask('textDocument/formatting', options)
end

program()
vim.api.nvim_buf_set_lines(0, 1, 2, false, { 'start:  loadimm r1, 30' })
if not vim.wait(30000, function() return #vim.diagnostic.get(0) == 0 end, 20) then fail('the finding stays') end
program()
expect('textDocument/inlayHint', whole, '0000: 11 1E')

-- A definition with a misspelt name: the quick fix mends it.
local definition = folder .. '/tiny.isa'
vim.fn.writefile({
  'machine tiny ""', 'memory ram : u8 -> u8', 'pc pc : u8 in ram', 'register acc : u8', 'field N : u8', '',
  'instructions {', '  ldi N | 0x01 {N} | acc = N', '  inc | 0x02 | acc = ac + 1', '}',
}, definition)
vim.cmd('edit ' .. definition)
if not vim.wait(30000, function() return #vim.diagnostic.get(0) > 0 end, 20) then fail('no finding in tiny.isa') end
expect('textDocument/hover', at(7, 22), 'register acc')
expect('textDocument/hover', at(7, 27), '`N` is 8 bits wide')
expect('textDocument/completion', at(7, 22), 'acc')
expect('textDocument/definition', at(7, 22), 'range')
expect('textDocument/references', at(3, 10, { context = { includeDeclaration = true } }), 'range')
expect('textDocument/rename', at(3, 10, { newName = 'sum' }), 'sum')
expect('textDocument/documentSymbol', {}, 'ldi N')
expect('textDocument/foldingRange', {}, 'endLine')
expect('textDocument/inlayHint', whole, '8 bits')
expect('textDocument/codeLens', {}, 'Opcode map')
expect('textDocument/codeAction', vim.tbl_extend('force', whole, { context = { diagnostics = {} } }), 'Replace `ac` with `acc`')
ask('textDocument/formatting', options)
io.stdout:write('neovim: done\n')
vim.cmd('qall!')
