import { background, LlmAgent, Runner, tool } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { expect, onTestFinished, test } from 'vitest'

test.each([false, true])('a background tool whose result ends the turn (%s) gives that result', async (isFinal) => {
  const search = tool({
    name: 'search',
    description: 'Search the archive',
    effect: 'none',
    run: (_, context) => {
      if (isFinal) context.actions.skipSummarization = true
      return { found: 1 }
    },
  })
  const model = scriptedModel([{ calls: [{ name: 'search' }] }, 'Wait.', 'Found.'])
  const agent = new LlmAgent({ name: 'desk', model, tools: [background(search)] })
  const runner = new Runner({ appName: 'shop', agent })
  onTestFinished(() => runner.close())
  const ada = { userId: 'ada', sessionId: 's1' }
  await runner.complete({ ...ada, message: 'Search.' })
  await runner.internals.backgroundOf(ada)
  const session = await runner.sessionService.getSession({ appName: 'shop', ...ada })
  const responses = (session?.events ?? []).flatMap(({ content }) =>
    (content?.parts ?? []).flatMap(({ functionResponse }) => functionResponse?.response ?? []),
  )
  expect(responses.at(-1)).toMatchObject({ tool: 'search', result: { found: 1 } })
})
