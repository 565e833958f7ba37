import type { Locator } from 'playwright-core'
import {
  confirm,
  getUserChoice,
  LlmAgent,
  type LlmAgentOptions,
  longRunning,
  type Tool,
  type ToolContext,
  tool,
  toolSource,
} from 'toolwright'
import { type ScriptedStep, scriptedModel } from 'toolwright/testing'
import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  type AuthorizationServer,
  startAuthorizationServer,
} from '../../src/services/auth/authorization-server.test-kit.ts'
import { actAs } from './chat-kit.ts'
import { forgetProblems, openPage, startServer, type TestServer } from './kit.ts'
import { expectAccessible } from './tab-kit.ts'

const agent = (steps: readonly ScriptedStep[], tools: LlmAgentOptions['tools']): LlmAgent =>
  new LlmAgent({ name: 'desk', model: scriptedModel(steps), tools })

const ran: unknown[] = []
const note = (args: unknown): string => {
  ran.push(args)
  return 'done'
}

const parameters = z.object({ to: z.string(), amount: z.number().max(500), memo: z.string().optional() })
const pay: Tool = confirm(tool({ name: 'pay', description: 'Pays.', parameters, allowEditedArgs: true, run: note }), {
  hint: ({ amount }) => `Send ${String(amount)} EUR?`,
})
const ask = tool({
  name: 'book',
  description: 'Books a table.',
  run: (_, context: ToolContext) => {
    const answer = context.requestInput({
      key: 'table',
      message: 'Which table?',
      schema: z.object({
        people: z.int().min(1).max(8),
        area: z.enum(['inside', 'outside']),
        name: z.string().min(2),
        wishes: z.array(z.string()).optional(),
        isRegular: z.boolean().optional(),
      }),
    })
    return answer === undefined ? undefined : note(answer)
  },
})
const ship = longRunning(tool({ name: 'ship', description: 'Ships.', run: () => ({ ticket: 7 }) }))

let provider: AuthorizationServer
let server: TestServer

/** The redirect URI is known when the server listens, so that the tool is made for each run. */
const mail = (): Tool =>
  tool({
    name: 'read_mail',
    description: 'Reads mail.',
    authConfig: provider.oauth2Config(),
    run: (_, { authCredential }) => note({ hasToken: authCredential?.oauth2?.accessToken !== undefined }),
  })

beforeAll(async () => {
  const call = (name: string, args = {}): ScriptedStep => ({ calls: [{ name, args }] })
  const reply: ScriptedStep = 'All done.'
  server = await startServer({
    apps: {
      edit: agent([call('pay', { to: 'ada', amount: 40 }), reply], [pay]),
      deny: agent(
        [call('pay', { to: 'eve', amount: 400 }), ({ contents }) => `Reply: ${JSON.stringify(contents.at(-1))}`],
        [pay],
      ),
      changed: agent(
        [
          call('pay', { to: 'ada', amount: 1 }),
          reply,
          call('pay', { to: 'p\u0430ypal\u200b', amount: 2, memo: '\u202etxt\n'.repeat(3) }),
          reply,
        ],
        [pay],
      ),
      keyboard: agent([call('pay', { to: 'ada', amount: 3 }), reply], [pay]),
      choice: agent(
        [call('get_user_choice', { prompt: 'Which size?', options: ['small', 'large'] }), reply],
        [getUserChoice()],
      ),
      input: agent([call('book'), reply], [ask]),
      result: agent([call('ship'), 'Shipping.', reply], [ship]),
      consent: agent([call('read_mail'), reply], [toolSource(() => [mail()])]),
      slow: agent([call('pay', { to: 'ada', amount: 4 }), reply], [pay]),
    },
  })
  provider = await startAuthorizationServer({ client: { redirect_uris: [`${server.url}/oauth/callback`] } })
  return () => provider.close()
})

