import type { Page } from 'playwright-core'
import {
  agentTool,
  approve,
  confirm,
  createEvent,
  deny,
  type Event,
  LlmAgent,
  Runner,
  ToolError,
  tool,
} from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { hostileTexts } from './hostile-texts.ts'
import { openPage, startServer, type TestServer } from './kit.ts'
import { expectSafe, openRecorded } from './recorder.ts'
import { expectAccessible } from './tab-kit.ts'

const clock = { now: 1_700_000_000_000 }
const takes = (ms: number): void => {
  clock.now += ms
}
const usageMetadata = { promptTokenCount: 100, candidatesTokenCount: 20, totalTokenCount: 120 }
const work = Promise.withResolvers<void>()

const find = tool({
  name: 'find_order',
  description: 'Finds an order.',
  parameters: z.object({ order: z.string() }),
  effect: 'none',
  run: ({ order }) => {
    takes(order === 'A-1' ? 40 : 400)
    return { order, paid: 2 }
  },
})
const refund = confirm(
  tool({
    name: 'refund',
    description: 'Refunds.',
    parameters: z.object({ amount: z.number() }),
    run: async ({ amount }) => {
      takes(50)
      if (amount === 3) await work.promise
      return { amount }
    },
  }),
  'Refund?',
)
const step = (name: string, args: object) => () => {
  takes(100)
  return { calls: [{ name, args: { ...args } }], response: { usageMetadata } }
}
const says = (text: string) => () => {
  takes(100)
  return { text, response: { usageMetadata } }
}
const model = scriptedModel([
  step('find_order', { order: 'A-1' }),
  step('refund', { amount: 1 }),
  says('Refunded one.'),
  step('find_order', { order: 'B-22' }),
  step('find_order', { order: 'B-23' }),
  says('Found both.'),
  step('refund', { amount: 3 }),
  says('Refunded three.'),
])
const runner = new Runner({
  appName: 'desk',
  agent: new LlmAgent({ name: 'desk', model, tools: [find, refund] }),
  ports: { now: () => clock.now },
})
const userId = 'user'
let sessionId = ''
let server: TestServer

beforeAll(async () => {
  server = await startServer({ apps: { desk: runner } })
  const paused = await runner.complete({ userId, message: 'Refund A-1' })
  sessionId = paused.sessionId
  takes(3_600_000)
  await runner.complete({ userId, sessionId, message: paused.pending.map((request) => approve(request)) })
  takes(60_000)
  await runner.complete({ userId, sessionId, message: 'Find both' })
})

const bars = (page: Page) => page.getByRole('group', { name: /Steps over time/ }).getByRole('button')

test('a run is a picture of model calls, tool calls and waiting, with details, keys and a way to the chat', async () => {
  const page = await openPage(server, { hash: `#/apps/desk/sessions/${sessionId}/timeline` })
  await page.getByRole('combobox', { name: 'Run' }).selectOption({ index: 1 })
  await page.getByText('1 h 0 min waiting').waitFor()
  await expect
    .poll(() => bars(page).evaluateAll((all) => all.map((bar) => bar.getAttribute('aria-label'))))
    .toEqual([
      'Model call, by desk, done, after 0 ms, took 100 ms, 120 tokens',
      'Model call, by desk, done, after 140 ms, took 100 ms, 120 tokens',
      expect.stringMatching(/^Model call, by desk, done, after 60 min|^Model call, by desk, done, after 1 h/),
      'Tool find_order, by desk, done, after 100 ms, took 40 ms',
      expect.stringMatching(/^Tool refund, by desk, done, after 240 ms, took 1 h 0 min, of which it waited 1 h 0 min/),
    ])
  const wait = page.locator('.bar-wait')
  await expect.poll(() => wait.evaluate((rect) => getComputedStyle(rect).fill)).toContain('#waiting')
  await expect.poll(() => page.locator('.timeline-fold').count()).toBe(1)

  await bars(page).first().focus()
  await page.keyboard.press('ArrowRight')
  const details = page.getByRole('region', { name: 'Selected step' })
  await details.getByText('find_order').waitFor()
  await page.keyboard.press('ArrowDown')
  await details.getByText('Waiting for approval: 1 h 0 min, approved').waitFor()
  await page.keyboard.press('Enter')
  await expect.poll(() => page.locator('.bar.selected').getAttribute('aria-label')).toContain('Tool refund')

  const width = () => page.locator('.timeline-scroller svg').evaluate((svg) => svg.getBoundingClientRect().width)
  const fit = await width()
  await page.getByRole('button', { name: 'Zoom in' }).click()
  await expect.poll(() => width()).toBeGreaterThan(fit * 1.4)
  await page.getByRole('button', { name: 'Fit' }).click()
  await expect.poll(() => width()).toBe(fit)

  await page.getByText('Steps as a table').click()
  await expect.poll(() => page.getByRole('row').count()).toBe(6)
  await details.getByRole('button', { name: 'Show in chat' }).click()
  await page
    .locator('[aria-current="true"]')
    .getByRole('article', { name: /Call of refund/ })
    .waitFor()
})

