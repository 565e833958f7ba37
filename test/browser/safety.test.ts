import type { Locator, Page } from 'playwright-core'
import {
  confirm,
  createEvent,
  type Event,
  getUserChoice,
  InMemorySessionService,
  LlmAgent,
  type ToolContext,
  tool,
} from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { beforeAll, describe, expect, test } from 'vitest'
import { actAs } from './chat-kit.ts'
import { HOSTILE_HOST, hostileTexts } from './hostile-texts.ts'
import { forgetProblems, startServer, type TestServer } from './kit.ts'
import { executed, expectSafe, foreignElements, openRecorded } from './recorder.ts'

const APP = 'desk'
const USER = 'user'
const key = { appName: APP, userId: USER }
/** Many rows of a list are in view. */
const TALL = { width: 1180, height: 4000 }

/** Some texts alone, and all of them in groups: a page with fewer rows is faster. */
const groups: readonly (readonly string[])[] = Array.from({ length: Math.ceil(hostileTexts.length / 20) }, (_, at) =>
  hostileTexts.slice(at * 20, at * 20 + 20),
)
/** A question has at most 8,000 characters. */
const question = hostileTexts.slice(0, 64).join('\n')
const messages: readonly string[] = [...hostileTexts.slice(0, 64), ...groups.map((texts) => texts.join('\n\n'))]
const byText = (texts: readonly string[]): { [text: string]: string } =>
  Object.fromEntries(texts.map((text) => [text, text]))

let count = 0
const event = (fields: Partial<Event>): Event =>
  createEvent({ id: `e${++count}`, invocationId: 'i1', author: 'desk', timestamp: 1_700_000_000, ...fields })
const model = (parts: NonNullable<Event['content']>['parts'], more: Partial<Event> = {}): Event =>
  event({ content: { role: 'model', parts }, ...more })

const sessions = new InMemorySessionService()
let server: TestServer

const pay = confirm(
  tool({
    name: 'pay',
    description: 'Pays.',
    parameters: { type: 'object' },
    allowEditedArgs: true,
    run: () => 'done',
  }),
  question,
)
const ask = tool({
  name: 'ask',
  description: 'Asks.',
  run: (_, context: ToolContext) =>
    context.requestInput({
      key: 'x',
      message: question,
      schema: {
        type: 'object',
        properties: Object.fromEntries(
          groups.map((texts, at) => {
            const text = texts.join(' ')
            const kind = at % 2 ? { enum: [...texts] } : { type: 'string', default: text }
            return [texts[0], { title: text, description: text, ...kind }]
          }),
        ),
      },
    }),
})

beforeAll(async () => {
  const long = hostileTexts.slice(0, 200)
  const script = scriptedModel([
    {
      calls: [
        { name: 'pay', args: { ...byText(hostileTexts), list: [...hostileTexts] } },
        { name: 'get_user_choice', args: { prompt: long.join(' '), options: [...long] } },
        { name: 'ask' },
      ],
    },
  ])
  server = await startServer({
    apps: {
      [APP]: new LlmAgent({
        name: 'desk',
        description: long.join(' '),
        model: script,
        tools: [pay, ask, getUserChoice()],
      }),
    },
    services: { sessionService: sessions },
    tours: { [APP]: long },
  })
  await sessions.createSession({ ...key, sessionId: 'text', events: messages.flatMap(textEvents) })
  await sessions.createSession({ ...key, sessionId: 'calls', events: groups.flatMap(callEvents) })
  await sessions.createSession({ ...key, sessionId: 'files', events: [model(files)] })
  for (const [at, texts] of groups.entries())
    await sessions.createSession({
      appName: APP,
      userId: 'names',
      sessionId: `n${at}`,
      state: { __session_metadata__: { displayName: texts.join(' ') } },
    })
})

const textEvents = (text: string): Event[] => [
  event({ author: 'user', content: { role: 'user', parts: [{ text }] } }),
  model([{ text }, { text, thought: true }], { author: text.replaceAll('\n', ' ') }),
]

