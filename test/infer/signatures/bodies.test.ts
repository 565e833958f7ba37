import { LlmAgent, Runner, type ToolSource } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { beforeEach, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/core/base/json.ts'
import { attachInferred } from '../../../src/engine/tool/functions/inferred-function.ts'
import * as bodies from './fixtures/bodies.ts'
import { readTable } from './read-table.ts'

const { received, ...functions } = bodies
const inferred = new Map(readTable(['bodies']).signatures.map((signature) => [signature.key, signature.inferred]))
const tools: ToolSource[] = Object.entries(functions).map(([name, fn]) => {
  const found = inferred.get(`bodies.${name}`)
  if (!found) throw new Error(`${name} was not read.`)
  return attachInferred(fn, found)
})

beforeEach(() => {
  received.length = 0
})

/** Calls a tool as a model does. Returns the response that the model gets. */
async function call(name: string, args: JsonObject): Promise<unknown> {
  const model = scriptedModel([{ calls: [{ name, args }] }, 'Done.'])
  const agent = new LlmAgent({ name: 'desk', model, tools })
  const { events } = await new Runner({ appName: 'signatures', agent }).complete({ userId: 'ada', message: 'Go.' })
  const parts = events.flatMap(({ content }) => content?.parts ?? [])
  return parts.find(({ functionResponse }) => functionResponse)?.functionResponse?.response
}

const noon = '2026-01-31T12:00:00.000Z'
const night = '2026-02-01T00:00:00.000Z'
const [date, later] = [new Date(noon), new Date(night)]
const hello = new Uint8Array([104, 105])

const VALUES = {
  day: noon,
  file: 'aGk=',
  nested: { days: [noon, night], pages: { first: 'aGk=', empty: '' }, until: null },
  byKey: { 'on-monday': noon },
  range: [noon, noon, night],
  choice: { kind: 'file', data: 'aGk=' },
  visit: { at: noon, before: { at: night } },
  or: 'now',
}

test('dates and bytes reach the body as Date and Uint8Array, also nested', async () => {
  await call('recordValues', VALUES)
  expect(received).toEqual([
    [
      {
        day: date,
        file: hello,
        nested: { days: [date, later], pages: { first: hello, empty: new Uint8Array() }, until: null },
        byKey: { 'on-monday': date },
        range: [date, noon, later],
        choice: { kind: 'file', data: hello },
        visit: { at: date, before: { at: later } },
        or: 'now',
      },
    ],
  ])
})

test('the model hears which date or bytes are not valid, and the body is not called', async () => {
  const nested = { days: ['tomorrow'], pages: { first: 'hi!' }, until: null }
  const response = await call('recordValues', { ...VALUES, nested })
  expect(JSON.stringify(response)).toContain('nested.days')
  expect(await call('recordValues', { ...VALUES, file: 'hi!' })).toMatchObject({
    error: expect.stringContaining('file'),
  })
  expect(received).toEqual([])
})

test('positional arguments reach the function in order, with its own defaults for those that the model leaves out', async () => {
  const response = await call('recordOrder', { days: [night, noon], limit: 3, since: noon, nights: 5, from: 'Oslo' })
  expect(response).toEqual({ result: 'Oslo' })
  await call('recordOrder', { from: 'Bergen' })
  expect(received).toEqual([
    ['Oslo', 5, 'string', date, 3, later, date],
    ['Bergen', 2, 'string', new Date(0), 8],
  ])
})

test('an object parameter gets its arguments beside the context', async () => {
  await call('recordObject', { city: 'Oslo' })
  await call('recordObject', { city: 'Oslo', days: 1 })
  expect(received).toEqual([
    ['string', 'Oslo', 3],
    ['string', 'Oslo', 1],
  ])
})
