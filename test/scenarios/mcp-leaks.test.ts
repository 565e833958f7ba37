// What is left after connections to MCP servers: no process, no file, no listener, no timer. `npm run leaks` runs more cycles.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { ServerCall } from '../../src/adapters/mcp/call/server-call.ts'
import { McpConnection } from '../../src/adapters/mcp/connection/connection.ts'
import { listServerTools } from '../../src/adapters/mcp/listing/server-tool.ts'
import { hostileHttp } from '../mcp/hostile-kit.ts'
import { waitUntil } from './kit.ts'

const run = promisify(execFile)
const flags = ['--conditions=toolwright:source', '--unhandled-rejections=strict', '--no-warnings=ExperimentalWarning']

/** Runs a program in a process of its own. Fails on an unhandled rejection, and on a warning of Node. */
async function runProgram(file: string, ...args: string[]): Promise<string> {
  const path = fileURLToPath(new URL(`../mcp/${file}`, import.meta.url))
  const { stdout, stderr } = await run(process.execPath, [...flags, path, ...args], { timeout: 60_000 })
  expect(stderr).toBe('')
  return stdout
}

const onLinux = describe.skipIf(process.platform !== 'linux')

onLinux('many connections, over stdio and HTTP, also to servers that fail', () => {
  test('leave nothing behind', async () => {
    const { before, after } = JSON.parse(await runProgram('leaks.ts', '2'))
    expect(after).toEqual(before)
    expect(after.children).toBe(0)
  }, 60_000)
})

test('a program that forgets to close its runner exits by itself', async () => {
  expect(await runProgram('forgets-close.ts')).toBe('done\n')
}, 30_000)

onLinux('the memory of the client stays bounded when a server', () => {
  test.concurrent.each(['endless-line', 'huge-text', 'many-blocks', 'deaf-to-answers', 'floods-stderr'])(
    '%s',
    async (behaviour) => {
      const { grown, keys } = JSON.parse(await runProgram('memory.ts', behaviour))
      expect(keys.length).toBeGreaterThan(0)
      expect(grown).toBeLessThan(300)
    },
    30_000,
  )
})

test('1,000 aborted calls leave no handler, no listener and no socket', async () => {
  await using server = await hostileHttp('hangs-in-call')
  const { connection: remote } = server
  const options = { server: remote, timeoutMs: 5_000, era: undefined, sampling: undefined, headers: {} }
  const connection = await McpConnection.open(options)
  const { tools } = await listServerTools(connection.client, { timeout: 5_000 })
  const tool = tools.find(({ name }) => name === 'evil')
  if (!tool) throw new Error('The server lists no tool.')
  const count = 1_000
  for (let at = 0; at < count; at++) {
    const call = new ServerCall({
      connection,
      tool,
      params: { arguments: {} },
      userKey: 'ada',
      timeoutMs: 60_000,
      headers: undefined,
      onProgress: () => {},
      sample: () => Promise.reject(new Error('off')),
    })
    await waitUntil(() => server.memory.calls === at + 1)
    call.abort(new Error('aborted'))
    await expect(call.next()).rejects.toThrow('aborted')
  }
  const inner = connection.client as unknown as Record<
    '_responseHandlers' | '_progressHandlers' | '_timeoutInfo',
    Map<number, unknown>
  >
  expect([inner._responseHandlers.size, inner._progressHandlers.size, inner._timeoutInfo.size]).toEqual([0, 0, 0])
  expect(connection.isBusy).toBe(false)
  await waitUntil(() => server.open() < 20)
  await waitUntil(
    () => server.memory.received.filter(({ method }) => method === 'notifications/cancelled').length === count,
  )
  await connection.close()
}, 60_000)
