// A tool that throws by accident: the logger gets the stack and the call, the model and the event log only the message.
import { inspect } from 'node:util'
import { type Logger, ToolError, tool } from 'toolwright'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createRecordingStore, responsesOf, runScenario, type Scenario } from './kit.ts'

interface Reported {
  readonly message: string
  readonly detail: unknown
}

/** Runs one call of each tool and returns the events, the log and what the logger got. */
async function run(story: Scenario) {
  const errors: Reported[] = []
  const warnings: string[] = []
  const logger: Logger = {
    warn: (message) => void warnings.push(message),
    error: (message, detail) => void errors.push({ message, detail }),
  }
  const { sessionService, appended } = createRecordingStore()
  const { events } = await runScenario({ ...story, runner: { ...story.runner, logger, sessionService } })
  return { events, appended, errors, warnings, responses: responsesOf(events).map(({ response }) => response) }
}

function readOrder(): string {
  throw new TypeError('order is undefined')
}
const fails = (name: string, error: unknown) =>
  tool({
    name,
    description: name,
    run: () => {
      throw error
    },
  })

test('a throwing tool is reported once, with its stack, its call and its invocation', async () => {
  const refund = tool({ name: 'refund', description: 'Refund', run: () => readOrder() })
  const { errors, responses, events } = await run({ tools: [refund], calls: [{ id: 'c1', name: 'refund' }] })
  expect(responses).toEqual([{ error: 'order is undefined', errorCode: 'EXECUTION_FAILED' }])
  const { invocationId = '' } = events[0] ?? {}
  expect(errors).toEqual([
    {
      message: `Tool "refund" threw in call "c1" of invocation "${invocationId}": order is undefined`,
      detail: expect.objectContaining({
        name: 'TypeError',
        stack: expect.stringMatching(
          /^TypeError: order is undefined\n +at readOrder .*tools-thrown-errors\.test\.ts:\d+/,
        ),
        call: {
          userId: 'ada',
          sessionId: events[0] && expect.any(String),
          invocationId,
          functionCallId: 'c1',
          toolName: 'refund',
        },
      }),
    },
  ])
})

test('no event, record or model request holds the stack', async () => {
  const refund = tool({ name: 'refund', description: 'Refund', run: () => readOrder() })
  const { appended, events } = await run({ tools: [refund], calls: [{ name: 'refund' }] })
  expect(JSON.stringify([appended, events])).toContain('order is undefined')
  expect(JSON.stringify([appended, events])).not.toContain('readOrder')
})

test('a ToolError, which a tool throws on purpose, is not reported', async () => {
  const { errors, responses } = await run({ tools: [fails('ask', new ToolError('Which?'))], calls: [{ name: 'ask' }] })
  expect(responses).toEqual([{ error: 'Which?', errorCode: 'EXECUTION_FAILED' }])
  expect(errors).toEqual([])
})

test('an error that onToolError replaces is not reported', async () => {
  const { errors, responses } = await run({
    tools: [fails('pay', new Error('no van'))],
    calls: [{ name: 'pay' }],
    agent: { onToolError: () => ({ later: true }) },
  })
  expect(responses).toEqual([{ later: true }])
  expect(errors).toEqual([])
})

test('the report has the causes of an error, and neither its headers nor a token', async () => {
  const cause = new Error('Authorization: Bearer abcdef123456789')
  const error = Object.assign(new Error('The API failed', { cause }), { config: { headers: { key: 'k-secret' } } })
  const { errors } = await run({ tools: [fails('pay', error)], calls: [{ name: 'pay' }] })
  const shown = inspect(errors[0]?.detail, { depth: 10 })
  expect(shown).toMatch(/The API failed\n.*Caused by: Error: Authorization: Bearer \[hidden\]/s)
  expect(shown).not.toMatch(/k-secret|abcdef123456789/)
})

test.each<[string, unknown, string]>([
  ['a text', 'no van', 'no van'],
  ['nothing', undefined, 'a value that is not an error was thrown (undefined)'],
  [
    'an error that throws when it is read',
    Object.defineProperty(new Error('x'), 'stack', {
      get: () => {
        throw new Error('unreadable')
      },
    }),
    'x',
  ],
])('a tool that throws %s is reported, too', async (_what, thrown, message) => {
  const { errors, responses } = await run({ tools: [fails('pay', thrown)], calls: [{ name: 'pay' }] })
  expect(responses).toEqual([{ error: message, errorCode: 'EXECUTION_FAILED' }])
  expect(errors).toMatchObject([{ detail: { message, stack: message } }])
})

