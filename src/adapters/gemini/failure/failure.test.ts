import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import type { GeminiFault } from '../../testing/gemini-script.ts'
import { geminiServer } from '../../testing/gemini-server.ts'
import { type AskResult, ask, askServer, KEY, model, requestOf, streamedText } from '../gemini.test-kit.ts'
import { gemini } from '../gemini.ts'
import { GeminiError } from '../gemini-error.ts'

const status = (code: number, more: object = {}): { fault: GeminiFault } => ({
  fault: { type: 'status', status: code, ...more },
})
const noRetry = { retry: { attempts: 1 } }
const messageOf = ({ error }: AskResult): string => (error as Error).message

describe('a rejected request to Gemini', () => {
  test.each<[number, RegExp]>([
    [400, /^Gemini rejected the request \(400 INVALID_ARGUMENT: Because\.\)$/],
    [
      401,
      /^Gemini rejected the API key \(401 UNAUTHENTICATED: Because\.\)\. Check GEMINI_API_KEY, GOOGLE_API_KEY or the apiKey option\.$/,
    ],
    [403, /^Gemini rejected the API key \(403 PERMISSION_DENIED: Because\.\)\. Check GEMINI_API_KEY/],
    [
      404,
      /^Gemini has no model "gemini-2.5-flash" for this API key \(404 NOT_FOUND: Because\.\)\. Check the model name\.$/,
    ],
    [429, /^Gemini received too many requests \(429 RESOURCE_EXHAUSTED: Because\.\)$/],
    [503, /^Gemini failed \(503 UNAVAILABLE: Because\.\)$/],
  ])('throws an error that explains status %i', async (code, expected) => {
    for (const stream of [false, true]) {
      const asked = await ask([status(code, { message: 'Because.' })], { options: noRetry, stream })
      expect(asked.error).toBeInstanceOf(GeminiError)
      expect(asked.error).toMatchObject({ status: code, message: expect.stringMatching(expected) })
      expect(asked.whole).toBeUndefined()
    }
  })

  test('names the API key when Google reports an invalid argument', async () => {
    const asked = await ask(['never'], { server: { apiKey: 'another' } })
    expect(messageOf(asked)).toMatch(/^Gemini rejected the API key .*API key not valid.*Check GEMINI_API_KEY/)
    expect(asked.error).toMatchObject({ status: 400, reason: 'INVALID_ARGUMENT' })
  })

  test('names the credentials, project and location of Vertex AI', async () => {
    const options = { vertexai: true, project: 'p', ...noRetry }
    const denied = await ask([status(403)], { options })
    expect(messageOf(denied)).toMatch(/^Vertex AI rejected the credentials .*gcloud auth.*GOOGLE_CLOUD_PROJECT/)
    const unknown = await ask([status(404)], { options })
    expect(messageOf(unknown)).toContain('in this project and location')
  })

  test('names tools that cannot be combined and how to fix it', async () => {
    const look = { functionDeclarations: [{ name: 'look', description: 'Look.' }] }
    const tools = [look, { googleSearch: {} }, { urlContext: {} }]
    const mixed = await ask(['never'], { config: { tools } })
    expect(messageOf(mixed)).toMatch(
      /googleSearch, urlContext cannot be combined with function tools on "gemini-2.5-flash".*Gemini 3.*agentTool\(\)/,
    )
    const alone = await ask([status(400, { message: 'A tool is wrong.' })], { config: { tools: [look] } })
    expect(messageOf(alone)).toBe('Gemini rejected the request (400 INVALID_ARGUMENT: A tool is wrong.)')
  })

  test('advises a new session after an invalid thought signature', async () => {
    const asked = await ask([status(400, { message: 'Corrupted thought signature.' })])
    expect(messageOf(asked)).toContain('Start a new session')
  })

  test('shows the text of a proxy HTML page, and the status of an empty response', async () => {
    const html = '<html><style>p {}</style><h1>Bad  Gateway</h1></html>'
    expect(messageOf(await ask([status(502, { html })], { options: noRetry }))).toBe(
      'Gemini failed (502 Bad Gateway: Bad Gateway)',
    )
    const broken: typeof fetch = async () =>
      new Response('', { status: 500, headers: { 'content-type': 'application/json' } })
    const asked = await ask([], { options: { ...noRetry, fetch: broken } })
    expect(asked.error).toMatchObject({ status: 500, message: expect.stringMatching(/^Gemini failed \(500/) })
  })

  test('contains no secrets in its message, stack and causes', async () => {
    const headers = { Authorization: 'Bearer of-a-gateway', 'x-team': 'search' }
    const message = `The key ${KEY} and AIzaSyAnotherAnotherAnotherAnother00 and ya29.token of Bearer of-a-gateway at /?key=in-the-address&x=1, plain-secret`
    const { error } = await ask([status(400, { message })], { options: { headers, apiKey: 'plain-secret' } })
    const texts = JSON.stringify(chain(error))
    for (const secret of [KEY, 'Another', 'ya29.token', 'of-a-gateway', 'in-the-address', 'plain-secret'])
      expect(texts).not.toContain(secret)
    expect((error as Error).message).toContain('The key [hidden] and [hidden] and [hidden] of')
    expect((error as Error).message).toContain('&x=1')
  })

  const chain = (error: unknown): unknown[] =>
    error instanceof Error
      ? [error.name, error.message, error.stack, ...Object.values(error), ...chain(error.cause)]
      : []
})

describe('gemini()', () => {
  test.each([408, 429, 500, 502, 503, 504])('retries status %i twice with increasing delays', async (code) => {
    const { whole, pauses, requests } = await ask([status(code), status(code), 'Hello.'])
    expect(whole?.content).toEqual(model('Hello.'))
    expect([requests.length, pauses]).toEqual([3, [250, 500]]) // half of 500 and 1000: random() is 0.5
  })

  test('404 for a name that only v1beta has names apiVersion', async () => {
    const unknown = await ask([status(404)], { name: 'gemini-flash-latest' })
    expect(messageOf(unknown)).toContain("gemini(name, { apiVersion: 'v1beta' })")
  })

  test.each([400, 401, 403, 404, 409, 501])('does not retry status %i', async (code) => {
    const { requests, pauses } = await ask([status(code), 'never'])
    expect([requests.length, pauses]).toEqual([1, []])
  })

  test('stops after 3 attempts and reports their number', async () => {
    const asked = await ask([status(429), status(429), status(429, { message: 'Quota.' })])
    expect(asked.requests).toHaveLength(3)
    expect(messageOf(asked)).toBe('Gemini received too many requests after 3 attempts (429 RESOURCE_EXHAUSTED: Quota.)')
  })

  test('respects retry.attempts, delayMs and maxDelayMs', async () => {
    const options = { retry: { attempts: 6, delayMs: 1_000, maxDelayMs: 4_000 } }
    const { pauses } = await ask([status(500), status(500), status(500), status(500), status(500), 'Hello.'], {
      options,
    })
    expect(pauses).toEqual([500, 1_000, 2_000, 2_000, 2_000])
  })

  test.each<[string, object, number]>([
    ['Retry-After in seconds', { retryAfter: 7 }, 7_000],
    ['Retry-After as a date', { retryAfter: 'Thu, 01 Jan 2026 00:00:05 GMT' }, 5_000],
    ['Retry-After in the past', { retryAfter: 'Wed, 31 Dec 2025 00:00:00 GMT' }, 0],
    ['RetryInfo in the error details', { retryDelay: '1.5s' }, 1_500],
    ['the longer of Retry-After and RetryInfo', { retryAfter: 2, retryDelay: '12s' }, 12_000],
    ['its own delay for invalid values', { retryAfter: 'soon', retryDelay: '5 minutes' }, 250],
    ['up to a minute', { retryAfter: 60 }, 60_000],
  ])('waits as long as the server asks: %s', async (_, more, pause) => {
    const { whole, pauses } = await ask([status(429, more), 'Hello.'], { stream: true })
    expect(whole?.content).toEqual(model('Hello.'))
    expect(pauses).toEqual([pause])
  })

  test('does not retry when the server asks to wait for more than a minute', async () => {
    const asked = await ask([status(429, { retryAfter: 90 }), 'never'])
    expect([asked.requests.length, asked.pauses]).toEqual([1, []])
    expect(messageOf(asked)).toContain('Retry after 90 s.')
  })

  test('retries after a lost connection and after a stream without output', async () => {
    for (const stream of [false, true]) {
      const { whole, requests } = await ask([{ fault: { type: 'cut' } }, 'Hello.'], { stream })
      expect([whole?.content, requests.length]).toEqual([model('Hello.'), 2])
    }
    for (const fault of [{ type: 'empty' }, { type: 'error-event', status: 503 }] as const) {
      const { whole, requests } = await ask([{ fault }, 'Hello.'], { stream: true })
      expect([whole?.content, requests.length]).toEqual([model('Hello.'), 2])
    }
  })

  test('does not retry after the first delta', async () => {
    for (const fault of [
      { type: 'cut', after: 1 },
      { type: 'error-event', status: 503, after: 1 },
      { type: 'unfinished' },
    ] as const) {
      const asked = await ask([{ chunks: ['Hel', 'lo'], fault }, 'never'], { stream: true })
      expect(streamedText(asked)).toMatch(/^Hel/)
      expect([asked.requests.length, asked.whole, asked.pauses]).toEqual([1, undefined, []])
      expect(asked.error).toBeInstanceOf(GeminiError)
    }
  })

  test('does not retry when the run is aborted during the delay', async () => {
    await using server = await geminiServer([status(503), 'never'])
    const stop = new AbortController()
    const waits: (() => void)[] = []
    const ports = {
      setTimer: () => {
        queueMicrotask(() => stop.abort(new Error('Enough.')))
        return () => void waits.push(() => {})
      },
    }
    const asked = await askServer(server, { options: { ports }, signal: stop.signal })
    expect(asked.error).toEqual(new Error('Enough.'))
    expect([server.requests.length, waits.length]).toEqual([1, 1]) // the timer was cancelled
  })
})

describe('a failed reply of Gemini', () => {
  test.each<[string, GeminiFault, RegExp]>([
    ['reports a lost connection', { type: 'cut', after: 1 }, /^The reply of "gemini-2.5-flash" was cut off: the conn/],
    [
      'reports a stream without a finish reason',
      { type: 'unfinished' },
      /^The reply of "gemini-2.5-flash" was cut off: the stream/,
    ],
    [
      'reports a malformed chunk',
      { type: 'malformed', after: 1 },
      /^"gemini-2.5-flash" sent a reply that could not be parsed/,
    ],
    [
      'reports an error event in the stream',
      { type: 'error-event', status: 500, after: 1, message: 'Oops.' },
      /^Gemini failed \(500 INTERNAL: Oops\.\)$/,
    ],
  ])('%s', async (_, fault, expected) => {
    const asked = await ask([{ chunks: ['Hel', 'lo'], fault }], { stream: true })
    expect(asked.whole).toBeUndefined()
    expect(messageOf(asked)).toMatch(expected)
  })

  test('reports an empty and a malformed stream', async () => {
    const empty = await ask([{ fault: { type: 'empty' } }], { stream: true, options: noRetry })
    expect(messageOf(empty)).toMatch(/was cut off: the stream ended without a finish reason/)
    const malformed = await ask([{ fault: { type: 'malformed' } }, 'never'], { stream: true })
    expect([messageOf(malformed).includes('could not be parsed'), malformed.requests.length]).toEqual([true, 1])
  })

  test('reports an empty and a malformed reply that is not streamed', async () => {
    const nothing = await ask([{ fault: { type: 'empty' } }])
    expect(messageOf(nothing)).toContain('the reply has no candidate')
    expect(messageOf(await ask([{ fault: { type: 'malformed' } }]))).toContain('could not be parsed')
    const odd: typeof fetch = async () => Response.json(null)
    expect(messageOf(await ask([], { options: { fetch: odd } }))).toContain('could not be parsed')
  })

  test('reports an unreachable server with its address', async () => {
    const { url } = await closed()
    const asked = await ask([], { options: { baseUrl: url } })
    expect(messageOf(asked)).toMatch(/^Gemini cannot be reached after 3 attempts: connect ECONNREFUSED/)
    expect(asked.error).toMatchObject({ status: undefined })
  })

  const closed = async () => {
    await using server = await geminiServer([])
    return server
  }

  test('reports a timeout', async () => {
    const options = { timeoutMs: 20, retry: { attempts: 1 } }
    const asked = await ask([{ fault: { type: 'hang' } }], { options })
    expect(messageOf(asked)).toBe('"gemini-2.5-flash" did not reply in time. Raise timeoutMs of gemini().')
  })

  test('reports a request that the client refuses to send', async () => {
    const asked = await ask(['never'], { config: { tools: [{ enterpriseWebSearch: {} }] } })
    expect(messageOf(asked)).toMatch(
      /^The request to "gemini-2.5-flash" could not be sent: enterpriseWebSearch parameter is only supp/,
    )
  })
})

describe('aborting a request to Gemini', () => {
  test.each([true, false])('closes the connection and throws the abort reason (stream: %s)', async (stream) => {
    const stop = new AbortController()
    let requestSignal: AbortSignal | undefined
    const asked = await ask(
      ({ signal }) => {
        requestSignal = signal
        queueMicrotask(() => stop.abort(new Error('Enough.')))
        return { chunks: ['Hel', 'lo'], fault: { type: 'hang', after: 0 } }
      },
      { stream, signal: stop.signal },
    )
    expect(asked.error).toEqual(new Error('Enough.'))
    await connectionClosed(requestSignal)
  })

  test('closes the connection in the middle of a streamed reply', async () => {
    await using server = await geminiServer([{ chunks: ['Hel', 'lo'], fault: { type: 'hang', after: 1 } }])
    const stop = new AbortController()
    const asked = gemini('gemini-2.5-flash', { apiKey: KEY, baseUrl: server.url })
    const follow = async () => {
      for await (const _ of asked.generate(requestOf(), { stream: true, signal: stop.signal }))
        stop.abort(new Error('Enough.'))
    }
    await expect(follow()).rejects.toThrow('Enough.')
    await connectionClosed(server.requests[0]?.signal)
  })

  test('closes the connection when the consumer stops iterating', async () => {
    await using server = await geminiServer([{ chunks: ['Hel', 'lo'], fault: { type: 'hang', after: 1 } }])
    const asked = gemini('gemini-2.5-flash', { apiKey: KEY, baseUrl: server.url })
    for await (const _ of asked.generate(requestOf(), { stream: true })) break
    await connectionClosed(server.requests[0]?.signal)
  })

  test('removes its listeners from the signal of the run', async () => {
    const { signal } = new AbortController()
    for (const stream of [false, true]) await ask([status(503), 'Hello.'], { stream, signal })
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  test('sends no request when the signal is already aborted', async () => {
    const asked = await ask(['never'], { signal: AbortSignal.abort(new Error('Enough.')) })
    expect([asked.error, asked.requests.length]).toEqual([new Error('Enough.'), 0])
  })

  test('throws the abort reason even if fetch ignores the signal', async () => {
    const stop = new AbortController()
    const ignoresSignal: typeof fetch = () => {
      queueMicrotask(() => stop.abort(new Error('Enough.')))
      return new Promise(() => {})
    }
    const asked = await ask([], { options: { fetch: ignoresSignal }, signal: stop.signal })
    expect(asked.error).toEqual(new Error('Enough.'))
  })

  const connectionClosed = async (signal: AbortSignal | undefined): Promise<void> => {
    if (!signal?.aborted) await new Promise((resolve) => signal?.addEventListener('abort', resolve))
  }
})
