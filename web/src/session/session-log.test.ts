import { afterEach, expect, test, vi } from 'vitest'
import { SessionLog } from './session-log.ts'

const LAST_SEQ = 2500

afterEach(() => void vi.unstubAllGlobals())

/** A server with a log of 2500 entries. `answer` may replace the response for a page. */
function startServer(answer: (fromSeq: number) => Response | Error | undefined): void {
  const fetchPage = async (path: string): Promise<Response> => {
    const { pathname, searchParams } = new URL(path, 'http://127.0.0.1')
    if (!pathname.endsWith('/log')) return new Response('') // the session has no run
    const [fromSeq, limit] = [Number(searchParams.get('fromSeq')), Number(searchParams.get('limit'))]
    const given = limit === 1 ? undefined : answer(fromSeq)
    if (given instanceof Error) throw given
    const length = Math.min(limit, LAST_SEQ - fromSeq + 1)
    return (
      given ?? Response.json({ entries: Array.from({ length }, (_, at) => ({ seq: fromSeq + at })), lastSeq: LAST_SEQ })
    )
  }
  vi.stubGlobal('fetch', fetchPage)
}

const newLog = (): SessionLog => new SessionLog({ app: 'desk', userId: 'ada', sessionId: 's1' })

test('an export reads all pages of a log', async () => {
  startServer(() => undefined)
  const log = newLog()
  await log.loadAll()
  expect(log.view.value.entries.map(({ seq }) => seq)).toEqual(Array.from({ length: LAST_SEQ }, (_, at) => at + 1))
})

const refused = (status: number, error: string) => () => Response.json({ error, errorCode: 'X' }, { status })

test.each([
  ['a session that was deleted', refused(404, 'No such session.'), 'No such session.'],
  ['too many requests', refused(429, 'Too many requests.'), 'Too many requests.'],
  ['a server that is away', () => new TypeError('fetch failed'), 'did not send the whole log'],
  ['a page without entries', () => Response.json({ entries: [], lastSeq: LAST_SEQ }), 'did not send the whole log'],
])('an export ends with an error for %s', async (_, answer, message) => {
  startServer((fromSeq) => (fromSeq <= 501 ? answer() : undefined))
  await expect(newLog().loadAll()).rejects.toThrow(message)
})

test('an export ends with an error when the page closes the log, or cannot open it', async () => {
  const log = newLog()
  startServer((fromSeq) => {
    if (fromSeq <= 501) log.close()
    return fromSeq <= 501 ? new DOMException('Aborted', 'AbortError') : undefined
  })
  await expect(log.loadAll()).rejects.toThrow('did not send the whole log')
  startServer(refused(404, 'No such session.'))
  await expect(newLog().loadAll()).rejects.toThrow('No such session.')
})
