import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { withSystemPorts } from '../../../core/base/ports.ts'
import type { FunctionDeclaration } from '../../../core/content/content.ts'
import { anything, checkOptions, flag, type OptionRules, text } from '../../../core/error/check-options.ts'
import { type ResultErrorCode, ToolError, ToolwrightError } from '../../../core/error/error.ts'
import { isFailure } from '../../../core/event/invocation-state.ts'
import { compileSchema } from '../../../core/schema/compile.ts'
import { LlmAgent } from '../../../engine/agent/agents/llm-agent.ts'
import { withParts } from '../../../engine/context/result-parts.ts'
import type { ToolFunction } from '../../../engine/tool/functions/tool-function.ts'
import type { Tool } from '../../../engine/tool/tool.ts'
import { InMemorySessionService } from '../../../services/session/in-memory.ts'
import { approvalGate, deniedCalls, isApproved, recordingGate, toJsonArgs } from './approval.ts'
import type { InputSchema } from './input-schema.ts'
import { type ModelOutput, toModelOutput, withModelOutput } from './model-output.ts'
import { type ApprovalEnvironment, recordDenial, runApproved } from './recorded-approvals.ts'
import { AGENT_NAME, type CallEnvironment, runToolCall } from './run-tool-call.ts'
import { type AiSdkInputSchema, toAiSdkSchema } from './to-ai-sdk-schema.ts'

/** Options of `toAiSdkTools()`: the user, and the services and limits of the runner. */
export interface ToAiSdkToolsOptions extends Omit<CallEnvironment, 'appName' | 'callerId'> {
  /** Name of the app in sessions, artifacts and memory. Default `ai-sdk`. */
  readonly appName?: string | undefined
  /** The user the tools act for. */
  readonly userId: string
  /** The session of all calls, which then run one at a time and share state. Default: a new session for each call. */
  readonly sessionId?: string | undefined
  /**
   * Whether an approval in the AI SDK's messages counts as the user's approval. Messages often come from a browser, where
   * users can forge them: set it to true only if clients cannot change the messages. Default false: a call that needs
   * confirmation never runs. It needs a `sessionService` and a `sessionId`: `needsApproval` records the request there, and an
   * approval runs the call once, for this user in this session.
   */
  readonly acceptAiSdkApproval?: boolean | undefined
}

/** The option rules of `toAiSdkTools()`. The runner of each call checks the values of the runner options. */
const RULES: OptionRules<ToAiSdkToolsOptions> = {
  appName: text,
  userId: text,
  sessionId: text,
  runContext: anything,
  acceptAiSdkApproval: flag,
  sessionService: anything,
  artifactService: anything,
  memoryService: anything,
  scheduleService: anything,
  limitService: anything,
  workerService: anything,
  credentialService: anything,
  credentialExchangers: anything,
  allowedRedirectUris: anything,
  plugins: anything,
  observers: anything,
  model: anything,
  toolTimeoutMs: anything,
  agentToolTimeoutMs: anything,
  maxResultBytes: anything,
  maxArgsBytes: anything,
  maxCallsPerReply: anything,
  logger: anything,
  ports: anything,
}

/** A tool for `generateText` and `streamText` of the AI SDK. */
export interface ToolForAiSdk {
  /** What the tool does, for the model. */
  readonly description: string
  /** The schema of the arguments. */
  readonly inputSchema: AiSdkInputSchema
  /** Whether a call needs an approval: the tool's `requiresConfirmation`. */
  readonly needsApproval?: boolean | ((input: unknown, options?: unknown) => Promise<boolean>)
  /** Records a call that needs an approval, with `acceptAiSdkApproval`. AI SDK 7 decides about approvals without `needsApproval`. */
  onInputAvailable?(options: unknown): Promise<void>
  /** Runs a call through the dispatcher. Throws a `ToolError` when the call fails. */
  execute(input: unknown, options?: ExecuteOptions): Promise<JsonObject>
  /** What the model sees of a result. */
  toModelOutput(result: unknown): ModelOutput
}

/** The options the AI SDK passes to `execute`. */
interface ExecuteOptions {
  /** Id of the tool call. */
  readonly toolCallId?: string | undefined
  /** The conversation, with approvals. */
  readonly messages?: unknown
  /** Aborts the call. */
  readonly abortSignal?: AbortSignal | undefined
}

/**
 * Makes Toolwright tools usable by the AI SDK. Every call goes through the dispatcher in a run of its own. A failed call
 * throws, as the AI SDK expects.
 *
 * @example
 * await generateText({ model, prompt, tools: toAiSdkTools([getWeather], { userId: 'ada' }) })
 */
export function toAiSdkTools(
  tools: readonly (Tool | ToolFunction)[],
  options: ToAiSdkToolsOptions,
): Record<string, ToolForAiSdk> {
  checkOptions('toAiSdkTools()', options, RULES)
  const { acceptAiSdkApproval = false, sessionService = new InMemorySessionService(), ...rest } = options
  const callerId = options.sessionId ?? withSystemPorts(options.ports).newId()
  const environment: CallEnvironment = { ...rest, appName: options.appName ?? 'ai-sdk', callerId, sessionService }
  const keepsSessions = options.sessionService !== undefined
  const approvals = acceptAiSdkApproval ? approvalEnvironment(environment, keepsSessions) : undefined
  const { table } = new LlmAgent({ name: AGENT_NAME, tools }) // reports invalid tools now instead of on the first call
  const denials = approvals && new Denials(table.tools, approvals)
  const settings: ToolSettings = { environment, approvals, denials, keepsSessions, queue: new CallQueue() }
  return Object.fromEntries([...table.tools].map(([name, tool]) => [name, toTool(tool, settings)]))
}

