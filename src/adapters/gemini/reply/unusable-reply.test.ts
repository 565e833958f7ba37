// Replies that cannot be used: empty replies, invalid function calls, too many bytes.
import { describe, expect, test } from 'vitest'
import { MAX_REPLY_BYTES } from '../../../core/base/limits.ts'
import type { Part } from '../../../core/content/content.ts'
import type { GeminiReply, GeminiServer } from '../../testing/gemini-script.ts'
import { geminiServer } from '../../testing/gemini-server.ts'
import { type AskResult, ask, askServer, model, streamedText, tool, user } from '../gemini.test-kit.ts'
import { GeminiError } from '../gemini-error.ts'

const messageOf = ({ error }: AskResult): string => (error as Error).message
const thought: Part = { text: 'Hm.', thought: true }
const afterTool = [
  user('Weather?'),
  model({ functionCall: { name: 'look', args: {} } }),
  tool({ functionResponse: { name: 'look', response: { snow: true } } }),
]

const ended = (candidate: object): GeminiReply => ({
  chunks: [{ candidates: [{ index: 0, finishReason: 'STOP', ...candidate }] }],
})

describe('an empty reply of Gemini', () => {
  const emptyReplies: [string, GeminiReply][] = [
    ['without content', ended({})],
    ['with null instead of parts', ended({ content: { role: 'model', parts: null } })],
    ['with empty texts', ended({ content: { parts: [{ text: '' }, { text: '', thought: true }] } })],
    ['with only a signature', ended({ content: { parts: [{ thoughtSignature: 'c2ln' }] } })],
    ['with an unspecified finish reason', ended({ finishReason: 'FINISH_REASON_UNSPECIFIED' })],
  ]

  test.each(emptyReplies)('%s is retried once', async (_, empty) => {
    for (const stream of [false, true]) {
      for (const contents of [[user('Hi')], afterTool]) {
        const second = await ask([empty, 'Hello.'], { stream, contents })
        expect([second.whole?.content, second.requests.length]).toEqual([model('Hello.'), 2])
        const never = await ask([empty, empty, 'never'], { stream, contents })
        expect([never.whole, never.requests.length]).toEqual([undefined, 2])
        expect(never.error).toBeInstanceOf(GeminiError)
        expect(never.error).toMatchObject({ isRetryable: true, status: undefined })
        expect(messageOf(never)).toMatch(
          /^"gemini-2\.5-flash" sent an empty reply after 2 attempts: it has no text and no call/,
        )
        expect(messageOf(never)).toContain('onModelError')
      }
    }
  })

  test('with only thoughts is retried unless the thoughts were streamed', async () => {
    for (const contents of [[user('Hi')], afterTool]) {
      const silent: GeminiReply = { parts: [thought] }
      const whole = await ask([silent, 'Hello.'], { contents })
      expect([whole.whole?.content, whole.requests.length]).toEqual([model('Hello.'), 2])
      const streamed = await ask([silent, 'never'], { contents, stream: true })
      expect([streamedText(streamed), streamed.requests.length, streamed.whole]).toEqual(['Hm.', 1, undefined])
      expect(messageOf(streamed)).toContain('only thoughts, no text and no call (STOP)')
      expect(streamed.error).toMatchObject({ isRetryable: true })
    }
  })

  test('is not retried when retry.attempts is 1', async () => {
    const asked = await ask([ended({}), 'never'], { options: { retry: { attempts: 1 } } })
    expect([asked.requests.length, messageOf(asked).includes('attempts')]).toEqual([1, false])
  })

  test('is retried only once, even between other failures', async () => {
    const unavailable: GeminiReply = { fault: { type: 'status', status: 503 } }
    const options = { retry: { attempts: 9 } }
    const asked = await ask([unavailable, ended({}), unavailable, ended({}), 'never'], { options })
    expect([asked.requests.length, messageOf(asked).includes('after 4 attempts')]).toEqual([4, true])
  })

  test.each<[string, Part]>([
    ['a call', { functionCall: { name: 'look', args: {} } }],
    ['media', { inlineData: { mimeType: 'image/png', data: 'cG5n' } }],
    ['code that ran', { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } }],
    ['a line break', { text: '\n' }],
  ])('is not assumed for a reply with %s', async (_, part) => {
    const { whole, requests } = await ask([{ parts: [thought, part] }], { contents: afterTool })
    expect([whole?.content, requests.length]).toEqual([model(thought, part), 1])
  })
})

