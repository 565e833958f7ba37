// Keeps the toolsets that dynamic tool sources return, for the lifetime of one runner. Runs with the same key share a
// toolset. Closing the runner closes all of them.
import { kindOf } from '../../../core/base/kind-of.ts'
import type { ReadonlyContext } from '../../context/context.ts'
import { type DynamicToolSource, keyOfSource, listSources, type ToolSource } from '../../tool/tool-source.ts'
import type { Toolset } from '../../tool/toolset.ts'
import { innermostToolset } from '../../tool/wrap-toolset.ts'

/** If a source without a key returns more toolsets than this, the runner logs a warning. */
const MANY_TOOLSETS = 10

/** The toolsets of dynamic sources, for the lifetime of a runner. */
export class KeptToolsets {
  readonly #lists: Map<DynamicToolSource, Map<string, Promise<ToolSource>>> = new Map()
  readonly #toolsets: Set<Toolset> = new Set()
  readonly #counts: Map<DynamicToolSource, number> = new Map()
  #closeLate: ((toolset: Toolset) => void) | undefined

  /**
   * Returns every kept toolset, without its filters and prefixes. A source may still return a toolset after this call:
   * `closeLate` is called with each of them.
   */
  takeAll(closeLate: (toolset: Toolset) => void): Iterable<Toolset> {
    this.#closeLate = closeLate
    return this.#toolsets
  }

  /**
   * Calls the source for this context and returns its tools and toolsets. A source with a key is called once per key.
   */
  list(source: DynamicToolSource, context: ReadonlyContext): ToolSource | Promise<ToolSource> {
    const key = keyOfSource(source, context)
    if (key === undefined) return listSources(source, context)
    if (typeof key !== 'string')
      throw new Error(`the key function of toolSource() must return a string, got ${kindOf(key)}`)
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

  /** Forgets the result of a source that failed or timed out, so that the next model call calls the source again. */
  forget(source: DynamicToolSource, listed: Promise<ToolSource>): void {
    const lists = this.#lists.get(source)
    for (const [key, known] of lists ?? []) if (known === listed) lists?.delete(key)
  }

  /**
   * Keeps a toolset that a source returned. Returns a warning if the source seems to create a new toolset for each
   * model call.
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
