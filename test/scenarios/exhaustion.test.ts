import {
  approve,
  deny,
  InMemoryArtifactService,
  LlmAgent,
  type Model,
  Runner,
  type RunnerOptions,
  respond,
  retry,
  type Tool,
  tool,
} from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

const logger = { warn: () => {}, error: () => {} }

async function responseOf(one: Tool, options: Partial<RunnerOptions> = {}, args = {}): Promise<unknown> {
  const model = scriptedModel([{ calls: [{ name: one.name, args }] }, 'ok'])
  const agent = new LlmAgent({ name: 'desk', model, tools: [one] })
  const { text } = await new Runner({ appName: 'a', agent, logger, ...options }).complete({
    userId: 'u',
    message: 'go',
  })
  expect(text).toBe('ok')
  return model.requests[1]?.contents.at(-1)?.parts[0]?.functionResponse?.response
}

/** Never settles. */
const forever = (): Promise<never> => new Promise(() => {})

describe('with endless collections, the runner', () => {
  class EndlessSet extends Set<number> {
    override *[Symbol.iterator](): SetIterator<number> {
      for (;;) yield 1
    }
  }
  class EndlessMap extends Map<string, number> {
    override *[Symbol.iterator](): MapIterator<[string, number]> {
      for (;;) yield ['a', 1]
    }
  }
  it.each([
    ['Set', (): unknown => new EndlessSet()],
    ['Map', (): unknown => new EndlessMap()],
  ])('truncates the result of a tool that returns an endless %s', async (_, run) => {
    expect(await responseOf(tool({ name: 'list', description: 'Lists', run }))).toMatchObject({ truncated: true })
  })
  it('records a Map and a Set of a subclass completely', async () => {
    class Tags extends Set<string> {}
    class Prices extends Map<unknown, number> {}
    const run = () => ({ tags: new Tags(['a']), prices: new Prices([['b', 1]]), pairs: new Prices([[2, 3]]) })
    const response = await responseOf(tool({ name: 'list', description: 'Lists', run }))
    expect(response).toEqual({ tags: ['a'], prices: { b: 1 }, pairs: [[2, 3]] })
  })
})