/** The environment of recorded approvals. Throws INVALID_CONFIG if a record would not survive, or belong to no session. */
function approvalEnvironment(environment: CallEnvironment, keepsSessions: boolean): ApprovalEnvironment {
  const { sessionId, sessionService } = environment
  if (keepsSessions && sessionService && sessionId !== undefined) return { ...environment, sessionId, sessionService }
  const missing = keepsSessions ? 'sessionId' : 'sessionService'
  throw invalidTool(
    `toAiSdkTools(): acceptAiSdkApproval needs a sessionService and the sessionId of the conversation, so that an approval counts once and for this user. Pass ${missing}.`,
  )
}

interface ToolSettings {
  readonly environment: CallEnvironment
  /** Where approvals are recorded. Undefined if those of the AI SDK are not accepted. */
  readonly approvals: ApprovalEnvironment | undefined
  /** Records denials. Undefined if answers of the AI SDK are not accepted. */
  readonly denials: Denials | undefined
  /** Whether sessions stay after the call: the caller passed a session service and can read them. */
  readonly keepsSessions: boolean
  readonly queue: CallQueue
}

function toTool(tool: Tool, settings: ToolSettings): ToolForAiSdk {
  const declaration = tool.declaration()
  if (!declaration)
    throw invalidTool(
      `Tool "${tool.name}" only adds to model requests of Toolwright agents. Remove it from toAiSdkTools().`,
    )
  const input = readInputSchema(tool, declaration)
  const { approvals, denials, environment } = settings
  const request = approvals && recordingGate(tool, input.parse, approvals)
  const record =
    request &&
    (async (input: unknown, options?: unknown): Promise<boolean> => {
      await denials?.record(options)
      return await request(input, options)
    })
  const gate = record ?? approvalGate(tool, input.parse, environment)
  return {
    description: declaration.description,
    inputSchema: toAiSdkSchema(input),
    ...(gate !== undefined && { needsApproval: gate }),
    ...(record && {
      onInputAvailable: async (options: unknown) => {
        if (isRecord(options)) await record(options.input, options)
      },
    }),
    execute: (input, options) => execute(tool, input, options, settings),
    toModelOutput,
  }
}

async function execute(
  tool: Tool,
  input: unknown,
  { toolCallId = '', messages, abortSignal }: ExecuteOptions = {},
  settings: ToolSettings,
): Promise<JsonObject> {
  if (!isRecord(input))
    throw new ToolError(`Invalid arguments for ${tool.name}: expected an object`, { code: 'INVALID_ARGS' })
  const { name } = tool
  const { environment, approvals, denials, queue } = settings
  await denials?.record({ messages })
  const call = { id: toolCallId, name, args: toJsonArgs(input) }
  const isAnswered = approvals && isApproved(messages, { id: toolCallId, name, input })
  const run = async () =>
    (isAnswered ? await runApproved(tool, call, approvals, abortSignal) : undefined) ??
    (await runToolCall(tool, call, environment, abortSignal))
  const { result, sessionId } = await (environment.sessionId === undefined ? run() : queue.run(run))
  if (environment.sessionId === undefined && !settings.keepsSessions) {
    const { appName, userId } = environment
    await environment.sessionService?.deleteSession({ appName, userId, sessionId })
  }
  abortSignal?.throwIfAborted()
  if (!result) throw new ToolError(`Tool "${name}" ended without a result.`)
  const { response, parts, modelOutput } = result
  if (!isFailure(response)) {
    const full = parts.length ? withParts(response, parts) : { ...response }
    if (!modelOutput) return full
    return withModelOutput(full, modelOutput.showsMedia ? withParts(modelOutput.response, parts) : modelOutput.response)
  }
  throw new ToolError(String(response.error), { code: response.errorCode as ResultErrorCode })
}

/**
 * Records the denials in the messages. The AI SDK does not call a tool whose call was denied: the next call of any of the tools has
 * the messages.
 */
class Denials {
  readonly #tools: ReadonlyMap<string, Tool>
  readonly #environment: ApprovalEnvironment
  /** The ids of the calls whose denials were looked at. */
  readonly #seen: Set<string> = new Set()

  constructor(tools: ReadonlyMap<string, Tool>, environment: ApprovalEnvironment) {
    this.#tools = tools
    this.#environment = environment
  }

  async record(options: unknown): Promise<void> {
    if (!isRecord(options)) return
    for (const [id, reason] of deniedCalls(options.messages)) {
      if (this.#seen.has(id)) continue
      await recordDenial(this.#tools, { id, reason }, this.#environment)
      this.#seen.add(id)
    }
  }
}

function readInputSchema(tool: Tool, { parametersJsonSchema }: FunctionDeclaration): InputSchema {
  const jsonSchema = parametersJsonSchema ?? { type: 'object', properties: {}, additionalProperties: false }
  if (tool.parse) return { jsonSchema, parse: tool.parse.bind(tool) }
  return compileSchema(jsonSchema, `Tool "${tool.name}"`, { object: true })
}

/** Runs the calls of one session one at a time. */
class CallQueue {
  #last: Promise<unknown> = Promise.resolve()
  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => {})
    return result
  }
}

function invalidTool(message: string): ToolwrightError {
  return new ToolwrightError('INVALID_CONFIG', message)
}
