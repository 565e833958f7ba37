import { isRecord } from '../../../src/core/base/json.ts'
import type { SessionItem } from '../api/types.ts'
import { visibleLine } from '../ui/visible-text.ts'

/** What is different about an agent in a what-if copy, as the server stores it in the state of the copy. */
export interface AgentVariant {
  /** The name of the agent. */
  readonly agent: string
  /** Another model. */
  readonly model?: string
  /** Another instruction. */
  readonly instruction?: string
  /** Other settings of the model. */
  readonly config?: { readonly temperature?: number }
  /** The tools that are offered. */
  readonly tools?: readonly string[]
}

/** What a session changes. Empty for a session that is no what-if copy. */
export function variantsOf(session: Pick<SessionItem, 'whatIf'> | undefined): readonly AgentVariant[] {
  const stored = session?.whatIf
  return Array.isArray(stored) ? stored.filter((one) => isRecord(one) && typeof one.agent === 'string') : []
}

/** A variant without what is as in the agent file; undefined if nothing is left. */
export function withoutSame(
  variant: { readonly [name: string]: unknown },
  own: AgentVariant,
): AgentVariant | undefined {
  const given: { readonly [name: string]: unknown } = { ...own }
  const isOther = ([name, value]: [string, unknown]): boolean =>
    value !== '' && value !== undefined && JSON.stringify(value) !== JSON.stringify(given[name])
  const changes = Object.entries(variant).filter(isOther)
  return changes.length > 0 ? { ...Object.fromEntries(changes), agent: own.agent } : undefined
}

/** What a variant changes, in one line. */
export function describeVariant({ agent, model, instruction, config, tools }: AgentVariant): string {
  const changes = [
    model !== undefined && `model ${model}`,
    ...Object.entries(config ?? {}).map(([name, value]) => `${name} ${value}`),
    instruction !== undefined && 'another instruction',
    tools && (tools.length > 0 ? `only the tools ${tools.join(', ')}` : 'no tools'),
  ]
  return visibleLine(`${agent} with ${changes.filter(Boolean).join(', ')}`)
}
