import { withSystemPorts } from '../../core/base/ports.ts'
import { LlmAgent } from '../../engine/agent/agents/llm-agent.ts'
import { DefinedPhases } from '../../engine/flow/phases/conversation-phases.ts'
import { validatePhases } from '../../engine/flow/phases/validate-phases.ts'
import { asModel } from '../../engine/runner/live/live-plan.ts'
import { Runner } from '../../engine/runner/runner.ts'
import { checkLiveOptions, type LiveOptions } from './live-options.ts'
import { LiveSession } from './session/live-session.ts'

/**
 * Connects to a live model. The agent speaks, and its tools, gates, plugins and state are those of the runner. The conversation is
 * recorded in the event log of the session, where a text run can continue it. Rejects if the model cannot be reached.
 *
 * @example
 * await using session = await connectLive({ runner, userId: 'ada', model: geminiLive('gemini-2.5-flash-native-audio') })
 * await session.send('Is it cold in Oslo?')
 * for await (const event of session) {
 *   if (event.type === 'audio') speaker.write(event.data)
 *   if (event.type === 'turnComplete') break
 * }
 */
export async function connectLive(options: LiveOptions<LiveSession>): Promise<LiveSession> {
  checkLiveOptions(options)
  const runner = options.runner ?? runnerOf(options)
  const session = new LiveSession(withPhases(options, runner), runner, withSystemPorts(runner.options.ports))
  await session.open()
  return session
}

/** Phases hold at every entry: those of the session also for text runs of the runner, and those of the runner for the session. */
function withPhases(options: LiveOptions<LiveSession>, runner: Runner): LiveOptions<LiveSession> {
  const { phases, initialPhase, computed } = options
  validatePhases(phases, initialPhase)
  if (phases && initialPhase !== undefined) {
    runner.internals.usePhases(new DefinedPhases({ phases, initialPhase, computed }))
    return options
  }
  if (!(runner.internals.phases instanceof DefinedPhases)) return options
  const { definition } = runner.internals.phases
  return { ...options, ...definition, computed: [...(definition.computed ?? []), ...(computed ?? [])] }
}

/** A runner in memory. Its agents only speak: what they can do is up to the live model. */
function runnerOf({ agent, tools, model, textModel }: LiveOptions<LiveSession>): Runner {
  const speaking = agent ?? new LlmAgent({ name: 'assistant', tools: tools ?? [] })
  return new Runner({ appName: 'live', agent: speaking, model: textModel ?? asModel(model) }, 'live')
}
