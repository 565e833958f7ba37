import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startCommandLine } from '../../src/apps/cli/terminal.test-kit.ts'
import { createFolder, FILES, startWatch, type WatchedWeb } from './web-watch-kit.ts'

async function toolNames({ get }: WatchedWeb): Promise<string[]> {
  const tools: { name: string }[] = await (await get('/dev/apps/agent/agents/desk/tools?userId=user')).json()
  return tools.map(({ name }) => name)
}

test('toolwright web --watch serves a changed file under the same address, and comes back after an error', async () => {
  const folder = createFolder()
  const web = await startWatch(folder)
  expect(await toolNames(web)).toEqual(['first_tool'])

  folder.write('name.ts', "export const NAME = 'second_tool'\n")
  await web.untilNext('Restarted   agent\n')
  expect(await toolNames(web)).toEqual(['second_tool'])

  folder.write('name.ts', 'export const NAME = (\n')
  await web.untilNext('Waiting     for a change of the files\n')
  folder.write('name.ts', "export const NAME = 'third_tool'\n")
  await web.untilNext('Restarted   agent\n')
  expect(await toolNames(web)).toEqual(['third_tool'])

  folder.remove('agent.ts')
  await web.untilNext('Waiting     for a change of the files\n')
  folder.write('agent.ts', FILES['agent.ts'])
  await web.untilNext('Restarted   agent\n')

  folder.write('.env', 'DESK=the front desk\n')
  await web.untilNext('Restarted   agent\n')
  expect(await (await web.get('/dev/info')).text()).toContain('the front desk')

  web.signals.emit('SIGTERM')
  const { code, errors } = await web.ended
  expect(errors).toContain('toolwright: Cannot load')
  expect(errors).toContain('does not exist')
  expect(code).toBe(0)
  await expect(web.get('/health')).rejects.toThrow('fetch failed') // nothing is left that listens
}, 60_000)

test('toolwright web --watch starts when the first error of the agent file is corrected', async () => {
  const folder = createFolder({ ...FILES, 'name.ts': 'throw new Error("not yet")\n' })
  const started = startCommandLine(['web', join(folder.path, 'agent.ts'), '--watch', '--port', '0'], {
    folder: folder.path,
  })
  await started.until('Waiting     for a change of the files\n')
  folder.write('name.ts', FILES['name.ts'])
  await started.until('Stop        Ctrl+C\n')
  started.signals.emit('SIGTERM')
  expect((await started.ended).code).toBe(0)
})

test('toolwright web --watch follows the types of plain functions', async () => {
  const files = {
    'package.json': '{ "type": "module" }',
    'order.ts': 'export interface Order { id: string }\n',
    'agent.ts': `import { LlmAgent } from 'toolwright'
import type { Order } from './order.ts'

/** Finds an order. */
function findOrder(order: Order): string {
  return order.id
}
export default new LlmAgent({ name: 'desk', model: 'gemini-x', tools: [findOrder] })
`,
  }
  const folder = createFolder(files)
  const web = await startWatch(folder, { env: { GEMINI_API_KEY: 'none' } })
  const tools = (): Promise<Response> => web.get('/dev/apps/agent/agents/desk/tools?userId=user')
  expect(await (await tools()).text()).not.toContain('shop')
  folder.write('order.ts', 'export interface Order { id: string; shop: string }\n')
  await web.untilNext('Restarted   agent\n')
  expect(await (await tools()).text()).toContain('shop')
}, 60_000)

test.each([
  ['a missing agent file', ['gone.ts'], 'Agent file "gone.ts" does not exist.', 1],
  ['a folder without agents', ['src/core/base'], 'Folder "src/core/base" has no agent.ts', 2],
  ['an unknown option', ['x.ts', '--wach'], 'Did you mean --watch', 2],
])('toolwright web --watch with %s does not wait', async (_, args, problem, expected) => {
  const { ended } = startCommandLine(['web', ...args, '--watch', '--port', '0'], { folder: resolve('.') })
  const { code, out, errors } = await ended
  expect(errors).toContain(problem)
  expect([code, out]).toEqual([expected, ''])
})

test('toolwright web --watch stops its server when it is killed itself', async () => {
  const folder = createFolder()
  const { watcher, url } = await spawnWatch(folder.path)
  expect((await fetch(`${url}/health`)).status).toBe(200)
  watcher.kill('SIGKILL')
  await once(watcher, 'exit')
  const isGone = (): Promise<boolean> =>
    fetch(`${url}/health`).then(
      () => false,
      () => true,
    )
  await expect.poll(isGone, { timeout: 10_000 }).toBe(true)
})

/** Starts the command as a process of its own, and waits until it serves. */
async function spawnWatch(folder: string): Promise<{ watcher: ChildProcess; url: string }> {
  const bin = ['--conditions=toolwright:source', resolve('src/apps/cli/index.ts')]
  const args = [...bin, 'web', 'agent.ts', '--watch', '--port', '0']
  const watcher = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void watcher.kill())
  let text = ''
  for await (const chunk of watcher.stdout) {
    text += chunk
    const url = /^Workbench +(\S+)\/\?token=/m.exec(text)?.[1]
    if (url) return { watcher, url }
  }
  throw new Error(`The server did not start:\n${text}`)
}
