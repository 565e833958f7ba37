import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { browserCommand, openBrowser } from './open-browser.ts'

test('openBrowser() passes the URL as one argument, without a shell', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-browser-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const [file, other] = [join(folder, 'opened'), join(folder, 'other')]
  const program = `require('node:fs').writeFileSync(${JSON.stringify(file)}, process.argv.slice(1).join('\\n'))`
  const url = `https://auth.example/?a=1&b=$(touch ${other})`
  openBrowser(url, [process.execPath, '-e', program, '--'])
  await vi.waitFor(() => expect(existsSync(file) && readFileSync(file, 'utf8')).toBe(url), { timeout: 10_000 })
  expect(existsSync(other)).toBe(false)
})

test('openBrowser() ignores a missing browser', async () => {
  openBrowser('https://auth.example/', ['/no/such/browser'])
  await new Promise((resolve) => setImmediate(resolve)) // the error of the process arrives in the next tick
})

test.each([
  ['darwin', 'open'],
  ['win32', 'rundll32'],
  ['linux', 'xdg-open'],
])('browserCommand() on %s starts %s', (platform, program) => {
  expect(browserCommand(platform)[0]).toBe(program)
})
