// A model that says the same to the same history, whichever process asks.
import type { Content, LlmResponse, Model, Part } from 'toolwright'
import type { LlmSpec, Reply } from './plan.ts'

export interface Asked {
  /** Waits for as long as the model takes. */
  think(): Promise<void>
  onRequest(agent: string, contents: readonly Content[]): void
}

export function scriptModel(spec: LlmSpec, { think, onRequest }: Asked): Model {
  return {
    name: `model of ${spec.name}`,
    async *generate({ contents }, { stream }): AsyncIterable<LlmResponse> {
      onRequest(spec.name, contents)
      await think()
      const reply = replyTo(spec, contents)
      if (reply.type === 'error') throw new Error('The model is tired.')
      const parts = partsOf(reply)
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

/** How the message of the n-th turn begins; what an agent is asked to do as a tool begins like it. */
export const turnText = (turn: number): string => `turn:${turn}`

/** A turn in which everybody just answers. */
export const LAST_TURN = 999

/** The reply that follows this history: the script of the latest turn, as far as the agent has come in it. */
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

function partsOf(reply: Exclude<Reply, { type: 'error' }>): Part[] {
  switch (reply.type) {
    case 'text':
      return [{ text: reply.text }]
    case 'code':
      return [{ text: `\`\`\`js\n${JSON.stringify({ calls: reply.calls, atOnce: reply.atOnce })}\n\`\`\`` }]
    default:
      // a model sends what it likes: ids and arguments are not what their types promise
      return reply.calls.map((call) => ({ functionCall: structuredClone(call) })) as Part[]
  }
}
