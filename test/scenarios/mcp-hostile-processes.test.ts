// Local MCP servers that die, hang, flood and leave processes behind.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from 'toolwright'
import { afterAll, describe, expect, test } from 'vitest'
import { callOnce, hostileProcess, meet, offered } from '../mcp/hostile-kit.ts'
import { isRunning } from '../mcp/is-running.ts'
import { responsesOf, waitUntil } from './kit.ts'

const folder = mkdtempSync(join(tmpdir(), 'hostile-'))
afterAll(() => rmSync(folder, { recursive: true }))

const LOST = { errorCode: 'UNKNOWN_OUTCOME', error: expect.stringContaining('(connection_closed)') }

describe('a server that cannot be connected is left out, with the reason', () => {
  const cases: [behaviour: string, reason: string][] = [
    ['exits-at-once', 'Connection closed. It exited with code 3. The configuration file is missing.'],
    ['exits-in-handshake', 'Connection closed. It exited with code 4.'],
    ['garbage-handshake', 'The MCP server sent a response that is not valid JSON-RPC.'],
    ['wrong-version', "Server's protocol version is not supported: 2099-01-01"],
  ]
  test.concurrent.each(cases)('%s', async (behaviour, reason) => {
    const { offered, lines } = await callOnce({ connection: hostileProcess(behaviour), calls: [] })
    expect(offered).toEqual([])
    expect(lines[0]).toContain(`toolset "hostile" are left out: the MCP server cannot be used: ${reason}`)
  })

  test('silent-handshake, after connectTimeoutMs', async () => {
    const options = { connectTimeoutMs: 500 }
    const { offered, lines } = await callOnce({ connection: hostileProcess('silent-handshake'), calls: [], options })
    expect(offered).toEqual([])
    expect(lines[0]).toContain('Raise connectTimeoutMs if it needs longer to start')
  })

  test('a program that does not exist', async () => {
    const connection = { type: 'stdio', command: join(folder, 'missing') } as const
    const { offered, lines } = await callOnce({ connection, calls: [] })
    expect(offered).toEqual([])
    expect(lines[0]).toContain('ENOENT')
  })

  test('a program that prints its own secrets before it exits', async () => {
    const program = 'console.error("token " + process.env.API_TOKEN); process.exit(1)'
    const env = { API_TOKEN: 'canary-4711-canary' }
    const connection = { type: 'stdio', command: process.execPath, args: ['-e', program], env } as const
    const { lines } = await callOnce({ connection, calls: [] })
    expect(lines[0]).toContain('token [hidden]')
    expect(lines.join('')).not.toContain('canary')
  })
})

describe('a server works although it', () => {
  test.concurrent.each(['honest', 'probe-hangs', 'probe-exits', 'banners', 'floods-idle'])(
    'is %s',
    async (behaviour) => {
      const connection = hostileProcess(behaviour)
      const { response, lines } = await callOnce({ connection, calls: [{ name: 'echo', args: { text: 'hi' } }] })
      expect(response).toEqual({ text: 'echo {"text":"hi"}' })
      expect(lines).toEqual([])
    },
  )
})

describe('a call of a server that dies', () => {
  test.concurrent.each(['exits-in-call', 'half-line', 'too-large', 'endless-line', 'false-hints'])(
    '(%s) has an unknown outcome, and the next call starts the server again',
    async (behaviour) => {
      await using meeting = meet({
        connection: hostileProcess(behaviour),
        steps: [{ calls: [{ name: 'evil' }] }, { calls: [{ name: 'echo' }] }, 'done'],
      })
      const [first, second] = responsesOf((await meeting.send()).events)
      expect(first?.response).toMatchObject(LOST)
      expect(second?.response).toEqual({ text: 'echo {}' })
    },
  )

  test('is repeated once if its effect is idempotent', async () => {
    const connection = hostileProcess('exits-in-first-call', { HOSTILE_FILE: join(folder, 'first') })
    const options = { effect: () => 'idempotent' as const }
    const { response } = await callOnce({ connection, calls: [{ name: 'evil' }], options })
    expect(response).toEqual({ text: 'second try' })
  })

  test('is not repeated because the server calls it idempotent', async () => {
    const { response } = await callOnce({ connection: hostileProcess('false-hints'), calls: [{ name: 'evil' }] })
    expect(response).toMatchObject(LOST)
  })

  test('after its answer has the answer', async () => {
    const { response } = await callOnce({ connection: hostileProcess('exits-after-answer'), calls: [{ name: 'evil' }] })
    expect(response.text).toMatch(/x complete$/)
  })
})

