import { isRecord, type JsonObject } from '../../../../core/base/json.ts'
import type { GeminiLiveConversation } from '../../gemini-live-script.ts'

/** The connection that tool responses arrive on. */
export interface ResponseTarget {
  /** The path is a Vertex AI path. */
  readonly isVertex: boolean
  /** The conversation with the calls so far, without the message that is checked. */
  readonly conversation: GeminiLiveConversation
}

const FIELDS = new Set(['id', 'name', 'response', 'parts', 'scheduling', 'willContinue'])
const SCHEDULING = new Set(['SILENT', 'WHEN_IDLE', 'INTERRUPT'])

/** What a strict server refuses in a message with tool responses. */
export function responseProblems({ functionResponses }: JsonObject, target: ResponseTarget): string[] {
  if (!Array.isArray(functionResponses) || functionResponses.length === 0)
    return ['"toolResponse.functionResponses" is empty. Send at least one response.']
  const final = new Set<unknown>()
  return functionResponses.flatMap((response) => {
    if (!isRecord(response)) return ['A tool response is not an object.']
    const problems = [...shapeProblems(response, target.isVertex), ...idProblems(response, target)]
    if (final.has(response.id)) problems.push(`One message has two responses to call "${response.id}".`)
    if (response.id !== undefined) final.add(response.id)
    return problems
  })
}

function shapeProblems(response: JsonObject, isVertex: boolean): string[] {
  const of = `of the response of "${response.name}"`
  const problems = Object.keys(response)
    .filter((field) => !FIELDS.has(field))
    .map((field) => `Unknown field "${field}" ${of}.`)
  if (typeof response.name !== 'string' || response.name === '') problems.push('A tool response has no name.')
  if (!isRecord(response.response)) problems.push(`The field "response" ${of} is not an object.`)
  for (const field of ['scheduling', 'willContinue'])
    if (isVertex && field in response) problems.push(`Vertex AI refuses the field "${field}" ${of}.`)
  if (response.scheduling !== undefined && !SCHEDULING.has(String(response.scheduling)))
    problems.push(`The field "scheduling" ${of} is "${response.scheduling}".`)
  if (response.willContinue !== undefined && typeof response.willContinue !== 'boolean')
    problems.push(`The field "willContinue" ${of} is not a boolean.`)
  return problems
}

function idProblems({ id, name, willContinue }: JsonObject, { isVertex, conversation }: ResponseTarget): string[] {
  if (id === undefined) return isVertex ? [] : [`The response of "${name}" has no id.`]
  const record = conversation.calls.get(String(id))
  if (!record) return [`The response of "${name}" has the id "${id}", which no call has.`]
  const problems = record.call.name === name ? [] : [`The response to call "${id}" has the name "${name}".`]
  if (record.responses.some((earlier) => earlier.willContinue !== true))
    problems.push(`Call "${id}" got another response after its last one.`)
  else if (record.isBlocking && record.responses.length > 0)
    problems.push(`Call "${id}" is BLOCKING and got a second response, which the model ignores.`)
  if (record.isBlocking && willContinue === true)
    problems.push(`Call "${id}" is BLOCKING, so that its response must not have "willContinue".`)
  return problems
}
