import type { Page } from 'playwright-core'
import {
  agentTool,
  createEvent,
  type Event,
  InMemoryArtifactService,
  InMemoryMemoryService,
  InMemorySessionService,
  LlmAgent,
  LoopAgent,
  Runner,
  SequentialAgent,
  tool,
} from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { beforeAll, describe, expect, test } from 'vitest'
import { HOSTILE_HOST, hostileTexts } from './hostile-texts.ts'
import { forgetProblems, openPage, startServer, type TestServer } from './kit.ts'
import { executed, expectSafe, openRecorded } from './recorder.ts'
import { expectAccessible } from './tab-kit.ts'

const userId = 'user'
const appName = 'desk'
const work = Promise.withResolvers<void>()
const save = tool({
  name: 'save_note',
  description: 'Saves a note.',
  run: async (_, context) => {
    const color = context.state.get('color') === 'blue' ? 'green' : 'blue'
    context.state.set('color', color)
    await context.saveArtifact('notes/today.txt', { text: `The color is ${color}.` })
    await context.saveArtifact('page.html', { inlineData: { mimeType: 'text/html', data: btoa(hostilePage) } })
    return { saved: true }
  },
})
const wait = tool({ name: 'wait', description: 'Waits.', run: () => work.promise })
const hostilePage = `<p>shown text</p><img src="https://${HOSTILE_HOST}/x.png"><script>parent.alert(1)</script>`

const call = (name: string) => ({ calls: [{ name }] })
const look = tool({ name: 'look', description: 'Looks.', run: () => ({}) })
const lend = tool({ name: 'lend_book', description: 'Lends.', run: () => ({}) })
const checker = new LlmAgent({ name: 'checker', model: scriptedModel([]), tools: [look] })
const clerk = new LlmAgent({
  name: 'clerk',
  description: hostileTexts.join(' '),
  model: scriptedModel([call('save_note'), 'Saved.', call('save_note'), 'Saved again.', call('wait'), 'Waited.']),
  tools: [save, wait, agentTool(checker), { name: 'library', listTools: async () => [lend] }],
})
const agent = new SequentialAgent({
  name: 'office',
  subAgents: [new LoopAgent({ name: 'shift', maxIterations: 1, subAgents: [clerk] })],
})
const services = {
  sessionService: new InMemorySessionService(),
  artifactService: new InMemoryArtifactService(),
  memoryService: new InMemoryMemoryService(),
}
const runner = new Runner({ appName, agent, ...services })
let server: TestServer
let sessionId = ''

beforeAll(async () => {
  server = await startServer({ apps: { [appName]: runner } })
  sessionId = (await runner.complete({ userId, message: 'Save a note' })).sessionId
  await runner.complete({ userId, sessionId, message: 'And another' })
})

const hash = (id = sessionId): string => `#/apps/${appName}/sessions/${id}/inspect`
const show = (page: Page, name: string) => page.getByRole('tab', { name, exact: true }).click()

test('the agents are drawn with their tools, and the position of the run is marked', async () => {
  const page = await openPage(server, { hash: hash() })
  await page.getByText('Last position: office › shift › clerk').waitFor()
  await expect
    .poll(() => page.locator('.agent-card strong').allTextContents())
    .toEqual(['office', 'shift', 'clerk', 'checker'])
  await expect
    .poll(() => page.locator('.agent-type').allTextContents())
    .toEqual(['in sequence', 'in a loop', 'LLM agent', 'LLM agent'])
  const tools = ['save_note', 'wait', 'checkeragent', 'librarytoolset', 'lend_book', 'look']
  await expect.poll(() => page.locator('.agent-tool').allTextContents()).toEqual(tools)
  await expect.poll(() => page.locator('.edge').count()).toBe(4) // two below each other, the loop, and the agent tool
  const run = runner.complete({ userId, sessionId, message: 'Wait' })
  await page.reload()
  await page.getByText('Running: office › shift › clerk, calling wait').waitFor()
  await expect
    .poll(() => page.locator('[aria-current="step"]').allTextContents())
    .toEqual([expect.stringContaining('clerk'), 'wait'])
  work.resolve()
  await run
  await page.getByText('Last position').waitFor()
  await expectAccessible(page)
})

test('a state key shows its value and each change, and can be edited, added and deleted', async () => {
  const page = await openPage(server, { hash: hash() })
  await show(page, 'State')
  const item = page.locator('.state-item', { hasText: 'color' })
  await item.getByText('2 changes').click()
  await expect
    .poll(() => item.locator('.state-changes > li').allInnerTexts())
    .toEqual([
      expect.stringMatching(/clerk[\s\S]*blue[\s\S]*green/),
      expect.stringMatching(/clerk[\s\S]*initial value[\s\S]*blue/),
    ])
  await item.getByRole('button', { name: 'Edit color' }).click()
  const value = page.getByRole('textbox', { name: 'Value as JSON' })
  await value.fill('red')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Enter JSON').waitFor()
  await value.fill('{"name":"red"}')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await item.getByText('3 changes').waitFor()
  expect((await stateOf()).color).toEqual({ name: 'red' })
  await item.getByRole('button', { name: 'Edit color' }).click()
  await page.getByRole('button', { name: 'Delete the key' }).click()
  await item.getByText('4 changes').waitFor()
  await expect.poll(stateOf).not.toHaveProperty('color')
  await page.getByRole('button', { name: 'Add a key' }).click()
  await page.getByRole('textbox', { name: 'Key' }).fill('user:size')
  await value.fill('5')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.locator('.state-item', { hasText: 'user:size' }).getByText('all sessions').waitFor()
  await expectAccessible(page)
})

