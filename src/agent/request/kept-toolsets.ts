// What dynamic sources have returned to the runs of one runner: reused by key, closed with the runner.
import { kindOf } from '../../base/kind-of.ts'
import type { ReadonlyContext } from '../../tool/context.ts'
import { type DynamicToolSource, keyOfSource, listSources, type ToolSource } from '../../tool/tool-source.ts'
import type { Toolset } from '../../tool/toolset.ts'
import { innermostToolset } from '../../tool/wrap-toolset.ts'

/** A source without a key that returns more toolsets than this makes new ones again and again. */
const MANY_TOOLSETS = 10

export class KeptToolsets {
  readonly #lists: Map<DynamicToolSource, Map<string, Promise<ToolSource>>> = new Map()
  readonly #toolsets: Set<Toolset> = new Set()
  readonly #counts: Map<DynamicToolSource, number> = new Map()
  #closeLate: ((toolset: Toolset) => void) | undefined

  /** Every toolset that a source has returned, without filters and prefixes. One that comes later is handed to `closeLate`. */
  takeAll(closeLate: (toolset: Toolset) => void): Iterable<Toolset> {
    this.#closeLate = closeLate
    return this.#toolsets
  }

  /** What the source returns for this context; with a key the first list of that key. */
  list(source: DynamicToolSource, context: ReadonlyContext): ToolSource | Promise<ToolSource> {
    const key = keyOfSource(source, context)
    if (key === undefined) return listSources(source, context)
    if (typeof key !== 'string') throw new Error(`key must return a string, got ${kindOf(key)}`)
    let lists = this.#lists.get(source)
    if (!lists) {
      lists = new Map()
      this.#lists.set(source, lists)
    }
    let listed = lists.get(key)
    if (!listed) {
      const asked = (async () => await listSources(source, context))()
      asked.catch(() => this.forget(source, asked))
      lists.set(key, asked)
      listed = asked
    }
    return listed
  }

  /** A list that failed or hangs: the next listing asks the source again. */
  forget(source: DynamicToolSource, listed: Promise<ToolSource>): void {
    const lists = this.#lists.get(source)
    for (const [key, one] of lists ?? []) if (one === listed) lists?.delete(key)
  }

  /** Notes a toolset that a source returned. A warning when the source seems to make a new one for each listing. */
  add(source: DynamicToolSource, toolset: Toolset): string | undefined {
    const inner = innermostToolset(toolset)
    if (this.#toolsets.has(inner)) return undefined
    this.#toolsets.add(inner)
    this.#closeLate?.(inner)
    const count = (this.#counts.get(source) ?? 0) + 1
    this.#counts.set(source, count)
    if (count !== MANY_TOOLSETS + 1 || this.#lists.has(source)) return undefined
    return `Tool source "${source.name}" has returned ${count} different toolsets; all stay open until the runner is closed. Create each toolset once, or give toolSource() a key.`
  }
}
