import { hideCredentials } from '../../services/auth/config/hide-credentials.ts'
import type { ReadonlyContext } from '../context/context.ts'
import { hidePlace } from './call-place.ts'
import type { Tool } from './tool.ts'
import type { Toolset } from './toolset.ts'

const INNER: unique symbol = Symbol.for('toolwright.innerToolset')
const LIST: unique symbol = Symbol.for('toolwright.listOfInner')

/** Lists the tools of a wrapper from the toolset inside it. */
type ListInner = (inner: Toolset, context: ReadonlyContext) => Promise<readonly Tool[]>

interface Wrapped {
  /** A function, because the members of a toolset are printed, and a hand-written one may hold secrets. */
  readonly [INNER]: () => Toolset
  readonly [LIST]: ListInner
}

/** Wraps a toolset with another listing. Name, `authConfig`, `shutdown` and disposal are those of the given toolset. */
export function wrapToolset(toolset: Toolset, list: ListInner): Toolset {
  const dispose = toolset[Symbol.asyncDispose]
  const made: Toolset & Wrapped = {
    name: toolset.name,
    ...(toolset.authConfig && { authConfig: hideCredentials(toolset.authConfig) }),
    ...(toolset.sendsTo !== undefined && { sendsTo: hidePlace(toolset) }),
    listTools: (context) => list(toolset, context),
    ...(toolset.shutdown && { shutdown: toolset.shutdown.bind(toolset) }),
    ...(dispose && { [Symbol.asyncDispose]: dispose.bind(toolset) }),
    [INNER]: () => toolset,
    [LIST]: list,
  }
  return made
}

/** The toolset behind filters and prefixes. The runner closes this one. */
export function innermostToolset(toolset: Toolset): Toolset {
  const inner = (toolset as Partial<Wrapped>)[INNER]
  return inner ? innermostToolset(inner()) : toolset
}

/** The same filters and prefixes around another toolset. */
export function replaceInnermost(toolset: Toolset, replace: (innermost: Toolset) => Toolset): Toolset {
  const { [INNER]: inner, [LIST]: list } = toolset as Partial<Wrapped>
  return inner && list ? wrapToolset(replaceInnermost(inner(), replace), list) : replace(toolset)
}
