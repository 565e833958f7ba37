// The offline model depends on the structure of a request only. These runs reword or remove every sentence that the
// framework writes into requests, and must end like the original runs.
import { expect, test } from 'vitest'
import { z } from 'zod'
import { LlmAgent } from '../../agent/agents/llm-agent.ts'
import { LoopAgent, ParallelAgent, SequentialAgent } from '../../agent/agents/workflow.ts'
import { functionCallsOf, type Part, textOf } from '../../content/content.ts'
import { longRunning } from '../../policy/long-running.ts'
import { Runner } from '../../runner/runner.ts'
import { tool } from '../../tool/define-tool.ts'
import type { Model } from '../../tool/model.ts'
import { exitLoop } from '../../tools/exit-loop.ts'
import { offlineModel } from '../offline-model.ts'

/** Sentences of the framework with replacements. */
const rewordings: readonly (readonly [RegExp, string])[] = [
  [/^For context:$/, 'Meanwhile, elsewhere:'],
  [/^(\[\w+\]) said: /, '$1 wrote: '],
  [/^(\[\w+\]) called (\S+) with /, '$1 used $2 '],
  [/^(\[\w+\]) got from (\S+): /, '$1 received of $2: '],
  [/^The result of \S+ \((.+)\) has arrived\.$/, 'News about $1!'],
  [/^Do what your instructions say\.$/, 'Begin.'],
  [/^Continue as instructed\.$/, 'Next.'],
]

/** The offline model behind a wrapper that rewords requests and adds the replaced sentences to `seen`. */
function reworded(seen: Set<string>): Model {
  const { name, capabilities, generate } = offlineModel()
  const partOf = (part: Part): Part => {
    const [pattern, instead] = rewordings.find(([one]) => part.text !== undefined && one.test(part.text)) ?? []
    if (part.text === undefined || !pattern || instead === undefined) return part
    seen.add(pattern.source)
    return { ...part, text: part.text.replace(pattern, instead) }
  }
  return {
    name,
    ...(capabilities && { capabilities }),
    generate: (request, options) => {
      const { systemInstruction = '', ...config } = request.config
      const own = systemInstruction.replace(/\n*To transfer the conversation[\s\S]*$/, '')
      if (own !== systemInstruction) seen.add('roster')
      const contents = request.contents.map(({ role, parts }) => ({ role, parts: parts.map(partOf) }))
      return generate({ ...request, contents, config: { ...config, systemInstruction: own } }, options)
    },
  }
}

const findParcel = tool({
  name: 'find_parcel',
  description: 'Find out where a parcel is',
  parameters: z.object({ id: z.number() }),
  effect: 'none',
  run: ({ id }) => ({ id, place: id % 2 ? 'Hamburg' : 'Lyon' }),
})
const listCharges = tool({
  name: 'list_charges',
  description: 'List what was charged',
  effect: 'none',
  run: () => ({ charges: [20, 20] }),
})

function team(model: Model): LlmAgent {
  const billing = new LlmAgent({ name: 'billing', description: 'Knows charges.', tools: [listCharges] })
  return new LlmAgent({ name: 'desk', description: 'Finds parcels.', model, tools: [findParcel], subAgents: [billing] })
}

function pipeline(model: Model): SequentialAgent {
  const facts = ['fjord', 'opera'].map((word) => {
    const find = tool({
      ...{ name: `find_${word}`, description: `Find the ${word} of a city`, effect: 'none' },
      ...{ parameters: z.object({ city: z.string() }), run: () => `It has one ${word}.` },
    })
    return new LlmAgent({ name: word, model, instruction: `Say which ${word} a city has.`, tools: [find] })
  })
  const writer = new LlmAgent({ name: 'writer', model, instruction: 'Make one text.', outputKey: 'draft' })
  let rounds = 0
  const check = tool({
    name: 'check_draft',
    description: 'Check the draft',
    run: () => ({ passed: ++rounds % 2 === 0 }),
  })
  const editor = new LlmAgent({
    ...{ name: 'editor', model, instruction: 'Check the draft with your tool.', includeContents: 'none' as const },
    tools: [check, exitLoop()],
  })
  const loop = new LoopAgent({ name: 'polish', subAgents: [editor], maxIterations: 5 })
  const gather = new ParallelAgent({ name: 'gather', subAgents: facts })
  return new SequentialAgent({ name: 'pipeline', subAgents: [gather, writer, loop] })
}

const refund = longRunning(
  tool({
    name: 'request_refund',
    description: 'Ask for a refund of an order',
    parameters: z.object({ order_id: z.string() }),
    run: ({ order_id }) => ({ status: 'pending', order_id }),
  }),
)
const clerk = (model: Model): LlmAgent => new LlmAgent({ name: 'clerk', model, tools: [refund, findParcel] })

/** The texts and calls of all agents. A pending call is answered after the last message. */
async function transcript(agent: LlmAgent | SequentialAgent, messages: readonly string[]): Promise<string[]> {
  const runner = new Runner({ appName: 'test', agent })
  const said: string[] = []
  const send = async (message: string | Part[]): Promise<void> => {
    const { events, error } = await runner.complete({ userId: 'ada', sessionId: 's', message })
    expect(error).toBeUndefined()
    for (const { author, content } of events) {
      for (const { name, args } of functionCallsOf(content)) said.push(`${author} -> ${name} ${JSON.stringify(args)}`)
      if (content?.role === 'model' && textOf(content)) said.push(`${author}: ${textOf(content)}`)
    }
  }
  for (const message of messages) await send(message)
  for (const { functionCallId: id, tool: name } of await runner.pending())
    await send([{ functionResponse: { id, name: name ?? '', response: { status: 'paid', amount: 40 } } }])
  await runner.close()
  return said
}

test.each([
  {
    what: 'a team transfers to another agent and back',
    make: team,
    messages: ['Where is parcel 7?', 'I was charged twice!', 'And where is parcel 8?'],
    rewords: ['roster', 'For context:'],
    ends: 'desk: It is in Lyon.',
  },
  {
    what: 'a pipeline passes texts on and ends its loop',
    make: pipeline,
    messages: ['Write about Oslo.'],
    rewords: ['For context:', 'said:', 'Continue as'],
    ends: 'editor -> exit_loop {}',
  },
  {
    what: 'a late result is reported',
    make: clerk,
    messages: ['Request a refund of order A-1', 'Where is parcel 7?'],
    rewords: ['has arrived'],
    ends: 'clerk: Status: paid, amount: 40.',
  },
])('the offline model with reworded requests: $what', async ({ make, messages, rewords, ends }) => {
  const seen = new Set<string>()
  const original = await transcript(make(offlineModel()), messages)
  const other = await transcript(make(reworded(seen)), messages)
  expect(original.at(-1)).toBe(ends)
  expect(other).toEqual(original)
  expect(rewords.filter((words) => ![...seen].some((one) => one.includes(words)))).toEqual([])
})

test('the offline model reports a failure independently of its text', async () => {
  const agent = (error: string): LlmAgent => {
    const fail = tool({ name: 'fail', description: 'Fail at once', run: () => ({ error, errorCode: 'INVALID_ARGS' }) })
    return new LlmAgent({ name: 'clerk', model: offlineModel(), tools: [fail] })
  }
  for (const error of ['Invalid arguments for fail: a: expected string.', 'The call was denied.', 'It is under way.'])
    expect(await transcript(agent(error), ['Fail'])).toEqual(['clerk -> fail {}', `clerk: That did not work: ${error}`])
})
