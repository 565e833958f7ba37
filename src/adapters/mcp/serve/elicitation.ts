// Pending requests as MCP elicitations, and the answers of a client as answers to pending requests.
import { showInvisible } from '../../../core/base/escape.ts'
import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { isShownWhole } from '../../../core/base/shown-json.ts'
import type { Part } from '../../../core/content/content.ts'
import type { PendingRequest } from '../../../core/event/pending-request.ts'
import { approve, deny, respond } from '../../../engine/runner/approvals/answer-parts.ts'
import { confirmationText, inputText } from './request-text.ts'

/** An `elicitation/create` request. */
export interface Elicitation {
  /** The method. */
  readonly method: 'elicitation/create'
  /** The form or the page that the client shows. */
  readonly params: JsonObject
}

/** The kinds of elicitation that a client supports. */
export interface ElicitationModes {
  /** Forms. */
  readonly form: boolean
  /** Pages in a browser. */
  readonly url: boolean
}

/** Reads the modes from the capabilities of a client. A client that names no mode supports forms. */
export function elicitationModes(capabilities: unknown): ElicitationModes {
  const elicitation = isRecord(capabilities) ? capabilities.elicitation : undefined
  if (!isRecord(elicitation)) return { form: false, url: false }
  const url = isRecord(elicitation.url)
  return { form: isRecord(elicitation.form) || !url, url }
}

/**
 * The elicitation for a request. Undefined if the client cannot show it, or if it has more arguments than a window can show.
 */
export function elicitationFor(request: PendingRequest, modes: ElicitationModes): Elicitation | undefined {
  const { kind, hint = '', authUri, tool } = request
  if (kind === 'credential' && authUri !== undefined && modes.url) {
    return {
      method: 'elicitation/create',
      params: { mode: 'url', message: `Sign in for ${showInvisible(tool)}.`, url: authUri },
    }
  }
  if (!modes.form) return undefined
  if (kind === 'confirmation') return isShownWhole(request.args) ? form(confirmationText(request), APPROVAL) : undefined
  const schema = kind === 'input' ? formSchema(request.schema) : undefined
  return schema && form(inputText(hint), schema)
}

/**
 * The answer that a client's response gives to a request. Undefined if the response is missing or malformed, or if the
 * request is answered elsewhere: the request stays open.
 */
export function answerFrom(request: PendingRequest, response: unknown): Part | undefined {
  if (!isRecord(response)) return undefined
  const { action, content } = response
  if (action === 'decline') return deny(request, { reason: 'The user declined.' })
  if (action === 'cancel') return deny(request, { reason: 'The user dismissed the question.' })
  if (action !== 'accept' || request.kind === 'credential') return undefined
  if (request.kind === 'confirmation') {
    const isApproved = isRecord(content) && Object.hasOwn(content, APPROVE) && content[APPROVE] === true
    return isApproved ? approve(request) : deny(request, { reason: 'The user did not approve.' })
  }
  if (!isRecord(content)) return undefined
  return respond(request, isObjectSchema(request.schema) ? content : content[ANSWER])
}

const APPROVE = 'approve'
const ANSWER = 'answer'

const APPROVAL: JsonObject = {
  type: 'object',
  properties: { [APPROVE]: { type: 'boolean', title: 'Approve', description: 'Run the tool with these arguments?' } },
  required: [APPROVE],
}

function form(message: string, requestedSchema: JsonObject): Elicitation {
  return { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema } }
}

/** The form for an answer: its own fields, or one field. Undefined for an answer that a form cannot hold. */
function formSchema(schema: PendingRequest['schema']): JsonObject | undefined {
  if (!schema) return { type: 'object', properties: { [ANSWER]: { type: 'string' } }, required: [ANSWER] }
  if (!isObjectSchema(schema)) {
    return isField(schema) ? { type: 'object', properties: { [ANSWER]: schema }, required: [ANSWER] } : undefined
  }
  const { properties = {}, required = [] } = schema
  const isFlat = isRecord(properties) && Object.values(properties).every(isField)
  return isFlat ? { type: 'object', properties, required } : undefined
}

function isObjectSchema(schema: PendingRequest['schema']): boolean {
  return schema?.type === 'object'
}

const FIELD_TYPES: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean'])

/** Is it a field that a form can show: a text, a number, a boolean or a choice? */
function isField(schema: unknown): boolean {
  if (!isRecord(schema)) return false
  if (FIELD_TYPES.has(schema.type)) return true
  return (
    schema.type === 'array' &&
    isRecord(schema.items) &&
    (Array.isArray(schema.items.enum) || Array.isArray(schema.items.anyOf))
  )
}
