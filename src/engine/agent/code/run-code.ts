// Runs model-written code. The code is a scope of the invocation, and its tool calls are recorded there. After a pause
// or a crash the code runs again from the start: calls that have a recorded response get it and do not run again.
import { canonicalJson, isRecord, type JsonObject } from '../../../core/base/json.ts'
import { clip, MAX_NAME_LENGTH } from '../../../core/base/limits.ts'
import type { StopListener } from '../../../core/base/stop-signal.ts'
import { toJsonValue } from '../../../core/base/to-json-value.ts'
import { messageOf, type ResultErrorCode, ToolError } from '../../../core/error/error.ts'
import { type CallState, isFailure } from '../../../core/event/invocation-state.ts'
import { newOwnId } from '../../../core/event/own-id.ts'
import { childPath } from '../../../core/event/scope.ts'
import type { CallContext } from '../../context/call-context.ts'
import { SUSPENDED } from '../../dispatch/host.ts'
import { longRunningIds, type ToolTable } from '../../dispatch/resolve.ts'
import { truncatedArgs } from '../../dispatch/storable-args.ts'
import type { CodeExecutor, CodeRequest, CodeResult } from '../../tool/code-executor.ts'
import { type RunHost, type ScopeFrame, untilStopped } from '../loop/run-host.ts'
import { type InputFiles, loadInputFiles, saveOutputFiles } from './code-files.ts'
import { callableFromCode } from './code-tool.ts'

/** Attempts if the executor itself fails. Code that throws is not retried: the model sees the error. */
const ATTEMPTS = 2

/** Most tool calls of one piece of code. */
const MAX_CALLS = 256

/** Limit for the arguments of all calls together, as a multiple of the limit for one call. */
const ARGS_FACTOR = 16

/** The arguments of a code call. */
export interface CodeArgs {
  /** The language of the code, as the executor names it. */
  readonly language: string
  /** The source text. */
  readonly code: string
}

/** A piece of code to run. */
interface CodeCall {
  /** The run the code belongs to. */
  readonly run: RunHost
  /** Runs the code. */
  readonly executor: CodeExecutor
  /** The agent whose model wrote the code. */
  readonly agentName: string
  /** The scope of that agent. */
  readonly frame: ScopeFrame
  /** The tools of the agent. */
  readonly table: ToolTable
  /** The recorded call of the code. */
  readonly call: CallState
  /** The code and its language. */
  readonly args: CodeArgs
  /** The context of the call. Its actions are recorded with the response. */
  readonly context: CallContext
  /** Dispatches calls that the code made in a scope below its own. */
  readonly dispatch: (calls: readonly CallState[], frame: ScopeFrame) => Promise<void>
}

/** Runs code and returns the response for the model, or `SUSPENDED` if a tool it called waits for an answer. */
export async function runCode(code: CodeCall): Promise<unknown> {
  const { run, context } = code
  const files = run.artifactService ? await loadInputFiles(context) : NO_FILES
  for (let attempt = 1; ; attempt++) {
    const calls = new CallsFromCode(code)
    try {
      const result = await untilStopped(run, Promise.race([execute(code, calls, files), calls.whenPaused]))
      await calls.end()
      if (result === SUSPENDED || calls.isPaused) return SUSPENDED
      return await codeResponse(code, result, files)
    } catch (error) {
      await calls.end()
      if (calls.isPaused) return SUSPENDED
      const problem = messageOf(error)
      run.services.logger.warn(`The code executor failed (attempt ${attempt} of ${ATTEMPTS}): ${problem}`, error)
      if (attempt === ATTEMPTS) {
        throw new ToolError(`The code executor failed ${ATTEMPTS} times (this is not an error in the code): ${problem}`)
      }
    }
  }
}

const NO_FILES: InputFiles = { files: [], artifacts: new Map(), skipped: [] }

function execute(code: CodeCall, calls: CallsFromCode, { files }: InputFiles): Promise<CodeResult> {
  const { run, executor, args, table } = code
  const tools = executor.callsTools ? callableFromCode(table) : []
  const request: CodeRequest = {
    ...args,
    sessionKey: JSON.stringify([run.appName, run.userId, run.sessionId]),
    signal: calls.signal,
    ...(files.length && { files }),
    ...(tools.length && { tools, callTool: (name, callArgs) => ignoreRejection(calls.call(name, callArgs)) }),
  }
  return executor.execute(request)
}

/** Marks a rejection as handled: code need not await its calls, and their results are in the log. */
function ignoreRejection<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}

/** The response for the model: the output, and which files were saved. */
async function codeResponse({ run, context }: CodeCall, result: CodeResult, input: InputFiles): Promise<JsonObject> {
  const { outcome, output, files = [] } = result
  const unsaved = run.artifactService
    ? await saveOutputFiles(context, files, input.artifacts)
    : files.map(({ name }) => name)
  const saved = files.flatMap(({ name }) => (unsaved.includes(name) ? [] : [name]))
  const notes = [
    input.skipped.length ? `Artifacts not available as files: ${input.skipped.join(', ')}.` : '',
    saved.length ? `Saved as artifacts: ${saved.join(', ')}.` : '',
    unsaved.length ? `Files not saved: ${unsaved.join(', ')}.` : '',
  ]
  return { outcome, output: [output, ...notes].filter(Boolean).join('\n') }
}

