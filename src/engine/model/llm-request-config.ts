import type { JsonObject } from '../../core/base/json.ts'
import type { FunctionDeclaration } from '../../core/content/content.ts'

/** An entry of `config.tools`: function declarations, or a tool that the servers of the model provider run. */
export type ConfigTool =
  | { readonly functionDeclarations: readonly FunctionDeclaration[] }
  | { readonly [serverTool: string]: unknown; readonly functionDeclarations?: undefined }

/** Settings of a request to a model. */
export interface LlmRequestConfig {
  /** The system instruction. */
  systemInstruction?: string
  /** The tools that the model may call. */
  tools?: readonly ConfigTool[]
  /** The reply must be JSON that matches this schema. `responseMimeType` is then `application/json`. */
  responseJsonSchema?: JsonObject
  /** The media type of the reply. Default: text. */
  responseMimeType?: string
  /** Other members of `generateContentConfig`: temperature, toolConfig, safetySettings, ... */
  [option: string]: unknown
}
