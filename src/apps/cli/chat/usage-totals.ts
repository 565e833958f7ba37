import type { Event } from '../../../core/event/event.ts'

/** Adds up the tokens and the time of a turn. */
export class UsageTotals {
  #input = 0
  #output = 0
  #milliseconds = 0

  /** Adds the token counts of an event. */
  add({ usageMetadata: usage, partial }: Event): void {
    if (!usage || partial) return
    this.#input += count(usage.promptTokenCount) + count(usage.toolUsePromptTokenCount)
    this.#output += count(usage.candidatesTokenCount) + count(usage.thoughtsTokenCount)
  }

  /** Adds the duration of a run. */
  addTime(milliseconds: number): void {
    this.#milliseconds += Math.max(milliseconds, 0)
  }

  /** `1,204 tokens in, 87 out, 2.3s`; only the time when the models report no tokens. */
  toString(): string {
    const hasTokens = this.#input + this.#output > 0
    const tokens = hasTokens ? `${grouped(this.#input)} tokens in, ${grouped(this.#output)} out, ` : ''
    return `${tokens}${(this.#milliseconds / 1000).toFixed(1)}s`
  }
}

function count(tokens: unknown): number {
  return typeof tokens === 'number' && Number.isFinite(tokens) && tokens > 0 ? tokens : 0
}

function grouped(tokens: number): string {
  return Math.round(tokens).toLocaleString('en-US')
}
