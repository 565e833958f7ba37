/**
 * Live sessions: agents and their tools while the model is speaking.
 *
 * @module
 */

export type { FlowDefinition } from '../flow/conversation-flow.ts'
export type { LivePattern, RatePattern, SustainedPattern, TurnsPattern } from '../flow/patterns/live-pattern.ts'
export { all, any, equals, isSet, isTrue, not, oneOf } from '../flow/phases/conditions.ts'
export { conversationPhases } from '../flow/phases/conversation-phases.ts'
export type { LivePhase, PhaseChange, PhaseTransition } from '../flow/phases/live-phase.ts'
export type { PhaseDefinition } from '../flow/phases/phase-definition.ts'
export type { ComputedValue } from '../flow/state/order-computed.ts'
export type { StateCondition } from '../flow/state/read-condition.ts'
export { type StateKey, stateKey } from '../flow/state/state-key.ts'
export {
  becameFalse,
  becameTrue,
  changed,
  changedFrom,
  changedTo,
  crossedAbove,
  crossedBelow,
  type WatchCondition,
} from '../flow/state/watch-conditions.ts'
export type { WatchedSession } from '../flow/state/watched-session.ts'
export type { Watcher, WatcherRun } from '../flow/state/watcher.ts'
export { openaiRealtime } from '../openai/live/openai-realtime.ts'
export type {
  OpenAiRealtimeConfig,
  OpenAiRealtimeOptions,
  OpenAiWebSocket,
  WebSocketConstructor,
} from '../openai/live/options.ts'
export type { LiveEvent } from '../tool/live-event.ts'
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
export type { BeforeToolResponse, LiveOptions } from './live-options.ts'
export { answerLater } from './session/answer-later.ts'
export type { LiveMessage } from './session/live-message.ts'
export type { LiveSession } from './session/live-session.ts'
export type { OnToolCall } from './session/on-tool-call.ts'
