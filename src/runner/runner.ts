import type { Agent } from '../agent/agents/agent.ts'
import { AgentTree } from '../agent/agents/agent-tree.ts'
import type { ArtifactService } from '../artifact/service.ts'
import { keepShapesAlive } from '../base/object-shapes.ts'
import type { CredentialService } from '../credential/service.ts'
import { messageOf, ToolwrightError } from '../error/error.ts'
import type { PendingRequest } from '../event/pending.ts'
import type { MemoryService } from '../memory/service.ts'
import type { SessionKey, SessionService } from '../session/service.ts'
import { toStateDelta } from '../tool/state.ts'
import { type Completion, completionOf } from './completion.ts'
import { claimIfFree } from './lease/claim-session.ts'
import { toContent } from './message.ts'
import { modelResolver } from './models.ts'
import { outputSchemaOf, parseOutput } from './output.ts'
import { closeAll } from './resources.ts'
import { Cancelled } from './run/cancelled.ts'
import { type Followable, followSignal, type Run, RunHandle } from './run/run-handle.ts'
import { type RunRequest, RunStarter } from './run/run-starter.ts'
import { createRunServices, type RunServices } from './run-services.ts'
import type { CancelOptions, RecoverOptions, ResumeOptions, RunnerOptions, RunOptions } from './runner-options.ts'
import { checkCallOptions, checkMetadataSize, checkRunnerOptions } from './runner-rules.ts'

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
    checkRunnerOptions(options)
    this.appName = options.appName
    this.agent = options.agent
    this.#services = createRunServices(options)
    this.sessionService = this.#services.sessionService
    this.artifactService = options.artifactService
    this.memoryService = options.memoryService
    this.credentialService = options.credentialService
    const { plugins } = this.#services
    this.#tree = new AgentTree(options.agent, { resolveModel: modelResolver(options.models ?? {}), plugins })
    this.#tree.prepare()
    keepShapesAlive()
    const { appName, whilePaused } = options
    this.#starter = new RunStarter({ appName, services: this.#services, tree: this.#tree, whilePaused })
  }

  /** Sends a message; the events come as they happen. What is wrong with the message is thrown when it is iterated. */
  run(options: RunOptions): Run {
    checkCallOptions(this.appName, 'run', options)
    try {
      return this.#handle(this.#requestOf(options))
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
    checkCallOptions(this.appName, 'complete', options)
    const request = this.#requestOf(options)
    const { signal } = request
    const active = await this.#starter.begin(signal ? { ...request, isCancelled: () => signal.aborted } : request)
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
    checkCallOptions(this.appName, 'resume', options)
    const { userId, sessionId, invocationId = '', runConfig = {}, runContext, signal } = options
    checkMetadataSize(runConfig)
    return this.#handle({ userId, sessionId, invocationId, runConfig, runContext, signal, isNew: false })
  }

  /**
   * Goes on with what was interrupted when its process died, and with what waited for an answer past its time, in all
   * sessions of this app that nobody else has taken up. Each runs to its end or pause, whether anybody reads its events
   * or not.
   */
  async recover(options: RecoverOptions = {}): Promise<Run[]> {
    checkCallOptions(this.appName, 'recover', options as object)
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
    checkCallOptions(this.appName, 'pending', filter)
    const { userId, sessionId } = filter
    const all = await this.sessionService.pending({ appName: this.appName, userId, sessionId })
    return all.filter((request) => !this.#isOverdue(request)) // nobody can answer those any more
  }

  #isOverdue({ expiresAt }: PendingRequest): boolean {
    return expiresAt !== undefined && expiresAt <= this.#services.ports.now() / 1000
  }

  /** Ends what is unfinished in a session: running, waiting or interrupted. Nothing happens when nothing is. */
  async cancel(options: CancelOptions): Promise<void> {
    checkCallOptions(this.appName, 'cancel', options)
    const { userId, sessionId, invocationId, runContext } = options
    const key = { appName: this.appName, userId, sessionId }
    for (const active of this.#starter.running.of(key)) {
      if (invocationId !== undefined && active.invocationId !== invocationId) continue
      active.stop(new Cancelled('The run was cancelled.'))
      await active.finished
      const hasEnded = active.failure !== undefined || active.next().type === 'done'
      if (hasEnded && (invocationId !== undefined || !active.data.view.hasOthers(active.data.fold))) return
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
    await closeAll(this.#tree.agents(), this.#services)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #requestOf(options: RunOptions): RunRequest {
    const { userId, sessionId, message: given, stateDelta, runConfig = {}, runContext, signal } = options
    const { newId } = this.#services.ports
    const message = toContent(given, this.#services.maxResultBytes)
    checkMetadataSize(runConfig)
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
      stateDelta: stateDelta && toStateDelta(stateDelta),
      runConfig,
      runContext,
      signal,
      isNew: sessionId === undefined,
    }
  }

  #handle(request: RunRequest): RunHandle {
    const { userId, sessionId, invocationId, runConfig, runContext, signal } = request
    const open = (isCancelled: () => boolean, isRead: () => boolean): Promise<Followable | undefined> =>
      this.#starter
        .begin({ ...request, isRead, isCancelled: () => isCancelled() || signal?.aborted === true })
        .catch((error) => {
          if (error instanceof Cancelled) return undefined
          throw error
        })
    const cancel = (id: string): Promise<void> => this.cancel({ userId, sessionId, invocationId: id, runContext })
    return new RunHandle({ sessionId, invocationId, open, cancel, detach: runConfig.detach === true, signal })
  }
}
