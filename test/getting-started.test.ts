// docs/getting-started.md, followed step by step: an empty folder, the packed package, every file and every command.
import { mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { drawTerminal, type Step } from './docs/draw-terminal.ts'
import { readPageFile } from './docs/pages.ts'
import { Child } from './examples/child.ts'
import { type Installed, installPacked } from './packed/install.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const COMMAND = 'node_modules/toolwright/dist/cli/index.js'

const { blocks } = readPageFile('docs/getting-started.md')

let app: Installed
beforeAll(() => {
  app = installPacked()
  rmSync(join(app.folder, 'package.json')) // the page starts with npm init
})
afterAll(() => app.remove())

test('every command of the getting started page prints what the page shows', async () => {
  const steps: Step[] = []
  for (const [at, { language, words, code }] of blocks.entries()) {
    const file = words.find((word) => word.startsWith('file='))
    if (file) app.write(file.slice('file='.length), code)
    if (language !== 'sh') continue
    const next = blocks[at + 1]
    const shown = next?.language === 'text' ? next.code : undefined
    const printed: string[] = []
    for (const command of code.trim().split('\n')) {
      const output = await run(command, shown ?? '')
      steps.push({ command, output })
      printed.push(output)
    }
    if (shown !== undefined) expect(printed.join(''), code).toBe(shown)
  }
  expect(steps.length).toBeGreaterThan(7)
})

test('the picture of the README shows what the commands print', async () => {
  rmSync(join(app.folder, 'shop.db'))
  const steps: Step[] = []
  for (const [command, note] of [
    ['node request.mts', 'process 1 requests a refund, pauses and ends'],
    ['node approve.mts', 'process 2 approves, and the refund runs'],
    ['node approve.mts', 'an approval counts once'],
  ] as const) {
    steps.push({ command, note, output: await run(command, '') })
  }
  const title = 'One process requests a refund and ends. Another process approves it, once.'
  await expect(drawTerminal(title, steps)).toMatchFileSnapshot('../docs/assets/approval.svg')
})

/** Runs a command of the page; packages come from this repository instead of the registry. */
async function run(command: string, shown: string): Promise<string> {
  const [program = '', ...args] = command.split(' ')
  if (program === 'export') return '' // a key, for a provider that no test calls
  if (program === 'npm' && args[0] === 'i') {
    const names = args.slice(1).filter((name) => name !== '-D')
    return names.map(install).join('')
  }
  if (program === 'npm') return (await start('npm', args)) && ''
  if (program === 'node') return await start(process.execPath, args)
  if (command === 'npx tsc') return await start(process.execPath, ['node_modules/typescript/bin/tsc', '--strict'])
  if (program !== 'npx' || args[0] !== 'toolwright') throw new Error(`The page has a command no test runs: ${command}`)
  if (args[1] === 'web') return await openWorkbench(args.slice(1))
  return await start(process.execPath, [COMMAND, ...args.slice(1)], typed(shown))
}

/** Starts the workbench and opens the address that it prints. */
async function openWorkbench(args: readonly string[]): Promise<''> {
  const env = { PATH: process.env.PATH, HOME: app.folder, NO_COLOR: '1' }
  const child = new Child([process.execPath, COMMAND, ...args, '--port', '0'], env, app.folder)
  await child.until('Stop')
  const address = /Workbench +(\S+)/.exec(child.out)?.[1] ?? ''
  const { headers } = await fetch(address, { redirect: 'manual' })
  const page = await fetch(new URL('/', address), { headers: { cookie: headers.get('set-cookie') ?? '' } })
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<title>')])
  child.process.kill('SIGTERM')
  expect((await child.ended).code).toBe(0)
  return ''
}

function install(name: string): '' {
  const target = join(app.folder, 'node_modules', name)
  mkdirSync(join(target, '..'), { recursive: true })
  if (name !== 'toolwright') symlinkSync(resolve('node_modules', name), target, 'junction')
  return ''
}

/** A line that a user types, after the text of its prompt. */
interface Typed {
  readonly prompt: string
  readonly line: string
}

/** What a user types in a chat: messages, and the answers to approvals once they are asked. */
function typed(shown: string): Typed[] {
  return [...shown.matchAll(/^(> |(Approve\? .*: ))(.+)$/gm)].map(([, , prompt = '', line = '']) => ({ prompt, line }))
}

async function start(program: string, args: readonly string[], lines: readonly Typed[] = []): Promise<string> {
  const env = { PATH: process.env.PATH, HOME: app.folder, NO_COLOR: '1' }
  const child = new Child([program, ...args], env, app.folder)
  for (const { prompt, line } of lines) {
    await child.until(prompt)
    child.process.stdin?.write(`${line}\n`)
  }
  child.process.stdin?.end()
  const { code, out, errors } = await child.ended
  expect([code, program === 'npm' ? '' : errors], args.join(' ')).toEqual([0, ''])
  return out
}
