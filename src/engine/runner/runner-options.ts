import type { JsonObject } from '../../core/base/json.ts'
import type { Ports } from '../../core/base/ports.ts'
import type { Message } from '../../core/content/content.ts'
import type { ToolwrightErrorCode } from '../../core/error/error.ts'
import type { PendingRequest } from '../../core/event/pending-request.ts'
import type { ArtifactService } from '../../services/artifact/service.ts'
import type { Exchangers } from '../../services/auth/auth-services.ts'
import type { CredentialService } from '../../services/credential/service.ts'
import type { MemoryService } from '../../services/memory/service.ts'
import type { ScheduleService } from '../../services/schedule/service.ts'
import type { SessionService } from '../../services/session/service.ts'
import type { Agent } from '../agent/agents/agent.ts'
import type { MediaOptions } from '../agent/request/media-options.ts'
import type { RunConfig } from '../context/run-config.ts'
import type { RunContext, RunContextOption } from '../context/run-context.ts'
import type { Logger } from '../dispatch/host.ts'
import type { Model } from '../model/model.ts'
import type { Observer } from '../observe/observer.ts'
import type { FleetOptions } from './fleet-options.ts'
import type { Models } from './models.ts'
import type { Plugin } from './plugins/plugin.ts'
import type { ConversationPhases } from './run/conversation-phases.ts'

/** Options of `new Runner()`. */
export interface RunnerOptions<Output = unknown> extends FleetOptions {
  /** The app that sessions belong to. Sessions of another app are never read. */
  readonly appName: string
  /** The agent that answers messages, with its sub-agents. */
  readonly agent: Agent<Output>
  /** Stores sessions and their logs. Default: in memory; `sqlite()` keeps them across restarts. */
  readonly sessionService?: SessionService | undefined
  /** Stores files that tools save and large media. Default: none, `saveArtifact` fails. */
  readonly artifactService?: ArtifactService | undefined
  /** The memory that `context.searchMemory` and the memory tools search. Default: none. */
  readonly memoryService?: MemoryService | undefined
  /** Stores credentials of users. Default: in memory; `sqlite()` keeps them across restarts, encrypted. */
  readonly credentialService?: CredentialService | undefined
  /** Stores what `runner.schedule()` creates. Default: in memory; `sqlite()` keeps it across restarts. */
  readonly scheduleService?: ScheduleService | undefined
  /** Makes the credentials of custom schemes, by the `name` of the scheme. */
  readonly credentialExchangers?: Exchangers | undefined
  /** Redirect URIs that an answer to a consent may name, besides the requested one. Compared exactly. Default: none. */
  readonly allowedRedirectUris?: readonly string[] | undefined
  /** Callbacks around every run, model call, tool call and event, before those of the agents. */
  readonly plugins?: readonly Plugin[] | undefined
  /** Measure what runs do, and change nothing: `otel()` of `toolwright/otel`. Default: none, nothing is measured. */
  readonly observers?: readonly Observer[] | undefined
  /** The model of agents that have none and inherit none. Default: none, such an agent can only speak in a live session. */
  readonly model?: Model | undefined
  /** Makes the model for a model name, by pattern: `{ 'gemini-*': gemini }`. */
  readonly models?: Models | undefined
  /**
   * The phases of all conversations: `conversationPhases({ phases, initialPhase })` of `toolwright/live`. Text runs and live sessions
   * refuse calls of tools that the current phase does not allow. Default: those of the latest `connectLive({ runner, phases })`.
   */
  readonly phases?: ConversationPhases | undefined
  /**
   * What a new message does while an invocation is paused: fail with `PAUSED`, cancel it, or leave it pending. Default:
   * `continue` when only long-running results are pending, else `reject`.
   */
  readonly whilePaused?: 'reject' | 'cancel' | 'continue' | undefined
  /** Deadline of a tool without its own `timeoutMs`, in milliseconds. Default 30,000. */
  readonly toolTimeoutMs?: number | undefined
  /** Deadline of an agent tool without its own `timeoutMs`, in milliseconds. Default: none; in live sessions `toolTimeoutMs`. */
  readonly agentToolTimeoutMs?: number | undefined
  /**
   * The most bytes of a tool result. A larger result is truncated; the whole result becomes an artifact if there is
   * an artifact service. Default 256,000.
   */
  readonly maxResultBytes?: number | undefined
  /**
   * The most bytes of the arguments of a call. A call with more is refused, and its arguments are not recorded.
   * Default 256,000.
   */
  readonly maxArgsBytes?: number | undefined
  /** The most calls of one model reply that run. Further calls get an error result. Default 128. */
  readonly maxCallsPerReply?: number | undefined
  /** How many images, sounds and documents of the session a model request holds. */
  readonly media?: MediaOptions | undefined
  /** Receives warnings and errors for the operator. Default: `console`. */
  readonly logger?: Logger | undefined
  /** Clock, timers, randomness and ids, for tests and simulators. Default: the platform's. */
  readonly ports?: Partial<Ports> | undefined
}

