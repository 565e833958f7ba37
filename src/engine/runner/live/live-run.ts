// The run of a live session. Its agent loop is the live model: it speaks, calls tools and listens until the session ends.
// Everything else is that of any other run: the log, the dispatcher, the gates and the inbox.
import { withTimeout } from '../../../core/base/with-timeout.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { Event } from '../../../core/event/event.ts'
import { progressIn } from '../../../core/event/progress.ts'
import type { LiveInputSource } from '../../model/live-input.ts'
import type { ActiveRun } from '../run/active-run.ts'
import { Cancelled } from '../run/cancelled.ts'
import type { LiveDriver } from '../run/live-driver.ts'
import type { StartedRun } from '../run/run-handle.ts'
import type { RunServices } from '../run-services.ts'
import { type ChangeResponses, responsePlugin } from './before-tool-response.ts'
import { LiveCalls } from './live-calls.ts'
import type { LivePlanOptions } from './live-plan.ts'
import type { RunNews } from './run-news.ts'

/** What a live session provides to its run, and hears from it. */
export interface LiveRunOptions extends LivePlanOptions, Pick<LiveDriver, 'phases' | 'derived' | 'input'> {
  /** May change responses before they are recorded and sent. */
  readonly changeResponses: ChangeResponses | undefined
  /** Called with what happens in the run. */
  on(news: RunNews): void
}

/** How long the end of a session waits for its calls to stop. */
const CLOSE_MS = 2_000

/** The run of a live session. */
export class LiveRun implements LiveDriver {
  readonly #options: LiveRunOptions
  readonly #opened = Promise.withResolvers<void>()
  readonly #ended = Promise.withResolvers<void>()
  #active: ActiveRun | undefined
  #calls: LiveCalls | undefined
  /** The phase of the conversation. Undefined without phases. */
  readonly phases: LiveDriver['phases']
  /** Values computed from state. Undefined if there are none. */
  readonly derived: LiveDriver['derived']
  /** What the user sends, for tools. */
  readonly input: LiveInputSource
  /** Passes what the run records to the session. */
  readonly listener: LiveDriver['listener']

  constructor(options: LiveRunOptions) {
    this.#options = options
    this.input = options.input
    this.phases = options.phases
    this.derived = options.derived
    this.listener = {
      recorded: (event) => options.on({ type: 'recorded', event }),
      changedTemp: (key, value) => options.on({ type: 'temp', key, value }),
    }
  }

  /** The services of the runner. The deadline of tools also holds for agent tools: a user waits on the line. */
  servicesFrom(services: RunServices): RunServices {
    const { changeResponses } = this.#options
    const { eventPlugins, agentToolTimeoutMs, toolTimeoutMs } = services
    return {
      ...services,
      agentToolTimeoutMs: Math.min(agentToolTimeoutMs, toolTimeoutMs),
      eventPlugins: changeResponses ? [...eventPlugins, responsePlugin(changeResponses)] : eventPlugins,
    }
  }

  /** Runs until `close()`. Called by the run once it can record. */
  async drive(): Promise<'done' | 'wait'> {
    this.#opened.resolve()
    await this.#ended.promise
    const step = this.run.next()
    if (step.type === 'dispatch') throw new Cancelled('The live session was closed.') // answered at the last moment
    return step.type === 'wait' ? 'wait' : 'done'
  }

  /** Starts to listen to the run. Settles when it can record; rejects if it failed before. */
  async attach(started: StartedRun): Promise<void> {
    const active = started as ActiveRun // only answers follow the run of another caller
    this.#active = active
    this.#calls = new LiveCalls(active, this.#options)
    active.data.stop.add({ stop: (reason) => this.#options.on({ type: 'stopped', reason }) })
    active.data.events.listen((event) => event.partial && this.#onPartial(event))
    active.data.events.close() // no one takes events from the queue: it must not grow
    await Promise.race([this.#opened.promise, active.finished])
    if (active.failure) throw active.failure.reason
  }

  #onPartial(event: Event): void {
    const progress = event.isolationScope === undefined ? progressIn(event) : undefined
    if (progress) this.#options.on({ type: 'progress', ...progress })
  }

  /** The run. Throws before it has started. */
  get run(): ActiveRun {
    if (!this.#active) throw new ToolwrightError('INTERNAL', 'The run of the live session has not started.')
    return this.#active
  }
  /** The tool calls of the model. */
  get calls(): LiveCalls {
    if (!this.#calls) throw new ToolwrightError('INTERNAL', 'The run of the live session has not started.')
    return this.#calls
  }

  /** Ends the session: stops its calls, answers those that wait for a human, and releases the lease. */
  async close(reason: string): Promise<void> {
    const active = this.#active
    if (!active || active.isFinished) return
    const { ports } = active.data.services
    const closed = this.#close(active, reason).then(
      () => true,
      () => false,
    )
    const isClosed = await withTimeout(closed, CLOSE_MS, ports, () => false)
    if (!isClosed) active.stop(new Cancelled(reason))
    this.#ended.resolve()
    await withTimeout(active.finished, CLOSE_MS, ports, () => undefined) // a store may never answer
  }

  async #close(active: ActiveRun, reason: string): Promise<void> {
    const { recorder, stop } = active.data
    const { plan } = this.calls
    if (stop.stopped) return
    await this.calls.close(reason)
    if (!stop.stopped) await plan.leave()
    if (active.next().type !== 'ask-model') return
    // the model was about to speak: no one listens any more
    const ending = recorder.draft(plan.agent().name, plan.frame, undefined, { endOfAgent: true })
    if (!stop.stopped) await recorder.commit([{ event: ending }])
  }
}
