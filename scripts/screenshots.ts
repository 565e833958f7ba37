// npm run docs:images: takes the pictures of the workbench in docs/images, in a real Chromium.
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { chromium } from 'playwright-core'
import { approve, InMemoryArtifactService, InMemoryMemoryService, LlmAgent, Runner } from 'toolwright'
import { geminiLive } from 'toolwright/gemini'
import { createServer } from 'toolwright/server'
import { scriptedModel } from 'toolwright/testing'
import { desk } from '../examples/voice-desk/desk.ts'
import { startServer } from '../examples/voice-desk/script.ts'
import { findBrowser } from './browser.ts'
import { buildPage } from './build-page.ts'
import { shop } from './screenshots/demo-agents.ts'

const FOLDER = 'docs/images'
const userId = 'user'

await mkdir(FOLDER, { recursive: true })
await buildPage()
const runner = new Runner({
  appName: 'shop',
  agent: shop,
  artifactService: new InMemoryArtifactService(),
  memoryService: new InMemoryMemoryService(),
})
const { agent: _, ...liveOptions } = desk
const voice = desk.agent instanceof LlmAgent ? desk.agent : undefined
if (!voice) throw new Error('examples/voice-desk/desk.ts has no agent.')
const gemini = await startServer()
const liveModel = geminiLive('gemini-live-2.5-flash', { apiKey: 'offline', baseUrl: gemini.url })
const server = createServer({
  apps: { shop: runner, 'voice-desk': new Runner({ appName: 'voice-desk', agent: voice, model: scriptedModel([]) }) },
  live: { 'voice-desk': { ...liveOptions, model: liveModel } },
  dev: true,
  page: 'dist/workbench',
})
const { url } = await server.listen({ port: 0 })
const browser = await chromium.launch({
  executablePath: await findBrowser(),
  chromiumSandbox: process.getuid?.() !== 0,
  args: ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream', '--font-render-hinting=none'],
})
const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' })
const page = await context.newPage()
await page.goto(`${url}/?token=${server.token}`)
await page.getByRole('navigation', { name: 'Views' }).waitFor()

const first = await newSession('Paid twice')
const second = await newSession('Second customer')
const waiting = await runner.complete({
  userId,
  sessionId: first,
  message: 'I paid twice for order 1042. Can I get my money back?',
})
await runner.complete({ userId, sessionId: second, message: 'Please check A-1042 again.' })

await open('#/inbox')
await page.getByRole('button', { name: 'Approve' }).first().waitFor()
await take('inbox')

await runner.complete({ userId, sessionId: first, message: waiting.pending.map((request) => approve(request)) })
await open(`#/apps/shop/sessions/${first}`)
await page.getByText('are on their way back').waitFor()
await take('chat')

await open(`#/apps/shop/sessions/${first}/timeline`)
await page.getByRole('button', { name: /^Tool refund_order/ }).click()
await page.mouse.move(0, 0)
await take('timeline')
await page
  .getByRole('button', { name: /^Model call/ })
  .first()
  .click()
await page.getByText('Request and reply').click()
await page.getByText('Instruction', { exact: true }).waitFor()
await page.mouse.move(0, 0)
await page.locator('.model-call').evaluate((element) => element.scrollIntoView({ block: 'end' }))
await take('model-call')

await page.keyboard.press('Control+k')
await page.getByRole('combobox', { name: 'Sessions, tools, agents and actions' }).fill('ref')
await page.getByRole('listbox', { name: 'Results' }).getByText('refund_order').waitFor()
await take('palette')
await page.keyboard.press('Escape')

await open(`#/apps/shop/sessions/${second}/inspect`)
await page.getByText('Last position').waitFor()
await take('inspect')

await open('#/apps/shop/bench')
await page.getByRole('textbox', { name: 'order' }).fill('A-1042')
await page.getByRole('button', { name: 'Run', exact: true }).click()
await page.getByRole('button', { name: 'Save as test' }).waitFor()
await take('bench')

await takeLive()
await browser.close()
await server.close()
await gemini.close()
shrinkPictures()

/** The pictures are part of the package: with 256 colours they take a third. */
function shrinkPictures(): void {
  const options = ['--force', '--ext', '.png', '--skip-if-larger', '--quality', '70-98']
  const { error } = spawnSync('pngquant', [...options, ...globSync(`${FOLDER}/*.png`)])
  if (error) console.warn('The pictures are large. Install pngquant, and run npm run docs:images again.')
}

async function newSession(displayName: string): Promise<string> {
  const state = { __session_metadata__: { displayName } }
  return (await runner.sessionService.createSession({ appName: 'shop', userId, state })).id
}

async function open(hash: string): Promise<void> {
  await page.goto(`${url}/?${hash.length}${hash}`)
  await page.getByRole('navigation', { name: 'Views' }).waitFor()
}

/** Takes a picture when the page has stopped moving. */
async function take(name: string): Promise<void> {
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))
  await page.screenshot({ path: `${FOLDER}/workbench-${name}.png`, animations: 'disabled' })
}

async function takeLive(): Promise<void> {
  const session = await server.fetch(
    new Request(`${url}/apps/voice-desk/users/${userId}/sessions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json', host: new URL(url).host },
      body: JSON.stringify({ state: { __session_metadata__: { displayName: 'Call of 10:42' } } }),
    }),
  )
  const { id } = (await session.json()) as { id: string }
  await open(`#/apps/voice-desk/sessions/${id}/live`)
  await page.getByRole('button', { name: 'Start speaking' }).click()
  await page.getByText('Live', { exact: true }).last().waitFor()
  await page.getByText('Charge 50 EUR now?').waitFor()
  await page.getByRole('button', { name: 'Approve' }).and(page.locator(':enabled')).waitFor()
  await take('live')
}
