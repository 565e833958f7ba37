import type { Content, FunctionDeclaration } from '../../core/content/content.ts'
import type { ConfigTool, LlmRequestConfig } from './llm-request-config.ts'

/** A tool as a request offers it to a model, without its body. */
export interface OfferedTool {
  /** The name the model calls. */
  readonly name: string
  /** What the tool does, for the model. */
  readonly description: string
  /** The declaration for the model. `undefined`: the tool is not declared to the model. */
  declaration(): FunctionDeclaration | undefined
  /** The result arrives later, and the call stays pending. Default false. */
  readonly isLongRunning?: boolean | undefined
}

/** A request to a model. Callbacks and tools may change it. Changes do not carry over to the next request. */
export interface LlmRequest {
  /** The name of the model. */
  model?: string
  /** The conversation. */
  contents: Content[]
  /** System instruction, tools and generation settings. */
  config: LlmRequestConfig
  /** The tools that the model may call, by name. */
  readonly tools: ReadonlyMap<string, OfferedTool>
  /** Adds a paragraph to the system instruction. */
  appendInstruction(text: string): void
  /** Adds an entry to `config.tools`, unless an equal one is there. */
  appendConfigTool(entry: ConfigTool): void
}
