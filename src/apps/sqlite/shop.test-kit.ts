import { type ScriptedStep, scriptedModel } from '../../adapters/testing/scripted-model.ts'
import { HOME } from '../../adapters/testing/suites/session-fixtures.ts'
import { LlmAgent } from '../../engine/agent/agents/llm-agent.ts'
import type { Completion } from '../../engine/runner/completion.ts'
import { Runner } from '../../engine/runner/runner.ts'
import type { RunOptions } from '../../engine/runner/runner-options.ts'
import { tool } from '../../engine/tool/define-tool.ts'
import type { SqliteServices } from './sqlite.ts'

/** An agent for every process of a test. `order` is long-running; `pay` never returns. */
export function shop(
  services: SqliteServices,
  steps: readonly ScriptedStep[],
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
