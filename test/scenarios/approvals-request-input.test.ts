// requestInput and requestConfirmation in a body: the attempt ends with a pending request, and the body runs again after the answer.
import { approve, deny, InMemoryArtifactService, respond, type ToolContext, tool } from 'toolwright'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import {
  answerPart,
  finalResponses,
  historyProblems,
  requestFor,
  sendMessage,
  startProcess,
  storedEvents,
  stores,
  where,
} from './approvals-kit.ts'
import { createRecordingStore } from './kit.ts'

const call = { calls: [{ id: 'c1', name: 'book', args: {} }] }

function book(run: (context: ToolContext) => unknown, more: { requiresConfirmation?: boolean } = {}) {
  return tool({ name: 'book', description: 'Book', ...more, run: (_args, context) => run(context) })
}

describe.each(stores)('the runner with sessions %s', (_, newStore) => {
  describe('requestInput', () => {
    const schemas: [string, unknown][] = [
      ['Zod', z.object({ nights: z.number().int(), view: z.enum(['sea', 'yard']).default('yard') })],
      [
        'JSON Schema',
        {
          type: 'object',
          properties: { nights: { type: 'integer' }, view: { type: 'string', enum: ['sea', 'yard'], default: 'yard' } },
          required: ['nights'],
        },
      ],
    ]
    test.each(schemas)(
      'validates the answer with its schema (%s) and keeps the request pending after a wrong answer',
      async (name, schema) => {
        const store = newStore()
        const got: unknown[] = []
        const tools = [
          book((context) => {
            const stay = context.requestInput({ key: 'stay', message: 'How long?', schema })
            if (stay === undefined) return 'asking'
            got.push(stay)
            return { booked: true }
          }),
        ]
        const { pending } = await sendMessage(startProcess(store, { tools, steps: [call] }).runner)
        const { runner } = startProcess(store, { tools, steps: ['booked'] })
        for (const wrong of [{ nights: 'two' }, {}, 'two', { nights: 2, view: 'sky' }, null]) {
          await expect(sendMessage(runner, [respond(requestFor(pending), wrong)])).rejects.toMatchObject({
            code: 'INVALID_REQUEST',
            message: expect.stringContaining('does not match its schema'),
          })
        }
        expect(await runner.pending(where)).toHaveLength(1)
        expect((await sendMessage(runner, [respond(requestFor(pending), { nights: 2 })])).text).toBe('booked')
        expect(got).toEqual([name === 'Zod' ? { nights: 2, view: 'yard' } : expect.objectContaining({ nights: 2 })])
      },
    )

    test('returns the answer of respond() to a schema without required properties as it is', async () => {
      for (const answer of [{}, { note: 'quiet' }, { result: 'mine' }]) {
        const got: unknown[] = []
        const schema = { type: 'object', properties: { note: { type: 'string' } } }
        const tools = [
          book((context) => {
            const wish = context.requestInput({ key: 'wish', message: 'A wish?', schema })
            if (wish !== undefined) got.push(wish)
          }),
        ]
        const { runner } = startProcess(newStore(), { tools, steps: [call, 'done'] })
        const { pending } = await sendMessage(runner)
        await sendMessage(runner, [respond(requestFor(pending), answer)])
        expect(got).toEqual([answer])
      }
    })

    test('returns a bare value unchanged, and any value without a schema', async () => {
      const got: unknown[] = []
      const tools = [
        book((context) => {
          const nights = context.requestInput<number>({ key: 'nights', message: 'How many?', schema: z.number() })
          const note = context.requestInput({ key: 'note', message: 'A note?' })
          if (nights !== undefined && note !== undefined) got.push(nights, note)
        }),
      ]
      const { runner } = startProcess(newStore(), { tools, steps: [call, 'done'] })
      const { pending } = await sendMessage(runner)
      expect(pending.map(({ key }) => key)).toEqual(['nights', 'note'])
      const first = await sendMessage(runner, [respond(pending[1] as never, { free: ['text'] })])
      expect(first.pending.map(({ key }) => key)).toEqual(['nights']) // the body needs both answers
      expect((await sendMessage(runner, [respond(pending[0] as never, 3)])).text).toBe('done')
      expect(got).toEqual([3, { free: ['text'] }])
    })

    test('returns earlier answers when the body requests the next input', async () => {
      const store = newStore()
      const runs = vi.fn()
      const tools = [
        book((context) => {
          runs()
          const from = context.requestInput<string>({ key: 'from', message: 'From?' })
          if (from === undefined) return
          const to = context.requestInput<string>({ key: 'to', message: `From ${from} to?` })
          if (to === undefined) return
          return { trip: [from, context.requestInput({ key: 'from', message: 'From?' }), to] }
        }),
      ]
      const first = await sendMessage(startProcess(store, { tools, steps: [call] }).runner)
      const second = await sendMessage(startProcess(store, { tools, steps: [] }).runner, [
        respond(requestFor(first.pending), 'Oslo'),
      ])
      expect(requestFor(second.pending)).toMatchObject({ key: 'to', hint: 'From Oslo to?' })
      const { runner, model } = startProcess(store, { tools, steps: ['done'] })
      await sendMessage(runner, [respond(requestFor(second.pending), 'Rome')])
      expect(runs).toHaveBeenCalledTimes(3)
      expect(model.requests[0]?.contents.at(-1)?.parts[0]?.functionResponse?.response).toEqual({
        trip: ['Oslo', 'Oslo', 'Rome'],
      })
      expect(historyProblems(model.requests[0]?.contents ?? [])).toEqual([])
    })

    test("requests the input again when only the body's schema rejects the answer", async () => {
      const tools = [
        book((context) => {
          const even = z.number().refine((value) => value % 2 === 0)
          return context.requestInput({ key: 'n', message: 'An even number?', schema: even })
        }),
      ]
      const { runner } = startProcess(newStore(), { tools, steps: [call, 'done'] })
      const { pending } = await sendMessage(runner)
      const second = await sendMessage(runner, [respond(requestFor(pending), 3)])
      expect(requestFor(second.pending).key).toBe('n')
      expect(finalResponses((await sendMessage(runner, [respond(requestFor(second.pending), 4)])).events).c1).toEqual({
        result: 4,
      })
    })

    test('answers the call with an error when requestInput gets an invalid schema', async () => {
      const tools = [book((context) => context.requestInput({ key: 'n', message: 'n?', schema: 7 }))]
      const { runner } = startProcess(newStore(), { tools, steps: [call, 'done'] })
      const { pending, events } = await sendMessage(runner)
      expect(pending).toEqual([])
      expect(finalResponses(events).c1).toMatchObject({
        errorCode: expect.any(String),
        error: expect.stringContaining('"n"'),
      })
    })

    test('answers CANCELLED when the request expires', async () => {
      let now = 0
      const tools = [book((context) => context.requestInput({ key: 'n', message: 'n?' }))]
      const runner = { ports: { now: () => now } }
      const asking = startProcess(newStore(), { tools, steps: [call, 'sorry'], runner }).runner
      const { pending } = await sendMessage(asking)
      now += 24 * 60 * 60 * 1000
      await expect(sendMessage(asking, [respond(requestFor(pending), 1)])).rejects.toMatchObject({ code: 'EXPIRED' })
      const events = []
      for await (const event of asking.resume(where)) events.push(event)
      expect(finalResponses(events).c1).toMatchObject({ errorCode: 'CANCELLED' })
    })
  })

  describe('requestConfirmation in a body', () => {
    const pay = (paid: unknown[]) => (context: ToolContext) => {
      context.requestConfirmation({ hint: 'Pay 7?', payload: { total: 7 } })
      if (context.toolConfirmation?.confirmed) paid.push(context.toolConfirmation.payload)
      return { paid: paid.length }
    }

    test('runs the body again after an approval, with its payload', async () => {
      const store = newStore()
      const paid: unknown[] = []
      const { pending } = await sendMessage(startProcess(store, { tools: [book(pay(paid))], steps: [call] }).runner)
      expect(paid).toEqual([])
      const { runner } = startProcess(store, { tools: [book(pay(paid))], steps: ['done'] })
      const { events } = await sendMessage(runner, [approve(requestFor(pending), { payload: { tip: 1 } })])
      expect(paid).toEqual([{ tip: 1 }])
      expect(finalResponses(events).c1).toEqual({ paid: 1 })
    })

    test('does not run the body again after a denial', async () => {
      const run = vi.fn(pay([]))
      const { runner } = startProcess(newStore(), { tools: [book(run)], steps: [call, 'ok'] })
      const { pending } = await sendMessage(runner)
      const { events } = await sendMessage(runner, [deny(requestFor(pending), { reason: 'no money' })])
      expect(run).toHaveBeenCalledOnce()
      expect(finalResponses(events).c1).toMatchObject({ error: 'tool call was rejected by the user: no money' })
    })

    test('requests another confirmation in the body after an approval of the gate [DG-11]', async () => {
      const store = newStore()
      const paid: unknown[] = []
      const body = (context: ToolContext) => {
        const atTheGate = context.toolConfirmation?.payload
        context.requestConfirmation({ hint: 'Really?' })
        paid.push([atTheGate, context.toolConfirmation?.hint])
        return 'ok'
      }
      const tools = [book(body, { requiresConfirmation: true })]
      const first = await sendMessage(startProcess(store, { tools, steps: [call] }).runner)
      expect(paid).toEqual([])
      const second = await sendMessage(startProcess(store, { tools, steps: [] }).runner, [
        approve(requestFor(first.pending), { payload: 1 }),
      ])
      expect(requestFor(second.pending).hint).toBe('Really?')
      expect(paid).toEqual([]) // the body ran up to its request
      const { events } = await sendMessage(startProcess(store, { tools, steps: ['done'] }).runner, [
        approve(requestFor(second.pending), { payload: 2 }),
      ])
      expect(paid).toEqual([[2, 'Really?']])
      expect(finalResponses(events).c1).toEqual({ result: 'ok' })
    })

    test('requests the gate, two confirmations with different hints and an input in turn', async () => {
      const steps = [call, 'done']
      const tools = [
        book(
          (context) => {
            context.requestConfirmation({ hint: 'one?' })
            context.requestConfirmation({ hint: 'two?' })
            return { key: context.requestInput({ key: 'k', message: 'key?' }) }
          },
          { requiresConfirmation: true },
        ),
      ]
      const { runner } = startProcess(newStore(), { tools, steps })
      const hints: (string | undefined)[] = []
      let { pending, events } = await sendMessage(runner)
      while (pending.length) {
        hints.push(...pending.map(({ hint }) => hint))
        const parts = pending.map((one) => (one.kind === 'input' ? respond(one, 'K') : approve(one)))
        ;({ pending, events } = await sendMessage(runner, parts))
      }
      expect(hints).toEqual(['Approve execution of tool `book`?', 'one?', 'two?', 'key?'])
      expect(finalResponses(events).c1).toEqual({ key: 'K' })
    })
  })

  test('drops state, artifacts and actions of an attempt that ends with a pending request', async () => {
    const store = newStore()
    const artifactService = new InMemoryArtifactService()
    const tools = [
      book(async (context) => {
        context.state.set('draft', true)
        context.actions.escalate = true
        await context.saveArtifact('draft.txt', { text: 'draft' })
        const name = context.requestInput<string>({ key: 'name', message: 'Name?' })
        if (name === undefined) return { never: 'shown' }
        context.state.delete('draft')
        context.actions.escalate = false
        context.state.set('name', name)
        return { name }
      }),
    ]
    const { runner } = startProcess(store, { tools, steps: [call, 'done'], runner: { artifactService } })
    const first = await sendMessage(runner)
    expect(first.events.flatMap(({ actions }) => Object.keys(actions))).toEqual(['skipSummarization'])
    expect((await store.getSession({ appName: 'app', ...where }))?.state).toEqual({})
    await sendMessage(runner, [respond(requestFor(first.pending), 'Ada')])
    expect((await store.getSession({ appName: 'app', ...where }))?.state).toEqual({ name: 'Ada' })
    expect(JSON.stringify(await storedEvents(store))).not.toContain('never')
  })

  test('pauses when the body throws after requesting an input', async () => {
    const tools = [
      book((context) => {
        const given = context.requestInput({ key: 'n', message: 'n?', schema: z.object({ n: z.number() }) })
        return { twice: (given as { n: number }).n * 2 }
      }),
    ]
    const { runner } = startProcess(newStore(), { tools, steps: [call, 'done'] })
    const { pending } = await sendMessage(runner)
    const { events } = await sendMessage(runner, [respond(requestFor(pending), { n: 4 })])
    expect(finalResponses(events).c1).toEqual({ twice: 8 })
  })

  test('runs a body that ignores toolConfirmation only after an approval, and never after a denial', async () => {
    const paid: string[] = []
    const naive = book((context) => {
      context.requestConfirmation({ hint: 'Sure?' })
      paid.push('paid')
      return 'paid'
    })
    const { runner } = startProcess(newStore(), { tools: [naive], steps: [call, 'done', call, 'no'] })
    const first = await sendMessage(runner)
    expect(paid).toEqual([])
    await sendMessage(runner, [approve(requestFor(first.pending))])
    expect(paid).toEqual(['paid'])
    const second = await sendMessage(runner)
    await sendMessage(runner, [deny(requestFor(second.pending))])
    expect(paid).toEqual(['paid'])
  })

  test('answers CANCELLED with the reason when the user declines an input request', async () => {
    const run = vi.fn((context: ToolContext) => ({ given: context.requestInput({ key: 'n', message: 'Phone?' }) }))
    const { runner } = startProcess(newStore(), { tools: [book(run)], steps: [call, 'done'] })
    const { pending } = await sendMessage(runner)
    const { events, text } = await sendMessage(runner, [deny(requestFor(pending), { reason: 'none of your business' })])
    expect(run).toHaveBeenCalledOnce()
    expect(finalResponses(events).c1).toMatchObject({
      errorCode: 'CANCELLED',
      error: expect.stringContaining('none of your'),
    })
    expect(text).toBe('done')
  })

  describe('an input that looks like its envelope', () => {
    const tools = (schema?: z.ZodType) => [
      book((context) => ({
        given: context.requestInput<unknown>({ key: 'n', message: 'n?', ...(schema && { schema }) }),
      })),
    ]
    test.each<[string, z.ZodType | undefined, unknown]>([
      ['an object with a result', z.object({ result: z.number() }), { result: 5 }],
      ['an object with a result, without a schema', undefined, { result: 5 }],
      ['an object with declined', z.object({ declined: z.boolean() }), { declined: true }],
      ['null', undefined, null],
    ])('such as %s is passed to the body unchanged', async (_what, schema, value) => {
      const { runner } = startProcess(newStore(), { tools: tools(schema), steps: [call, 'done'] })
      const { pending } = await sendMessage(runner)
      const { events } = await sendMessage(runner, [respond(requestFor(pending), value)])
      expect(finalResponses(events).c1).toEqual({ given: value })
      const again = await sendMessage(runner, [respond(requestFor(pending), value)])
      expect(again.events).toEqual(events) // sent again, the answer changes nothing
    })

    test('is accepted as a bare object from a client when the schema fits', async () => {
      const schema = z.object({ result: z.number() })
      const { runner } = startProcess(newStore(), { tools: tools(schema), steps: [call, 'done'] })
      const { pending } = await sendMessage(runner)
      const { events } = await sendMessage(runner, [
        answerPart(requestFor(pending).id, { result: 5 }, 'adk_request_input'),
      ])
      expect(finalResponses(events).c1).toEqual({ given: { result: 5 } })
    })
  })

  test('rejects an answer by call id when the call has had two requests', async () => {
    const tools = [
      book((context) => [
        context.requestInput({ key: 'a', message: 'a?' }),
        context.requestInput({ key: 'b', message: 'b?' }),
      ]),
    ]
    const { runner } = startProcess(newStore(), { tools, steps: [call, 'done'] })
    const { pending } = await sendMessage(runner)
    await expect(sendMessage(runner, [answerPart('c1', { result: 1 })])).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringContaining('Answer with the request ids'),
    })
    await sendMessage(runner, [respond(pending[0] as never, 1)])
    // One request is open; the same answer could be a retry of the answer to the other request.
    await expect(sendMessage(runner, [answerPart('c1', { result: 2 })])).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
    })
    const { events } = await sendMessage(runner, [respond(pending[1] as never, 2)])
    expect(finalResponses(events).c1).toEqual({ result: [1, 2] })
  })
})

test('the runner closes the intent of an attempt that ends with a pending request', async () => {
  const { sessionService, appended } = createRecordingStore()
  const runs = vi.fn()
  const tools = [
    book((context) => {
      runs()
      return context.requestInput({ key: 'n', message: 'n?' })
    }),
  ]
  const { pending } = await sendMessage(startProcess(sessionService, { tools, steps: [call] }).runner)
  const { events } = await sendMessage(startProcess(sessionService, { tools, steps: ['done'] }).runner, [
    respond(requestFor(pending), 1),
  ])
  expect(finalResponses(events).c1).toEqual({ result: 1 }) // not unknown_outcome
  expect(appended.flatMap((one) => ('type' in one ? [one.type] : []))).toEqual(['intent', 'request', 'intent'])
  expect(runs).toHaveBeenCalledTimes(2)
})