describe('with work that never yields to other tasks, the runner', () => {
  it('cancels a retried tool that fails at once without a delay', async () => {
    const stop = new AbortController()
    let attempts = 0
    const run = () => {
      if (++attempts === 10) setTimeout(() => stop.abort(), 0)
      throw new Error('down')
    }
    const busy = retry(tool({ name: 'busy', description: 'Fails', effect: 'none', run }), {
      attempts: 1_000_000,
      delayMs: 0,
    })
    const model = scriptedModel([{ calls: [{ name: 'busy' }] }, 'ok'])
    const runner = new Runner({ appName: 'a', agent: new LlmAgent({ name: 'desk', model, tools: [busy] }), logger })
    const { error } = await runner.complete({ userId: 'u', message: 'go', signal: stop.signal })
    expect(error?.code).toBe('CANCELLED')
    expect(attempts).toBeLessThan(1_000_000)
  })
  it('makes every attempt of retry() without a delay', async () => {
    let attempts = 0
    const run = () => {
      if (++attempts < 250) throw new Error('down')
      return { attempts }
    }
    const busy = retry(tool({ name: 'busy', description: 'Fails', effect: 'none', run }), { attempts: 250, delayMs: 0 })
    expect(await responseOf(busy)).toEqual({ attempts: 250 })
  })
  it.each([true, false])(
    'cancels a model whose stream never ends and never waits (streaming: %s)',
    async (streaming) => {
      const stop = new AbortController()
      const model: Model = {
        name: 'endless',
        async *generate() {
          setTimeout(() => stop.abort(), 0)
          for (;;) yield { partial: true, content: { role: 'model', parts: [{ text: 'x' }] } }
        },
      }
      const runner = new Runner({ appName: 'a', agent: new LlmAgent({ name: 'desk', model }), logger })
      const run = runner.run({ userId: 'u', message: 'go', signal: stop.signal, runConfig: { streaming } })
      const codes: (string | undefined)[] = []
      for await (const { partial, errorCode } of run) if (!partial) codes.push(errorCode)
      expect(codes).toEqual(['CANCELLED'])
    },
  )
  it.each([
    ['large deltas of a streamed reply', 'x'.repeat(1_000_000), true],
    ['large deltas that no consumer reads', 'x'.repeat(1_000_000), false],
    ['empty deltas of a streamed reply', '', true],
    ['empty deltas that no consumer reads', '', false],
  ])('ends the agent with MODEL_ERROR after too many %s', async (_, text, streaming) => {
    const model: Model = {
      name: 'endless',
      async *generate() {
        for (;;) yield { partial: true, content: { role: 'model', parts: [{ text }] } }
      },
    }
    const runner = new Runner({ appName: 'a', agent: new LlmAgent({ name: 'desk', model }), logger })
    const { error } = await runner.complete({ userId: 'u', message: 'go', runConfig: { streaming } })
    expect(error).toMatchObject({ code: 'MODEL_ERROR', message: expect.stringContaining('model "endless"') })
  })
  it('takes a reply of many small deltas', async () => {
    const deltas = Array.from({ length: 20_000 }, () => 'x')
    const agent = new LlmAgent({ name: 'desk', model: scriptedModel([{ deltas }]) })
    const runner = new Runner({ appName: 'a', agent, logger })
    const { text } = await runner.complete({ userId: 'u', message: 'go', runConfig: { streaming: true } })
    expect(text).toHaveLength(20_000)
  })
  it('yields every partial event of a long stream to a consumer that reads', async () => {
    const deltas = Array.from({ length: 2_500 }, (_, i) => `${i} `)
    const agent = new LlmAgent({ name: 'desk', model: scriptedModel([{ deltas }]) })
    const run = new Runner({ appName: 'a', agent }).run({ userId: 'u', message: 'go', runConfig: { streaming: true } })
    const texts: (string | undefined)[] = []
    for await (const { partial, content } of run) if (partial) texts.push(content?.parts[0]?.text)
    expect(texts).toEqual(deltas)
  })
})

describe('with a validator that never settles, the runner', () => {
  const timeoutMs = 20
  it('answers INVALID_ARGS after the timeout of the tool and does not run the body', async () => {
    let ran = false
    const lookUp = tool({
      name: 'look_up',
      description: 'Looks up',
      parameters: z.object({ id: z.string().refine(forever) }),
      timeoutMs,
      run: () => {
        ran = true
      },
    })
    expect(await responseOf(lookUp, {}, { id: 'secret' })).toEqual({
      error: 'Invalid arguments for look_up: Argument validation of tool "look_up" timed out after 20 ms',
      errorCode: 'INVALID_ARGS',
    })
    expect(ran).toBe(false)
  })
  it('withholds a result that was not validated in time and says that the call has run', async () => {
    const outputSchema = z.object({ id: z.string().refine(forever) })
    const lookUp = tool({ name: 'look_up', description: 'Looks up', timeoutMs, outputSchema, run: () => ({ id: 'x' }) })
    expect(await responseOf(lookUp)).toEqual({
      error: 'Result validation of tool "look_up" timed out after 20 ms. The call is done; do not repeat it.',
      errorCode: 'INVALID_RESULT',
    })
  })
  it('waits for an asynchronous validator that settles', async () => {
    const schema = z.object({ id: z.string().refine(async (id) => id === 'x') })
    const echo = tool({ name: 'echo', description: 'Echoes', parameters: schema, outputSchema: schema, run: (a) => a })
    expect(await responseOf(echo, {}, { id: 'x' })).toEqual({ id: 'x' })
    expect(await responseOf(echo, {}, { id: 'y' })).toMatchObject({ errorCode: 'INVALID_ARGS' })
  })
})

