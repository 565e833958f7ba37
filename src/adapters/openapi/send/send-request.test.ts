import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { describe, expect, test, vi } from 'vitest'
import type { ToolError } from '../../../core/error/error.ts'
import {
  type ApiServer,
  callTool,
  documentOf,
  type Handler,
  sendJson,
  startApi,
  toolsOf,
} from '../api-server.test-kit.ts'
import type { OpenApiToolsetOptions } from '../openapi-toolset.ts'

const METHODS = ['get', 'put', 'delete', 'post', 'patch'] as const
const paths = { '/things': Object.fromEntries(METHODS.map((method) => [method, { operationId: method }])) }

/** Timers that fire at once, and what they were asked to wait. */
function instantPorts() {
  const waits: number[] = []
  const setTimer = (run: () => void, ms: number) => {
    waits.push(ms)
    queueMicrotask(run)
    return () => {}
  }
  return { waits, ports: { setTimer, random: () => 0.5 } }
}

async function open(handler: Handler, more: Partial<OpenApiToolsetOptions> = {}) {
  const api = await startApi(handler)
  const { waits, ports } = instantPorts()
  const tools = await toolsOf({ spec: documentOf(paths), baseUrl: api.url, ports, ...more })
  const call = (name: string, signal?: AbortSignal): Promise<unknown> => callTool(tools, name, { signal })
  const fails = (name: string): Promise<ToolError> =>
    call(name).then(
      () => Promise.reject(new Error('The call succeeded.')),
      (error) => error,
    )
  return { api, call, fails, waits, [Symbol.asyncDispose]: () => api[Symbol.asyncDispose]() }
}

/** Waits until no client is connected to the API. */
async function disconnected(api: ApiServer): Promise<void> {
  await vi.waitFor(async () => expect(await api.openConnections()).toBe(0))
}

describe('OA-09: retries', () => {
  /** Fails the given number of times, then answers. */
  const failing =
    (times: number, status: number, headers: Record<string, string> = {}): Handler =>
    (_, response) =>
      times-- > 0 ? response.writeHead(status, headers).end('busy') : sendJson(response, { ok: true })

  test.each([429, 502, 503, 504])('GET, PUT and DELETE are sent again after status %i', async (status) => {
    for (const method of ['get', 'put', 'delete']) {
      await using one = await open(failing(2, status))
      expect(await one.call(method)).toEqual({ status: 200, body: { ok: true } })
      expect(one.api.seen).toHaveLength(3)
      expect(one.waits).toEqual([100, 200])
    }
  })

  test.each([429, 502, 503, 504])('POST and PATCH are not sent again after status %i', async (status) => {
    for (const method of ['post', 'patch']) {
      await using one = await open(failing(1, status))
      const isLost = status === 502 || status === 504
      expect(await one.fails(method)).toMatchObject({ code: isLost ? 'UNKNOWN_OUTCOME' : 'EXECUTION_FAILED' })
      expect(one.api.seen).toHaveLength(1)
    }
  })

  test('a call that keeps failing ends after two retries with its status', async () => {
    await using one = await open(failing(9, 503))
    expect(await one.fails('get')).toMatchObject({ message: 'The API answered with status 503. Its response: busy' })
    expect(one.api.seen).toHaveLength(3)
  })

  test('waits as long as Retry-After asks, and gives up if that is too long', async () => {
    await using short = await open(failing(1, 429, { 'retry-after': '3' }))
    await short.call('get')
    expect(short.waits).toEqual([3_000])
    await using long = await open(failing(1, 429, { 'retry-after': '3600' }))
    expect((await long.fails('get')).message).toContain('Try again after 3600 s.')
    expect(long.api.seen).toHaveLength(1)
  })

  test('other statuses and `retries: 0` are not retried', async () => {
    await using broken = await open(failing(1, 500))
    await broken.fails('get')
    expect(broken.api.seen).toHaveLength(1)
    await using once = await open(failing(1, 503), { retries: 0 })
    await once.fails('get')
    expect(once.api.seen).toHaveLength(1)
  })

  test('a lost connection is retried for GET; for POST the outcome is unknown', async () => {
    let times = 1
    const handler: Handler = (_, response) => (times-- > 0 ? response.destroy() : sendJson(response, { ok: true }))
    await using get = await open(handler)
    expect(await get.call('get')).toMatchObject({ status: 200 })
    times = 1
    await using post = await open(handler)
    const error = await post.fails('post')
    expect(error).toMatchObject({ name: 'ToolError', code: 'UNKNOWN_OUTCOME' })
    expect(error.message).toContain('may have taken effect')
    expect(post.api.seen).toHaveLength(1)
  })

  test('a POST to a server that cannot be reached had no effect', async () => {
    const one = await open(() => {})
    await one[Symbol.asyncDispose]()
    expect(await one.fails('post')).toMatchObject({ code: 'EXECUTION_FAILED' })
    expect((await one.fails('post')).message).toMatch(/cannot be reached \(ECONNREFUSED\)/)
  })

  test('a response that breaks off is retried for GET and unknown for POST', async () => {
    let times = 1
    const handler: Handler = (_, response) => {
      if (times-- <= 0) return sendJson(response, { ok: true })
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' })
      response.write('{"ok":', () => response.destroy())
    }
    await using get = await open(handler)
    expect(await get.call('get')).toMatchObject({ body: { ok: true } })
    times = 1
    await using post = await open(handler)
    expect(await post.fails('post')).toMatchObject({ code: 'UNKNOWN_OUTCOME' })
  })
})

