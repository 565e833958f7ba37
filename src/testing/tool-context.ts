import type { ArtifactService } from '../artifact/service.ts'
import { copyJson, type JsonObject } from '../base/json.ts'
import type { AuthCredential } from '../content/auth.ts'
import type { ToolConfirmation } from '../content/content.ts'
import type { CredentialService } from '../credential/service.ts'
import { anything, checkOptions, type OptionRules, record, text } from '../error/check-options.ts'
import type { Request } from '../event/event.ts'
import type { RequestState } from '../event/fold.ts'
import type { MemoryService } from '../memory/service.ts'
import { type BodyQuestion, CallContext } from '../tool/call-context.ts'
import type { ToolContext } from '../tool/context.ts'
import type { InvocationHost } from '../tool/host.ts'
import type { RunContext } from '../tool/run-context.ts'

export interface ToolContextOptions {
  readonly state?: JsonObject | undefined
  readonly toolConfirmation?: ToolConfirmation | undefined
  readonly authCredential?: AuthCredential | undefined
  /** Answers to `requestInput`, by its `key`. */
  readonly inputs?: { readonly [key: string]: unknown } | undefined
  readonly artifactService?: ArtifactService | undefined
  readonly memoryService?: MemoryService | undefined
  readonly credentialService?: CredentialService | undefined
  readonly signal?: AbortSignal | undefined
  /** What `runner.run({ runContext })` would hand to the tool. */
  readonly runContext?: RunContext | undefined
  /** Default `tool`. */
  readonly tool?: { readonly name: string; readonly description: string } | undefined
  /** Default `call-1`. */
  readonly functionCallId?: string | undefined
  readonly appName?: string | undefined
  readonly userId?: string | undefined
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

/** A context for testing a tool's body by itself, and what the body did with it. */
export interface TestToolContext extends ToolContext {
  /** What the body wrote so far. */
  readonly stateDelta: JsonObject
  readonly artifactDelta: { readonly [filename: string]: number }
  readonly progressed: readonly unknown[]
  /** What the body asked that nobody has answered. */
  readonly requested: readonly BodyQuestion[]
}

/**
 * A context as a tool's body gets it, over plain values.
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
    tool: { ...(options.tool ?? UNDER_TEST), declaration: () => undefined, run: () => undefined },
    agentName: 'agent',
    functionCallId: options.functionCallId ?? 'call-1',
    authCredential: options.authCredential,
    toolConfirmation: options.toolConfirmation,
    requests: Object.entries(options.inputs ?? {}).map(answered),
    onProgress: (_id, _name, value) => progressed.push(value),
  })
  const { signal } = options
  if (signal?.aborted) context.abort(signal.reason)
  signal?.addEventListener('abort', () => context.abort(signal.reason))
  return Object.defineProperties(context, {
    stateDelta: { value: context.actions.stateDelta },
    artifactDelta: { value: context.actions.artifactDelta },
    progressed: { value: progressed },
    requested: { get: () => context.questions },
  }) as CallContext & TestToolContext
}

/** As if it had been asked and answered before. */
function answered([key, value]: [string, unknown]): RequestState {
  const asked = { kind: 'input', origin: 'body', callId: '', args: {}, definition: '', createdAt: 0 } as const
  const request: Request = { type: 'request', id: key, key, invocationId: 'e-test', path: 'agent', ...asked }
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
    state: {
      get: (key) => (Object.hasOwn(state, key) ? state[key] : undefined),
      keys: () => Object.keys(state),
    },
    session: () => ({ id: sessionId, appName, userId, state: copyJson(state), events: [], lastUpdateTime: 0 }),
  }
}
