import { copyJson, type JsonObject } from '../../core/base/json.ts'
import { systemPorts } from '../../core/base/ports.ts'
import type { AuthCredential } from '../../core/content/auth.ts'
import type { ToolConfirmation } from '../../core/content/content.ts'
import { anything, checkOptions, type OptionRules, record, text } from '../../core/error/check-options.ts'
import type { RequestRecord } from '../../core/event/event.ts'
import type { RequestState } from '../../core/event/invocation-state.ts'
import type { BodyRequest } from '../../engine/context/body-request.ts'
import { CallContext } from '../../engine/context/call-context.ts'
import type { ToolContext } from '../../engine/context/context.ts'
import type { InvocationHost } from '../../engine/context/invocation-host.ts'
import type { RunContext } from '../../engine/context/run-context.ts'
import type { ArtifactService } from '../../services/artifact/service.ts'
import type { CredentialService } from '../../services/credential/service.ts'
import type { MemoryService } from '../../services/memory/service.ts'

/** Options of `createToolContext()`. */
export interface ToolContextOptions {
  /** Initial state. Default: empty. */
  readonly state?: JsonObject | undefined
  /** The answer to a confirmation request. Default: none. */
  readonly toolConfirmation?: ToolConfirmation | undefined
  /** The credential of the call. Default: none. */
  readonly authCredential?: AuthCredential | undefined
  /** Answers to `requestInput`, by its `key`. */
  readonly inputs?: { readonly [key: string]: unknown } | undefined
  /** Service for `saveArtifact` and `loadArtifact`. Default: none. */
  readonly artifactService?: ArtifactService | undefined
  /** Service for `searchMemory`. Default: none. */
  readonly memoryService?: MemoryService | undefined
  /** Service for credentials. Default: none. */
  readonly credentialService?: CredentialService | undefined
  /** Aborts `context.signal`. */
  readonly signal?: AbortSignal | undefined
  /** The value of `runner.run({ runContext })`. */
  readonly runContext?: RunContext | undefined
  /** The tool of the call. Default name: `tool`. */
  readonly tool?: { readonly name: string; readonly description: string } | undefined
  /** Id of the call. Default: `call-1`. */
  readonly functionCallId?: string | undefined
  /** Default: `app`. */
  readonly appName?: string | undefined
  /** Default: `user`. */
  readonly userId?: string | undefined
  /** Default: `session`. */
  readonly sessionId?: string | undefined
}

const RULES: OptionRules<ToolContextOptions> = {
  state: record,
  toolConfirmation: record,
  authCredential: record,
  inputs: record,
  artifactService: record,
  memoryService: record,
  credentialService: record,
  signal: anything,
  runContext: record,
  tool: record,
  functionCallId: text,
  appName: text,
  userId: text,
  sessionId: text,
}

/** A tool context for unit tests that records what the tool body does. */
export interface TestToolContext extends ToolContext {
  /** State changes of the body. */
  readonly stateDelta: JsonObject
  /** Versions of the artifacts that the body saved. */
  readonly artifactDelta: { readonly [filename: string]: number }
  /** Values that the body passed to `progress`. */
  readonly progressed: readonly unknown[]
  /** Requests of the body without an answer. */
  readonly requested: readonly BodyRequest[]
}

/**
 * Creates a tool context from plain values, to test a tool body without a runner.
 *
 * @example
 * const context = createToolContext({ state: { units: 'celsius' } })
 * await getWeather.run({ city: 'Oslo' }, context)
 * expect(context.stateDelta).toEqual({ lastCity: 'Oslo' })
 */
export function createToolContext(options: ToolContextOptions = {}): TestToolContext {
  checkOptions('createToolContext()', options, RULES)
  const host = hostOf(options)
  const progressed: unknown[] = []
  const context = new CallContext({
    host,
    tool: { ...(options.tool ?? UNDER_TEST), declaration: () => undefined },
    agentName: 'agent',
    functionCallId: options.functionCallId ?? 'call-1',
    authCredential: options.authCredential,
    toolConfirmation: options.toolConfirmation,
    requests: Object.entries(options.inputs ?? {}).map(answeredRequest),
    onProgress: (_id, _name, value) => progressed.push(value),
  })
  const { signal } = options
  if (signal?.aborted) context.abort(signal.reason)
  signal?.addEventListener('abort', () => context.abort(signal.reason))
  return Object.defineProperties(context, {
    stateDelta: { value: context.actions.stateDelta },
    artifactDelta: { value: context.actions.artifactDelta },
    progressed: { value: progressed },
  }) as CallContext & TestToolContext
}

/** Creates an answered input request. */
function answeredRequest([key, value]: [string, unknown]): RequestState {
  const asked = { kind: 'input', origin: 'body', callId: '', args: {}, definition: '', createdAt: 0 } as const
  const request: RequestRecord = { type: 'request', id: key, key, invocationId: 'e-test', path: 'agent', ...asked }
  return { request, seq: 0, answer: { result: copyJson(value) }, denied: undefined }
}

const UNDER_TEST = { name: 'tool', description: 'A tool under test.' }

function hostOf(options: ToolContextOptions): InvocationHost {
  const { state: given = {}, appName = 'app', userId = 'user', sessionId = 'session' } = options
  const state = copyJson(given)
  return {
    appName,
    userId,
    sessionId,
    invocationId: 'e-test',
    userContent: undefined,
    runConfig: {},
    runContext: options.runContext,
    artifactService: options.artifactService,
    memoryService: options.memoryService,
    credentialService: options.credentialService,
    sessionService: undefined,
    auth: { ports: systemPorts },
    state: {
      get: (key) => (Object.hasOwn(state, key) ? state[key] : undefined),
      keys: () => Object.keys(state),
    },
    session: () => ({ id: sessionId, appName, userId, state: copyJson(state), events: [], lastUpdateTime: 0 }),
  }
}