const callEvents = (texts: readonly string[], at: number): Event[] => {
  const id = `c${at}`
  const [name = ''] = texts
  return [
    model([{ functionCall: { id, name, args: byText(texts) } }]),
    event({
      content: {
        role: 'tool',
        parts: [{ functionResponse: { id, name, response: { ...byText(texts), error: texts.join(' ') } } }],
      },
      actions: { artifactDelta: { [texts[1] ?? '']: 0 }, transferToAgent: texts[2] ?? '' },
    }),
    model([
      { executableCode: { language: name, code: texts.join('\n') } },
      { codeExecutionResult: { outcome: 'OUTCOME_OK', output: texts.join('\n') } },
    ]),
    event({ errorCode: name, errorMessage: texts.join(' ') }),
  ]
}

const hostileDocument = `<html><img src="https://${HOSTILE_HOST}/i.png"><link rel=stylesheet href="https://${HOSTILE_HOST}/c.css">
  <script>parent.alert(1);fetch('https://${HOSTILE_HOST}')</script><p>shown text</p><form action="https://${HOSTILE_HOST}"></form>`
const inline = (mimeType: string, text: string, displayName: string) => ({
  inlineData: { mimeType, data: btoa(text), displayName },
})
const files = [
  inline('text/html', hostileDocument, 'page.html'),
  inline('image/svg+xml', `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`, 'picture.svg'),
  inline('image/png', hostileDocument, 'not-a-picture.png'),
  inline(`text/html"><img src=x onerror=alert(1)>`, hostileDocument, '<img src=x onerror=alert(1)>'),
  { fileData: { fileUri: `https://${HOSTILE_HOST}/file.png`, mimeType: 'image/png' } },
  {
    text: `[read me](https://${HOSTILE_HOST}/path?q=1) ![chart](https://${HOSTILE_HOST}/chart.png) [bad](javascript:alert(1))`,
  },
]

describe(`${hostileTexts.length} hostile texts`, () => {
  test('are shown as text in messages, replies, thinking and names of agents', async () => {
    expect(hostileTexts.length).toBeGreaterThanOrEqual(500)
    const page = await openRecorded(server, { hash: `#/apps/${APP}/sessions/text`, viewport: TALL })
    await page.locator('.row').first().waitFor()
    await showAll(page, 3 * messages.length)
    await expectSafe(page)
    const sent = await page.locator('.user-text').allTextContents()
    expect(sent).toContain(hostileTexts[0])
  })

  test('are shown as text in calls, results, errors, code and names of tools and artifacts', async () => {
    const page = await openRecorded(server, { hash: `#/apps/${APP}/sessions/calls`, viewport: TALL })
    await page.locator('.card').first().waitFor()
    await showAll(page, 6 * groups.length)
    await expectSafe(page)
    await expect.poll(() => page.locator('.tree-value').allTextContents()).toContain(hostileTexts[0])
  })

  test('are shown as text in approvals, forms and choices', async () => {
    await startPaused()
    const page = await openRecorded(server, { hash: '#/inbox', viewport: TALL })
    await page.getByRole('button', { name: 'Approve' }).waitFor()
    await expect.poll(() => page.locator('.question').count()).toBe(3)
    await page.getByRole('button', { name: 'Edit arguments' }).click()
    await expectSafe(page)
    await page.getByRole('button', { name: 'Send answer' }).click()
    await expectSafe(page)
  })

  test('are shown as text in the session list, the description and the examples', async () => {
    const page = await openRecorded(server, {})
    await actAs(page, 'names')
    await page
      .locator('.session-item')
      .nth(groups.length - 1)
      .waitFor()
    await expectSafe(page)
    await page.evaluate(() => localStorage.clear())
  })
})

test('the recorder notices a script that runs and an element that a text made', async () => {
  const page = await openRecorded(server, {})
  await page.evaluate(() => {
    alert(1)
    document.body.append(Object.assign(document.createElement('iframe'), { title: 'x' }))
  })
  expect(await executed(page)).toEqual(['alert'])
  expect(await foreignElements(page)).toHaveLength(1)
})

