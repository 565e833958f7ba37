import type { JsonObject } from '../../../core/base/json.ts'
import type { StopSignal } from '../../../core/base/stop-signal.ts'
import type { CallState } from '../../../core/event/invocation-state.ts'
import { CallBatch } from '../../agent/loop/call-batch.ts'
import { findTools } from '../../agent/loop/find-entry.ts'
import type { RunHost } from '../../agent/loop/run-host.ts'
import { runScope } from '../../agent/loop/run-scope.ts'
import type { RunContext } from '../../context/run-context.ts'
import type { Tool } from '../../tool/tool.ts'
import type { EngineCall } from '../inbox/posted-attempts.ts'
import type { RunFactory } from '../run/run-factory.ts'
import { bodyRecorder, type LatestProgress } from './body-recorder.ts'
import type { UnheldLog } from './unheld-log.ts'

/** The body of a call that another process dispatched. */
export interface DispatchedBody {
  /** The call as it was before its handle: new, or interrupted. */
  readonly call: CallState
  /** Runs the call. Undefined: its agent no longer exists. */
  readonly batch: CallBatch | undefined
  /** Undefined: the agent has no such tool. */
  readonly tool: Tool | undefined
  /** The arguments, if they differ from those the model sent. */
  readonly args: JsonObject | undefined
  /** Stops the body. */
  readonly stop: StopSignal
}

/** What a body is opened with. */
interface OpenOptions {
  readonly factory: RunFactory
  readonly runContext: RunContext | undefined
  /** Gets what the body reports. */
  readonly progress: LatestProgress
}

/** Opens the body of a background call with what its own process would have given it. */
export async function openBody(
  log: UnheldLog,
  { call: waiting, fold }: EngineCall,
  { factory, runContext, progress }: OpenOptions,
): Promise<DispatchedBody> {
  const { services, tree } = factory
  const { data } = factory.create(log.session, fold.invocationId, { runContext })
  const host: RunHost = Object.assign(Object.create(data), { recorder: bodyRecorder(data.recorder, progress) })
  const { stop } = data
  const engine = waiting.background?.engine
  const args = engine?.args ?? waiting.intentArgs
  const intent = engine?.attempt !== undefined
  const call = { ...waiting, response: undefined, pending: false, intent, intentArgs: args }
  const found = await findTools({ tree, services, host, progress: data.progress }, fold, call)
  if (!found) return { call, batch: undefined, tool: undefined, args, stop }
  const { path } = call
  const { branch, isolation } = fold.scopes.get(path) ?? {}
  const frame = {
    path,
    tree: found.tree,
    ...(branch !== undefined && { branch }),
    ...(isolation !== undefined && { isolation }),
  }
  const batch = new CallBatch({ run: host, plan: found.tree.plan(found.agent), frame }, found.table, [call], runScope)
  if (services.observation) batch.bodyOf = data
  return { call, batch, tool: found.table.tools.get(call.name), args, stop }
}
