import { once } from 'node:events'
import { createServer } from 'node:http'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { PendingRequest } from '../../../core/event/pending-request.ts'
import type { OtherAnswer, RequestPrompt } from '../requests/request-prompt.ts'
import { type ConsentOptions, consentPrompt } from './consent-prompt.ts'
import { freePort } from './free-port.test-kit.ts'

let redirectUri: string
beforeEach(async () => {
  redirectUri = `http://127.0.0.1:${await freePort()}/callback`
})

let opened: OtherAnswer | undefined
afterEach(async () => {
  await opened?.close()
  opened = undefined
})

function request(more: Partial<PendingRequest> = {}): PendingRequest {
  const query = new URLSearchParams({ scope: 'mail offline', state: 's1', redirect_uri: redirectUri })
  return {
    id: 'r1',
    kind: 'credential',
    userId: 'ada',
    sessionId: 's1',
    invocationId: 'e1',
    functionCallId: 'c1',
    tool: 'send_mail',
    args: {},
    agent: 'root',
    key: 'mail',
    authUri: `https://auth.example/login?${query}`,
    ...more,
  }
}

function promptFor(more: Partial<PendingRequest> = {}, options?: ConsentOptions): RequestPrompt {
  const prompt = consentPrompt(request(more), options)
  if (!prompt) throw new Error('The request has no prompt.')
  return prompt
}

async function open(prompt: RequestPrompt): Promise<OtherAnswer> {
  opened = await prompt.open?.()
  if (!opened) throw new Error('The prompt has no other source.')
  return opened
}

describe('consentPrompt()', () => {
  test('shows the tool, the provider, the scopes and the link', () => {
    const prompt = promptFor()
    expect(prompt.text).toBe(
      '? send_mail needs you to sign in\n    Provider: https://auth.example\n    Scopes: mail, offline\n' +
        '  Open this link in a browser of this machine:\n',
    )
    expect(prompt.link).toBe(request().authUri)
  })

  test('shows the name of a toolset', () => {
    const call = { functionCallId: '_adk_toolset_auth_mailbox@root/helper', tool: 'mailbox' }
    expect(promptFor(call).text).toMatch(/^\? The toolset mailbox needs/)
  })

  test('has no prompt for a link that a browser must not open', () => {
    expect(consentPrompt(request({ authUri: 'file:///etc/passwd?state=s1' }))).toBeUndefined()
  })

  test('opens the browser and answers with the callback of the browser', async () => {
    const links: string[] = []
    const { parts, notice } = await open(promptFor({}, { openBrowser: (url) => links.push(url) }))
    expect(notice).toMatch(/^Waiting for the browser/)
    expect(links).toEqual([request().authUri])
    const callback = `${redirectUri}?code=c1&state=s1`
    await fetch(callback)
    expect(await parts).toEqual([
      { functionResponse: { id: 'r1', name: 'adk_request_credential', response: { authResponseUri: callback } } },
    ])
  })

  test('closes its port when it is closed without an answer', async () => {
    const { close } = await open(promptFor())
    await close()
    await expect(fetch(redirectUri)).rejects.toThrow()
  })

  test('asks for the callback URL when the port is in use', async () => {
    const server = createServer().listen(Number(new URL(redirectUri).port), '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const { notice } = await open(promptFor())
    expect(notice).toBe(
      `Cannot listen on ${new URL(redirectUri).host}: the port is in use. After you have signed in, paste the URL that the browser shows.`,
    )
  })

  test('asks for the callback URL when the provider redirects to another machine', async () => {
    const authUri = 'https://auth.example/login?state=s1&redirect_uri=https%3A%2F%2Fapp.example%2Fcb'
    const { notice } = await open(promptFor({ authUri }))
    expect(notice).toBe('After you have signed in, paste the URL that the browser shows.')
  })

  test('declines all requests for the credential after the timeout', async () => {
    const { parts } = await open(promptFor({}, { same: [request({ id: 'r2' })], timeoutMs: 1 }))
    const response = { declined: true, reason: 'no sign-in within 10 minutes' }
    expect((await parts).map(({ functionResponse: answer }) => [answer?.id, answer?.response])).toEqual([
      ['r1', response],
      ['r2', response],
    ])
  })

  test('accepts a pasted callback URL with the right state', async () => {
    const callback = `${redirectUri}?code=c1&state=s1`
    expect(await promptFor().read(` ${callback} `)).toMatchObject({
      parts: [{ functionResponse: { id: 'r1', response: { authResponseUri: callback } } }],
    })
  })

  test.each([
    ['yes', /not a URL/],
    ['http://127.0.0.1:9999/callback?state=s1', /no code/],
    ['http://127.0.0.1:9999/callback?code=c1&state=s2', /another sign-in/],
    ['http://127.0.0.1:9999/callback?code=c1', /another sign-in/],
  ])('asks again after the pasted text %j', async (line, problem) => {
    expect(await promptFor().read(line)).toEqual({ problem: expect.stringMatching(problem) })
  })

  test.each([
    ['n', {}],
    ['No', {}],
    ['no, not now', { reason: 'not now' }],
  ])('declines all requests for the credential after %j', async (line, reason) => {
    const declined = await promptFor({}, { same: [request({ id: 'r2' })] }).read(line)
    const response = { declined: true, ...reason }
    expect(declined).toMatchObject({
      parts: [{ functionResponse: { id: 'r1', response } }, { functionResponse: { id: 'r2', response } }],
    })
  })
})