describe('files and links', () => {
  test('HTML and SVG are previewed in a frame that runs and fetches nothing', async () => {
    const page = await openRecorded(server, {
      hash: `#/apps/${APP}/sessions/files`,
      viewport: { width: 1280, height: 3000 },
    })
    await page.getByText('page.html').waitFor()
    expect(await page.locator('iframe').count()).toBe(0)
    await clickAll(page.getByRole('button', { name: 'Preview' }))
    const frame = page.frameLocator('iframe[title="Preview of page.html"]')
    await frame.getByText('shown text').waitFor()
    await expect.poll(() => page.locator('iframe').count()).toBe(3)
    for (const box of await page.locator('iframe').all()) expect(await box.getAttribute('sandbox')).toBe('')
    expect(await executed(page)).toEqual([])
    forgetProblems(/Content Security Policy|sandboxed/) // the frame was not allowed to
  })

  test('a link shows its full target and opens it after a click, without an opener', async () => {
    const page = await openRecorded(server, {
      hash: `#/apps/${APP}/sessions/files`,
      viewport: { width: 1280, height: 3000 },
    })
    const target = `https://${HOSTILE_HOST}/path?q=1`
    const link = page.getByRole('button', { name: target })
    await link.waitFor()
    expect(await page.locator('a[href^="http"]').count()).toBe(0)
    await expect
      .poll(() =>
        page.getByRole('region', { name: 'Conversation' }).getByText(`https://${HOSTILE_HOST}/chart.png`).isVisible(),
      )
      .toBe(true)
    expect(await page.getByRole('button', { name: /javascript/ }).count()).toBe(0)
    const opening = page.context().waitForEvent('page')
    const request = page.context().waitForEvent('request', (one) => one.url() === target)
    await link.click()
    expect(await (await opening).evaluate(() => window.opener === null)).toBe(true)
    expect((await request).headers().referer).toBeUndefined()
    forgetProblems(new RegExp(`request to https://${HOSTILE_HOST}/path`))
  })
})

const clickAll = (buttons: Locator): Promise<void> =>
  buttons.evaluateAll((elements) => {
    for (const element of elements) if (element instanceof HTMLElement) element.click()
  })

/** A session that waits for an approval, a choice and an answer. */
async function startPaused(): Promise<void> {
  const headers = { authorization: `Bearer ${server.server.token}`, 'content-type': 'application/json' }
  await sessions.createSession({ ...key, sessionId: 'paused' })
  const body = JSON.stringify({ ...key, sessionId: 'paused', newMessage: { role: 'user', parts: [{ text: 'Go' }] } })
  await (await fetch(`${server.url}/run_sse`, { method: 'POST', headers, body })).text()
}

/** Scrolls through a list, up and down again, and opens what is folded, until all rows were shown. */
async function showAll(page: Page, rows: number): Promise<void> {
  const list = page.locator('.virtual-list')
  const seen = new Set<string>()
  let distance = -3500
  const showMore = async (): Promise<number> => {
    const keys = await page
      .locator('.virtual-rows > li')
      .evaluateAll((items) => items.map((item) => item.getAttribute('data-key') ?? ''))
    for (const one of keys) seen.add(one)
    await clickAll(page.getByRole('button', { name: 'Result', expanded: false }))
    await page.locator('details:not([open])').evaluateAll((items) => {
      for (const item of items) item.setAttribute('open', '')
    })
    const hasMoved = await list.evaluate((element, by) => {
      element.dispatchEvent(new WheelEvent('wheel', { deltaY: -1 })) // the list no longer follows its end
      const before = element.scrollTop
      element.scrollBy(0, by)
      return element.scrollTop !== before
    }, distance)
    if (!hasMoved) distance = -distance // rows that a slow page had not drawn in time come by again
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
    return seen.size
  }
  await expect.poll(showMore, { interval: 1, timeout: 20_000 }).toBeGreaterThanOrEqual(rows)
}
