// The agent of every process. Its calls depend only on its history, so a new process continues where the killed one stopped.
import { type Agent, agentTool, type Effect, LlmAgent, type Model, type Part, type Tool, tool } from 'toolwright'
import type { ReportStep } from './step-report.ts'

export const effects: readonly Effect[] = ['none', 'idempotent', 'reconcilable', 'atMostOnce']

export interface AgentSetup {
  /** The tool calls of the first model reply: one tool for each effect. */
  readonly calls: readonly Effect[]
  /** Each call requires confirmation. */
  readonly isGated?: boolean
  /** The tools belong to the agent `clerk`, which the agent `desk` calls as a tool. Then `isGated` gates that call. */
  readonly isNested?: boolean
}

export function createPaymentAgent(reportStep: ReportStep, setup: AgentSetup): Agent {
  const { calls, isGated = false, isNested = false } = setup
  const tools = effects.map((effect) => paymentTool(effect, effect, reportStep, isGated && !isNested))
  const firstReply = calls.map((name): Part => ({ functionCall: { name, args: {} } }))
  const beforeTool = async ({ tool }: { tool: Pick<Tool, 'name'> }): Promise<void> => {
    await reportStep({ step: `beforeTool ${tool.name}` })
  }
  const afterTool = async ({ tool }: { tool: Pick<Tool, 'name'> }): Promise<void> => {
    await reportStep({ step: `afterTool ${tool.name}` })
  }
  const payingAgent = (name: string): Agent =>
    new LlmAgent({ name, model: payingModel(name, firstReply, reportStep), tools, beforeTool, afterTool })
  if (!isNested) return payingAgent('desk')
  return new LlmAgent({
    name: 'desk',
    model: payingModel('desk', [{ functionCall: { name: 'clerk', args: { request: 'Pay.' } } }], reportStep),
    tools: [{ ...agentTool(payingAgent('clerk')), requiresConfirmation: isGated }],
  })
}

/** A tool that pays. Only the payment server knows whether it was paid. */
export function paymentTool(name: string, effect: Effect, reportStep: ReportStep, isGated: boolean): Tool {
  return tool({
    name,
    description: `A payment whose effect is ${effect}`,
    effect,
    requiresConfirmation: isGated,
    ...(effect === 'reconcilable' && {
      reconcile: async ({ idempotencyKey: key }) => (await reportStep({ step: `reconcile ${name}`, key })) as never,
    }),
    run: async (_, { idempotencyKey: key }) => {
      await reportStep({ step: `body ${name}`, key })
      return await reportStep({ step: `effect ${name}`, key })
    },
  })
}

/** Calls the tools in its first reply and says "done" in its second. */
function payingModel(name: string, firstReply: readonly Part[], reportStep: ReportStep): Model {
  return {
    name,
    async *generate({ contents }) {
      const hasResults = contents.at(-1)?.role === 'tool'
      await reportStep({ step: hasResults ? `${name} model with results` : `${name} model` })
      yield { content: { role: 'model', parts: hasResults ? [{ text: 'done' }] : firstReply } }
    },
  }
}
