import { isRecord } from '../../core/base/json.ts'
import { kindOf } from '../../core/base/kind-of.ts'
import { toJsonValue } from '../../core/base/to-json-value.ts'
import type { Content, Part } from '../../core/content/content.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import type { Tool } from '../../engine/tool/tool.ts'
import { oncePerInvocation } from './once-per-invocation.ts'
import { requestOnlyTool } from './request-only-tool.ts'

/** An example of a user message and the reply to it. */
export interface Example {
  /** The user message. */
  readonly input: string | Content
  /** The reply: a text, or contents with tool calls and their results. */
  readonly output: string | readonly (string | Content)[]
}

/** Examples, or a function that returns the examples for the text of the user's message. */
export type ExampleSource = readonly Example[] | ((query: string) => readonly Example[] | Promise<readonly Example[]>)

/**
 * Adds examples of good replies to the system instruction. A function is called once for each invocation, with the text of
 * the user's message. The model cannot call this tool.
 *
 * @example
 * exampleTool([
 *   { input: 'Is it cold in Oslo?', output: 'Yes: 2 degrees.' },
 *   { input: 'And in Rome?', output: [{ role: 'model', parts: [{ functionCall: { name: 'get_weather', args: { city: 'Rome' } } }] }] },
 * ])
 */
export function exampleTool(examples: ExampleSource): Tool {
  const blockFor = typeof examples === 'function' ? pickExamples(examples) : always(blockOf(examples))
  return requestOnlyTool({
    name: 'example_tool',
    description: 'Adds examples to the system instruction.',
    processLlmRequest: async (request, context) => {
      const block = await blockFor(context)
      if (block !== undefined) request.appendInstruction(block)
    },
  })
}

function pickExamples(pick: Extract<ExampleSource, (query: string) => unknown>): ReturnType<typeof oncePerInvocation> {
  return oncePerInvocation(async (query) => blockOf(await pick(query)))
}

function always(block: string | undefined): () => Promise<string | undefined> {
  return async () => block
}

function blockOf(examples: unknown): string | undefined {
  if (!Array.isArray(examples))
    throw invalidExample(`takes a list of { input, output } or a function that returns one, got ${kindOf(examples)}`)
  if (examples.length === 0) return undefined
  return [
    '<examples>',
    'Examples of what a user says and how to answer. They are not part of this conversation. The examples show tool calls as text. In this conversation, make real tool calls.',
    ...examples.map(render),
    '</examples>',
  ].join('\n')
}

function render(example: unknown, at: number): string {
  const what = `example ${at + 1}`
  if (!isRecord(example)) throw invalidExample(`${what} must be { input, output }, got ${kindOf(example)}`)
  const { input, output } = example
  const outputs = Array.isArray(output) ? output : [output]
  if (outputs.length === 0) throw invalidExample(`${what} needs an output`)
  const turns = [
    renderTurn(input, 'user', `the input of ${what}`),
    ...outputs.map((one) => renderTurn(one, 'model', `the output of ${what}`)),
  ]
  return ['<example>', ...turns, '</example>'].join('\n')
}

function renderTurn(turn: unknown, speaker: 'user' | 'model', what: string): string {
  if (typeof turn === 'string' && turn.trim() !== '') return `[${speaker}] ${escapeTags(turn)}`
  if (!isContent(turn))
    throw invalidExample(`${what} must be a text or a content with a role and parts, got ${kindOf(turn)}`)
  const lines = turn.parts.flatMap((part) => renderPart(part, turn.role))
  if (lines.length === 0) throw invalidExample(`${what} has no text, call or file`)
  return lines.join('\n')
}

function isContent(value: unknown): value is Content {
  if (!isRecord(value)) return false
  const { role, parts } = value
  return (role === 'user' || role === 'model' || role === 'tool') && Array.isArray(parts) && parts.every(isRecord)
}

function renderPart(part: Part, role: string): string[] {
  if (part.functionCall)
    return [`[model calls ${escapeTags(part.functionCall.name)}] ${json(part.functionCall.args ?? {})}`]
  if (part.functionResponse) {
    return [`[${escapeTags(part.functionResponse.name)} answers] ${json(part.functionResponse.response)}`]
  }
  const media = part.inlineData ?? part.fileData
  if (media) return [`[${role}] (a file, ${escapeTags(media.mimeType ?? 'of unknown type')})`]
  return part.text && !part.thought ? [`[${role}] ${escapeTags(part.text)}`] : []
}

function json(value: unknown): string {
  return escapeTags(JSON.stringify(toJsonValue(value).value))
}

/** Escapes tags, so that a text cannot end its example. */
function escapeTags(text: unknown): string {
  return String(text).replace(/<(?=[\s/]*examples?\b)/gi, '&lt;')
}

function invalidExample(problem: string): ToolwrightError {
  return new ToolwrightError('INVALID_CONFIG', `exampleTool(): ${problem}.`)
}
