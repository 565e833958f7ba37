// Our tools for `generateText({ tools })` of the AI SDK.
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { LlmAgent } from '../agent/agents/llm-agent.ts'
import { isRecord, type JsonObject } from '../base/json.ts'
import { toPlain } from '../base/plain.ts'
import type { FunctionDeclaration } from '../content/content.ts'
import { anything, checkOptions, flag, type OptionRules, text } from '../error/check-options.ts'
import { type ResultErrorCode, ToolError, ToolwrightError } from '../error/error.ts'
import { isFailure } from '../event/fold.ts'
import { compileSchema } from '../schema/compile.ts'
import { describeIssues } from '../schema/parsed.ts'
import { InMemorySessionService } from '../session/in-memory.ts'
import { delegate } from '../tool/delegate.ts'
import { withParts } from '../tool/parts.ts'
import type { Tool } from '../tool/tool.ts'
import { isApproved, needsApproval } from './approval.ts'
import { type ModelOutput, showing, toModelOutput } from './model-output.ts'
import { AGENT, type Caller, runOneCall } from './one-call.ts'
import { type InputSchema, SCHEMA, VALIDATOR } from './schema.ts'

export interface ToAiSdkToolsOptions extends Omit<Caller, 'appName'> {
  /** Default `ai-sdk`. */
  readonly appName?: string | undefined
  /** For whom the tools act. */
  readonly userId: string
  /** State lives here, and calls run one after another. Without it each call has a session of its own. */
  readonly sessionId?: string | undefined
  /**
   * Lets a call that needs confirmation run when the AI SDK's messages say that it was approved. Messages often come
   * from a browser, where they can be forged: only turn this on when yours cannot. Default: such a call never runs.
   */
  readonly acceptAiSdkApproval?: boolean | undefined
}

/** The runner that is made for each call checks the values of its own options. */
const RULES: OptionRules<ToAiSdkToolsOptions> = {
  appName: text,
  userId: text,
  sessionId: text,
  runContext: anything,
  acceptAiSdkApproval: flag,
  sessionService: anything,
  artifactService: anything,
  memoryService: anything,
  credentialService: anything,
  plugins: anything,
  toolTimeoutMs: anything,
  maxResultBytes: anything,
  maxArgsBytes: anything,
  maxCallsPerReply: anything,
  logger: anything,
  ports: anything,
}

/** A tool as `generateText` and `streamText` take it. */
export interface ToolForAiSdk {
  readonly description: string
  readonly inputSchema: StandardSchemaV1<unknown, JsonObject> & StandardJSONSchemaV1<unknown, JsonObject>
  readonly needsApproval?: boolean | ((input: unknown) => Promise<boolean>)
  execute(input: unknown, options?: ExecuteOptions): Promise<JsonObject>
  toModelOutput(result: unknown): ModelOutput
}

export interface ExecuteOptions {
  readonly toolCallId?: string | undefined
  readonly messages?: unknown
  readonly abortSignal?: AbortSignal | undefined
}

/**
 * Makes tools of ours tools for the AI SDK. Every call goes through the dispatcher, as a run of its own; a failure is
 * thrown, as the AI SDK wants it.
 *
 * @example
 * await generateText({ model, prompt, tools: toAiSdkTools([getWeather], { userId: 'ada' }) })
 */
export function toAiSdkTools(tools: readonly Tool[], options: ToAiSdkToolsOptions): Record<string, ToolForAiSdk> {
  checkOptions('toAiSdkTools()', options, RULES)
  const { acceptAiSdkApproval = false, sessionService = new InMemorySessionService(), ...rest } = options
  const caller: Caller = { ...rest, appName: options.appName ?? 'ai-sdk', sessionService }
  const ways = { acceptAiSdkApproval, keepsSessions: options.sessionService !== undefined, line: new OneAfterAnother() }
  const { table } = new LlmAgent({ name: AGENT, tools }) // so that mistakes show now
  return Object.fromEntries([...table.tools].map(([name, tool]) => [name, toTool(tool, caller, ways)]))
}