describe('a call that', () => {
  const invalid = { error: 'The MCP server sent a response that is not valid JSON-RPC.', errorCode: 'EXECUTION_FAILED' }
  const cases: [behaviour: string, expected: JsonObject][] = [
    ['no-result', invalid],
    ['result-and-error', invalid],
    ['error-text-code', invalid],
    ['floods-stderr', { text: 'flooded' }],
  ]
  test.concurrent.each(cases)('%s ends at once', async (behaviour, expected) => {
    const { response } = await callOnce({ connection: hostileProcess(behaviour), calls: [{ name: 'evil' }] })
    expect(response).toEqual(expected)
  })

  test.concurrent.each(['hangs-in-call', 'late-answer', 'deaf-to-answers'])(
    '%s ends after callTimeoutMs',
    async (behaviour) => {
      await using meeting = meet({
        connection: hostileProcess(behaviour),
        options: { callTimeoutMs: 300 },
        steps: [{ calls: [{ name: 'evil' }] }, { calls: [{ name: 'own' }] }, 'done'],
      })
      const [first, second] = responsesOf((await meeting.send()).events)
      expect(first?.response).toMatchObject({ errorCode: 'UNKNOWN_OUTCOME' })
      expect(second?.response).toEqual({ result: 'mine' })
    },
  )
})

describe('secrets of the connection', () => {
  test.concurrent.each(['result', 'error', 'exit'])(
    'do not reach events through a server that repeats them (%s)',
    async (how) => {
      const API_TOKEN = 'canary-0815-canary'
      const seen: unknown[] = []
      const { response, completion, lines, model } = await callOnce({
        connection: hostileProcess('echoes-secrets', { API_TOKEN, REGION: 'eu-north-1' }),
        calls: [{ name: 'evil', args: { how } }],
        options: { onProgress: (progress) => seen.push(progress) },
      })
      expect(JSON.stringify([completion.events, lines, model.requests, seen])).not.toContain('canary')
      expect(seen).toEqual([{ tool: 'evil', progress: 1, message: 'with [hidden]' }])
      if (how === 'result') expect(response).toMatchObject({ text: 'token [hidden]' })
      if (how === 'error') expect(response).toMatchObject({ error: 'bad token [hidden]' })
    },
  )
})

describe('closing the runner ends', () => {
  test('a server that ignores SIGTERM', async () => {
    const meeting = meet({
      connection: hostileProcess('ignores-sigterm'),
      steps: [{ calls: [{ name: 'echo' }] }, 'done'],
    })
    expect(responsesOf((await meeting.send()).events)[0]?.response).toEqual({ text: 'echo {}' })
    await meeting.runner.close()
    expect(offered(meeting.model)).toContain('echo')
  })

  test.skipIf(process.platform === 'win32')('processes that the server has started', async () => {
    const { response } = await callOnce({ connection: hostileProcess('leaves-grandchild'), calls: [{ name: 'evil' }] })
    const pid = Number(/^pid (\d+)$/.exec(String(response.text))?.[1])
    expect(pid).toBeGreaterThan(0)
    await waitUntil(() => !isRunning(pid))
  })
})

test.skipIf(process.platform === 'win32')('processes of a server that was killed end with it', async () => {
  const file = join(folder, 'grandchild')
  const connection = hostileProcess('exits-leaving-grandchild', { HOSTILE_FILE: file })
  const { response } = await callOnce({ connection, calls: [{ name: 'evil' }] })
  expect(response).toMatchObject(LOST)
  expect(existsSync(file)).toBe(true)
  const pid = Number(readFileSync(file, 'utf8'))
  await waitUntil(() => !isRunning(pid))
})
