import { LlmAgent, Runner } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, test } from 'vitest'

describe('scriptedModel()', () => {
  test('asks one function for all requests, in every run', async () => {
    const model = scriptedModel(({ contents }) => `${contents.length} contents`)
    const runner = new Runner({ appName: 'app', agent: new LlmAgent({ name: 'desk', model }) })
    const session = { userId: 'ada', sessionId: 's1' }
    expect((await runner.complete({ ...session, message: 'Hello' })).text).toBe('1 contents')
    expect((await runner.complete({ ...session, message: 'Again' })).text).toBe('3 contents')
    expect(model.requests).toHaveLength(2)
    expect(() => model.assertComplete()).not.toThrow()
  })

  test('says what to write when it gets a text', () => {
    expect(() => scriptedModel('Hello.' as never)).toThrow(
      "scriptedModel() takes a list of steps or a function of the request, got a string. Write scriptedModel(['Hello.']).",
    )
  })

  test('says what to add when the script has no step left', async () => {
    const model = scriptedModel([])
    const runner = new Runner({ appName: 'app', agent: new LlmAgent({ name: 'desk', model }) })
    const { error } = await runner.complete({ userId: 'ada', message: 'Hello' })
    expect(error?.message).toContain('Add a step, or pass one function for all requests.')
  })
})
