import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import { type Tool, tool } from 'toolwright'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { declarationsOf, plainTool, runScenario } from './kit.ts'

const CANARY = 'hunter2-canary'

/** One tool with its parameters in four schema languages; `ran` collects the arguments of its body. */
function toolInEveryLanguage(ran: unknown[]): [string, Tool][] {
  const about = { name: 'order', description: 'Order something', effect: 'none' } as const
  const run = (args: unknown): unknown => {
    ran.push(args)
    return { ok: true }
  }
  const item = 'What to order'
  return [
    [
      'Zod',
      tool({
        ...about,
        parameters: z.object({
          item: z.string().describe(item),
          count: z.number().default(1),
          note: z.string().optional(),
        }),
        run,
      }),
    ],
    [
      'ArkType',
      tool({
        ...about,
        parameters: type({ item: type('string').describe(item), count: 'number = 1', 'note?': 'string' }),
        run,
      }),
    ],
    [
      'Valibot',
      tool({
        ...about,
        parameters: toStandardJsonSchema(
          v.object({
            item: v.pipe(v.string(), v.description(item)),
            count: v.optional(v.number(), 1),
            note: v.optional(v.string()),
          }),
        ),
        run,
      }),
    ],
    [
      'JSON Schema',
      tool({
        ...about,
        parameters: {
          type: 'object',
          properties: {
            item: { type: 'string', description: item },
            count: { type: 'number', default: 1 },
            note: { type: 'string' },
          },
          required: ['item'],
        },
        run,
      }),
    ],
  ]
}

describe.each(toolInEveryLanguage([]).map(([language]) => language))('parameters written in %s', (language) => {
  const ran: unknown[] = []
  const order = toolInEveryLanguage(ran).find(([name]) => name === language)?.[1] as Tool

  test('declare descriptions of each argument to the model', async () => {
    const { model } = await runScenario({ tools: [order], steps: ['hello'] })
    const [declaration] = declarationsOf(model)
    expect(declaration).toMatchObject({
      name: 'order',
      description: 'Order something',
      parametersJsonSchema: {
        type: 'object',
        properties: { item: { type: 'string', description: 'What to order' } },
        required: ['item'],
      },
    })
  })

  test('pass valid arguments with defaults to the body', async () => {
    ran.length = 0
    const { response } = await runScenario({ tools: [order], calls: [{ name: 'order', args: { item: 'tea' } }] })
    expect(response).toEqual({ ok: true })
    expect(ran).toEqual([{ item: 'tea', count: 1 }])
  })

  test('answer INVALID_ARGS with the field and without its value, and does not run the body', async () => {
    ran.length = 0
    const calls = [
      { name: 'order', args: { item: 'tea', count: CANARY } },
      { name: 'order', args: { count: 2 } },
    ]
    const { responses, text } = await runScenario({ tools: [order], calls })
    expect(ran).toEqual([])
    expect(responses[0]?.response).toMatchObject({ errorCode: 'INVALID_ARGS' })
    expect(responses[0]?.response.error).toMatch(/count: expected .*number/)
    expect(responses[1]?.response.error).toMatch(/item: expected/)
    expect(JSON.stringify(responses)).not.toContain(CANARY)
    expect(text).toBe('done')
  })
})

test('the runner names every invalid field in one error', async () => {
  const book = tool({
    name: 'book',
    description: 'Book a room',
    parameters: z.object({
      nights: z.number().int().max(30),
      guest: z.object({ email: z.email() }),
      kind: z.enum(['single', 'double']),
    }),
    run: () => expect.unreachable(),
  })
  const args = { nights: 99, guest: { email: CANARY }, kind: CANARY }
  const { response } = await runScenario({ tools: [book], calls: [{ name: 'book', args }] })
  expect(response.error).toBe(
    'Invalid arguments for book: nights: expected number at most 30; guest.email: expected valid email; kind: expected "single" or "double"',
  )
})

