// Code is a scope of the invocation: what it calls is recorded there, call by call. Run again after a pause or a crash,
// it gets the recorded answers and goes on from where they end.
import { canonicalJson, isRecord, type JsonObject } from '../../base/json.ts'
import { clip, MAX_NAME_LENGTH } from '../../base/limits.ts'
import { toJsonValue } from '../../base/to-json-value.ts'
import { truncatedArgs } from '../../dispatch/args.ts'
import { SUSPENDED } from '../../dispatch/host.ts'
import { longRunningIds, type ToolTable } from '../../dispatch/resolve.ts'
import type { StopListener } from '../../dispatch/stop-signal.ts'
import { messageOf, type ResultErrorCode, ToolError } from '../../error/error.ts'
import type { CallState } from '../../event/call-state.ts'
import { isFailure } from '../../event/fold.ts'
import { newOwnId } from '../../event/own-id.ts'
import { childPath } from '../../event/scope.ts'
import type { CallContext } from '../../tool/call-context.ts'
import type { CodeExecutor, CodeRequest, CodeResult } from '../../tool/code-executor.ts'
import { type RunHost, type ScopeFrame, untilStopped } from '../loop/run-host.ts'
import { filesIn, filesOut, type InputFiles } from './code-files.ts'
import { callableFromCode } from './code-tool.ts'

/** How often an executor that fails by itself is tried. Code that fails is the model's business. */
const ATTEMPTS = 2

/** Tools one piece of code may call. */
const MAX_CALLS = 256

/** What the arguments of all its calls may have together: so many times as much as those of one call. */
const ARGS_FACTOR = 16

/** The arguments of a code call. */
export interface Code {
  readonly language: string
  readonly code: string
}

export interface CodeCall {
  readonly run: RunHost
  readonly executor: CodeExecutor
  readonly agentName: string
  readonly frame: ScopeFrame
  readonly table: ToolTable
  readonly call: CallState
  readonly args: Code
  readonly context: CallContext
  /** Answers one call made in a scope of its own. */
  readonly dispatch: (calls: readonly CallState[], frame: ScopeFrame) => Promise<void>
}

export async function runCode(code: CodeCall): Promise<unknown> {
  const { run, context } = code
  const input = run.artifactService ? await filesIn(context) : NO_FILES
  for (let attempt = 1; ; attempt++) {
    const calls = new CallsFromCode(code)
    try {
      const result = await untilStopped(run, Promise.race([execute(code, calls, input), calls.whenPaused]))
      await calls.end()
      if (result === SUSPENDED || calls.paused) return SUSPENDED
      return await settled(code, result, input)
    } catch (error) {
      await calls.end()
      if (calls.paused) return SUSPENDED
      run.services.logger.warn(`Code could not be run (attempt ${attempt} of ${ATTEMPTS}): ${messageOf(error)}`, error)
      if (attempt === ATTEMPTS) throw new ToolError(`The code could not be run: ${messageOf(error)}`)
    }
  }
}

const NO_FILES: InputFiles = { files: [], artifacts: new Map(), leftOut: [] }

function execute(code: CodeCall, calls: CallsFromCode, { files }: InputFiles): Promise<CodeResult> {
  const { run, executor, args, table } = code
  const tools = executor.callsTools ? callableFromCode(table) : []
  const request: CodeRequest = {
    ...args,
    sessionKey: JSON.stringify([run.appName, run.userId, run.sessionId]),
    signal: calls.signal,
    ...(files.length && { files }),
    ...(tools.length && { tools, callTool: (name, given) => handled(calls.call(name, given)) }),
  }
  return executor.execute(request)
}

/** Code need not wait for what it called: what became of that is in the log. */
function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}

/** What goes back to the model: the output, and what became of the files. */
async function settled({ run, context }: CodeCall, result: CodeResult, input: InputFiles): Promise<JsonObject> {
  const { outcome, output, files = [] } = result
  const lost = run.artifactService ? await filesOut(context, files, input.artifacts) : files.map(({ name }) => name)
  const saved = files.flatMap(({ name }) => (lost.includes(name) ? [] : [name]))
  const notes = [
    input.leftOut.length ? `Not there as files: ${input.leftOut.join(', ')}.` : '',
    saved.length ? `Saved as artifacts: ${saved.join(', ')}.` : '',
    lost.length ? `Written but lost: ${lost.join(', ')}.` : '',
  ]
  return { outcome, output: [output, ...notes].filter(Boolean).join('\n') }
}

