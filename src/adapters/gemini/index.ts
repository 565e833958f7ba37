/**
 * Gemini models, through the Gemini API and Vertex AI.
 *
 * @module
 */

export { gemini } from './gemini.ts'
export { GeminiError } from './gemini-error.ts'
export { geminiLive } from './live/gemini-live.ts'
export type { GeminiLiveConfig, GeminiLiveOptions } from './live/options.ts'
export type { GeminiOptions, GeminiRetry } from './options.ts'
