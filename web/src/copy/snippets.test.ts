import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
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

test('a call copied for a shell has its arguments as they are, and the token of the environment', () => {
  const call = { ...key, agent: 'desk', tool: NASTY, args: { text: NASTY } }
  const { curl, 'CLI command': cli } = callSnippets(call, target)
  expect(curl).not.toContain('secret')
  const [, url = '', , token, , , , body = ''] = wordsOf(curl)
  expect(url).toBe(`http://127.0.0.1:8000/dev/apps/my%20app/agents/desk/tools/${encodeURIComponent(NASTY)}/call`)
  expect(token).toBe('authorization: Bearer secret')
  expect(JSON.parse(body)).toEqual({ userId: 'ada', args: { text: NASTY } })
  const words = wordsOf(cli)
  expect(words.slice(0, 5)).toEqual(['npx', 'toolwright', 'tool', './agent.mts', NASTY])
  expect(JSON.parse(words[6] ?? '')).toEqual({ text: NASTY })
  expect(words.slice(7)).toEqual(['--agent', 'desk', '--user', 'ada', '--app', 'my app'])
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
  expect(wordsOf(cli)).toContain(NASTY)
  expect(TypeScript).toContain(JSON.stringify(NASTY))
  const hidden = messageSnippets({ ...key, text: 'a\u202eb\u{e0041}' }, target).TypeScript
  expect(hidden).toContain(String.raw`a\u202eb\udb40\udc41`)
  const args = JSON.parse('{"__proto__":1}')
  expect(callSnippets({ ...key, agent: 'desk', tool: 'pay', args }, target).TypeScript).toContain('JSON.parse(')
})
