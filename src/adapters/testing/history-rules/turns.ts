import type { Content, FunctionCall, FunctionResponse, Part } from '../../../core/content/content.ts'

/** One turn of a conversation. */
export interface Turn {
  /** Index of its first content. */
  readonly at: number
  /** The model, or the user for user and tool contents. */
  readonly speaker: 'user' | 'model'
  /** All parts. */
  readonly parts: readonly Part[]
  /** The calls among the parts. */
  readonly calls: readonly FunctionCall[]
  /** The responses among the parts. */
  readonly responses: readonly FunctionResponse[]
}

/** Converts each content to a turn. */
export function toTurns(contents: readonly Content[]): Turn[] {
  return contents.map(({ role, parts }, at) =>
    toTurn(at, role === 'model' ? 'model' : 'user', responsesFirst(role, parts)),
  )
}

/** Merges consecutive turns of one speaker for which `isOne` returns true. */
export function mergeTurns(turns: readonly Turn[], isOne: (before: Turn, after: Turn) => boolean): Turn[] {
  const list: Turn[] = []
  for (const next of turns) {
    const last = list.at(-1)
    if (last?.speaker !== next.speaker || !isOne(last, next)) list.push(next)
    else list[list.length - 1] = toTurn(last.at, last.speaker, [...last.parts, ...next.parts])
  }
  return list
}

/** The name of a call in messages. */
export function describeCall({ id, name }: { readonly id?: string; readonly name: string }): string {
  return id === undefined ? `${name} (without an id)` : `${name} (${id})`
}

function toTurn(at: number, speaker: Turn['speaker'], parts: readonly Part[]): Turn {
  const calls = parts.flatMap(({ functionCall }) => functionCall ?? [])
  const responses = parts.flatMap(({ functionResponse }) => functionResponse ?? [])
  return { at, speaker, parts, calls, responses }
}

/** The parts as they are sent: in a tool content, media and code output follow the responses. */
function responsesFirst(role: Content['role'], parts: readonly Part[]): readonly Part[] {
  if (role !== 'tool') return parts
  return [
    ...parts.filter(({ functionResponse }) => functionResponse),
    ...parts.filter(({ functionResponse }) => !functionResponse),
  ]
}
