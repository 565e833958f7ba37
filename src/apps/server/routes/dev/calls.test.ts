import { cached, concurrency, rateLimit, retry, tool } from 'toolwright'
import { bearerTokens } from 'toolwright/server'
import { expect, test } from 'vitest'
import { createTestServer, runBody, SESSIONS } from '../../server.test-kit.ts'

const operator = { userId: 'op', mayActAsAnyUser: true }
const authenticate = bearerTokens({ 'token-of-ada-012345': 'ada', 'token-of-op-0123456': operator })
const [ADA, OP] = [{ as: 'token-of-ada-012345' }, { as: 'token-of-op-0123456' }]

test('a developer sees what a tool logs and reports, what policies make it wait for, and what a cache answers', async () => {
  let attempts = 0
  const pack = tool({
    name: 'pack',
    description: 'Packs',
    effect: 'idempotent',
    run: (_, context) => {
      const [cyclic, found] = [{ self: {} }, { box: 7 }]
      cyclic.self = cyclic
      context.log('Looking for a box', found)
      context.log('Calling with api_key=canary-9f8e7d6c5b4a', cyclic)
      context.progress({ percent: 50 })
      if (attempts++ === 0) throw new Error('The box is open.')
      for (let count = 0; count < 200; count++) context.log('again')
      return { packed: true }
    },
  })
  const wait = tool({
    name: 'wait',
    description: 'Waits',
    effect: 'none',
    run: () => new Promise((end) => setTimeout(end, 5)),
  })
  const paced = rateLimit(tool({ name: 'paced', description: 'Paced', effect: 'none', run: () => ({}) }), {
    max: 1,
    perMs: 5,
  })
  const tools = [
    retry(pack, { attempts: 2, delayMs: 0 }),
    concurrency(wait, 1),
    paced,
    cached(tool({ name: 'known', description: 'Known', effect: 'none', run: () => ({}) })),
  ]
  const call = (id: string, name: string) => ({ id, name })
  const steps = [
    {
      calls: [
        call('c1', 'pack'),
        call('c2', 'wait'),
        call('c3', 'wait'),
        call('c4', 'paced'),
        call('c5', 'paced'),
        call('c6', 'known'),
      ],
    },
    { calls: [call('c7', 'known')] },
    'Done.',
  ]
  const { send } = createTestServer({ dev: true, authenticate, tools, steps })
  await send(`POST ${SESSIONS}`, { sessionId: 's1' }, ADA)
  const { text } = await send('POST /run', runBody('Go'), ADA)
  expect(text).not.toContain('Looking for a box')
  const read = async (id: string, as = OP) => await send(`GET /dev${SESSIONS}/s1/calls/${id}/notes`, undefined, as)
  const notes = async (id: string) =>
    (await read(id)).json().notes.map((one: { type: string; text: string }) => `${one.type} ${one.text}`)
  expect((await notes('c1')).slice(0, 6)).toEqual([
    'log Looking for a box {"box":7}',
    'log Calling with api_key=[hidden] {"self":"[circular]"}',
    'progress {"percent":50}',
    'log Looking for a box {"box":7}',
    'log Calling with api_key=[hidden] {"self":"[circular]"}',
    'progress {"percent":50}',
  ])
  expect((await read('c1')).json()).toMatchObject({ effect: 'idempotent', isCached: false, dropped: 106 })
  expect([await notes('c2'), await notes('c3')]).toEqual([[], ['queued concurrency', 'admitted concurrency']])
  expect([await notes('c4'), await notes('c5')]).toEqual([[], ['queued rateLimit', 'admitted rateLimit']])
  expect([(await read('c6')).json().isCached, (await read('c7')).json().isCached]).toEqual([false, true])
  expect((await read('none')).json()).toEqual({ notes: [] })
  expect((await read('c1', ADA)).status).toBe(403)
})
