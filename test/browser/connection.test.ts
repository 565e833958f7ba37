import type { Page } from 'playwright-core'
import { InMemorySessionService, LlmAgent, type Model, type Tool, textOf, tool } from 'toolwright'
import { expect, onTestFinished, test } from 'vitest'
import { messageField, say } from './chat-kit.ts'
import { openPage, startServer, type TestServer } from './kit.ts'
import { expectAccessible } from './tab-kit.ts'
import { createFolder, FILES, startWatch } from './web-watch-kit.ts'

const TOKEN = 'token-of-both-servers'
const refund = tool({ name: 'refund', description: 'Refunds', requiresConfirmation: true, run: () => 'refunded' })
const exchange = tool({ name: 'exchange', description: 'Exchanges', run: () => 'exchanged' })
const echo: Model = {
  name: 'echo',
  async *generate({ contents }) {
    const text = textOf(contents.at(-1))
    const part = text === 'refund' ? { functionCall: { name: 'refund', args: {} } } : { text: `You said ${text}.` }
    yield { content: { role: 'model', parts: [part] } }
  },
}

/** A server whose sessions survive it. `restart` starts another one under the same address. */
async function start() {
  const sessionService = new InMemorySessionService()
  const options = (tools: Tool[]) => ({
    apps: { shop: new LlmAgent({ name: 'desk', model: echo, tools }) },
    services: { sessionService },
    token: TOKEN,
  })
  const first = await startServer(options([refund]))
  const restart = (...tools: Tool[]): Promise<TestServer> =>
    startServer(options(tools), Number(new URL(first.url).port))
  return { first, restart }
}

/** Runs a message in a session of the user, as another client does. */
async function runElsewhere({ url }: TestServer, sessionId: string, text: string): Promise<void> {
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
  const newMessage = { role: 'user', parts: [{ text }] }
  const body = JSON.stringify({ appName: 'shop', userId: 'user', sessionId, newMessage })
  const response = await fetch(`${url}/run`, { method: 'POST', headers, body })
  expect(response.status).toBe(200)
}

