import { type Agent, isAgent } from '../agent/agents/agent.ts'
import { KeptToolsets } from '../agent/request/kept-toolsets.ts'
import type { MediaOptions } from '../agent/request/media-options.ts'
import { AgentTree } from '../agent/agents/agent-tree.ts'
import type { ArtifactService } from '../artifact/service.ts'
import { Deadlines } from '../base/deadlines.ts'
import { type JsonObject, jsonSize } from '../base/json.ts'
import { keepShapes } from '../base/keep-shape.ts'
import { MAX_METADATA_BYTES } from '../base/limits.ts'
import { type Ports, portsWith } from '../base/ports.ts'
import type { Message } from '../content/content.ts'
import type { CredentialService } from '../credential/service.ts'
import type { Logger } from '../dispatch/host.ts'
import {
  anything,
  callback,
  checkOptions,
  flag,
  type OptionRules,
  objectWith,
  oneOf,
  type Rule,
  record,
  text,
  wholeNumber,
} from '../error/check-options.ts'
import { messageOf, ToolwrightError } from '../error/error.ts'
import { PORT_RULES } from '../error/port-rules.ts'
import type { PendingRequest } from '../event/pending.ts'
import type { MemoryService } from '../memory/service.ts'
import { InMemorySessionService } from '../session/in-memory.ts'
import type { SessionKey, SessionService } from '../session/service.ts'
import type { RunConfig } from '../tool/run-config.ts'
import type { RunContext, RunContextOption } from '../tool/run-context.ts'
import { plainDelta } from '../tool/state.ts'
import { Cancelled } from './run/cancelled.ts'
import { type Completion, completionOf } from './completion.ts'
import { claimIfFree } from './lease/hold.ts'
import { toContent } from './message.ts'
import { type Models, modelResolver } from './models.ts'
import { outputSchemaOf, parseOutput } from './output.ts'
import { checkPlugin, type Plugin } from './plugins/plugin.ts'
import { closeInTime, closePlugin, closeResource, resourceName, resourcesOf } from './resources.ts'
import { type Followable, followSignal, type Run, RunHandle } from './run/run-handle.ts'
import type { RunServices } from './run-services.ts'
import { type Begin, RunStarter } from './run/run-starter.ts'

/** Options of `Runner`. */
export interface RunnerOptions<Output = unknown> {
  /** Name of the app that the sessions belong to. */
  readonly appName: string
  /** The root agent. It receives the user's messages. */
  readonly agent: Agent<Output>
  /** Stores sessions. Default: a new `InMemorySessionService`, whose sessions end with the process. */
  readonly sessionService?: SessionService | undefined
  /** Stores artifacts: files that tools save and load. Default: none. */
  readonly artifactService?: ArtifactService | undefined
  /** Stores memories of earlier sessions for `searchMemory()`. Default: none. */
  readonly memoryService?: MemoryService | undefined
  /** Stores credentials of tools. Default: none. */
  readonly credentialService?: CredentialService | undefined
  /** Callbacks for every agent of the runner. They run before those of the agents. Default: none. */
  readonly plugins?: readonly Plugin[] | undefined
  /** Resolves model names: functions that create a model, by name or pattern. Default: none. */
  readonly models?: Models | undefined
  /**
   * What a new message does while an invocation is unfinished. Default: `continue` when only long-running results are
   * pending, else `reject`.
   */
  readonly whilePaused?: 'reject' | 'cancel' | 'continue' | undefined
  /** Deadline of a tool call in milliseconds. `timeoutMs` of a tool replaces it. Default 30,000. */
  readonly toolTimeoutMs?: number | undefined
  /** Largest result of a tool call in bytes. Larger results are cut. Default 256,000. */
  readonly maxResultBytes?: number | undefined
  /** Largest arguments of a tool call in bytes. Larger ones are rejected and not recorded. Default 256,000. */
  readonly maxArgsBytes?: number | undefined
  /** Most tool calls of one model reply that run. The others are answered with an error. Default 128. */
  readonly maxCallsPerReply?: number | undefined
  /** How many images, sounds and documents of the session a model request includes. */
  readonly media?: MediaOptions | undefined
  /** Receives warnings and errors. Default: `console`. */
  readonly logger?: Logger | undefined
  /** Replaces the clock, timers, randomness and ids, for tests and simulators. Default: those of the system. */
  readonly ports?: Partial<Ports> | undefined
}

