// The toolsets that dynamic tool sources returned to the runs of one runner. They are reused by key and closed with the
// runner.
import { kindOf } from '../../base/kind-of.ts'
import type { ReadonlyContext } from '../../tool/context.ts'
import { type DynamicToolSource, keyOfSource, listSources, type ToolSource } from '../../tool/tool-source.ts'
import type { Toolset } from '../../tool/toolset.ts'
import { innermostToolset } from '../../tool/wrap-toolset.ts'

/** If a source without a key returns more toolsets than this, the operator gets a warning. */
const MANY_TOOLSETS = 10

/** The toolsets of dynamic sources, for the lifetime of a runner. */
export class KeptToolsets {
  readonly #lists: Map<DynamicToolSource, Map<string, Promise<ToolSource>>> = new Map()
  readonly #toolsets: Set<Toolset> = new Set()
  readonly #counts: Map<DynamicToolSource, number> = new Map()
  #closeLate: ((toolset: Toolset) => void) | undefined

  /**
   * Every toolset that a source returned, without filters and prefixes. `closeLate` is called for each one that arrives
   * later.
   */
  takeAll(closeLate: (toolset: Toolset) => void): Iterable<Toolset> {
    this.#closeLate = closeLate
    return this.#toolsets
  }

  /** Lists the source for this context. A source with a key is listed once per key. */
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

  /** Drops a list that failed or hangs, so that the source is listed again next time. */
  forget(source: DynamicToolSource, listed: Promise<ToolSource>): void {
    const lists = this.#lists.get(source)
    for (const [key, known] of lists ?? []) if (known === listed) lists?.delete(key)
  }

  /**
   * Keeps a toolset that a source returned. Returns a warning if the source seems to make a new one for each listing.
   */
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
