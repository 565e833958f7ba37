import { LlmAgent, type Model, Runner, SequentialAgent } from 'toolwright'
import { expectTypeOf, test } from 'vitest'
import { z } from 'zod'

declare const model: Model
const report = z.object({ city: z.string(), warm: z.boolean().default(false) })

test('output has the type of the outputSchema of the agent', async () => {
  const agent = new LlmAgent({ name: 'reporter', model, outputSchema: report })
  const { output } = await new Runner({ appName: 'app', agent }).complete({ userId: 'ada', message: 'Oslo?' })
  expectTypeOf(output).toEqualTypeOf<{ city: string; warm: boolean } | undefined>()
})

test('output has the type of a plain JSON Schema', async () => {
  const agent = new LlmAgent({
    name: 'reporter',
    model,
    outputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  })
  const { output } = await new Runner({ appName: 'app', agent }).complete({ userId: 'ada', message: 'Oslo?' })
  expectTypeOf(output).toEqualTypeOf<{ city: string } | undefined>()
})

test('output is unknown without an outputSchema and for workflow agents', async () => {
  const agent = new LlmAgent({ name: 'talker', model })
  const { output } = await new Runner({ appName: 'app', agent }).complete({ userId: 'ada', message: 'Oslo?' })
  expectTypeOf(output).toEqualTypeOf<unknown>()
  const both = new SequentialAgent({ name: 'both', subAgents: [agent] })
  const completion = await new Runner({ appName: 'app', agent: both }).complete({ userId: 'ada', message: 'Oslo?' })
  expectTypeOf(completion.output).toEqualTypeOf<unknown>()
})

test('a runner and an agent with a typed output are assignable to Runner and LlmAgent', () => {
  const agent = new LlmAgent({ name: 'reporter', model, outputSchema: report })
  const agents: LlmAgent[] = [agent]
  const runner: Runner = new Runner({ appName: 'app', agent })
  expectTypeOf(agents).toEqualTypeOf<LlmAgent[]>()
  expectTypeOf(runner).toEqualTypeOf<Runner>()
})
