import type { Event } from '../event/event.ts'

/** What a turn took: tokens as the models counted them, and time. */
export class Totals {
  #input = 0
  #output = 0
  #milliseconds = 0

  add({ usageMetadata: usage, partial }: Event): void {
    if (!usage || partial) return
    this.#input += count(usage.promptTokenCount) + count(usage.toolUsePromptTokenCount)
    this.#output += count(usage.candidatesTokenCount) + count(usage.thoughtsTokenCount)
  }

  addTime(milliseconds: number): void {
    this.#milliseconds += Math.max(milliseconds, 0)
  }

  /** `1,204 tokens in, 87 out, 2.3s`; models that count nothing leave only the time. */
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
