import { LlmAgent, Runner, type Tool, ToolwrightError, tool } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { expect, test, vi } from 'vitest'
import { z } from 'zod'

const calls = (args: { [name: string]: unknown }) => ({ calls: [{ name: 'look', args }] })

test('the runner shows the model the message from the schema', async () => {
  const look = tool({
    name: 'look',
    description: 'Look',
    parameters: z.object({ city: z.string().min(3, 'Give the full city name'), days: z.int().optional() }),
    run: ({ city }) => city,
  })
  const model = scriptedModel([calls({ city: 'O', days: 'two' }), calls({ city: 'Oslo' }), 'done'])
  const runner = new Runner({ appName: 'app', agent: new LlmAgent({ name: 'a', model, tools: [look] }) })
  const { events } = await runner.complete({ userId: 'u', message: 'hi' })
  const responses = events.flatMap(
    ({ content }) => content?.parts?.map((part) => part.functionResponse?.response) ?? [],
  )
  expect(JSON.stringify(responses)).toContain(
    'Invalid arguments for look: city: Give the full city name (expected string of at least 3 characters); days: expected',
  )
  expect(JSON.stringify(responses)).toContain('Oslo')
})

/** Tools that count conversions of their schema to JSON Schema. */
function counted(count: number): { tools: Tool[]; conversions: () => number } {
  const spies: { mock: { calls: unknown[] } }[] = []
  const tools = Array.from({ length: count }, (_, i) => {
    const parameters = z.object({ city: z.string().describe('City name'), units: z.string().optional() })
    spies.push(vi.spyOn(parameters['~standard'].jsonSchema, 'input'))
    return tool({ name: i === 0 ? 'look' : `look_${i}`, description: 'Look', parameters, run: ({ city }) => city })
  })
  return { tools, conversions: () => spies.reduce((sum, { mock }) => sum + mock.calls.length, 0) }
}

test('the runner converts the schemas of a hundred tools once, at the first model call', async () => {
  const { tools, conversions } = counted(100)
  const model = scriptedModel([calls({ city: 'Oslo' }), 'one', 'two'])
  const runner = new Runner({ appName: 'app', agent: new LlmAgent({ name: 'a', model, tools }) })
  expect(conversions()).toBe(0)
  expect((await runner.complete({ userId: 'u', message: 'hi' })).text).toBe('one')
  expect(conversions()).toBe(100)
  expect((await runner.complete({ userId: 'u', message: 'hi' })).text).toBe('two')
  expect(conversions()).toBe(100)
  const [declared] = model.requests[0]?.config.tools ?? []
  expect(declared?.functionDeclarations).toHaveLength(100)
  expect(declared?.functionDeclarations?.[0]).toEqual(tools[0]?.declaration())
})

test('the runner validates a tool that was changed by a spread', () => {
  const build = (given: object) => new LlmAgent({ name: 'a', model: 'm', tools: [given as Tool] })
  const { tools } = counted(1)
  const [look] = tools as [Tool]
  expect(() => build({ ...look, name: 'other' })).toThrow('declares the name "look"')
  expect(() => build({ ...look, requireConfirmation: true })).toThrow('requiresConfirmation')
  expect(() => build({ ...look, timeoutMs: 'soon' })).toThrow('timeoutMs')
  expect(build({ ...look, description: 'else' }).table.hasDeclarations).toBe(true)
  // Without its own parser, the arguments are validated with the declared schema.
  const entry = build({ ...look, parse: undefined }).table.entries.get('look')
  expect(entry?.parse({})).toHaveProperty('issues')
})

test('tool() rejects a schema without a JSON Schema form', () => {
  const make = () => tool({ name: 'look', description: 'x', parameters: z.object({ at: z.date() }), run: () => 1 })
  expect(make).toThrow(ToolwrightError)
  expect(make).toThrow(/Tool "look": "at" in its schema is a Date/)
  const output = () =>
    tool({ name: 'look', description: 'x', outputSchema: z.object({ at: z.date() }), run: () => ({ at: new Date() }) })
  expect(output).toThrow(/Tool "look", output schema: "at" in its schema is a Date/)
  expect(() => new LlmAgent({ name: 'a', inputSchema: z.object({ id: z.bigint() }) })).toThrow(
    /inputSchema of agent "a": "id".*a bigint/,
  )
})
