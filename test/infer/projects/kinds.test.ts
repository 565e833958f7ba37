// Settings and compilers do not change what a function becomes.
import { cpSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { findCompiler } from '../../../src/apps/infer/compiler/find-compiler.ts'
import { createInferrer } from '../../../src/apps/infer/create-inferrer.ts'
import { createProject, runNode } from './project-kit.ts'
import { weatherJson, weatherTool, weatherTypes } from './weather.ts'

const sources = { 'src/types.ts': weatherTypes, 'src/tools.ts': weatherTool('./types.ts') }
const withOptions = (compilerOptions: object): { 'tsconfig.json': object } => ({ 'tsconfig.json': { compilerOptions } })

describe('a function has the same declaration, byte for byte,', () => {
  test.each<[string, { [name: string]: object | string }]>([
    ['without a tsconfig', {}],
    ['with strict', withOptions({ strict: true, module: 'nodenext' })],
    ['without strict', withOptions({ strict: false, module: 'nodenext' })],
    ['with an empty tsconfig', { 'tsconfig.json': {} }],
    ['with an empty file as tsconfig', { 'tsconfig.json': '' }],
    ['with a tsconfig that ends in the middle', { 'tsconfig.json': '{ "compilerOptions": { "strict": tru' }],
    ['with comments in tsconfig', { 'tsconfig.json': '{ // strict\n "compilerOptions": { "strict": true, }, }' }],
    ['with exactOptionalPropertyTypes', withOptions({ strict: true, exactOptionalPropertyTypes: true })],
    ['with moduleResolution bundler', withOptions({ module: 'preserve', moduleResolution: 'bundler' })],
    ['with module esnext and no moduleResolution', withOptions({ module: 'esnext' })],
    ['with moduleResolution node10', withOptions({ module: 'commonjs', moduleResolution: 'node10' })],
    ['with noResolve', withOptions({ noResolve: true })],
    ['with the target es5', withOptions({ target: 'es5', lib: ['es5', 'es2015'] })],
    ['with output that is not built', withOptions({ composite: true, outDir: 'dist', rootDir: 'src' })],
    ['with isolatedDeclarations', withOptions({ isolatedDeclarations: true, declaration: true })],
    ['when tsconfig does not include the file', { 'tsconfig.json': { include: ['other'] } }],
    [
      'with a tsconfig that extends another',
      { 'tsconfig.json': { extends: './base.json' }, 'base.json': { compilerOptions: { strict: true } } },
    ],
    ['with a tsconfig that extends a missing file', { 'tsconfig.json': { extends: './missing.json' } }],
  ])('%s', (_, files) => {
    const project = createProject({ ...sources, ...files })
    expect(JSON.stringify(project.functions('src/tools.ts'))).toBe(weatherJson)
  })

  test('with the whole package instead of the small one of these tests', () => {
    const options = {
      strict: true,
      customConditions: ['toolwright:source'],
      types: [],
      lib: ['es2023', 'esnext.disposable', 'dom'],
    }
    const project = createProject({ ...sources, ...withOptions(options) })
    project.remove('node_modules/toolwright')
    project.link('node_modules/toolwright', '.')
    expect(JSON.stringify(project.functions('src/tools.ts'))).toBe(weatherJson)
  })
})

describe('a project', () => {
  const generator = 'node_modules/ts-json-schema-generator'
  const loaded = (folder: string): string | undefined => findCompiler(folder)?.load().version

  test('on TypeScript 5.9 is read with its own compiler', () => {
    const project = createProject(sources)
    project.link('node_modules/typescript', `${generator}/node_modules/typescript`)
    expect(loaded(project.folder)).toMatch(/^5\.9\./)
    const inferrer = createInferrer({ folder: project.folder, cache: false })
    expect(JSON.stringify(project.functions('src/tools.ts', inferrer))).toBe(weatherJson)
  })

  test('with several compilers is read with the one of its own package.json', () => {
    const project = createProject({
      'node_modules/typescript/package.json': { version: '5.4.0', main: 'index.js' },
      'node_modules/typescript/index.js': 'module.exports = { version: "5.4.0 of the project" }',
    })
    project.link(generator, generator)
    expect(loaded(project.folder)).toBe('5.4.0 of the project')
  })

  test('on TypeScript 7 is read with the compiler that is installed as typescript-5', () => {
    const project = createProject(sources)
    project.link('node_modules/typescript', 'node_modules/typescript')
    project.link('node_modules/typescript-5', `${generator}/node_modules/typescript`)
    expect(loaded(project.folder)).toMatch(/^5\.9\./)
    const inferrer = createInferrer({ folder: project.folder, cache: false })
    expect(JSON.stringify(project.functions('src/tools.ts', inferrer))).toBe(weatherJson)
  })

  test('on TypeScript 7 without another compiler gets an error that names this version', () => {
    const project = createProject(sources)
    project.link('node_modules/typescript', 'node_modules/typescript')
    const options = { folder: project.folder, cache: false, findCompiler: () => undefined }
    expect(() => createInferrer({ ...options, requireCompiler: true })).toThrow(
      /TypeScript 7\.\S+ of this project has no/,
    )
  })

  test('on TypeScript 7 is read with the compiler of ts-json-schema-generator', () => {
    const project = createProject(sources)
    project.link('node_modules/typescript', 'node_modules/typescript')
    project.link(generator, generator)
    expect(loaded(project.folder)).toMatch(/^5\./)
    const inferrer = createInferrer({ folder: project.folder, cache: false })
    expect(JSON.stringify(project.functions('src/tools.ts', inferrer))).toBe(weatherJson)
  })

  test('without a compiler gets an error that says what to install', () => {
    const project = createProject(sources)
    const options = { folder: project.folder, cache: false, findCompiler: () => undefined }
    const missing = expect.objectContaining({
      code: 'MISSING_PEER',
      message: expect.stringContaining('npm install --save-dev typescript-5@npm:typescript@5'),
    })
    expect(() => project.functions('src/tools.ts', createInferrer(options))).toThrow(missing)
    expect(() => createInferrer({ ...options, requireCompiler: true })).toThrow(missing)
    expect(project.functions('src/types.ts', createInferrer(options))).toEqual([])
  })

  test('with only TypeScript 7 has no compiler, unless there is one beside this package', () => {
    const project = createProject({ 'package.json': { type: 'module' } })
    project.link('node_modules/typescript', 'node_modules/typescript')
    expect(loaded(project.folder)).toMatch(/^5\./)
    for (const folder of ['apps/infer/compiler', 'core/error', 'core/base'])
      cpSync(`src/${folder}`, project.path(`copy/${folder}`), { recursive: true })
    const url = pathToFileURL(project.path('copy/apps/infer/compiler/find-compiler.ts'))
    const script = `import { findCompiler } from '${url}'\nconsole.log(findCompiler(process.cwd()))`
    expect(runNode(project, script)).toBe('undefined\n')
  })
})