interface Ways {
  readonly acceptAiSdkApproval: boolean
  /** Is there somebody who could look at a session afterwards? */
  readonly keepsSessions: boolean
  readonly line: OneAfterAnother
}

function toTool(tool: Tool, caller: Caller, ways: Ways): ToolForAiSdk {
  const declaration = tool.declaration()
  if (!declaration)
    throw invalid(`Tool "${tool.name}" only adds to requests of our agents: the AI SDK has no use for it.`)
  const input = inputOf(tool, declaration)
  const gate = needsApproval(tool, input.parse, caller)
  return {
    description: declaration.description,
    inputSchema: schemaOf(input),
    ...(gate !== undefined && { needsApproval: gate }),
    execute: (input, options) => execute(tool, input, options, caller, ways),
    toModelOutput,
  }
}

async function execute(
  tool: Tool,
  input: unknown,
  { toolCallId = '', messages, abortSignal }: ExecuteOptions = {},
  caller: Caller,
  ways: Ways,
): Promise<JsonObject> {
  if (!isRecord(input))
    throw new ToolError(`Invalid arguments for ${tool.name}: expected an object`, { code: 'INVALID_ARGS' })
  const { name } = tool
  const hasYes = ways.acceptAiSdkApproval && isApproved(messages, { id: toolCallId, name, input })
  const gated = hasYes ? delegate(tool, { requiresConfirmation: false }) : tool
  const call = { id: toolCallId, name, args: toPlain(input).value as JsonObject }
  const run = () => runOneCall(gated, call, caller, abortSignal)
  const { result, sessionId } = await (caller.sessionId === undefined ? run() : ways.line.next(run))
  if (caller.sessionId === undefined && !ways.keepsSessions) {
    const { appName, userId } = caller
    await caller.sessionService?.deleteSession({ appName, userId, sessionId })
  }
  abortSignal?.throwIfAborted()
  if (!result) throw new ToolError(`${name} ended, or waits for somebody, without a result.`)
  const { response, parts, modelOutput } = result
  if (!isFailure(response)) {
    const full = parts.length ? withParts(response, parts) : { ...response }
    if (!modelOutput) return full
    return showing(full, modelOutput.showsMedia ? withParts(modelOutput.response, parts) : modelOutput.response)
  }
  throw new ToolError(String(response.error), { code: response.errorCode as ResultErrorCode })
}

function inputOf(tool: Tool, { parametersJsonSchema }: FunctionDeclaration): InputSchema {
  const jsonSchema = parametersJsonSchema ?? { type: 'object', properties: {}, additionalProperties: false }
  if (tool.parse) return { jsonSchema, parse: tool.parse.bind(tool) }
  return compileSchema(jsonSchema, `Tool "${tool.name}"`, { object: true })
}

/** A Standard Schema with the marks of the AI SDK on it: the first is what its types know, the second what 5 wants. */
function schemaOf({ jsonSchema, parse }: InputSchema): ToolForAiSdk['inputSchema'] {
  // the value stays as it is: dispatch parses it again, and what was transformed once must not be twice
  const problem = async (value: unknown): Promise<string | undefined> => {
    const { issues } = await parse(value)
    return issues && describeIssues(issues)
  }
  const schema = {
    [SCHEMA]: true,
    [VALIDATOR]: true,
    jsonSchema,
    validate: async (value: unknown) => {
      const message = await problem(value)
      return message === undefined ? { success: true, value } : { success: false, error: new Error(message) }
    },
    '~standard': {
      version: 1,
      vendor: 'toolwright',
      validate: async (value: unknown) => {
        const message = await problem(value)
        return message === undefined ? { value: value as JsonObject } : { issues: [{ message }] }
      },
      jsonSchema: { input: () => jsonSchema, output: () => jsonSchema },
    },
  } satisfies ToolForAiSdk['inputSchema'] & JsonObject
  return schema
}

/** Calls on one session wait for each other. */
class OneAfterAnother {
  #last: Promise<unknown> = Promise.resolve()
  next<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work)
    this.#last = mine.catch(() => {})
    return mine
  }
}

function invalid(message: string): ToolwrightError {
  return new ToolwrightError('INVALID_CONFIG', message)
}
