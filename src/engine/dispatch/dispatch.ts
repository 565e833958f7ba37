// The only entry point to tool bodies: resolve, prepare, record the intent, execute, settle, record.

import type { JsonObject } from '../../core/base/json.ts'
import type { CallTimes, NewEntry } from '../../core/event/event.ts'
import type { CallState } from '../../core/event/invocation-state.ts'
import { BatchClock } from './batch-clock.ts'
import { cancelWork } from './cancel-work.ts'
import { execute } from './execute.ts'
import type { Batch, StoppableCalls } from './host.ts'
import { observeExecution, observePrepare } from './observe-call.ts'
import type { AnsweredCall, Outcome, Prepared, ReadyCall } from './outcome.ts'
import { prepare } from './prepare.ts'
import { entriesOf, workLeftBehind } from './record.ts'
import { runInBackground } from './run-in-background.ts'

/** Runs the calls of one reply. Resolves when each call has its response in the log, or waits for an answer or result. */
export function dispatch(batch: Batch): Promise<void> {
  const [only] = batch.calls
  return only && batch.calls.length === 1 ? dispatchOne(batch, only) : dispatchAll(batch)
}

// callbacks instead of async functions: their frames would wait as long as the tool runs
function dispatchOne(batch: Batch, call: CallState): Promise<void> {
  const one = batch.operation ? observePrepare(batch, call, prepareCall) : prepareCall(batch, call)
  return one instanceof Promise ? one.then((prepared) => executeOne(batch, prepared)) : executeOne(batch, one)
}

/** Prepares a call. A call that was stopped meanwhile asks no one. */
function prepareCall(batch: Batch, call: CallState): Prepared | Promise<Prepared> {
  const prepared = prepare(batch, call)
  const { stoppable } = batch
  if (!stoppable) return prepared
  if (prepared instanceof Promise)
    return prepared.then((one) => (stoppable.isStopped(call) ? stoppable.closeCall(call) : one))
  return stoppable.isStopped(call) ? stoppable.closeCall(call) : prepared
}

/** Is the call finished without running a body? */
function isOutcome(one: Prepared): one is Outcome {
  return one.type !== 'ready' && one.type !== 'answered'
}

function executeOne(batch: Batch, one: Prepared): Promise<void> {
  if (isOutcome(one)) return record(batch, [one])
  const intent = intentOf(batch, [one])
  const go = (): Promise<void> => executeCall(batch, one).then((outcome) => recordOne(batch, outcome))
  return intent ? batch.host.recorder.commit([intent]).then(go) : go()
}

/** Runs a prepared call, in the background if its tool is marked so. A call that is stopped alone gets a final response, and its siblings continue. */
function executeCall(batch: Batch, one: ReadyCall | AnsweredCall): Promise<Outcome> {
  if (batch.stoppable) return executeStoppable(batch, one, batch.stoppable)
  const { background } = one.entry
  const runner = background && batch.host.services.background
  if (!runner || one.type !== 'ready' || one.entry.kind !== 'body' || one.entry.tool.isLongRunning)
    return batch.operation ? observeExecution(batch, one, execute) : execute(batch, one)
  return Promise.resolve(runInBackground(batch, one, { background, runner }))
}

async function executeStoppable(
  batch: Batch,
  one: ReadyCall | AnsweredCall,
  stoppable: StoppableCalls,
): Promise<Outcome> {
  const own = stoppable.batchOf(one.call)
  const { stop } = own.host
  try {
    if (stop.stopped) throw stop.stopped.reason // cancelled while it was prepared
    return await (own.operation ? observeExecution(own, one, execute) : execute(own, one))
  } catch (error) {
    if (batch.host.stop.stopped) throw batch.host.stop.stopped.reason
    if (!stop.stopped) throw error
    return await stoppable.closeCall(one.call)
  }
}

/**
 * Records an outcome. A handle, or a result with media, is kept until it is in the log: a run cancelled meanwhile records
 * the result and knows that the work has started.
 */
function recordOne(batch: Batch, outcome: Outcome): Promise<void> {
  if (outcome.type !== 'result' || !(outcome.pending || outcome.parts)) return record(batch, [outcome])
  const recorded = batch.host.recorder.keepUnrecorded([outcome])
  return record(batch, [outcome]).then(() => {
    recorded()
    startBackground([outcome])
  })
}

async function dispatchAll(batch: Batch): Promise<void> {
  const prepared: Prepared[] = []
  for (const call of batch.calls) {
    const one = batch.operation ? observePrepare(batch, call, prepareCall) : prepareCall(batch, call)
    prepared.push(one instanceof Promise ? await one : one)
  }
  const intent = intentOf(batch, prepared)
  if (intent) await batch.host.recorder.commit([intent])
  await executeAll(batch, prepared)
}

