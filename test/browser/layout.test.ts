import type { Page } from 'playwright-core'
import { confirm, createEvent, type Event, getUserChoice, InMemorySessionService, LlmAgent, tool } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { accessibilityProblems, openPage, startServer, type TestServer } from './kit.ts'

const sessions = new InMemorySessionService()
const key = { appName: 'shop', userId: 'user' }
const MANY = 100_000

const pay = confirm(
  tool({
    name: 'pay',
    description: 'Pays.',
    parameters: z.object({ to: z.string(), amount: z.number(), tags: z.array(z.string()).optional() }),
    allowEditedArgs: true,
    run: () => ({ receipt: { id: 7, lines: ['one', 'two'] } }),
  }),
  'Send the money?',
)

let server: TestServer
beforeAll(async () => {
  const model = scriptedModel([
    {
      calls: [
        { name: 'pay', args: { to: 'ada', amount: 5 } },
        { name: 'get_user_choice', args: { prompt: 'Size?', options: ['S', 'L'] } },
      ],
    },
  ])
  const agent = new LlmAgent({ name: 'shop', description: 'Sells things.', model, tools: [pay, getUserChoice()] })
  server = await startServer({
    apps: { shop: agent },
    services: { sessionService: sessions },
    tours: { shop: ['Where is my order?'] },
  })
  await sessions.createSession({ ...key, sessionId: 'talk', events: conversation })
  await sessions.createSession({
    ...key,
    sessionId: 'many',
    events: Array.from({ length: MANY }, (_, at) => manyEvent(at)),
  })
  await pause('waiting')
})

let count = 0
const event = (fields: Partial<Event>): Event =>
  createEvent({ id: `e${++count}`, invocationId: 'i1', author: 'shop', timestamp: 1_800_000_000 + count, ...fields })

const wide = 'a'.repeat(300)
const conversation: Event[] = [
  event({ author: 'user', content: { role: 'user', parts: [{ text: `Tell me ${wide}` }] } }),
  event({
    content: {
      role: 'model',
      parts: [
        { text: 'Let me think.', thought: true },
        { functionCall: { id: 'c1', name: 'find', args: { [wide]: wide, list: [1, { a: null }] } } },
      ],
    },
  }),
  event({
    content: {
      role: 'tool',
      parts: [
        { functionResponse: { id: 'c1', name: 'find', response: { error: 'No stock.', errorCode: 'NOT_FOUND' } } },
      ],
    },
  }),
  event({
    content: {
      role: 'model',
      parts: [
        {
          text: `## Result\n\n| ${wide} | b |\n|---|---|\n| 1 | 2 |\n\n\`\`\`ts\nconst x = '${wide}'\n\`\`\`\n\n- [x] done\n\n> quoted [link](https://example.test/${wide})`,
        },
      ],
    },
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5 },
  }),
  event({ errorCode: 'MODEL_ERROR', errorMessage: `The model failed. ${wide}` }),
]

const manyEvent = (at: number): Event =>
  at % 4 === 0
    ? event({
        id: `m${at}`,
        author: 'user',
        invocationId: `i${at}`,
        content: { role: 'user', parts: [{ text: `Question ${at}` }] },
      })
    : event({
        id: `m${at}`,
        invocationId: `i${at - (at % 4)}`,
        content: { role: 'model', parts: [{ text: `Answer **${at}**` }] },
      })

async function pause(sessionId: string): Promise<void> {
  const headers = { authorization: `Bearer ${server.server.token}`, 'content-type': 'application/json' }
  await sessions.createSession({ ...key, sessionId })
  const body = JSON.stringify({ ...key, sessionId, newMessage: { role: 'user', parts: [{ text: 'Pay' }] } })
  await (await fetch(`${server.url}/run_sse`, { method: 'POST', headers, body })).text()
}

interface Screen {
  readonly name: string
  readonly hash: string
  /** Brings the screen into the state to check. */
  show(page: Page): Promise<unknown>
}

