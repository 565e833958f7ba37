import type { JsonObject } from '../base/json.ts'
import type { FunctionDeclaration } from '../content/content.ts'

/** One entry of a request's tools: declarations, or something the model's own servers run. */
export type WireTool =
  | { readonly functionDeclarations: readonly FunctionDeclaration[] }
  | { readonly [serverTool: string]: unknown; readonly functionDeclarations?: undefined }

export interface LlmRequestConfig {
  systemInstruction?: string
  tools?: readonly WireTool[]
  /** The answer must be JSON of this shape; `responseMimeType` is then `application/json`. */
  responseJsonSchema?: JsonObject
  responseMimeType?: string
  /** Whatever else `generateContentConfig` gave: temperature, toolConfig, safetySettings, ... */
  [option: string]: unknown
}
