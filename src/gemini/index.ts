/**
 * Gemini as a model, over the Gemini API and Vertex AI.
 *
 * @module
 */
export { GeminiError } from './gemini-error.ts'
export { gemini } from './gemini.ts'
export type { GeminiOptions, GeminiRetry } from './options.ts'
