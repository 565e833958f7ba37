import type { Page } from 'playwright-core'
import { InMemorySessionService, InMemoryWorkerService, LlmAgent } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { beforeAll, expect, test } from 'vitest'
import { hostileTexts } from './hostile-texts.ts'
import { accessibilityProblems, openPage, startServer, type TestServer } from './kit.ts'
import { expectSafe, openRecorded } from './recorder.ts'

const sessions = new InMemorySessionService()
const workers = new InMemoryWorkerService()
let server: TestServer

const about = { engine: 'restate', version: '1.2.3', startedAt: Date.UTC(2026, 0, 1), recoveries: [] } as const
const counts = { running: 2, continued: 70, crashes: 3 }

async function setAside(appName: string, sessionId: string, reason: string): Promise<void> {
  const key = { appName, userId: 'ada', sessionId }
  await sessions.createSession(key)
  await sessions.release(await sessions.claim(key), { setAside: reason })
}

beforeAll(async () => {
  const agent = (): LlmAgent => new LlmAgent({ name: 'desk', model: scriptedModel([]) })
  server = await startServer({
    apps: { empty: agent(), shop: agent(), retry: agent(), hostile: agent() },
    services: { sessionService: sessions, workerService: workers },
    recover: false, // the server would continue the session that is retried
  })
  const recoveries = [{ upToMs: 6_000, count: 4 }]
  await workers.report({ appName: 'shop', id: 'w1', label: 'pod-1', agents: 'aaaa', ...about, ...counts, recoveries })
  await workers.report({ appName: 'shop', id: 'w2', label: 'pod-2', agents: 'bbbb', ...about, ...counts })
  await setAside('shop', 's1', `5 processes in a row died while they continued the session. ${'x'.repeat(300)}`)
  await setAside('retry', 's1', 'It crashes.')
}, 60_000)

const open = (app: string, options: { colorScheme?: 'light' | 'dark'; width?: number } = {}): Promise<Page> => {
  const { width = 1440, colorScheme = 'light' } = options
  return openPage(server, { hash: `#/apps/${app}/fleet`, colorScheme, viewport: { width, height: 800 } })
}

test('shows workers, two versions side by side, sessions by state and recovery times', async () => {
  const page = await open('shop')
  await page.getByText('2 workers, 2 versions').waitFor()
  const row = page.getByRole('row').filter({ hasText: 'pod-1' })
  expect(await row.getByRole('cell').allTextContents()).toEqual([
    'aaaa',
    '1.2.3',
    '2',
    '70',
    '3',
    expect.any(String),
    expect.stringMatching(/ago$/),
  ])
  expect(await page.locator('.state.setAside').textContent()).toBe('Set aside1')
  await page.getByText('4, half within 6.0 s, 99 % within 6.0 s').waitFor()
  await page.getByText('5 processes in a row died').waitFor()
})

test('says how to start a worker while there is none, and shows the first one by itself', async () => {
  const page = await open('empty')
  await page.getByText('npx toolwright worker agent.ts').waitFor()
  await workers.report({ appName: 'empty', id: 'w9', label: 'first', agents: 'a', ...about, ...counts })
  await page.getByRole('row').filter({ hasText: 'first' }).waitFor()
  await workers.remove({ appName: 'empty', id: 'w9' })
  await page.getByText('npx toolwright worker agent.ts').waitFor()
})

test('a session that was set aside is retried with a button', async () => {
  const page = await open('retry')
  const item = page.getByRole('article', { name: 'ada / s1' })
  await item.getByText('It crashes.').waitFor()
  await item.getByRole('button', { name: 'Retry' }).click()
  await item.waitFor({ state: 'detached' })
  await page.getByText('A worker continues ada / s1.').waitFor()
  expect(await sessions.interrupted({ appName: 'retry' })).toEqual([
    { appName: 'retry', userId: 'ada', sessionId: 's1' },
  ])
})

test('is reached from the menu and with the keyboard', async () => {
  const page = await openPage(server)
  await page.getByRole('link', { name: 'Fleet' }).click()
  await page.getByRole('heading', { level: 1, name: 'Fleet' }).waitFor()
  await page.getByRole('link', { name: 'Inbox' }).click()
  await page.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor()
  await page.keyboard.press('g')
  await page.keyboard.press('f')
  await page.getByRole('heading', { level: 1, name: 'Fleet' }).waitFor()
})

test.each([
  ['light', 1440],
  ['light', 390],
  ['dark', 1440],
  ['dark', 390],
] as const)('breaks no accessibility rule and does not scroll sideways: %s, %d pixels', async (colorScheme, width) => {
  for (const app of ['shop', 'empty']) {
    const page = await open(app, { colorScheme, width })
    await page
      .getByText(app === 'shop' ? '5 processes' : 'npx toolwright worker')
      .first()
      .waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
    await page.close()
  }
})

test('hostile ids, labels and reasons are shown as text', async () => {
  const texts = hostileTexts.map((text) => text.slice(0, 200)).filter((text) => text !== '')
  for (const [at, text] of texts.slice(0, 90).entries()) {
    await workers.report({ appName: 'hostile', id: `w${at}`, label: text, ...about, ...counts, agents: text })
    await setAside('hostile', text, text)
  }
  const page = await openRecorded(server, { hash: '#/apps/hostile/fleet' })
  await page.getByRole('button', { name: 'Retry' }).first().waitFor()
  expect(await page.getByRole('button', { name: 'Retry' }).count()).toBe(90)
  await expectSafe(page)
})
