import type { JsonObject } from '../../../core/base/json.ts'
import { kindOf } from '../../../core/base/kind-of.ts'
import {
  anything,
  checkOptions,
  flag,
  list,
  name,
  type OptionRules,
  oneOf,
  record,
  text,
  textOrCallback,
  wholeNumber,
} from '../../../core/error/check-options.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { Schema } from '../../../core/schema/schema-types.ts'
import type { ReadonlyContext } from '../../context/context.ts'
import type { SchedulingLimits } from '../../context/tool-scheduling.ts'
import { aiSdkHint, isModel, type Model } from '../../model/model.ts'
import { checkCodeExecutor } from '../../tool/check-code-executor.ts'
import type { CodeExecutor } from '../../tool/code-executor.ts'
import type { ToolSource } from '../../tool/tool-source.ts'
import { type Agent, agents, checkAgentName } from './agent.ts'
import { CALLBACK_RULES, type Callbacks } from './callbacks.ts'

/** Text with `{state}`, `{state?}` and `{artifact.name}` placeholders, or a function that returns the text. */
export type Instruction = string | ((context: ReadonlyContext) => string | Promise<string>)

/** Which part of a conversation a model sees. */
export interface HistoryOptions {
  /**
   * How many turns the model sees: the latest message of the user with what followed, and `lastTurns - 1` turns before it. Calls
   * of earlier turns are shown as long as they have no result.
   */
  readonly lastTurns: number
}

/** Options of `LlmAgent`. */
export interface LlmAgentOptions<S extends Schema | undefined = Schema | undefined> extends Callbacks {
  /** Letters, digits, `_` and `-`; not `user`. Unique among sibling agents. */
  readonly name: string
  /** A model, or a name that `models` of the runner resolves. Default: the model of the parent agent. */
  readonly model?: Model | string | undefined
  /** What the agent does, for other agents that may transfer to it. */
  readonly description?: string | undefined
  /** The system instruction: text with placeholders such as `{city}`, or a function that returns the text. */
  readonly instruction?: Instruction | undefined
  /** An instruction for every agent of the tree. Only that of the root agent is used. */
  readonly globalInstruction?: Instruction | undefined
  /** In a tree of several agents, tell the model the name and description of its agent. Default true. */
  readonly includeIdentity?: boolean | undefined
  /** Tools, toolsets, dynamic sources made by `toolSource()`, and lists of these. Default: none. */
  readonly tools?: readonly ToolSource[] | undefined
  /** Agents this agent can transfer the conversation to. Default: none. */
  readonly subAgents?: readonly Agent[] | undefined
  /** Schema of the arguments when the agent is used as a tool. Default: `{ request: string }`. */
  readonly inputSchema?: Schema | undefined
  /** Schema of the final answer. The answer is JSON and checked; `runner.complete()` returns it as `output`. */
  readonly outputSchema?: S | undefined
  /** State key that the final answer is written to. */
  readonly outputKey?: string | undefined
  /** `none`: the model sees the latest message only, without the history before it. Default `default`. */
  readonly includeContents?: 'default' | 'none' | undefined
  /** Which part of the conversation the model sees. Default: all of it. */
  readonly history?: HistoryOptions | undefined
  /** Most model calls of this agent in one invocation. Default 16. */
  readonly maxIterations?: number | undefined
  /** Do not let the model transfer to the parent agent. The next message goes to the root agent. Default false. */
  readonly disallowTransferToParent?: boolean | undefined
  /** Do not let the model transfer to sibling agents. Default false. */
  readonly disallowTransferToPeers?: boolean | undefined
  /** Do not let the model transfer to any agent. The next message goes to the root agent. Default false. */
  readonly disableTransfer?: boolean | undefined
  /** Runs code that the model writes, as code parts or in fenced blocks, and sends the output back to the model. */
  readonly codeExecutor?: CodeExecutor | undefined
  /** Settings passed to the model unchanged: `temperature`, `safetySettings`, `toolConfig` and others. */
  readonly generateContentConfig?: JsonObject | undefined
  /** Tools of the agent may start runs at given times with `context.schedule()`, within these limits. Default false. */
  readonly allowScheduling?: boolean | SchedulingLimits | undefined
  /**
   * How the tool calls of one model reply run: `parallel` (default true), at most `maxConcurrency` (default 8) at a
   * time.
   */
  readonly toolExecution?:
    | { readonly parallel?: boolean | undefined; readonly maxConcurrency?: number | undefined }
    | undefined
}

