import { readFile } from 'node:fs/promises'
import { confirm, getUserChoice, LlmAgent, StaticToolset, ToolError, tool } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { hostileTexts } from './hostile-texts.ts'
import { openPage, startServer, type TestServer } from './kit.ts'
import { expectSafe, openRecorded } from './recorder.ts'
import { expectAccessible } from './tab-kit.ts'

const work = Promise.withResolvers<void>()
const search = tool({
  name: 'search',
  description: 'Searches the catalogue.',
  parameters: z.object({
    query: z.string().min(2),
    limit: z.int().max(50).default(10),
    sort: z.enum(['new', 'old']).optional(),
  }),
  effect: 'none',
  async *run({ query, limit }) {
    yield { progress: 1, total: 2, message: 'Half way' }
    if (query === 'lamp') await work.promise
    if (query === 'broken') throw new ToolError('The catalogue is closed.')
    return { hits: [query], limit }
  },
})
const paid: unknown[] = []
const pay = confirm(
  tool({
    name: 'pay',
    description: 'Pays.',
    parameters: z.object({ amount: z.number() }),
    run: ({ amount }) => {
      paid.push(amount)
      return { paid: amount }
    },
  }),
  'Pay now?',
)
const hostile = tool({
  name: 'hostile',
  description: hostileTexts.join(' '),
  parameters: {
    type: 'object',
    properties: Object.fromEntries(
      hostileTexts.map((text, at) => [
        text,
        { title: text, description: text, ...(at % 2 ? { enum: [text, 'b'] } : { type: 'string', default: text }) },
      ]),
    ),
  },
  run: () => {
    throw new ToolError(hostileTexts.join('\n'))
  },
})
const crash = tool({
  name: 'crash',
  description: 'Crashes.',
  run: function loadVan() {
    throw new TypeError('The van is full.')
  },
})
const refund = tool({
  name: 'refund',
  description: 'Refunds.',
  parameters: z.object({ amount: z.number() }),
  effect: 'none',
  requiresConfirmation: true,
  allowEditedArgs: true,
  run: ({ amount }) => ({ refunded: amount }),
})

const booked: unknown[] = []
const book = tool({
  name: 'book',
  description: 'Books.',
  parameters: z.object({
    day: z.iso.date(),
    time: z.iso.time(),
    until: z.iso.datetime(),
    mail: z.email(),
    page: z.url().optional(),
    payment: z.discriminatedUnion('type', [
      z.object({ type: z.literal('card'), number: z.string() }),
      z.object({ type: z.literal('iban'), account: z.string() }),
    ]),
  }),
  effect: 'idempotent',
  run: (args) => {
    booked.push(args)
    return 'booked'
  },
})
const bookings = tool({ name: 'bookings', description: 'Lists.', effect: 'none', run: () => ({ booked }) })
const calendar = new StaticToolset([book, bookings], { name: 'calendar' })

let server: TestServer
beforeAll(async () => {
  const model = scriptedModel([])
  const clerk = new LlmAgent({ name: 'clerk', description: 'Pays.', model, tools: [pay, getUserChoice()] })
  server = await startServer({
    apps: {
      shop: new LlmAgent({ name: 'shop', model, tools: [search], subAgents: [clerk] }),
      odd: new LlmAgent({ name: 'odd', model, tools: [hostile] }),
      desk: new LlmAgent({ name: 'desk', model, tools: [crash, refund] }),
      hotel: new LlmAgent({ name: 'hotel', model, tools: [calendar, crash] }),
    },
    services: { logger: { warn: () => {}, error: () => {} } },
  })
})

const hash = '#/apps/shop/bench'

test('a tool runs from a form made from its schema, and the call can be saved as a test', async () => {
  const page = await openPage(server, { hash })
  await page.locator('.tool-picker li').first().waitFor()
  await expect
    .poll(() => page.locator('.tool-picker li').allTextContents())
    .toEqual(['search', 'pay', 'get_user_choice'])
  await page.getByText('Declaration that the model sees').click()
  await page.getByRole('figure', { name: 'Declaration' }).getByText('Searches the catalogue.').waitFor()
  await page.getByText('Declaration that the model sees').click()
  const run = page.getByRole('button', { name: 'Run', exact: true })
  await run.click()
  await page.locator('.field-issue').first().waitFor()
  await page.getByRole('textbox', { name: 'query' }).fill('lamp')
  await run.click()
  await page.getByText('Half way').waitFor()
  work.resolve()
  const card = page.getByRole('article', { name: 'Call of search: Done' })
  await card.getByText('hits').waitFor()
  await page.getByRole('button', { name: 'Save as test' }).click()
  await page.getByLabel('File that exports the agent').fill('./shop.ts')
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download' }).click(),
  ])
  expect(download.suggestedFilename()).toBe('search.test.ts')
  const code = await readFile(await download.path(), 'utf8')
  expect(code).toContain("import app from './shop.ts'")
  expect(code).toContain(`"query": "lamp"`)
  await expectAccessible(page)
  await page.keyboard.press('Escape')
  expect(await page.getByRole('dialog').count()).toBe(0)
})

