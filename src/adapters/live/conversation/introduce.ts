import type { Content } from '../../../core/content/content.ts'
import type { LiveClientMessage } from '../../../engine/model/live-model.ts'
import type { Conversation } from './conversation.ts'
import type { Fact, Wanted } from './fact.ts'
import { seedContents, toldMessage } from './seed.ts'
import { canResume, messagesFor, resume } from './since-handle.ts'
import { owesReply } from './turn.ts'

/** What the session knows besides the conversation when it introduces a connection. */
export interface Introduction {
  /** When. */
  readonly at: number
  /** What the connection knows: what the newest handle covers, or nothing. */
  readonly knows: 'handle' | 'nothing'
  /** What the model must do: it cannot reply while it waits for a call. */
  readonly can: Wanted
  /** The calls without a result. */
  isRunning(callId: string): boolean
  /** The whole conversation, as the log has it. */
  history(): readonly Content[]
}

/** What a new connection must be told, and the fact that it was told so. */
export interface Told {
  /** The connection was told. */
  readonly fact: Fact
  /** What the session sends first. */
  readonly messages: readonly LiveClientMessage[]
}

/** Tells a new connection what it must know. Undefined if the handle no longer fits the conversation. */
export function introduce(conversation: Conversation, introduction: Introduction): Told | undefined {
  const { at, knows, can } = introduction
  const { since, turns, held } = conversation
  if (knows === 'handle' && !canResume(since)) return undefined // something happened while the connection was made
  const isResultDue = knows === 'nothing' && held.some(({ wants }) => wants === 'reply') // the log tells it
  const isOwed = (owesReply(turns) || isResultDue) && can === 'reply'
  const wants: Wanted = isOwed ? 'reply' : 'nothing'
  if (knows === 'handle')
    return { fact: { type: 'resumed', at, wants }, messages: messagesFor(resume(since, at), isOwed) }
  const contents = seedContents(introduction.history(), introduction.isRunning)
  if (contents.length === 0) return { fact: { type: 'restarted', at, told: 'nothing', wants }, messages: [] }
  return { fact: { type: 'restarted', at, told: 'log', wants }, messages: [toldMessage(contents, isOwed)] }
}
