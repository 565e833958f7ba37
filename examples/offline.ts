// A stand-in for a model, so that the examples run without a key: rules written by hand decide what it says.
// It understands nothing. For real work put a real model in its place.
import { type Content, type FunctionResponse, type Model, type Part, textOf } from 'toolwright'

/** What the rules look at: the instruction, the user's last words, and what the tools called since have answered. */
export interface Heard {
  readonly instruction: string
  readonly text: string
  readonly results: readonly FunctionResponse[]
}

/** A text to say, or tools to call. */
export type Reply = string | readonly { readonly name: string; readonly args?: { [key: string]: unknown } }[]

/** A model that follows rules instead of thinking. */
export function standIn(rules: (heard: Heard) => Reply): Model {
  return {
    name: 'stand-in',
    async *generate({ contents, config }, { stream }) {
      const reply = rules({ instruction: config.systemInstruction ?? '', ...listen(contents) })
      if (typeof reply === 'string' && stream) {
        for (const text of reply.match(/\S+\s*/g) ?? []) yield { content: said([{ text }]), partial: true }
      }
      const parts =
        typeof reply === 'string'
          ? [{ text: reply }]
          : reply.map(({ name, args = {} }) => ({ functionCall: { name, args } }))
      yield { content: said(parts) }
    },
  }
}

/** The rules of the weather example: look up, convert when asked to, then say it. */
export const weatherModel: Model = standIn(({ text, results }) => {
  const city = /\bin ([A-Z][\p{L} ]*?)(?= in\b|[?.!,]|$)/u.exec(text)?.[1]
  const last = results.at(-1)
  if (last?.response.error) return `That did not work: ${last.response.error}`
  if (!last && city) return [{ name: 'get_weather', args: { city } }]
  if (!last) return 'I am a stand-in for a model. Ask me for the weather in Oslo, in Cairo or in Lima.'
  if (last.name === 'get_weather' && /fahrenheit/i.test(text))
    return [{ name: 'convert', args: { celsius: last.response.celsius } }]
  const degrees = last.name === 'convert' ? `${last.response.fahrenheit} °F` : `${last.response.celsius} °C`
  return `It is ${degrees} in ${results[0]?.response.city}.`
})

function listen(contents: readonly Content[]): Omit<Heard, 'instruction'> {
  const at = contents.findLastIndex(({ role, parts }) => role === 'user' && parts[0]?.text !== 'For context:')
  const results = contents.slice(at + 1).flatMap(({ parts }) => parts.flatMap((part) => part.functionResponse ?? []))
  return { text: textOf(contents[at]), results }
}

function said(parts: readonly Part[]): Content {
  return { role: 'model', parts }
}
