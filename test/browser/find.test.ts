import { readFile, writeFile } from 'node:fs/promises'
import { InMemorySessionService, LlmAgent, Runner, tool } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { beforeAll, expect, test } from 'vitest'
import { sessionAction } from './chat-kit.ts'
import { accessibilityProblems, openPage, startServer, type TestServer } from './kit.ts'

const WIDE = { width: 1440, height: 900 }
const sessionService = new InMemorySessionService()
const lookUp = tool({ name: 'look_up', description: 'Looks up', effect: 'none', run: () => ({ city: 'Oslo' }) })
const breaks = tool({
  name: 'breaks',
  description: 'Throws',
  run: () => {
    throw new Error('No such table')
  },
})
const clerk = new LlmAgent({ name: 'clerk', description: 'Files things.' })
const steps = [
  { calls: [{ name: 'look_up', args: { id: "it's" } }] },
  'It is in Oslo.',
  { calls: [{ name: 'breaks' }] },
]
const runner = new Runner({
  appName: 'desk',
  sessionService,
  agent: new LlmAgent({
    name: 'desk',
    model: scriptedModel([...steps, 'Sorry.', 'Hello.', 'Later.']),
    tools: [lookUp, breaks],
    subAgents: [clerk],
  }),
  logger: { warn: () => {}, error: () => {} },
})
let server: TestServer

beforeAll(async () => {
  server = await startServer({ apps: { desk: runner } })
  await runner.complete({ userId: 'user', sessionId: 's1', message: 'Where is it?' })
  await runner.complete({ userId: 'user', sessionId: 's1', message: 'Break it' })
  await runner.complete({ userId: 'ada', sessionId: 's2', message: 'A parcel for Ada' })
})

test('a wide page has the timeline beside the chat, and marks in one what the user points at in the other', async () => {
  const page = await openPage(server, { hash: '#/apps/desk/sessions/s1', viewport: WIDE })
  const timeline = page.getByRole('region', { name: 'Timeline', exact: true })
  const chat = page.getByRole('region', { name: 'Conversation' })
  const details = timeline.getByRole('region', { name: 'Selected step' })
  await details.getByRole('heading', { name: 'breaks' }).waitFor() // the failed step
  const bar = timeline.getByRole('button', { name: /breaks/ })
  await chat.getByRole('article', { name: /Call of breaks/ }).hover()
  await expect.poll(() => bar.getAttribute('data-linked'), { timeout: 5_000 }).toBe('')
  await bar.hover()
  await chat.locator('[data-linked]').filter({ hasText: 'breaks' }).waitFor()
  await chat.getByText('Where is it?').click() // another run
  await details.getByRole('heading', { name: 'Model call' }).waitFor()
  await expect.poll(() => timeline.locator('[data-step][data-linked]').count(), { timeout: 5_000 }).toBe(3)
  await chat
    .getByRole('article', { name: /Call of look_up/ })
    .getByRole('button', { name: 'Arguments' })
    .focus()
  await details.getByRole('heading', { name: 'look_up' }).waitFor()
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    expect(await accessibilityProblems(page)).toEqual([])
  }
  await page.setViewportSize({ width: 1100, height: 800 })
  await timeline.waitFor({ state: 'detached' })
  await page.getByRole('tab', { name: 'Timeline' }).click()
  await page.getByRole('region', { name: 'Selected step' }).waitFor()
})

