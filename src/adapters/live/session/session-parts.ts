import type { ConversationFlow } from '../../../engine/flow/conversation-flow.ts'
import type { BackgroundOptions } from '../../../engine/policy/background.ts'
import type { SessionBase } from './session-base.ts'
import type { SessionRecorder } from './session-recorder.ts'

/** What the parts of a session share. */
export interface SessionParts extends SessionBase<never> {
  /** Records and shows, in order. */
  readonly recorder: SessionRecorder
  /** State and what follows from it. */
  readonly flow: Omit<ConversationFlow<never>, 'start' | 'enter'>
  /** Tools that run in the background although they are not marked, by name. */
  readonly background: ReadonlyMap<string, BackgroundOptions>
}
