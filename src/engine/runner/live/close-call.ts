import type { NewEntry } from '../../../core/event/event.ts'
import type { Fold } from '../../../core/event/fold.ts'
import type { CallState } from '../../../core/event/invocation-state.ts'
import { isWithin } from '../../../core/event/scope.ts'
import { findTool } from '../../agent/loop/find-tool.ts'
import type { AgentTurn } from '../../agent/loop/run-host.ts'
import type { ScopeRecorder } from '../../agent/loop/scope-recorder.ts'
import { cancelWork, forgetConsents } from '../../dispatch/cancel-work.ts'
import { closingEntries, startedWork } from '../../dispatch/close-scope.ts'
import { type CallResult, failure, unknownOutcome } from '../../dispatch/outcome.ts'
import type { RunData } from '../run/run-data.ts'

/** A call that was stopped alone. */
interface StoppedCall {
  readonly turn: AgentTurn
  readonly call: CallState
  /** Holds results of calls inside an agent tool that are not in the log yet. */
  readonly recorder: ScopeRecorder | undefined
  readonly reason: string
}

/** Ends the scopes inside a stopped call, and returns the response of the call. */
export async function closeStoppedCall(run: RunData, stopped: StoppedCall): Promise<CallResult> {
  const { turn, call, recorder, reason } = stopped
  const inside = scopeOf(run.fold, call)
  if (inside !== undefined) {
    await recorder?.committed()
    const unrecorded = recorder?.unrecorded.flat() ?? []
    const started = startedWork(run.fold, unrecorded, (one) => findTool(run, one)).filter((work) =>
      isWithin(work.call.path, inside),
    )
    if (started.length) await cancelWork(run, started)
    const { branch, isolation } = run.fold.scopes.get(inside) ?? {}
    const scope = { path: inside, branch, isolation: isolation ?? inside }
    const author = turn.plan.agent.name
    const closing = { author, scope, reason, errorCode: 'CANCELLED', isScope: true, unrecorded, started } as const
    await commitCurrent(run, () => closingEntries(run, closing))
  }
  const isInside = ({ path }: CallState): boolean => inside !== undefined && isWithin(path, inside)
  await forgetConsents(run, [call, ...[...run.fold.calls.values()].filter(isInside)])
  const tool = turn.plan.table.tools.get(call.name)
  const mayHaveActed = call.intent && tool?.effect !== 'none'
  if (mayHaveActed || (inside !== undefined && hasUnknownOutcome(run.fold, inside))) {
    const problem = `Tool cancelled while it was running; it may have taken effect. ${reason}`
    return unknownOutcome(call, 'UNKNOWN_OUTCOME', problem)
  }
  return failure(call, 'CANCELLED', `Tool cancelled. ${reason}`)
}

/** Appends entries that follow from the log. A result may be recorded meanwhile: then they are computed again, so that no call gets two responses. */
async function commitCurrent({ fold, recorder }: RunData, entries: () => readonly NewEntry[]): Promise<void> {
  for (;;) {
    const { version } = fold
    if (await recorder.commitIf(() => fold.version === version, entries(), [])) return
  }
}

/** The path of the scope of an agent tool or of code. Undefined if the call has none. */
function scopeOf(fold: Fold, call: CallState): string | undefined {
  const prefix = `${call.path}/`
  for (const path of fold.scopes.keys()) {
    if (!path.startsWith(prefix)) continue
    const [step = ''] = path.slice(prefix.length).split('/')
    if (step.endsWith(`@${call.id}`)) return prefix + step
  }
  return undefined
}

function hasUnknownOutcome(fold: Fold, path: string): boolean {
  for (const call of fold.calls.values()) {
    if (isWithin(call.path, path) && call.response?.response.status === 'unknown_outcome') return true
  }
  return false
}
