// For tests only: one turn of a model in the format of Amazon Bedrock's Converse API.
import { crc32 } from 'node:zlib'
import type { JsonObject } from '../../src/core/base/json.ts'
import { argsText, bodyOrEvents, type ModelTurn, splitText } from './model-turn.ts'
import type { Reply } from './provider-server.ts'

/** `/model/<id>/converse` and `/model/<id>/converse-stream` of Amazon Bedrock. */
export function bedrock({ text, calls = [], finish }: ModelTurn): Reply {
  const stopReason = finish ?? (calls.length ? 'tool_use' : 'end_turn')
  const usage = { inputTokens: 12, outputTokens: 8, totalTokens: 20 }
  const uses = calls.map((call) => ({
    toolUseId: call.id,
    name: call.name,
    raw: argsText(call),
    input: call.args ?? {},
  }))
  const content = [...(text === undefined ? [] : [{ text }]), ...uses.map(({ raw: _, ...toolUse }) => ({ toolUse }))]
  const blocks = [
    ...(text === undefined
      ? []
      : [{ start: undefined, deltas: splitText(text).map((one): object => ({ text: one })) }]),
    ...uses.map(({ toolUseId, name, raw }) => ({
      start: { toolUse: { toolUseId, name } },
      deltas: splitText(raw).map((input): object => ({ toolUse: { input } })),
    })),
  ]
  const events = (): object[] => [
    { messageStart: { role: 'assistant' } },
    ...blocks.flatMap(({ start, deltas }, contentBlockIndex) => [
      ...(start ? [{ contentBlockStart: { contentBlockIndex, start } }] : []),
      ...deltas.map((delta) => ({ contentBlockDelta: { contentBlockIndex, delta } })),
      { contentBlockStop: { contentBlockIndex } },
    ]),
    { messageStop: { stopReason } },
    { metadata: { usage, metrics: { latencyMs: 1 } } },
  ]
  return bodyOrEvents(
    () => ({ output: { message: { role: 'assistant', content } }, stopReason, usage, metrics: { latencyMs: 1 } }),
    events,
    { frame: awsFrame, headers: { 'content-type': 'application/vnd.amazon.eventstream' } },
  )
}

/** The event stream encoding of AWS: lengths, headers, payload and checksums. An event is `{ name: payload }`. */
function awsFrame(event: object): Uint8Array {
  const [[name, payload] = ['', {}]] = Object.entries(event as JsonObject)
  const kind = name.endsWith('Exception') ? 'exception' : 'event'
  const headers = Buffer.concat([
    header(`:${kind}-type`, name),
    header(':content-type', 'application/json'),
    header(':message-type', kind),
  ])
  const body = Buffer.from(JSON.stringify(payload))
  const frame = Buffer.alloc(12 + headers.length + body.length + 4)
  frame.writeUInt32BE(frame.length, 0)
  frame.writeUInt32BE(headers.length, 4)
  frame.writeUInt32BE(crc32(frame.subarray(0, 8)), 8)
  headers.copy(frame, 12)
  body.copy(frame, 12 + headers.length)
  frame.writeUInt32BE(crc32(frame.subarray(0, -4)), frame.length - 4)
  return frame
}

const STRING = 7

function header(name: string, value: string): Buffer {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(Buffer.byteLength(value))
  return Buffer.concat([
    Buffer.from([name.length]),
    Buffer.from(name),
    Buffer.from([STRING]),
    length,
    Buffer.from(value),
  ])
}