describe('with a validator that rejects without an issue, the runner', () => {
  it('tells the model that the arguments are not valid', async () => {
    const jsonSchema = { input: () => ({ type: 'object' }), output: () => ({ type: 'object' }) }
    const parameters = { '~standard': { version: 1, vendor: 'test', validate: () => ({ issues: [] }), jsonSchema } }
    const strict = tool({ name: 'strict', description: 'Strict', parameters: parameters as never, run: () => 1 })
    expect(await responseOf(strict)).toEqual({
      error: 'Invalid arguments for strict: arguments: expected a valid value',
      errorCode: 'INVALID_ARGS',
    })
  })
})

describe('retry() with reconcile between two attempts', () => {
  const attempt = (reconcile: () => unknown) => {
    const counts = { bodies: 0 }
    const pay = tool({
      name: 'pay',
      description: 'Pays',
      effect: 'reconcilable',
      timeoutMs: 20,
      reconcile: reconcile as never,
      run: () => (++counts.bodies === 1 ? forever() : { paid: true }),
    })
    return { counts, pay: retry(pay, { attempts: 3, delayMs: 0 }) }
  }
  const down = () => {
    throw new Error('down')
  }
  it.each([
    ['throws', down],
    ['never settles', forever],
  ])('leaves the outcome unknown when reconcile %s', async (_, reconcile) => {
    const { counts, pay } = attempt(reconcile)
    expect(await responseOf(pay)).toMatchObject({ status: 'unknown_outcome', errorCode: 'TIMEOUT' })
    expect(counts.bodies).toBe(1)
  })
  it('runs the body again when reconcile returns not-done', async () => {
    const { counts, pay } = attempt(async () => ({ status: 'not-done' }))
    expect(await responseOf(pay)).toEqual({ paid: true })
    expect(counts.bodies).toBe(2)
  })
})

describe('with mistakes of JavaScript callers, the runner', () => {
  it.each([undefined, null, 5, 'r1', [], {}, { kind: 'other', id: 'r1' }])(
    'rejects %j as a pending request',
    (request) => {
      for (const answer of [approve, deny, (one: never) => respond(one, 1)]) {
        expect(() => answer(request as never)).toThrow(
          expect.objectContaining({
            code: 'INVALID_REQUEST',
            message: expect.stringContaining('takes a pending request'),
          }),
        )
      }
    },
  )
  it('rejects a runner without an agent', () => {
    const options = { appName: 'a' } as RunnerOptions
    expect(() => new Runner(options)).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG' }))
  })
  it('names the missing member of a code executor in the error', () => {
    const build = (codeExecutor: object) => new LlmAgent({ name: 'desk', codeExecutor: codeExecutor as never })
    expect(() => build({ execute: forever })).toThrow('has no languages. Use an executor of toolwright/code')
    expect(() => build({ languages: ['javascript'] })).toThrow('has no execute.')
    expect(build({ languages: ['javascript'], execute: forever }).name).toBe('desk')
  })
  it('names the state key or artifact of the wrong type in the error', async () => {
    const artifactService = new InMemoryArtifactService()
    const broken = (run: Tool['run']) =>
      responseOf(tool({ name: 'save', description: 'Saves', run }), { artifactService })
    const nothing = null as never
    expect(await broken((_, { state }) => state.set(nothing, 1))).toMatchObject({
      error: 'A state key must be a string, got null.',
    })
    expect(await broken((_, context) => context.saveArtifact(5 as never, { text: 'x' }))).toMatchObject({
      error: 'An artifact name must be a string, got 5.',
    })
    expect(await broken((_, context) => context.saveArtifact('a.txt', 'text' as never))).toMatchObject({
      error: expect.stringContaining('Artifact "a.txt" must be a part such as { text } or { inlineData }, got'),
    })
    expect(await broken((_, context) => context.saveArtifact('a.txt', { text: 'x' }))).toEqual({ result: 0 })
  })
})
