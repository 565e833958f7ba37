// Request bodies of provider packages, read back as contents and checked with the rules of that provider.
import type { Content, Part } from 'toolwright'
import { anthropicHistoryProblems, geminiHistoryProblems, openAiHistoryProblems } from 'toolwright/testing'
import { chat, claude, gemini, type ProviderFormat, responses } from '../../src/adapters/ai-sdk/providers.test-kit.ts'

/** The members of a provider's message that its rules cover. */
interface ProviderMessage {
  readonly role?: 'user' | 'assistant' | 'model' | 'system' | 'developer' | 'tool'
  readonly type?: string
  readonly content?: string | readonly Block[]
  readonly tool_calls?: readonly { id: string; function: { name: string; arguments: string } }[]
  readonly tool_call_id?: string
  readonly call_id?: string
  readonly name?: string
  readonly arguments?: string
}
interface Block {
  readonly type: string
  readonly text?: string
  readonly thinking?: string
  readonly id?: string
  readonly name?: string
  readonly input?: object
  readonly tool_use_id?: string
}

const call = (id: string, name: string, args: string): Part => ({ functionCall: { id, name, args: JSON.parse(args) } })
const result = (id = ''): Part => ({ functionResponse: { id, name: 'refund', response: {} } })
const textsOf = (content: ProviderMessage['content']): Part[] =>
  typeof content === 'string' ? [{ text: content }] : (content ?? []).map(({ text = '' }) => ({ text }))

function readChat({ messages }: { messages: ProviderMessage[] }): Content[] {
  return messages.flatMap(({ role, content, tool_calls = [], tool_call_id }): Content[] => {
    if (role === 'system' || role === 'developer') return []
    if (role === 'tool') return [{ role, parts: [result(tool_call_id)] }]
    const texts = content ? textsOf(content) : []
    const calls = tool_calls.map(({ id, function: of }) => call(id, of.name, of.arguments))
    return [{ role: role === 'user' ? 'user' : 'model', parts: [...texts, ...calls] }]
  })
}

function readResponses({ input }: { input: ProviderMessage[] }): Content[] {
  const contents = input.flatMap(
    ({ role, type, content, call_id = '', name = '', arguments: args = '' }): Content[] => {
      if (type === 'function_call') return [{ role: 'model', parts: [call(call_id, name, args)] }]
      if (type === 'function_call_output') return [{ role: 'tool', parts: [result(call_id)] }]
      if (role === 'system' || role === 'developer') return []
      return [{ role: role === 'user' ? 'user' : 'model', parts: textsOf(content) }]
    },
  )
  // The Responses API sends each call as an item of its own: calls in a row belong to one reply.
  const joined: Content[] = []
  for (const one of contents) {
    const last = joined.at(-1)
    if (one.role !== 'model' || last?.role !== 'model') joined.push(one)
    else joined[joined.length - 1] = { role: 'model', parts: [...last.parts, ...one.parts] }
  }
  return joined
}

function readClaude({ messages }: { messages: ProviderMessage[] }): Content[] {
  return messages.map(({ role, content }) => ({
    role: role === 'user' ? 'user' : 'model',
    parts: (typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? [])).map((block): Part => {
      if (block.type === 'thinking') return { text: block.thinking ?? '', thought: true }
      if (block.type === 'tool_use') return call(block.id ?? '', block.name ?? '', JSON.stringify(block.input))
      return block.type === 'tool_result' ? result(block.tool_use_id) : { text: block.text ?? '' }
    }),
  }))
}

/** Reads a request body as contents, and lists what its provider would reject. */
export const providerFormats: readonly {
  name: string
  format: ProviderFormat
  read(body: never): Content[]
  problems(sent: Content[]): string[]
}[] = [
  { name: 'OpenAI, chat', format: chat, read: readChat, problems: openAiHistoryProblems },
  { name: 'OpenAI, responses', format: responses, read: readResponses, problems: openAiHistoryProblems },
  { name: 'Anthropic', format: claude, read: readClaude, problems: anthropicHistoryProblems },
  { name: 'Gemini', format: gemini, read: ({ contents }) => contents, problems: geminiHistoryProblems },
]
