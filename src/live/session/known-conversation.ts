import type { Ports } from '../../base/ports.ts'
import { type LiveClientMessage, LiveConnectionError } from '../../tool/live-model.ts'
import { type Command, commandsFor, type Spoken, spokenIn } from '../conversation/commands.ts'
import { type Introduction, introduce, NEW_CONVERSATION, reduce } from '../conversation/conversation.ts'
import { type Fact, factsIn, type Happening } from '../conversation/fact.ts'
import { heldForMs, heldMessage } from '../conversation/held.ts'
import { canResume, isCovering } from '../conversation/since-handle.ts'
import { isBusy, isReplyWhole } from '../conversation/turn.ts'

/** What a session knows of its conversation now. */
export class KnownConversation {
  readonly #ports: Pick<Ports, 'monotonicNow'>
  #known = NEW_CONVERSATION

  constructor(ports: Pick<Ports, 'monotonicNow'>) {
    this.#ports = ports
  }

  /** Takes what happened now. Returns what the session must do about it. */
  take(happening: Happening): readonly Command[] {
    return this.#take({ ...happening, at: this.#ports.monotonicNow() })
  }

  #take(fact: Fact): readonly Command[] {
    const before = this.#known
    this.#known = reduce(before, fact)
    return commandsFor(before, fact)
  }

  /** Takes a message that was sent, or waits for a connection. */
  sent(message: LiveClientMessage): void {
    for (const fact of factsIn(message, this.#ports.monotonicNow())) this.#take(fact)
  }

  /** The connection is gone. Returns what the session must do about it. */
  lost(): readonly Command[] {
    // no other connection would say that the turn is complete
    const ended = isReplyWhole(this.#known.turns)
      ? this.take({ type: 'received', message: { type: 'turnComplete' } })
      : []
    return [...ended, ...this.take({ type: 'lost' })]
  }

  /** A handle has arrived. Returns false if it may miss a part of the conversation. */
  cover(): boolean {
    const isUsable = isCovering(this.#known.since)
    this.take({ type: 'handle' })
    return isUsable
  }

  /** What a new connection must be told first. Throws if its handle no longer fits the conversation. */
  introduce(introduction: Omit<Introduction, 'at'>): readonly LiveClientMessage[] {
    const told = introduce(this.#known, { ...introduction, at: this.#ports.monotonicNow() })
    if (!told) throw new LiveConnectionError('The handle no longer fits the conversation.', { recover: 'fresh' })
    this.#take(told.fact)
    return told.messages
  }

  /** What was said and is not recorded yet. */
  get spoken(): Spoken {
    return spokenIn(this.#known, 'here')
  }
  /** The place of the latest calls. */
  get place(): number {
    return this.#known.place
  }
  /** The place of the last call that the newest handle covers. */
  get coveredPlace(): number {
    return this.#known.coveredPlace
  }
  /** Does anyone speak, or wait for a reply? */
  get isBusy(): boolean {
    return isBusy(this.#known.turns)
  }
  /** Can the conversation go on from the newest handle? */
  get canResume(): boolean {
    return canResume(this.#known.since)
  }
  /** Milliseconds until held results may be sent. Undefined: none is held. `isBlocked`: the model waits for a call. */
  heldForMs(isBlocked: boolean): number | undefined {
    return heldForMs(this.#known, { isBlocked, now: this.#ports.monotonicNow() })
  }
  /** Takes all held results as one message. */
  release(): LiveClientMessage {
    const { held } = this.#known
    this.take({ type: 'released' })
    return heldMessage(held)
  }
}
