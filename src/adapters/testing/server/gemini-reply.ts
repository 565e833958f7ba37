// Sends a scripted reply: as one JSON body or as server-sent events, with the scripted fault.
import type { ServerResponse } from 'node:http'
import type { JsonObject } from '../../../core/base/json.ts'
import { unreachable } from '../../../core/base/unreachable.ts'
import type { GeminiFault, GeminiReply, GeminiRequest } from '../gemini-script.ts'
import { joinChunks, toChunks } from './gemini-chunks.ts'
import { errorBody, sendRejection } from './gemini-rejections.ts'

/** Sends a scripted reply. */
export async function writeReply(outgoing: ServerResponse, request: GeminiRequest, reply: GeminiReply): Promise<void> {
  const { fault } = reply
  if (fault?.type === 'status') return sendRejection(outgoing, fault)
  const chunks = toChunks(reply, request.model)
  if (request.isStream) await writeStream(outgoing, request, reply, chunks)
  else await writeWhole(outgoing, request, reply, chunks)
}

async function writeStream(
  outgoing: ServerResponse,
  { signal }: GeminiRequest,
  { fault, dripBytes }: GeminiReply,
  chunks: readonly JsonObject[],
): Promise<void> {
  outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
  outgoing.flushHeaders()
  const events = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`)
  const breaking = fault && isBreaking(fault) ? fault : undefined
  const sent = fault?.type === 'empty' ? [] : breaking ? events.slice(0, breaking.after ?? 0) : events
  for (const event of sent) await write(outgoing, event, dripBytes, signal)
  if (breaking) await writeFault(outgoing, breaking, events[sent.length] ?? '', signal)
  if (!signal.aborted && fault?.type !== 'hang') outgoing.end()
}

type BreakingFault = Extract<GeminiFault, { after?: number }>

const isBreaking = (fault: GeminiFault): fault is BreakingFault => BREAKING.has(fault.type)

const BREAKING = new Set<GeminiFault['type']>(['error-event', 'malformed', 'cut', 'endless', 'hang'])

async function writeFault(
  outgoing: ServerResponse,
  fault: BreakingFault,
  next: string,
  signal: AbortSignal,
): Promise<void> {
  switch (fault.type) {
    case 'error-event':
      return write(outgoing, `data: ${JSON.stringify(errorBody(fault))}\r\n\r\n`, undefined, signal)
    case 'malformed':
      return write(outgoing, 'data: {"candidates": [{"content"\r\n\r\n', undefined, signal)
    case 'cut':
      await write(outgoing, next.slice(0, next.length / 2), undefined, signal)
      outgoing.destroy()
      return
    case 'endless':
      return writeEndless(outgoing, 'data: {"candidates": [{"content": {"parts": [{"text": "', signal)
    case 'hang':
      return
    default:
      return unreachable(fault)
  }
}

async function writeWhole(
  outgoing: ServerResponse,
  { signal }: GeminiRequest,
  { fault, dripBytes }: GeminiReply,
  chunks: readonly JsonObject[],
): Promise<void> {
  if (fault?.type === 'hang') return
  if (fault?.type === 'error-event') return sendRejection(outgoing, fault)
  if (fault?.type === 'endless') {
    outgoing.writeHead(200, { 'content-type': 'application/json; charset=UTF-8' })
    return writeEndless(outgoing, '{"candidates": [{"content": {"parts": [{"text": "', signal)
  }
  const body = fault?.type === 'empty' ? '{}' : JSON.stringify(joinChunks(chunks))
  outgoing.writeHead(200, { 'content-type': 'application/json; charset=UTF-8' })
  const isBroken = fault?.type === 'cut' || fault?.type === 'malformed'
  await write(outgoing, isBroken ? body.slice(0, body.length / 2) : body, dripBytes, signal)
  if (fault?.type === 'cut') outgoing.destroy()
  else outgoing.end()
}

async function writeEndless(outgoing: ServerResponse, start: string, signal: AbortSignal): Promise<void> {
  await write(outgoing, start, undefined, signal)
  const more = 'and so on '.repeat(10_000)
  while (!signal.aborted) await write(outgoing, more, undefined, signal)
}

/** Sends a text in pieces. Yields between pieces, so that the client reads each piece before the next is sent. */
async function write(
  outgoing: ServerResponse,
  text: string,
  dripBytes: number | undefined,
  signal: AbortSignal,
): Promise<void> {
  const bytes = Buffer.from(text)
  const size = dripBytes ?? bytes.length
  for (let at = 0; at < bytes.length && !signal.aborted; at += size) {
    await new Promise<void>((resolve) => outgoing.write(bytes.subarray(at, at + size), () => setImmediate(resolve)))
  }
}
