import { hideCredentials } from '../../services/auth/config/hide-credentials.ts'
import { hidePlace } from './call-place.ts'
import type { Toolset } from './toolset.ts'

const INNER: unique symbol = Symbol.for('toolwright.innerToolset')

interface Wrapped {
  /** A function, because the members of a toolset are printed, and a hand-written one may hold secrets. */
  readonly [INNER]: () => Toolset
}

/** Wraps a toolset with another `listTools`. Name, `authConfig`, `shutdown` and disposal are those of the given toolset. */
export function wrapToolset(toolset: Toolset, listTools: Toolset['listTools']): Toolset {
  const dispose = toolset[Symbol.asyncDispose]
  const made: Toolset & Wrapped = {
    name: toolset.name,
    ...(toolset.authConfig && { authConfig: hideCredentials(toolset.authConfig) }),
    ...(toolset.sendsTo !== undefined && { sendsTo: hidePlace(toolset) }),
    listTools,
    ...(toolset.shutdown && { shutdown: toolset.shutdown.bind(toolset) }),
    ...(dispose && { [Symbol.asyncDispose]: dispose.bind(toolset) }),
    [INNER]: () => toolset,
  }
  return made
}

/** The toolset behind filters and prefixes. The runner closes this one. */
export function innermostToolset(toolset: Toolset): Toolset {
  const inner = (toolset as Partial<Wrapped>)[INNER]
  return inner ? innermostToolset(inner()) : toolset
}
