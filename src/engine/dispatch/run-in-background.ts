import { messageOf } from '../../core/error/error.ts'
import type { BackgroundOptions } from '../policy/background.ts'
import type { ResultFormatter } from '../policy/result-formatter.ts'
import type { Tool } from '../tool/tool.ts'
import { outcomeInBackground, safeFormatter, stoppedBody } from './background-result.ts'
import { execute } from './execute.ts'
import type { BackgroundRunner, BackgroundTask, Batch, DispatchServices, RunRecorder } from './host.ts'
import { observeExecution } from './observe-call.ts'
import type { BackgroundStart, CallResult, ReadyCall } from './outcome.ts'

/** Runs a call in the background: its response is a handle. The body starts when the handle is in the log, and its result follows. */
export function runInBackground(
  batch: Batch,
  one: ReadyCall,
  { background, runner }: { readonly background: BackgroundOptions; readonly runner: BackgroundRunner },
): CallResult {
  const { call } = one
  const formatter = safeFormatter(background)
  const start = runner.tell ? startForEngine(batch, one, runner.tell) : startHere(batch, one, { runner, formatter })
  return { type: 'result', call, response: formatter.formatRunning(call), pending: true, background: start }
}

/** A worker runs the body. Until then the call waits, and nothing of it is lost if this process dies. */
function startForEngine(
  { host }: Batch,
  { call, rewritten }: ReadyCall,
  tell: NonNullable<BackgroundRunner['tell']>,
): BackgroundStart {
  const { appName, userId, sessionId, services } = host
  return {
    until: tellAgainAt(services),
    engine: rewritten ? { args: rewritten } : {},
    start: () => void tell({ appName, userId, sessionId }, call.id),
  }
}

/** How long after an engine was asked about a call it is asked again, in milliseconds, if no worker has begun. */
const TELL_AGAIN_MS = 30_000

/** When an engine that is asked about a call now is asked again, in seconds since the epoch, if no worker has begun. */
export function tellAgainAt({ ports }: Pick<DispatchServices, 'ports'>): number {
  return (ports.now() + TELL_AGAIN_MS) / 1000
}

function startHere(
  batch: Batch,
  one: ReadyCall,
  { runner, formatter }: { readonly runner: BackgroundRunner; readonly formatter: ResultFormatter },
): BackgroundStart {
  const { appName, userId, sessionId, services } = batch.host
  const start = (): void => {
    const task = runner.start({ appName, userId, sessionId }, one.call)
    runDetached(batch, one, { task, formatter })
  }
  return { until: latestEnd(services, one.entry.tool), start }
}

/** How long after its deadline a body may take to record its result, in milliseconds. */
const RECORDING_MS = 60_000

/** The latest end of a tool with policies, which wait and repeat without a deadline, in milliseconds. */
const POLICIES_MS = 86_400_000

/** When a body that starts now has ended at the latest, in seconds since the epoch: after it, its process must have died. */
export function latestEnd(services: Pick<DispatchServices, 'toolTimeoutMs' | 'ports'>, tool: Tool): number | undefined {
  const { timeoutMs = services.toolTimeoutMs, middleware } = tool
  if (!Number.isFinite(timeoutMs)) return undefined
  const runsMs = middleware?.length ? Math.max(timeoutMs, POLICIES_MS) : timeoutMs
  return (services.ports.now() + runsMs + RECORDING_MS) / 1000
}

/** When the engine of a body that starts now is asked again, in seconds since the epoch. A body without a time limit is asked about daily. */
export function latestEndOfAttempt(
  services: Pick<DispatchServices, 'toolTimeoutMs' | 'ports'>,
  tool: Tool | undefined,
): number {
  return (tool && latestEnd(services, tool)) ?? (services.ports.now() + POLICIES_MS) / 1000
}

function runDetached(
  batch: Batch,
  one: ReadyCall,
  { task, formatter }: { readonly task: BackgroundTask; readonly formatter: ResultFormatter },
): void {
  const { host } = batch
  // the body outlives its run: it has a stop signal of its own, and nothing of it is recorded until it has ended
  const recorder: RunRecorder = Object.assign(Object.create(host.recorder), { checkLease: () => undefined })
  const own = Object.assign(Object.create(host), { stop: task.stop, recorder })
  // a method that reads private fields needs the batch itself
  const checkFinal: Batch['checkFinal'] = (result) => batch.checkFinal(result)
  const detached: Batch = Object.assign(Object.create(batch), { host: own, checkFinal })
  void (detached.operation ? observeExecution(detached, one, execute) : execute(detached, one))
    .catch((error: unknown) => stoppedBody(one.call, one.entry, messageOf(error)))
    .then((outcome) => {
      const { response, stateDelta } = outcomeInBackground(outcome, formatter)
      task.finish(response, stateDelta)
    })
}