test('two runs are compared from their start, with steps, times, arguments and results that differ', async () => {
  const page = await openPage(server, { hash: `#/apps/desk/sessions/${sessionId}/timeline` })
  await page.getByRole('button', { name: 'Compare' }).click()
  await page.getByLabel('Compare with').selectOption({ label: await optionOf(page, 'Refund A-1') })
  const list = page.getByRole('region', { name: 'Comparison' })
  await list.getByText('steps differ').waitFor()
  await expect
    .poll(() => list.locator('.compared-steps > li > p').allInnerTexts())
    .toEqual([
      expect.stringMatching(/find_order[\s\S]*arguments[\s\S]*result[\s\S]*400 ms → 40 ms/),
      expect.stringMatching(/find_order[\s\S]*only in this run/),
      expect.stringMatching(/refund[\s\S]*only in the other run/),
      expect.stringMatching(/Model call[\s\S]*result/),
    ])
  await expect.poll(() => list.getByRole('row', { name: /Waiting/ }).innerText()).toContain('+1 h 0 min')
  await expectAccessible(page)
})

test('a run under way grows, and a call that waits is marked', async () => {
  const { pending } = await runner.complete({ userId, sessionId, message: 'Refund three' })
  const page = await openPage(server, { hash: `#/apps/desk/sessions/${sessionId}/timeline` })
  await page.locator('.bar.tool.waiting').waitFor()
  const done = runner.complete({ userId, sessionId, message: pending.map((request) => approve(request)) })
  await page.reload()
  await page.locator('.bar.tool.running').waitFor()
  work.resolve()
  await done
  await page.locator('.bar.tool.done').waitFor()
})

test('a gated call beside a slow one is not drawn as work before its body runs, nor after a denial', async () => {
  const slow = tool({ name: 'slow', description: 'Slow.', run: () => takes(700) })
  const steps = [() => ({ calls: [{ name: 'refund', args: { amount: 1 } }, { name: 'slow' }] }), says('Done.')]
  const agent = new LlmAgent({ name: 'desk', model: scriptedModel(steps), tools: [refund, slow] })
  const held = new Runner({ appName: 'held', agent, ports: { now: () => clock.now } })
  const own = await startServer({ apps: { held } })
  const paused = await held.complete({ userId, message: 'Refund' })
  const hash = `#/apps/held/sessions/${paused.sessionId}/timeline`
  const page = await openPage(own, { hash })
  const waiting = page.locator('.bar.tool.waiting')
  await waiting.locator('.bar-wait').waitFor({ state: 'attached' })
  expect(await waiting.locator('.bar-work').count()).toBe(0)
  expect(await page.locator('.bar.tool.done .bar-work').count()).toBe(1)
  await expectAccessible(page)

  takes(5_000)
  const denials = paused.pending.map((request) => deny(request, { reason: 'too much' }))
  await held.complete({ userId, sessionId: paused.sessionId, message: denials })
  const after = await openPage(own, { hash })
  const denied = after.locator('.bar.tool.denied')
  await denied.waitFor()
  expect(await denied.locator('.bar-work').count()).toBe(0)
  expect(await denied.getAttribute('aria-label')).toContain('Tool refund, by desk, denied')
  await expectAccessible(after)
})

test('the name of each bar contains its text, also with waits and further attempts', async () => {
  let tries = 0
  const flaky = tool({
    name: 'flaky',
    description: 'Fails once.',
    run: () => {
      takes(800)
      if (++tries === 1) throw new ToolError('busy')
    },
  })
  const pay = confirm(tool({ name: 'pay', description: 'Pays.', run: () => takes(900) }), 'Pay?')
  const steps = [step('flaky', {}), step('flaky', {}), step('pay', {}), says('Done.')]
  const agent = new LlmAgent({ name: 'desk', model: scriptedModel(steps), tools: [flaky, pay] })
  const busy = new Runner({ appName: 'busy', agent, ports: { now: () => clock.now } })
  const { pending, sessionId: id } = await busy.complete({ userId, message: 'Pay' })
  takes(500)
  await busy.complete({ userId, sessionId: id, message: pending.map((request) => approve(request)) })
  const page = await openPage(await startServer({ apps: { busy } }), { hash: `#/apps/busy/sessions/${id}/timeline` })
  // a run with a failed step opens there
  await page.getByRole('region', { name: 'Selected step' }).getByRole('heading', { name: 'flaky' }).waitFor()
  const texts = page.locator('.bar.tool .bar-text')
  await expect.poll(() => texts.allTextContents()).toEqual(['800 ms', '↻2 800 ms', '900 ms'])
  await expectAccessible(page)
})

