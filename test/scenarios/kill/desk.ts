// The agent of every process: what it calls depends on its history only, so that a new process goes on as the old one.
import { type Agent, agentTool, type Effect, LlmAgent, type Model, type Part, type Tool, tool } from 'toolwright'
import type { Reach } from './outside.ts'

export const effects: readonly Effect[] = ['none', 'idempotent', 'reconcilable', 'atMostOnce']

export interface Story {
  /** The calls of the first reply: a tool for each effect. */
  readonly calls: readonly Effect[]
  /** Each call is asked about. */
  readonly isGated?: boolean
  /** The tools are those of a clerk, whom the desk calls as a tool; then it is that call which is gated. */
  readonly isNested?: boolean
}

export function desk(reach: Reach, story: Story): Agent {
  const { calls, isGated = false, isNested = false } = story
  const tools = effects.map((effect) => payment(effect, effect, reach, isGated && !isNested))
  const replies = calls.map((name): Part => ({ functionCall: { name, args: {} } }))
  const beforeTool = async ({ tool }: { tool: Pick<Tool, 'name'> }): Promise<void> => {
    await reach({ point: `prepare ${tool.name}` })
  }
  const afterTool = async ({ tool }: { tool: Pick<Tool, 'name'> }): Promise<void> => {
    await reach({ point: `finish ${tool.name}` })
  }
  if (!isNested)
    return new LlmAgent({ name: 'desk', model: model('desk', replies, reach), tools, beforeTool, afterTool })
  const clerk = new LlmAgent({ name: 'clerk', model: model('clerk', replies, reach), tools, beforeTool, afterTool })
  return new LlmAgent({
    name: 'desk',
    model: model('desk', [{ functionCall: { name: 'clerk', args: { request: 'Pay.' } } }], reach),
    tools: [{ ...agentTool(clerk), requiresConfirmation: isGated }],
  })
}

/** Pays; whether it was paid is known by the world alone. */
export function payment(name: string, effect: Effect, reach: Reach, isGated: boolean): Tool {
  return tool({
    name,
    description: `A payment whose effect is ${effect}`,
    effect,
    requiresConfirmation: isGated,
    ...(effect === 'reconcilable' && {
      reconcile: async ({ idempotencyKey: key }) => (await reach({ point: `reconcile ${name}`, key })) as never,
    }),
    run: async (_, { idempotencyKey: key }) => {
      await reach({ point: `before ${name}`, key })
      return await reach({ point: `effect ${name}`, key })
    },
  })
}

/** Makes its calls, then says that it is done. */
function model(name: string, replies: readonly Part[], reach: Reach): Model {
  return {
    name,
    async *generate({ contents }) {
      const isAnswered = contents.at(-1)?.role === 'tool'
      await reach({ point: isAnswered ? `${name} is told` : `${name} is asked` })
      yield { content: { role: 'model', parts: isAnswered ? [{ text: 'done' }] : replies } }
    },
  }
}
