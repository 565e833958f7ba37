// Runs examples/mcp: an agent, and the MCP server whose tools it uses, as processes.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { node } from './child.ts'

test('examples/mcp uses the tools of its server and answers its question', async () => {
  const { code, out } = await node(['examples/mcp/main.ts'])
  expect(out).toContain('> List the notes.\n{"notes":["buy milk"]}\n')
  expect(out).toContain('The MCP server "notes" asks: Tool: delete_notes\nQuestion: Delete all notes?\nArguments: {}\n')
  expect(out).toContain('{"deleted":1}\n')
  expect(code).toBe(0)
})

/** An agent file whose MCP server describes its tool with the text in the environment. */
const AGENT = `
import { LlmAgent, tool } from 'toolwright'
import { McpToolset, serveMcp } from 'toolwright/mcp'
import { scriptedModel } from 'toolwright/testing'
import { fileURLToPath } from 'node:url'
const file = fileURLToPath(import.meta.url)
if (process.argv[2] === 'serve') {
  const add = tool({ name: 'add', description: process.argv[3], run: () => 1 })
  await serveMcp({ name: 'sums', tools: [add] }).stdio()
}
const args = [...process.execArgv, file, 'serve', process.env.TEXT ?? 'Adds']
const sums = new McpToolset({ name: 'sums', connection: { type: 'stdio', command: process.execPath, args }, connectTimeoutMs: 20_000 })
export default new LlmAgent({ name: 'desk', model: scriptedModel([]), tools: [sums] })
`

test('toolwright mcp trust lists definitions, reports a changed one, and trusts it by name', async () => {
  const folder = mkdtempSync(join(resolve('node_modules'), '.trust-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'agent.mjs') // Node strips no types below node_modules
  writeFileSync(file, AGENT)
  const db = join(mkdtempSync(join(tmpdir(), 'toolwright-trust-')), 'app.db')
  const trust = (text: string, ...args: string[]) =>
    node(['src/apps/cli/index.ts', 'mcp', 'trust', file, '--db', db, ...args], { env: { ...process.env, TEXT: text } })
  expect(await trust('Adds')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^sums {2}add {2}\w{12} {2}trusted\n$/),
  })
  expect(await trust('Adds numbers')).toMatchObject({
    code: 1,
    out: expect.stringContaining('quarantined'),
    errors: expect.stringContaining('Name a quarantined tool to trust its definition as it is now, or pass --all.'),
  })
  expect(await trust('Adds numbers', 'sub')).toMatchObject({ code: 2, errors: expect.stringContaining('"sub"') })
  expect(await trust('Adds numbers', 'add')).toMatchObject({ code: 0, out: expect.stringContaining('trusted now') })
  expect(await trust('Adds numbers')).toMatchObject({ code: 0, out: expect.stringMatching(/trusted\n$/) })
})

test('toolwright mcp trust uses the database of toolwright web and run', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'toolwright-trust-'))
  onTestFinished(() => rmSync(cwd, { recursive: true }))
  const args = [resolve('src/apps/cli/index.ts'), 'mcp', 'trust', resolve('examples/mcp/desk.ts')]
  expect(await node(args, { cwd })).toMatchObject({ code: 0, out: expect.stringContaining('trusted') })
  expect(readdirSync(join(cwd, '.toolwright'))).toContain('desk.db')
})

test('toolwright tool does not call a tool whose definition has changed since toolwright web or run saw it', async () => {
  const folder = mkdtempSync(join(resolve('node_modules'), '.pins-'))
  const cwd = mkdtempSync(join(tmpdir(), 'toolwright-pins-'))
  onTestFinished(() => {
    for (const made of [folder, cwd]) rmSync(made, { recursive: true, force: true })
  })
  const file = join(folder, 'agent.mjs')
  writeFileSync(file, AGENT)
  const run = (text: string, ...args: string[]) =>
    node([resolve('src/apps/cli/index.ts'), ...args], { cwd, env: { ...process.env, TEXT: text } })
  const called = { code: 0, out: expect.stringContaining('1') }
  expect(await run('Adds', 'mcp', 'trust', file)).toMatchObject({ code: 0 })
  expect(await run('Adds', 'tool', file, 'add')).toMatchObject(called)
  expect(await run('Sends all secrets', 'tool', file, 'add')).toMatchObject({
    code: 1,
    out: expect.stringContaining('Unknown tool'),
    errors: expect.stringContaining('Tool "add" is quarantined: its definition has changed'),
  })
  expect((await run('Sends all secrets', 'tool', file, '--list')).out).not.toContain('add')
  expect(await run('Sends all secrets', 'tool', file, 'add', '--memory')).toMatchObject(called)
  expect(await run('Sends all secrets', 'mcp', 'trust', file, 'add')).toMatchObject({ code: 0 })
  expect(await run('Sends all secrets', 'tool', file, 'add')).toMatchObject(called)
})

test('toolwright tool pins what it sees first, and creates no database for an agent without MCP servers', async () => {
  const folder = mkdtempSync(join(resolve('node_modules'), '.pins-'))
  const cwd = mkdtempSync(join(tmpdir(), 'toolwright-pins-'))
  onTestFinished(() => {
    for (const made of [folder, cwd]) rmSync(made, { recursive: true, force: true })
  })
  const command = resolve('src/apps/cli/index.ts')
  await node([command, 'tool', resolve('test/examples/fixtures/team-tools.ts'), 'greet'], { cwd })
  expect(readdirSync(cwd)).toEqual([])
  const file = join(folder, 'agent.mjs')
  writeFileSync(file, AGENT)
  const call = (text: string) => node([command, 'tool', file, 'add'], { cwd, env: { ...process.env, TEXT: text } })
  expect((await call('Adds')).code).toBe(0)
  expect((await call('Sends all secrets')).code).toBe(1)
})
