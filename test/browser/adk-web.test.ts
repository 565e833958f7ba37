// The adk-web of @google/adk-devtools, unmodified, against a Toolwright server in a real Chromium.
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type AdkWeb, startAdkWeb } from './adk-web-kit.ts'
import { blockOtherHosts, launchChromium } from './launch-chromium.ts'

vi.setConfig({ testTimeout: 20_000 }) // the machine may be busy

let web: AdkWeb
let browser: Browser
let context: BrowserContext
let page: Page
let blocked: readonly string[]
const errors: string[] = []

beforeAll(async () => {
  ;[web, browser] = await Promise.all([startAdkWeb(), launchChromium()])
  context = await browser.newContext({ viewport: { width: 1400, height: 900 } })
  context.setDefaultTimeout(10_000)
  blocked = await blockOtherHosts(context)
  page = await context.newPage()
  // adk-web does not catch the error of the request that its stop button aborts
  page.on('pageerror', ({ message }) => message.startsWith('signal is aborted') || errors.push(message))
  await page.goto(web.url)
  await messageBox().waitFor()
}, 30_000)

afterAll(async () => {
  await browser?.close()
  await web?.close()
})

const messageBox = (): Locator => page.getByPlaceholder('Type a message...')
const answerBox = (): Locator => page.getByPlaceholder('Enter your response...').last()

async function send(text: string): Promise<void> {
  await messageBox().fill(text)
  await messageBox().press('Enter')
}

/** Sends a message and waits until the run is paused: adk-web then reads its trace and draws the messages again. */
async function sendAndPause(text: string): Promise<void> {
  const traced = page.waitForResponse((response) => response.url().includes('/debug/trace/session/'))
  await send(text)
  await (await traced).finished()
  await page.evaluate(() => new Promise<void>((done) => requestIdleCallback(() => requestIdleCallback(() => done()))))
}

/** Answers a request. adk-web may draw the box again while the text is typed: then it is empty, and the text is typed once more. */
async function answer(text: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    await answerBox().fill(text)
    await answerBox().press('Enter')
    const isGone = await answerBox()
      .waitFor({ state: 'detached', timeout: 2_000 })
      .then(
        () => true,
        () => false,
      )
    if (isGone) return
    if (tries === 5 || (await answerBox().inputValue()) !== '') break
  }
  await answerBox().waitFor({ state: 'detached' })
}

async function shows(text: string): Promise<void> {
  await page.getByText(text).first().waitFor()
}

/** The names of the sessions that the server has. */
async function displayNames(): Promise<unknown[]> {
  const request = new Request('http://127.0.0.1/apps/desk/users/user/sessions', {
    headers: { authorization: `Bearer ${web.server.token}` },
  })
  const sessions: { state: { __session_metadata__?: { displayName?: string } } }[] = await (
    await web.server.fetch(request)
  ).json()
  return sessions.map(({ state }) => state.__session_metadata__?.displayName)
}

test('adk-web lists the app and shows a streamed reply', async () => {
  await page.getByRole('button', { name: 'desk' }).first().waitFor()
  await send('hello')
  await shows('Good morning, how can I help?')
  await expect.poll(() => page.getByText('Good morning').count()).toBe(1)
})

test('adk-web confirms a tool call, and the tool runs once', async () => {
  await sendAndPause('refund')
  await page.getByRole('checkbox', { name: 'Confirmed' }).check()
  expect(web.ran).toEqual([])
  await page.getByRole('button', { name: 'Submit' }).click()
  await shows('Result of refund: {"refunded":3}')
  expect(web.ran).toEqual(['refund 3'])
})

test('adk-web denies a tool call, and the tool does not run', async () => {
  const before = web.ran.length
  await sendAndPause('refund')
  await page.getByRole('button', { name: 'Submit' }).click()
  await shows('Result of refund: {"error"')
  expect(web.ran).toHaveLength(before)
})

test('adk-web answers a choice and long-running calls', async () => {
  await sendAndPause('get_user_choice')
  await shows('Which color?')
  await answer('blue')
  await shows('Result of get_user_choice: {"result":"blue"}')
  await sendAndPause('order')
  await answer('{"arrived": true}')
  await shows('Result of order: {"arrived":true}')
  await sendAndPause('review')
  await answer('{"approved": true}')
  await shows('Result of review: {"approved":true}')
})

test('adk-web fills in the form of a request for input', async () => {
  await sendAndPause('book')
  await shows('How long?')
  await page.getByRole('spinbutton').fill('3')
  await page.getByRole('button', { name: 'Submit' }).click()
  await shows('Result of book: {"booked":{"nights":3}}')
})

test('adk-web shows artifacts, the graph and the trace', async () => {
  await send('report')
  await shows('Result of report: {"written":2}')
  await page.getByRole('tab', { name: 'Artifacts' }).click()
  await shows('A report of June')
  await page.getByRole('tab', { name: 'Info' }).click()
  await page.getByRole('button', { name: 'report()' }).click()
  await page.locator('svg text', { hasText: /^report$/ }).waitFor()
  await page.getByRole('radio', { name: 'Traces' }).click()
  await page.getByText('call_llm').first().waitFor()
  await page.getByRole('radio', { name: 'Events' }).click()
})

test('adk-web opens the page of an OAuth provider and the tool gets the token', async () => {
  const before = web.ran.length
  const popup = context.waitForEvent('page')
  await send('mail')
  await popup
  await shows('Result of mail: {"sent":true}')
  expect(web.ran.slice(before)).toEqual(['mail granted'])
})

test('the stop button of adk-web cancels the run', async () => {
  await send('wait')
  await page.getByRole('button', { name: 'wait()' }).waitFor()
  await page.locator('button.stop-message-btn').click()
  await expect.poll(() => web.ran).toContain('wait was cancelled')
})

test('adk-web renames and deletes a session', async () => {
  await page.getByRole('button', { name: 'hello', exact: true }).click()
  const drawer = page.locator('mat-drawer.mat-drawer-opened').first()
  await drawer.getByRole('button', { name: 'Edit' }).click()
  await drawer.getByRole('textbox').fill('Renamed')
  await drawer.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('button', { name: 'Renamed', exact: true }).waitFor()
  await expect.poll(displayNames).toEqual(['Renamed'])
  await drawer.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await expect.poll(displayNames).toEqual([])
})

test('adk-web requests nothing but fonts from other machines, and fails nowhere', () => {
  expect(blocked.filter((url) => !/^https:\/\/fonts\.(googleapis|gstatic)\.com\//.test(url))).toEqual([])
  expect(errors).toEqual([])
  const deleted = web.requests.findIndex((line) => line.startsWith('DELETE ')) // adk-web then reads the deleted session
  expect(deleted).toBeGreaterThan(10)
  expect(web.requests.slice(0, deleted + 1).filter((line) => !/ (200|303)$/.test(line))).toEqual([])
})
