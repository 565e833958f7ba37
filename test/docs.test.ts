// The documentation is true: its programs compile, run and print what it says, its links lead somewhere, its tables are
// complete.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, posix, resolve } from 'node:path'
import { ToolwrightError, type ToolwrightErrorCode } from 'toolwright'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { googleAdkNames, pythonToolNames } from './docs/adk-names.ts'
import {
  anchorsOf,
  linksOf,
  type Page,
  pages,
  programs,
  readPage,
  readPageFile,
  rowsOf,
  sourceOf,
  theirBlocks,
} from './docs/pages.ts'
import { node } from './examples/child.ts'
import { doors, isNode, type Node, parse, productSources, type Source, visit } from './source.ts'

const all = pages()
const rootPages = ['AGENTS.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'].filter(existsSync).map(readPageFile)
const linked = [...all, ...rootPages]
const everyProgram = all.flatMap(programs)
const words = all.map(({ text }) => text).join('\n')

// A folder as a user has one: our package and its peers are found in node_modules, nothing else is ours.
let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'toolwright-docs-'))
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'), 'junction')
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', private: true }))
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ extends: resolve('tsconfig.json'), include: ['**/*.ts', '**/*.mts'], exclude: ['format'] }),
  )
  mkdirSync(join(folder, 'format'))
  const { formatter, javascript } = JSON.parse(readFileSync('biome.json', 'utf8'))
  writeFileSync(join(folder, 'biome.json'), JSON.stringify({ formatter, javascript }))
  for (const program of everyProgram) {
    mkdirSync(dirname(join(folder, program.name)), { recursive: true })
    writeFileSync(join(folder, program.name), sourceOf(program))
    for (const [at, { code }] of program.blocks.entries())
      writeFileSync(join(folder, 'format', `${at}-${program.name.replace('/', '-')}`), code)
  }
  for (const [at, { code }] of all.flatMap(theirBlocks).entries())
    writeFileSync(join(folder, 'format', `theirs-${at}.ts`), code)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('every program compiles as strictly as the product itself', { timeout: 60_000 }, () => {
  expect(everyProgram.length).toBeGreaterThan(20)
  const { stdout, stderr } = tool('typescript/bin/tsc', ['-p', '.', '--pretty', 'false'], folder)
  expect(stdout + stderr).toBe('')
})

test('every program is formatted like the product itself', { timeout: 60_000 }, () => {
  const args = ['format', '--config-path=..', '--colors=off', '--max-diagnostics=5', '.']
  const { status, stderr } = tool('@biomejs/biome/bin/biome', args, join(folder, 'format'))
  expect(status === 0 ? '' : stderr).toBe('')
})

const run = everyProgram.filter(({ isRun }) => isRun)

test.concurrent.each(run)(
  '$name ends well and prints what its page says',
  { timeout: 60_000 },
  async ({ name, output }) => {
    const { code, out, errors } = await node([join(folder, name)], { cwd: dirname(join(folder, name)) })
    expect({ code, out, errors }).toEqual({ code: 0, out: output ?? out, errors: '' })
  },
)

test.each(linked)('links of $file lead to a file of the repository', (page) => {
  const broken = linksOf(page).filter((link) => {
    const target = posix.join(dirname(page.file), link)
    return !existsSync(target) && !target.startsWith('docs/reference/api/') // test/api-reference.test.ts checks those
  })
  expect(broken).toEqual([])
})