const RULES: OptionRules<LlmAgentOptions> = {
  name: anything,
  model: {
    expects: 'a model or the name of one',
    accepts: (value) => (typeof value === 'string' ? value !== '' : isModel(value)),
    hint: aiSdkHint,
  },
  description: text,
  instruction: textOrCallback,
  globalInstruction: textOrCallback,
  includeIdentity: flag,
  tools: {
    ...list,
    hint: (value) =>
      record.accepts(value)
        ? 'Write tools: [first, second]; a record of AI SDK tools is converted by fromAiSdkTools() of "toolwright/ai-sdk".'
        : undefined,
  },
  subAgents: agents,
  inputSchema: anything,
  outputSchema: anything,
  outputKey: name,
  includeContents: oneOf('default', 'none'),
  history: record,
  maxIterations: anything,
  disallowTransferToParent: flag,
  disallowTransferToPeers: flag,
  disableTransfer: flag,
  codeExecutor: record,
  generateContentConfig: record,
  allowScheduling: {
    expects: 'true, false or { maxSchedules, minEveryMs }',
    accepts: (value) => typeof value === 'boolean' || record.accepts(value),
  },
  toolExecution: record,
  ...CALLBACK_RULES,
}

const SCHEDULING_RULES: OptionRules<SchedulingLimits> = { maxSchedules: wholeNumber(1), minEveryMs: wholeNumber(1_000) }

const TOOL_EXECUTION_RULES: OptionRules<NonNullable<LlmAgentOptions['toolExecution']>> = {
  parallel: flag,
  maxConcurrency: anything,
}

const HISTORY_RULES: OptionRules<HistoryOptions> = { lastTurns: anything }

/**
 * Throws `INVALID_CONFIG` if an option is unknown or has a wrong value. Schemas and tools are checked when they are
 * compiled.
 */
export function checkLlmAgentOptions(options: LlmAgentOptions): void {
  checkAgentName(options?.name)
  const source = `agent "${options.name}"`
  checkOptions(`Agent "${options.name}"`, options, RULES)
  checkOptions(`toolExecution of ${source}`, options.toolExecution ?? {}, TOOL_EXECUTION_RULES)
  if (typeof options.allowScheduling === 'object')
    checkOptions(`allowScheduling of ${source}`, options.allowScheduling, SCHEDULING_RULES)
  if (options.codeExecutor) checkCodeExecutor(`codeExecutor of ${source}`, options.codeExecutor)
  if (options.history) checkHistory(options.history, options.name)
  checkPositive(options.maxIterations, 'maxIterations', options.name)
  checkPositive(options.toolExecution?.maxConcurrency, 'toolExecution.maxConcurrency', options.name)
}

function checkHistory(history: HistoryOptions, name: string): void {
  checkOptions(`history of agent "${name}"`, history, HISTORY_RULES)
  const { lastTurns } = history
  if (Number.isSafeInteger(lastTurns) && lastTurns > 0) return
  const advice = 'Leave out history to show the whole conversation'
  const message = `history.lastTurns of agent "${name}" must be a whole number above 0, got ${kindOf(lastTurns)}. ${advice}.`
  throw new ToolwrightError('INVALID_CONFIG', message)
}

function checkPositive(value: number | undefined, option: string, name: string): void {
  if (value === undefined || value === null || (Number.isInteger(value) && value > 0)) return
  const message = `${option} of agent "${name}" must be a whole number above 0, got ${kindOf(value)}.`
  throw new ToolwrightError('INVALID_CONFIG', message)
}