/** The tools one run of the code calls, in the order it calls them. */
class CallsFromCode implements StopListener {
  readonly #code: CodeCall
  readonly #path: string
  readonly #controller = new AbortController()
  #made = 0
  #argsBytes = 0
  #pause: (() => void) | undefined
  readonly #underWay: Set<Promise<CallState>> = new Set()
  /** A tool it called waits for somebody: the code will be run again when they have answered. */
  paused = false
  /** Also for an executor that does not listen to its signal. */
  readonly whenPaused: Promise<typeof SUSPENDED> = new Promise((resolve) => {
    this.#pause = () => resolve(SUSPENDED)
  })

  constructor(code: CodeCall) {
    this.#code = code
    this.#path = childPath(code.frame.path, 'code', code.call.id)
    code.run.stop.add(this)
  }

  /** Aborted when nobody waits for the code any more. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  stop(reason: unknown): void {
    this.#controller.abort(reason)
  }

  /** Nothing more is called; what was is recorded, whether the code waited for it or not, before anything goes on. */
  async end(): Promise<void> {
    this.#code.run.stop.delete(this)
    this.#controller.abort(new ToolError('The code has ended.', { code: 'CANCELLED' }))
    while (this.#underWay.size) await Promise.allSettled(this.#underWay)
    if (this.#code.run.stop.stopped) throw this.#code.run.stop.stopped.reason
  }

  async call(name: string, given: unknown): Promise<JsonObject> {
    this.#controller.signal.throwIfAborted()
    if (++this.#made > MAX_CALLS) throw new ToolError(`Code may call at most ${MAX_CALLS} tools.`)
    const { frame } = this.#code
    const path = childPath(this.#path, 'call', this.#made) // no model can name a call of its own like this
    const inner: ScopeFrame = { path, branch: frame.branch, isolation: this.#path, tree: frame.tree }
    const underWay = this.#carryOut(inner, clip(String(name), MAX_NAME_LENGTH), this.#argsOf(given))
    this.#underWay.add(underWay)
    const call = await underWay.finally(() => this.#underWay.delete(underWay))
    if (!call.response || call.pending) return await this.#wait()
    this.#passOn(path)
    const { response } = call.response
    if (!isFailure(response)) return response
    throw new ToolError(String(response.error), { code: String(response.errorCode) as ResultErrorCode })
  }

  /** As they are recorded; too large for one call, or together with those before, they are refused. */
  #argsOf(given: unknown): JsonObject {
    const { maxArgsBytes } = this.#code.run.services
    const { value, bytes } = toJsonValue(given, maxArgsBytes)
    const room = Math.min(maxArgsBytes, ARGS_FACTOR * maxArgsBytes - this.#argsBytes)
    if (bytes > room) return truncatedArgs(bytes)
    this.#argsBytes += bytes
    return isRecord(value) ? value : {}
  }

  async #carryOut(inner: ScopeFrame, name: string, args: JsonObject): Promise<CallState> {
    const { run, agentName, dispatch, table } = this.#code
    if (!run.fold.scopes.has(inner.path)) {
      const parts = [{ functionCall: { id: newOwnId(run.services.ports), name, args } }]
      const event = run.recorder.draft(agentName, inner, { role: 'model', parts }, {})
      const longRunning = longRunningIds(table, parts)
      if (longRunning) event.longRunningToolIds = longRunning
      await run.recorder.commit([{ event }])
    }
    const call = run.fold.scopes.get(inner.path)?.calls[0] as CallState
    if (call.name !== name || canonicalJson(call.args) !== canonicalJson(args)) {
      throw new ToolError(
        `The code was run again after a pause, and its call of ${name} is not the one it had made before. Code that waits for somebody must make the same calls each time: none that depend on time or chance.`,
      )
    }
    const isBegun = call.response !== undefined || this.paused // what pauses the code pauses what it has not begun
    if (!isBegun) await dispatch([call], inner)
    if (!call.response || call.pending) this.#pauseNow()
    return call
  }

  /** The code is stopped where it waits; nothing it does after this counts. */
  #wait(): Promise<never> {
    return new Promise(() => {})
  }

  #pauseNow(): void {
    this.paused = true
    this.#pause?.()
    this.#controller.abort(new ToolError('The code is paused.', { code: 'CANCELLED' }))
  }

  /** Where a tool sends control is where control goes once the code is done. */
  #passOn(path: string): void {
    const scope = this.#code.run.fold.scopes.get(path)
    const { actions } = this.#code.context
    if (scope?.escalated) actions.escalate = true
    if (scope?.active !== undefined) actions.transferToAgent = scope.active
    if (scope?.skipped) actions.skipSummarization = true
  }
}
