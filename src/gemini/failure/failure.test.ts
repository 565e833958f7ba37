import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import type { GeminiFault } from '../../testing/gemini-script.ts'
import { geminiServer } from '../../testing/gemini-server.ts'
import { type Asked, ask, askServer, KEY, model, requestOf, said } from '../gemini.test-kit.ts'
import { GeminiError } from '../gemini-error.ts'
import { gemini } from '../gemini.ts'

const status = (code: number, more: object = {}): { fault: GeminiFault } => ({
  fault: { type: 'status', status: code, ...more },
})
const never = { retry: { attempts: 1 } }
const messageOf = ({ error }: Asked): string => (error as Error).message

describe('a refusal', () => {
  test.each<[number, RegExp]>([
    [400, /^Gemini refused the request \(400 INVALID_ARGUMENT: Because\.\)$/],
    [
      401,
      /^Gemini refused the key: check GEMINI_API_KEY, GOOGLE_API_KEY or the apiKey option.*401 UNAUTHENTICATED: Bec/,
    ],
    [403, /^Gemini refused the key: .*GEMINI_API_KEY.*\(403 PERMISSION_DENIED: Because\.\)$/],
    [404, /^Gemini has no model "gemini-2.5-flash" for this key: check its name \(404 NOT_FOUND: Because\.\)$/],
    [429, /^Gemini has had too many requests \(429 RESOURCE_EXHAUSTED: Because\.\)$/],
    [503, /^Gemini failed \(503 UNAVAILABLE: Because\.\)$/],
  ])('%i in plain words', async (code, expected) => {
    for (const stream of [false, true]) {
      const asked = await ask([status(code, { message: 'Because.' })], { options: never, stream })
      expect(asked.error).toBeInstanceOf(GeminiError)
      expect(asked.error).toMatchObject({ status: code, message: expect.stringMatching(expected) })
      expect(asked.whole).toBeUndefined()
    }
  })

  test('of a key says so, though Google calls it an invalid argument', async () => {
    const asked = await ask(['never'], { server: { apiKey: 'another' } })
    expect(messageOf(asked)).toMatch(/^Gemini refused the key: check GEMINI_API_KEY.*API key not valid/)
    expect(asked.error).toMatchObject({ status: 400, reason: 'INVALID_ARGUMENT' })
  })

  test('of Vertex AI speaks of its sign-in, its project and its location', async () => {
    const options = { vertexai: true, project: 'p', ...never }
    const denied = await ask([status(403)], { options })
    expect(messageOf(denied)).toMatch(/^Vertex AI refused the credentials: .*gcloud auth.*GOOGLE_CLOUD_PROJECT/)
    const lost = await ask([status(404)], { options })
    expect(messageOf(lost)).toContain('in this project and location')
  })

  test('of tools that cannot stand together names them and the cure', async () => {
    const look = { functionDeclarations: [{ name: 'look', description: 'Look.' }] }
    const tools = [look, { googleSearch: {} }, { urlContext: {} }]
    const mixed = await ask(['never'], { config: { tools } })
    expect(messageOf(mixed)).toMatch(
      /googleSearch, urlContext cannot stand beside function tools on "gemini-2.5-flash".*Gemini 3.*agentTool\(\)/,
    )
    const alone = await ask([status(400, { message: 'A tool is wrong.' })], { config: { tools: [look] } })
    expect(messageOf(alone)).toBe('Gemini refused the request (400 INVALID_ARGUMENT: A tool is wrong.)')
  })

  test('of a signature says what it depends on', async () => {
    const asked = await ask([status(400, { message: 'Corrupted thought signature.' })])
    expect(messageOf(asked)).toContain('start a new session')
  })

  test('that is a page of a proxy is text, and one that is nothing still has its status', async () => {
    const html = '<html><style>p {}</style><h1>Bad  Gateway</h1></html>'
    expect(messageOf(await ask([status(502, { html })], { options: never }))).toBe(
      'Gemini failed (502 Bad Gateway: Bad Gateway)',
    )
    const broken: typeof fetch = async () =>
      new Response('', { status: 500, headers: { 'content-type': 'application/json' } })
    const asked = await ask([], { options: { ...never, fetch: broken } })
    expect(asked.error).toMatchObject({ status: 500, message: expect.stringMatching(/^Gemini failed \(500/) })
  })

  test('never holds a key: not in its message, its stack or its causes', async () => {
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

describe('another attempt', () => {
  test.each([408, 429, 500, 502, 503, 504])('is made after %i, twice, with growing pauses', async (code) => {
    const { whole, pauses, requests } = await ask([status(code), status(code), 'Hello.'])
    expect(whole?.content).toEqual(model('Hello.'))
    expect([requests.length, pauses]).toEqual([3, [250, 500]]) // half of 500 and 1000: chance is held at 0.5
  })

  test.each([400, 401, 403, 404, 409, 501])('is not made after %i', async (code) => {
    const { requests, pauses } = await ask([status(code), 'never'])
    expect([requests.length, pauses]).toEqual([1, []])
  })

  test('is not made for ever, and the error says how often it was', async () => {
    const asked = await ask([status(429), status(429), status(429, { message: 'Quota.' })])
    expect(asked.requests).toHaveLength(3)
    expect(messageOf(asked)).toBe('Gemini has had too many requests after 3 attempts (429 RESOURCE_EXHAUSTED: Quota.)')
  })

  test('is made as often as the options say, after pauses that end at the longest', async () => {
    const options = { retry: { attempts: 6, delayMs: 1_000, maxDelayMs: 4_000 } }
    const { pauses } = await ask([status(500), status(500), status(500), status(500), status(500), 'Hello.'], {
      options,
    })
    expect(pauses).toEqual([500, 1_000, 2_000, 2_000, 2_000])
  })

  test.each<[string, object, number]>([
    ['seconds', { retryAfter: 7 }, 7_000],
    ['a date', { retryAfter: 'Thu, 01 Jan 2026 00:00:05 GMT' }, 5_000],
    ['a date that has passed', { retryAfter: 'Wed, 31 Dec 2025 00:00:00 GMT' }, 0],
    ['a detail', { retryDelay: '1.5s' }, 1_500],
    ['both, of which the longer counts', { retryAfter: 2, retryDelay: '12s' }, 12_000],
    ['nonsense', { retryAfter: 'soon', retryDelay: '5 minutes' }, 250],
    ['a minute', { retryAfter: 60 }, 60_000],
  ])('waits as long as the server asks: %s', async (_, more, pause) => {
    const { whole, pauses } = await ask([status(429, more), 'Hello.'], { stream: true })
    expect(whole?.content).toEqual(model('Hello.'))
    expect(pauses).toEqual([pause])
  })

  test('is not made when the server asks for more than a minute, and the error says so', async () => {
    const asked = await ask([status(429, { retryAfter: 90 }), 'never'])
    expect([asked.requests.length, asked.pauses]).toEqual([1, []])
    expect(messageOf(asked)).toContain('It asks to wait 90 s.')
  })

  test('is made after a lost connection, and after an answer that never began', async () => {
    for (const stream of [false, true]) {
      const { whole, requests } = await ask([{ fault: { type: 'cut' } }, 'Hello.'], { stream })
      expect([whole?.content, requests.length]).toEqual([model('Hello.'), 2])
    }
    for (const fault of [{ type: 'empty' }, { type: 'error-event', status: 503 }] as const) {
      const { whole, requests } = await ask([{ fault }, 'Hello.'], { stream: true })
      expect([whole?.content, requests.length]).toEqual([model('Hello.'), 2])
    }
  })

  test('is not made once something was said', async () => {
    for (const fault of [
      { type: 'cut', after: 1 },
      { type: 'error-event', status: 503, after: 1 },
      { type: 'unfinished' },
    ] as const) {
      const asked = await ask([{ chunks: ['Hel', 'lo'], fault }, 'never'], { stream: true })
      expect(said(asked)).toMatch(/^Hel/)
      expect([asked.requests.length, asked.whole, asked.pauses]).toEqual([1, undefined, []])
      expect(asked.error).toBeInstanceOf(GeminiError)
    }
  })

  test('nobody is waiting for is not made', async () => {
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
    expect([server.requests.length, waits.length]).toEqual([1, 1]) // the timer was taken back
  })
})

describe('an answer that breaks', () => {
  test.each<[string, GeminiFault, RegExp]>([
    [
      'because the connection is cut',
      { type: 'cut', after: 1 },
      /^The answer of "gemini-2.5-flash" was cut off: the conn/,
    ],
    ['because it is not finished', { type: 'unfinished' }, /^The answer of "gemini-2.5-flash" was cut off: the stream/],
    [
      'because a chunk is malformed',
      { type: 'malformed', after: 1 },
      /^"gemini-2.5-flash" sent an answer that makes no sense/,
    ],
    [
      'with an error',
      { type: 'error-event', status: 500, after: 1, message: 'Oops.' },
      /^Gemini failed \(500 INTERNAL: Oops\.\)$/,
    ],
  ])('%s', async (_, fault, expected) => {
    const asked = await ask([{ chunks: ['Hel', 'lo'], fault }], { stream: true })
    expect(asked.whole).toBeUndefined()
    expect(messageOf(asked)).toMatch(expected)
  })

  test('before it begins', async () => {
    const empty = await ask([{ fault: { type: 'empty' } }], { stream: true, options: never })
    expect(messageOf(empty)).toMatch(/was cut off: the stream ended before it was finished/)
    const malformed = await ask([{ fault: { type: 'malformed' } }, 'never'], { stream: true })
    expect([messageOf(malformed).includes('makes no sense'), malformed.requests.length]).toEqual([true, 1])
  })

  test('where nothing is streamed', async () => {
    const nothing = await ask([{ fault: { type: 'empty' } }])
    expect(messageOf(nothing)).toContain('an answer without a candidate')
    expect(messageOf(await ask([{ fault: { type: 'malformed' } }]))).toContain('makes no sense')
    const odd: typeof fetch = async () => Response.json(null)
    expect(messageOf(await ask([], { options: { fetch: odd } }))).toContain('makes no sense')
  })

  test('where nobody is: the address is told', async () => {
    const { url } = await closed()
    const asked = await ask([], { options: { baseUrl: url } })
    expect(messageOf(asked)).toMatch(/^Gemini cannot be reached after 3 attempts: connect ECONNREFUSED/)
    expect(asked.error).toMatchObject({ status: undefined })
  })

  const closed = async () => {
    await using server = await geminiServer([])
    return server
  }

  test('because it takes too long', async () => {
    const options = { timeoutMs: 20, retry: { attempts: 1 } }
    const asked = await ask([{ fault: { type: 'hang' } }], { options })
    expect(messageOf(asked)).toBe('"gemini-2.5-flash" did not answer in time. A longer time is set with timeoutMs.')
  })

  test('before it is asked: what the API does not know is said', async () => {
    const asked = await ask(['never'], { config: { tools: [{ enterpriseWebSearch: {} }] } })
    expect(messageOf(asked)).toMatch(
      /^"gemini-2.5-flash" could not be asked: enterpriseWebSearch parameter is only supp/,
    )
  })
})

describe('stopping', () => {
  test.each([true, false])('closes the connection and ends with the reason (stream: %s)', async (stream) => {
    const stop = new AbortController()
    let heard: AbortSignal | undefined
    const asked = await ask(
      ({ signal }) => {
        heard = signal
        queueMicrotask(() => stop.abort(new Error('Enough.')))
        return { chunks: ['Hel', 'lo'], fault: { type: 'hang', after: 0 } }
      },
      { stream, signal: stop.signal },
    )
    expect(asked.error).toEqual(new Error('Enough.'))
    await gone(heard)
  })

  test('in the middle of an answer', async () => {
    await using server = await geminiServer([{ chunks: ['Hel', 'lo'], fault: { type: 'hang', after: 1 } }])
    const stop = new AbortController()
    const asked = gemini('gemini-2.5-flash', { apiKey: KEY, baseUrl: server.url })
    const follow = async () => {
      for await (const _ of asked.generate(requestOf(), { stream: true, signal: stop.signal }))
        stop.abort(new Error('Enough.'))
    }
    await expect(follow()).rejects.toThrow('Enough.')
    await gone(server.requests[0]?.signal)
  })

  test('by leaving closes the connection too', async () => {
    await using server = await geminiServer([{ chunks: ['Hel', 'lo'], fault: { type: 'hang', after: 1 } }])
    const asked = gemini('gemini-2.5-flash', { apiKey: KEY, baseUrl: server.url })
    for await (const _ of asked.generate(requestOf(), { stream: true })) break
    await gone(server.requests[0]?.signal)
  })

  test('leaves nothing behind on the signal of the run', async () => {
    const { signal } = new AbortController()
    for (const stream of [false, true]) await ask([status(503), 'Hello.'], { stream, signal })
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  test('before it began asks nobody', async () => {
    const asked = await ask(['never'], { signal: AbortSignal.abort(new Error('Enough.')) })
    expect([asked.error, asked.requests.length]).toEqual([new Error('Enough.'), 0])
  })

  test('does not depend on what fetch makes of it', async () => {
    const stop = new AbortController()
    const deaf: typeof fetch = () => {
      queueMicrotask(() => stop.abort(new Error('Enough.')))
      return new Promise(() => {})
    }
    const asked = await ask([], { options: { fetch: deaf }, signal: stop.signal })
    expect(asked.error).toEqual(new Error('Enough.'))
  })

  const gone = async (signal: AbortSignal | undefined): Promise<void> => {
    if (!signal?.aborted) await new Promise((resolve) => signal?.addEventListener('abort', resolve))
  }
})
