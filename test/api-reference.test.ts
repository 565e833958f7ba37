// The API reference (npm run docs:api) is complete: every export, every option, and no link without a target.
import { globSync, readFileSync } from 'node:fs'
import { basename, posix } from 'node:path'
import { expect, test } from 'vitest'
import { readApi } from '../scripts/api/read-api.ts'
import { renderApi, summaryOf } from '../scripts/api/render-api.ts'
import { pages as docsPages, linksOf, readPage } from './docs/pages.ts'

const api = readApi()
const rendered = renderApi(api)
const entries = api.flatMap((page) => page.entries)

test.each(globSync('test/exports/toolwright*.txt').sort())(
  'the API reference has a section for each name in %s',
  (file) => {
    const page = `${basename(file, '.txt').replace(/^toolwright-/, '')}.md`
    const names = readFileSync(file, 'utf8').split('\n').filter(Boolean)
    const headings = new Set(rendered.get(page)?.match(/(?<=^##+ )\w+(?=(?:\(\))? \{#)/gm))
    expect(names.filter((line) => !headings.has(line.replace(/^type /, '')))).toEqual([])
  },
)

test('sections of the API reference have different ids in lower case', () => {
  for (const { file, entries } of api) {
    const ids = rendered.get(file)?.match(/(?<= \{#).+(?=\}$)/gm) ?? []
    expect(ids.length, file).toBeGreaterThanOrEqual(entries.length)
    expect(new Set(ids).size, file).toBe(ids.length)
    expect(ids.join(), file).toMatch(/^[a-z0-9,_-]+$/)
  }
})

test.each([
  'ToolOptions',
  'LlmAgentOptions',
  'RunnerOptions',
  'RunOptions',
  'RunConfig',
  'ResumeOptions',
  'CancelOptions',
  'RecoverOptions',
  'WorkflowAgentOptions',
])('the API reference describes every option of %s', (name) => {
  const members = entries.find((entry) => entry.name === name)?.members ?? []
  expect(members).not.toEqual([])
  expect(members.filter(({ doc }) => summaryOf(doc) === '').map((member) => member.name)).toEqual([])
})

test('the API reference shows type, optionality and description of an option, and links its types', () => {
  const page = rendered.get('toolwright.md')
  expect(page).toMatch(/^\| `timeoutMs` \*optional\* \| <code>number<\/code> \| Deadline of .+ \|$/m)
  expect(page).toMatch(/^\| `agent` \| <code>\[Agent\]\(#agent\)&#60;Output&#62;<\/code> \| .+ \|$/m)
})

test('the API reference lists the inherited options of an interface', () => {
  const namesOf = (name: string): string[] =>
    entries.find((entry) => entry.name === name)?.members.map((member) => member.name) ?? []
  expect(namesOf('LlmAgentOptions')).toEqual(expect.arrayContaining(['name', 'beforeModel'])) // extends an interface
  expect(namesOf('RunOptions')).toEqual(expect.arrayContaining(['message', 'runContext'])) // extends a conditional type
  const forAiSdk = namesOf('ToAiSdkToolsOptions') // extends Omit<Caller, 'appName'>, which extends Omit<RunnerOptions, ...>
  expect(forAiSdk).toEqual(expect.arrayContaining(['sessionService', 'toolTimeoutMs']))
  expect(forAiSdk).not.toContain('agent')
})

test('the API reference leaves out members marked @internal', () => {
  const names = entries.find(({ name }) => name === 'LlmAgent')?.members.map(({ name }) => name)
  expect(names).toContain('listTools()')
  expect(names).not.toContain('attach()')
})

test('the API reference shows the helper types of a signature', () => {
  const helpers = entries.find(({ name }) => name === 'tool')?.helperTypes.join('\n')
  expect(helpers).toMatch(/^type Returns<O> = /m)
  expect(helpers).not.toMatch(/^type InferOutput</m) // it is exported and has its own section
})

test('the API reference shows every overload of a function, and no body', () => {
  const signatures = entries.find(({ name }) => name === 'respond')?.signatures ?? []
  expect(signatures.length).toBeGreaterThan(0)
  for (const { name, signatures } of entries) expect(signatures.join('\n'), name).not.toMatch(/\breturn\b|=> \{/)
})

test('links within the API reference lead to a section', () => {
  const broken = [...rendered].flatMap(([file, text]) =>
    [...text.matchAll(/\]\((?:\.\/([\w-]+\.md))?#([^)]+)\)/g)]
      .filter(([, page = file, id]) => !rendered.get(page)?.includes(` {#${id}}\n`))
      .map(([link]) => `${file}: ${link}`),
  )
  expect(broken).toEqual([])
})

test('links from the documentation lead to a page of the API reference', () => {
  const broken = docsPages().flatMap((page) =>
    linksOf(page)
      .map((link) => posix.join(posix.dirname(page.file), link))
      .filter((target) => target.startsWith('docs/reference/api/') && !rendered.has(posix.basename(target)))
      .map((target) => `${page.file}: ${target}`),
  )
  expect(broken).toEqual([])
})

test('every table row of the API reference has three cells', () => {
  for (const [file, text] of rendered) {
    const rows = readPage(file, text).text.match(/^\|.*\|$/gm) ?? []
    const columns = file === 'index.md' ? 2 : 3
    const wrong = rows.filter((row) => row.split(/(?<!\\)\|/).length !== columns + 2)
    expect(wrong, file).toEqual([])
  }
})
