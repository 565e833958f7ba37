import { expect, test } from 'vitest'
import { createToolContext } from '../../testing/tool-context.ts'
import type { ServerTool } from '../listing/server-tool.ts'
import { HeldCalls } from './held-calls.ts'
import { type CallEnvironment, runCall } from './run-call.ts'
import { sampler } from './sampling.ts'

const tool = { name: 'refund' } as ServerTool

function environment(connect: CallEnvironment['connect']): CallEnvironment {
  return {
    server: 'shop',
    connect,
    held: new HeldCalls(),
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
