// docs/getting-started.md, followed step by step: an empty folder, the packed package, every file and every command.
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { drawTerminal, type Step } from './docs/draw-terminal.ts'
import { readPageFile } from './docs/pages.ts'
import { type Installed, installPacked } from './packed/install.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const { blocks } = readPageFile('docs/getting-started.md')

let app: Installed
beforeAll(() => {
  app = installPacked()
  rmSync(join(app.folder, 'package.json')) // the page starts with npm init
})
afterAll(() => app.remove())

test('every command of the getting started page prints what the page shows', () => {
  const steps: Step[] = []
  for (const [at, { language, words, code }] of blocks.entries()) {
    const file = words.find((word) => word.startsWith('file='))
    if (language === 'ts' && file) app.write(file.slice('file='.length), code)
    if (language !== 'sh') continue
    const next = blocks[at + 1]
    const shown = next?.language === 'text' ? next.code : undefined
    const printed = code
      .trim()
      .split('\n')
      .map((command) => {
        const output = run(command, shown ?? '')
        steps.push({ command, output })
        return output
      })
    if (shown !== undefined) expect(printed.join(''), code).toBe(shown)
  }
  expect(steps.length).toBeGreaterThan(7)
})

test('the picture of the README shows what the commands print', async () => {
  rmSync(join(app.folder, 'shop.db'))
  const steps = [
    { command: 'node request.mts', note: 'process 1 requests a refund, pauses and ends' },
    { command: 'node approve.mts', note: 'process 2 approves, and the refund runs' },
    { command: 'node approve.mts', note: 'an approval counts once' },
  ].map((step) => ({ ...step, output: run(step.command, '') }))
  const title = 'One process requests a refund and ends. Another process approves it, once.'
  await expect(drawTerminal(title, steps)).toMatchFileSnapshot('../docs/assets/approval.svg')
})

/** Runs a command of the page; packages come from this repository instead of the registry. */
function run(command: string, shown: string): string {
  const [program = '', ...args] = command.split(' ')
  if (program === 'export') return '' // a key, for a provider that no test calls
  if (program === 'npm' && args[0] === 'i') return args.slice(1).map(install).join('')
  if (program === 'npm') return start('npm', args) && ''
  if (program === 'node') return start(process.execPath, args)
  if (program !== 'npx' || args[0] !== 'toolwright') throw new Error(`The page has a command no test runs: ${command}`)
  return start(process.execPath, ['node_modules/toolwright/dist/cli/index.js', ...args.slice(1)], typed(shown))
}

function install(name: string): '' {
  const target = join(app.folder, 'node_modules', name)
  mkdirSync(join(target, '..'), { recursive: true })
  if (name !== 'toolwright') symlinkSync(resolve('node_modules', name), target, 'junction')
  return ''
}

/** What a user types in a chat: messages after the prompt, and the answers to approvals. */
function typed(shown: string): string {
  return [...shown.matchAll(/^(?:> |Approve\? .*: )(.+)$/gm)].map(([, text]) => `${text}\n`).join('')
}

function start(program: string, args: readonly string[], input = ''): string {
  const env = { PATH: process.env.PATH, HOME: app.folder, NO_COLOR: '1' }
  const ended = spawnSync(program, args, { cwd: app.folder, encoding: 'utf8', env, input })
  expect([ended.status, program === 'npm' ? '' : ended.stderr], args.join(' ')).toEqual([0, ''])
  return ended.stdout
}