test('links to headings lead to headings', () => {
  const broken: string[] = []
  for (const { file, text } of linked) {
    for (const [, target = '', anchor = ''] of text.matchAll(/\]\(([\w./-]*)#([^)\s]+)\)/g)) {
      const other = target === '' ? file : posix.join(posix.dirname(file), target)
      const page = linked.find((one) => one.file === other)
      if (page && !anchorsOf(page).has(anchor)) broken.push(`${file}: ${target}#${anchor}`)
    }
  }
  expect(broken).toEqual([])
})

test('docs/README.md lists every page', () => {
  const listed = new Set(linksOf(page('docs/README.md')).map((link) => posix.join('docs', link)))
  const missing = all.map(({ file }) => file).filter((file) => file !== 'README.md' && !listed.has(file))
  expect(missing).toEqual(['docs/README.md'])
})

test.each(all)('$file begins with its only title', ({ file, text }) => {
  const titles = text.replace(/^```[\s\S]*?^```$/gm, '').match(/^# .+$/gm) ?? []
  expect(titles).toHaveLength(1)
  expect(text.startsWith(titles[0] ?? file)).toBe(true)
})

test('every page can be reached from the README', () => {
  const reached = new Set(['README.md'])
  for (const file of reached) {
    const page = all.find((one) => one.file === file)
    for (const link of page ? linksOf(page) : []) reached.add(posix.join(posix.dirname(file), link))
  }
  expect(all.map(({ file }) => file).filter((file) => !reached.has(file))).toEqual([])
})

test.each(all)('$file speaks of the product only', ({ text }) => {
  expect(text).not.toMatch(/\bTODO\b|\bFIXME\b/)
  expect(text).not.toMatch(/(?:^|[\s"'`(])\/(?:home|work|tmp|root|usr|Users|etc)\//m)
})

test('files and folders that pages name exist', () => {
  const named = new Set(
    [...words.matchAll(/`((?:src|test|examples|bench|docs)\/[\w./-]*)`/g)].map(([, file = '']) => file),
  )
  expect(named.size).toBeGreaterThan(30)
  expect([...named].filter((file) => !existsSync(file))).toEqual([])
})

/** Helper types nobody writes by hand: their meaning is told where what uses them is. */
const unspoken = new Set([
  'ArtifactKey',
  'Blob',
  'CachedOptions',
  'CacheScope',
  'CodeExecutionResult',
  'ConcurrencyOptions',
  'ExecutableCode',
  'FileData',
  'InferInput',
  'InferOutput',
  'JsonObject',
  'LlmRequestConfig',
  'MadeService',
  'MakeService',
  'NewEntry',
  'OAuthFlow',
  'RateLimitOptions',
  'RedactOptions',
  'RetryOptions',
  'Role',
  'RunContextOption',
  'ScopedServices',
  'SuiteOptions',
  'SuiteTest',
  'ToolOptions',
])

test.each(['src/index.ts', 'src/testing/index.ts'])('every name of %s is spoken of', (file) => {
  const names = exportedNames(readSource(file))
  const missing = names.filter((name) => !unspoken.has(name) && !new RegExp(`\\b${name}\\b`).test(words))
  expect(missing).toEqual([])
})

/** Exports that pages rightly call unfinished: what is missing is not the name but what a run does with it. */
const unfinished = new Set([
  'AuthConfig',
  'AuthCredential',
  'AuthScheme',
  'CredentialService',
  'InMemoryCredentialService',
  'CredentialKey',
  'StoredCredential',
  'credentialService',
  'credentialServiceSuite',
  'authConfig',
  'authCredential',
])

test('no page says "not yet" or "later" beside a name that is exported, or an option that exists', () => {
  const existing = new Set([...entryPoints().flatMap((file) => exportedNames(readSource(file))), ...memberNames()])
  const wrong = all.flatMap(({ file, text }) =>
    clauses(text)
      .filter((clause) => /\bnot yet\b|\bcomes? later\b/i.test(clause))
      .flatMap((clause) =>
        [...clause.matchAll(/`([A-Za-z]\w+)(?:\([^`]*\))?`/g)].map(([, name = '']) => camelCase(name)),
      )
      .filter((name) => existing.has(name) && !unfinished.has(name))
      .map((name) => `${file}: ${name}`),
  )
  expect(wrong).toEqual([])
})

test('no name is excused that is gone', () => {
  const names = new Set(['src/index.ts', 'src/testing/index.ts'].flatMap((file) => exportedNames(readSource(file))))
  expect([...unspoken].filter((name) => !names.has(name))).toEqual([])
})

test.each([
  ['Errors thrown to the caller', 'src/error/error.ts', 'ToolwrightErrorCode'],
  ['Error results for the model', 'src/error/error.ts', 'ResultErrorCode'],
  ['Errors that end an agent', 'src/event/event.ts', 'EventErrorCode'],
])('docs/reference/errors.md, "%s": one row for each code', (heading, file, type) => {
  const section = sectionOf(page('docs/reference/errors.md'), heading)
  const codes = rowsOf(section, 2).flatMap(([cell = '']) => /^`([A-Z_]+)`$/.exec(cell)?.[1] ?? [])
  expect(codes.toSorted()).toEqual(literalsOf(readSource(file), type).toSorted())
})

test('docs/reference/errors.md has the HTTP status of every error; what fails when built is a 500', () => {
  const rows = rowsOf(sectionOf(page('docs/reference/errors.md'), 'Errors thrown to the caller'), 3)
  for (const [cell = '', status = ''] of rows.slice(1)) {
    const code = cell.replaceAll('`', '') as ToolwrightErrorCode
    const { status: given } = new ToolwrightError(code, 'No.')
    expect([code, String(given)]).toEqual([code, status === 'when built' ? '500' : status])
  }
  expect(rows.length).toBeGreaterThan(10)
})

test('the ratios of the README are those of docs/contributing/benchmarks.md', () => {
  const ratios = rowsOf(sectionOf(page('README.md'), 'Overhead'), 5).flatMap(
    (cells) => cells.join(' ').match(/[\d.]+x/g) ?? [],
  )
  expect(ratios.length).toBeGreaterThan(15)
  const measured = page('docs/contributing/benchmarks.md').text
  expect(ratios.filter((ratio) => !measured.includes(`(${ratio})`))).toEqual([])
})

test('every deviation has its number once, in order, and one test of that number', () => {
  const numbers = [...page('docs/contributing/deviations.md').text.matchAll(/^\| D(\d+) \|/gm)].map(([, number]) =>
    Number(number),
  )
  expect(numbers.length).toBeGreaterThan(20)
  expect(numbers).toEqual(numbers.map((_, at) => at + 1))
  const tests = readFileSync('test/deviations.test.ts', 'utf8')
  const tested = [...tests.matchAll(/^test\((?:'|")D(\d+): /gm)].map(([, number]) => Number(number))
  expect(tested).toEqual(numbers)
})

test('docs/migrating/from-adk.md has an answer for every name of google.adk.tools and @google/adk 2.0', () => {
  const prose = page('docs/migrating/from-adk.md').text.replace(/^```[\s\S]*?^```$/gm, '')
  const named = new Set([...prose.matchAll(/`([^`]+)`/g)].flatMap(([, code = '']) => code.split(/[^\w]+/)))
  expect(googleAdkNames.length).toBe(461)
  expect([...pythonToolNames, ...googleAdkNames].filter((name) => !named.has(name))).toEqual([])
})

test('a program of another kit is neither compiled nor run here', () => {
  const page = readPage('docs/a/x.md', '```ts theirs\n1\n```\n```ts test\n2\n```\n')
  expect(programs(page).map(({ name }) => name)).toEqual(['a-x-5.ts'])
  expect(theirBlocks(page).map(({ code }) => code)).toEqual(['1\n'])
})

test('the blocks of a page are read as they are written', () => {
  const text = 'a\n```ts run\nconst a = 1\n```\n```text\n1\n```\n```ts more\na\n```\n'
  const [program] = programs(readPage('docs/x.md', text))
  expect(program).toMatchObject({ name: 'x-3.ts', output: '1\n', blocks: [{ line: 3 }, { line: 9 }] })
  expect(program && sourceOf(program)).toBe('\n\nconst a = 1\n\n\n\n\n\na\nexport {}\n')
  expect(() => programs(readPage('docs/x.md', '```ts run\n1\n```\n'))).toThrow('followed by a text block')
})

function page(file: string): Page {
  return all.find((one) => one.file === file) ?? readPageFile(file)
}

function readSource(file: string): Source {
  return { file, text: readFileSync(file, 'utf8') }
}

/** What stands under a heading, up to the next of the same kind. */
function sectionOf({ file, text }: Page, heading: string): Page {
  const found = text.split(/^## /m).find((section) => section.startsWith(`${heading}\n`))
  if (found === undefined) throw new Error(`${file} has no section "${heading}"`)
  return readPage(file, found)
}

function entryPoints(): string[] {
  return [...doors().values()].filter((file) => !file.startsWith('src/cli/'))
}

/** The members of interfaces in the product: options, and what contexts and results have. */
function memberNames(): string[] {
  const names: string[] = []
  for (const source of productSources()) {
    visit(parse(source).program, (node) => {
      if (node.type !== 'TSInterfaceDeclaration') return
      for (const member of (node.body as { body: Node[] }).body) {
        if (isNode(member.key) && typeof member.key.name === 'string') names.push(member.key.name)
      }
    })
  }
  return names
}

/** Names of Python's ADK as they are here. */
function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}

/** Clauses of the text; one from a row of a table comes with the first cell, which names what the row is about. */
function clauses(text: string): string[] {
  return text.split(/\n\s*\n|\n(?=[|-])/).flatMap((block) => {
    if (!block.startsWith('|')) return block.split(/(?<!not yet)[.:;(]\s+/i)
    const [, subject = '', ...cells] = block.split(/(?<!\\)\|/)
    return cells.flatMap((cell) => cell.split(/(?<!not yet)[.:;(]\s+/i)).map((clause) => `${subject} ${clause}`)
  })
}

function exportedNames(source: Source): string[] {
  const entries = parse(source).module.staticExports.flatMap((statement) => statement.entries)
  return entries.flatMap(({ exportName }) => exportName.name ?? [])
}

/** The strings of a union type, those of unions it names included. */
function literalsOf(source: Source, name: string): string[] {
  const found: string[] = []
  visit(parse(source).program, (node) => {
    if (node.type !== 'TSTypeAliasDeclaration' || (node.id as Node).name !== name) return
    visit(node.typeAnnotation, (inner) => {
      if (inner.type === 'TSLiteralType' && isNode(inner.literal)) found.push(String(inner.literal.value))
      if (inner.type === 'TSTypeReference') found.push(...literalsOf(source, String((inner.typeName as Node).name)))
    })
  })
  return found
}

function tool(
  bin: string,
  args: readonly string[],
  cwd: string,
): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [resolve('node_modules', bin), ...args], { cwd, encoding: 'utf8' })
}
