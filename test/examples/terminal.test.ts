// The chat and the workbench in a real terminal, which tmux draws.
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { hasTmux, Pane } from './pane.ts'

if (!hasTmux) console.warn('NOT TESTED: the chat in a terminal, which needs tmux.')

const SPINNER = /[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/

const PROMPT = /^>\s*$/m

test.skipIf(!hasTmux)(
  'the chat shows header, markdown, tools and an approval, and handles paste, Ctrl+C and Ctrl+D',
  async () => {
    const pane = new Pane(60)
    expect(await pane.until(PROMPT)).toMatch(
      /^agent {4}showcase\nmodel {4}showcase-1\ntools {4}get_weather, download, refund\n/,
    )

    pane.type('markdown', 'Enter')
    const article = await pane.until(/Done\.\n1,204 tokens in, 87 out, \d+\.\ds\n\n>/)
    expect(article).toContain('feel like minus ten degrees. See\n')
    expect(article).toContain('• Wear a warm coat and gloves')
    expect(article).toContain('Monday    -3     1\n')
    expect(pane.screen('-e')).toContain('\x1b[1mcold')

    pane.type('weather', 'Enter')
    expect(await pane.until(/2,408 tokens/)).toMatch(
      /^✓ get_weather {2}city: Oslo.*\n {2}city: Oslo, .{5,}… \(\/more shows all\)\n\nThe tool said/m,
    )
    pane.type('refund', 'Enter')
    await pane.until('Approve? yes / no / edit:')
    pane.type('maybe', 'Enter')
    await pane.until('Type yes or no or edit')
    pane.type('yes', 'Enter')
    await pane.until('orderId: A-7, amount: 500, refunded: true')

    await pane.until(/^>\s*$/m)
    pane.paste('one\ntwo')
    await pane.until('> one↵two')
    pane.type('Enter')
    await pane.until('You said one\ntwo\n')

    await pane.until(PROMPT)
    pane.type('C-d')
    expect(await pane.until(/left with 0/)).not.toMatch(SPINNER)
  },
)

test.skipIf(!hasTmux)(
  'the chat shows a spinner with progress, and Ctrl+C cancels the turn and removes the spinner',
  async () => {
    const pane = new Pane(40, { STEP_MS: '200000' })
    await pane.until(PROMPT)
    pane.type('download', 'Enter')
    await pane.until(/^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] download {2}percent: 0, file: map\.png/m)
    pane.type('hi', 'Enter') // typed during a turn, so it becomes the next message
    pane.type('C-c')
    const after = await pane.until(/^You said hi$/m)
    expect(after).toMatch(/^> download\n✗ download[\s\S]*! CANCELLED: The run was cancelled\.\n/m)
    expect(after).not.toMatch(SPINNER)
    await pane.until(PROMPT)
    pane.type('C-c')
    await pane.until('Press Ctrl+C again to exit.')
    pane.type('C-c')
    await pane.until(/left with 0/)
  },
)

test.skipIf(!hasTmux)(
  'npm start in a terminal opens the workbench with the examples, and Ctrl+C stops it',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'toolwright-start-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const opened = join(folder, 'opened')
    for (const name of ['xdg-open', 'open']) {
      writeFileSync(join(folder, name), `#!/bin/sh\nprintf %s "$1" > '${opened}'\n`)
      chmodSync(join(folder, name), 0o755)
    }
    const { start } = JSON.parse(readFileSync('package.json', 'utf8')).scripts
    expect(start).toBe('node --conditions=toolwright:source scripts/start.ts')
    const env = { PATH: [folder, process.env.PATH].join(delimiter), TOOLWRIGHT_TOKEN: '' }
    const pane = new Pane(120, env, ['scripts/start.ts', '--port', '0', '--db', ':memory:'])
    const screen = await pane.until('Stop        Ctrl+C')
    const [url = ''] = /http:\/\/127\.0\.0\.1:\d+\/\?token=\S+/.exec(screen) ?? []
    expect(screen).toMatch(/^Apps {8}shop, weather, team, pipeline, voice-desk$/m)
    await vi.waitUntil(() => existsSync(opened) && readFileSync(opened, 'utf8') === url, { timeout: 20_000 })
    const cookie = (await fetch(url, { redirect: 'manual' })).headers.get('set-cookie')?.split(';')[0] ?? ''
    expect(await (await fetch(new URL('/', url), { headers: { cookie } })).text()).toContain('<html')
    pane.type('C-c')
    const isDown = (): Promise<boolean> =>
      fetch(url).then(
        () => false,
        () => true,
      )
    await vi.waitUntil(isDown, { timeout: 20_000 })
  },
)
