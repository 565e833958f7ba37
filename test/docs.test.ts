// Checks the documentation: its programs compile, run and print the shown output, links have targets, tables are complete.
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, posix, resolve } from 'node:path'
import { ToolwrightError, type ToolwrightErrorCode } from 'toolwright'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sourceBySpecifier } from '../entry-points.ts'
import { createInferrer } from '../src/apps/infer/create-inferrer.ts'
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
import { vagueLines, vagueWords } from './docs/vague-words.ts'
import { node } from './examples/child.ts'
import { type PostgresServer, startServer } from './postgres/server.ts'
import { isNode, type Node, parse, productSources, type Source, visit } from './source.ts'

const all = pages()
const rootPages = ['AGENTS.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'].filter(existsSync).map(readPageFile)
const linked = [...all, ...rootPages]
const everyProgram = all.flatMap(programs)
const words = all.map(({ text }) => text).join('\n')

// A folder like a user's: only node_modules connects it with the repository.
let folder = ''
let server: PostgresServer
beforeAll(async () => {
  server = await startServer() // programs of pages find it in DATABASE_URL
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
}, 60_000)
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await server.close()
}, 60_000)

test('every program of the documentation compiles with the strict settings of the product', { timeout: 60_000 }, () => {
  expect(everyProgram.length).toBeGreaterThan(20)
  const { stdout, stderr } = tool('typescript/bin/tsc', ['-p', '.', '--pretty', 'false'], folder)
  expect(stdout + stderr).toBe('')
})

test('every program of the documentation is formatted like the product', { timeout: 60_000 }, () => {
  const args = ['format', '--config-path=..', '--colors=off', '--max-diagnostics=5', '.']
  const { status, stderr } = tool('@biomejs/biome/bin/biome', args, join(folder, 'format'))
  expect(status === 0 ? '' : stderr).toBe('')
})

const run = everyProgram.filter(({ isRun }) => isRun)

test.concurrent.each(run)(
  '$name succeeds and prints the output on its page',
  { timeout: 60_000 },
  async ({ name, output, usesInfer }) => {
    const file = join(folder, name)
    if (usesInfer) writeFileSync(file, withInferred(file))
    const { code, out, errors } = await node([file], {
      cwd: dirname(file),
      env: { ...process.env, DATABASE_URL: server.url },
    })
    expect({ code, out, errors }).toEqual({ code: 0, out: output ?? out, errors: '' })
  },
)

// One compiler for all programs: starting each with the hook would take seconds.
const inferrer = createInferrer({ cache: false })

/** The program as `toolwright/infer` transforms it. */
function withInferred(file: string): string {
  const transformed = inferrer.transform(file, readFileSync(file, 'utf8'))
  if (!transformed) throw new Error(`${file} has no plain function as a tool. Remove the word "infer".`)
  return transformed.code
}

test.each(linked)('every link of $file has a target', (page) => {
  const broken = linksOf(page).filter((link) => {
    const target = posix.join(dirname(page.file), link)
    return !existsSync(target) && !target.startsWith('docs/reference/api/') // test/api-reference.test.ts checks those
  })
  expect(broken).toEqual([])
})

