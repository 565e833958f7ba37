import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import type { CommandLine, CommandOptions } from '../../../src/apps/cli/command/command.ts'
import { parseCommandLine } from '../../../src/apps/cli/command/parse-command-line.ts'
import { runOptions } from '../../../src/apps/cli/run/run-arguments.ts'
import { toolOptions } from '../../../src/apps/cli/tool/tool-arguments.ts'
import { callSnippets, messageSnippets } from './snippets.ts'

const target = { origin: 'http://127.0.0.1:8000', file: './agent.mts' }
const NASTY = `--x "it's" $(touch /tmp/x) \`id\` \\ \n!! é`
const key = { app: 'my app', userId: 'ada', sessionId: 's1' }

/** The words of a command, as a shell reads them. */
function wordsOf(command: string): string[] {
  const env = { PATH: process.env.PATH ?? '', TOOLWRIGHT_TOKEN: 'secret' }
  return execFileSync('sh', ['-c', `printf '%s\\0' ${command}`], { env, encoding: 'utf8' })
    .split('\0')
    .slice(0, -1)
}

/** A copied command, as the command line reads it. */
function readCommand<Options extends CommandOptions>(command = '', options: Options): CommandLine<Options> {
  return parseCommandLine(options, wordsOf(command).slice(3))
}

test('a call copied for a shell has its arguments as they are, and the token of the environment', () => {
  const call = { ...key, agent: 'desk', tool: NASTY, args: { text: NASTY } }
  const { curl, 'CLI command': cli } = callSnippets(call, target)
  expect(curl).not.toContain('secret')
  const [, url = '', , token, , , , body = ''] = wordsOf(curl)
  expect(url).toBe(`http://127.0.0.1:8000/dev/apps/my%20app/agents/desk/tools/${encodeURIComponent(NASTY)}/call`)
  expect(token).toBe('authorization: Bearer secret')
  expect(JSON.parse(body)).toEqual({ userId: 'ada', args: { text: NASTY } })
  const { values, positionals } = readCommand(cli, toolOptions)
  expect(positionals).toEqual(['./agent.mts', NASTY])
  expect(values).toEqual({ args: expect.any(String), agent: 'desk', user: 'ada', app: 'my app' })
  expect(JSON.parse(values.args ?? '')).toEqual({ text: NASTY })
})

test('a message copied for a shell, or as a program, is the message', () => {
  const { curl, 'CLI command': cli, TypeScript } = messageSnippets({ ...key, text: NASTY }, target)
  const newMessage = { role: 'user', parts: [{ text: NASTY }] }
  expect(JSON.parse(wordsOf(curl).at(-1) ?? '')).toEqual({
    appName: 'my app',
    userId: 'ada',
    sessionId: 's1',
    newMessage,
  })
  expect(readCommand(cli, runOptions).positionals).toEqual(['./agent.mts', NASTY])
  expect(TypeScript).toContain(JSON.stringify(NASTY))
  const hidden = messageSnippets({ ...key, text: 'a\u202eb\u{e0041}' }, target).TypeScript
  expect(hidden).toContain(String.raw`a\u202eb\udb40\udc41`)
  const args = JSON.parse('{"__proto__":1}')
  expect(callSnippets({ ...key, agent: 'desk', tool: 'pay', args }, target).TypeScript).toContain('JSON.parse(')
})

test('a message, a tool or a user that looks like an option is none in a copied command', () => {
  const option = '--db=postgres://x'
  const { 'CLI command': run } = messageSnippets({ ...key, userId: '--memory', text: option }, target)
  expect(readCommand(run, runOptions)).toEqual({
    values: { user: '--memory', app: 'my app' },
    positionals: ['./agent.mts', option],
  })
  const { 'CLI command': call } = callSnippets({ ...key, agent: '-a', tool: option, args: {} }, target)
  expect(readCommand(call, toolOptions)).toEqual({
    values: { args: '{}', agent: '-a', user: 'ada', app: 'my app' },
    positionals: ['./agent.mts', option],
  })
})

test('no copied shell text has control characters, which could end the paste in a terminal', () => {
  const text = 'Hi\u001b[201~\rid\u009b\u007f'
  const message = messageSnippets({ ...key, text }, target)
  const call = callSnippets({ ...key, agent: 'desk', tool: 'pay', args: { text } }, target)
  expect(message['CLI command']).toBeUndefined()
  for (const shown of [message.curl, call.curl, call['CLI command']]) expect(shown).not.toMatch(/\p{Cc}/u)
  expect(JSON.parse(wordsOf(message.curl).at(-1) ?? '')).toMatchObject({ newMessage: { parts: [{ text }] } })
  expect(JSON.parse(readCommand(call['CLI command'], toolOptions).values.args ?? '')).toEqual({ text })
  expect(messageSnippets({ ...key, text: 'a\n\tb' }, target)['CLI command']).toContain(`-- 'a\n\tb'`)
})
