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

/** Collects what the user and the model say until it is recorded. */
export class LiveTurn {
  #heard = ''
  #text = ''
  #thought = ''
  #spoken = ''
  #parts: Part[] = []
  #usage: JsonObject | undefined
  #grounding: JsonObject | undefined
  /** Is the model replying? */
  isReplying = false

  /** Adds a message of the model. */
  add(message: LiveServerMessage): void {
    switch (message.type) {
      case 'inputTranscript':
        this.#heard = joined(this.#heard, message.text)
        return
      case 'outputTranscript':
        this.isReplying = true
        this.#spoken = joined(this.#spoken, message.text)
        return
      case 'text':
        this.isReplying = true
        if (message.thought) this.#thought = joined(this.#thought, message.text)
        else this.#text = joined(this.#text, message.text)
        return
      case 'audio':
      case 'toolCall': // the model speaks again after the responses
        this.isReplying = true
        return
      case 'part':
        this.isReplying = true
        this.#parts.push(message.part)
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

  /** Takes what the user said. Empty if nothing was heard. */
  takeHeard(): string {
    const heard = this.#heard.trim()
    this.#heard = ''
    return heard
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
    this.#text = ''
    this.#thought = ''
    this.#spoken = ''
    this.#parts = []
    this.#usage = undefined
    this.#grounding = undefined
    return { parts, reply }
  }
}

function joined(before: string, delta: string): string {
  return before.length > MAX_CHARACTERS ? before : before + delta
}

/** Code of a server tool, if its result has arrived too. Code without a result would count as code to run. */
function finishedCode(parts: readonly Part[]): Part[] {
  const hasResults = parts.filter((part) => part.codeExecutionResult).length
  const codes = parts.filter((part) => part.executableCode).length
  return hasResults === codes ? [...parts] : parts.filter((part) => !part.executableCode && !part.codeExecutionResult)
}
