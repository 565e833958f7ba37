import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { WatchedFiles } from './watched-files.ts'

/** A folder with `agent.ts`, which is watched. */
function watched() {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-watch-'))
  const files = new WatchedFiles()
  onTestFinished(() => {
    files.close()
    rmSync(folder, { recursive: true })
  })
  const agent = join(folder, 'agent.ts')
  writeFileSync(agent, '1')
  files.add(agent)
  const { signal } = new AbortController()
  return { folder, files, agent, changed: () => files.changed(signal) }
}

test('reports a file that is written, and not again', async () => {
  const { agent, files, changed } = watched()
  const first = changed()
  writeFileSync(agent, '22')
  expect(await first).toEqual([agent])
  const controller = new AbortController()
  const second = files.changed(controller.signal)
  controller.abort()
  expect(await second).toEqual([])
})

test('reports a change that was made while nothing waited for it', async () => {
  const { agent, changed } = watched()
  writeFileSync(agent, '22')
  expect(await changed()).toEqual([agent])
})

test('reports a file that an editor replaces, each time', async () => {
  const { folder, agent, changed } = watched()
  for (const text of ['22', '333']) {
    const change = changed()
    writeFileSync(join(folder, 'new'), text)
    renameSync(join(folder, 'new'), agent)
    expect(await change).toEqual([agent])
  }
})

test('reports a file that is removed, and that it is there again', async () => {
  const { agent, changed } = watched()
  const removed = changed()
  rmSync(agent)
  expect(await removed).toEqual([agent])
  const created = changed()
  writeFileSync(agent, '1')
  expect(await created).toEqual([agent])
})

test('reports a file in a folder that is created again', async () => {
  const { folder, files, changed } = watched()
  const tool = join(folder, 'tools', 'deep', 'tool.ts')
  files.add(tool)
  for (const text of ['1', '22']) {
    const created = changed()
    mkdirSync(join(folder, 'tools', 'deep'), { recursive: true })
    writeFileSync(tool, text)
    expect(await created).toEqual([tool])
    const removed = changed()
    rmSync(join(folder, 'tools'), { recursive: true })
    expect(await removed).toEqual([tool])
  }
})

test('does not report other files of the folder', async () => {
  const { folder, agent, changed } = watched()
  const change = changed()
  writeFileSync(join(folder, 'app.db'), '1')
  writeFileSync(agent, '22')
  expect(await change).toEqual([agent])
})
