import { LlmAgent, tool } from 'toolwright'
import { isTrue } from 'toolwright/live'
import { scriptedLive, scriptedModel } from 'toolwright/testing'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createSession, runBody, startServer } from '../edge.test-kit.ts'

test('a tool that the phase of a live app forbids is refused over /run, until the phase allows it', async () => {
  const paid = vi.fn(() => ({ paid: true }))
  const pay = tool({ name: 'take_payment', description: 'Pay', run: paid })
  const verify = tool({
    name: 'verify',
    description: 'Verify',
    run: (_, { state }) => {
      state.set('verified', true)
      return { verified: true }
    },
  })
  const calls = (name: string) => ({ calls: [{ name }] })
  const model = scriptedModel([calls('take_payment'), 'No.', calls('verify'), calls('take_payment'), 'Yes.'])
  const started = await startServer({
    apps: { desk: new LlmAgent({ name: 'desk', model, tools: [verify, pay] }) },
    live: {
      desk: {
        model: scriptedLive([]),
        initialPhase: 'verify',
        phases: [
          {
            name: 'verify',
            instruction: 'Verify.',
            tools: ['verify'],
            transitions: [{ to: 'pay', when: isTrue('verified') }],
          },
          { name: 'pay', instruction: 'Pay.', tools: ['take_payment'] },
        ],
      },
    },
  })
  onTestFinished(() => started.server.close())
  const { url, headers } = started
  const sessionId = await createSession(started, 'desk/users/ada')
  const run = async (): Promise<string> =>
    await (await fetch(`${url}/run`, { method: 'POST', headers, body: runBody(sessionId, 'desk') })).text()
  expect(await run()).toContain('not available in the current conversation phase')
  expect(paid).not.toHaveBeenCalled()
  expect(await run()).toContain('"paid":true')
  expect(paid).toHaveBeenCalledOnce()
})
