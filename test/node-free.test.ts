// The root door must open where there is no Node and where code generation from strings is refused. These tests read
// and run what is published: dist, with the hashed chunks its entries share.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isNodeModule } from './layers.ts'
import { importsOf, isNode, parse, type Source, visit } from './source.ts'

const read = (file: string): string => readFileSync(file, 'utf8')

test('the root door holds no node: import and generates no code', () => {
  const sources = reachable('dist/index.js', read)
  expect(sources.map(({ file }) => file)).toContain('dist/index.js')
  expect(sources.flatMap(nodeImports)).toEqual([])
  expect(sources.flatMap(generatedCode)).toEqual([])
})

test('the root entry point imports no package, so that bundlers need none', () => {
  const packages = reachable('dist/index.js', read).flatMap((source) =>
    importsOf(source)
      .filter((specifier) => !specifier.startsWith('.'))
      .map((specifier) => `${source.file} imports ${specifier}`),
  )
  expect(packages).toEqual([])
})

/** What following every import of an entry point finds: the packages it cannot work without, and whether it is for Node. */
test.each([
  ['index', [], false],
  ['ai-sdk/index', [], false],
  ['code/index', [], true],
  ['gemini/index', ['@google/genai'], false],
  ['sqlite/index', [], true],
  ['testing/index', [], false],
  ['cli/index', [], true],
])('%s reaches only the optional peers it needs', (entry, peers, isForNode) => {
  const sources = reachable(`dist/${entry}.js`, read)
  const specifiers = sources.flatMap(importsOf).filter((specifier) => !specifier.startsWith('.'))
  expect([...new Set(specifiers.filter((specifier) => !isNodeModule(specifier)))]).toEqual(peers)
  expect(specifiers.some(isNodeModule)).toBe(isForNode)
})

test('the root door opens, its dependencies included, without node: modules and code generation', () => {
  expect(openRootDoor("'anything'")).toBe('INVALID_ARGS,Oslo done')
})

describe('what would break it', () => {
  const files: Record<string, string> = {
    'dist/index.js': "import { a } from './a-x1.js'\nexport { a }",
    'dist/a-x1.js': "export const a = () => import('./b-y2.js')",
    'dist/b-y2.js': "import { readFile } from 'node:fs'\nimport 'path'\nimport 'zod'",
  }
  test('is found behind chunks, also behind import()', () => {
    const sources = reachable('dist/index.js', (file) => files[file] ?? '')
    expect(sources.flatMap(nodeImports)).toEqual(['dist/b-y2.js imports node:fs', 'dist/b-y2.js imports path'])
  })
  test.each(["eval('1')", "globalThis.eval('1')", "new Function('return 1')", "Function('return 1')"])(
    '%s is found',
    (text) => {
      expect(generatedCode({ file: 'a.js', text })).toHaveLength(1)
    },
  )
  test.each(['const evaluate = (x) => x; evaluate(1)', 'x instanceof Function', 'typeof f === Function.name'])(
    '%s passes',
    (text) => {
      expect(generatedCode({ file: 'a.js', text })).toEqual([])
    },
  )
  test('is refused at run time too', () => {
    expect(() => openRootDoor("await import('node:fs')")).toThrow('node:fs is not here')
    expect(() => openRootDoor("new Function('return 1')")).toThrow('Code generation from strings disallowed')
  })
})

/** A file and everything of ours it imports, however deep. */
function reachable(entry: string, read: (file: string) => string): Source[] {
  const found = new Map<string, Source>()
  const follow = (file: string): void => {
    if (found.has(file)) return
    const source = { file, text: read(file) }
    found.set(file, source)
    for (const specifier of importsOf(source)) {
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

/** Imports the built door in a Node that refuses builtins and code generation, runs `code`, and makes a tool. */
function openRootDoor(code: string): string {
  const program = `
    import { registerHooks } from 'node:module'
    registerHooks({
      resolve(specifier, context, next) {
        const found = next(specifier, context)
        if (found.url.startsWith('node:')) throw new Error(found.url + ' is not here')
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
