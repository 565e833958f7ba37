// The client events of the Realtime API, with the members that the API accepts.
import { isRecord } from '../../../../core/base/json.ts'
import {
  anyOf,
  anything,
  base64,
  type Check,
  flag,
  jsonObject,
  listOf,
  matching,
  number,
  oneOf,
  record,
  shape,
  shortText,
  text,
} from './shape.ts'

const id = shortText(32)
const nothing = oneOf(null)
const noStatus = { id, object: oneOf('realtime.item'), status: oneOf('completed', 'incomplete', 'in_progress') }

const audioFormat = anyOf(
  shape({ type: oneOf('audio/pcm') }, { rate: oneOf(24_000) }),
  shape({ type: oneOf('audio/pcmu', 'audio/pcma') }),
)
const replies = { create_response: flag, interrupt_response: flag }
const turnDetection = anyOf(
  shape(
    { type: oneOf('server_vad') },
    {
      ...replies,
      threshold: number,
      prefix_padding_ms: number,
      silence_duration_ms: number,
      idle_timeout_ms: anyOf(number, nothing),
    },
  ),
  shape({ type: oneOf('semantic_vad') }, { ...replies, eagerness: oneOf('low', 'medium', 'high', 'auto') }),
  nothing,
)
const transcription = anyOf(
  shape(
    {},
    { model: text, language: text, languages: listOf(text), prompt: text, keywords: listOf(text), delay: text },
  ),
  nothing,
)
const voice = anyOf(text, shape({ id: text }))
const audio = shape(
  {},
  {
    input: shape(
      {},
      {
        format: audioFormat,
        transcription,
        noise_reduction: anyOf(shape({}, { type: oneOf('near_field', 'far_field'), strength: number }), nothing),
        turn_detection: turnDetection,
      },
    ),
    output: shape({}, { format: audioFormat, voice, speed: number }),
  },
)

const functionTool = shape(
  { type: oneOf('function'), name: matching(/^[\w-]{1,64}$/) },
  { description: text, parameters: record },
)
const mcpTool: Check = (value, path) =>
  isRecord(value) && value.type === 'mcp' ? [] : [`${path}.type must be "function" or "mcp"`]
/** The model answers with text or with audio, never with both. */
const modalities: Check = (value, path) =>
  Array.isArray(value) && value.length === 1
    ? oneOf('text', 'audio')(value[0], `${path}[0]`)
    : [`${path} must be ["text"] or ["audio"]`]
const generation = {
  instructions: text,
  max_output_tokens: anyOf(number, oneOf('inf')),
  output_modalities: modalities,
  parallel_tool_calls: flag,
  prompt: anyOf(record, nothing),
  reasoning: shape({}, { effort: text }),
  tool_choice: anyOf(text, record),
  tools: listOf(anyOf(functionTool, mcpTool)),
}
const session = shape(
  { type: oneOf('realtime') },
  {
    ...generation,
    audio,
    model: text,
    include: listOf(text),
    tracing: anything,
    truncation: anyOf(oneOf('auto', 'disabled'), record),
  },
)

const message = (role: string, content: Check): Check =>
  shape({ type: oneOf('message'), role: oneOf(role), content: listOf(content) }, noStatus)
const inputText = shape({ type: oneOf('input_text'), text })
const inputImage = shape(
  { type: oneOf('input_image'), image_url: matching(/^data:image\/(png|jpeg);base64,[\w+/=]+$/) },
  { detail: oneOf('auto', 'low', 'high') },
)
const inputAudio = shape({ type: oneOf('input_audio'), audio: base64 }, { transcript: text })
const item = anyOf(
  message('user', anyOf(inputText, inputImage, inputAudio)),
  message('assistant', shape({ type: oneOf('output_text'), text })),
  message('system', inputText),
  shape(
    { type: oneOf('function_call'), name: matching(/^[\w-]{1,64}$/), arguments: jsonObject },
    { ...noStatus, call_id: id },
  ),
  shape({ type: oneOf('function_call_output'), call_id: id, output: text }, noStatus),
)

const event = (
  required: { readonly [member: string]: Check } = {},
  optional: { readonly [member: string]: Check } = {},
): Check => shape({ type: text, ...required }, { event_id: text, ...optional })

const EVENTS: ReadonlyMap<string, Check> = new Map([
  ['session.update', event({ session })],
  ['input_audio_buffer.append', event({ audio: base64 })],
  ['input_audio_buffer.commit', event()],
  ['input_audio_buffer.clear', event()],
  ['conversation.item.create', event({ item }, { previous_item_id: text })],
  ['conversation.item.delete', event({ item_id: text })],
  ['conversation.item.retrieve', event({ item_id: text })],
  ['conversation.item.truncate', event({ item_id: text, content_index: number, audio_end_ms: number })],
  [
    'response.create',
    event(
      {},
      { response: shape({}, { ...generation, audio, conversation: text, input: listOf(item), metadata: anything }) },
    ),
  ],
  ['response.cancel', event({}, { response_id: text })],
])

/** What the API would refuse of a client event. */
export function clientEventProblems(value: unknown): string[] {
  if (!isRecord(value) || typeof value.type !== 'string') return ['An event must be an object with a type']
  const check = EVENTS.get(value.type)
  return check ? check(value, value.type) : [`Event "${value.type}" is unknown`]
}
