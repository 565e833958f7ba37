/**
 * Models and tools of the AI SDK for agents, and our tools for the AI SDK.
 *
 * @module
 */
export { AiSdkError } from './errors/to-ai-sdk-error.ts'
export { type FromAiSdkOptions, fromAiSdk } from './from-ai-sdk.ts'
export { type AiSdkTool, type FromAiSdkToolsOptions, fromAiSdkTools } from './tools/from-ai-sdk-tools.ts'
export { type AiSdkProviderTool, aiSdkProviderTool } from './tools/provider-tool.ts'
export type { AiSdkModel } from './ai-sdk-types.ts'
export { type ToAiSdkToolsOptions, type ToolForAiSdk, toAiSdkTools } from './tools/to-ai-sdk-tools.ts'
