// The root entry point works without Node modules and without code generation from strings. These tests read and run the
// published files: dist, with the hashed chunks that its entry points share.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { describe, expect, test } from 'vitest'
import { commands, entryPoints } from '../entry-points.ts'
import { isNodeModule } from './layers.ts'
import { importsOf, isNode, parse, type Source, visit } from './source.ts'

const read = (file: string): string => readFileSync(file, 'utf8')

test('the root entry point imports no node: module and generates no code', () => {
  const sources = reachable('dist/index.js', read)
  expect(sources.map(({ file }) => file)).toContain('dist/index.js')
  expect(sources.flatMap(nodeImports)).toEqual([])
  expect(sources.flatMap(generatedCode)).toEqual([])
})

test('the root entry point imports no package', () => {
  const packages = reachable('dist/index.js', read).flatMap((source) =>
    importsOf(source)
      .filter((specifier) => !specifier.startsWith('.'))
      .map((specifier) => `${source.file} imports ${specifier}`),
  )
  expect(packages).toEqual([])
})

describe('the packages that entry points import', () => {
  // Shared files are parsed once for all entry points.
  const imports = new Map<string, string[]>()
  const importsOfFile = (source: Source): string[] => {
    const found = imports.get(source.file) ?? importsOf(source)
    imports.set(source.file, found)
    return found
  }
  const specifiersOf = (output: string): string[] =>
    reachable(output, read, importsOfFile)
      .flatMap(importsOfFile)
      .filter((specifier) => !specifier.startsWith('.'))
  const packagesOf = (output: string): string[] => [
    ...new Set(specifiersOf(output).filter((specifier) => !isNodeModule(specifier))),
  ]

  /** One line for each entry point: the packages it imports, directly or not, and `node:` if it needs Node. */
  test('are the reviewed ones', { timeout: 30_000 }, async () => {
    const lines = [...entryPoints(), ...commands()].map(({ output }) => {
      const needs = [...packagesOf(output), ...(specifiersOf(output).some(isNodeModule) ? ['node:'] : [])]
      return `${output}: ${needs.join(' ') || 'nothing'}`
    })
    await expect(`${lines.sort().join('\n')}\n`).toMatchFileSnapshot('exports/imports.txt')
  })

  test('are optional peers', { timeout: 30_000 }, () => {
    const { peerDependenciesMeta } = JSON.parse(read('package.json'))
    const packages = entryPoints().flatMap(({ output }) => packagesOf(output))
    expect(packages.filter((name) => peerDependenciesMeta[packageOf(name)]?.optional !== true)).toEqual([])
  })
})

test('an agent runs on the root entry point without node: modules and code generation', () => {
  expect(runOnRootEntryPoint("'anything'")).toBe('INVALID_ARGS,Oslo done')
})

describe('the checks of the root entry point', () => {
  const files: Record<string, string> = {
    'dist/index.js': "import { a } from './a-x1.js'\nexport { a }",
    'dist/a-x1.js': "export const a = () => import('./b-y2.js')",
    'dist/b-y2.js': "import { readFile } from 'node:fs'\nimport 'path'\nimport 'zod'",
  }
  test('find a Node module behind shared chunks and dynamic imports', () => {
    const sources = reachable('dist/index.js', (file) => files[file] ?? '')
    expect(sources.flatMap(nodeImports)).toEqual(['dist/b-y2.js imports node:fs', 'dist/b-y2.js imports path'])
  })
  test.each(["eval('1')", "globalThis.eval('1')", "new Function('return 1')", "Function('return 1')"])(
    'find %s',
    (text) => {
      expect(generatedCode({ file: 'a.js', text })).toHaveLength(1)
    },
  )
  test.each(['const evaluate = (x) => x; evaluate(1)', 'x instanceof Function', 'typeof f === Function.name'])(
    'accept %s',
    (text) => {
      expect(generatedCode({ file: 'a.js', text })).toEqual([])
    },
  )
  test('refuse Node modules and code generation at run time', () => {
    expect(() => runOnRootEntryPoint("await import('node:fs')")).toThrow('node:fs is not available')
    expect(() => runOnRootEntryPoint("new Function('return 1')")).toThrow('Code generation from strings disallowed')
  })
})

/** A file and all files it imports by relative paths, directly or not. */
function reachable(entry: string, read: (file: string) => string, importsIn = importsOf): Source[] {
  const found = new Map<string, Source>()
  const follow = (file: string): void => {
    if (found.has(file)) return
    const source = { file, text: read(file) }
    found.set(file, source)
    for (const specifier of importsIn(source)) {
      if (specifier.startsWith('.')) follow(posix.join(posix.dirname(file), specifier))
    }
  }
  follow(entry)
  return [...found.values()]
}

function nodeImports(source: Source): string[] {
  return importsOf(source)
    .filter(isNodeModule)
    .map((specifier) => `${source.file} imports ${specifier}`)
}

function generatedCode(source: Source): string[] {
  const found: string[] = []
  visit(parse(source).program, ({ type, callee }) => {
    if ((type !== 'CallExpression' && type !== 'NewExpression') || !isNode(callee)) return
    const named = isNode(callee.property) ? callee.property : callee
    if (named.name === 'eval' || named.name === 'Function') found.push(`${source.file} calls ${named.name}`)
  })
  return found
}

/** Imports the built root entry point in a Node without builtin modules and code generation, runs `code`, then an agent. */
function runOnRootEntryPoint(code: string): string {
  const program = `
    import { registerHooks } from 'node:module'
    registerHooks({
      resolve(specifier, context, next) {
        const found = next(specifier, context)
        if (found.url.startsWith('node:')) throw new Error(found.url + ' is not available')
        return found
      },
    })
    const { LlmAgent, Runner, tool } = await import('./dist/index.js')
    ${code}
    const getWeather = tool({
      name: 'get_weather',
      description: 'Weather for a city',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      run: ({ city }) => ({ city, temperature: 22 }),
    })
    const replies = [{ city: 5 }, { city: 'Oslo' }]
    const model = {
      name: 'stand-in',
      async *generate() {
        const args = replies.shift()
        yield { content: { role: 'model', parts: [args ? { functionCall: { name: 'get_weather', args } } : { text: 'done' }] } }
      },
    }
    const runner = new Runner({ appName: 'app', agent: new LlmAgent({ name: 'agent', model, tools: [getWeather] }) })
    const { events, text } = await runner.complete({ userId: 'ada', message: 'Oslo?' })
    const responses = events.flatMap(({ content }) => content?.parts ?? []).flatMap((part) => part.functionResponse ?? [])
    console.log(responses.map(({ response }) => response.errorCode ?? response.city).join(), text)`
  const flags = ['--disallow-code-generation-from-strings', '--input-type=module', '-e', program]
  return execFileSync(process.execPath, flags, { encoding: 'utf8', stdio: 'pipe' }).trim()
}

/** The package of an import: `hono` of `hono/cookie`. */
function packageOf(name: string): string {
  return name.split('/', name.startsWith('@') ? 2 : 1).join('/')
}
