import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { findAgentFile } from './agent-file.ts'

test('finds the agent file that an app is named after, with its ending', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'agent-file-'))
  onTestFinished(() => rm(parent, { recursive: true, force: true }))
  const folder = join(parent, 'shop')
  await mkdir(join(folder, 'mail'), { recursive: true })
  await mkdir(join(folder, 'folder.ts'))
  for (const file of ['desk.mts', 'clerk.ts', 'mail/agent.mjs', 'agent.ts']) await writeFile(join(folder, file), '')
  const found = ['desk', 'clerk', 'mail', 'shop'].map((app) => findAgentFile(app, folder))
  expect(await Promise.all(found)).toEqual(['./desk.mts', './clerk.ts', './agent.mjs', './agent.ts'])
  const missing = ['other', 'folder', '../shop/desk', 'mail/agent'].map((app) => findAgentFile(app, folder))
  expect(await Promise.all(missing)).toEqual([undefined, undefined, undefined, undefined])
})
