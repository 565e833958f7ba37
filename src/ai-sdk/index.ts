/**
 * Models and tools of the AI SDK for agents, and our tools for the AI SDK.
 *
 * @module
 */
export { AiSdkError } from './errors.ts'
export { type FromAiSdkOptions, fromAiSdk } from './from-model.ts'
export { type AiSdkTool, type FromAiSdkToolsOptions, fromAiSdkTools } from './from-tools.ts'
export { type AiSdkProviderTool, aiSdkProviderTool } from './provider-tool.ts'
export type { AiSdkModel } from './spec.ts'
export { type ToAiSdkToolsOptions, type ToolForAiSdk, toAiSdkTools } from './to-tools.ts'
