/**
 * Toolwright: the agent development kit whose tools can be trusted.
 *
 * @module
 */

export { codeExecution } from './adapters/tools/code-execution.ts'
export type { DiscoveryEngineSearchOptions, SearchResultMode } from './adapters/tools/discovery-engine-options.ts'
export { discoveryEngineSearch } from './adapters/tools/discovery-engine-search.ts'
export { enterpriseWebSearch } from './adapters/tools/enterprise-web-search.ts'
export { type Example, type ExampleSource, exampleTool } from './adapters/tools/example-tool.ts'
export { exitLoop } from './adapters/tools/exit-loop.ts'
export { getUserChoice } from './adapters/tools/get-user-choice.ts'
export { googleMapsGrounding } from './adapters/tools/google-maps-grounding.ts'
export { googleSearch } from './adapters/tools/google-search.ts'
export type { AccessToken } from './adapters/tools/google-token.ts'
export { loadArtifacts } from './adapters/tools/load-artifacts.ts'
export { loadMemory } from './adapters/tools/load-memory.ts'
export { preloadMemory } from './adapters/tools/preload-memory.ts'
export type { SearchTargetOptions } from './adapters/tools/search-target.ts'
export { urlContext } from './adapters/tools/url-context.ts'
export { type VertexAiSearchOptions, vertexAiSearch } from './adapters/tools/vertex-ai-search.ts'
export type { JsonObject } from './core/base/json.ts'
export type { Ports } from './core/base/ports.ts'
export type { AuthConfig, AuthCredential, AuthScheme, AuthToolArguments, OAuthFlow } from './core/content/auth.ts'
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
} from './core/content/content.ts'
export {
  type ResultErrorCode,
  ToolError,
  type ToolErrorCode,
  ToolwrightError,
  type ToolwrightErrorCode,
} from './core/error/error.ts'
export {
  type CallTimes,
  createEvent,
  type Event,
  type EventActions,
  type EventErrorCode,
  type FailedAttempt,
  type FailedAttempts,
  isFinalResponse,
} from './core/event/event.ts'
export type { FailedModel, ModelFallback } from './core/event/model-fallback.ts'
export type { PendingRequest } from './core/event/pending-request.ts'
export type { AnswerMeaning } from './core/event/read-answer.ts'
export { LogReader, readLog } from './core/event/views/log-reader.ts'
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
} from './core/event/views/views.ts'
export type { ParseResult, SchemaIssue } from './core/schema/issues.ts'
export type { InferInput, InferOutput, Schema } from './core/schema/schema-types.ts'
export type { Agent, InvocationContext } from './engine/agent/agents/agent.ts'
export { type AgentToolOptions, agentTool } from './engine/agent/agents/agent-tool.ts'
export type {
  AfterAgent,
  AfterModel,
  BeforeAgent,
  BeforeModel,
  Callbacks,
  OnModelError,
} from './engine/agent/agents/callbacks.ts'
export { LlmAgent } from './engine/agent/agents/llm-agent.ts'
export type { HistoryOptions, Instruction, LlmAgentOptions } from './engine/agent/agents/llm-agent-options.ts'
export { transferToAgent } from './engine/agent/agents/transfer.ts'
export { LoopAgent, ParallelAgent, SequentialAgent, type WorkflowAgentOptions } from './engine/agent/agents/workflow.ts'
export type { MediaOptions } from './engine/agent/request/media-options.ts'
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
} from './engine/context/context.ts'
export { CredentialRequired } from './engine/context/credential-required.ts'
export { withParts } from './engine/context/result-parts.ts'
export type { RunConfig } from './engine/context/run-config.ts'
export type { RunContext } from './engine/context/run-context.ts'
export type { SchedulingLimits, ToolSchedule, ToolScheduleOptions } from './engine/context/tool-scheduling.ts'
export type { AfterTool, BeforeTool, Logger, OnToolError } from './engine/dispatch/host.ts'
export type { LlmRequest, OfferedTool } from './engine/model/llm-request.ts'
export type { ConfigTool, LlmRequestConfig } from './engine/model/llm-request-config.ts'
export type { LlmResponse, Model } from './engine/model/model.ts'
export type { Observer } from './engine/observe/observer.ts'
export type {
  AgentOperation,
  CallOperation,
  Measurement,
  ModelOperation,
  ObservedRun,
  Operation,
  OperationEnd,
  OperationNote,
  OperationOutcome,
  RequestOperation,
  RunOperation,
  ToolOperation,
} from './engine/observe/operation.ts'
export { type BackgroundOptions, background } from './engine/policy/background.ts'
export { type CachedOptions, type CacheScope, cached } from './engine/policy/cached.ts'
export { type ConcurrencyOptions, concurrency } from './engine/policy/concurrency.ts'
export { type ConfirmOptions, confirm } from './engine/policy/confirm.ts'
export { FallbackError, type FallbackOptions, fallback } from './engine/policy/fallback.ts'
export { longRunning } from './engine/policy/long-running.ts'
export { type RateLimitOptions, rateLimit } from './engine/policy/rate-limit.ts'
export { type RedactOptions, redact } from './engine/policy/redact.ts'
export type { BackgroundResult, ResultFormatter } from './engine/policy/result-formatter.ts'
export { type RetryOptions, retry } from './engine/policy/retry.ts'
export { timeout } from './engine/policy/timeout.ts'
export { approve, deny, respond } from './engine/runner/approvals/answer-parts.ts'
export type { ConfirmationDecision, ConfirmationProvider } from './engine/runner/approvals/confirmation-provider.ts'
export type { Completion } from './engine/runner/completion.ts'
export type { FleetOptions } from './engine/runner/fleet-options.ts'
export type { Models } from './engine/runner/models.ts'
export { type MemoryPluginOptions, memoryPlugin } from './engine/runner/plugins/memory-plugin.ts'
export type { Plugin } from './engine/runner/plugins/plugin.ts'
export type { ConversationPhases } from './engine/runner/run/conversation-phases.ts'
export type { RunLimits, RunnerLimits } from './engine/runner/run/limit-options.ts'
export type { RecoveredRuns, Run } from './engine/runner/run/run-handle.ts'
export { Runner } from './engine/runner/runner.ts'
export type {
  AnswerOptions,
  ApprovalPreview,
  CancelOptions,
  CloseOptions,
  DeleteSessionOptions,
  FailedRecovery,
  FollowOptions,
  ForkOptions,
  PendingFilter,
  PreviewApprovalOptions,
  PruneOptions,
  PruneResult,
  RecoverOptions,
  ResumeOptions,
  RunnerOptions,
  RunOptions,
  UpdateStateOptions,
  UserOptions,
  WorkOptions,
} from './engine/runner/runner-options.ts'
export type {
  Schedule,
  ScheduleOptions,
  SchedulesFilter,
} from './engine/runner/schedules/schedule-options.ts'
export type { ExportedItem } from './engine/runner/sessions/exported-item.ts'
export {
  ToolDispatcher,
  type ToolDispatcherCall,
  type ToolDispatcherOptions,
} from './engine/runner/single-call/tool-dispatcher.ts'
export type { Usage } from './engine/runner/usage.ts'
export type { CodeExecutor, CodeFile, CodeRequest, CodeResult } from './engine/tool/code-executor.ts'
export { type DefinedTool, tool } from './engine/tool/define-tool.ts'
export { filterTools } from './engine/tool/filter-tools.ts'
export type { FunctionToolOptions } from './engine/tool/functions/function-tool-options.ts'
export type { ToolFunction } from './engine/tool/functions/tool-function.ts'
export { prefixTools } from './engine/tool/prefix-tools.ts'
export type { Effect, Middleware, PolicyCall, Reconciled, Tool } from './engine/tool/tool.ts'
export type { ToolOptions, TypedTool } from './engine/tool/tool-options.ts'
export {
  type DynamicToolSource,
  type ToolSource,
  type ToolSourceOptions,
  toolSource,
} from './engine/tool/tool-source.ts'
export { StaticToolset, type Toolset } from './engine/tool/toolset.ts'
export { InMemoryArtifactService } from './services/artifact/in-memory.ts'
export type { ArtifactKey, ArtifactService, ArtifactVersion } from './services/artifact/service.ts'
export { type ArtifactReference, parseArtifactUri } from './services/artifact/uri.ts'
export type { Exchanger, Exchangers } from './services/auth/auth-services.ts'
export type { CredentialOptions } from './services/auth/resolve-credential.ts'
export {
  type EncryptedCredentialOptions,
  EncryptedCredentialService,
  type ReencryptResult,
} from './services/credential/encrypted.ts'
export { InMemoryCredentialService } from './services/credential/in-memory.ts'
export type { CredentialKey, CredentialService, StoredCredential } from './services/credential/service.ts'
export { type InMemoryLimitOptions, InMemoryLimitService } from './services/limit/in-memory.ts'
export type {
  FreedSlot,
  LimitKey,
  LimitService,
  PlaceInLine,
  SlotAnswer,
  SlotRequest,
} from './services/limit/service.ts'
export { InMemoryMemoryService } from './services/memory/in-memory.ts'
export type { MemoryEntry, MemoryService, StoredMemory } from './services/memory/service.ts'
export { InMemoryScheduleService } from './services/schedule/in-memory.ts'
export type { ScheduleTimes } from './services/schedule/schedule-times.ts'
export type {
  ScheduleEnd,
  ScheduleKey,
  ScheduleService,
  ScheduleState,
  ScheduleTiming,
  StoredSchedule,
} from './services/schedule/service.ts'
export { InMemorySessionService } from './services/session/in-memory.ts'
export type { InMemorySessionOptions } from './services/session/in-memory-options.ts'
export type {
  Page,
  PageOptions,
  Session,
  SessionKey,
  SessionService,
} from './services/session/service.ts'
export type { WaitingLimits } from './services/session/waiting-limits.ts'
export { InMemoryWorkerService } from './services/worker/in-memory.ts'
export type { RecoveryTimes } from './services/worker/recovery-times.ts'
export type { SeenWorker, WorkerKey, WorkerReport, WorkerService } from './services/worker/service.ts'