/** Options of `runner.run()` and `runner.complete()`. */
export interface RunOptions extends RunContextOption {
  /** The user who sends the message. */
  readonly userId: string
  /** The session, created when it does not exist. Default: a new session. Required when answering a pending request. */
  readonly sessionId?: string | undefined
  /** A text, content with parts, or an answer made by `approve()`, `deny()` or `respond()`. */
  readonly message: Message
  /** Changes of the session's state, recorded with the message. */
  readonly stateDelta?: JsonObject | undefined
  /** Settings of this run. */
  readonly runConfig?: RunConfig | undefined
  /** Cancels the run when aborted. */
  readonly signal?: AbortSignal | undefined
}

/** Options of `runner.resume()`: the invocation to continue. */
export interface ResumeOptions extends RunContextOption {
  /** The user of the session. */
  readonly userId: string
  /** The session that was interrupted. */
  readonly sessionId: string
  /** The invocation to continue. Default: the latest that is unfinished. */
  readonly invocationId?: string | undefined
  /** Settings of this run. */
  readonly runConfig?: RunConfig | undefined
  /** Cancels the run when aborted. */
  readonly signal?: AbortSignal | undefined
}

/** Options of `runner.cancel()`: the invocation to cancel. */
export interface CancelOptions {
  /** The user of the session. */
  readonly userId: string
  /** The session whose invocations are cancelled. */
  readonly sessionId: string
  /** The invocation to cancel. Default: all that are unfinished. */
  readonly invocationId?: string | undefined
  /** Passed to the `cancel` functions of tools whose long-running work is cancelled. */
  readonly runContext?: RunContext | undefined
}

/** Options of `runner.recover()`. */
export interface RecoverOptions {
  /** Returns the `runContext` for the run of a session. */
  readonly runContext?:
    | ((session: { userId: string; sessionId: string }) => RunContext | Promise<RunContext>)
    | undefined
}

const RULES: OptionRules<RunnerOptions> = {
  appName: text,
  agent: { expects: 'an agent', accepts: isAgent },
  sessionService: objectWith('claim', 'append', 'read'),
  artifactService: objectWith('saveArtifact', 'loadArtifact'),
  memoryService: objectWith('searchMemory'),
  credentialService: objectWith('load', 'save'),
  plugins: { expects: 'a list of plugins', accepts: (value) => Array.isArray(value) && value.every(record.accepts) },
  models: {
    expects: 'an object of functions, by pattern',
    accepts: (value) =>
      record.accepts(value) && Object.values(value as object).every((make) => typeof make === 'function'),
  },
  whilePaused: oneOf('reject', 'cancel', 'continue'),
  toolTimeoutMs: anything,
  maxResultBytes: anything,
  maxArgsBytes: anything,
  maxCallsPerReply: anything,
  media: record,
  logger: objectWith('warn', 'error'),
  ports: record,
}

const MEDIA_RULES: OptionRules<MediaOptions> = {
  earlierTurns: {
    expects: 'a whole number >= 0, or Infinity',
    accepts: (value) => value === Number.POSITIVE_INFINITY || (Number.isInteger(value) && Number(value) >= 0),
  },
  maxBytesPerRequest: wholeNumber(0),
  maxFilesPerRequest: wholeNumber(0),
}

/** What calls have in common. A session key may be spread into them, so `appName` is accepted when it is the runner's. */
interface Call {
  readonly appName?: string | undefined
  readonly userId?: string | undefined
  readonly runConfig?: RunConfig | undefined
}

const CALL_RULES: OptionRules<RunOptions & Pick<Call, 'appName'>> = {
  appName: text,
  userId: text,
  sessionId: text,
  message: anything,
  stateDelta: record,
  runConfig: record,
  runContext: record,
  signal: { expects: 'an AbortSignal', accepts: (value) => record.accepts(value) && 'aborted' in (value as object) },
}

const RUN_CONFIG_RULES: OptionRules<RunConfig> = {
  streaming: flag,
  maxLlmCalls: wholeNumber(1),
  detach: flag,
  customMetadata: record,
}