const screens: readonly Screen[] = [
  {
    name: 'a new session',
    hash: '#/apps/shop',
    show: (page) => page.getByRole('button', { name: 'Where is my order?' }).waitFor(),
  },
  {
    name: 'a conversation',
    hash: '#/apps/shop/sessions/talk',
    show: (page) => page.getByText('MODEL_ERROR').waitFor(),
  },
  {
    name: 'a call that waits',
    hash: '#/apps/shop/sessions/waiting',
    show: (page) => page.getByText('First request for this tool').waitFor(),
  },
  {
    name: 'the inbox with an edit form',
    hash: '#/inbox',
    show: (page) => page.getByRole('button', { name: 'Edit arguments' }).click(),
  },
  {
    name: 'the keyboard shortcuts',
    hash: '#/inbox',
    show: async (page) => {
      await page.keyboard.press('?')
      await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    },
  },
]

describe.each([
  { colorScheme: 'light', rules: undefined },
  { colorScheme: 'dark', rules: ['color-contrast'] }, // the other rules do not depend on colours
] as const)('in $colorScheme colours', ({ colorScheme, rules }) => {
  test('no screen breaks an accessibility rule', async () => {
    const page = await openPage(server, { colorScheme })
    for (const { name, hash, show } of screens) {
      await page.goto(`${server.url}/${hash}`)
      await show(page)
      expect(await accessibilityProblems(page, rules), name).toEqual([])
    }
  })
})

test('no screen scrolls sideways in a window of 360 pixels, and the menu opens and closes', async () => {
  const viewport = { width: 360, height: 740 }
  const page = await openPage(server, { viewport })
  for (const { name, hash, show } of screens) {
    await page.goto(`${server.url}/${hash}`)
    await show(page)
    expect(await page.evaluate(() => document.documentElement.scrollWidth), name).toBe(360)
    expect(await cutOff(page), name).toEqual([])
  }
  await page.keyboard.press('Escape')
  await page.goto(`${server.url}/${screens[0]?.hash}`)
  await page.getByRole('button', { name: 'Menu' }).click()
  await page.getByRole('link', { name: 'Inbox' }).click()
  await page.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor()
  await page.getByRole('link', { name: 'Inbox' }).waitFor({ state: 'hidden' })
})

/** Controls and text blocks that reach beyond the right edge, outside of areas that scroll on purpose. */
const cutOff = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll('main button, main input, main p, main article, main textarea')]
      .filter((element) => element.closest('.table-scroll, pre, .tabs, .visually-hidden') === null)
      .filter((element) => !element.matches('.visually-hidden'))
      .filter((element) => element.getBoundingClientRect().right > innerWidth + 1)
      .map((element) => element.outerHTML.slice(0, 120)),
  )

test('shows a session of 100,000 events with few elements, and reads it page by page', async () => {
  const page = await openPage(server)
  const pages: string[] = []
  page.on('request', (request) => request.url().includes('/log?') && pages.push(new URL(request.url()).search))
  await page.goto(`${server.url}/#/apps/shop/sessions/many`)
  await page.getByText(`Answer ${MANY - 1}`).waitFor()
  expect(pages.length).toBeLessThan(6)
  const list = page.getByRole('region', { name: 'Conversation' })
  const nodes = (): Promise<number> => page.evaluate(() => document.querySelectorAll('*').length)
  const most = [await nodes()]
  for (let read = 1; read <= 3; read++) {
    const next = page.waitForResponse((response) => response.url().includes(`fromSeq=${MANY - (read + 1) * 1000 + 1}`))
    await list.evaluate((element) => element.scrollTo(0, 0))
    await next
    await expect.poll(() => list.evaluate(({ scrollTop }) => scrollTop)).toBeGreaterThan(0) // the page is there, above what was read
    most.push(await nodes())
  }
  await list.evaluate((element) => element.scrollTo(0, element.scrollHeight))
  await page.getByText(`Answer ${MANY - 1}`).waitFor()
  most.push(await nodes())
  expect(Math.max(...most)).toBeLessThan(1500)
})

test('what a client imported is labelled, and what happened in the app is not', async () => {
  const page = await openPage(server, { hash: '#/apps/shop/sessions/talk' })
  await page.getByText('MODEL_ERROR').waitFor()
  const rows = await page.locator('.row').count()
  expect(await page.locator('.row .tag', { hasText: 'imported' }).count()).toBe(rows)
  const other = await openPage(server, { hash: '#/apps/shop/sessions/waiting' })
  await other.getByText('First request for this tool').waitFor()
  expect(await other.getByText('imported').count()).toBe(0)
})
