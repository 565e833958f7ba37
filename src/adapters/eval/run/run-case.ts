// Runs one case once, in one of three ways, and says what happened.

import { seededRandom } from '../../../core/base/seeded-random.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { Model } from '../../../engine/model/model.ts'
import type { Models } from '../../../engine/runner/models.ts'
import type { Runner } from '../../../engine/runner/runner.ts'
import type { Toolset } from '../../../engine/tool/toolset.ts'
import { wrapToolset } from '../../../engine/tool/wrap-toolset.ts'
import type { EvalCase } from '../cases/eval-set.ts'
import type { CaseOutcome, CheckResult } from '../checks/check.ts'
import type { Replacements } from '../parts/replace-parts.ts'
import { compareRecordings } from '../recording/compare-recordings.ts'
import { describeDifference } from '../recording/difference.ts'
import { changesOfTools } from '../recording/recorded-tool.ts'
import { type Recording, recordedToolset } from '../recording/recording.ts'
import { modelErrors } from './case-checks.ts'
import { outcomeOf } from './case-outcome.ts'
import { converse, type SpokenTurn } from './conversation.ts'
import { caseRunner, type EvalTarget, modelsOf } from './eval-target.ts'
import { withFaults } from './faults.ts'
import { RecordedTools } from './recorded-tools.ts'
import { Replay } from './replay.ts'
import { SimulatedUser } from './simulated-user.ts'

/**
 * How a case runs. `replay`: models and tools give what was recorded, without a network. `recorded-tools`: the real model, and recorded
 * results. `live`: the real model and the real tools.
 */
export type EvalMode = 'replay' | 'recorded-tools' | 'live'

/** How cases run. */
export interface CaseOptions {
  /** The agent or runner. */
  readonly target: EvalTarget
  /** How. */
  readonly mode: EvalMode
  /** Makes models for the names that agents have. Default: those of the runner. */
  readonly models?: Models | undefined
  /** Plays the user of scenarios. Default: the model of the agent. */
  readonly userModel?: Model | undefined
  /** Decides which attempts have a fault. */
  readonly seed: string
  /** Aborts the case. */
  readonly signal: AbortSignal
}

/** What a run of a case gave, before its checks. */
export interface CaseRun {
  /** What happened. */
  readonly outcome: CaseOutcome
  /** What the way to run found by itself. */
  readonly found: readonly CheckResult[]
  /** Remarks that are no failures. */
  readonly notes: readonly string[]
}

/** Runs a case. Throws if it cannot run, such as a replay without a recording. */
export async function runCase(one: EvalCase, options: CaseOptions): Promise<CaseRun> {
  const since = performance.now()
  if (options.mode === 'replay') return await replayCase(one, requireRecording(one, 'replay'), { ...options, since })
  const recorded = options.mode === 'live' ? undefined : new RecordedTools(requireRecording(one, options.mode))
  const resolve = modelsOf(options.target, options.models)
  const used: Model[] = []
  const notes = new Set<string>()
  const faults = { random: seededRandom(options.seed), ports: timers }
  const parts: Replacements = {
    model: (given, agent) => {
      const model = resolve(given, agent)
      used.push(model)
      return model
    },
    code: (given) => recorded?.code(given) ?? given,
    tool: (given) => withFaults(recorded?.tool(given) ?? given, one.inject ?? [], faults),
    toolset: (given) => withComparison(given, one.recording, notes),
  }
  const runner = caseRunner(options.target, { parts, models: options.models })
  const session = await startSession(runner, one)
  const user = one.scenario && new SimulatedUser(one.scenario, options.userModel ?? requireModel(used[0]))
  const turns: SpokenTurn[] = []
  for await (const turn of converse(runner, { case: one, ...session, user, signal: options.signal })) turns.push(turn)
  const outcome = await outcomeOf({ one, runner, ...session, turns, since, signal: options.signal })
  const unmatched = recorded?.unmatched ?? []
  const detail = `no recorded result of ${unmatched.join(', ')}`
  const found: CheckResult[] = recorded
    ? [{ name: 'recorded tools', ...(unmatched.length ? { status: 'FAILED', detail } : { status: 'PASSED' }) }]
    : []
  return { outcome, found: [...found, ...modelErrors(outcome)], notes: [...notes] }
}

/** Notes how the tools of a server differ from those of the recording: recorded results may not fit any more. */
function withComparison(given: Toolset, recording: Recording | undefined, notes: Set<string>): Toolset {
  const recorded = recording && recordedToolset(recording, given.name)
  if (!given.isRemote || !recorded) return given
  return wrapToolset(given, async (toolset, context) => {
    const tools = await toolset.listTools(context)
    for (const change of changesOfTools(given.name, recorded, tools)) notes.add(change)
    return tools
  })
}

const timers = {
  setTimer: (callback: () => void, ms: number): (() => void) => {
    const timer = setTimeout(callback, ms)
    return () => clearTimeout(timer)
  },
}

function requireRecording({ id, recording }: EvalCase, mode: EvalMode): Recording {
  if (recording) return recording
  const problem = `Case "${id}" has no recording, which --${mode} needs`
  throw new ToolwrightError(
    'INVALID_CONFIG',
    `${problem}. Record it with \`toolwright eval record\`, or run it with --live.`,
  )
}

function requireModel(model: Model | undefined): Model {
  if (model) return model
  throw new ToolwrightError('INVALID_CONFIG', 'A scenario needs a model that plays the user. Pass userModel.')
}

async function startSession(runner: Runner, { session }: EvalCase): Promise<{ userId: string; sessionId: string }> {
  const { userId = 'eval-user', sessionId, state } = session ?? {}
  const { appName } = runner
  const made = await runner.sessionService.createSession({ appName, userId, sessionId, ...(state && { state }) })
  return { userId, sessionId: made.id }
}

async function replayCase(
  one: EvalCase,
  recording: Recording,
  { target, signal, since }: CaseOptions & { readonly since: number },
): Promise<CaseRun> {
  const replay = new Replay(recording)
  const { appName, userId, sessionId } = recording
  const runner = caseRunner(target, { appName, parts: replay.parts, ports: replay.ports })
  let failure: unknown
  await replay.drive(runner, signal).catch((error: unknown) => (failure = error))
  const entries = await replay.entries(runner)
  const { difference, notes } = compareRecordings(recording, { entries, steps: replay.steps })
  if (failure !== undefined && !difference) throw failure // else the difference says why
  const outcome = await outcomeOf({ one, runner, userId, sessionId, turns: undefined, since, signal })
  const result: CheckResult = difference
    ? { name: 'replay', status: 'FAILED', detail: describeDifference(difference), difference }
    : { name: 'replay', status: 'PASSED' }
  return { outcome, found: [result], notes }
}
