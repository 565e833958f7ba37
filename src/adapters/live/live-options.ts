import { isRecord, type JsonObject } from '../../core/base/json.ts'
import { kindOf } from '../../core/base/kind-of.ts'
import type { FunctionResponse } from '../../core/content/content.ts'
import {
  anything,
  callback,
  checkOptions,
  flag,
  list,
  name,
  type OptionRules,
  objectWith,
  record,
  text,
  wholeNumber,
} from '../../core/error/check-options.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import { type Agent, isAgent } from '../../engine/agent/agents/agent.ts'
import type { State } from '../../engine/context/context.ts'
import type { RunConfig } from '../../engine/context/run-config.ts'
import type { RunContext } from '../../engine/context/run-context.ts'
import type { FlowDefinition } from '../../engine/flow/conversation-flow.ts'
import type { LiveModel } from '../../engine/model/live-model.ts'
import { isModel, type Model } from '../../engine/model/model.ts'
import { type BackgroundOptions, checkBackground } from '../../engine/policy/background.ts'
import type { ConfirmationProvider } from '../../engine/runner/approvals/confirmation-provider.ts'
import type { Runner } from '../../engine/runner/runner.ts'
import type { ToolSource } from '../../engine/tool/tool-source.ts'
import type { ReconnectOptions } from './link/link-options.ts'
import type { OnToolCall } from './session/on-tool-call.ts'

/** Options of `connectLive()`. `S` is the session that hooks get. */
export interface LiveOptions<S> extends FlowDefinition<S> {
  /** The live model: `geminiLive(...)`, `openaiRealtime(...)`. */
  readonly model: LiveModel
  /** The runner with the agent, services, plugins and limits. Default: one in memory, made from `agent` or `tools`. */
  readonly runner?: Runner | undefined
  /** The agent that speaks, if there is no `runner`. */
  readonly agent?: Agent | undefined
  /** The tools, if there is neither a `runner` nor an `agent`. Default: none. */
  readonly tools?: readonly ToolSource[] | undefined
  /** An instruction for this session, after that of the agent. */
  readonly instruction?: string | undefined
  /** The user of the session. Default `user`. */
  readonly userId?: string | undefined
  /** The session to continue; it is created if it does not exist. Default: a new one. */
  readonly sessionId?: string | undefined
  /** State that is set when the session starts, also if it continues an earlier one. */
  readonly state?: JsonObject | undefined
  /** The model of agent tools, and of substitutes for server tools, that have none. A live model cannot answer text requests. */
  readonly textModel?: Model | undefined
  /** Answers some, none or all calls of a message. The others run. */
  readonly onToolCall?: OnToolCall | undefined
  /** Changes responses before they are recorded and sent, also those of background tools. A dropped one becomes an error. */
  readonly beforeToolResponse?: BeforeToolResponse | undefined
  /** Tools that run in the background, by name. `background()` marks a tool for all sessions. */
  readonly background?: { readonly [toolName: string]: true | BackgroundOptions } | undefined
  /**
   * Asks a person about gated calls. Default: gated calls are refused at once. Pass `answerLater` to answer with
   * `session.answer()` alone.
   */
  readonly confirmationProvider?: ConfirmationProvider | undefined
  /** Runs gated calls without asking if there is no `confirmationProvider`. Default false. */
  readonly allowUnconfirmed?: boolean | undefined
  /**
   * The most tool calls of the session, refused ones included. The next one gets an error result, and the session ends with the error
   * `MAX_TOOL_CALLS`. Default 5,000.
   */
  readonly maxToolCalls?: number | undefined
  /** The most tool calls within a minute. Further ones get an error result. Default 1,000. */
  readonly maxToolCallsPerMinute?: number | undefined
  /** How often and how fast a lost connection is made again. `{ attempts: 0 }` turns it off. */
  readonly reconnect?: ReconnectOptions | undefined
  /** Metadata for the recorded events. */
  readonly runConfig?: RunConfig | undefined
  /** Values for tools and callbacks, as in `runner.run({ runContext })`. */
  readonly runContext?: RunContext | undefined
  /** The span that the session belongs to, a W3C `traceparent`. Default: the active one, if there is one. Only for observers. */
  readonly traceparent?: string | undefined
  /** Ends the attempt to connect, and the session. */
  readonly signal?: AbortSignal | undefined
}

/** Changes responses before they are recorded and sent to the model. */
export type BeforeToolResponse = (message: {
  readonly responses: readonly FunctionResponse[]
  readonly state: State
}) => readonly FunctionResponse[] | Promise<readonly FunctionResponse[]>

const RULES: OptionRules<LiveOptions<unknown>> = {
  model: {
    expects: 'a live model, such as geminiLive(name) or openaiRealtime(name)',
    accepts: objectWith('connect').accepts,
    hint: (value) =>
      isModel(value)
        ? 'The value is a model for text: pass it as textModel. In a test, use scriptedLive() of "toolwright/testing".'
        : undefined,
  },
  runner: { expects: 'a Runner', accepts: objectWith('run', 'resume').accepts },
  agent: { expects: 'an agent, such as new LlmAgent({ name })', accepts: isAgent },
  tools: list,
  instruction: text,
  userId: name,
  sessionId: name,
  state: record,
  textModel: { expects: 'a model, such as gemini(name)', accepts: isModel },
  onToolCall: callback,
  beforeToolResponse: callback,
  background: { expects: 'an object with the names of tools, such as { search: true }', accepts: isRecord },
  confirmationProvider: callback,
  allowUnconfirmed: flag,
  maxToolCalls: wholeNumber(1),
  maxToolCallsPerMinute: wholeNumber(1),
  reconnect: { expects: 'an object, such as { attempts: 0 } for no reconnects', accepts: isRecord },
  runConfig: record,
  runContext: anything,
  traceparent: text,
  signal: { expects: 'an AbortSignal', accepts: objectWith('addEventListener').accepts },
  computed: list,
  watchers: list,
  phases: list,
  initialPhase: name,
  patterns: list,
}
const RECONNECT_RULES: OptionRules<ReconnectOptions> = {
  attempts: wholeNumber(0),
  delayMs: wholeNumber(0),
  maxDelayMs: wholeNumber(0),
}

/** Checks the options of `connectLive()`. */
export function checkLiveOptions(options: LiveOptions<never>): void {
  checkOptions('connectLive()', options, RULES)
  checkOptions('connectLive(), reconnect', options.reconnect ?? {}, RECONNECT_RULES)
  const { model, runner, agent, tools, background = {} } = options
  if (!model) throw invalid('model is missing. Pass for example geminiLive(name) of "toolwright/gemini"')
  const given = [runner && 'runner', agent && 'agent', tools && 'tools'].filter(Boolean)
  if (given.length > 1) throw invalid(`got both ${given.join(' and ')}. Pass one of them`)
  for (const [toolName, one] of Object.entries(background)) {
    if (one === true) continue
    const what = `background of tool "${toolName}"`
    if (!isRecord(one))
      throw invalid(
        `${what} must be true or an object with options, got ${kindOf(one)}. Leave out tools that do not run in it`,
      )
    checkBackground(`connectLive(), ${what}`, one)
  }
}

function invalid(problem: string): ToolwrightError {
  return new ToolwrightError('INVALID_CONFIG', `connectLive(): ${problem}.`)
}
