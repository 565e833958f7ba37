// The apps of the fleet: one for each shape of a run, with the tools and models of the crash tests.
import {
  type Agent,
  agentTool,
  background,
  confirm,
  LlmAgent,
  Runner,
  type RunnerOptions,
  type Tool,
  type ToolContext,
  tool,
} from 'toolwright'
import type { LedgerClient } from '../crash/ledger/ledger-client.ts'
import { effects, gatedTools, toolNames } from '../crash/tool-names.ts'
import { PAY } from '../crash/victim/models.ts'

/** What runs of the fleet do. */
export const fleetShapes = ['single', 'parallel', 'gated', 'nested', 'background'] as const

/** The shape of a run. */
export type FleetShape = (typeof fleetShapes)[number]

/** The app of a shape. */
export function appOf(shape: FleetShape): string {
  return `fleet-${shape}`
}

/** What a runner of the fleet is made of. */
export interface FleetDeskOptions extends Omit<RunnerOptions, 'appName' | 'agent'> {
  readonly shape: FleetShape
  /** Tells the world outside. */
  readonly ledger: LedgerClient | undefined
  /** How long a body takes, in milliseconds. */
  readonly bodyMs: number
}

/** The runner of a shape. */
export function openFleetDesk({ shape, ledger, bodyMs, ...options }: FleetDeskOptions): Runner {
  const appName = appOf(shape)
  const note = async (
    line: { type: 'body' | 'effect' | 'reconciled'; tool: string; key: string },
    sessionId: string,
  ): Promise<{ readonly isNew: boolean }> => {
    if (!ledger) throw new Error('Only workers run tools.')
    return await ledger.write({ ...line, app: appName, sessionId })
  }
  const run = (name: string) => async (_: unknown, context: ToolContext) => {
    const { idempotencyKey: key, invocation } = context
    await note({ type: 'body', tool: name, key }, invocation.session.id)
    await new Promise((resolve) => setTimeout(resolve, bodyMs))
    await note({ type: 'effect', tool: name, key }, invocation.session.id)
    return { paid: true }
  }
  const tools = toolNames[shape].map((name): Tool => {
    const common = { name, description: `Takes effect once: ${effects[name]}`, run: run(name) }
    const effect = effects[name]
    const made =
      effect === 'reconcilable'
        ? tool({
            ...common,
            effect,
            reconcile: async ({ idempotencyKey: key }) => {
              const { isNew } = await note({ type: 'reconciled', tool: name, key }, NO_SESSION)
              return isNew ? { status: 'not-done' } : { status: 'done', result: { paid: true } }
            },
          })
        : tool({ ...common, effect })
    if (gatedTools.includes(name)) return confirm(made)
    return name === 'search' ? background(made) : made
  })
  return new Runner({ ...options, appName, agent: agentOf(shape, tools) })
}

/** A question about an effect does not name its session. */
const NO_SESSION = ''

function agentOf(shape: FleetShape, tools: readonly Tool[]): Agent {
  const clerk = { description: 'Pays bills', model: modelOf(toolNames[shape]), tools }
  if (shape !== 'nested') return new LlmAgent({ name: 'desk', ...clerk })
  return new LlmAgent({
    name: 'desk',
    model: modelOf(['clerk']),
    tools: [agentTool(new LlmAgent({ name: 'clerk', ...clerk }))],
  })
}

function modelOf(calls: readonly string[]): LlmAgent['model'] {
  return {
    name: 'text',
    async *generate({ contents }) {
      const last = contents.at(-1)
      const isAsked = last?.role === 'user' && last.parts.some(({ text }) => text === PAY)
      const parts = isAsked
        ? calls.map((name) => ({ functionCall: { name, args: name === 'clerk' ? { request: PAY } : {} } }))
        : [{ text: 'done' }]
      yield { content: { role: 'model', parts } }
    },
  }
}