describe('an invalid function call or reply of Gemini', () => {
  const reasons = [
    ['MALFORMED_FUNCTION_CALL', 'simplify the parameters', 'an invalid function call'],
    ['UNEXPECTED_TOOL_CALL', 'does not declare', 'an invalid function call'],
    ['MALFORMED_RESPONSE', 'ask for a simpler one', 'an invalid reply'],
  ] as const

  test.each(reasons)('(%s) is retried once and then reported', async (finishReason, advice, what) => {
    for (const stream of [false, true]) {
      const bad: GeminiReply = { finishReason }
      const second = await ask([bad, 'Hello.'], { stream })
      expect([second.whole?.content, second.requests.length]).toEqual([model('Hello.'), 2])
      const never = await ask([bad, bad, 'never'], { stream })
      expect([never.whole, never.requests.length]).toEqual([undefined, 2])
      expect(never.error).toMatchObject({ reason: finishReason, isRetryable: true })
      expect(messageOf(never)).toContain(`wrote ${what} after 2 attempts (${finishReason}): The `)
      expect(messageOf(never)).toContain(advice)
    }
  })

  test('is reported with the message of Vertex AI', async () => {
    const candidate = { finishMessage: 'Malformed call: print(look(' }
    const asked = await ask([{ finishReason: 'MALFORMED_FUNCTION_CALL', candidate }], {
      options: { vertexai: true, project: 'p', retry: { attempts: 1 } },
    })
    expect(messageOf(asked)).toContain(
      '(MALFORMED_FUNCTION_CALL): Malformed call: print(look( The call could not be parsed.',
    )
  })

  test.each(reasons)('(%s) is not retried after streamed text', async (finishReason) => {
    const bad: GeminiReply = { text: 'Let me look.', finishReason }
    const streamed = await ask([bad, 'never'], { stream: true })
    expect([streamedText(streamed), streamed.requests.length, streamed.whole]).toEqual(['Let me look.', 1, undefined])
    expect(streamed.error).toMatchObject({ reason: finishReason })
  })

  test('cut off by MAX_TOKENS is an error that names maxOutputTokens and contains the text', async () => {
    const calls = [{ name: 'pay', args: { amount: 1 } }]
    for (const stream of [false, true]) {
      const { whole, requests } = await ask([{ text: 'Paying.', calls, finishReason: 'MAX_TOKENS' }], { stream })
      expect(requests).toHaveLength(1)
      expect(whole).toMatchObject({
        content: { parts: [{ text: 'Paying.' }, { functionCall: { name: 'pay' } }] },
        finishReason: 'MAX_TOKENS',
        errorCode: 'MAX_TOKENS',
        errorMessage: expect.stringMatching(/\(MAX_TOKENS\)\. None of them was run\. Raise maxOutputTokens/),
      })
    }
  })
})

describe('the size of a Gemini reply', () => {
  const connectionClosed = async (server: GeminiServer): Promise<void> => {
    const signal = server.requests[0]?.signal
    if (!signal?.aborted) await new Promise((resolve) => signal?.addEventListener('abort', resolve))
  }

  test.each([
    [false, 0],
    [true, 0],
    [true, 1],
  ])('is limited, and the connection is closed (stream: %s, after %i chunks)', async (stream, after) => {
    await using server = await geminiServer([{ chunks: ['Hel', 'lo'], fault: { type: 'endless', after } }])
    const asked = await askServer(server, { stream })
    expect(asked.whole).toBeUndefined()
    expect([asked.requests.length, streamedText(asked)]).toEqual([1, after ? 'Hel' : ''])
    expect(asked.error).toMatchObject({ isRetryable: false })
    expect(messageOf(asked)).toMatch(
      new RegExp(`^The reply of "gemini-2\\.5-flash" has more than ${MAX_REPLY_BYTES} by`),
    )
    await connectionClosed(server)
  })

  test('is limited for error responses, which keep their status', async () => {
    const html = `<p>${'and so on '.repeat(200_000)}</p>`
    const asked = await ask([{ fault: { type: 'status', status: 418, html } }])
    expect(asked.error).toMatchObject({ status: 418, message: expect.stringContaining('more than 1048576 bytes') })
  })

  test('may be several megabytes for an image in one chunk', async () => {
    const data = 'cG5n'.repeat(2_000_000)
    for (const stream of [false, true]) {
      const { whole } = await ask([{ chunks: ['Look: ', [{ inlineData: { mimeType: 'image/png', data } }]] }], {
        stream,
      })
      expect(whole?.content?.parts.map(({ inlineData }) => inlineData?.data.length)).toEqual([undefined, data.length])
    }
  })
})

describe('a Gemini server that hangs', () => {
  test.each([
    [false, 0],
    [true, 0],
    [true, 1],
  ])('is disconnected after timeoutMs (stream: %s, after %i chunks)', async (stream, after) => {
    await using server = await geminiServer([{ chunks: ['Hel', 'lo'], fault: { type: 'hang', after } }])
    const ask = (): Promise<AskResult> =>
      askServer(server, { stream, options: { timeoutMs: 250, retry: { attempts: 1 } } })
    let asked = await ask()
    while (server.requests.length === 0) asked = await ask() // on a busy machine, the time may be over before the server has the request
    expect(messageOf(asked)).toContain('did not reply in time')
    expect(asked.error).toMatchObject({ isRetryable: true })
    const { signal } = server.requests[0] as GeminiServer['requests'][number]
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
  })
})
