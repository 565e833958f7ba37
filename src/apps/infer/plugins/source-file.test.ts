import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { sourceFileOf } from './source-file.ts'

test.each(['a.ts', 'a.tsx', 'a.mts', 'a.js', 'a.jsx', 'a.mjs'])('transforms %s', (name) => {
  expect(sourceFileOf(`/app/${name}`)).toBe(`/app/${name}`)
})

test.each(['?v=1', '?t=17&import', '?'])('transforms a source file with the query %s', (query) => {
  expect(sourceFileOf(`/app/a.ts${query}`)).toBe('/app/a.ts')
})

test.each([
  ['CommonJS', '/app/a.cts'],
  ['CommonJS', '/app/a.cjs'],
  ['a declaration', '/app/a.d.ts'],
  ['a declaration', '/app/a.d.mts'],
  ['a component', '/app/App.vue'],
  ['a script of a component', '/app/App.vue?vue&type=script&lang.ts'],
  ['a component', '/app/App.svelte'],
  ['data', '/app/a.json'],
  ['a virtual module', '\0/app/a.ts'],
  ['a virtual module', 'virtual:a.ts'],
  ['a file as text', '/app/a.ts?raw'],
  ['the address of a file', '/app/a.ts?v=1&url'],
  ['a worker', '/app/a.ts?worker'],
  ['an installed package', '/app/node_modules/pkg/a.js'],
  ['an installed package', 'C:\\app\\node_modules\\pkg\\a.js'],
])('leaves %s as it is: %j', (_, id) => {
  expect(sourceFileOf(id)).toBeUndefined()
})

test('transforms a package of the workspace that node_modules links to, and no installed copy of it', () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'toolwright-source-file-')))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const path of ['packages/tools', 'node_modules/copied']) {
    mkdirSync(join(folder, path), { recursive: true })
    writeFileSync(join(folder, path, 'a.ts'), '')
  }
  symlinkSync(join(folder, 'packages/tools'), join(folder, 'node_modules/linked'), 'junction')
  expect(sourceFileOf(join(folder, 'node_modules/linked/a.ts'))).toBe(join(folder, 'packages/tools/a.ts'))
  expect(sourceFileOf(join(folder, 'node_modules/copied/a.ts'))).toBeUndefined()
})
