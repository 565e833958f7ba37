import { confirm, InMemorySessionService, LlmAgent, Runner, tool } from 'toolwright'
import { becameTrue } from 'toolwright/live'
import { scriptedLive, scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { hostileTexts } from './hostile-texts.ts'
import { openPage, startServer, type TestServer } from './kit.ts'
import { expectSafe, openRecorded } from './recorder.ts'
import { expectAccessible } from './tab-kit.ts'

const verify = tool({
  name: 'verify',
  description: 'Verifies.',
  parameters: z.object({ account: z.string() }),
  run: ({ account }, context) => {
    context.state.set('verified', true)
    return { account, verified: true }
  },
})
const pay = confirm(
  tool({
    name: 'pay',
    description: 'Pays.',
    parameters: z.object({ amount: z.number() }),
    run: ({ amount }) => ({ amount }),
  }),
  'Take the money?',
)

/** A quarter of a second of a tone, as a model speaks. */
const tone = new Uint8Array(new Int16Array(6000).map((_, at) => Math.sin(at / 9) * 8000).buffer)

async function startLive(...[script]: Parameters<typeof scriptedLive>) {
  const model = scriptedLive(script)
  const agent = new LlmAgent({ name: 'voice', model: scriptedModel([]), tools: [verify, pay] })
  const runner = new Runner({ appName: 'voice', agent })
  const phases = [
    {
      name: 'check',
      instruction: 'Verify.',
      transitions: [{ to: 'talk', when: (state: { get(key: string): unknown }) => state.get('verified') === true }],
    },
    { name: 'talk', instruction: 'Talk.' },
  ]
  const server: TestServer = await startServer({
    apps: { voice: runner },
    live: {
      voice: { model, phases, initialPhase: 'check', watchers: [{ key: 'verified', on: becameTrue(), run: () => {} }] },
    },
  })
  const { id } = await runner.sessionService.createSession({ appName: 'voice', userId: 'user' })
  return { server, model, hash: `#/apps/voice/sessions/${id}/live` }
}

test('the microphone is heard, and the page shows both sides, tool calls, phases and a request to answer', async () => {
  const { server, model, hash } = await startLive([
    { heard: 'My number is 4711', calls: [{ name: 'verify', args: { account: '4711' } }] },
    { audio: tone, transcript: 'Thank you.' },
    { calls: [{ name: 'pay', args: { amount: 40 } }] },
    { audio: tone, transcript: 'Paid, goodbye.' },
  ])
  const page = await openPage(server, { hash })
  await page.context().grantPermissions(['microphone'])
  await page.getByRole('button', { name: 'Start speaking' }).click()
  await page.getByText('Live', { exact: true }).last().waitFor()
  const connection = await model.nextConnection()
  await expect.poll(() => connection.sent.filter(({ type }) => type === 'audio').length).toBeGreaterThan(2)
  expect(connection.sent.find(({ type }) => type === 'audio')).toMatchObject({ mimeType: 'audio/pcm;rate=16000' })
  await page.getByRole('button', { name: 'Mute' }).click()
  await page.getByRole('button', { name: 'Unmute' }).waitFor()
  const field = page.getByRole('textbox', { name: 'Message' })
  await field.fill('Hello')
  await field.press('Enter')
  const transcript = page.getByRole('region', { name: 'Transcript' })
  await transcript.getByText('My number is 4711').waitFor()
  await transcript.getByRole('article', { name: 'Call of verify: done' }).waitFor()
  await transcript.locator('.speech').getByText('Thank you.').waitFor()
  await expect
    .poll(() => page.getByRole('list', { name: 'Phases' }).getByRole('listitem').allTextContents())
    .toEqual(['check', 'talk'])
  await field.fill('Take it')
  await field.press('Enter')
  await page.getByText('Take the money?').waitFor()
  const beside = (name: string) => page.getByRole('list', { name }).getByRole('listitem').allTextContents()
  await expect.poll(() => beside('Open calls')).toEqual(['paywaits for you'])
  expect(await beside('Watchers and patterns')).toEqual([expect.stringMatching(/^verified/)])
  await expectAccessible(page)
  await page.getByRole('article', { name: 'Call of pay: waiting for you' }).waitFor()
  // when the inbox learns of a request, forms take no click for a moment
  await page.locator('.views .badge').waitFor({ state: 'attached' })
  await page.getByRole('button', { name: 'Approve' }).click()
  await transcript.getByRole('article', { name: 'Call of pay: done' }).waitFor()
  await transcript.locator('.speech').getByText('Paid, goodbye.').waitFor()
  await page.getByRole('button', { name: 'End', exact: true }).click()
  await page.getByText('Ended').waitFor()
  await page.getByRole('tab', { name: 'Chat' }).click()
  await page.getByText('Paid, goodbye.', { exact: true }).waitFor()
})

test('a live session goes on after a restart of the server, with what was said before', async () => {
  const sessionService = new InMemorySessionService()
  const agent = new LlmAgent({ name: 'voice', model: scriptedModel([]) })
  const start = (reply: string, port = 0) => {
    const live = { voice: { model: scriptedLive([reply]) } }
    return startServer(
      { apps: { voice: agent }, live, services: { sessionService }, token: 'token-of-both-servers' },
      port,
    )
  }
  const first = await start('Good morning.')
  const { id } = await sessionService.createSession({ appName: 'voice', userId: 'user' })
  const page = await openPage(first, { hash: `#/apps/voice/sessions/${id}/live` })
  await page.getByRole('button', { name: 'Start with text only' }).click()
  const field = page.getByRole('textbox', { name: 'Message' })
  await field.fill('Hello')
  await field.press('Enter')
  await page.locator('.speech').getByText('Good morning.').waitFor()
  await first.server.close()
  await page.locator('.live-status').getByText('Reconnecting…').waitFor()
  await field.fill('Still there?')
  await field.press('Enter')
  expect(await field.inputValue()).toBe('Still there?')
  await start('Good morning again.', Number(new URL(first.url).port))
  await page.locator('.speech').getByText('Good morning again.').waitFor()
  await expect
    .poll(() => page.locator('.transcript li').allInnerTexts())
    .toEqual([
      'You\nHello',
      'Agent\nGood morning.',
      expect.stringContaining('broke'),
      'Connected again',
      'You\nStill there?',
      'Agent\nGood morning again.',
    ])
  await page.getByRole('button', { name: 'End', exact: true }).click()
  await page.getByText('Ended').waitFor()
})

test('a session starts with text only, and a refused microphone is explained', async () => {
  const { server } = await startLive(['Good morning.'])
  const page = await openPage(server, { hash: '#/apps/voice' })
  await page.getByRole('button', { name: 'Open a live session' }).click()
  await page.evaluate(() => {
    navigator.mediaDevices.getUserMedia = () => Promise.reject(new Error('Permission denied'))
  })
  await page.getByRole('button', { name: 'Start speaking' }).click()
  await page.getByText('The microphone cannot be used: Permission denied').waitFor()
  await page.getByRole('button', { name: 'Start with text only' }).click()
  const field = page.getByRole('textbox', { name: 'Message' })
  await field.fill('Hello')
  await field.press('Enter')
  await page.locator('.speech').getByText('Good morning.').waitFor()
  expect(await page.getByRole('meter').count()).toBe(0)
})

test('a message that is sent before the session is ready waits in the field', async () => {
  const { server, hash } = await startLive(['Good morning.'])
  const page = await openPage(server, { hash })
  const ready = Promise.withResolvers<void>()
  await page.routeWebSocket(/run_live/, async (socket) => {
    await ready.promise
    socket.connectToServer()
  })
  await page.reload()
  await page.getByRole('button', { name: 'Start with text only' }).click()
  await page.getByText('Connecting…').waitFor()
  const field = page.getByRole('textbox', { name: 'Message' })
  await field.fill('Hello')
  await field.press('Enter')
  expect(await field.inputValue()).toBe('Hello')
  ready.resolve()
  await page.locator('.speech').getByText('Good morning.').waitFor()
  await expect.poll(() => field.inputValue()).toBe('')
})

test('hostile texts in transcripts, calls and results are shown as text', async () => {
  const all = hostileTexts.join('\n')
  const { server, hash } = await startLive([
    {
      heard: all,
      calls: [
        { name: 'verify', args: { account: all } },
        { name: all.slice(0, 60), args: { [all]: all } },
      ],
    },
    { text: all },
  ])
  const page = await openRecorded(server, { hash })
  await page.getByRole('button', { name: 'Start with text only' }).click()
  const field = page.getByRole('textbox', { name: 'Message' })
  await field.fill(hostileTexts[0] ?? '')
  await page.getByText('Live', { exact: true }).last().waitFor()
  await field.press('Enter')
  await page.locator('.speech.model').waitFor()
  await page.locator('.live-call details').evaluateAll((details) => {
    for (const one of details) one.setAttribute('open', '')
  })
  await expectSafe(page)
})