/** The tool calls of one attempt to run the code. The n-th call is the n-th scope below the code. */
class CallsFromCode implements StopListener {
  readonly #code: CodeCall
  readonly #path: string
  readonly #controller = new AbortController()
  #count = 0
  #argsBytes = 0
  #pause: (() => void) | undefined
  readonly #running: Set<Promise<CallState>> = new Set()
  /**
   * A tool that the code called waits for an answer or a result. The code runs again when the answer or result arrives.
   */
  isPaused = false
  /** Resolves when the code pauses, also if the executor ignores its signal. */
  readonly whenPaused: Promise<typeof SUSPENDED> = new Promise((resolve) => {
    this.#pause = () => resolve(SUSPENDED)
  })

  constructor(code: CodeCall) {
    this.#code = code
    this.#path = childPath(code.frame.path, 'code', code.call.id)
    code.run.stop.add(this)
  }

  /** Aborted when the code has ended or paused, or the run stops. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  stop(reason: unknown): void {
    this.#controller.abort(reason)
  }

  /**
   * Rejects further calls and waits until all running calls are recorded, including calls that the code did not await.
   */
  async end(): Promise<void> {
    this.#code.run.stop.delete(this)
    this.#controller.abort(
      new ToolError('The code has ended and can call no more tools. Await every tool call before the code ends.', {
        code: 'CANCELLED',
      }),
    )
    while (this.#running.size) await Promise.allSettled(this.#running)
    if (this.#code.run.stop.stopped) throw this.#code.run.stop.stopped.reason
  }

  /**
   * Calls a tool for the code. If the tool waits for an answer, the promise never settles and the code stops at this
   * call.
   */
  async call(name: string, args: unknown): Promise<JsonObject> {
    this.#controller.signal.throwIfAborted()
    if (++this.#count > MAX_CALLS) {
      throw new ToolError(`The code made more than ${MAX_CALLS} tool calls. Split it into several pieces of code.`)
    }
    const { frame, context } = this.#code
    const path = childPath(this.#path, 'call', this.#count) // an id of a model call never looks like this
    const inner: ScopeFrame = {
      path,
      branch: frame.branch,
      isolation: this.#path,
      tree: frame.tree,
      operation: context.observed?.operation,
    }
    const running = this.#runCall(inner, clip(String(name), MAX_NAME_LENGTH), this.#storableArgs(args))
    this.#running.add(running)
    const call = await running.finally(() => this.#running.delete(running))
    if (!call.response || call.pending) return await neverSettles()
    this.#copyActions(path)
    const { response } = call.response
    if (!isFailure(response)) return response
    throw new ToolError(String(response.error), { code: String(response.errorCode) as ResultErrorCode })
  }

  /** The arguments as JSON. Arguments that exceed the limit for one call or for all calls together are replaced. */
  #storableArgs(args: unknown): JsonObject {
    const { maxArgsBytes } = this.#code.run.services
    const { value, bytes } = toJsonValue(args, maxArgsBytes)
    const limit = Math.min(maxArgsBytes, ARGS_FACTOR * maxArgsBytes - this.#argsBytes)
    if (bytes > limit) return truncatedArgs(bytes)
    this.#argsBytes += bytes
    return isRecord(value) ? value : {}
  }

  /** Records and dispatches a call, or finds its response in the log. */
  async #runCall(inner: ScopeFrame, name: string, args: JsonObject): Promise<CallState> {
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
        `The code was run again after a pause, and its call of "${name}" differs from the call before the pause. Code that pauses must make the same tool calls in every run. Do not let tool calls depend on the time or on random numbers.`,
      )
    }
    // once the code is paused, no further call starts
    if (call.response === undefined && !this.isPaused) await dispatch([call], inner)
    if (!call.response || call.pending) this.#pauseCode()
    return call
  }

  #pauseCode(): void {
    this.isPaused = true
    this.#pause?.()
    this.#controller.abort(
      new ToolError('The code is paused until a tool that it called has its answer. It cannot call tools until then.', {
        code: 'CANCELLED',
      }),
    )
  }

  /** Copies a tool's escalation, transfer and `skipSummarization` to the code's own actions. */
  #copyActions(path: string): void {
    const scope = this.#code.run.fold.scopes.get(path)
    const { actions } = this.#code.context
    if (scope?.escalated) actions.escalate = true
    if (scope?.active !== undefined) actions.transferToAgent = scope.active
    if (scope?.skipped) actions.skipSummarization = true
  }
}

/** Stops the code at a call that waits for an answer. */
function neverSettles(): Promise<never> {
  return new Promise(() => {})
}
