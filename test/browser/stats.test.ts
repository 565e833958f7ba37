import type { Page } from 'playwright-core'
import { approve, InMemorySessionService, LlmAgent, Runner, tool } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { beforeAll, expect, test } from 'vitest'
import { hostileTexts } from './hostile-texts.ts'
import { accessibilityProblems, openPage, startServer, type TestServer } from './kit.ts'
import { expectSafe, openRecorded } from './recorder.ts'

const sessionService = new InMemorySessionService()
let server: TestServer

const find = tool({ name: 'find', description: 'Finds', run: () => ({ found: 'x'.repeat(2_000) }) })
const fail = tool({
  name: 'fail',
  description: 'Fails',
  run: () => {
    throw new Error('No.')
  },
})
const pay = tool({ name: 'pay', description: 'Pays', requiresConfirmation: true, run: () => ({ paid: true }) })

const agentOf = (steps: Parameters<typeof scriptedModel>[0]): LlmAgent =>
  new LlmAgent({ name: 'desk', model: scriptedModel(steps), tools: [find, fail, pay] })

/** Three sessions of a user. In each one approval is given at once. */
async function callTools(): Promise<void> {
  for (const sessionId of ['s1', 's2', 's3']) {
    const calls = [{ name: 'find' }, { name: 'find' }, { name: 'fail' }, { name: 'pay' }]
    const runner = new Runner({ appName: 'shop', agent: agentOf([{ calls }, 'Done.']), sessionService })
    const { pending } = await runner.complete({ userId: 'user', sessionId, message: 'Go.' })
    await runner.complete({ userId: 'user', sessionId, message: pending.map((request) => approve(request)) })
    await runner.close()
  }
}

/** Imported calls with names that no tool has. */
async function importCalls(): Promise<void> {
  const events = hostileTexts
    .filter((text) => text !== '')
    .slice(0, 90)
    .map((name, at) => ({
      id: `e${at}`,
      invocationId: 'i1',
      author: 'desk',
      timestamp: at,
      actions: {},
      content: { role: 'model', parts: [{ functionCall: { id: `c${at}`, name: name.slice(0, 200), args: {} } }] },
    }))
  await sessionService.createSession({ appName: 'hostile', userId: 'user', events: events as never })
}

beforeAll(async () => {
  server = await startServer({
    apps: { shop: agentOf([]), empty: agentOf([]), hostile: agentOf([]) },
    services: { sessionService },
    recover: false,
  })
  await callTools()
  await importCalls()
}, 60_000)

const cells = (page: Page, name: string): Promise<string[]> =>
  page
    .getByRole('row')
    .filter({ has: page.getByRole('rowheader', { name, exact: true }) })
    .getByRole('cell')
    .allTextContents()

test('shows calls, failures, times, sizes and hasty approvals by tool and by agent', async () => {
  const page = await openPage(server, { hash: '#/apps/shop/stats' })
  await page.getByText('3 sessions').waitFor()
  const [calls, failed, , , results] = await cells(page, 'find')
  expect([calls?.trim(), failed, results]).toEqual(['6', '0', '12.1 kB'])
  expect((await cells(page, 'fail')).slice(0, 2)).toEqual(['3 ', '3 EXECUTION_FAILED'])
  expect((await cells(page, 'pay')).slice(6)).toEqual(['3', '0', expect.stringMatching(/ms$/), '100 %'])
  await page.getByLabel('By').selectOption('Agent')
  await page.getByRole('rowheader', { name: 'desk' }).waitFor()
  expect((await cells(page, 'desk'))[0]?.trim()).toBe('12')
  await page.getByLabel('When').selectOption('Last hour')
  await page.getByText('3 sessions').waitFor()
})

test('is reached from the menu and with the keyboard, and says when there are no calls', async () => {
  const page = await openPage(server, { hash: '#/apps/empty' })
  await page.getByRole('link', { name: 'Statistics' }).click()
  await page.getByText('No tool was called.').waitFor()
  await page.getByRole('link', { name: 'Inbox' }).click()
  await page.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor()
  await page.goBack()
  await page.getByRole('heading', { level: 1, name: 'Statistics' }).waitFor()
  await page.keyboard.press('g')
  await page.keyboard.press('i')
  await page.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor()
})

test.each([
  ['light', 390],
  ['dark', 1440],
] as const)('breaks no accessibility rule and does not scroll sideways: %s, %d pixels', async (colorScheme, width) => {
  const page = await openPage(server, { hash: '#/apps/shop/stats', colorScheme, viewport: { width, height: 800 } })
  await page.getByRole('rowheader', { name: 'find' }).waitFor()
  expect(await accessibilityProblems(page)).toEqual([])
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
})

test('hostile names of tools are shown as text', async () => {
  const page = await openRecorded(server, { hash: '#/apps/hostile/stats' })
  await page.getByRole('rowheader').first().waitFor()
  expect(await page.getByRole('rowheader').count()).toBeGreaterThan(50)
  await expectSafe(page)
})