describe('code around the body that throws is reported with its stack:', () => {
  const pay = tool({ name: 'pay', description: 'Pay', run: () => 1 })
  const order = z.object({ order: z.string() })
  test.each<[string, Scenario, RegExp]>([
    ['beforeTool', { tools: [pay], agent: { beforeTool: readOrder as never } }, /^beforeTool of tool "pay" threw/],
    ['afterTool', { tools: [pay], agent: { afterTool: readOrder } }, /^A callback of tool "pay" threw/],
    [
      'requiresConfirmation',
      { tools: [tool({ name: 'pay', description: 'Pay', requiresConfirmation: readOrder as never, run: () => 1 })] },
      /^requiresConfirmation of tool "pay" threw/,
    ],
    [
      'a validator',
      {
        tools: [tool({ name: 'pay', description: 'Pay', parameters: order.refine(readOrder as never), run: () => 1 })],
      },
      /^Validation of tool "pay" threw/,
    ],
  ])('%s', async (_what, story, message) => {
    const { errors } = await run({ ...story, calls: [{ name: 'pay', args: { order: 'a private value' } }] })
    expect(errors).toEqual([
      {
        message: expect.stringMatching(message),
        detail: expect.objectContaining({ stack: expect.stringMatching(/^TypeError: .*\n +at .*readOrder /) }),
      },
    ])
  })

  test('a validator, without its message, which may hold values of the arguments', async () => {
    const parameters = order.refine(({ order }) => {
      throw new Error(`bad order ${order}`)
    })
    const strict = tool({ name: 'pay', description: 'Pay', parameters, run: () => 1 })
    const { errors } = await run({ tools: [strict], calls: [{ name: 'pay', args: { order: 'a private value' } }] })
    expect(errors).toHaveLength(1)
    expect(inspect(errors)).not.toContain('a private value')
  })
})

describe('what JSON cannot hold in a result', () => {
  const page = { title: 'Home', rows: [{ id: 1, onClick: () => 1 }], 'a b': Symbol('x'), nothing: undefined }

  test('is left out, and a warning names its path once for each tool', async () => {
    const open = tool({ name: 'open', description: 'Open', run: () => page })
    const { responses, warnings } = await run({ tools: [open], calls: [{ name: 'open' }, { name: 'open' }] })
    expect(responses).toEqual([
      { title: 'Home', rows: [{ id: 1 }] },
      { title: 'Home', rows: [{ id: 1 }] },
    ])
    expect(warnings).toEqual([
      'The result of tool "open" has values that JSON cannot hold, so they are left out: rows[0].onClick (function), ["a b"] (symbol). Return data instead.',
    ])
  })

  test.each<[string, unknown, string]>([
    ['a function', () => 1, 'the function itself'],
    ['a map', new Map([['run', () => 1]]), 'run (function)'],
    ['a set', new Set([Symbol('x')]), '[] (symbol)'],
    ['an object with toJSON', { toJSON: () => ({ a: { b: () => 1 } }) }, 'a.b (function)'],
  ])('is found in %s', async (_what, value, path) => {
    const open = tool({ name: 'open', description: 'Open', run: () => value })
    const { warnings } = await run({ tools: [open], calls: [{ name: 'open' }] })
    expect(warnings).toEqual([expect.stringContaining(`left out: ${path}. Return`)])
  })

  test('does not include undefined, dates and methods of a class', async () => {
    class Order {
      readonly id = 1
      total(): number {
        return 2
      }
    }
    const value = { nothing: undefined, at: new Date(0), order: new Order() }
    const open = tool({ name: 'open', description: 'Open', run: () => value })
    const { responses, warnings } = await run({ tools: [open], calls: [{ name: 'open' }] })
    expect(responses).toEqual([{ at: '1970-01-01T00:00:00.000Z', order: { id: 1 } }])
    expect(warnings).toEqual([])
  })

  test('is an error if the result is a tool: its function was listed instead of called', async () => {
    const search = tool({ name: 'search', description: 'Search', run: () => 1 })
    const make = tool({ name: 'makeSearch', description: 'Make', run: (): unknown => search })
    const { responses, errors } = await run({ tools: [make], calls: [{ name: 'makeSearch' }] })
    const problem =
      'Tool "makeSearch" returned a tool instead of a result. Its function makes tools: call it where the tools of the agent are listed.'
    expect(responses).toEqual([{ error: problem, errorCode: 'INVALID_RESULT' }])
    expect(errors).toMatchObject([{ message: problem }])
  })
})
