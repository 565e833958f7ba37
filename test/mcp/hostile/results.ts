// Behaviours of single calls: malformed, oversized and misleading answers.
import { answer, answerText, type Behaviour, evilTool, type Message, type Peer } from './peer.ts'

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

function result(about: string, value: unknown): Behaviour {
  return { about, call: (message, peer) => answer(peer, message, typeof value === 'function' ? value() : value) }
}

function content(about: string, blocks: () => readonly unknown[]): Behaviour {
  return result(about, () => ({ content: blocks() }))
}

function rpcError(code: unknown, message: unknown = 'It went wrong.'): Behaviour {
  return {
    about: `Answers with the JSON-RPC error ${String(code)}.`,
    call: ({ id }, peer) => peer.send({ id, error: { code, message } }),
  }
}

const SUM = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] }
const sumTool = (): object[] => [evilTool({ outputSchema: SUM })]

/** Reports progress of a call. */
function progress({ params }: Message, peer: Peer, value: object): void {
  const progressToken = params?._meta?.progressToken
  peer.send({ method: 'notifications/progress', params: { progressToken, progress: 1, ...value } })
}

export const results: { readonly [name: string]: Behaviour } = {
  'wrong-id': {
    about: 'Answers with an id that no request has.',
    call: (_, peer) => answerText(peer, { id: 987_654 }, 'forged'),
  },
  'answers-twice': {
    about: 'Answers a call twice.',
    call: (message, peer) => {
      answerText(peer, message, 'first')
      answerText(peer, message, 'second')
    },
  },
  'result-and-error': {
    about: 'Answers with a result and an error at once.',
    call: ({ id }, peer) =>
      peer.send({ id, result: { content: [{ type: 'text', text: 'fine' }] }, error: { code: 1, message: 'broken' } }),
  },
  'swapped-ids': {
    about: 'Answers the first of two calls only after the second, and each with its own id.',
    call: (message, peer) => {
      const { waiting } = peer.memory
      if (!waiting) {
        peer.memory.waiting = message
        return
      }
      answerText(peer, message, 'second')
      answerText(peer, waiting, 'first')
    },
  },
  'no-result': result('Answers with the result null.', null),
  'text-result': result('Answers with a text instead of an object.', 'done'),
  'no-content': result('Answers without content.', {}),
  'wrong-content': result('Answers with content that is no list.', { content: 'text' }),
  'unknown-content': content('Answers with an unknown kind of content.', () => [{ type: 'hologram', data: 'x' }]),
  'empty-content': content('Answers with no content blocks.', () => []),
  'invalid-base64': content('Answers with an image that is not base64.', () => [
    { type: 'image', mimeType: 'image/png', data: 'not base64!' },
    { type: 'text', text: 'beside' },
  ]),
  'strange-media-type': content('Answers with an image whose type is a header injection.', () => [
    { type: 'image', mimeType: 'image/png\r\nx-evil: 1', data: PIXEL },
    { type: 'text', text: 'beside' },
  ]),
  'many-blocks': content('Answers with 100,000 content blocks.', () =>
    Array.from({ length: 100_000 }, (_, at) => ({ type: 'text', text: `block ${at}` })),
  ),
  'many-images': content('Answers with 1,000 images.', () =>
    Array.from({ length: 1_000 }, () => ({ type: 'image', mimeType: 'image/png', data: PIXEL })),
  ),
  'large-image': content('Answers with an image of 15 MB of base64.', () => [
    { type: 'image', mimeType: 'image/png', data: 'QUJD'.repeat(3_750_000) },
  ]),
  'huge-text': content('Answers with a text of 31 MB.', () => [{ type: 'text', text: 'x'.repeat(31_000_000) }]),
  'too-large': content('Answers with a text of 40 MB.', () => [{ type: 'text', text: 'x'.repeat(40_000_000) }]),
  'deep-result': {
    about: 'Answers with structured content that is nested 100,000 levels deep.',
    call: ({ id }, peer) => {
      const deep = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`
      peer.sendText(`{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":${deep}}}`)
    },
  },
  'half-characters': content('Answers with half characters and control characters.', () => [
    { type: 'text', text: 'a\ud800b\u0000c\u001b[31m' },
  ]),
  'repeated-data': {
    about: 'Answers with the same data as text and as structured content.',
    tools: sumTool,
    call: (message, peer) =>
      answer(peer, message, { content: [{ type: 'text', text: '{"sum": 3}' }], structuredContent: { sum: 3 } }),
  },
  'wrong-data': {
    about: 'Answers with structured content that does not match the schema of the tool.',
    tools: sumTool,
    call: (message, peer) => answer(peer, message, { content: [], structuredContent: { sum: 'three' } }),
  },
  'missing-data': {
    about: 'Answers without the structured content that the tool promises.',
    tools: sumTool,
    call: (message, peer) => answerText(peer, message, 'three'),
  },
  'polluting-data': {
    about: 'Answers with keys that change prototypes.',
    call: ({ id }, peer) =>
      peer.sendText(
        `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[{"type":"text","text":"x","__proto__":{"a":1}}],"structuredContent":{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}}}`,
      ),
  },
  'error-result': {
    about: 'Answers with isError.',
    call: (message, peer) =>
      answer(peer, message, { isError: true, content: [{ type: 'text', text: 'The disk is full.' }] }),
  },
  'silent-error': result('Answers with isError and without a message.', { isError: true, content: [] }),
  'huge-error': rpcError(-32000, 'y'.repeat(20_000_000)),
  'error-32700': rpcError(-32700),
  'error-32600': rpcError(-32600),
  'error-32601': rpcError(-32601),
  'error-32602': rpcError(-32602),
  'error-32603': rpcError(-32603),
  'error-0': rpcError(0),
  'error-text-code': rpcError('BAD'),
  'error-no-message': rpcError(-32000, null),
  'progress-flood': {
    about: 'Reports progress 10,000 times, with large messages and members of its own, then answers.',
    call: (message, peer) => {
      for (let count = 0; count < 10_000; count++)
        progress(message, peer, { progress: count, message: 'm'.repeat(count === 0 ? 100_000 : 10), tool: 'forged' })
      answerText(peer, message, 'done')
    },
  },
  'unknown-progress': {
    about: 'Reports progress of calls that do not exist, and after the answer.',
    call: (message, peer) => {
      for (const progressToken of [999, 'x', -1, 1.5, null])
        peer.send({ method: 'notifications/progress', params: { progressToken, progress: 1, message: 'forged' } })
      answerText(peer, message, 'done')
      progress(message, peer, { message: 'after the answer' })
    },
  },
  'slow-with-progress': {
    about: 'Takes longer than the timeout of the client, with progress all the time.',
    call: (message, peer) => {
      let count = 0
      const timer = setInterval(() => {
        progress(message, peer, { progress: ++count, total: 6, message: `step ${count}` })
        if (count < 6) return
        clearInterval(timer)
        answerText(peer, message, 'done')
      }, 100)
    },
  },
}
