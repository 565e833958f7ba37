import type { JsonObject } from '../../base/json.ts'
import type { Part } from '../../content/content.ts'
import type { LiveReply } from '../../runner/live/live-reply.ts'
import type { LiveServerMessage } from '../../tool/live-model.ts'

/** What the model said, ready to be recorded. */
export interface SpokenReply {
  /** Text, transcripts and parts of server tools. */
  readonly parts: readonly Part[]
  /** What is known about them. */
  readonly reply: LiveReply
}

/** Most characters that are kept of one turn. A longer transcript loses its end. */
const MAX_CHARACTERS = 200_000
/** Most characters of other parts, such as pictures of the model, that are kept of one turn. */
const MAX_PART_CHARACTERS = 8 * 1024 * 1024

/** Messages that begin a reply. */
const REPLY: ReadonlySet<LiveServerMessage['type']> = new Set(['audio', 'text', 'part', 'outputTranscript'])

/** Collects what the user and the model say until it is recorded. */
export class LiveTurn {
  #heard = ''
  /** What the user said since the reply began: the end of the message, or an interruption. */
  #heardSince = ''
  #isReplying = false
  /** The user interrupted the reply, and no other one has begun. */
  #isInterrupted = false
  #text = ''
  #thought = ''
  #spoken = ''
  #parts: Part[] = []
  #partCharacters = 0
  #usage: JsonObject | undefined
  #grounding: JsonObject | undefined

  /** Adds a message of the model. */
  add(message: LiveServerMessage): void {
    if (REPLY.has(message.type)) {
      this.#isReplying = true
      this.#isInterrupted = false
    }
    switch (message.type) {
      case 'inputTranscript':
        if (this.#isReplying) this.#heardSince = joined(this.#heardSince, message.text)
        else this.#heard = joined(this.#heard, message.text)
        return
      case 'outputTranscript':
        this.#spoken = joined(this.#spoken, message.text)
        return
      case 'text':
        if (message.thought) this.#thought = joined(this.#thought, message.text)
        else this.#text = joined(this.#text, message.text)
        return
      case 'part':
        this.#addPart(message.part)
        return
      case 'usage':
        this.#usage = message.usageMetadata
        return
      case 'grounding':
        this.#grounding = message.groundingMetadata
        return
      default:
        return
    }
  }

  #addPart(part: Part): void {
    if (part.functionCall || part.functionResponse) return // a call in another message would pass no filter and no hook
    this.#partCharacters += JSON.stringify(part).length
    if (this.#partCharacters <= MAX_PART_CHARACTERS) this.#parts.push(part)
  }

  /** Takes what the user said. Empty if nothing was heard. */
  takeHeard(): string {
    const heard = joined(this.#heard, this.#heardSince)
    this.#heard = ''
    this.#heardSince = ''
    return heard.trim()
  }

  /** The user interrupts the reply. Takes what the user said before the reply; the rest starts the next message. */
  takeHeardBeforeReply(): string {
    this.#isInterrupted = true
    if (!this.#isReplying) return ''
    const heard = this.#heard
    this.#heard = this.#heardSince
    this.#heardSince = ''
    return heard.trim()
  }

  /** The turn ends. Takes what the user said, unless the user interrupted the turn: then the message goes on. */
  takeHeardAtEnd(): string {
    const isInterrupted = this.#isInterrupted
    this.#isInterrupted = false
    return isInterrupted ? '' : this.takeHeard()
  }

  /** Takes what the model said. */
  takeReply(): SpokenReply {
    const parts: Part[] = []
    if (this.#thought) parts.push({ text: this.#thought, thought: true })
    parts.push(...finishedCode(this.#parts))
    const text = this.#text || this.#spoken
    if (text) parts.push({ text })
    const reply: LiveReply = {
      transcribed: this.#text === '' && this.#spoken !== '',
      usageMetadata: this.#usage,
      groundingMetadata: this.#grounding,
    }
    this.#isReplying = false
    this.#text = ''
    this.#thought = ''
    this.#spoken = ''
    this.#parts = []
    this.#partCharacters = 0
    this.#usage = undefined
    this.#grounding = undefined
    return { parts, reply }
  }
}

function joined(before: string, delta: string): string {
  return before + delta.slice(0, MAX_CHARACTERS - before.length)
}

/** Code of a server tool, if its result has arrived too. Code without a result would count as code to run. */
function finishedCode(parts: readonly Part[]): Part[] {
  const hasResults = parts.filter((part) => part.codeExecutionResult).length
  const codes = parts.filter((part) => part.executableCode).length
  return hasResults === codes ? [...parts] : parts.filter((part) => !part.executableCode && !part.codeExecutionResult)
}
