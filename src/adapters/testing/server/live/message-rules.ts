// The rules of the Gemini Live API for client messages. Each broken rule is one sentence.
import { isRecord, type JsonObject } from '../../../../core/base/json.ts'
import { recordsOf } from './conversation.ts'
import { type ResponseTarget, responseProblems } from './response-rules.ts'

const SETUP =
  'model generationConfig systemInstruction tools toolConfig sessionResumption inputAudioTranscription outputAudioTranscription realtimeInputConfig contextWindowCompression proactivity explicitVadSignal avatarConfig safetySettings historyConfig labels'

/** The messages of a client, and the fields of each. */
const FIELDS = new Map<string, ReadonlySet<string>>([
  ['setup', fields(SETUP)],
  ['realtimeInput', fields('audio video text activityStart activityEnd audioStreamEnd mediaChunks')],
  ['clientContent', fields('turns turnComplete')],
  ['toolResponse', fields('functionResponses')],
  ['contextUpdate', fields('systemInstruction tools')],
])

function fields(names: string): ReadonlySet<string> {
  return new Set(names.split(' '))
}

/** What a strict server refuses in a message. `isFirst`: the message is the first one of its connection. */
export function messageProblems(message: JsonObject, target: ResponseTarget & { isFirst: boolean }): string[] {
  const keys = Object.keys(message)
  const problems = keys.flatMap((key) => fieldProblems(key, message[key]))
  if (keys.length !== 1)
    problems.push(`A message has ${keys.length} keys (${keys.join(', ')}). Send exactly one key in each message.`)
  if (target.isFirst && !('setup' in message))
    problems.push(`The first message is "${keys[0]}". Send "setup" before everything else.`)
  if (!target.isFirst && 'setup' in message) problems.push('A second "setup" arrived. Send it once.')
  const { setup, realtimeInput, clientContent, toolResponse, contextUpdate } = message
  if (isRecord(setup)) problems.push(...setupProblems(setup, target.isVertex))
  if (isRecord(realtimeInput)) problems.push(...inputProblems(realtimeInput))
  if (isRecord(clientContent)) problems.push(...contentProblems(clientContent))
  if (isRecord(toolResponse)) problems.push(...responseProblems(toolResponse, target))
  if (isRecord(contextUpdate)) problems.push(...updateProblems(contextUpdate, target.isVertex))
  return problems
}

function fieldProblems(key: string, value: unknown): string[] {
  const known = FIELDS.get(key)
  if (!known) return [`Unknown message "${key}".`]
  if (!isRecord(value)) return [`"${key}" is not an object.`]
  return Object.keys(value)
    .filter((field) => !known.has(field))
    .map((field) => `Unknown field "${field}" in "${key}".`)
}

function setupProblems({ model, tools, sessionResumption }: JsonObject, isVertex: boolean): string[] {
  const problems = toolProblems(tools, isVertex)
  if (typeof model !== 'string' || !/(^|\/)models\/./.test(model)) problems.push('"setup.model" is not models/<name>.')
  if (!isVertex && isRecord(sessionResumption) && 'transparent' in sessionResumption)
    problems.push('The Gemini API refuses "sessionResumption.transparent".')
  return problems
}

function toolProblems(tools: unknown, isVertex: boolean): string[] {
  const declarations = recordsOf(tools).flatMap((tool) => recordsOf(tool.functionDeclarations))
  return declarations.flatMap((declaration) => [
    ...(typeof declaration.name === 'string' ? [] : ['A function declaration has no name.']),
    ...(isVertex && 'behavior' in declaration ? [`Vertex AI refuses "behavior" of "${declaration.name}".`] : []),
  ])
}

function inputProblems(input: JsonObject): string[] {
  const given = Object.keys(input)
  const problems = given.length === 1 ? [] : [`"realtimeInput" has ${given.length} fields. Send exactly one.`]
  for (const kind of ['audio', 'video']) {
    const media = input[kind]
    if (media === undefined) continue
    const type = isRecord(media) ? media.mimeType : undefined
    if (typeof type !== 'string' || type === '') problems.push(`"realtimeInput.${kind}" has no mimeType.`)
    if (isRecord(media) && media.bytes === 0) problems.push(`"realtimeInput.${kind}" has no data.`)
  }
  return problems
}

function contentProblems({ turns }: JsonObject): string[] {
  if (turns !== undefined && !Array.isArray(turns)) return ['"clientContent.turns" is not a list.']
  return recordsOf(turns).flatMap(({ role, parts }) => [
    ...(role === 'user' || role === 'model' ? [] : [`A turn has the role "${role}". Send "user" or "model".`]),
    ...(recordsOf(parts).length ? [] : ['A turn has no parts.']),
  ])
}

function updateProblems({ tools }: JsonObject, isVertex: boolean): string[] {
  if (tools === undefined) return []
  if (!isRecord(tools)) return ['"contextUpdate.tools" is not an object with a list of tools.']
  return toolProblems(tools.tools, isVertex)
}
