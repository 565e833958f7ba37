import type { Toolset } from './toolset.ts'

/** A toolset that lists something else and is otherwise, to its end of life, the given one. */
export function delegateToolset(toolset: Toolset, listTools: Toolset['listTools']): Toolset {
  const dispose = toolset[Symbol.asyncDispose]
  return {
    get name() {
      return toolset.name
    },
    listTools,
    ...(toolset.shutdown && { shutdown: toolset.shutdown.bind(toolset) }),
    ...(dispose && { [Symbol.asyncDispose]: dispose.bind(toolset) }),
  }
}
