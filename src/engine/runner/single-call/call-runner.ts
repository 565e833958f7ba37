// Runs single tool calls outside a conversation: for an MCP client, the AI SDK and the command line. The dispatcher runs

import type { JsonObject } from '../../../core/base/json.ts'
import type { FunctionCall, Part } from '../../../core/content/content.ts'
import { progressIn } from '../../../core/event/progress.ts'
// each call in a run of its own, for an agent whose next reply is exactly that call. Gates, policies and records apply as in
// any other run.
import type { BeforeModel, Callbacks } from '../../agent/agents/callbacks.ts'
import { LlmAgent } from '../../agent/agents/llm-agent.ts'
import type { RunContext } from '../../context/run-context.ts'
import type { Model } from '../../model/model.ts'
import type { Tool } from '../../tool/tool.ts'
import type { ToolSource } from '../../tool/tool-source.ts'
import type { Run } from '../run/run-handle.ts'
import { Runner } from '../runner.ts'
import type { RunnerOptions, RunOptions } from '../runner-options.ts'
import { CallEvents, type CallOutcome, loadMediaBytes } from './call-outcome.ts'

/** Callbacks around single calls. They do not see the calls of agents inside a tool. */
export type CallCallbacks = Pick<Callbacks, 'beforeTool' | 'afterTool' | 'onToolError'>

/** Options of `new CallRunner()`: the tools, and the services and limits of a runner. */
export interface CallRunnerOptions
  extends Omit<RunnerOptions, 'agent' | 'whilePaused' | 'media' | 'phases' | 'engine' | 'limits'>,
    CallCallbacks {
  /** The name of the agent that makes the calls, in the event log. */
  readonly agentName: string
  /** Calls with the same id share the results of `cached()` tools, also in other sessions of the user. Default: only those of a session. */
  readonly callerId?: string | undefined
  /** The tools that can be called. An agent is called through `agentTool()`. */
  readonly tools: readonly ToolSource[]
}

/** For whom a call runs, and who follows it. */
export interface CallOptions {
  /** The user the tool acts for. */
  readonly userId: string
  /** Passed to the tool, as `runner.run({ runContext })` does. */
  readonly runContext?: RunContext | undefined
  /** Cancels the call. */
  readonly signal?: AbortSignal | undefined
  /** Receives the progress of the call. */
  onProgress?(value: unknown): void
}

/** Where a new call runs. */
interface CallPlace {
  /** The session of the call; created if it does not exist. Default: a new session. */
  readonly sessionId?: string | undefined
  /** State changes recorded together with the call. */
  readonly stateDelta?: JsonObject
}

/** A call to continue. */
export interface StartedCall extends CallOptions {
  /** The session of the call. */
  readonly sessionId: string
}

/** Runs single calls of a set of tools, for any number of users at the same time. */
export class CallRunner {
  /** Runs the calls. It lists and answers their pending requests. */
  readonly runner: Runner
  readonly #agent: LlmAgent
  /** What the agent does next, by the id of the invocation: a call, or showing its tools to a function. */
  readonly #steps: Map<string, FunctionCall | ((tools: ReadonlyMap<string, Tool>) => void)> = new Map()

