// The logs of history-malformed-logs.ts as request bodies of the real provider packages, checked with the rules of each provider.
import { type Content, InMemorySessionService, LlmAgent, type Model, Runner } from 'toolwright'
import { fromAiSdk } from 'toolwright/ai-sdk'
import { gemini as ownGemini } from 'toolwright/gemini'
import { geminiServer } from 'toolwright/testing'
import { describe, expect, test } from 'vitest'
import { ProviderServer } from '../providers/provider-server.ts'
import { refundTool, where } from './approvals-kit.ts'
import { eventsOf, malformedLogs } from './history-malformed-logs.ts'
import { silentLogger } from './kit.ts'
import { providerFormats } from './sent-requests.ts'

/** Sends a message after the log to this model. */
async function sendMessageAfter(lines: (typeof malformedLogs)[number][1], model: Model): Promise<string> {
  const sessionService = new InMemorySessionService()
  await sessionService.createSession({ appName: 'app', ...where, events: eventsOf(lines, undefined) })
  const agent = new LlmAgent({ name: 'agent', model, tools: [refundTool().refund] })
  const runner = new Runner({ appName: 'app', agent, sessionService, logger: silentLogger, whilePaused: 'cancel' })
  const { text, error } = await runner.complete({ ...where, message: 'and now?' })
  return error?.message ?? text
}

describe.each(providerFormats)('$name', ({ format, read, problems }) => {
  /** The contents of the request that is sent after a log. */
  async function requestAfter(lines: (typeof malformedLogs)[number][1]): Promise<Content[]> {
    await using server = await ProviderServer.start([format.say({ text: 'fine' })])
    const model = fromAiSdk(format.model(server.url), { maxRetries: 0, providerOptions: { openai: { store: false } } })
    expect(await sendMessageAfter(lines, model)).toBe('fine')
    return read(server.requests[0]?.body as never)
  }

  test.each(malformedLogs)('sends a valid request after %s [PR-11]', async (_name, lines) => {
    expect(problems(await requestAfter(lines))).toEqual([])
  })

  test('detects a call without a response in a request body', async () => {
    const sent = await requestAfter(malformedLogs[0]?.[1] ?? [])
    expect(problems(sent.filter(({ parts }) => !parts.some((part) => part.functionResponse)))).not.toEqual([])
  })
})

describe.each(['gemini-2.5-flash', 'gemini-3-pro'])('local server of %s', (name) => {
  test.each(malformedLogs)('accepts the request after %s [PR-11]', async (_name, lines) => {
    await using server = await geminiServer(['fine'])
    expect(await sendMessageAfter(lines, ownGemini(name, { apiKey: 'any', baseUrl: server.url }))).toBe('fine')
  })
})
