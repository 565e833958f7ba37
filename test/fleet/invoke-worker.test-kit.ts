// Speaks the protocol of Restate to the port of a worker, as anyone can who reaches the port.
import { once } from 'node:events'
import { connect } from 'node:http2'

/** What a worker has answered. */
export interface WorkerAnswer {
  readonly status: number
  /** The messages of the protocol, as text: failures are readable in it. */
  readonly text: string
}

/** Invokes a handler with an input, and lets the worker believe that Restate has stored nothing yet. */
export async function invokeWorker(
  port: number,
  { service, key, handler }: { readonly service: string; readonly key: string; readonly handler: string },
  input: object,
): Promise<WorkerAnswer> {
  const id = Buffer.from('an invocation of a test!')
  const start = [field(1, id), field(2, Buffer.from('inv_test')), number(3, 1), field(6, Buffer.from(key))]
  const value = field(1, Buffer.from(JSON.stringify(input)))
  const body = Buffer.concat([message(START, Buffer.concat(start)), message(INPUT, field(14, value))])
  const client = connect(`http://127.0.0.1:${port}`)
  try {
    const request = client.request({
      ':method': 'POST',
      ':path': `/invoke/${service}/${handler}`,
      'content-type': 'application/vnd.restate.invocation.v5',
    })
    request.end(body)
    const [headers] = (await once(request, 'response')) as [{ ':status'?: number }]
    const text = Buffer.concat(await request.toArray()).toString('latin1')
    return { status: headers[':status'] ?? 0, text }
  } finally {
    client.destroy()
  }
}

/** The types of the first two messages. */
const [START, INPUT] = [0x0000, 0x0400]

/** A message: its type, flags and length, then Protocol Buffers. */
function message(type: number, content: Buffer): Buffer {
  const header = Buffer.alloc(8)
  header.writeUInt16BE(type, 0)
  header.writeUInt32BE(content.length, 4)
  return Buffer.concat([header, content])
}

/** A field of bytes. */
function field(tag: number, content: Buffer): Buffer {
  return Buffer.concat([varint((tag << 3) | 2), varint(content.length), content])
}

function number(tag: number, value: number): Buffer {
  return Buffer.concat([varint(tag << 3), varint(value)])
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  for (let left = value; ; left >>>= 7) {
    if (left < 0x80) return Buffer.from([...bytes, left])
    bytes.push((left & 0x7f) | 0x80)
  }
}
