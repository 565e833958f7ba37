/**
 * Live sessions: agents and their tools while the model is speaking.
 *
 * @module
 */

export type { FlowDefinition } from '../../engine/flow/conversation-flow.ts'
export type {
  LivePattern,
  RatePattern,
  SustainedPattern,
  TurnsPattern,
} from '../../engine/flow/patterns/live-pattern.ts'
export { all, any, equals, isSet, isTrue, not, oneOf } from '../../engine/flow/phases/conditions.ts'
export { conversationPhases } from '../../engine/flow/phases/conversation-phases.ts'
export type { LivePhase, PhaseChange, PhaseTransition } from '../../engine/flow/phases/live-phase.ts'
export type { PhaseDefinition } from '../../engine/flow/phases/phase-definition.ts'
export type { ComputedValue } from '../../engine/flow/state/order-computed.ts'
export type { StateCondition } from '../../engine/flow/state/read-condition.ts'
export { type StateKey, stateKey } from '../../engine/flow/state/state-key.ts'
export {
  becameFalse,
  becameTrue,
  changed,
  changedFrom,
  changedTo,
  crossedAbove,
  crossedBelow,
  type WatchCondition,
} from '../../engine/flow/state/watch-conditions.ts'
export type { WatchedSession } from '../../engine/flow/state/watched-session.ts'
export type { Watcher, WatcherRun } from '../../engine/flow/state/watcher.ts'
export type { LiveEvent } from '../../engine/model/live-event.ts'
export type { LiveInput } from '../../engine/model/live-input.ts'
export {
  type LiveClientMessage,
  type LiveConnection,
  LiveConnectionError,
  type LiveConnectOptions,
  type LiveModel,
  type LiveServerMessage,
  type LiveToolCall,
} from '../../engine/model/live-model.ts'
export { openaiRealtime } from '../openai/live/openai-realtime.ts'
export type {
  OpenAiRealtimeConfig,
  OpenAiRealtimeOptions,
  OpenAiWebSocket,
  WebSocketConstructor,
} from '../openai/live/options.ts'
export { connectLive } from './connect-live.ts'
export type { ReconnectOptions } from './link/link-options.ts'
export type { BeforeToolResponse, LiveOptions } from './live-options.ts'
export { answerLater } from './session/answer-later.ts'
export type { LiveMessage } from './session/live-message.ts'
export type { LiveSession } from './session/live-session.ts'
export type { OnToolCall } from './session/on-tool-call.ts'
