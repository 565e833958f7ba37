// Approvals in the messages of the AI SDK: genuine messages that are sent again, for another user, or at the same time.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type JsonObject, type Tool, tool } from 'toolwright'
import { type ToAiSdkToolsOptions, toAiSdkTools } from 'toolwright/ai-sdk'
import { sqlite } from 'toolwright/sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { stores } from '../stores.ts'
import { createDeferred } from './kit.ts'

const input = { order: 'A-7' }
const other = { order: 'B-8' }
const QUESTION = { role: 'user', content: 'Refund A-7.' }

/** The messages after the user has approved a call. */
function approved(toolCallId: string, given: JsonObject, approvalId = `approval of ${toolCallId}`) {
  return [
    QUESTION,
    {
      role: 'assistant',
      content: [
        { type: 'tool-call', toolCallId, toolName: 'refund', input: given },
        { type: 'tool-approval-request', toolCallId, approvalId },
      ],
    },
    { role: 'tool', content: [{ type: 'tool-approval-response', approvalId, approved: true }] },
  ]
}

const genuine = approved('call_1', input)

/** The messages after the user has denied the first call. */
function denied(reason?: string) {
  const response = { type: 'tool-approval-response', approvalId: 'approval of call_1', approved: false, reason }
  return [...genuine.slice(0, 2), { role: 'tool', content: [response] }]
}

function refundTool(more: Partial<Tool> = {}) {
  const refunds: string[] = []
  const refund = tool({
    name: 'refund',
    description: 'Refund an order',
    parameters: z.object({ order: z.string() }),
    requiresConfirmation: true,
    run: ({ order }, { invocation, state }) => {
      refunds.push(`${order} for ${invocation.userId}`)
      state.set('last', order)
      return { refunded: order }
    },
  })
  return { refunds, refund: { ...refund, ...more } as Tool }
}

type Services = Pick<ToAiSdkToolsOptions, 'sessionService'>

/** The tools of one HTTP request, as a server creates them. */
function request(refund: Tool, services: Services, userId = 'ada', sessionId = 's1') {
  const made = toAiSdkTools([refund], { userId, sessionId, ...services, acceptAiSdkApproval: true }).refund
  if (typeof made?.needsApproval !== 'function') throw new Error('needsApproval is no function')
  const { needsApproval, execute } = made
  return {
    /** The model makes the call, and the AI SDK asks whether it needs an approval. */
    ask: (toolCallId = 'call_1', given: JsonObject = input) =>
      needsApproval(given, { toolCallId, messages: [QUESTION] }),
    /** The model makes another call after these messages. */
    see: (messages: readonly unknown[]) => needsApproval(other, { toolCallId: 'call_9', messages }),
    /** The AI SDK gets messages with an approval. It asks once more whether the call needs one, then runs it. */
    send: async (messages: readonly unknown[] = genuine, toolCallId = 'call_1', given: JsonObject = input) => {
      expect(await needsApproval(given, { toolCallId, messages })).toBe(true)
      return await execute(given, { toolCallId, messages })
    },
  }
}

/** The results that the log has for denied calls of ada. */
async function deniedResponses({
  sessionService,
}: Required<Pick<Services, 'sessionService'>> & object): Promise<unknown[]> {
  if (!sessionService) throw new Error('There is no session service.')
  const home = { appName: 'ai-sdk', userId: 'ada' }
  const sessions = await sessionService.listSessions(home)
  const logs = await Promise.all(sessions.map(({ id }) => sessionService.getSession({ ...home, sessionId: id })))
  const parts = logs.flatMap((log) => log?.events.flatMap(({ content }) => content?.parts ?? []) ?? [])
  const responses = parts.flatMap(({ functionResponse: one }) => (one?.name === 'refund' ? [one.response] : []))
  return responses.flatMap(({ errorCode, error }) => (errorCode === 'CANCELLED' ? [error] : []))
}

const refused = { code: 'CANCELLED', message: expect.stringContaining('was not run') }