describe('OA-05: hostile responses', () => {
  const limit = { maxResponseBytes: 10_000 }

  test('a gzip bomb ends at the limit of decoded bytes', async () => {
    const bomb = gzipSync(Buffer.alloc(20_000_000))
    expect(bomb.length).toBeLessThan(30_000)
    await using one = await open((_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb), {
      maxResponseBytes: 1_000_000,
    })
    expect((await one.fails('get')).message).toMatch(/has more than 1000000 bytes\. Ask for less data\.$/)
    expect(one.api.seen).toHaveLength(1)
  })

  test('a compressed response within the limit is decoded', async () => {
    const body = gzipSync(JSON.stringify({ a: 'x'.repeat(5_000) }))
    const headers = { 'content-encoding': 'gzip', 'content-type': 'application/json' }
    await using one = await open((_, response) => response.writeHead(200, headers).end(body), limit)
    expect(await one.call('get')).toEqual({ status: 200, body: { a: 'x'.repeat(5_000) } })
  })

  test('a response without an end is cut at the limit', async () => {
    await using one = await open((_, response) => {
      const more = (): void => {
        if (!response.destroyed) response.write('x'.repeat(1_000), more)
      }
      more()
    }, limit)
    expect((await one.fails('get')).message).toContain('has more than 10000 bytes')
    await disconnected(one.api)
  })

  test('a response that announces too many bytes is not read', async () => {
    await using one = await open((_, response) => {
      response.writeHead(200, { 'content-length': '1000000000' }).write('x')
    }, limit)
    expect((await one.fails('get')).message).toContain('has more than 10000 bytes')
    await disconnected(one.api)
  })

  test('a POST whose response is too large tells the model that it took effect', async () => {
    await using one = await open((_, response) => response.writeHead(200).end('x'.repeat(20_000)), limit)
    const error = await one.fails('post')
    expect(error).toMatchObject({ code: 'UNKNOWN_OUTCOME' })
    expect(error.message).toContain('has taken effect')
  })

  test('a slow drip ends with the deadline of the call, and the connection is closed', async () => {
    const deadline = new AbortController()
    await using one = await open((_, response) => {
      response.writeHead(200).write('x')
      setTimeout(() => deadline.abort(new Error('deadline')), 0)
    })
    await expect(one.call('get', deadline.signal)).rejects.toThrow('deadline')
    await disconnected(one.api)
  })

  test('a large error is cut, and its status is kept', async () => {
    await using one = await open((_, response) => response.writeHead(500).end('no '.repeat(1_000_000)))
    const { message } = await one.fails('get')
    expect(message).toMatch(/^The API answered with status 500\. Its response: no no/)
    expect(message.length).toBeLessThan(2_200)
  })
})