/** Waits for the reply, and for the end of its run. */
async function untilReply(page: Page, text: string): Promise<void> {
  const chat = page.getByRole('region', { name: 'Conversation' })
  await chat.getByText(`You said ${text}.`, { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Send', exact: true }).waitFor()
}

function sessionOf(page: Page): string {
  return new URL(page.url()).hash.split('/')[4] ?? ''
}

const status = (page: Page) => page.getByRole('status').getByText('Reconnecting')

test('a server that is away is reported politely, and the page is usable again when it is back', async () => {
  const { first, restart } = await start()
  const page = await openPage(first)
  await say(page, 'hello')
  await untilReply(page, 'hello')
  await messageField(page).fill('a draft')
  await first.server.close()
  await status(page).waitFor()
  await expect.poll(() => page.getByRole('button', { name: 'Send', exact: true }).isDisabled()).toBe(true)
  expect(await page.getByRole('alert').count()).toBe(0)
  await expectAccessible(page)
  await page.setViewportSize({ width: 1280, height: 800 })

  const second = await restart(refund, exchange)
  await status(page).waitFor({ state: 'detached' })
  await expect.poll(() => messageField(page).inputValue()).toBe('a draft')
  await say(page, 'again')
  await untilReply(page, 'again')
  await page.getByRole('tab', { name: 'Inspect' }).click()
  await page.getByText('exchange', { exact: true }).waitFor()
  await runElsewhere(second, sessionOf(page), 'elsewhere')
  await page.getByRole('tab', { name: 'Chat' }).click()
  await untilReply(page, 'elsewhere')
})

test('a run continues on the server while the network is lost, and its reply is shown afterwards', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>()
  const model: Model = {
    name: 'slow',
    async *generate() {
      ask()
      await released
      yield { content: { role: 'model', parts: [{ text: 'You said slow.' }] } }
    },
  }
  const agent = new LlmAgent({ name: 'desk', model })
  const page = await openPage(await startServer({ apps: { shop: agent }, onDisconnect: 'detach' }))
  await say(page, 'slow')
  await asked
  await page.context().setOffline(true)
  onTestFinished(() => page.context().setOffline(false))
  await status(page).waitFor()
  release()
  await page.context().setOffline(false)
  await untilReply(page, 'slow')
  await status(page).waitFor({ state: 'detached' })
})

test('a message that cannot be sent is back in the field', async () => {
  const { first } = await start()
  const page = await openPage(first)
  await say(page, 'hello')
  await untilReply(page, 'hello')
  await page.route('**/run_sse', (route) => route.abort('connectionrefused'))
  await say(page, 'lost?')
  await page.getByText('The server does not answer').waitFor()
  await expect.poll(() => messageField(page).inputValue()).toBe('lost?')
  await page.unroute('**/run_sse')
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await untilReply(page, 'lost?')
  await expect.poll(() => page.getByText('lost?', { exact: true }).count()).toBe(1)
})

test('an open session and the inbox show what another client does, without a click', async () => {
  const { first } = await start()
  const page = await openPage(first)
  await say(page, 'hello')
  await untilReply(page, 'hello')
  await runElsewhere(first, sessionOf(page), 'by curl')
  await untilReply(page, 'by curl')
  await runElsewhere(first, sessionOf(page), 'refund')
  await page.getByRole('link', { name: 'Inbox 1 open' }).waitFor()
  await page.getByRole('button', { name: 'Approve' }).waitFor()
})

test('a page in the background holds no connection, and catches up when it is shown', async () => {
  const { first } = await start()
  const page = await openPage(first)
  await say(page, 'hello')
  await untilReply(page, 'hello')
  const stopped = page.waitForEvent('requestfailed', (request) => request.url().includes('/changes?'))
  const show = (state: string): Promise<void> =>
    page.evaluate((value) => {
      Object.defineProperty(document, 'visibilityState', { value, configurable: true })
      document.dispatchEvent(new Event('visibilitychange'))
    }, state)
  await show('hidden')
  await stopped
  await runElsewhere(first, sessionOf(page), 'meanwhile')
  expect(await page.getByText('You said meanwhile.', { exact: true }).count()).toBe(0)
  await show('visible')
  await untilReply(page, 'meanwhile')
})

test('an unsent message stays in its session while another tab or session is shown', async () => {
  const { first } = await start()
  const page = await openPage(first)
  await say(page, 'hello')
  await untilReply(page, 'hello')
  await messageField(page).fill('a draft')
  await page.getByRole('tab', { name: 'Timeline' }).click()
  await page.getByRole('tab', { name: 'Chat' }).click()
  await expect.poll(() => messageField(page).inputValue()).toBe('a draft')
  await page.getByRole('button', { name: 'New session' }).click()
  await page.getByRole('heading', { name: 'New session' }).waitFor()
  await expect.poll(() => messageField(page).inputValue()).toBe('')
  await page.goBack()
  await page.getByRole('heading', { name: 'hello' }).waitFor()
  await expect.poll(() => messageField(page).inputValue()).toBe('a draft')
})

test('a user who types while the page of a new session opens goes on typing there', async () => {
  const { first } = await start()
  const page = await openPage(first)
  const created = Promise.withResolvers<void>()
  await page.route('**/users/*/sessions', async (route) => {
    if (route.request().method() === 'POST') await created.promise
    await route.continue()
  })
  await say(page, 'hello')
  await messageField(page).focus()
  await page.keyboard.type('a dr')
  created.resolve()
  await untilReply(page, 'hello')
  await page.keyboard.type('aft') // without a click: the field has kept the focus
  await expect.poll(() => messageField(page).inputValue()).toBe('a draft')
})

test('a page whose server has another token says what to open', async () => {
  const { first } = await start()
  const page = await openPage(first)
  await first.server.close()
  const { url, server } = await startServer(
    { apps: { shop: new LlmAgent({ name: 'desk', model: echo }) }, token: 'another-token-of-a-server' },
    Number(new URL(first.url).port),
  )
  const report = page.getByRole('status').getByText('Open the address that it printed')
  await report.waitFor()
  const other = await openPage({ url, server })
  await report.waitFor({ state: 'detached' }) // the pages of a browser share the cookie
  await other.close()
})

test('toolwright web --watch: the page shows a new tool, and a running turn resumes', async () => {
  const slow = `import { writeFileSync, existsSync } from 'node:fs'
import { LlmAgent, textOf, tool } from 'toolwright'
import { NAME } from './name.ts'

const named = tool({ name: NAME, description: 'Has a name', run: () => 'done' })
const model = {
  name: 'slow',
  async *generate({ contents }) {
    const text = textOf(contents.at(-1))
    if (!existsSync('asked')) {
      writeFileSync('asked', '')
      await new Promise((resolve) => setTimeout(resolve, 60_000))
    }
    yield { content: { role: 'model', parts: [{ text: 'You said ' + text + '.' }] } }
  },
}
export default new LlmAgent({ name: 'desk', model, tools: [named] })
`
  const folder = createFolder({ ...FILES, 'agent.ts': slow })
  const web = await startWatch(folder)
  const chat = await openPage(web)
  const bench = await openPage(web, { hash: '#/apps/agent/bench' })
  await bench.getByRole('button', { name: 'first_tool' }).waitFor()
  await say(chat, 'hello')
  await chat.getByRole('button', { name: 'Stop' }).waitFor()
  await messageField(chat).fill('a draft')
  await expect.poll(() => folder.has('asked')).toBe(true)
  folder.write('name.ts', "export const NAME = 'second_tool'\n")
  await bench.getByRole('button', { name: 'second_tool' }).waitFor({ timeout: 30_000 }) // a process starts
  await untilReply(chat, 'hello')
  await expect.poll(() => messageField(chat).inputValue()).toBe('a draft')
}, 60_000)
