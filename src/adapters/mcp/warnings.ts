import { clip } from '../../core/base/limits.ts'
import type { Logger } from '../../engine/dispatch/host.ts'
import { unknownFilterNames } from '../../engine/tool/unknown-filter-names.ts'
import { MAX_WARNING_LENGTH } from './limits.ts'

/** A toolset remembers this many warnings, and logs no others. */
const MAX_WARNINGS = 1_000

/** The warnings of a toolset. Each is logged once. */
export class Warnings {
  readonly #toolset: string
  readonly #logger: Pick<Logger, 'warn'>
  readonly #known: Set<string> = new Set()

  constructor(toolset: string, logger: Pick<Logger, 'warn'>) {
    this.#toolset = toolset
    this.#logger = logger
  }

  /** Logs a problem. */
  report(problem: string): void {
    const line = toLine(problem)
    if (this.#known.has(line) || this.#known.size > MAX_WARNINGS) return
    this.#known.add(line)
    const isLast = this.#known.size > MAX_WARNINGS
    this.#logger.warn(`Toolset "${this.#toolset}": ${isLast ? 'There are more warnings, which are not logged.' : line}`)
  }

  /** Logs the names in a `toolFilter` that no tool has. */
  reportFilter(toolFilter: unknown, tools: readonly { readonly name: string }[]): void {
    const names = tools.map(({ name }) => name)
    for (const problem of unknownFilterNames(toolFilter, names)) this.report(problem)
  }
}

/** Text of a server as one line of limited length: control characters would let a server forge lines of the log. */
export function toLine(text: string): string {
  const line = text.slice(0, 2 * MAX_WARNING_LENGTH).replace(/[\s\p{C}]+/gu, ' ')
  return clip(line, MAX_WARNING_LENGTH)
}
