/**
 * AI SDK models and tools for agents, and Toolwright tools for the AI SDK.
 *
 * @module
 */

export type { AiSdkModel } from './ai-sdk-types.ts'
export { AiSdkError } from './errors/ai-sdk-error.ts'
export { type FromAiSdkOptions, fromAiSdk } from './from-ai-sdk.ts'
export { type AiSdkTool, type FromAiSdkToolsOptions, fromAiSdkTools } from './tools/from-ai-sdk-tools.ts'
export { type AiSdkProviderTool, aiSdkProviderTool } from './tools/provider-tool.ts'
export { type ToAiSdkToolsOptions, type ToolForAiSdk, toAiSdkTools } from './tools/to-ai-sdk-tools.ts'
