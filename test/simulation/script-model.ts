// A model whose reply depends on the history only, in every process.
import type { Content, LlmResponse, Model, Part } from 'toolwright'
import type { Limits, LlmSpec, Reply, ScriptedCall } from './plan.ts'

export interface Asked {
  /** Waits for the duration of a model call. */
  think(): Promise<void>
  onRequest(agent: string, contents: readonly Content[]): void
  readonly limits: Limits
  /** Ids of requests and calls of all sessions, the newest last. */
  readonly seen: { readonly requests: readonly string[]; readonly calls: readonly string[] }
  /** Records ids that a model uses again. */
  readonly reused: NonNullable<ScriptedCall['reuse']>[]
}

export function scriptModel(spec: LlmSpec, asked: Asked): Model {
  const { think, onRequest } = asked
  return {
    name: `model of ${spec.name}`,
    async *generate({ contents }, { stream }): AsyncIterable<LlmResponse> {
      onRequest(spec.name, contents)
      await think()
      const reply = replyTo(spec, contents)
      if (reply.type === 'error') throw new Error('The model is tired.')
      const parts = partsOf(reply, contents, asked)
      if (stream) {
        for (const part of parts) {
          yield { partial: true, content: { role: 'model', parts: [part] } }
          await think()
        }
      }
      yield { content: { role: 'model', parts } }
    },
  }
}

/** The beginning of the n-th user message, and of the request to an agent tool in that turn. */
export const turnText = (turn: number): string => `turn:${turn}`

/** A turn in which every agent answers with text. */
export const LAST_TURN = 999

/** The next reply for this history, from the script of the latest turn. */
function replyTo({ scripts }: LlmSpec, contents: readonly Content[]): Reply {
  const from = contents.findLastIndex(({ role, parts }) => role === 'user' && turnIn(parts) !== undefined)
  const turn = turnIn(contents[from]?.parts ?? []) ?? 0
  const said = contents.slice(from + 1).filter(({ role }) => role === 'model').length
  const script = turn === LAST_TURN ? [] : (scripts[turn % scripts.length] ?? [])
  return script[said] ?? { type: 'text', text: 'That is all.' }
}

function turnIn(parts: readonly Part[]): number | undefined {
  for (const { text } of parts) {
    const found = /^turn:(\d+)/.exec(text ?? '')
    if (found) return Number(found[1])
  }
  return undefined
}

function partsOf(reply: Exclude<Reply, { type: 'error' }>, contents: readonly Content[], asked: Asked): Part[] {
  switch (reply.type) {
    case 'text':
      return [{ text: reply.text }]
    case 'code': {
      const code = JSON.stringify({ calls: reply.calls, atOnce: reply.atOnce })
      if (!reply.native) return [{ text: `\`\`\`js\n${code}\n\`\`\`` }]
      const { id, beside } = reply.native
      return [{ executableCode: { id, language: 'js', code } }, callPart(beside, contents, asked)] as Part[]
    }
    default:
      return reply.calls.map((call) => callPart(call, contents, asked))
  }
}

/** A call as a model may send it. Ids and arguments may break their types. */
function callPart(call: ScriptedCall, contents: readonly Content[], { limits, seen, reused }: Asked): Part {
  const { name, reuse } = call
  const id = reuse ? reusedId(reuse, contents, seen) : call.id
  if (reuse && id !== undefined) reused.push(reuse)
  const functionCall = { name, args: filledArgs(call, limits), ...(id !== undefined && { id }) }
  return { functionCall } as Part
}

function reusedId(which: string, contents: readonly Content[], seen: Asked['seen']): string | undefined {
  if (which === 'request') return seen.requests.at(-1)
  if (which === 'elsewhere') return seen.calls.at(-1)
  const calls = contents.flatMap(({ parts }) => parts.flatMap(({ functionCall }) => functionCall?.id ?? []))
  return calls.at(-1)
}

/** The arguments of a call, padded to its size. */
export function filledArgs({ args, fill }: ScriptedCall, { argsBytes }: Limits): unknown {
  const own = structuredClone(args)
  if (fill === undefined || typeof own !== 'object' || own === null) return own
  return { ...own, note: 'x'.repeat(fill * argsBytes) }
}