describe('redirects', () => {
  test.each([
    [401, (response: ServerResponse) => response.writeHead(401).end()],
    [500, (response: ServerResponse) => response.writeHead(500).end()],
    ['no answer', (response: ServerResponse) => response.destroy()],
    ['a redirect elsewhere', (response: ServerResponse) => response.writeHead(302, { location: 'http://[' }).end()],
  ])('a POST that was answered with 303 has taken effect, also if the result is %s', async (_, answer) => {
    await using one = await open(({ url }, response) =>
      url === '/done' ? answer(response) : response.writeHead(303, { location: '/done' }).end(),
    )
    const error = await one.fails('post')
    expect(error).toMatchObject({ code: 'UNKNOWN_OUTCOME' })
    expect(error.message).toContain('has taken effect')
    expect(one.api.seen.map(({ method }) => method)).toEqual(['POST', 'GET'])
  })

  test.each([301, 302, 307, 308])('status %i is followed within the origin, with the same method', async (status) => {
    await using one = await open(({ url }, response) =>
      url === '/moved' ? sendJson(response, { ok: true }) : response.writeHead(status, { location: '/moved' }).end(),
    )
    expect(await one.call('put')).toMatchObject({ status: 200 })
    expect(one.api.seen.map(({ method, url }) => `${method} ${url}`)).toEqual(['PUT /things', 'PUT /moved'])
  })

  test.each([301, 302])('a POST that is redirected with status %i is not sent again', async (status) => {
    await using one = await open((_, response) => response.writeHead(status, { location: '/moved' }).end())
    expect(await one.fails('post')).toMatchObject({ code: 'UNKNOWN_OUTCOME' })
    expect(one.api.seen).toHaveLength(1)
  })

  test.each([307, 308])('a POST that is redirected with status %i is sent to the new address', async (status) => {
    await using one = await open(({ url }, response) =>
      url === '/moved' ? sendJson(response, { ok: true }) : response.writeHead(status, { location: '/moved' }).end(),
    )
    expect(await one.call('post')).toMatchObject({ status: 200 })
    expect(one.api.seen.map(({ method }) => method)).toEqual(['POST', 'POST'])
  })

  test('status 303 is followed with GET', async () => {
    await using one = await open(({ url }, response) =>
      url === '/done' ? sendJson(response, { ok: true }) : response.writeHead(303, { location: '/done' }).end(),
    )
    expect(await one.call('post')).toMatchObject({ status: 200 })
    expect(one.api.seen.map(({ method }) => method)).toEqual(['POST', 'GET'])
  })

  test('another origin gets no request, and only its origin is shown', async () => {
    await using evil = await startApi()
    const targets = [`${evil.url}/steal?x=canary`, evil.url.replace('http:', ''), 'file:///etc/passwd', 'http://[']
    for (const location of targets) {
      await using one = await open((_, response) => response.writeHead(302, { location }).end())
      const { message } = await one.fails('get')
      expect(message).toMatch(/redirects to/)
      expect(message).not.toMatch(/canary|passwd/)
    }
    expect(evil.seen).toEqual([])
  })

  test('a redirect that is refused closes its connection', async () => {
    await using one = await open((_, response) => {
      response.writeHead(302, { location: 'http://127.0.0.9/' }).write('x')
    })
    await one.fails('get')
    await disconnected(one.api)
  })

  test('user names in the target and endless redirects are refused', async () => {
    await using named = await open(({ headers }, response) =>
      response.writeHead(302, { location: `http://a:b@${headers.host}/` }).end(),
    )
    expect((await named.fails('get')).message).toContain('not followed')
    await using loop = await open((_, response) => response.writeHead(302, { location: '/things' }).end())
    expect((await loop.fails('get')).message).toBe('The API redirects more than 3 times.')
    expect(loop.api.seen).toHaveLength(4)
  })
})
