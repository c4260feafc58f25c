-- Neovim as a client of `lathe lsp`: opens a program with a mistake, waits for the finding, then hovers.
local folder = vim.fn.tempname()
vim.fn.mkdir(folder, 'p')
local file = folder .. '/hello.asm'
vim.fn.writefile({ '.machine hex8', 'start:  loadimm r1, 300', '        .entry start' }, file)
vim.cmd('edit ' .. file)

local function fail(message)
  io.stdout:write('neovim: ' .. message .. '\n')
  vim.cmd('cquit 1')
end

local client = vim.lsp.start_client({ name = 'lathe', cmd = { vim.env.LATHE, 'lsp' }, root_dir = folder })
if not client then fail('the server does not start') end
vim.lsp.buf_attach_client(0, client)

local found = vim.wait(30000, function() return #vim.diagnostic.get(0) > 0 end, 20)
if not found then fail('no finding') end
local finding = vim.diagnostic.get(0)[1]
if finding.lnum ~= 1 or not finding.message:find('300 does not fit') then fail(vim.inspect(finding)) end

local params = { textDocument = vim.lsp.util.make_text_document_params(0), position = { line = 1, character = 10 } }
local answers = vim.lsp.buf_request_sync(0, 'textDocument/hover', params, 30000)
local _, answer = next(answers or {})
if not (answer and answer.result and answer.result.contents.value:find('0001 AAAA VVVVVVVV', 1, true)) then
  fail(vim.inspect(answers))
end
io.stdout:write('neovim: done\n')
vim.cmd('qall!')
