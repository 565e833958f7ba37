import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { LlmAgent, Runner } from 'toolwright'
import { McpToolset } from 'toolwright/mcp'
import { scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import type { McpToolsetOptions } from '../mcp-toolset-options.ts'
import { failureReason } from './failure-reason.ts'

/** What the operator reads when the server of a connection cannot be used. */
async function warningFor(connection: McpToolsetOptions['connection']): Promise<string | undefined> {
  const warnings: string[] = []
  const logger = { warn: (line: string) => void warnings.push(line), error: () => {} }
  const agent = new LlmAgent({ name: 'desk', model: scriptedModel(['Done.']), tools: [new McpToolset({ connection })] })
  await using runner = new Runner({ appName: 'demo', agent, logger })
  await runner.complete({ userId: 'ada', message: 'Hello' })
  return warnings[0]
}

/** A port of this machine on which a server answers with `status`; without one, no server listens there. */
async function urlOf(status?: number): Promise<{ readonly url: string } & Disposable> {
  const server = createServer((_, response) => void response.writeHead(status ?? 200).end())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
  if (status === undefined) await new Promise((resolve) => server.close(resolve))
  return { url, [Symbol.dispose]: () => void server.close() }
}

test('names connection.command and connection.args when the program is not found', async () => {
  expect(await warningFor({ type: 'stdio', command: 'no-such-program --port 1' })).toBe(
    'The tools of toolset "no-such-program --port 1" are left out: the MCP server cannot be used: spawn no-such-program --port 1 ENOENT. Check that connection.command is one program in PATH. Arguments go into connection.args',
  )
})

test('names connection.cwd when it is set, because a missing folder looks like a missing program', async () => {
  const warning = await warningFor({ type: 'stdio', command: process.execPath, cwd: '/no/such/folder' })
  expect(warning).toContain('and that the folder connection.cwd exists')
})

test('names the code when no server listens', async () => {
  using server = await urlOf()
  expect(await warningFor({ type: 'http', url: server.url })).toContain(
    'fetch failed (ECONNREFUSED). Check connection.url, and that the server is running',
  )
})

test('names the status of a wrong path', async () => {
  using server = await urlOf(404)
  expect(await warningFor({ type: 'http', url: server.url })).toContain(
    '(status 404). Check connection.url and connection.type',
  )
})

test('blames no option for a failure of the server', async () => {
  using server = await urlOf(500)
  expect(await warningFor({ type: 'http', url: server.url })).toMatch(/\(status 500\)$/)
})

test('ends for an error that is its own cause', () => {
  const error = new Error('broken')
  error.cause = error
  expect(failureReason(error, { type: 'http', url: 'http://127.0.0.1/mcp' })).toBe('broken')
})

const advice = 'Run connection.command with connection.args in a shell to see all that it prints'

test.each([
  [
    'Node',
    [
      '/app/server.js:1',
      'boot()',
      '^',
      '',
      'TypeError: No database',
      '    at boot (/app/server.js:1:7)',
      '',
      'Node.js v24.0.0',
    ],
    'TypeError: No database.',
  ],
  [
    'Python',
    [
      'Traceback (most recent call last):',
      '  File "server.py", line 1, in <module>',
      '    import x',
      "ImportError: no 'x'",
    ],
    "ImportError: no 'x'.",
  ],
  [
    'a program that only says so',
    ['Starting', 'The configuration file is missing.'],
    'The configuration file is missing.',
  ],
])('says in one sentence what ended a server in %s, without its stack', (_, written, said) => {
  const error = new Error(['Connection closed. It exited with code 1.', ...written].join('\n'))
  const reason = failureReason(error, { type: 'stdio', command: 'server' })
  expect(reason).toBe(`Connection closed. It exited with code 1. ${said} ${advice}`)
})

test('says what to do when a server ended without a word', () => {
  const reason = failureReason(new Error('Connection closed. It was ended by SIGKILL.'), {
    type: 'stdio',
    command: 'x',
  })
  expect(reason).toBe(`Connection closed. It was ended by SIGKILL. ${advice}`)
})
