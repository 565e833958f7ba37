// A pipeline: two agents gather side by side, a third writes, a fourth shortens in a loop until it is content.
// They pass their work on through the session's state: `outputKey` writes it, `{key}` in an instruction reads it.
import { exitLoop, LlmAgent, LoopAgent, ParallelAgent, Runner, SequentialAgent } from 'toolwright'
import { standIn } from './offline.ts'

const place = new LlmAgent({
  name: 'place',
  model: standIn(() => 'Oslo lies at the end of a fjord'),
  instruction: 'Say where the city is.',
  outputKey: 'place',
})

const sights = new LlmAgent({
  name: 'sights',
  model: standIn(() => 'one can see the opera, the castle, the harbour, the museums'),
  instruction: 'Say what one can see there.',
  outputKey: 'sights',
})

const writer = new LlmAgent({
  name: 'writer',
  model: standIn(({ instruction }) => `${instruction.split(': ')[1]}.`),
  instruction: 'Make one sentence of this: {place}, where {sights}',
  outputKey: 'draft',
})

const editor = new LlmAgent({
  name: 'editor',
  model: standIn(({ instruction }) => {
    const draft = instruction.split(': ')[1] ?? ''
    return draft.length <= 70 ? [{ name: 'exit_loop' }] : draft.replace(/, [^,]*$/, '.')
  }),
  instruction: 'Shorten this to 70 characters: {draft}',
  includeContents: 'none',
  tools: [exitLoop()],
  outputKey: 'draft',
})

const pipeline: SequentialAgent = new SequentialAgent({
  name: 'pipeline',
  subAgents: [
    new ParallelAgent({ name: 'gather', subAgents: [place, sights] }),
    writer,
    new LoopAgent({ name: 'polish', subAgents: [editor], maxIterations: 5 }),
  ],
})
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
