import type { Toolset } from './toolset.ts'

const INNER: unique symbol = Symbol.for('toolwright.innerToolset')

/** A toolset that lists something else and is otherwise, to its end of life, the given one. */
export function wrapToolset(toolset: Toolset, listTools: Toolset['listTools']): Toolset {
  const dispose = toolset[Symbol.asyncDispose]
  const made: Toolset & { [INNER]: Toolset } = {
    name: toolset.name,
    listTools,
    ...(toolset.shutdown && { shutdown: toolset.shutdown.bind(toolset) }),
    ...(dispose && { [Symbol.asyncDispose]: dispose.bind(toolset) }),
    [INNER]: toolset,
  }
  return made
}

/** The toolset behind filters and prefixes: the one that has something to close. */
export function innermostToolset(toolset: Toolset): Toolset {
  const inner = (toolset as { [INNER]?: Toolset })[INNER]
  return inner ? innermostToolset(inner) : toolset
}