async function executeAll(batch: Batch, prepared: readonly Prepared[]): Promise<void> {
  const { host } = batch
  const outcomes: (Outcome | undefined)[] = new Array(prepared.length)
  const clock = new BatchClock(host.services.ports)
  /** The positions of results that were recorded before the others. Most batches have none. */
  let recorded: Set<number> | undefined
  let early: Promise<void> | undefined
  let earlyTimer: (() => void) | undefined

  const recordDone = (done: readonly Outcome[]): Promise<void> =>
    record(batch, done, clock.timesOf(done, outcomes)).then(() => startBackground(done))
  const recordEarly = (): void => {
    earlyTimer = undefined
    const ready = outcomes.flatMap((outcome, at) =>
      outcome && !recorded?.has(at) && !movesControl(outcome) ? [at] : [],
    )
    recorded = new Set([...(recorded ?? []), ...ready])
    const done = ready.map((at) => outcomes[at] as Outcome)
    if (done.length) early = Promise.all([early, recordDone(done)]).then(() => {})
    early?.catch(() => {}) // awaited below, when the other calls are done
  }
  let running = prepared.length
  const recordedAll = host.recorder.keepUnrecorded(outcomes)
  const finish = (at: number, outcome: Outcome): void => {
    clock.end(at)
    outcomes[at] = outcome
    if (--running > 0) earlyTimer ??= host.services.ports.setTimer(recordEarly, batch.rules.siblingWaitMs)
  }

  try {
    await (canRunTogether(batch, prepared)
      ? runTogether(batch, prepared, finish)
      : runInOrder(batch, prepared, { clock, finish }))
  } finally {
    earlyTimer?.()
    await early
  }
  const all = outcomes as Outcome[] // every call has ended
  await recordDone(recorded ? all.filter((_, at) => !recorded?.has(at)) : all)
  recordedAll()
}

/** Starts the bodies of background calls whose handles are in the log. A call that its turn has ended got a final response instead. */
function startBackground(outcomes: readonly Outcome[]): void {
  for (let at = 0; at < outcomes.length; at++) {
    const outcome = outcomes[at] as Outcome
    if (outcome.type === 'result' && outcome.background && outcome.call.pending) outcome.background.start()
  }
}

function canRunTogether({ parallel, maxConcurrency }: Batch, prepared: readonly Prepared[]): boolean {
  return (
    parallel &&
    prepared.length <= maxConcurrency &&
    !prepared.some((one) => !isOutcome(one) && one.entry.tool.sequential)
  )
}

async function runTogether(
  batch: Batch,
  prepared: readonly Prepared[],
  finish: (at: number, outcome: Outcome) => void,
): Promise<void> {
  await Promise.all(
    prepared.map((one, at) => {
      if (isOutcome(one)) return finish(at, one)
      return executeCall(batch, one).then((outcome) => finish(at, outcome))
    }),
  )
}

/** Runs calls in order, at most `maxConcurrency` at a time. A sequential tool runs alone. */
async function runInOrder(
  batch: Batch,
  prepared: readonly Prepared[],
  { clock, finish }: { readonly clock: BatchClock; readonly finish: (at: number, outcome: Outcome) => void },
): Promise<void> {
  const running = new Set<Promise<void>>()
  const drain = async (): Promise<void> => {
    await Promise.all(running)
  }
  for (const [at, one] of prepared.entries()) {
    if (isOutcome(one)) {
      finish(at, one)
      continue
    }
    const alone = !batch.parallel || one.entry.tool.sequential === true
    if (alone) await drain()
    if (alone && at > 0) await batch.host.recorder.checkInbox()
    if (batch.host.stop.stopped) throw batch.host.stop.stopped.reason
    while (running.size >= batch.maxConcurrency) await Promise.race(running)
    clock.start(at)
    const run = start(batch, one, (outcome) => finish(at, outcome)).finally(() => running.delete(run))
    running.add(run)
    run.catch(() => {}) // awaited below: a stop while this loop waits for a slot is handled
    if (alone) await drain()
  }
  await drain()
}

async function start(batch: Batch, one: ReadyCall | AnsweredCall, finish: (outcome: Outcome) => void): Promise<void> {
  finish(await executeCall(batch, one))
}

/** Does the outcome end the agent's turn? Then it is recorded last, when no call of its batch is running. */
function movesControl(outcome: Outcome): boolean {
  if (outcome.type !== 'result') return outcome.type === 'suspended'
  const { actions, stops } = outcome
  return Boolean(stops || actions?.transferToAgent !== undefined || actions?.escalate || actions?.skipSummarization)
}

function record(batch: Batch, outcomes: readonly Outcome[], times?: CallTimes): Promise<void> {
  const started = workLeftBehind(batch, outcomes)
  return started
    ? cancelWork(batch.host, started).then(() => recordNow(batch, outcomes, times))
    : recordNow(batch, outcomes, times)
}

function recordNow(batch: Batch, outcomes: readonly Outcome[], times: CallTimes | undefined): Promise<void> {
  const entries = entriesOf(batch, outcomes, times)
  return entries.length ? batch.host.recorder.commit(entries) : Promise.resolve()
}

/** The intent for calls that may take effect; undefined when no call can. */
function intentOf(batch: Batch, prepared: readonly Prepared[]): NewEntry | undefined {
  let calls: { id: string; args?: JsonObject }[] | undefined
  for (let at = 0; at < prepared.length; at++) {
    const one = prepared[at] as Prepared
    if (one.type !== 'ready' || one.entry.tool.effect === 'none') continue
    const intended = one.rewritten ? { id: one.call.id, args: one.rewritten } : { id: one.call.id }
    if (calls) calls.push(intended)
    else calls = [intended]
  }
  if (!calls) return undefined
  return { record: { type: 'intent', invocationId: batch.host.invocationId, path: batch.scope.path, calls } }
}
