// The agents one can hand over to, as the instruction lists them.
import { TRANSFER_TO_AGENT } from '../../agent/transfer.ts'
import type { FunctionDeclaration } from '../../content/content.ts'
import { type Declared, declaredOf } from './declared.ts'
import { parametersOf } from './parameters.ts'

export interface Roster {
  readonly agents: readonly Declared[]
  /** The instruction without the list. */
  readonly instruction: string
}

const MAX_INSTRUCTION = 20_000

export function rosterOf(systemInstruction: string, transfer: FunctionDeclaration | undefined): Roster {
  const lines = systemInstruction.slice(-MAX_INSTRUCTION).split('\n')
  const head = lines.findIndex((line) => line.includes(TRANSFER_TO_AGENT) && line.trimEnd().endsWith(':'))
  if (!transfer || head < 0) return { agents: listed(transfer, new Map()), instruction: lines.join('\n').trim() }
  const described = new Map<string, string>()
  let end = head + 1
  for (; end < lines.length; end++) {
    const [, name, description = ''] = /^- ([^\s:]+)(?:: (.*))?$/.exec(lines[end] ?? '') ?? []
    if (name === undefined) break
    described.set(name, description)
  }
  if (lines[end]?.startsWith('Do so when')) end++
  const instruction = [...lines.slice(0, head), ...lines.slice(end)].join('\n').trim()
  return { agents: listed(transfer, described), instruction }
}

/** Those that are described, and those the declaration allows by name. */
function listed(transfer: FunctionDeclaration | undefined, described: ReadonlyMap<string, string>): Declared[] {
  const parameters = transfer ? parametersOf(transfer.parametersJsonSchema) : []
  const allowed = parameters.flatMap(({ choices }) => choices).filter((name) => typeof name === 'string')
  const names = new Set([...described.keys(), ...allowed])
  return [...names].map((name) => declaredOf({ name, description: described.get(name) ?? '' }))
}
