import { DocumentProblem } from './api-document.ts'

/** Reads each part of a document once, also a part that cannot be used. Many operations may share a large part. */
export class Once<K, V> {
  readonly #known = new Map<K, V | DocumentProblem>()

  /** The value of the part. Throws the `DocumentProblem` that reading it threw. */
  get(part: K, read: () => V): V {
    let value = this.#known.get(part)
    if (value === undefined && !this.#known.has(part)) {
      try {
        value = read()
      } catch (error) {
        if (!(error instanceof DocumentProblem)) throw error
        value = error
      }
      this.#known.set(part, value)
    }
    if (value instanceof DocumentProblem) throw value
    return value as V
  }
}
