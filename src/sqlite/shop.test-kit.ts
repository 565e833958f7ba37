import { LlmAgent } from '../agent/agents/llm-agent.ts'
import type { Completion } from '../runner/completion.ts'
import { Runner } from '../runner/runner.ts'
import type { RunOptions } from '../runner/runner-options.ts'
import { type Step, scriptedModel } from '../testing/scripted-model.ts'
import { HOME } from '../testing/session-fixtures.ts'
import { tool } from '../tool/define.ts'
import type { SqliteServices } from './sqlite.ts'

/** The same agent in every process: it can order, which takes days, and pay, which here takes for ever. */
export function shop(
  services: SqliteServices,
  steps: readonly Step[],
  onPay: (what: string) => void = () => {},
): {
  runner: Runner
  send(message: RunOptions['message']): Promise<Completion>
  model: ReturnType<typeof scriptedModel>
} {
  const order = tool({ name: 'order', description: 'Orders', isLongRunning: true, run: () => ({ ticket: 7 }) })
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    run: () => {
      onPay('paid')
      return new Promise(() => {})
    },
  })
  const model = scriptedModel(steps)
  const agent = new LlmAgent({ name: 'clerk', model, tools: [order, pay] })
  const runner = new Runner({ appName: HOME.appName, agent, ...services })
  return { runner, model, send: (message) => runner.complete({ ...HOME, message }) }
}