test('hostile texts in names, arguments, results and errors are shown as text', async () => {
  const size = 16
  const groups = Array.from({ length: Math.ceil(hostileTexts.length / size) }, (_, at) =>
    hostileTexts.slice(at * size, at * size + size),
  )
  const events = groups.flatMap((texts, at): Event[] => {
    const [name = '', path = '', author = ''] = texts
    const fields = { invocationId: 'i1', author, timestamp: 1_700_000_000 + at, nodeInfo: { path } }
    const args = Object.fromEntries(texts.map((text) => [text, text]))
    const call = { id: `c${at}`, name, args }
    const response = { id: `c${at}`, name, response: { ...args, error: texts.join(' ') } }
    return [
      createEvent({ ...fields, id: `a${at}`, content: { role: 'model', parts: [{ functionCall: call }] } }),
      createEvent({
        ...fields,
        id: `b${at}`,
        content: { role: 'tool', parts: [{ functionResponse: response }] },
        actions: { transferToAgent: name },
      }),
    ]
  })
  const first = { id: 'm', invocationId: 'i1', author: 'user', timestamp: 1_700_000_000 }
  const parts = [{ text: hostileTexts.join(' ') }]
  const message = createEvent({ ...first, content: { role: 'user', parts } })
  const key = { appName: 'desk', userId, sessionId: 'hostile' }
  await runner.sessionService.createSession({ ...key, events: [message, ...events] })
  const page = await openRecorded(server, { hash: '#/apps/desk/sessions/hostile/timeline' })
  await page.getByText('Steps as a table').click()
  const details = page.getByRole('region', { name: 'Selected step' })
  const shown = new Set<string>()
  for (const bar of await page.locator('.bar.tool').all()) {
    await bar.focus()
    await details.getByText('Arguments').waitFor()
    for (const text of await details.locator('.tree-value').allTextContents()) shown.add(text)
    await expectSafe(page)
  }
  expect(shown).toContain(hostileTexts[0])
  expect(shown.size).toBeGreaterThan(400)
})

test('a model call shows what the model was asked, and a tool call what its tool logged, in the timeline and in the chat', async () => {
  const hostile = hostileTexts.slice(0, 60).join('\n')
  const note = tool({
    name: 'note',
    description: hostile,
    effect: 'none',
    run: (_, context) => {
      context.log('Looking it up.', hostile)
      return { ok: true }
    },
  })
  const helper = new LlmAgent({
    name: 'helper',
    description: 'Helps',
    instruction: `You help. ${hostile}`,
    model: scriptedModel([{ calls: [{ name: 'note' }] }, 'Helped.']),
    tools: [note],
  })
  const response = {
    usageMetadata: { ...usageMetadata, cachedContentTokenCount: 80, cost: 0.25 },
    finishReason: 'STOP',
  }
  const agent = new LlmAgent({
    name: 'desk',
    instruction: 'You are the desk.',
    model: scriptedModel([{ calls: [{ name: 'helper', args: { request: 'Help' } }] }, { text: 'Done.', response }]),
    tools: [agentTool(helper)],
  })
  const asked = new Runner({ appName: 'asked', agent })
  const own = await startServer({ apps: { asked } })
  const { sessionId: id } = await asked.complete({ userId, message: 'Go' })
  const page = await openRecorded(own, { hash: `#/apps/asked/sessions/${id}/timeline` })
  const details = page.getByRole('region', { name: 'Selected step' })
  await expect
    .poll(() => page.locator('.timeline-label').allTextContents())
    .toEqual(['desk', 'helper', 'helper', 'note'])

  await page
    .getByRole('button', { name: /^Model call, by desk/ })
    .last()
    .click()
  await details.getByRole('button', { name: 'Request and reply' }).click()
  await details.getByText('You are the desk.').waitFor()
  for (const fact of ['100 in (80 cached) · 20 out', 'cost 0.25', 'finish reason STOP'])
    await details.locator('.model-call').getByText(fact).waitFor()
  await details.getByRole('button', { name: 'Changes since the request before' }).click()
  await details.getByText('messages[1]').waitFor()
  await page
    .getByRole('button', { name: /^Model call, by helper/ })
    .first()
    .click()
  await details.getByRole('button', { name: 'Request and reply' }).click()
  await details.getByText('You help.').waitFor()
  for (const section of [/^Messages/, /^Tools/, /^Settings/, /^Reply/])
    await details.getByRole('button', { name: section }).click()
  await expectSafe(page)
  await page.getByRole('button', { name: /^Tool note/ }).click()
  await details.getByRole('button', { name: 'Details' }).click()
  await details.getByText('Looking it up.').waitFor()
  await expect.poll(() => details.getByText('Effect: none. Gates: passed. Intents: 0.').count()).toBe(1)
  await expectSafe(page)

  await page.getByRole('tab', { name: 'Chat' }).click()
  const card = page.getByRole('article', { name: /Call of helper/ })
  await card.getByRole('button', { name: 'Steps inside (2)' }).click()
  const inner = card.getByRole('article', { name: /Call of note/ })
  await inner.getByRole('button', { name: 'Details' }).click()
  await inner.getByText('Looking it up.').waitFor()
  await card.getByText('Helped.').first().waitFor()
  await page.getByRole('button', { name: 'Model call' }).last().click()
  await page.getByText('You are the desk.').waitFor()
  await expectSafe(page)
  await expectAccessible(page)
})

/** The text of the option that contains a text. */
async function optionOf(page: Page, text: string): Promise<string> {
  return (await page.getByLabel('Compare with').locator('option', { hasText: text }).innerText()).trim()
}