/** Options of `runner.run()` and `runner.complete()`. */
export interface RunOptions extends RunContextOption {
  /** The user the session belongs to. */
  readonly userId: string
  /** The session to continue; created if it does not exist. Default: a new session. */
  readonly sessionId?: string | undefined
  /** Text, parts, or answers to pending requests: `[approve(request)]`. */
  readonly message: Message
  /** State changes recorded together with the message. */
  readonly stateDelta?: JsonObject | undefined
  /** Streaming, limits and metadata of this run. */
  readonly runConfig?: RunConfig | undefined
  /** The span that a new invocation belongs to, a W3C `traceparent`. Default: the active one, if there is one. Only for observers. */
  readonly traceparent?: string | undefined
  /** Cancels the run. */
  readonly signal?: AbortSignal | undefined
}

/** Options of `runner.submit()`. */
export interface SubmitOptions {
  /** The user the session belongs to. */
  readonly userId: string
  /** The session to continue; created if it does not exist. Default: a new session. */
  readonly sessionId?: string | undefined
  /** Text or parts. Answers to pending requests are for `runner.answer()`. */
  readonly message: Message
  /** State changes recorded together with the message. */
  readonly stateDelta?: JsonObject | undefined
  /** Identifies the message in its session: submitted again, it runs once. Default: a new id. Needs `sessionId`. */
  readonly id?: string | undefined
}

/** Options of `runner.answer()`. */
export interface AnswerOptions {
  /** The user the session belongs to. */
  readonly userId: string
  /** The session with the pending requests. */
  readonly sessionId: string
  /** Answers to pending requests: `[approve(request)]`. */
  readonly message: Message
  /** State changes recorded together with the answers. */
  readonly stateDelta?: JsonObject | undefined
  /** Passed to toolsets that list the tool of an edited call. The worker passes its own to the run. */
  readonly runContext?: RunContext | undefined
}

/** Options of `runner.resume()`. */
export interface ResumeOptions extends RunContextOption {
  /** The user the session belongs to. */
  readonly userId: string
  /** The session to continue. */
  readonly sessionId: string
  /** The invocation to continue. Default: the latest interrupted one. */
  readonly invocationId?: string | undefined
  /** Streaming, limits and metadata of this run. */
  readonly runConfig?: RunConfig | undefined
  /** Cancels the run. */
  readonly signal?: AbortSignal | undefined
}

/** Which pending requests `runner.pending()` lists. */
export interface PendingFilter {
  /** Only those of this user. */
  readonly userId?: string | undefined
  /** Only those of this session. */
  readonly sessionId?: string | undefined
  /** Only those of the tool with this name. */
  readonly tool?: string | undefined
  /** Only those of this kind. */
  readonly kind?: PendingRequest['kind'] | undefined
}

/** Options of `runner.cancel()`. */
export interface CancelOptions {
  /** The user the session belongs to. */
  readonly userId: string
  /** The session whose invocations end. */
  readonly sessionId: string
  /** The invocation to end. Default: all unfinished ones. */
  readonly invocationId?: string | undefined
  /** Passed to the `cancel` functions of long-running tools. */
  readonly runContext?: RunContext | undefined
}

/** Options of `runner.deleteSession()`. */
export interface DeleteSessionOptions {
  /** The user the session belongs to. */
  readonly userId: string
  /** The session to delete. */
  readonly sessionId: string
}

/** Options of `runner.deleteUser()` and `runner.exportUser()`. */
export interface UserOptions {
  /** The user. */
  readonly userId: string
}

/** Options of `runner.prune()`. Sessions that match one of both limits are deleted. */
export interface PruneOptions {
  /** Deletes sessions that have not changed for this long, in milliseconds. Default: none for their age. */
  readonly olderThan?: number | undefined
  /** Keeps this many sessions of each user, those that changed last. Default: any number. */
  readonly maxSessionsPerUser?: number | undefined
  /** Keeps sessions with pending requests. Default: true. */
  readonly keepPending?: boolean | undefined
  /** Ends the work after the session that is being deleted. */
  readonly signal?: AbortSignal | undefined
}

