import { expect, test } from 'vitest'
import { createToolContext } from '../testing/tool-context.ts'
import { exitLoop } from './exit-loop.ts'

test('it asks for the end of the loop and says so', () => {
  const context = createToolContext()
  expect(exitLoop().run({}, context)).toEqual({ status: 'ok' })
  expect(context.actions).toEqual({ escalate: true })
})

test('the model sees a tool without arguments', () => {
  expect(exitLoop().declaration()).toEqual({ name: 'exit_loop', description: expect.any(String) })
  expect(exitLoop().effect).toBe('none')
})
