import { expect, onTestFinished, test, vi } from 'vitest'
import { startCommandLine } from '../../src/apps/cli/terminal.test-kit.ts'
import { say } from './chat-kit.ts'
import { openPage } from './kit.ts'

/** Starts `toolwright web` on a free port. */
async function startWeb(file: string) {
  const { signals, until } = startCommandLine(['web', file, '--db', ':memory:', '--port', '0'])
  onTestFinished(() => {
    signals.emit('SIGTERM')
    signals.emit('SIGTERM') // does not wait for runs
  })
  const [, url = '', token] = /^Workbench +(\S+)\/\?token=(\S+)$/m.exec(await until('Stop        Ctrl+C\n')) ?? []
  return { url, server: { token } }
}

test('toolwright web: a run continues while the page is reloaded, and the page can stop it', async () => {
  const page = await openPage(await startWeb('test/examples/fixtures/slow.ts'))
  await say(page, 'wait')
  await page.getByRole('article', { name: /: Running$/ }).waitFor()
  await page.reload()
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByText('cancelled').first().waitFor()
  expect(await page.getByText('The client closed the request.').count()).toBe(0)
})

test('toolwright web: Stop in the tool bench ends the call on the server', async () => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {})
  onTestFinished(() => log.mockRestore())
  const page = await openPage(await startWeb('test/examples/fixtures/slow.ts'), { hash: '#/apps/slow/bench' })
  await page.getByRole('button', { name: 'wait' }).click()
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await page.getByText('waiting now').waitFor()
  await page.getByRole('button', { name: 'Stop' }).click()
  await expect.poll(() => log.mock.calls).toEqual([['the tool saw its signal']])
})
