/**
 * Test doubles and service test suites for agents, tools and stores.
 *
 * @module
 */

export { type ChaosReport, chaos } from './chaos/chaos.ts'
export type { ChaosOptions } from './chaos/chaos-options.ts'
export type { ChaosFinding, ChaosStep } from './chaos/describe.ts'
export type { ChaosClaim, ChaosProblem } from './chaos/judge.ts'
export type { ChaosPoint } from './chaos/plan.ts'
export type {
  GeminiLiveCall,
  GeminiLiveCallRecord,
  GeminiLiveConnection,
  GeminiLiveConversation,
  GeminiLiveServer,
  GeminiLiveServerOptions,
} from './gemini-live-script.ts'
export { geminiLiveServer } from './gemini-live-server.ts'
export type {
  GeminiFault,
  GeminiReply,
  GeminiRequest,
  GeminiRules,
  GeminiScript,
  GeminiServer,
  GeminiServerOptions,
  GeminiStep,
} from './gemini-script.ts'
export { geminiServer } from './gemini-server.ts'
export { anthropicHistoryProblems } from './history-rules/anthropic.ts'
export { geminiHistoryProblems } from './history-rules/gemini.ts'
export { openAiHistoryProblems } from './history-rules/openai.ts'
export { type OfflineModelOptions, offlineModel } from './offline-model.ts'
export type {
  OpenAiRealtimeConnection,
  OpenAiRealtimeServer,
  OpenAiRealtimeServerOptions,
  RealtimeCallOptions,
  RealtimeFinishOptions,
} from './openai-realtime-connection.ts'
export { openaiRealtimeServer } from './openai-realtime-server.ts'
export { scriptedLive } from './scripted-live.ts'
export type {
  ScriptedLive,
  ScriptedLiveConnection,
  ScriptedLiveInput,
  ScriptedLiveOptions,
  ScriptedLiveReply,
  ScriptedLiveScript,
  ScriptedLiveStep,
} from './scripted-live-script.ts'
export { type ScriptedModel, type ScriptedReply, type ScriptedStep, scriptedModel } from './scripted-model.ts'
export { strictModel } from './strict-model.ts'
export { artifactServiceSuite } from './suites/artifact-service-suite.ts'
export { credentialServiceSuite } from './suites/credential-service-suite.ts'
export { limitServiceSuite } from './suites/limit-service-suite.ts'
export { memoryServiceSuite } from './suites/memory-service-suite.ts'
export { scheduleServiceSuite } from './suites/schedule-service-suite.ts'
export type { MadeService, MakeService, SuiteOptions, SuiteTest } from './suites/service-test.ts'
export { sessionServiceSuite } from './suites/session-service-suite.ts'
export { workerServiceSuite } from './suites/worker-service-suite.ts'
export { createToolContext, type TestToolContext, type ToolContextOptions } from './tool-context.ts'
