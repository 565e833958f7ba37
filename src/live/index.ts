/**
 * Live sessions: agents and their tools while the model is speaking.
 *
 * @module
 */

export { openaiRealtime } from '../openai/live/openai-realtime.ts'
export type {
  OpenAiRealtimeConfig,
  OpenAiRealtimeOptions,
  OpenAiWebSocket,
  WebSocketConstructor,
} from '../openai/live/options.ts'
export type { ConfirmationDecision, ConfirmationProvider } from '../runner/approvals/confirmation-provider.ts'
export type { LiveInput } from '../tool/live-input.ts'
export {
  type LiveClientMessage,
  type LiveConnection,
  LiveConnectionError,
  type LiveConnectOptions,
  type LiveModel,
  type LiveServerMessage,
  type LiveToolCall,
} from '../tool/live-model.ts'
export { connectLive } from './connect-live.ts'
export type { ReconnectOptions } from './link/link-options.ts'
export type { LiveEvent } from './live-event.ts'
export type { BeforeToolResponse, LiveOptions } from './live-options.ts'
export type { LivePattern, RatePattern, SustainedPattern, TurnsPattern } from './patterns/live-pattern.ts'
export { all, any, equals, isSet, isTrue, not, oneOf } from './phases/conditions.ts'
export { conversationPhases } from './phases/conversation-phases.ts'
export type { LivePhase, PhaseChange, PhaseTransition } from './phases/live-phase.ts'
export type { PhaseDefinition } from './phases/phase-definition.ts'
export { answerLater } from './session/answer-later.ts'
export type { FlowDefinition } from './session/live-flow.ts'
export type { LiveMessage } from './session/live-message.ts'
export type { LiveSession } from './session/live-session.ts'
export type { OnToolCall } from './session/wire-calls.ts'
export type { ComputedValue } from './state/order-computed.ts'
export type { StateCondition } from './state/read-condition.ts'
export { type StateKey, stateKey } from './state/state-key.ts'
export {
  becameFalse,
  becameTrue,
  changed,
  changedFrom,
  changedTo,
  crossedAbove,
  crossedBelow,
  type WatchCondition,
} from './state/watch-conditions.ts'
export type { WatchedSession } from './state/watched-session.ts'
export type { Watcher, WatcherRun } from './state/watcher.ts'
