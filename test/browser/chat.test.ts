import { confirm, LlmAgent, type Model, Runner, retry, type Tool, tool } from 'toolwright'
import { type ScriptedStep, scriptedModel } from 'toolwright/testing'
import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { actAs, messageField, PIXEL, say, send, sessionAction } from './chat-kit.ts'
import { openPage, startServer, type TestServer } from './kit.ts'

/** Resolves when `open()` is called. */
function gate(): { readonly opened: Promise<void>; open(): void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { opened: promise, open: resolve }
}

const agent = (steps: readonly ScriptedStep[], tools: Tool[] = []): LlmAgent =>
  new LlmAgent({ name: 'desk', description: 'Answers questions.', model: scriptedModel(steps), tools })

const stream = gate()
const work = gate()
const seenFiles: string[] = []

const pack = tool({
  name: 'pack_order',
  description: 'Packs an order.',
  parameters: z.object({ order: z.string() }),
  async *run({ order }, context) {
    await context.saveArtifact('boxes/list 1.txt', {
      inlineData: { mimeType: 'text/plain', data: btoa('one large box') },
    })
    yield { progress: 1, total: 4, message: 'Finding the box' }
    await work.opened
    return { order, box: { size: 'large', weight: 2.5 } }
  },
})
const fail = tool({
  name: 'ship',
  description: 'Ships.',
  parameters: z.object({ order: z.string() }),
  run: function loadVan() {
    throw new Error('The van is full.')
  },
})
let errors = ['The line is busy.']
const phone = retry(
  tool({
    name: 'phone',
    description: 'Calls the customer.',
    effect: 'none',
    run: () => {
      const error = errors.shift()
      if (error) throw new Error(error)
      return 'reached'
    },
  }),
  { attempts: 3, delayMs: 0 },
)
const wait = tool({
  name: 'wait',
  description: 'Waits.',
  run: (_, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
})

const rest = gate()
const lines = (from: number): string => Array.from({ length: 100 }, (_, at) => `Line ${from + at}\n\n`).join('')
/** Streams a long reply in two halves. */
const longReply: Model = {
  name: 'long',
  async *generate() {
    yield { partial: true, content: { role: 'model', parts: [{ text: lines(0) }] } }
    await rest.opened
    yield { partial: true, content: { role: 'model', parts: [{ text: lines(100) }] } }
    yield { content: { role: 'model', parts: [{ text: lines(0) + lines(100) }] } }
  },
}

let server: TestServer
beforeAll(async () => {
  server = await startServer({
    apps: {
      stream: agent([
        async () => ({ deltas: ['# Oslo\n\n', 'It is **cold**: `-4`\n\n- wear a *coat*\n'] }),
        async () => {
          await stream.opened
          return { deltas: ['Second', ' reply'] }
        },
      ]),
      files: agent([
        ({ contents }) => {
          for (const { parts } of contents)
            for (const { inlineData } of parts)
              if (inlineData) seenFiles.push(`${inlineData.displayName} ${inlineData.mimeType}`)
          return {
            text: 'Here.',
            parts: [{ inlineData: { mimeType: 'image/png', data: PIXEL, displayName: 'answer.png' } }],
          }
        },
      ]),
      stop: agent([{ calls: [{ name: 'wait' }] }, 'never'], [wait]),
      retry: agent(['one', 'two', 'two again'], []),
      phone: agent([{ calls: [{ name: 'phone' }] }, 'Called.'], [phone]),
      cards: agent(
        [
          {
            calls: [
              { name: 'pack_order', args: { order: 'A-1' } },
              { name: 'ship', args: { order: 'A-1' } },
            ],
          },
          { calls: [{ name: 'ship', args: { order: 'A-1' } }] },
          'Packed.',
        ],
        [pack, fail],
      ),
      approved: agent(
        [{ calls: [{ name: 'pay', args: { amount: 5 } }] }, 'Paid.'],
        [
          confirm(
            tool({ name: 'pay', description: 'Pays.', parameters: z.object({ amount: z.number() }), run: () => 'ok' }),
            'Pay 5?',
          ),
        ],
      ),
      names: agent(['first', 'second']),
      many: agent([]),
      long: new LlmAgent({ name: 'desk', model: longReply }),
    },
    tours: { stream: ['How cold is Oslo?'] },
  })
})

describe('the chat', () => {
  test('starts a session with an example message and streams a reply as Markdown', async () => {
    const page = await openPage(server, { hash: '#/apps/stream' })
    await page.getByRole('button', { name: 'How cold is Oslo?', exact: true }).click()
    await page.getByRole('heading', { name: 'Oslo', exact: true }).waitFor()
    await expect.poll(() => page.locator('.markdown strong').textContent()).toBe('cold')
    await expect.poll(() => page.locator('.markdown code').textContent()).toBe('-4')
    await expect.poll(() => page.locator('.markdown li em').textContent()).toBe('coat')
    await say(page, 'Again')
    await page.getByRole('button', { name: 'Stop' }).waitFor()
    stream.open()
    await page.getByText('Second reply', { exact: true }).waitFor()
    await page.reload()
    await page.getByText('Second reply', { exact: true }).waitFor()
    await expect.poll(() => page.getByText('Again', { exact: true }).count()).toBe(1)
  })

  test('sends files that were dropped, pasted and chosen, and shows pictures of the reply', async () => {
    const page = await openPage(server, { hash: '#/apps/files' })
    for (const [type, name] of [
      ['drop', 'dropped.txt'],
      ['paste', 'pasted.txt'],
    ] as const)
      await messageField(page).evaluate(
        (element, { type, name }) => {
          const data = new DataTransfer()
          data.items.add(new File(['hello'], name, { type: 'text/plain' }))
          const options = { bubbles: true, cancelable: true }
          element.dispatchEvent(
            type === 'drop'
              ? new DragEvent('drop', { ...options, dataTransfer: data })
              : new ClipboardEvent('paste', { ...options, clipboardData: data }),
          )
        },
        { type, name },
      )
    await page.getByLabel('Files', { exact: true }).setInputFiles({
      name: 'chosen.png',
      mimeType: 'image/png',
      buffer: Buffer.from(PIXEL, 'base64'),
    })
    await page.getByRole('button', { name: 'Remove chosen.png' }).waitFor()
    await send(page)
    await page.getByRole('img', { name: 'answer.png' }).waitFor()
    expect(seenFiles).toEqual(['dropped.txt text/plain', 'pasted.txt text/plain', 'chosen.png image/png'])
    const size = await page
      .getByRole('img', { name: 'answer.png' })
      .evaluate((image: HTMLImageElement) => image.naturalWidth)
    expect(size).toBe(1)
  })

  test('follows a reply that streams, until the user scrolls up', async () => {
    const page = await openPage(server, { hash: '#/apps/long' })
    await say(page, 'Tell me more')
    await page.getByText('Line 99', { exact: true }).waitFor()
    const list = page.getByRole('region', { name: 'Conversation' })
    const distance = () => list.evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight)
    await expect.poll(distance).toBeLessThan(40)
    const scrollTop = () => list.evaluate((element) => element.scrollTop)
    const top = (await scrollTop()) - 900
    await list.hover()
    await page.mouse.wheel(0, -900) // animated
    await expect.poll(scrollTop).toBeCloseTo(top, 0)
    await page.getByRole('button', { name: 'To the end' }).waitFor()
    rest.open()
    await page.getByRole('button', { name: 'Send' }).waitFor()
    await page.getByText('Line 199', { exact: true }).waitFor({ state: 'attached' })
    expect(await scrollTop()).toBeCloseTo(top, 0)
    await page.getByRole('button', { name: 'To the end' }).click()
    await page.getByRole('button', { name: 'To the end' }).waitFor({ state: 'detached' })
    await expect.poll(distance).toBeLessThan(40)
  })

  test('stops a run', async () => {
    const page = await openPage(server, { hash: '#/apps/stop' })
    await say(page, 'Go')
    await page.getByText('Running', { exact: true }).first().waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('CANCELLED').first().waitFor()
    await page.getByRole('button', { name: 'Send' }).waitFor()
  })

  test('retries an edited message from an earlier turn in a new session', async () => {
    const page = await openPage(server, { hash: '#/apps/retry' })
    await say(page, 'First question')
    await page.getByText('one', { exact: true }).waitFor()
    await say(page, 'Second question')
    await page.getByText('two', { exact: true }).waitFor()
    const before = page.url()
    await page.getByRole('button', { name: 'Retry from here' }).nth(1).click()
    await page.getByRole('dialog').getByLabel('Message').and(page.locator(':focus')).fill('Edited question')
    await page.getByRole('button', { name: 'Retry in a new session' }).click()
    await page.getByText('two again', { exact: true }).waitFor()
    expect(page.url()).not.toBe(before)
    await page.getByRole('heading', { level: 1, name: 'Copy: First question' }).waitFor()
    const list = page.getByRole('region', { name: 'Conversation' })
    await list.getByText('First question').waitFor()
    expect(await list.getByText('Second question').count()).toBe(0)
    await page.goto(before)
    await list.getByText('Second question').waitFor()
  })

  test('renames, deletes and lists the sessions of the chosen app and user', async () => {
    const page = await openPage(server, { hash: '#/apps/names' })
    await say(page, 'Plan a trip')
    await page.getByText('first', { exact: true }).waitFor()
    const sessions = page.getByRole('navigation', { name: 'Sessions' })
    await sessionAction(page, 'Plan a trip', 'Rename')
    await page.getByRole('textbox', { name: 'Name' }).fill('Norway')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Norway' }).waitFor()
    await actAs(page, 'bob')
    await page.getByText('No sessions yet.').waitFor()
    await actAs(page, 'user')
    await sessions.getByRole('link', { name: /Norway/ }).click()
    await page.getByText('first', { exact: true }).waitFor()
    await sessions.getByRole('button', { name: 'New session' }).click()
    await say(page, 'Other')
    await page.getByText('second', { exact: true }).waitFor()
    await sessionAction(page, 'Norway', 'Delete')
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await sessions.getByRole('link', { name: /Norway/ }).waitFor({ state: 'detached' })
    await page.getByLabel('App').selectOption('retry')
    await page.getByRole('heading', { level: 1, name: 'New session' }).waitFor()
    expect(await sessions.getByRole('link', { name: /Other/ }).count()).toBe(0)
  })

  test('lists a session that the page did not start under its first message', async () => {
    const runner = new Runner({
      appName: 'desk',
      agent: new LlmAgent({ name: 'desk', model: scriptedModel(['It is here.']) }),
    })
    await runner.complete({ userId: 'user', sessionId: 'raw-id', message: 'Where is A-7?\nPlease tell me.' })
    const page = await openPage(await startServer({ apps: { desk: runner } }), { hash: '#/apps/desk' })
    await page
      .getByRole('navigation', { name: 'Sessions' })
      .getByRole('link', { name: /^Where is A-7\?/ })
      .click()
    await page.getByRole('heading', { level: 1, name: 'Where is A-7?', exact: true }).waitFor()
    await page.getByText('It is here.', { exact: true }).waitFor()
  })

  test('lists the newest sessions, more on request, and the state of an open one that is not in the list', async () => {
    const headers = { authorization: `Bearer ${server.server.token}`, 'content-type': 'application/json' }
    for (let n = 0; n < 130; n++) {
      const body = JSON.stringify({
        sessionId: `many-${n}`,
        state: { __session_metadata__: { displayName: `Talk ${n}.` } },
      })
      await fetch(`${server.url}/apps/many/users/user/sessions`, { method: 'POST', headers, body })
    }
    const page = await openPage(server, { hash: '#/apps/many/sessions/many-3' })
    await page.getByRole('heading', { level: 1, name: 'Talk 3.' }).waitFor()
    const links = page.getByRole('navigation', { name: 'Sessions' }).getByRole('link')
    await links.filter({ hasText: 'Talk 129.' }).waitFor()
    expect(await links.filter({ hasText: 'Talk 5.' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Show more' }).click()
    await links.filter({ hasText: 'Talk 5.' }).waitFor()
    await expect.poll(() => links.count()).toBe(130)
    await page.getByRole('button', { name: 'Show more' }).waitFor({ state: 'detached' })
  })
})

describe('a tool call card', () => {
  test('shows progress, elapsed time, arguments, result, error and a repeated attempt', async () => {
    const page = await openPage(server, { hash: '#/apps/cards' })
    await say(page, 'Pack it')
    const card = page.getByRole('article', { name: /Call of pack_order/ })
    await card.getByText('Finding the box').waitFor()
    await expect.poll(() => card.getByRole('progressbar').getAttribute('value')).toBe('0.25')
    await expect.poll(() => card.locator('.elapsed').textContent()).toMatch(/\d+ ms|\d\.\d s/)
    work.open()
    await card.getByText('Done').waitFor()
    await page.getByText('Saved boxes/list 1.txt, version 0').getByRole('button', { name: 'Open' }).click()
    await page.getByRole('button', { name: 'Preview' }).click()
    await page.getByText('one large box').waitFor()
    await card.getByRole('button', { name: /box/ }).click()
    await expect.poll(() => card.getByText('large').count()).toBe(1)
    const failed = page.getByRole('article', { name: /Call of ship: Failed/ })
    await failed.nth(1).waitFor()
    await expect.poll(() => failed.first().getByText('The van is full.').first().isVisible()).toBe(true)
    await expect.poll(() => failed.nth(1).getByText('attempt 2').isVisible()).toBe(true)
    await failed.nth(1).getByRole('button', { name: 'Stack' }).click()
    await expect
      .poll(() => failed.nth(1).locator('pre').textContent())
      .toMatch(/^Error: The van is full\.\n +at .*loadVan/)
  })

  test('says why an attempt of retry() failed, also in the timeline', async () => {
    errors = ['The line is busy.']
    const page = await openPage(server, { hash: '#/apps/phone' })
    await say(page, 'Call Ada')
    const card = page.getByRole('article', { name: /Call of phone: Done/ })
    await card.getByText('Attempt 1 of 3 failed: The line is busy.').waitFor()
    await page.getByRole('tab', { name: 'Timeline' }).click()
    await page.getByRole('button', { name: /^Tool phone.*done, attempt 2/ }).click()
    await page.getByText('Attempt 1 of 3 failed: The line is busy.').waitFor()
  })

  test('has the approval form in place, and says who approved', async () => {
    const page = await openPage(server, { hash: '#/apps/approved' })
    await say(page, 'Pay')
    const card = page.getByRole('article', { name: /Call of pay/ })
    await card.getByText('Pay 5?').waitFor()
    await say(page, 'Something else')
    await page.getByText('This session waits for you.').waitFor()
    await expect.poll(() => messageField(page).inputValue()).toBe('Something else')
    await card.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('Paid.', { exact: true }).waitFor()
    await expect.poll(() => card.getByText(/Approved by user, /).isVisible()).toBe(true)
  })
})

test('a reply shows hidden and reversing characters by name, and emoji and other scripts as they are', async () => {
  const text = [
    'Open \u202egpj.exe, p\u200bay, `co\u2066de`, **bo\u200bld**, <b\u200b>',
    '[pa\u200by](https://127.0.0.1/)',
    '```sh\nrm \u202efdp\n```',
    'שלום 👨‍👩‍👧 ⚠️ می‌خواهم',
  ].join('\n\n')
  const agent = new LlmAgent({ name: 'desk', model: scriptedModel([text]) })
  const own = await startServer({ apps: { desk: agent } })
  const page = await openPage(own)
  await say(page, 'Hello')
  const reply = page.locator('article.reply')
  await reply.getByText('gpj.exe').waitFor()
  await expect.poll(() => reply.innerText()).toContain('שלום')
  const shown = await reply.innerText()
  expect(shown).not.toMatch(/[\u202e\u200b\u2066]/u)
  for (const part of [
    'Open ⟨U+202E⟩gpj.exe',
    'p⟨U+200B⟩ay',
    'co⟨U+2066⟩de',
    'bo⟨U+200B⟩ld',
    'pa⟨U+200B⟩y',
    'rm ⟨U+202E⟩fdp',
  ])
    expect(shown).toContain(part)
  expect(shown).toContain('שלום 👨‍👩‍👧 ⚠️ می‌خواهم')
  expect(await reply.locator('mark.hidden-character').count()).toBeGreaterThan(4)
})
