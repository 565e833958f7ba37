// The documentation site: VitePress refuses dead links and pages it cannot render.
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, posix, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { renderApi } from '../scripts/api/render-api.ts'

let folder = ''
let site = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'toolwright-site-'))
  site = join(folder, 'site')
  const docs = join(folder, 'docs')
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'), 'junction') // pages import Vue
  cpSync('docs', docs, { recursive: true })
  mkdirSync(join(docs, 'reference/api'), { recursive: true })
  for (const [file, text] of renderApi()) writeFileSync(join(docs, 'reference/api', file), text)
  const args = [resolve('node_modules/vitepress/bin/vitepress.js'), 'build', 'site', '--outDir', site]
  const env = { ...process.env, NODE_ENV: 'production', TOOLWRIGHT_DOCS: docs } // Vitest sets another NODE_ENV
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env })
  if (status !== 0) throw new Error(`vitepress build failed:\n${stdout}\n${stderr}`)
}, 180_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('every page of the documentation is in the site', () => {
  const pages = globSync('**/*.md', { cwd: join(folder, 'docs') })
  const wanted = pages.map((file) => file.replace(/README\.md$/, 'index.md').replace(/\.md$/, '.html'))
  expect(wanted.filter((file) => !existsSync(join(site, file)))).toEqual([])
})

test('no page of the site loads anything from the network', () => {
  const loads =
    /<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)="(?:https?:)?\/\/[^"]*"|url\(\s*['"]?(?:https?:)?\/\/|@import\s/g
  const files = globSync('**/*.{html,css}', { cwd: site })
  expect(files.length).toBeGreaterThan(40)
  expect(files.flatMap((file) => readFileSync(join(site, file), 'utf8').match(loads) ?? [])).toEqual([])
})

test('the search index is part of the site', () => {
  const index = globSync('assets/chunks/@localSearchIndex*.js', { cwd: site })
  expect(index).not.toEqual([])
  expect(index.map((file) => readFileSync(join(site, file), 'utf8')).join('')).toContain('approve-from-another-process')
})

test('every link to a heading has a target in the site', () => {
  const texts = new Map(
    globSync('**/*.html', { cwd: site }).map((file) => [file, readFileSync(join(site, file), 'utf8')]),
  )
  const broken: string[] = []
  for (const [file, text] of texts) {
    for (const [, path = '', anchor = ''] of text.matchAll(/<a\b[^>]*href="(\/?[\w./-]*)#([^"]+)"/g)) {
      const other = path === '' ? file : posix.join(path.startsWith('/') ? '' : posix.dirname(file), path)
      const target = texts.get(other.replace(/^\//, ''))
      if (target !== undefined && !target.includes(`id="${anchor}"`)) broken.push(`${file}: ${path}#${anchor}`)
    }
  }
  expect(texts.size).toBeGreaterThan(40)
  expect(broken).toEqual([])
})

test('the site has an icon, and names the files of programs', () => {
  const page = readFileSync(join(site, 'getting-started.html'), 'utf8')
  expect(page).toContain('<link rel="icon" href="data:image/svg+xml,')
  expect(page).toContain('<p class="file-name"><code>desk.mts</code></p>')
})

test('the home page says what Toolwright is, shows the workbench, and links to pages that exist', () => {
  const page = readFileSync(join(site, 'index.html'), 'utf8')
  expect(page).toContain('Agents whose tools can be trusted')
  const [, picture = ''] = /<img class="home-picture" src="([^"]+)"/.exec(page) ?? []
  expect([picture.endsWith('.png'), existsSync(join(site, picture))]).toEqual([true, true])
  const links = [...page.matchAll(/href="\/([\w/-]+\.html)"/g)].map(([, file = '']) => file)
  expect(links.length).toBeGreaterThan(8)
  expect(links.filter((file) => !existsSync(join(site, file)))).toEqual([])
})

test('every entry point has a description in the index of the API reference', () => {
  const rows = (renderApi().get('index.md') ?? '').match(/^\| \[.*$/gm) ?? []
  expect(rows.length).toBeGreaterThan(15)
  expect(rows.filter((row) => /\|\s*\|$/.test(row))).toEqual([])
})