test('finds sessions by text and state, also of other users and as they come, and anything with Ctrl K', async () => {
  const page = await openPage(server, { hash: '#/apps/desk' })
  await page.getByRole('region', { name: 'Agents' }).getByText('Files things.').waitFor()
  const sessions = page.getByRole('navigation', { name: 'Sessions' })
  const links = sessions.getByRole('link')
  await links.filter({ hasText: 'Where is it?' }).waitFor()
  await page.keyboard.press('f')
  await page.keyboard.type('parcel')
  await sessions.getByText('Nothing found in 1 session.').waitFor()
  await sessions.getByRole('button', { name: 'Filters' }).click()
  await sessions.getByLabel('All users').check()
  await links.filter({ hasText: 'ada' }).waitFor()
  await sessions.getByRole('searchbox').fill('')
  await sessions.getByLabel('State').selectOption('completed')
  await sessions.getByLabel('Tool').fill('look_up')
  await expect
    .poll(() => links.allTextContents(), { timeout: 10_000 })
    .toEqual([expect.stringContaining('Where is it?')])
  expect(await accessibilityProblems(page)).toEqual([])
  await sessions.getByLabel('Tool').fill('')
  await links.filter({ hasText: 'A parcel' }).click()
  await page.getByRole('heading', { level: 1, name: 'A parcel for Ada' }).waitFor()
  expect(await page.getByRole('combobox', { name: 'User' }).inputValue()).toBe('ada')
  const messages = page.getByRole('region', { name: 'Messages' })
  await messages.getByText('You now act as “ada”.').waitFor()
  expect(await accessibilityProblems(page)).toEqual([])
  expect(await page.evaluate(() => localStorage.getItem('toolwright:user'))).not.toBe('ada')
  await runner.complete({ userId: 'bob', sessionId: 's3', message: 'From another process' })
  await links.filter({ hasText: 'From another process' }).waitFor()
  await page.reload()
  await page.getByRole('heading', { level: 1, name: 'A parcel for Ada' }).waitFor()
  await messages.getByRole('button', { name: 'Act as user' }).click()
  await page.getByRole('heading', { level: 1, name: 'New session' }).waitFor()
  expect(await page.getByRole('combobox', { name: 'User' }).inputValue()).toBe('user')
  await page.goBack()
  await page.getByRole('heading', { level: 1, name: 'A parcel for Ada' }).waitFor()

  await page.keyboard.press('Control+k')
  const field = page.getByRole('combobox', { name: 'Sessions, tools, agents and actions' })
  await field.fill('tool look')
  await page.getByRole('option', { name: /Tool look_up/, selected: true }).waitFor()
  expect(await accessibilityProblems(page)).toEqual([])
  await field.fill('go to')
  await page.getByRole('option', { name: /inbox/ }).waitFor()
  await page.keyboard.press('ArrowDown')
  const chosen = page.getByRole('dialog').getByRole('option', { selected: true })
  expect(await field.getAttribute('aria-activedescendant')).toBe(await chosen.getAttribute('id'))
  await field.fill('look_up')
  await page.getByRole('option', { name: /Tool look_up/ }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Tool bench' }).waitFor()
  await page.getByRole('button', { name: 'look_up', pressed: true }).waitFor()
  await page.evaluate(() => localStorage.clear())
})

test('links to a call, exports and imports a session, and says what does not exist', async () => {
  const page = await openPage(server, { hash: '#/apps/desk/sessions/s1' })
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  const copied = () => page.evaluate(() => navigator.clipboard.readText())
  const card = page.getByRole('article', { name: /Call of look_up/ })
  const copy = async (what: string): Promise<string> => {
    await card.getByRole('button', { name: 'Copy the call of look_up' }).press('Enter')
    await page.getByRole('menuitem', { name: what }).press('Enter')
    await page
      .getByText(`${what.replace('Copy', 'Copied')}.`)
      .first()
      .waitFor()
    return await copied()
  }
  const link = await copy('Copy link')
  expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#\/apps\/desk\/sessions\/s1\?user=user&at=adk-/)
  expect(link).not.toContain(String(server.server.token))
  expect(JSON.parse(await copy('Copy as JSON'))).toMatchObject({ name: 'look_up', args: { id: "it's" } })
  expect(await copy('Copy as curl')).toContain(`/dev/apps/desk/agents/desk/tools/look_up/call`)
  await page.goto('about:blank')
  await page.goto(link)
  await page.locator('[aria-current="true"]').filter({ has: card }).waitFor()
  await page.goto(link.replace(/at=.*/, 'at=nothing'))
  await page.getByText('This session has no call, event or request “nothing”.').waitFor()

  const download = page.waitForEvent('download')
  await sessionAction(page, 'Where is it?', 'Export as JSON')
  const file = await (await download).path()
  const exported = JSON.parse(await readFile(file, 'utf8'))
  await writeFile(file, JSON.stringify({ ...exported, state: { ...exported.state, 'user:secret': 1 } }))
  await page.getByLabel('Session file').setInputFiles(file)
  await page.getByText('imported', { exact: true }).first().waitFor()
  const imported = /sessions\/([^/?]+)/.exec(page.url())?.[1] ?? ''
  const stored = await sessionService.getSession({ appName: 'desk', userId: 'user', sessionId: imported })
  expect(stored?.events.every((event) => event.imported)).toBe(true)
  expect(stored?.state).toEqual({})

  await page.goto(`${server.url}/#/apps/desk/sessions/gone`)
  await page.getByRole('heading', { name: 'There is no such session' }).waitFor()
  expect(await page.getByRole('button', { name: 'Send' }).count()).toBe(0)
  expect(await page.locator('main').textContent()).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}/)
  await page.goto(`${server.url}/#/apps/other`)
  await page.getByRole('link', { name: 'desk', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'New session' }).waitFor()
})

test('a browser without the token asks for it, and opens the session that the link names', async () => {
  const page = await openPage(server)
  await page.context().clearCookies()
  await page.goto('about:blank')
  await page.goto(`${server.url}/#/apps/desk/sessions/s1`)
  expect(await accessibilityProblems(page)).toEqual([])
  await page.getByLabel('Token').fill('wrong')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').waitFor()
  await page.getByLabel('Token').fill(String(server.server.token))
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Where is it?' }).waitFor()
  expect(page.url()).toBe(`${server.url}/#/apps/desk/sessions/s1`)
})
