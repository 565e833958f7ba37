// Approvals of calls that leave the process: requests and answers of HTTP clients, and tools of MCP servers.
import { approve, deny, type SessionService } from 'toolwright'
import { McpToolset } from 'toolwright/mcp'
import type { ScriptedStep } from 'toolwright/testing'
import { describe, expect, test } from 'vitest'
import {
  approval,
  createTestServer,
  runBody,
  SESSIONS,
  type TestClient,
} from '../../src/apps/server/server.test-kit.ts'
import { hostileHttp } from '../mcp/hostile-kit.ts'
import { refundReply, refundTool, requestFor, sendMessage, startProcess, stores } from './approvals-kit.ts'

const callEcho = { calls: [{ id: 'c1', name: 'echo', args: { text: 'hello' } }] }

describe.each(stores)('an approval with sessions %s', (_, newStore) => {
  test('travels to an HTTP client of one server and back to another one [DG-14]', async () => {
    const store = newStore()
    const { refund, run } = refundTool()
    const server = (steps: readonly ScriptedStep[]): TestClient =>
      createTestServer({ tools: [refund], steps, services: { sessionService: store } })
    const first = server([refundReply(5)])
    await first.send(`POST ${SESSIONS}`, { sessionId: 's1' })
    const [, asked] = (await first.send('POST /run_sse', runBody('Refund 5'))).frames()
    expect(asked.content.parts[0].functionCall.args.originalFunctionCall).toMatchObject({ args: { amount: 5 } })
    expect(run).not.toHaveBeenCalled()

    const second = server(['Refunded.'])
    const frames = (await second.send('POST /run_sse', runBody([approval(asked.longRunningToolIds[0])]))).frames()
    expect(frames.at(-1).content.parts).toEqual([{ text: 'Refunded.' }])
    expect(run.mock.calls).toEqual([[{ amount: 5 }]])
  })

  test.each([
    ['runs after an approval', approve, 1],
    ['does not run after a denial', deny, 0],
  ] as const)('of a tool of an MCP server: it %s [DG-03]', async (_case, reply, calls) => {
    await using server = await hostileHttp('honest')
    const open = (store: SessionService, steps: readonly ScriptedStep[]) => {
      const toolset = new McpToolset({ name: 'shop', connection: server.connection, requiresConfirmation: true })
      return startProcess(store, { tools: [toolset], steps }).runner
    }
    const store = newStore()
    await using first = open(store, [callEcho])
    const { pending } = await sendMessage(first)
    await using second = open(store, ['done'])
    expect((await sendMessage(second, [reply(requestFor(pending))])).text).toBe('done')
    expect(server.memory.received.filter(({ method }) => method === 'tools/call')).toHaveLength(calls)
  })
})
