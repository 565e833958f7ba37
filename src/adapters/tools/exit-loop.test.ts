import { expect, test } from 'vitest'
import { createToolContext } from '../testing/tool-context.ts'
import { exitLoop } from './exit-loop.ts'

test('exit_loop sets escalate and returns ok', () => {
  const context = createToolContext()
  expect(exitLoop().run({}, context)).toEqual({ status: 'ok' })
  expect(context.actions).toEqual({ escalate: true })
})

test('exit_loop has a declaration without parameters', () => {
  expect(exitLoop().declaration()).toEqual({ name: 'exit_loop', description: expect.any(String) })
  expect(exitLoop().effect).toBe('none')
})
