// A history as turns: who speaks, what is called, what is answered.
import type { Content, FunctionCall, FunctionResponse, Part } from '../../content/content.ts'

export interface Turn {
  /** The index of the first content in it. */
  readonly at: number
  readonly speaker: 'user' | 'model'
  readonly parts: readonly Part[]
  readonly calls: readonly FunctionCall[]
  readonly responses: readonly FunctionResponse[]
}

/** One turn for each content. */
export function toTurns(contents: readonly Content[]): Turn[] {
  return contents.map(({ role, parts }, at) =>
    toTurn(at, role === 'model' ? 'model' : 'user', responsesFirst(role, parts)),
  )
}

/** Turns of one speaker in a row as one, where a test says so. */
export function mergeTurns(turns: readonly Turn[], isOne: (before: Turn, after: Turn) => boolean): Turn[] {
  const list: Turn[] = []
  for (const next of turns) {
    const last = list.at(-1)
    if (last?.speaker !== next.speaker || !isOne(last, next)) list.push(next)
    else list[list.length - 1] = toTurn(last.at, last.speaker, [...last.parts, ...next.parts])
  }
  return list
}

/** How problems name a call. */
export function describeCall({ id, name }: { readonly id?: string; readonly name: string }): string {
  return id === undefined ? `${name} (without an id)` : `${name} (${id})`
}

function toTurn(at: number, speaker: Turn['speaker'], parts: readonly Part[]): Turn {
  const calls = parts.flatMap(({ functionCall }) => functionCall ?? [])
  const responses = parts.flatMap(({ functionResponse }) => functionResponse ?? [])
  return { at, speaker, parts, calls, responses }
}

/** What stands among responses in a tool's content, media and the output of code, is sent after them. */
function responsesFirst(role: Content['role'], parts: readonly Part[]): readonly Part[] {
  if (role !== 'tool') return parts
  return [
    ...parts.filter(({ functionResponse }) => functionResponse),
    ...parts.filter(({ functionResponse }) => !functionResponse),
  ]
}