/** Starts a run that pauses, as another user, without the page. */
async function pause(app: string, userId = 'ada', sessionId = 's1'): Promise<void> {
  const headers = { authorization: `Bearer ${server.server.token}`, 'content-type': 'application/json' }
  const post = (path: string, body: unknown): Promise<Response> =>
    fetch(`${server.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  await post(`/apps/${app}/users/${userId}/sessions`, { sessionId })
  const newMessage = { role: 'user', parts: [{ text: 'Go' }] }
  await (await post('/run_sse', { appName: app, userId, sessionId, newMessage })).text()
}

const item = (page: Awaited<ReturnType<typeof openPage>>, app: string) =>
  page.getByRole('listitem').filter({ has: page.locator('.facts dd', { hasText: new RegExp(`^${app}$`) }) })

/** Does not wait until the answer can no longer be taken back. */
const sendNow = (request: Locator): Promise<void> => request.getByRole('button', { name: 'Send now' }).click()

describe('the inbox', () => {
  test('approves a request of another user with edited arguments', async () => {
    await pause('edit')
    const page = await openPage(server, { hash: '#/inbox' })
    const request = item(page, 'edit')
    await request.getByText('Send 40 EUR?').waitFor()
    await expect.poll(() => request.locator('.facts').textContent()).toContain('Agentdesk')
    await request.getByRole('button', { name: 'Edit arguments' }).click()
    await request.getByLabel('amount').fill('900')
    await request.getByRole('button', { name: 'Use these arguments' }).click()
    await request.getByText('Expected at most 500').waitFor()
    expect(await request.getByRole('button', { name: 'Approve' }).isDisabled()).toBe(true)
    await request.getByLabel('amount').fill('39.5')
    await request.getByRole('button', { name: 'Use these arguments' }).click()
    await request.getByText('You changed:').waitFor()
    await request.locator('.question').getByText('Send 39.5 EUR?').waitFor()
    expect(await request.locator('.question').allTextContents()).toEqual(['Send 39.5 EUR?'])
    const changes = request.getByRole('region', { name: 'Changes' })
    expect(await changes.locator('del').allTextContents()).toEqual(['"Send 40 EUR?"', '40'])
    expect(await changes.locator('ins').allTextContents()).toEqual(['"Send 39.5 EUR?"', '39.5'])
    expect(await request.locator('.facts').textContent()).toMatch(/Expiresin 23 h/)
    await request.getByRole('button', { name: 'Approve edited' }).click()
    await request.getByText('Approved with edited arguments').waitFor()
    await request.getByRole('button', { name: 'Undo' }).click()
    expect(await request.getByText('Send 39.5 EUR?').first().isVisible()).toBe(true)
    expect(ran).toEqual([])
    await request.getByRole('button', { name: 'Approve edited' }).click()
    await page.getByRole('link', { name: 'Tool bench' }).click() // an answer that is left is sent at once
    await expect.poll(() => ran.splice(0)).toEqual([{ to: 'ada', amount: 39.5 }])
    await page.getByRole('link', { name: 'Inbox' }).click()
    const answered = page.getByRole('list', { name: 'Answered' })
    await answered.getByText('Approved with edited arguments: pay for ada in edit.').waitFor()
    await expectAccessible(page)
    await answered.getByRole('button', { name: 'Open session' }).click()
    await page.getByText('All done.').waitFor()
    await page.evaluate(() => localStorage.clear())
  })

  test('a server that does not answer is reported until it answers again', async () => {
    const page = await openPage(server)
    await page.getByText('New session').first().waitFor()
    await page.route('**/pending', (route) => route.abort('connectionrefused'))
    await page.getByRole('link', { name: 'Inbox' }).click()
    const report = page.getByRole('alert').filter({ hasText: 'The server does not answer' })
    await report.waitFor()
    await page.unroute('**/pending')
    await page.getByRole('link', { name: 'Tool bench' }).click()
    await page.getByRole('link', { name: 'Inbox' }).click()
    await report.waitFor({ state: 'detached' })
  })

  test('denies a request with a reason, which the model gets', async () => {
    await pause('deny')
    const page = await openPage(server, { hash: '#/inbox' })
    const request = item(page, 'deny')
    await request.getByLabel('Reason for a denial').fill('Too much money')
    await request.getByRole('button', { name: 'Deny' }).click()
    await sendNow(request)
    await request.waitFor({ state: 'detached' })
    expect(ran.splice(0)).toEqual([])
    await page.goto(`${server.url}/#/apps/deny/sessions/s1`)
    await actAs(page, 'ada')
    await page.getByRole('link', { name: /^Go/ }).click()
    await page.getByText(/Denied by ada.*Too much money/).waitFor()
    await page
      .getByRole('region', { name: 'Conversation' })
      .getByText(/Reply: .*Too much money/)
      .waitFor()
    await page.evaluate(() => localStorage.clear())
  })

  test('shows exact arguments with hidden characters and what has changed since the last request', async () => {
    await pause('changed')
    const page = await openPage(server, { hash: '#/inbox' })
    const request = item(page, 'changed')
    await request.getByText('First request for this tool in this session.').waitFor()
    await request.getByRole('button', { name: 'Approve' }).click()
    await sendNow(request)
    await request.waitFor({ state: 'detached' })
    await pause('changed')
    await page.reload()
    await request.getByText(/Changed since the last request/).waitFor()
    const exact = request.getByRole('region', { name: 'Arguments' })
    await expect.poll(() => exact.textContent()).toContain('p\u0430ypal⟨U+200B⟩')
    await expect.poll(() => exact.textContent()).toContain('⟨U+202E⟩txt')
    await request.getByText('characters that cannot be seen').waitFor()
    await request.getByText(/p\u0430ypal.*\u0430 is U\+0430/).waitFor()
    await expect
      .poll(() => request.getByRole('region', { name: 'Changes' }).locator('del').allTextContents())
      .toEqual(['"ada"', '1'])
    ran.splice(0)
  })

  test('approves with the keyboard alone', async () => {
    await pause('keyboard')
    const page = await openPage(server)
    await page.keyboard.press('g')
    await page.keyboard.press('i')
    const request = item(page, 'keyboard')
    await request.waitFor()
    for (let step = 0; step < 10; step++) {
      await page.keyboard.press('j')
      if (await request.evaluate((element) => element === document.activeElement)) break
    }
    const approve = request.getByRole('button', { name: 'Approve' })
    for (let step = 0; step < 10; step++) {
      await page.keyboard.press('Tab')
      if (await approve.evaluate((element) => element === document.activeElement)) break
    }
    await expect.poll(() => approve.evaluate((element) => getComputedStyle(element).outlineStyle)).toBe('solid')
    await page.keyboard.press('Enter')
    await request.getByText('Approved.').waitFor()
    expect(ran).toEqual([])
    await page.goto('about:blank') // a page that is closed sends what it holds
    await expect.poll(() => ran.splice(0)).toEqual([{ to: 'ada', amount: 3 }])
  })

  test('answers a choice', async () => {
    await pause('choice')
    const page = await openPage(server, { hash: '#/inbox' })
    const request = item(page, 'choice')
    await request.getByText('Which size?').waitFor()
    await request.getByRole('button', { name: 'large' }).click()
    await sendNow(request)
    await request.waitFor({ state: 'detached' })
  })

  test('answers a request for input with a form made from its schema', async () => {
    await pause('input')
    const page = await openPage(server, { hash: '#/inbox' })
    const request = item(page, 'input')
    await request.getByText('Which table?').waitFor()
    await request.getByLabel('people').fill('2.5')
    await request.getByLabel('name').fill('Ada')
    await request.getByRole('button', { name: 'Send answer' }).click()
    await request.getByText('Expected integer').waitFor()
    await request.getByLabel('people').fill('3')
    await request.getByLabel('area').selectOption('outside')
    await request.getByRole('button', { name: 'Add item: wishes' }).click()
    await request.getByLabel('wishes 1').fill('a window')
    await request.getByLabel('isRegular').selectOption('true')
    await request.getByRole('button', { name: 'Send answer' }).click()
    await sendNow(request)
    await request.waitFor({ state: 'detached' })
    expect(ran.splice(0)).toEqual([{ people: 3, area: 'outside', name: 'Ada', wishes: ['a window'], isRegular: true }])
  })

  test('sends the result of a long-running call', async () => {
    await pause('result')
    const page = await openPage(server, { hash: '#/inbox' })
    const request = item(page, 'result')
    await request.getByLabel('Result as JSON').fill('{"status":"shipped"}')
    await request.getByRole('button', { name: 'Send result' }).click()
    await sendNow(request)
    await request.waitFor({ state: 'detached' })
  })

  test('signs in at a provider in a window of its own, and ignores the callback of another sign-in', async () => {
    await pause('consent')
    const page = await openPage(server, { hash: '#/inbox' })
    const answers: string[] = []
    page.on('request', (one) => one.url().endsWith('/run_sse') && answers.push(one.postData() ?? ''))
    const request = item(page, 'consent')
    await request.getByText(provider.issuer, { exact: true }).waitFor()
    const other = await page.context().newPage()
    await other.goto(`${server.url}/oauth/callback?code=stolen&state=forged`)
    await other.getByText('You can close this window.').waitFor()
    const opened = page.context().waitForEvent('page')
    await request.getByRole('button', { name: 'Sign in' }).click()
    const popup = await opened
    await popup.getByPlaceholder('Enter any login').fill('ada')
    await popup.getByPlaceholder('and password').fill('any')
    await popup.getByRole('button').first().click()
    await popup.getByRole('button', { name: 'Continue' }).click()
    await request.waitFor({ state: 'detached' })
    expect(ran.splice(0)).toEqual([{ hasToken: true }])
    expect(answers).toEqual([expect.not.stringContaining('stolen')])
    forgetProblems(/fonts\.googleapis\.com/) // the sign-in page of the test provider asks for it; the request is aborted
  })

  test('keeps Approve disabled until the last request for the tool is read', async () => {
    await pause('slow')
    const page = await openPage(server)
    const { promise, resolve } = Promise.withResolvers<void>()
    await page.route('**/dev/apps/slow/**/log?**', async (route) => {
      await promise
      await route.continue()
    })
    await page.goto(`${server.url}/#/inbox`)
    const approve = item(page, 'slow').getByRole('button', { name: 'Approve' })
    await approve.waitFor()
    expect(await approve.isDisabled()).toBe(true)
    resolve()
    await item(page, 'slow').getByText('First request for this tool').waitFor()
    await approve.click()
    await sendNow(item(page, 'slow'))
    await item(page, 'slow').waitFor({ state: 'detached' })
    expect(ran.splice(0)).toEqual([{ to: 'ada', amount: 4 }])
  })
})