  constructor({ agentName, callerId, tools, beforeTool, afterTool, onToolError, ...options }: CallRunnerOptions) {
    const callbacks = { beforeModel: this.#reply, beforeTool, afterTool, onToolError }
    this.#agent = new LlmAgent({ name: agentName, model: options.model ?? noModel, tools, ...callbacks })
    this.runner = new Runner({ ...options, agent: this.#agent })
    this.runner.internals.useForSingleCalls(callerId)
  }

  /** Runs a call until it has a result, is pending or ended. Default: in a session of its own. */
  async run(call: FunctionCall, options: CallOptions & CallPlace): Promise<CallOutcome> {
    const run = this.start(call, options)
    return await this.#follow(run, { ...options, sessionId: run.sessionId })
  }

  /** Runs a call and streams its events, as `runner.run()` does. Default: in a session of its own. */
  start(call: FunctionCall, { userId, sessionId, stateDelta, runContext, signal }: CallOptions & CallPlace): Run {
    const run = this.#start({ userId, sessionId, message: `Call ${call.name}.`, stateDelta, runContext, signal })
    const { invocationId } = run
    const steps = this.#steps
    return {
      sessionId: run.sessionId,
      invocationId,
      cancel: (reason) => run.cancel(reason),
      async *[Symbol.asyncIterator]() {
        steps.set(invocationId, call)
        try {
          yield* run
        } finally {
          steps.delete(invocationId)
        }
      },
    }
  }

  /** The tools that every user can call: those that no toolset and no tool source lists. */
  get fixedTools(): ReadonlyMap<string, Tool> {
    return this.#agent.table.tools
  }

  /**
   * The tools that a user can call. Toolsets and tool sources are listed in a run of the user, which leaves no session. A
   * toolset that needs a credential the user has not given is left out. `sessionId`: the session of that run.
   */
  async list(options: CallOptions & Pick<CallPlace, 'sessionId'>): Promise<ReadonlyMap<string, Tool>> {
    const { table, dynamicTools } = this.#agent
    if (dynamicTools.length === 0) return table.tools
    const { userId, runContext, signal } = options
    const { appName, sessionService } = this.runner
    const given = options.sessionId
    const run = this.#start({ userId, sessionId: given, message: 'List the tools.', runContext, signal })
    const { sessionId, invocationId } = run
    let listed = table.tools
    this.#steps.set(invocationId, (tools) => {
      listed = tools
    })
    try {
      await this.#follow(run, { ...options, sessionId })
    } finally {
      this.#steps.delete(invocationId)
      await this.runner.cancel({ userId, sessionId, runContext })
      await sessionService.deleteSession({ appName, userId, sessionId })
    }
    return listed
  }

  /** Answers the pending requests of a call and continues it. The process may be another one. */
  async answer(answers: readonly Part[], call: StartedCall & Pick<CallPlace, 'stateDelta'>): Promise<CallOutcome> {
    const { userId, sessionId, stateDelta, runContext, signal } = call
    const run = this.#start({ userId, sessionId, message: answers, stateDelta, runContext, signal })
    return await this.#follow(run, call)
  }

  /** Reads the outcome of a call that another run may have continued. */
  async read({ userId, sessionId }: StartedCall): Promise<CallOutcome> {
    const { appName, sessionService } = this.runner
    const session = await sessionService.getSession({ appName, userId, sessionId })
    const found = new CallEvents(this.#agent.name)
    for (const event of session?.events ?? []) found.add(event)
    return await this.#outcome(found, { userId, sessionId })
  }

  /** Cancels a pending call. */
  async cancel({ userId, sessionId, runContext }: StartedCall): Promise<void> {
    await this.runner.cancel({ userId, sessionId, runContext })
  }

  /** Cancels all calls and closes the toolsets. */
  close(): Promise<void> {
    return this.runner.close()
  }

  /** Starts a run. An app that declares `RunContext` passes one with each call; reading a missing one throws. */
  #start(options: Omit<RunOptions, 'runContext'> & Pick<CallOptions, 'runContext'>): Run {
    return this.runner.run(options as RunOptions)
  }

  async #follow(run: Run, { userId, sessionId, onProgress }: StartedCall): Promise<CallOutcome> {
    const found = new CallEvents(this.#agent.name)
    for await (const event of run) {
      found.add(event)
      const progress = onProgress && progressIn(event)
      if (progress) onProgress(progress.value)
    }
    return await this.#outcome(found, { userId, sessionId }, run.invocationId)
  }

  /** `invocationId`: the invocation of the call, in a session with several. */
  async #outcome(
    found: CallEvents,
    where: { userId: string; sessionId: string },
    invocationId?: string,
  ): Promise<CallOutcome> {
    const { sessionId } = where
    const { artifactService } = this.runner
    if (found.result) {
      const result = artifactService ? await loadMediaBytes(found.result, artifactService) : found.result
      return { type: 'result', sessionId, result }
    }
    const all = await this.runner.pending(where)
    const requests = invocationId ? all.filter((request) => request.invocationId === invocationId) : all
    if (requests.length === 0) return { type: 'ended', sessionId, error: found.error }
    return { type: 'pending', sessionId, requests, handle: found.handle }
  }

  /** The reply of the agent: its call, then the end of the turn. A continued call is in the log. */
  readonly #reply: BeforeModel = ({ request, context }) => {
    const { invocationId } = context.invocation
    const step = this.#steps.get(invocationId)
    this.#steps.delete(invocationId)
    // a request offers the tools of its agent
    if (typeof step === 'function') step(request.tools as ReadonlyMap<string, Tool>)
    else if (!step && !request.contents.some(({ role }) => role === 'tool')) {
      throw new Error('The process ended before it recorded the call. Call the tool again.')
    }
    return { content: { role: 'model', parts: typeof step === 'object' ? [{ functionCall: step }] : [] } }
  }
}

/** Agents inside a tool inherit this model if they have none. */
const noModel: Model = {
  name: 'single-call',
  // biome-ignore lint/correctness/useYield: it always throws
  async *generate() {
    throw new Error('An agent inside the tool has no model. Set its `model`.')
  },
}