test('a failed call shows its error, and earlier calls of the tab can be shown and used again', async () => {
  const page = await openPage(server, { hash })
  await page.getByRole('button', { name: 'Edit as JSON' }).click()
  await page.getByRole('textbox', { name: 'Arguments as JSON' }).fill('{"query":"broken"}')
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await page
    .getByRole('article', { name: 'Call of search: Failed' })
    .getByText('The catalogue is closed.')
    .first()
    .waitFor()
  await page.getByRole('textbox', { name: 'Arguments as JSON' }).fill('{"query":"x"}')
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await page.getByRole('button', { name: 'Run although the arguments are invalid' }).click()
  await page.getByRole('article', { name: 'Call of search: Failed' }).getByText('INVALID_ARGS').first().waitFor()
  const history = page.getByRole('region', { name: 'Calls in this tab' })
  await expect.poll(() => history.getByRole('listitem').count()).toBe(2)
  await history.getByRole('button', { name: 'Use these arguments again' }).last().click()
  await expect.poll(() => page.getByRole('textbox', { name: 'query' }).inputValue()).toBe('broken')
  await history.getByRole('button', { name: /broken/ }).click()
  await page.getByText('The catalogue is closed.').first().waitFor()
})

test('a gated call waits for the approval in place, with the keyboard alone', async () => {
  const page = await openPage(server, { hash })
  await page.getByRole('searchbox', { name: 'Filter tools' }).fill('pay')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page
    .getByRole('spinbutton', { name: 'amount' })
    .or(page.getByRole('textbox', { name: 'amount' }))
    .fill('12')
  await page.keyboard.press('Enter')
  await page.getByText('Pay now?').waitFor()
  expect(paid).toEqual([])
  const approve = page.getByRole('button', { name: 'Approve' })
  await expect.poll(() => approve.isEnabled()).toBe(true)
  await approve.press('Enter')
  await page.getByRole('article', { name: 'Call of pay: Done' }).getByText('Approved by user').waitFor()
  expect(paid).toEqual([12])
  await expectAccessible(page)
})

test('a form has inputs for dates, times and addresses, names kinds by their tag, and a crash test judges the tool', async () => {
  const page = await openPage(server, { hash: '#/apps/hotel/bench' })
  await page.getByRole('heading', { name: 'crash' }).waitFor()
  await page.getByText('It takes no arguments.').waitFor()
  expect(await page.getByRole('button', { name: 'Edit as JSON' }).count()).toBe(0)
  await page.getByRole('heading', { name: 'calendar' }).waitFor()
  await page.getByRole('button', { name: 'book', exact: true }).click()
  const form = page.locator('.bench-form')
  expect(await form.textContent()).not.toMatch(/\\d|matches/)
  await form.getByLabel('day').fill('2030-01-31')
  await form.getByLabel('time').fill('12:30')
  await form.getByLabel('until').fill('2030-02-01T10:00')
  await form.getByLabel('mail').fill('ada')
  const kind = form.getByLabel('Kind of payment')
  expect(await kind.locator('option').allTextContents()).toEqual(['card', 'iban'])
  await kind.selectOption('iban')
  await form.getByLabel('account').fill('NO93')
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await form.getByText('Expected an email address').waitFor()
  await form.getByLabel('mail').fill('ada@example.com')
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await page.getByRole('article', { name: 'Call of book: Done' }).waitFor()
  const until = new Date('2030-02-01T10:00').toISOString().replace('.000', '')
  const payment = { type: 'iban', account: 'NO93' }
  expect(booked).toEqual([{ day: '2030-01-31', time: '12:30', until, mail: 'ada@example.com', payment }])
  await page.getByText('Test with crashes').click()
  await page.getByText('This really runs book many times').waitFor()
  await page.getByRole('button', { name: 'Run many times' }).click()
  await page.getByText('effect "idempotent" is not true').waitFor()
})

test('a tool that throws shows its stack in the tool bench', async () => {
  const page = await openPage(server, { hash: '#/apps/desk/bench' })
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  const card = page.getByRole('article', { name: 'Call of crash: Failed' })
  await card.getByRole('button', { name: 'Stack' }).click()
  await card.getByText('loadVan').waitFor()
})

test('a call that was approved with edited arguments shows the original ones too, and is saved with both', async () => {
  const page = await openPage(server, { hash: '#/apps/desk/bench' })
  await page.getByRole('button', { name: 'refund' }).click()
  await page.getByRole('button', { name: 'Edit as JSON' }).click()
  await page.getByRole('textbox', { name: 'Arguments as JSON' }).fill('{"amount":40}')
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  const form = page.locator('.request-form')
  await form.getByRole('button', { name: 'Edit arguments' }).click()
  await form.getByLabel('amount').fill('39')
  await form.getByRole('button', { name: 'Use these arguments' }).click()
  await form.getByRole('button', { name: 'Approve edited' }).click()
  const card = page.getByRole('article', { name: 'Call of refund: Done' })
  await card.getByText('The model sent {"amount":40}').waitFor()
  await card.getByText('{"amount":39}').first().waitFor()
  await page.getByRole('button', { name: 'Save as test' }).click()
  const code = page.getByRole('dialog').getByRole('figure')
  await expect.poll(() => code.textContent()).toContain('"amount": 40')
  await expect.poll(() => code.textContent()).toContain('"editedArgs"')
  await expectAccessible(page)
})

test('hostile texts in descriptions, schemas, errors and saved tests are shown as text', async () => {
  const page = await openRecorded(server, { hash: '#/apps/odd/bench' })
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await page.getByRole('article', { name: 'Call of hostile: Failed' }).waitFor()
  await page.getByText('Declaration that the model sees').click()
  await page.getByRole('button', { name: 'Save as test' }).click()
  await page.getByRole('dialog').getByText('import app').waitFor()
  await expectSafe(page)
})
