import type { Content } from '../../../core/content/content.ts'
import { callbacks, type OptionRules } from '../../../core/error/check-options.ts'
import type { CallbackContext } from '../../context/context.ts'
import type { AfterTool, BeforeTool, OnToolError, ToolHooks } from '../../dispatch/host.ts'
import type { LlmRequest } from '../../model/llm-request.ts'
import type { LlmResponse } from '../../model/model.ts'

// biome-ignore lint/suspicious/noConfusingVoidType: a callback may return nothing
type Maybe<T> = undefined | void | T | Promise<undefined | void | T>

/** Runs before an agent. Content it returns replaces the agent's answer. */
export type BeforeAgent = (call: { context: CallbackContext }) => Maybe<Content>
/** Runs after an agent. Content it returns is added after the agent's last reply. */
export type AfterAgent = (call: { context: CallbackContext }) => Maybe<Content>
/** Runs before a model call. May change the request. A response it returns replaces the model call. */
export type BeforeModel = (call: { request: LlmRequest; context: CallbackContext }) => Maybe<LlmResponse>
/** Runs after a model call. A response it returns replaces the model's. */
export type AfterModel = (call: { response: LlmResponse; context: CallbackContext }) => Maybe<LlmResponse>
/** Runs when a model call fails. A response it returns replaces the error. */
export type OnModelError = (call: {
  request: LlmRequest
  error: unknown
  context: CallbackContext
}) => Maybe<LlmResponse>

/**
 * The callbacks of an agent or a plugin: each one function or a list. `before*` and `on*Error` callbacks run until one returns a value.
 * All `after*` callbacks run, in order.
 */
export interface Callbacks {
  /** Runs before an agent starts. Content it returns replaces the agent's answer. */
  readonly beforeAgent?: BeforeAgent | readonly BeforeAgent[] | undefined
  /** Runs after an agent has answered. Content it returns is added to the answer. */
  readonly afterAgent?: AfterAgent | readonly AfterAgent[] | undefined
  /** Runs before each model call. May change the request; a response it returns replaces the model's. */
  readonly beforeModel?: BeforeModel | readonly BeforeModel[] | undefined
  /** Runs after each model call. A response it returns replaces the model's. */
  readonly afterModel?: AfterModel | readonly AfterModel[] | undefined
  /** Runs when a model call fails. A response it returns replaces the error. */
  readonly onModelError?: OnModelError | readonly OnModelError[] | undefined
  /** Runs before each tool call. Returns other arguments, or a result that replaces the call. */
  readonly beforeTool?: BeforeTool | readonly BeforeTool[] | undefined
  /** Runs after each tool call. A value it returns replaces the result. */
  readonly afterTool?: AfterTool | readonly AfterTool[] | undefined
  /** Runs when a tool call fails. A value it returns replaces the error. */
  readonly onToolError?: OnToolError | readonly OnToolError[] | undefined
}

/** The option rules for the callbacks. */
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

/** The callbacks of all plugins and of one agent, as lists. */
export interface Hooks extends ToolHooks {
  /** Run before the agent, until one returns content. */
  readonly beforeAgent: readonly BeforeAgent[]
  /** Run after the agent, all of them. */
  readonly afterAgent: readonly AfterAgent[]
  /** Run before a model call, until one returns a response. */
  readonly beforeModel: readonly BeforeModel[]
  /** Run after a model call, each with the response of the one before. */
  readonly afterModel: readonly AfterModel[]
  /** Run when a model call fails, until one returns a response. */
  readonly onModelError: readonly OnModelError[]
}

/** Joins the callbacks of several sources, in the order of the sources. */
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