const stateOf = async () => (await services.sessionService.getSession({ appName, userId, sessionId }))?.state ?? {}

test('an artifact shows its versions, text as text, and HTML only in a frame that runs and fetches nothing', async () => {
  const page = await openRecorded(server, { hash: hash() })
  await show(page, 'Artifacts')
  await page.getByRole('button', { name: 'notes/today.txt' }).click()
  await page.getByRole('button', { name: 'Preview' }).click()
  await page.getByText('The color is green.').waitFor()
  await page.getByLabel('Version').selectOption('0')
  await page.getByRole('button', { name: 'Preview' }).click()
  await page.getByText('The color is blue.').waitFor()
  await page.getByRole('button', { name: 'page.html' }).click()
  await page.getByRole('button', { name: 'Preview' }).click()
  await page.frameLocator('iframe[sandbox=""]').getByText('shown text').waitFor()
  await page.getByText('Source').click()
  await page.getByText('parent.alert(1)').waitFor()
  expect(await executed(page)).toEqual([])
  await page.getByRole('button', { name: 'Hide' }).click()
  await expectAccessible(page)
  forgetProblems(/Content Security Policy|sandboxed/) // the frame was not allowed to
})

test('the memory of the user is searched, and the session can be added to it', async () => {
  const page = await openPage(server, { hash: hash() })
  await show(page, 'Memory')
  await page.getByRole('button', { name: 'Add this session' }).click()
  await page.getByText('The session is in the memory').waitFor()
  await page.getByRole('searchbox', { name: /memory/ }).fill('another')
  await page.keyboard.press('Enter')
  await page.locator('.memory-item').getByText('And another').waitFor()
  await expectAccessible(page)
})

test('the log shows events and records, narrowed by text and kind', async () => {
  const page = await openPage(server, { hash: hash() })
  await show(page, 'Log')
  await page.getByLabel('Kind of entry').selectOption('records')
  await page.locator('.log-kind.record').first().waitFor()
  const kinds = async (): Promise<string[]> => [...new Set(await page.locator('.log-kind').allTextContents())]
  await expect.poll(kinds).toEqual(['intent'])
  await page.getByLabel('Kind of entry').selectOption('all')
  await page.getByRole('searchbox', { name: 'Filter the log' }).fill('AND ANOTHER')
  await expect.poll(() => page.locator('.log-row').count()).toBe(1)
  await page.locator('.log-row button').click()
  await page
    .getByRole('figure', { name: /^Entry/ })
    .getByText('And another')
    .waitFor()
  await expectAccessible(page)
})

describe('hostile texts', () => {
  beforeAll(async () => {
    const names = hostileTexts.filter((text) => !text.includes(':')).slice(0, 40)
    const values = (at: number): readonly string[] => hostileTexts.slice(at * 16, at * 16 + 16)
    const stateDelta = Object.fromEntries(names.map((name, at) => [name, [...values(at)]]))
    const events = hostileTexts.map(
      (text, at): Event =>
        createEvent({
          id: `h${at}`,
          invocationId: 'i1',
          author: text.replaceAll('\n', ' '),
          timestamp: 1_700_000_000,
          content: { role: 'model', parts: [{ text }] },
          errorCode: text,
          errorMessage: text,
          ...(at === 0 && { actions: { stateDelta } }),
        }),
    )
    const key = { appName, userId, sessionId: 'hostile' }
    const session = await services.sessionService.createSession({ ...key, state: stateDelta, events })
    await services.memoryService.addSessionToMemory({ ...session, events })
    for (const text of hostileTexts.slice(0, 60)) {
      const filename = text.replaceAll(/[\n/\\]/g, '_').slice(0, 100)
      await services.artifactService.saveArtifact({ ...key, filename, artifact: { text } }).catch(() => {})
    }
  })

  test('in state, artifacts, memory, agents and the log are shown as text', async () => {
    const page = await openRecorded(server, { hash: hash('hostile'), viewport: { width: 1280, height: 4000 } })
    await page.locator('.agent-card').first().waitFor()
    await expectSafe(page)
    await show(page, 'State')
    await page.locator('.state-item').nth(39).waitFor()
    await page.locator('details').evaluateAll((all) => {
      for (const one of all) one.setAttribute('open', '')
    })
    await expectSafe(page)
    await show(page, 'Artifacts')
    await page.locator('.artifact-names button').nth(10).click()
    await page.getByRole('button', { name: 'Preview' }).click()
    await expectSafe(page)
    await show(page, 'Memory')
    await page.getByRole('searchbox', { name: /memory/ }).fill('script img svg alert onerror')
    await page.keyboard.press('Enter')
    await page.locator('.memory-item').first().waitFor()
    await expectSafe(page)
    await show(page, 'Log')
    await page.locator('.log-row').nth(80).waitFor()
    for (const row of (await page.locator('.log-row > button').all()).slice(0, 5)) await row.click()
    await expectSafe(page)
  })
})