test('every link to a heading has a target', () => {
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

test('every page is reachable from the README', () => {
  const reached = new Set(['README.md'])
  for (const file of reached) {
    const page = all.find((one) => one.file === file)
    for (const link of page ? linksOf(page) : []) reached.add(posix.join(posix.dirname(file), link))
  }
  expect(all.map(({ file }) => file).filter((file) => !reached.has(file))).toEqual([])
})

test.each(all)('$file contains no to-dos and no paths of a machine', ({ text }) => {
  expect(text).not.toMatch(/\bTODO\b|\bFIXME\b/)
  expect(text).not.toMatch(/(?:^|[\s"'`(])\/(?:home|work|tmp|root|usr|Users|etc)\//m)
})

test.each(all.filter(({ file }) => file !== 'docs/contributing/glossary.md'))('$file names the actor', ({ text }) => {
  expect(vagueWords(text)).toEqual([])
})

/** Files that contain the vague words because they search for them. */
const wordLists = new Set(['test/docs/vague-words.ts', 'test/docs.test.ts'])

test('comments, messages and test titles contain no vague words', () => {
  const files = globSync(['src/**/*.ts', 'test/**/*.ts', 'bench/**/*.mjs', 'examples/**/*.ts', 'scripts/**/*.ts'])
  expect(files.length).toBeGreaterThan(500)
  const searched = files
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => !wordLists.has(file) && !file.includes('/node_modules/')) // the benchmark installs packages
  expect(searched.flatMap((file) => vagueLines(readFileSync(file, 'utf8')).map((line) => `${file}:${line}`))).toEqual(
    [],
  )
})

test('the search for vague words finds phrases in every line, and actors in comments', () => {
  const lines = [
    '// Somebody waits.',
    "fail('Whoever waits is told.')",
    "say('Nobody measures in Oslo.')",
    ' * the user nobody',
  ]
  expect(vagueLines(lines.join('\n'))).toEqual([`1: ${lines[0]}`, `2: ${lines[1]}`])
  expect(vagueWords('Nobody hears of calls that are told apart.')).toEqual(['Nobody', 'hears of'])
})

test('every file and folder that a page names exists', () => {
  const named = new Set(
    [...words.matchAll(/`((?:src|test|examples|bench|docs)\/[\w./-]*)`/g)].map(([, file = '']) => file),
  )
  expect(named.size).toBeGreaterThan(30)
  named.delete('docs/reference/api') // generated
  expect([...named].filter((file) => !existsSync(file))).toEqual([])
})

/** Helper types that users do not write by hand. The functions that use them are documented. */
const unspoken = new Set([
  'ArtifactKey',
  'InlineData',
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
  'OAuthFlow',
  'RateLimitOptions',
  'RedactOptions',
  'RetryOptions',
  'Role',
  'SuiteOptions',
  'SuiteTest',
  'ToolOptions',
])

test.each(['src/index.ts', 'src/adapters/testing/index.ts'])('the documentation names every export of %s', (file) => {
  const names = exportedNames(readSource(file))
  const missing = names.filter((name) => !unspoken.has(name) && !new RegExp(`\\b${name}\\b`).test(words))
  expect(missing).toEqual([])
})

test('no page says "not yet" or "later" about an existing export or option', () => {
  const existing = new Set([...entryPoints().flatMap((file) => exportedNames(readSource(file))), ...memberNames()])
  const wrong = all.flatMap(({ file, text }) =>
    clauses(text)
      .filter((clause) => /\bnot yet\b|\bcomes? later\b/i.test(clause))
      .flatMap((clause) =>
        [...clause.matchAll(/`([A-Za-z]\w+)(?:\([^`]*\))?`/g)].map(([, name = '']) => camelCase(name)),
      )
      .filter((name) => existing.has(name))
      .map((name) => `${file}: ${name}`),
  )
  expect(wrong).toEqual([])
})

test('every name in the list of undocumented names still exists', () => {
  const names = new Set(
    ['src/index.ts', 'src/adapters/testing/index.ts'].flatMap((file) => exportedNames(readSource(file))),
  )
  expect([...unspoken].filter((name) => !names.has(name))).toEqual([])
})

test.each([
  ['Errors thrown to the caller', 'src/core/error/error.ts', 'ToolwrightErrorCode'],
  ['Error results for the model', 'src/core/error/error.ts', 'ResultErrorCode'],
  ['Errors that end an agent', 'src/core/event/event.ts', 'EventErrorCode'],
])('the error page has one row for each code under "%s"', (heading, file, type) => {
  const section = sectionOf(page('docs/reference/errors.md'), heading)
  const codes = rowsOf(section, 2).flatMap(([cell = '']) => /^`([A-Z_]+)`$/.exec(cell)?.[1] ?? [])
  expect(codes.toSorted()).toEqual(literalsOf(readSource(file), type).toSorted())
})

test('the error page has the HTTP status of every error, and 500 for errors of the build', () => {
  const rows = rowsOf(sectionOf(page('docs/reference/errors.md'), 'Errors thrown to the caller'), 3)
  for (const [cell = '', status = ''] of rows.slice(1)) {
    const code = cell.replaceAll('`', '') as ToolwrightErrorCode
    const { status: given } = new ToolwrightError(code, 'No.')
    expect([code, String(given)]).toEqual([code, status === 'when built' ? '500' : status])
  }
  expect(rows.length).toBeGreaterThan(10)
})

test('the README has no measured figure, which is that of another build, and its budget is the one that is tested', () => {
  const { text: overhead } = sectionOf(page('README.md'), 'Overhead')
  expect(overhead.match(/[\d.]+ ?(?:x|ms|µs|us)\b/g)).toBeNull()
  const [, budget] = /less than ([\d.]+ MB)/.exec(overhead) ?? []
  expect(readFileSync('test/size.test.ts', 'utf8')).toContain(`less than ${budget} installed`)
})

test('the README has the limits that the benchmark checks', () => {
  const { text: overhead } = sectionOf(page('README.md'), 'Overhead')
  const shown = [...overhead.matchAll(/at most (\d+) times/g)].map(([, limit]) => Number(limit))
  const limits = readFileSync('bench/limits.mjs', 'utf8')
  const maximum = (what: string): number => Number(limits.split(`what: '${what}', max: `)[1]?.split(',')[0])
  expect(shown).toEqual([maximum('one call, times the floor'), maximum('turns 181-200, times the floor')])
})

test('every table of docs/contributing/benchmarks.md follows the date of its measurement', () => {
  const parts = page('docs/contributing/benchmarks.md').text.split(/^## /m)
  const measured = parts.filter((part) => /^\|---/m.test(part))
  expect(measured.length).toBeGreaterThan(5)
  expect(measured.filter((part) => !/\b\d{4}-\d{2}-\d{2}\b/.test(part))).toEqual([])
})

test('the page about compatibility lists exactly the entry points that import no Node module', () => {
  const [, free = '', bound = ''] =
    /works too\. ([^.]*) import no Node.*?files\. ([^.]*) and the command/s.exec(
      page('docs/reference/compatibility.md').text,
    ) ?? []
  const named = (text: string): string[] =>
    [...text.matchAll(/`(toolwright[\w/-]*)`/g)].map(([, name = '']) => name).sort()
  const lines = readFileSync('test/exports/imports.txt', 'utf8').trim().split('\n')
  const entries = lines.filter((line) => !/^dist\/(?:cli|infer\/(?!index))/.test(line))
  const nameOf = (line: string): string => `toolwright${/^dist(\/[\w-]+)\/index/.exec(line)?.[1] ?? ''}`
  const needsNode = (line: string): boolean => line.endsWith('node:')
  expect(named(free)).toEqual(
    entries
      .filter((line) => !needsNode(line))
      .map(nameOf)
      .sort(),
  )
  expect(named(bound)).toEqual(entries.filter(needsNode).map(nameOf).sort())
})

test('every deviation has a unique number, in order, and one test of that number', () => {
  const numbers = [...page('docs/contributing/deviations.md').text.matchAll(/^\| D(\d+) \|/gm)].map(([, number]) =>
    Number(number),
  )
  expect(numbers.length).toBeGreaterThan(20)
  const gone = [39]
  const used = Array.from({ length: numbers.length + gone.length }, (_, at) => at + 1)
  expect(numbers).toEqual(used.filter((number) => !gone.includes(number)))
  const tests = readFileSync('test/deviations.test.ts', 'utf8')
  const tested = [...tests.matchAll(/^test\((?:'|")D(\d+): /gm)].map(([, number]) => Number(number))
  expect(tested).toEqual(numbers)
})

test('the migration page names every export of google.adk.tools and @google/adk 2.0', () => {
  const prose = page('docs/migrating/from-adk.md').text.replace(/^```[\s\S]*?^```$/gm, '')
  const named = new Set([...prose.matchAll(/`([^`]+)`/g)].flatMap(([, code = '']) => code.split(/[^\w]+/)))
  expect(googleAdkNames.length).toBe(461)
  expect([...pythonToolNames, ...googleAdkNames].filter((name) => !named.has(name))).toEqual([])
})

test('a program of another framework in the documentation is neither compiled nor run', () => {
  const page = readPage('docs/a/x.md', '```ts theirs\n1\n```\n```ts test\n2\n```\n')
  expect(programs(page).map(({ name }) => name)).toEqual(['a-x-5.ts'])
  expect(theirBlocks(page).map(({ code }) => code)).toEqual(['1\n'])
})

test('the tests of the documentation read programs and their expected output from the code blocks of a page', () => {
  const text = 'a\n```ts run\nconst a = 1\n```\n```text\n1\n```\n```ts more\na\n```\n'
  const [program] = programs(readPage('docs/x.md', text))
  expect(program).toMatchObject({ name: 'x-3.ts', output: '1\n', blocks: [{ line: 3 }, { line: 9 }] })
  expect(program && sourceOf(program)).toBe('\n\nconst a = 1\n\n\n\n\n\na\nexport {}\n')
  expect(() => programs(readPage('docs/x.md', '```ts run\n1\n```\n'))).toThrow(
    'must follow a block with the word "run"',
  )
})

function page(file: string): Page {
  return all.find((one) => one.file === file) ?? readPageFile(file)
}

function readSource(file: string): Source {
  return { file, text: readFileSync(file, 'utf8') }
}

/** The text under a heading, up to the next heading of the same level. */
function sectionOf({ file, text }: Page, heading: string): Page {
  const found = text.split(/^## /m).find((section) => section.startsWith(`${heading}\n`))
  if (found === undefined) throw new Error(`${file} has no section "${heading}"`)
  return readPage(file, found)
}

function entryPoints(): string[] {
  return [...sourceBySpecifier().values()]
}

/** The members of all interfaces of the product: options, contexts and results. */
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

/** A name of Python's ADK in our spelling. */
function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}

/** The clauses of a text. A clause from a table row begins with the first cell, which names the subject of the row. */
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

/** The strings of a union type, including those of the unions it refers to. */
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
