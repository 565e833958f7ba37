import { isRecord, type JsonObject } from '../../core/base/json.ts'
import { toJsonValue } from '../../core/base/to-json-value.ts'
import { messageOf } from '../../core/error/error.ts'
import type { BackgroundOptions } from '../policy/background.ts'
import { type BackgroundResult, defaultFormatter, type ResultFormatter } from '../policy/result-formatter.ts'
import { execute } from './execute.ts'
import type { BackgroundRunner, BackgroundTask, Batch, RunRecorder } from './host.ts'
import { type CallResult, failure, type Outcome, type ReadyCall, unknownOutcome } from './outcome.ts'

/** Runs a call in the background: its response is a handle. The body starts when the handle is in the log, and its result follows. */
export function runInBackground(
  batch: Batch,
  one: ReadyCall,
  { background, runner }: { readonly background: BackgroundOptions; readonly runner: BackgroundRunner },
): CallResult {
  const { host } = batch
  const { call } = one
  const formatter = safeFormatter(background.formatter ?? defaultFormatter)
  const { appName, userId, sessionId } = host
  const start = (): void => {
    const task = runner.start({ appName, userId, sessionId }, call)
    runDetached(batch, one, { task, formatter })
  }
  const response = formatter.formatRunning(call)
  return { type: 'result', call, response, pending: true, background: { until: latestEnd(batch, one), start } }
}

/** How long after its deadline a body may take to record its result, in milliseconds. */
const RECORDING_MS = 60_000

/** The latest end of a tool with policies, which wait and repeat without a deadline, in milliseconds. */
const POLICIES_MS = 86_400_000

/** When the body has ended at the latest, in seconds since the epoch: after it, its process must have died. */
function latestEnd({ host: { services } }: Batch, { entry: { tool } }: ReadyCall): number | undefined {
  const { timeoutMs = services.toolTimeoutMs, middleware } = tool
  if (!Number.isFinite(timeoutMs)) return undefined
  const runsMs = middleware?.length ? Math.max(timeoutMs, POLICIES_MS) : timeoutMs
  return (services.ports.now() + runsMs + RECORDING_MS) / 1000
}

function runDetached(
  batch: Batch,
  one: ReadyCall,
  { task, formatter }: { readonly task: BackgroundTask; readonly formatter: ResultFormatter },
): void {
  const { host } = batch
  const { call } = one
  // the body outlives its run: it has a stop signal of its own, and nothing of it is recorded until it has ended
  const recorder: RunRecorder = Object.assign(Object.create(host.recorder), { checkLease: () => undefined })
  const own = Object.assign(Object.create(host), { stop: task.stop, recorder })
  const detached: Batch = Object.assign(Object.create(batch), { host: own })
  const finish = (response: JsonObject, stateDelta?: JsonObject): void =>
    task.finish(formatter.formatResult(call, resultIn(response)), stateDelta)
  void execute(detached, one).then(
    (outcome) => finish(responseOf(outcome), outcome.type === 'result' ? outcome.actions?.stateDelta : undefined),
    (error) => finish(stopped(one, messageOf(error))),
  )
}

/** The formatter, or the default one where it throws or returns no object: the result must not be lost. */
function safeFormatter(formatter: ResultFormatter): ResultFormatter {
  const safe = (format: (by: ResultFormatter) => unknown): JsonObject => {
    try {
      const { value } = toJsonValue(format(formatter))
      if (isRecord(value)) return value
    } catch {
      // the default below
    }
    return format(defaultFormatter) as JsonObject // it returns objects
  }
  return {
    formatRunning: (call) => safe((by) => by.formatRunning(call)),
    formatResult: (call, result) => safe((by) => by.formatResult(call, result)),
    formatCancelled: (callId) => safe((by) => by.formatCancelled(callId)),
  }
}

function responseOf(outcome: Outcome): JsonObject {
  if (outcome.type === 'result') return outcome.response
  const error = `Tool "${outcome.call.name}" asked a person while it ran in the background. Ask before, with requiresConfirmation.`
  return failure(outcome.call, 'EXECUTION_FAILED', error).response
}

function stopped({ call, entry }: ReadyCall, reason: string): JsonObject {
  if (entry.tool.effect === 'none') return failure(call, 'CANCELLED', reason).response
  return unknownOutcome(call, 'UNKNOWN_OUTCOME', `${reason} The call was running and may have taken effect.`).response
}

function resultIn(response: JsonObject): BackgroundResult {
  if (typeof response.error !== 'string') return { result: response }
  return { error: response.error, ...(typeof response.errorCode === 'string' && { errorCode: response.errorCode }) }
}
