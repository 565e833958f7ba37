import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { signIn } from '../../examples/oauth/browser.ts'
import { freePort } from '../../src/apps/cli/consent/free-port.test-kit.ts'
import { Child, node, withoutKeys } from './child.ts'
import { hasTmux, Pane } from './pane.ts'

/** Starts the example in the chat of the command line. Returns the link that it prints, and the callback address. */
async function startChat(): Promise<{ child: Child; link: string; callback: string }> {
  const port = await freePort()
  const args = ['--conditions=toolwright:source', 'src/apps/cli/index.ts', 'run', 'examples/oauth/desk.ts', '--memory']
  const child = new Child([process.execPath, ...args], { ...withoutKeys(), CALLBACK_PORT: `${port}` })
  onTestFinished(() => void child.process.kill('SIGKILL'))
  child.process.stdin?.write('List my mail.\n')
  await child.until('Callback URL, or no to decline: ')
  const [link = ''] = /^http:\/\/127\.0\.0\.1:\d+\/auth\?\S+$/m.exec(child.out) ?? []
  return { child, link, callback: `http://127.0.0.1:${port}/callback` }
}

test.each([
  ['with --auto', ['--auto']],
  ['without a terminal', []],
])('examples/oauth signs in by itself %s', async (_, args) => {
  const { code, out } = await node(['examples/oauth/main.ts', ...args])
  expect(out).toMatch(
    /^list_mail needs you to sign in at http:\/\/127\.0\.0\.1:\d+\nMail:\n- to: ada, subject: Lunch on Friday\?\nThe next session needs no sign-in\.\n$/,
  )
  expect(code).toBe(0)
})

test('examples/oauth signs in with a browser in the chat of toolwright run', async () => {
  const { child, link, callback } = await startChat()
  expect(child.out).toContain('? list_mail needs you to sign in\n    Provider: http://127.0.0.1:')
  expect(child.out).toContain('    Scopes: openid, mail\n')
  const page = await fetch(await signIn(link, callback))
  expect(await page.text()).toContain('You can close this window')
  await child.until('Lunch on Friday?')
  child.process.stdin?.end('List my mail.\n') // the second turn needs no sign-in
  const { code, out } = await child.ended
  expect(out.match(/needs you to sign in/g)).toHaveLength(1)
  expect(out.match(/Lunch on Friday\?\n/g)?.length).toBeGreaterThan(1)
  expect(code).toBe(0)
})

test('examples/oauth reads no mail after the user declines', async () => {
  const { child, callback } = await startChat()
  child.process.stdin?.end('no, not now\n')
  const { code, out } = await child.ended
  expect(out).not.toContain('Lunch')
  expect(out).toContain('not now')
  expect(code).toBe(0)
  await expect(fetch(callback)).rejects.toThrow()
})

const hasTerminal = hasTmux && process.platform === 'linux'
if (!hasTerminal) console.warn('NOT TESTED: the sign-in in a terminal, which needs Linux and tmux.')

test.skipIf(!hasTerminal)(
  'examples/oauth opens the browser in a terminal, and Ctrl+C declines the sign-in',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'toolwright-oauth-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const opened = join(folder, 'opened')
    writeFileSync(join(folder, 'xdg-open'), `#!/bin/sh\necho "$1" >> ${opened}\n`, { mode: 0o755 })
    const port = await freePort()
    const env = { PATH: `${folder}:${process.env.PATH}`, CALLBACK_PORT: `${port}` }
    const pane = new Pane(100, env, 'examples/oauth/desk.ts')
    await pane.until(/^>\s*$/m)
    pane.type('List my mail.', 'Enter')
    await pane.until('Callback URL, or no to decline:')
    pane.type('C-c')
    await pane.until(/rejected by the user|declined/)
    await pane.until(/^>\s*$/m)
    pane.type('List my mail, please.', 'Enter')
    await vi.waitFor(() => expect(links()).toHaveLength(2), { timeout: 20_000 })
    const [, link = ''] = links()
    await fetch(await signIn(link, `http://127.0.0.1:${port}/callback`))
    await pane.until('Lunch on Friday?')
    await pane.until(/^>\s*$/m)
    pane.type('/exit', 'Enter')
    await pane.until('left with 0')

    function links(): string[] {
      return existsSync(opened) ? readFileSync(opened, 'utf8').trim().split('\n') : []
    }
  },
)

test.each(globSync('examples/oauth/*.ts'))(
  '%s has at most 40 lines and starts with a comment about its purpose',
  (file) => {
    const text = readFileSync(file, 'utf8')
    expect(text).toMatch(/^\/\/ .{20,}/)
    expect(text.split('\n').length).toBeLessThanOrEqual(40)
  },
)
