import { clip } from '../../../core/base/limits.ts'
import { MAX_NOTES } from './limits.ts'

/** Subjects that a line names. The others are counted. */
const MAX_NAMED = 5

/** Subjects of one text that are told apart. */
const MAX_SUBJECTS = 20_000

/** Lines for the operator. Equal problems of several operations or schemas are one line. */
export class Problems {
  /** The subjects of each text. */
  readonly #texts = new Map<string, Set<string>>()
  #dropped = 0

  /** Adds a problem: what it is about, and a text that continues the sentence, such as `: ...` or ` is left out: ...`. */
  add(subject: string, text: string): void {
    const key = clip(text, 500)
    const subjects = this.#texts.get(key)
    if (subjects) {
      if (subjects.size < MAX_SUBJECTS) subjects.add(clip(subject, 300))
    } else if (this.#texts.size < MAX_NOTES) this.#texts.set(key, new Set([clip(subject, 300)]))
    else this.#dropped++
  }

  /** All lines. */
  list(): string[] {
    const more = this.#dropped > 0 ? [`${this.#dropped} more problems are not listed.`] : []
    return [...[...this.#texts].map(([text, subjects]) => toLine([...subjects], text)), ...more]
  }
}

function toLine(subjects: readonly string[], text: string): string {
  const [only = ''] = subjects
  if (subjects.length === 1) return `${only}${text}`
  const named = subjects.slice(0, MAX_NAMED).join(', ')
  const others = subjects.length > MAX_NAMED ? ` and ${subjects.length - MAX_NAMED} more` : ''
  return `${named}${others}${text.replace(/^ is /, ' are ').replace(/^ needs /, ' need ')}`
}