/** What `runner.prune()` has done. */
export interface PruneResult {
  /** Sessions that were deleted. */
  readonly deleted: number
  /** Sessions that match, but have a schedule or are in use by now. */
  readonly kept: number
  /** Sessions that could not be deleted. The logger has the errors. */
  readonly failed: number
}

/** Options of `runner.recover()`. */
export interface RecoverOptions {
  /** Which sessions to continue. Default: all. */
  readonly where?: ((session: { userId: string; sessionId: string }) => boolean) | undefined
  /** Returns the `runContext` for the run of a session. */
  readonly runContext?:
    | ((session: { userId: string; sessionId: string }) => RunContext | Promise<RunContext>)
    | undefined
}

/** Something that `runner.recover()` could not do. It was reported to the logger, and the next call tries it again. */
export type FailedRecovery = {
  /** The code of the error; undefined if it is not a `ToolwrightError`. */
  readonly code?: ToolwrightErrorCode
  /** The message of the error. */
  readonly message: string
} & (
  | {
      /** A session was not continued. */
      readonly type: 'session'
      /** The user of the session. */
      readonly userId: string
      /** The session. */
      readonly sessionId: string
    }
  | {
      /** Sessions with expired requests could not be listed. */
      readonly type: 'expired requests'
    }
)

/** Options of `runner.work()`. */
export interface WorkOptions extends RecoverOptions {
  /** Ends the work: no more runs start, and those under way get `graceMs`. */
  readonly signal: AbortSignal
  /** The most runs at the same time. Default: 10. */
  readonly concurrency?: number | undefined
  /**
   * How often the store is asked for work, in milliseconds, give or take a quarter. Default: 1000. A store that can be watched also
   * says at once that there is some.
   */
  readonly pollMs?: number | undefined
  /**
   * How long runs under way may take to end after `signal`, in milliseconds. Default: 10,000. The rest stays interrupted, and another
   * worker continues it.
   */
  readonly graceMs?: number | undefined
  /**
   * How many processes in a row may die while they continue a session. Then workers leave it alone, until `runner.resume()` or another
   * call continues it. Default: 5.
   */
  readonly maxCrashes?: number | undefined
  /** What `toolwright fleet` calls this worker, such as the name of its machine or pod; at most 200 characters. Default: nothing. */
  readonly label?: string | undefined
}

/** Options of `runner.follow()`. */
export interface FollowOptions {
  /** The user the session belongs to. */
  readonly userId: string
  /** The session to follow. */
  readonly sessionId: string
  /** The last event that the caller has, also a partial one. Default: the latest stored event. */
  readonly afterEventId?: string | undefined
  /** Stops following. The run continues. */
  readonly signal?: AbortSignal | undefined
}

/** Options of `runner.updateState()`. */
export interface UpdateStateOptions {
  /** The user the session belongs to. */
  readonly userId: string
  /** The session whose state changes. */
  readonly sessionId: string
  /** The changes. `null` deletes a key. */
  readonly stateDelta: JsonObject
}

/** Options of `runner.fork()`. */
export interface ForkOptions {
  /** The user the session belongs to. */
  readonly userId: string
  /** The session to copy. */
  readonly sessionId: string
  /** The copy ends before this event, or before the first entry of the invocation with this id. */
  readonly before: string
  /** The id of the new session. Default: a random one. */
  readonly newSessionId?: string | undefined
}

/** Options of `Runner.previewApproval`. */
export interface PreviewApprovalOptions {
  /** The user of the session. */
  readonly userId: string
  /** The session. */
  readonly sessionId: string
  /** The pending confirmation, which must be `editable`. */
  readonly requestId: string
  /** The edited arguments. */
  readonly args: { readonly [key: string]: unknown }
  /** The caller's values, for toolsets that list the tool. */
  readonly runContext?: RunContext | undefined
}

/** What an approver is asked when the arguments are edited. */
export interface ApprovalPreview {
  /** The question about the edited arguments. The approval records it. */
  readonly hint: string
  /** The edited arguments as the tool would get them: with the defaults and conversions of its schema. */
  readonly args: { readonly [key: string]: unknown }
}

/** Whose live session starts, and with what. */
export type LiveRunRequest = Pick<RunOptions, 'userId' | 'sessionId' | 'stateDelta' | 'runConfig' | 'traceparent'> & {
  /** The caller's values for tools and callbacks. */
  readonly runContext?: RunContext | undefined
}

/** Options of `runner.close()`. */
export interface CloseOptions {
  /** How long runs under way may take to end, in milliseconds. Default 0. */
  readonly graceMs?: number | undefined
  /** Leaves unfinished runs interrupted, so that `recover()` continues them in another process. Default false: cancels them. */
  readonly interrupt?: boolean | undefined
}
