import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { startServer } from './postgres/server.ts'

async function isListening(url: string): Promise<boolean> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  return await once(socket, 'connect').then(
    () => {
      socket.destroy()
      return true
    },
    () => false,
  )
}

test('a Postgres server of a test is gone with its folder when it is closed', { timeout: 60_000 }, async () => {
  const server = await startServer()
  expect([await isListening(server.url), existsSync(server.folder)]).toEqual([true, true])
  await server.close()
  expect([await isListening(server.url), existsSync(server.folder)]).toEqual([false, false])
})

test('a Postgres server is gone with its folder after kill -9 of the process that started it', {
  timeout: 60_000,
}, async () => {
  const module = pathToFileURL(resolve('test/postgres/server.ts')).href
  const program = `const { startServer } = await import('${module}'); const { url, folder } = await startServer(); console.log(url, folder)`
  const runner = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(runner.stdout, 'data')
  const [url = '', folder = ''] = String(line).trim().split(' ')
  expect([await isListening(url), existsSync(folder)]).toEqual([true, true])
  runner.kill('SIGKILL')
  await expect.poll(async () => [await isListening(url), existsSync(folder)]).toEqual([false, false])
})