const CANCEL_RULES: OptionRules<CancelOptions & Pick<Call, 'appName'>> = {
  appName: text,
  userId: text,
  sessionId: text,
  invocationId: text,
  runContext: record,
}

const RESUME_RULES: OptionRules<ResumeOptions & Call> = {
  ...CANCEL_RULES,
  runConfig: CALL_RULES.runConfig,
  signal: CALL_RULES.signal,
}

const RECOVER_RULES: OptionRules<RecoverOptions> = { runContext: callback }

const PENDING_RULES = { appName: text, userId: text, sessionId: text }

/**
 * Runs an agent for users and their sessions.
 *
 * @example
 * const runner = new Runner({ appName: 'weather', agent })
 * const { text } = await runner.complete({ userId: 'ada', message: 'Is it cold in Oslo?' })
 */
export class Runner<Output = unknown> {
  readonly appName: string
  readonly agent: Agent<Output>
  readonly sessionService: SessionService
  readonly artifactService: ArtifactService | undefined
  readonly memoryService: MemoryService | undefined
  readonly credentialService: CredentialService | undefined
  readonly #services: RunServices
  readonly #tree: AgentTree
  readonly #starter: RunStarter
  #closing: Promise<void> | undefined

  constructor(options: RunnerOptions<Output>) {
    checkOptions('Runner', options, RULES)
    checkOptions('Runner, ports', options.ports ?? {}, PORT_RULES)
    checkOptions('Runner, media', options.media ?? {}, MEDIA_RULES)
    if (options.appName === undefined)
      throw new ToolwrightError(
        'INVALID_CONFIG',
        "Runner: appName is missing. Name the app its sessions belong to: appName: 'my-app'.",
      )
    if (options.agent === undefined)
      throw new ToolwrightError('INVALID_CONFIG', 'Runner: agent is missing. Give it an agent: new LlmAgent({ ... }).')
    options.plugins?.forEach(checkPlugin)
    this.appName = options.appName
    this.agent = options.agent
    this.sessionService = options.sessionService ?? new InMemorySessionService()
    this.artifactService = options.artifactService
    this.memoryService = options.memoryService
    this.credentialService = options.credentialService
    const { plugins = [], logger = console, toolTimeoutMs = 30_000, maxResultBytes = 256_000 } = options
    const { maxArgsBytes = 256_000, maxCallsPerReply = 128 } = options
    const ports = portsWith(options.ports)
    this.#services = {
      sessionService: this.sessionService,
      artifactService: this.artifactService,
      memoryService: this.memoryService,
      credentialService: this.credentialService,
      plugins,
      watchers: plugins.filter((plugin) => plugin.onEvent),
      logger,
      ports,
      deadlines: new Deadlines(ports),
      toolTimeoutMs: positive(toolTimeoutMs, 'toolTimeoutMs'),
      maxResultBytes: positive(maxResultBytes, 'maxResultBytes'),
      maxArgsBytes: positive(maxArgsBytes, 'maxArgsBytes'),
      maxCallsPerReply: positive(maxCallsPerReply, 'maxCallsPerReply'),
      media: options.media ?? {},
      keptToolsets: new KeptToolsets(),
    }
    this.#tree = new AgentTree(options.agent, { resolveModel: modelResolver(options.models ?? {}), plugins })
    this.#tree.prepare()
    keepShapes()
    const { appName, whilePaused } = options
    this.#starter = new RunStarter({ appName, services: this.#services, tree: this.#tree, whilePaused })
  }

  /** Sends a message; the events come as they happen. What is wrong with the message is thrown when it is iterated. */
  run(options: RunOptions): Run {
    this.#checkCall('runner.run()', options, CALL_RULES)
    try {
      return this.#handle(this.#begunBy(options))
    } catch (error) {
      const open = (): Promise<never> => Promise.reject(error)
      const { sessionId = '' } = options
      return new RunHandle({
        sessionId,
        invocationId: '',
        open,
        cancel: async () => {},
        detach: false,
        signal: undefined,
      })
    }
  }

  /** Sends a message and waits for the end, or for a pause. */
  async complete(options: RunOptions): Promise<Completion<Output>> {
    this.#checkCall('runner.complete()', options, CALL_RULES)
    const begin = this.#begunBy(options)
    const active = await this.#starter.begin(begin, begin.signal ? () => begin.signal?.aborted === true : undefined)
    const forgetSignal = followSignal(options.signal, active)
    await active.finished
    forgetSignal?.()
    if (active.failure) throw active.failure.reason
    const completion = completionOf(active)
    const schema = completion.pending.length || completion.error ? undefined : outputSchemaOf(this.agent)
    const output = schema && (await parseOutput(schema, completion.text, this.#services))
    return { ...completion, output: output as Output | undefined } // the schema of the agent has this type
  }

  /** Goes on with an invocation that was interrupted. */
  resume(options: ResumeOptions): Run {
    this.#checkCall('runner.resume()', options, RESUME_RULES)
    const { userId, sessionId, invocationId = '', runConfig = {}, runContext, signal } = options
    checkConfig(runConfig)
    return this.#handle({ userId, sessionId, invocationId, runConfig, runContext, signal, isNew: false })
  }

  /**
   * Goes on with what was interrupted when its process died, and with what waited for an answer past its time, in all
   * sessions of this app that nobody else has taken up. Each runs to its end or pause, whether anybody reads its events
   * or not.
   */
  async recover(options: RecoverOptions = {}): Promise<Run[]> {
    checkOptions('runner.recover()', options, RECOVER_RULES, 'INVALID_REQUEST')
    const { appName, sessionService } = this
    const interrupted = await sessionService.interrupted({ appName })
    const late = (await sessionService.pending({ appName })).filter((request) => this.#isOverdue(request))
    const keys = new Map([...interrupted, ...late].map((key) => [JSON.stringify([key.userId, key.sessionId]), key]))
    const runs = await Promise.all(Array.from(keys.values(), (key) => this.#recover(key, options)))
    return runs.filter((run) => run !== undefined)
  }

  async #recover(
    { userId, sessionId }: Omit<SessionKey, 'appName'>,
    { runContext: runContextOf }: RecoverOptions,
  ): Promise<Run | undefined> {
    const begin = { userId, sessionId, invocationId: '', runConfig: {}, signal: undefined, isNew: false }
    try {
      const runContext = await runContextOf?.({ userId, sessionId })
      const active = await this.#starter.begin({ ...begin, runContext })
      const { invocationId } = active
      const cancel = (): Promise<void> => this.cancel({ userId, sessionId, invocationId, runContext })
      const open = async (): Promise<Followable> => active
      return new RunHandle({ sessionId, invocationId, open, cancel, detach: true, signal: undefined })
    } catch (error) {
      if (error instanceof ToolwrightError && (error.code === 'SESSION_BUSY' || error.code === 'NOT_FOUND')) {
        return undefined // somebody else was faster, or it had come to its end
      }
      this.#services.logger.error(`Session "${sessionId}" could not be gone on with: ${messageOf(error)}`, error)
      return undefined
    }
  }

  /** What the sessions of this app wait for, of all users or of one, oldest first. */
  async pending(
    filter: { userId?: string | undefined; sessionId?: string | undefined } = {},
  ): Promise<PendingRequest[]> {
    this.#checkCall('runner.pending()', filter, PENDING_RULES)
    const { userId, sessionId } = filter
    const all = await this.sessionService.pending({ appName: this.appName, userId, sessionId })
    return all.filter((request) => !this.#isOverdue(request)) // nobody can answer those any more
  }

  #isOverdue({ expiresAt }: PendingRequest): boolean {
    return expiresAt !== undefined && expiresAt <= this.#services.ports.now() / 1000
  }

  /** Ends what is unfinished in a session: running, waiting or interrupted. Nothing happens when nothing is. */
  async cancel(options: CancelOptions): Promise<void> {
    this.#checkCall('runner.cancel()', options, CANCEL_RULES)
    const { userId, sessionId, invocationId, runContext } = options
    const key = { appName: this.appName, userId, sessionId }
    for (const active of this.#starter.running.of(key)) {
      if (invocationId !== undefined && active.invocationId !== invocationId) continue
      active.stop(new Cancelled('The run was cancelled.'))
      await active.finished
      const hasEnded = active.failure !== undefined || active.next().type === 'done'
      if (hasEnded && (invocationId !== undefined || !active.view.hasOthers(active.fold))) return
    }
    const free = await claimIfFree(this.sessionService, key)
    if (free?.lease) return await this.#starter.cancelHeld(free.lease, invocationId, runContext)
    if (free) return
    const which = invocationId === undefined ? {} : { invocationId }
    await this.sessionService.post(key, { id: this.#services.ports.newId(), type: 'cancel', ...which })
  }

  /** Ends all runs and closes toolsets, code executors and plugins. */
  async close(): Promise<void> {
    this.#closing ??= this.#end()
    return await this.#closing
  }

  async #end(): Promise<void> {
    await this.#starter.close()
    const { ports, plugins, keptToolsets, logger } = this.#services
    // a source may have been listing its tools when the runs ended
    const returned = keptToolsets.takeAll((late) => {
      closeResource(late).catch((error) =>
        logger.warn(`${resourceName(late)} did not close: ${messageOf(error)}`, error),
      )
    })
    const closing = [
      ...resourcesOf(this.#tree.agents(), returned).map((one) =>
        closeInTime(resourceName(one), closeResource(one), ports),
      ),
      ...plugins.map((plugin) => closeInTime(`Plugin "${plugin.name}"`, closePlugin(plugin), ports)),
    ]
    const failed = (await Promise.allSettled(closing)).flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
    if (failed.length) throw new AggregateError(failed, `Closing failed: ${failed.map(messageOf).join('; ')}`)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #begunBy(options: RunOptions): Begin {
    const { userId, sessionId, message: given, stateDelta, runConfig = {}, runContext, signal } = options
    const { newId } = this.#services.ports
    const message = toContent(given, this.#services.maxResultBytes)
    checkConfig(runConfig)
    const isAnswer = message.parts.some((part) => part.functionResponse)
    if (isAnswer && sessionId === undefined) {
      throw new ToolwrightError(
        'INVALID_REQUEST',
        'sessionId is required when answering a pending request. Pass the sessionId of the request.',
      )
    }
    return {
      userId,
      sessionId: sessionId ?? newId(),
      invocationId: isAnswer ? '' : `e-${newId()}`,
      message,
      stateDelta: stateDelta && plainDelta(stateDelta),
      runConfig,
      runContext,
      signal,
      isNew: sessionId === undefined,
    }
  }

  #checkCall(what: string, options: Call, rules: { readonly [option: string]: Rule }): void {
    checkOptions(what, options, rules, 'INVALID_REQUEST')
    const { appName, runConfig } = options
    if (appName !== undefined && appName !== this.appName) {
      const message = `${what}: appName "${appName}" is not the app of this runner, "${this.appName}".`
      throw new ToolwrightError('INVALID_REQUEST', message)
    }
    if (runConfig) checkOptions(`${what}, runConfig`, runConfig, RUN_CONFIG_RULES, 'INVALID_REQUEST')
  }

  #handle(begin: Begin): RunHandle {
    const { userId, sessionId, invocationId, runConfig, runContext, signal } = begin
    const open = (isCancelled: () => boolean, isRead: () => boolean): Promise<Followable | undefined> =>
      this.#starter
        .begin({ ...begin, isRead }, () => isCancelled() || signal?.aborted === true)
        .catch((error) => {
          if (error instanceof Cancelled) return undefined
          throw error
        })
    const cancel = (id: string): Promise<void> => this.cancel({ userId, sessionId, invocationId: id, runContext })
    return new RunHandle({ sessionId, invocationId, open, cancel, detach: runConfig.detach === true, signal })
  }
}

/** It is put on every event. */
function checkConfig({ customMetadata }: RunConfig): void {
  if (!customMetadata || jsonSize(customMetadata, MAX_METADATA_BYTES) <= MAX_METADATA_BYTES) return
  throw new ToolwrightError('TOO_LARGE', `runConfig.customMetadata has more than ${MAX_METADATA_BYTES} bytes.`)
}

function positive(value: number, what: string): number {
  if (typeof value === 'number' && value > 0) return value
  throw new ToolwrightError('INVALID_CONFIG', `${what} must be above 0.`)
}
