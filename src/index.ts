/**
 * Toolwright: the agent development kit whose tools can be trusted.
 *
 * @module
 */
export type { Agent, InvocationContext } from './agent/agents/agent.ts'
export { type AgentToolOptions, agentTool } from './agent/agents/agent-tool.ts'
export type {
  AfterAgent,
  AfterModel,
  BeforeAgent,
  BeforeModel,
  Callbacks,
  OnModelError,
} from './agent/agents/callbacks.ts'
export { LlmAgent } from './agent/agents/llm-agent.ts'
export type { Instruction, LlmAgentOptions } from './agent/agents/llm-agent-options.ts'
export { transferToAgent } from './agent/agents/transfer.ts'
export { LoopAgent, ParallelAgent, SequentialAgent, type WorkflowAgentOptions } from './agent/agents/workflow.ts'
export type { MediaOptions } from './agent/request/media-options.ts'
export { InMemoryArtifactService } from './artifact/in-memory.ts'
export type { ArtifactKey, ArtifactService, ArtifactVersion } from './artifact/service.ts'
export { type ArtifactReference, parseArtifactUri } from './artifact/uri.ts'
export type { Exchanger, Exchangers } from './auth/auth-services.ts'
export type { CredentialOptions } from './auth/resolve-credential.ts'
export type { JsonObject } from './base/json.ts'
export type { Ports } from './base/ports.ts'
export type { AuthConfig, AuthCredential, AuthScheme, AuthToolArguments, OAuthFlow } from './content/auth.ts'
export {
  type CodeExecutionResult,
  type ConfirmationToolArguments,
  type Content,
  type ExecutableCode,
  type FileData,
  type FunctionCall,
  type FunctionDeclaration,
  type FunctionResponse,
  functionCallsOf,
  type InlineData,
  type InputToolArguments,
  type Message,
  type ModelOutput,
  type Part,
  type Role,
  type ToolConfirmation,
  textOf,
} from './content/content.ts'
export {
  type EncryptedCredentialOptions,
  EncryptedCredentialService,
  type ReencryptResult,
} from './credential/encrypted.ts'
export { InMemoryCredentialService } from './credential/in-memory.ts'
export type { CredentialKey, CredentialService, StoredCredential } from './credential/service.ts'
export type { AfterTool, BeforeTool, Logger, OnToolError } from './dispatch/host.ts'
export {
  type ResultErrorCode,
  ToolError,
  type ToolErrorCode,
  ToolwrightError,
  type ToolwrightErrorCode,
} from './error/error.ts'
export {
  type CallTimes,
  createEvent,
  type Event,
  type EventActions,
  type EventErrorCode,
  type FailedAttempt,
  type FailedAttempts,
  isFinalResponse,
} from './event/event.ts'
export type { FailedModel, ModelFallback } from './event/model-fallback.ts'
export type { PendingRequest } from './event/pending-request.ts'
export type { AnswerMeaning } from './event/read-answer.ts'
export { LogReader, readLog } from './event/views/log-reader.ts'
export type {
  CallStatus,
  CallView,
  InvocationView,
  MarkView,
  ReplyView,
  RequestView,
  ScopeView,
  TokenCounts,
  WaitView,
} from './event/views/views.ts'
export { InMemoryMemoryService } from './memory/in-memory.ts'
export type { MemoryEntry, MemoryService } from './memory/service.ts'
export { type BackgroundOptions, background } from './policy/background.ts'
export { type CachedOptions, type CacheScope, cached } from './policy/cached.ts'
export { type ConcurrencyOptions, concurrency } from './policy/concurrency.ts'
export { type ConfirmOptions, confirm } from './policy/confirm.ts'
export { FallbackError, type FallbackOptions, fallback } from './policy/fallback.ts'
export { longRunning } from './policy/long-running.ts'
export { type RateLimitOptions, rateLimit } from './policy/rate-limit.ts'
export { type RedactOptions, redact } from './policy/redact.ts'
export type { BackgroundResult, ResultFormatter } from './policy/result-formatter.ts'
export { type RetryOptions, retry } from './policy/retry.ts'
export { timeout } from './policy/timeout.ts'
export { approve, deny, respond } from './runner/approvals/answer-parts.ts'
export type { ConfirmationDecision, ConfirmationProvider } from './runner/approvals/confirmation-provider.ts'
export type { Completion } from './runner/completion.ts'
export type { Models } from './runner/models.ts'
export type { Plugin } from './runner/plugins/plugin.ts'
export type { ConversationPhases } from './runner/run/conversation-phases.ts'
export type { Run } from './runner/run/run-handle.ts'
export type { CloseOptions } from './runner/run/run-request.ts'
export { Runner } from './runner/runner.ts'
export type {
  ApprovalPreview,
  CancelOptions,
  DeleteSessionOptions,
  FollowOptions,
  ForkOptions,
  PreviewApprovalOptions,
  RecoverOptions,
  ResumeOptions,
  RunnerOptions,
  RunOptions,
  UpdateStateOptions,
} from './runner/runner-options.ts'
export {
  ToolDispatcher,
  type ToolDispatcherCall,
  type ToolDispatcherOptions,
} from './runner/single-call/tool-dispatcher.ts'
export type { Usage } from './runner/usage.ts'
export type { ParseResult, SchemaIssue } from './schema/issues.ts'
export type { InferInput, InferOutput, Schema } from './schema/schema-types.ts'
export { type InMemorySessionOptions, InMemorySessionService } from './session/in-memory.ts'
export type {
  Page,
  PageOptions,
  Session,
  SessionKey,
  SessionService,
} from './session/service.ts'
export type { CodeExecutor, CodeFile, CodeRequest, CodeResult } from './tool/code-executor.ts'
export type {
  Actions,
  AnsweredInput,
  CallbackContext,
  InputRequest,
  Invocation,
  ReadonlyContext,
  ReadonlyState,
  State,
  ToolContext,
} from './tool/context.ts'
export { CredentialRequired } from './tool/credential-required.ts'
export { type DefinedTool, tool } from './tool/define-tool.ts'
export { filterTools } from './tool/filter-tools.ts'
export type { FunctionToolOptions } from './tool/functions/function-tool-options.ts'
export type { ToolFunction } from './tool/functions/tool-function.ts'
export type { LlmRequest, OfferedTool } from './tool/llm-request.ts'
export type { ConfigTool, LlmRequestConfig } from './tool/llm-request-config.ts'
export type { LlmResponse, Model } from './tool/model.ts'
export { prefixTools } from './tool/prefix-tools.ts'
export { withParts } from './tool/result-parts.ts'
export type { RunConfig } from './tool/run-config.ts'
export type { RunContext } from './tool/run-context.ts'
export type { Effect, Middleware, PolicyCall, Reconciled, Tool } from './tool/tool.ts'
export type { ToolOptions, TypedTool } from './tool/tool-options.ts'
export { type DynamicToolSource, type ToolSource, type ToolSourceOptions, toolSource } from './tool/tool-source.ts'
export { StaticToolset, type Toolset } from './tool/toolset.ts'
export { codeExecution } from './tools/code-execution.ts'
export {
  type DiscoveryEngineSearchOptions,
  discoveryEngineSearch,
  type SearchResultMode,
} from './tools/discovery-engine-search.ts'
export { enterpriseWebSearch } from './tools/enterprise-web-search.ts'
export { type Example, type ExampleSource, exampleTool } from './tools/example-tool.ts'
export { exitLoop } from './tools/exit-loop.ts'
export { getUserChoice } from './tools/get-user-choice.ts'
export { googleMapsGrounding } from './tools/google-maps-grounding.ts'
export { googleSearch } from './tools/google-search.ts'
export type { AccessToken } from './tools/google-token.ts'
export { loadArtifacts } from './tools/load-artifacts.ts'
export { loadMemory } from './tools/load-memory.ts'
export { preloadMemory } from './tools/preload-memory.ts'
export type { SearchTargetOptions } from './tools/search-target.ts'
export { urlContext } from './tools/url-context.ts'
export { type VertexAiSearchOptions, vertexAiSearch } from './tools/vertex-ai-search.ts'
