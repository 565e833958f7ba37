// The documentation site: VitePress refuses dead links and pages it cannot render.
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'toolwright-site-'))
  const args = [resolve('node_modules/vitepress/bin/vitepress.js'), 'build', 'site', '--outDir', folder]
  const env = { ...process.env, NODE_ENV: 'production' } // Vitest sets another one
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env })
  if (status !== 0) throw new Error(`vitepress build failed:\n${stdout}\n${stderr}`)
}, 180_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('every page of docs/ is a page of the site', () => {
  const wanted = globSync('docs/**/*.md').map((file) =>
    file
      .replaceAll('\\', '/')
      .slice('docs/'.length)
      .replace(/README\.md$/, 'index.md')
      .replace(/\.md$/, '.html'),
  )
  expect(wanted.filter((file) => !existsSync(join(folder, file)))).toEqual([])
})

test('no page loads anything from the network', () => {
  const loads =
    /<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)="(?:https?:)?\/\/[^"]*"|url\(\s*['"]?(?:https?:)?\/\/|@import\s/g
  const files = globSync('**/*.{html,css}', { cwd: folder })
  expect(files.length).toBeGreaterThan(40)
  expect(files.flatMap((file) => readFileSync(join(folder, file), 'utf8').match(loads) ?? [])).toEqual([])
})

test('the search index is part of the site', () => {
  const index = globSync('assets/chunks/@localSearchIndex*.js', { cwd: folder })
  expect(index).not.toEqual([])
  expect(index.map((file) => readFileSync(join(folder, file), 'utf8')).join('')).toContain(
    'approve-from-another-process',
  )
})
