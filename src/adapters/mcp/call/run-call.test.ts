import { SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client'
import { expect, test, vi } from 'vitest'
import { createToolContext } from '../../testing/tool-context.ts'
import type { McpConnection } from '../connection/connection.ts'
import type { ServerTool } from '../listing/server-tool.ts'
import { OpenCalls } from './open-calls.ts'
import { type CallEnvironment, runCall } from './run-call.ts'
import { sampler } from './sampling.ts'

const tool = { name: 'refund' } as ServerTool

function environment(connect: CallEnvironment['connect']): CallEnvironment {
  return {
    server: 'shop',
    connect,
    openCalls: new OpenCalls(),
    origin: undefined,
    timeoutMs: 1_000,
    effect: 'atMostOnce',
    sample: sampler(undefined),
    question: () => undefined,
    onProgress: () => {},
  }
}

test('a call that could not be sent has no unknown outcome', async () => {
  const cause = new Error('ECONNREFUSED')
  const calling = runCall(
    environment(() => Promise.reject(cause)),
    tool,
    {},
    createToolContext(),
  )
  await expect(calling).rejects.toMatchObject({
    code: 'EXECUTION_FAILED',
    message: expect.stringContaining('The MCP server of tool "refund" cannot be reached, so the call was not sent'),
    cause,
  })
})

test.each([
  [true, 2, 'repeats a call after status 404 if the server has lost the session'],
  [false, 1, 'does not repeat a call after status 404 without a session: the server may have run it'],
])('hasSession %s, sent %i: %s', async (hasSession, times) => {
  const notFound = new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, 'gone', { status: 404 })
  const callTool = vi.fn(() => Promise.reject(notFound))
  const abandon = vi.fn(async () => {})
  const connection = { hasSession, abandon, isHttp: false, begin: () => () => {}, client: { callTool } }
  const connected = { connection: connection as unknown as McpConnection, headers: undefined, userKey: 'ada' }
  const calling = runCall(
    environment(async () => connected),
    tool,
    {},
    createToolContext(),
  )
  await expect(calling).rejects.toThrow('HTTP status 404')
  expect(callTool).toHaveBeenCalledTimes(times)
})
