import { expect, test } from 'vitest'
import { COMMANDS, parseTypedInput } from './commands.ts'

test.each([...COMMANDS.keys()])('/%s is a chat command', (name) => {
  expect(parseTypedInput(`/${name}`)).toEqual({ type: 'command', name })
  expect(parseTypedInput(` /${name.toUpperCase()} `)).toEqual({ type: 'command', name })
})

test.each([
  ['/', 'help'],
  ['/?', 'help'],
  ['/quit', 'exit'],
  ['exit', 'exit'],
  ['/clear', 'new'],
])('the chat input %s means /%s', (line, name) => expect(parseTypedInput(line)).toEqual({ type: 'command', name }))

test.each([
  ['/etc/hosts', '/etc/hosts'],
  ['/tmp is full', '/tmp is full'],
  ['/help me with this', '/help me with this'],
  ['/v2', '/v2'],
  ['//help', '/help'],
  ['// a comment', '// a comment'],
  ['exit the building', 'exit the building'],
  ['5/3', '5/3'],
])('the chat input %s is a message', (line, text) => expect(parseTypedInput(line)).toEqual({ type: 'message', text }))

test.each([
  ['/hlep', '/help'],
  ['/tool', '/tools'],
  ['/st', '/state'],
  ['/qiut', '/quit'],
])('the chat input %s is an unknown command with the suggestion %s', (line, suggestion) => {
  expect(parseTypedInput(line)).toEqual({
    type: 'unknown',
    hint: `Unknown command ${line}. Did you mean ${suggestion}? To send it as a message, type /${line}.`,
  })
})

test('an unknown chat command without a similar name points to /help', () => {
  expect(parseTypedInput('/constructor')).toMatchObject({ hint: expect.stringContaining('/help lists the commands.') })
  expect(parseTypedInput(`/${'a'.repeat(100_000)}`).type).toBe('unknown')
})
