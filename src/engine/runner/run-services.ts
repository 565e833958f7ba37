import { Deadlines } from '../../core/base/deadlines.ts'
import { type Ports, withSystemPorts } from '../../core/base/ports.ts'
import type { ThrownInCall } from '../../core/error/thrown-in-call.ts'
import type { ArtifactService } from '../../services/artifact/service.ts'
import type { CredentialService } from '../../services/credential/service.ts'
import type { SlotHolder } from '../../services/limit/slot-holder.ts'
import type { MemoryService } from '../../services/memory/service.ts'
import type { ScheduleService } from '../../services/schedule/service.ts'
import type { SessionService } from '../../services/session/service.ts'
import { KeptToolsets } from '../agent/request/kept-toolsets.ts'
import type { MediaOptions } from '../agent/request/media-options.ts'
import type { AuthRuntime } from '../context/invocation-host.ts'
import type { ToolScheduling } from '../context/tool-scheduling.ts'
import type { BackgroundRunner, Logger } from '../dispatch/host.ts'
import { Observation } from '../observe/observation.ts'
import type { Observer } from '../observe/observer.ts'
import { storesOf } from './default-stores.ts'
import type { Plugin } from './plugins/plugin.ts'
import type { ConversationPhases } from './run/conversation-phases.ts'
import type { RunnerOptions } from './runner-options.ts'
import { positive } from './runner-rules.ts'

/** What a runner provides to every run: services, plugins, clock and limits. */
export interface RunServices {
  /** Stores sessions and their logs. */
  readonly sessionService: SessionService
  /** Stores files. */
  readonly artifactService: ArtifactService | undefined
  /** The memory that tools search. */
  readonly memoryService: MemoryService | undefined
  /** Stores credentials. */
  readonly credentialService: CredentialService
  /** Stores schedules. */
  readonly scheduleService: ScheduleService
  /** Takes slots of limits that all processes share. */
  readonly slots: SlotHolder
  /** How many runs there may be, and how many messages may wait. */
  readonly limits: RunnerOptions['limits']
  /** Stores which workers there are. */
  readonly workerService: RunnerOptions['workerService']
  /** Clock, HTTP and exchangers for credentials. */
  readonly auth: AuthRuntime
  /** Redirect URIs that an answer to a consent may name, besides the requested one. */
  readonly allowedRedirectUris: readonly string[]
  /** All plugins. */
  readonly plugins: readonly Plugin[]
  /** The plugins with `onEvent`. */
  readonly eventPlugins: readonly Plugin[]
  /** Receives warnings and errors. */
  readonly logger: Logger
  /** Also gets the errors that tools throw. */
  onThrown: ((thrown: ThrownInCall) => void) | undefined
  /** Measures what runs do. Undefined: nothing is measured. */
  observation: Observation | undefined
  /** Clock, timers and ids. */
  readonly ports: Ports
  /** One timer for the deadlines of all calls. */
  readonly deadlines: Deadlines
  /** Deadline of a tool without its own, in milliseconds. */
  readonly toolTimeoutMs: number
  /** Deadline of an agent tool without its own, in milliseconds. */
  readonly agentToolTimeoutMs: number
  /** The most bytes of a result. Larger results are truncated. */
  readonly maxResultBytes: number
  /** The most bytes of the arguments of a call. Calls with more are refused. */
  readonly maxArgsBytes: number
  /** The most calls of one reply that run. */
  readonly maxCallsPerReply: number
  /** Which stored files are sent to models. */
  readonly media: MediaOptions
  /** Schedules sessions over many workers. Undefined: workers look for them. */
  engine: RunnerOptions['engine']
  /** Runs background tools. Undefined for single calls, which wait for them. */
  background: BackgroundRunner | undefined
  /** Stores what tools schedule. Undefined for single calls. */
  scheduling: ToolScheduling | undefined
  /** Who makes single calls, each in a session of its own. Undefined for conversations. */
  callerId: string | undefined
  /** The phases of conversations. Undefined if there are none. */
  phases: ConversationPhases | undefined
  /** Toolsets that dynamic sources have returned. */
  readonly keptToolsets: KeptToolsets
}

/** The services of a runner with these options. */
export function createRunServices(options: RunnerOptions): RunServices {
  const { plugins = [], logger = console, toolTimeoutMs = 30_000, maxResultBytes = 256_000 } = options
  const { maxArgsBytes = 256_000, maxCallsPerReply = 128, observers = [] } = options
  const ports = withSystemPorts(options.ports)
  return {
    ...storesOf(options, ports),
    artifactService: options.artifactService,
    memoryService: options.memoryService,
    limits: options.limits,
    workerService: options.workerService,
    auth: { ports, exchangers: options.credentialExchangers, report: (problem) => logger.warn(problem) },
    allowedRedirectUris: options.allowedRedirectUris ?? [],
    plugins,
    eventPlugins: plugins.filter((plugin) => plugin.onEvent),
    logger,
    onThrown: undefined,
    observation: observationOf(observers, logger),
    ports,
    deadlines: new Deadlines(ports),
    toolTimeoutMs: positive(toolTimeoutMs, 'toolTimeoutMs'),
    agentToolTimeoutMs: positive(options.agentToolTimeoutMs ?? Number.POSITIVE_INFINITY, 'agentToolTimeoutMs'),
    maxResultBytes: positive(maxResultBytes, 'maxResultBytes'),
    maxArgsBytes: positive(maxArgsBytes, 'maxArgsBytes'),
    maxCallsPerReply: positive(maxCallsPerReply, 'maxCallsPerReply'),
    media: options.media ?? {},
    engine: options.engine,
    background: undefined,
    scheduling: undefined,
    callerId: undefined,
    phases: options.phases,
    keptToolsets: new KeptToolsets(),
  }
}

/** The observers of a runner. Undefined: there are none, and runs do nothing for them. */
export function observationOf(observers: readonly Observer[], logger: Logger): Observation | undefined {
  return observers.length ? new Observation(observers, (problem, error) => logger.warn(problem, error)) : undefined
}
