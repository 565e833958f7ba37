/**
 * Live sessions: agents and their tools while the model is speaking.
 *
 * @module
 */
export {
  type LiveClientMessage,
  type LiveConnection,
  LiveConnectionError,
  type LiveConnectOptions,
  type LiveInput,
  type LiveModel,
  type LiveServerMessage,
  type LiveToolCall,
} from '../tool/live-model.ts'
export type { LiveEvent } from './live-event.ts'
