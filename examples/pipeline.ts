// A pipeline: two agents gather facts in parallel, a third agent writes, a fourth shortens the text in a loop.
// They share their work through the session's state: `outputKey` writes it, `{key}` in an instruction reads it.
import { exitLoop, LlmAgent, LoopAgent, ParallelAgent, Runner, SequentialAgent, tool } from 'toolwright'
import { z } from 'zod'
import { model } from './model.ts'

/** An agent that looks up one fact and stores it under its own name. */
function gatherer(name: string, what: string, found: string): LlmAgent {
  const find = tool({
    name: `find_${name}`,
    description: `Find out ${what}`,
    parameters: z.object({ city: z.string() }),
    effect: 'none',
    run: () => found,
  })
  return new LlmAgent({ name, model, instruction: `Say ${what}.`, tools: [find], outputKey: name })
}

const place = gatherer('place', 'where a city lies', 'Oslo lies at the end of a fjord.')
const sights = gatherer('sights', 'what one can see in a city', 'See the opera, the castle, the harbour, the museums.')

const instruction = 'Make one text of this and add nothing: {place} {sights}'
const writer = new LlmAgent({ name: 'writer', model, instruction, outputKey: 'draft' })

const shorten = tool({
  name: 'shorten_draft',
  description: 'Leave out the last part of the draft, and learn whether it fits now',
  run: (_, context) => {
    const draft = context.state.get('draft', '').replace(/,[^,]*$/, '.')
    context.state.set('draft', draft)
    return { draft, fits: draft.length <= 50 }
  },
})

const editor = new LlmAgent({
  name: 'editor',
  model,
  instruction: 'Shorten the draft with your tool. When it says that the draft fits, call exit_loop.',
  includeContents: 'none',
  tools: [shorten, exitLoop()],
})

const gather = new ParallelAgent({ name: 'gather', subAgents: [place, sights] })
const polish = new LoopAgent({ name: 'polish', subAgents: [editor], maxIterations: 5 })
const pipeline: SequentialAgent = new SequentialAgent({ name: 'pipeline', subAgents: [gather, writer, polish] })
export default pipeline

export const tour: readonly string[] = ['Write about Oslo.']

if (import.meta.main) {
  const runner = new Runner({ appName: 'pipeline', agent: pipeline })
  const { events } = await runner.complete({ userId: 'ada', message: 'Write about Oslo.' })
  for (const { author, actions } of events) {
    for (const [key, value] of Object.entries(actions.stateDelta ?? {})) console.log(`${author} -> ${key}: ${value}`)
  }
  await runner.close()
}