test('the runner passes an empty object to a tool without parameters', async () => {
  const seen: unknown[] = []
  const now = tool({ name: 'now', description: 'The time', run: (args) => seen.push(args) })
  const { model } = await runScenario({
    tools: [now],
    calls: [{ name: 'now' }, { name: 'now', args: { zone: 'UTC' } }],
  })
  expect(seen).toEqual([{}, {}])
  expect(declarationsOf(model)).toEqual([{ name: 'now', description: 'The time' }])
})

test('the runner validates arguments of a plain tool with its declared schema', async () => {
  const ran: unknown[] = []
  const hand = plainTool('hand', (args) => ran.push(args), {
    declaration: () => ({
      name: 'hand',
      description: 'Made by hand',
      parametersJsonSchema: { type: 'object', properties: { n: { type: 'integer', default: 3 } } },
    }),
  })
  const { responses } = await runScenario({
    tools: [hand],
    calls: [{ name: 'hand', args: { n: 'x' } }, { name: 'hand' }],
  })
  expect(responses[0]?.response).toMatchObject({ errorCode: 'INVALID_ARGS' })
  expect(ran).toEqual([{ n: 3 }])
})

test('the runner runs a class with private state as a tool and uses its parse', async () => {
  class Counter implements Tool {
    readonly name = 'counter'
    readonly description = 'Counts'
    #count = 0
    declaration(): { name: string; description: string } {
      return { name: this.name, description: this.description }
    }
    parse(args: unknown): { value: unknown } | { issues: { path: string; expected: string }[] } {
      const { by } = args as { by?: number }
      return by === 13 ? { issues: [{ path: 'by', expected: 'a lucky number' }] } : { value: { by: by ?? 1 } }
    }
    run(args: unknown): number {
      this.#count += (args as { by: number }).by
      return this.#count
    }
  }
  const calls = [{ name: 'counter' }, { name: 'counter', args: { by: 13 } }, { name: 'counter', args: { by: 2 } }]
  const { responses } = await runScenario({ tools: [new Counter()], calls })
  expect(responses.map(({ response }) => response)).toEqual([
    { result: 1 },
    { error: 'Invalid arguments for counter: by: expected a lucky number', errorCode: 'INVALID_ARGS' },
    { result: 3 },
  ])
})

test('the runner answers INVALID_ARGS without the error message when a validator throws', async () => {
  const broken = plainTool('broken', () => expect.unreachable(), {
    parse: () => {
      throw new Error(`cannot check ${CANARY}`)
    },
  })
  const { response } = await runScenario({ tools: [broken], calls: [{ name: 'broken', args: { secret: CANARY } }] })
  expect(response).toEqual({
    error: 'Invalid arguments for broken: they could not be validated',
    errorCode: 'INVALID_ARGS',
  })
})

describe('outputSchema of a tool', () => {
  const weather = (result: unknown): Tool =>
    tool({
      name: 'weather',
      description: 'The weather',
      outputSchema: z.object({ degrees: z.number(), unit: z.string().default('C') }),
      run: (_, context): { degrees: number } => {
        context.state.set('asked', true)
        return result as { degrees: number }
      },
    })

  test('completes a valid result with defaults and declares its shape to the model', async () => {
    const { response, model, state } = await runScenario({
      tools: [weather({ degrees: 4 })],
      calls: [{ name: 'weather' }],
    })
    expect(response).toEqual({ degrees: 4, unit: 'C' })
    expect(declarationsOf(model)[0]).toMatchObject({ responseJsonSchema: { type: 'object' } })
    expect(state).toEqual({ asked: true })
  })

  test('answers INVALID_RESULT without the value and drops the state of the call', async () => {
    const { response, state } = await runScenario({
      tools: [weather({ degrees: CANARY })],
      calls: [{ name: 'weather' }],
    })
    expect(response).toEqual({
      error: 'weather returned a result that does not fit its schema: degrees: expected number',
      errorCode: 'INVALID_RESULT',
    })
    expect(state).toEqual({})
  })
})