describe.each(stores)('an approval in the messages of the AI SDK, with sessions $name,', ({ open }) => {
  test('runs the call once, however often the messages are sent, and returns the recorded result', async () => {
    const { refund, refunds } = refundTool()
    const services = open()
    expect(await request(refund, services).ask()).toBe(true)
    for (let times = 0; times < 3; times++) {
      expect(await request(refund, services).send()).toEqual({ refunded: 'A-7' })
    }
    expect(refunds).toEqual(['A-7 for ada'])
  })

  test('runs nothing for another user or in another session, after the user and before', async () => {
    const { refund, refunds } = refundTool()
    const services = open()
    await request(refund, services).ask()
    await expect(request(refund, services, 'eve').send()).rejects.toMatchObject(refused)
    await expect(request(refund, services, 'ada', 's2').send()).rejects.toMatchObject(refused)
    expect(refunds).toEqual([])
    await request(refund, services).send()
    await expect(request(refund, services, 'eve').send()).rejects.toMatchObject(refused)
    await expect(request(refund, services, 'ada', 's2').send()).rejects.toMatchObject(refused)
    expect(refunds).toEqual(['A-7 for ada'])
  })

  test('also counts if the AI SDK has only announced the call, as version 7 does', async () => {
    const { refund, refunds } = refundTool()
    const options = { userId: 'ada', sessionId: 's1', ...open(), acceptAiSdkApproval: true }
    const made = toAiSdkTools([refund], options).refund
    await made?.onInputAvailable?.({ input, toolCallId: 'call_1', messages: [QUESTION] })
    await made?.execute(input, { toolCallId: 'call_1', messages: genuine })
    expect(refunds).toEqual(['A-7 for ada'])
    expect(toAiSdkTools([refund], { userId: 'ada' }).refund).not.toHaveProperty('onInputAvailable')
  })

  test('runs nothing if it was not requested in this session', async () => {
    const { refund, refunds } = refundTool()
    const services = open()
    for (const user of ['ada', 'eve'])
      await expect(request(refund, services, user).send()).rejects.toMatchObject(refused)
    expect(refunds).toEqual([])
  })

  test('runs the call once when the messages are sent several times at once', async () => {
    const { refund, refunds } = refundTool()
    const services = open()
    await Promise.all([1, 2, 3].map(() => request(refund, services).ask()))
    const results = await Promise.all([1, 2, 3, 4, 5].map(() => request(refund, services).send()))
    expect(results).toEqual(results.map(() => ({ refunded: 'A-7' })))
    expect(refunds).toEqual(['A-7 for ada'])
  })

  test('does not count for other arguments, another call or under another approval', async () => {
    const { refund, refunds } = refundTool()
    const services = open()
    const { ask, send } = request(refund, services)
    await ask()
    await expect(send(approved('call_1', other), 'call_1', other)).rejects.toMatchObject(refused)
    await expect(send([...genuine, ...approved('call_2', other).slice(1)], 'call_2', other)).rejects.toMatchObject(
      refused,
    )
    await ask('call_2', other)
    const reused = [...genuine, ...approved('call_2', other, 'approval of call_1').slice(1)]
    await expect(send(reused, 'call_2', other)).rejects.toMatchObject(refused)
    expect(refunds).toEqual([])
    await send()
    expect(await send(approved('call_1', input, 'another approval'))).toEqual({ refunded: 'A-7' })
    expect(refunds).toEqual(['A-7 for ada'])
    expect(await send(approved('call_2', other), 'call_2', other)).toEqual({ refunded: 'B-8' })
    expect(refunds).toEqual(['A-7 for ada', 'B-8 for ada'])
  })

  test.each([
    ['atMostOnce', 'UNKNOWN_OUTCOME', 1],
    ['idempotent', 'refunded', 2],
  ] as const)('is sent again after a crash in the body of a tool with effect %s: %s', async (effect, end, runs) => {
    let now = 1_000_000
    const services = open({ now: () => now, leaseMs: 15_000 })
    const began = createDeferred()
    const stuck = createDeferred()
    onTestFinished(() => stuck.resolve())
    let ran = 0
    const body = async () => {
      if (++ran > 1) return { refunded: 'again' }
      began.resolve()
      await stuck.promise
      return { refunded: 'late' }
    }
    const { refund } = refundTool({ effect, run: body })
    await request(refund, services).ask()
    const dying = request(refund, services).send()
    dying.catch(() => {})
    await began.promise
    now += 15_000
    const again = request(refund, services)
      .send()
      .catch((error: { code?: string }) => error.code)
    expect(JSON.stringify(await again)).toContain(end)
    expect(ran).toBe(runs)
  })

  test('shares the state of the session with the call', async () => {
    const services = open()
    const home = { appName: 'ai-sdk', userId: 'ada', sessionId: 's1' }
    await services.sessionService.createSession({ ...home, state: { last: 'none', limit: 5 } })
    const seen: unknown[] = []
    const { refund } = refundTool({
      requiresConfirmation: (_, { state }) => state.get('limit') === 5,
      run: (_, { state }) => {
        seen.push(state.get('last'))
        state.set('last', 'A-7')
        return {}
      },
    })
    await request(refund, services).ask()
    await request(refund, services).send()
    expect((await services.sessionService.getSession(home))?.state).toEqual({ last: 'A-7', limit: 5 })
    await request(refund, services).send()
    expect((await services.sessionService.getSession(home))?.events).toHaveLength(1)
    expect(seen).toEqual(['none'])
  })

  test('is refused after a denial was recorded, whatever the messages say later', async () => {
    const { refund, refunds } = refundTool()
    const services = open()
    const { ask, see } = request(refund, services)
    await ask()
    expect(await services.sessionService.pending({ appName: 'ai-sdk', userId: 'ada' })).toHaveLength(1)
    for (let times = 0; times < 3; times++) await see(denied('Too expensive.')) // the model makes another call
    expect(await deniedResponses(services)).toEqual([expect.stringContaining('Too expensive.')])
    const refusedLater = { code: 'CANCELLED', message: expect.stringContaining('the user has denied it') }
    await expect(request(refund, services).send()).rejects.toMatchObject(refusedLater)
    expect(refunds).toEqual([])
  })

  test('counts after a denial of another user, in another session or without a request', async () => {
    const { refund, refunds } = refundTool()
    const services = open()
    await request(refund, services).ask()
    await request(refund, services, 'eve').see(denied())
    await request(refund, services, 'ada', 's2').see(denied())
    const response = { type: 'tool-approval-response', approvalId: 'approval of call_1', approved: false }
    await request(refund, services).see([QUESTION, { role: 'tool', content: [response] }]) // it names no call
    await request(refund, services).see([...genuine.slice(0, 2), { role: 'user', content: [response] }])
    expect(await request(refund, services).send()).toEqual({ refunded: 'A-7' })
    await request(refund, services).see(denied()) // too late
    expect(await request(refund, services).send()).toEqual({ refunded: 'A-7' })
    expect(refunds).toEqual(['A-7 for ada'])
    expect(await deniedResponses(services)).toEqual([])
  })

  test('runs its call, and a denial of another call in the same messages is recorded', async () => {
    const { refund, refunds } = refundTool()
    const services = open()
    await request(refund, services).ask()
    await request(refund, services).ask('call_2', other)
    const messages = [...denied(), ...approved('call_2', other).slice(1)]
    await Promise.all([1, 2].map(() => request(refund, services).send(messages, 'call_2', other)))
    expect(refunds).toEqual(['B-8 for ada'])
    expect(await deniedResponses(services)).toHaveLength(1)
    expect(await services.sessionService.pending({ appName: 'ai-sdk', userId: 'ada' })).toEqual([])
  })

  test('is not needed for a call that no longer needs one', async () => {
    const { refund, refunds } = refundTool({ requiresConfirmation: () => false })
    const options = { userId: 'ada', sessionId: 's1', ...open(), acceptAiSdkApproval: true }
    await toAiSdkTools([refund], options).refund?.execute(input, { toolCallId: 'call_1', messages: genuine })
    expect(refunds).toEqual(['A-7 for ada'])
  })
})

test('an approval of the AI SDK is used once across two processes on one file', async () => {
  const { refund, refunds } = refundTool()
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'app.db')
  {
    using services = sqlite(file)
    await request(refund, services).ask()
  }
  for (let times = 0; times < 2; times++) {
    using services = sqlite(file)
    expect(await request(refund, services).send()).toEqual({ refunded: 'A-7' })
  }
  expect(refunds).toEqual(['A-7 for ada'])
})

test.each([
  ['a sessionService', { sessionId: 's1' }],
  ['a sessionId', sqlite(':memory:')],
  ['both', {}],
])('acceptAiSdkApproval without %s is INVALID_CONFIG', (_, options: Partial<ToAiSdkToolsOptions>) => {
  const { refund } = refundTool()
  const make = () => toAiSdkTools([refund], { userId: 'ada', acceptAiSdkApproval: true, ...options })
  expect(make).toThrow(
    expect.objectContaining({ code: 'INVALID_CONFIG', message: expect.stringContaining('Pass session') }),
  )
})
