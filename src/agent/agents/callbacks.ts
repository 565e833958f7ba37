import type { Content } from '../../content/content.ts'
import type { AfterTool, BeforeTool, OnToolError, ToolHooks } from '../../dispatch/host.ts'
import { callbacks, type OptionRules } from '../../error/check-options.ts'
import type { CallbackContext } from '../../tool/context.ts'
import type { LlmResponse } from '../../tool/model.ts'
import type { LlmRequest } from '../../tool/tool.ts'

// biome-ignore lint/suspicious/noConfusingVoidType: a callback may return nothing
type Maybe<T> = undefined | void | T | Promise<undefined | void | T>

/** Answers instead of the agent when it gives content. */
export type BeforeAgent = (call: { context: CallbackContext }) => Maybe<Content>
/** Content it gives is said after the agent's last word. */
export type AfterAgent = (call: { context: CallbackContext }) => Maybe<Content>
/** Answers instead of the model when it gives a response; may change the request. */
export type BeforeModel = (call: { request: LlmRequest; context: CallbackContext }) => Maybe<LlmResponse>
/** Gives another response. */
export type AfterModel = (call: { response: LlmResponse; context: CallbackContext }) => Maybe<LlmResponse>
/** Gives a response in place of the model's failure. */
export type OnModelError = (call: {
  request: LlmRequest
  error: unknown
  context: CallbackContext
}) => Maybe<LlmResponse>

/** One callback or a list: `before*` and `on*Error` stop at the first answer, `after*` are chained. */
export type OneOrMore<T> = T | readonly T[]

/** The eight callbacks, as people write them. */
export interface Callbacks {
  /** Runs before an agent starts. Content it returns replaces the agent's answer. */
  readonly beforeAgent?: OneOrMore<BeforeAgent> | undefined
  /** Runs after an agent has answered. Content it returns is added to the answer. */
  readonly afterAgent?: OneOrMore<AfterAgent> | undefined
  /** Runs before each model call. May change the request; a response it returns replaces the model's. */
  readonly beforeModel?: OneOrMore<BeforeModel> | undefined
  /** Runs after each model call. A response it returns replaces the model's. */
  readonly afterModel?: OneOrMore<AfterModel> | undefined
  /** Runs when a model call fails. A response it returns replaces the error. */
  readonly onModelError?: OneOrMore<OnModelError> | undefined
  /** Runs before each tool call. Returns other arguments, or a result that replaces the call. */
  readonly beforeTool?: OneOrMore<BeforeTool> | undefined
  /** Runs after each tool call. A value it returns replaces the result. */
  readonly afterTool?: OneOrMore<AfterTool> | undefined
  /** Runs when a tool call fails. A value it returns replaces the error. */
  readonly onToolError?: OneOrMore<OnToolError> | undefined
}

/** Rules for the eight, where options hold them. */
export const CALLBACK_RULES: OptionRules<Callbacks> = {
  beforeAgent: callbacks,
  afterAgent: callbacks,
  beforeModel: callbacks,
  afterModel: callbacks,
  onModelError: callbacks,
  beforeTool: callbacks,
  afterTool: callbacks,
  onToolError: callbacks,
}

/** The eight, as the walk uses them. */
export interface Hooks extends ToolHooks {
  readonly beforeAgent: readonly BeforeAgent[]
  readonly afterAgent: readonly AfterAgent[]
  readonly beforeModel: readonly BeforeModel[]
  readonly afterModel: readonly AfterModel[]
  readonly onModelError: readonly OnModelError[]
}

/** Several sources of callbacks as one, the first source first. */
export function hooksOf(sources: readonly Callbacks[]): Hooks {
  const all = <K extends keyof Callbacks>(key: K): Hooks[K] =>
    // each element is of the type its key promises; flat() loses that
    sources.flatMap((source): unknown => source[key] ?? []) as unknown as Hooks[K]
  return {
    beforeAgent: all('beforeAgent'),
    afterAgent: all('afterAgent'),
    beforeModel: all('beforeModel'),
    afterModel: all('afterModel'),
    onModelError: all('onModelError'),
    beforeTool: all('beforeTool'),
    afterTool: all('afterTool'),
    onToolError: all('onToolError'),
  }
}
