// Projects of several parts: solutions, aliases, project references, workspaces, packages and files that change.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { createProject, shared } from './project-kit.ts'
import { weatherJson, weatherTool, weatherTypes } from './weather.ts'

describe('a solution, whose tsconfig.json only lists other projects,', () => {
  const app = {
    compilerOptions: { strict: true, module: 'esnext', moduleResolution: 'bundler', paths: { '@/*': ['./src/*'] } },
    include: ['src'],
  }
  const solution = {
    'tsconfig.json': { files: [], references: [{ path: './tsconfig.app.json' }, { path: './tsconfig.node.json' }] },
    'tsconfig.app.json': app,
    'tsconfig.node.json': { compilerOptions: { module: 'nodenext' }, include: ['vite.config.ts'] },
    'vite.config.ts': 'export default {}',
    'src/types.ts': weatherTypes,
  }

  test('is read with the settings of the project that includes the file', () => {
    const project = createProject({ ...solution, 'src/deep/tools.ts': weatherTool('@/types') })
    expect(JSON.stringify(project.functions('src/deep/tools.ts'))).toBe(weatherJson)
  })

  test('is read with the global types of the project that includes the file', () => {
    const project = createProject({
      ...solution,
      'src/globals.d.ts': 'type Color = "red" | "green"',
      'src/tools.ts': `
        import { tool } from 'toolwright'
        /** Paint. */
        export const paint = (color: Color) => color
        export default tool(paint)
      `,
    })
    expect(project.functions('src/tools.ts')[0]?.parameters.properties).toEqual({
      color: { type: 'string', enum: ['red', 'green'] },
    })
  })

  test('may list projects that list the project of the file', () => {
    const project = createProject({
      ...solution,
      'tsconfig.json': { files: [], references: [{ path: './parts' }] },
      'parts/tsconfig.json': { files: [], references: [{ path: '../tsconfig.app.json' }, { path: '..' }] },
      'src/tools.ts': weatherTool('@/types'),
    })
    expect(JSON.stringify(project.functions('src/tools.ts'))).toBe(weatherJson)
  })

  test('may have several projects for the files of one folder', () => {
    const project = createProject({
      ...solution,
      'tsconfig.json': { files: [], references: [{ path: './tsconfig.app.json' }, { path: './tsconfig.test.json' }] },
      'tsconfig.app.json': { ...app, exclude: ['src/**/*.test.ts'] },
      'tsconfig.test.json': {
        compilerOptions: { ...app.compilerOptions, paths: { 'app/*': ['./src/*'] } },
        include: ['src/**/*.test.ts'],
      },
      'src/tools.ts': weatherTool('@/types'),
      'src/tools.test.ts': weatherTool('app/types'),
    })
    for (const name of ['src/tools.ts', 'src/tools.test.ts'])
      expect(JSON.stringify(project.functions(name))).toBe(weatherJson)
  })

  test('finds the project of a file that was created later', () => {
    const project = createProject({ ...solution, 'src/tools.ts': weatherTool('@/types') })
    project.functions('src/tools.ts')
    project.write('src/more.ts', weatherTool('@/types'))
    expect(JSON.stringify(project.functions('src/more.ts'))).toBe(weatherJson)
  })
})

describe('a monorepo whose output is not built', () => {
  const composite = { composite: true, strict: true, module: 'nodenext', outDir: 'dist', rootDir: 'src' }
  const packageOf = (name: string, exported: object): object => ({ name, type: 'module', exports: exported })
  const built = { types: './dist/index.d.ts', default: './dist/index.js' }
  const monorepo = {
    'tsconfig.json': {
      files: [],
      references: ['packages/types', 'packages/tools', 'apps/agent'].map((path) => ({ path })),
    },
    'packages/types/package.json': packageOf('@shop/types', { '.': built }),
    'packages/types/tsconfig.json': { compilerOptions: composite, include: ['src'] },
    'packages/types/src/index.ts': weatherTypes,
    'packages/tools/package.json': packageOf('@shop/tools', { '.': built }),
    'packages/tools/tsconfig.json': {
      compilerOptions: composite,
      include: ['src'],
      references: [{ path: '../types' }],
    },
    'apps/agent/tsconfig.json': {
      compilerOptions: composite,
      include: ['src'],
      references: [{ path: '../../packages/types' }, { path: '../../packages/tools' }],
    },
  }
  const link = (project: ReturnType<typeof createProject>): void => {
    project.link('node_modules/@shop/types', project.path('packages/types'))
    project.link('node_modules/@shop/tools', project.path('packages/tools'))
  }

  test('is read through the names of its packages and their project references', () => {
    const project = createProject({ ...monorepo, 'apps/agent/src/tools.ts': weatherTool('@shop/types') })
    link(project)
    expect(JSON.stringify(project.functions('apps/agent/src/tools.ts'))).toBe(weatherJson)
    const source = readFileSync(project.path('apps/agent/src/tools.ts'), 'utf8')
    shared.transform(project.path('apps/agent/src/tools.ts'), source)
    expect(shared.readFiles(project.path('apps/agent/src/tools.ts'))).toContain(
      project.path('packages/types/src/index.ts'),
    )
  })

  test('is read when an app uses a function of a package, whose types come from another package', () => {
    const project = createProject({
      ...monorepo,
      'packages/tools/src/index.ts': weatherTool('@shop/types').replace(/export const weather.*\n/, ''),
      'apps/agent/src/agent.ts': `
        import { LlmAgent } from 'toolwright'
        import { getWeather } from '@shop/tools'
        export default new LlmAgent({ name: 'agent', tools: [getWeather] })
      `,
    })
    link(project)
    expect(JSON.stringify(project.functions('apps/agent/src/agent.ts'))).toBe(weatherJson)
  })

  test('is read through aliases of tsconfig, also inherited and with a baseUrl', () => {
    const project = createProject({
      ...monorepo,
      'tsconfig.base.json': {
        compilerOptions: {
          strict: true,
          paths: { '#types': ['./packages/types/src/index.ts'], '#lib/*': ['./packages/*/src/index'] },
        },
      },
      'apps/agent/tsconfig.json': { extends: '../../tsconfig.base.json', include: ['src'] },
      'apps/other/tsconfig.json': {
        compilerOptions: { baseUrl: '../../packages', module: 'esnext', moduleResolution: 'bundler' },
      },
      'apps/agent/src/tools.ts': weatherTool('#types'),
      'apps/agent/src/pattern.ts': weatherTool('#lib/types'),
      'apps/other/tools.ts': weatherTool('types/src/index'),
    })
    for (const name of ['apps/agent/src/tools.ts', 'apps/agent/src/pattern.ts', 'apps/other/tools.ts'])
      expect(JSON.stringify(project.functions(name)), name).toBe(weatherJson)
  })

  test('is read through imports of package.json', () => {
    const project = createProject({
      'package.json': { type: 'module', imports: { '#types': './lib/types.ts' } },
      'lib/types.ts': weatherTypes,
      'src/tools.ts': weatherTool('#types'),
    })
    expect(JSON.stringify(project.functions('src/tools.ts'))).toBe(weatherJson)
  })

  test('uses the new types after a file of another package has changed', () => {
    const project = createProject({ ...monorepo, 'apps/agent/src/tools.ts': weatherTool('@shop/types') })
    link(project)
    project.functions('apps/agent/src/tools.ts')
    project.write('packages/types/src/index.ts', weatherTypes.replace("'fahrenheit'", "'fahrenheit' | 'kelvin'"))
    expect(JSON.stringify(project.functions('apps/agent/src/tools.ts'))).toContain('["celsius","fahrenheit","kelvin"]')
  })
})

test('functions of a package that has only declarations and JavaScript are read from its declarations', () => {
  const project = createProject({
    'node_modules/weather/package.json': { name: 'weather', type: 'module', types: './index.d.ts', main: './index.js' },
    'node_modules/weather/index.js': 'export function search(query, limit) { return [query, limit] }',
    'node_modules/weather/index.d.ts': `
      /** Search for a city. */
      export declare function search(query: string, limit?: number): Promise<string[]>
    `,
    'agent.ts': `
      import { LlmAgent } from 'toolwright'
      import { search } from 'weather'
      export default new LlmAgent({ name: 'agent', tools: [search] })
    `,
  })
  expect(project.functions('agent.ts')).toMatchObject([
    {
      name: 'search',
      description: 'Search for a city.',
      parameters: { properties: { query: { type: 'string' }, limit: { type: 'number' } }, required: ['query'] },
      call: [{ argument: 'query' }, { argument: 'limit' }],
    },
  ])
})

test('a tag of a package that looks misspelled is left out, because only the package can correct it', () => {
  const project = createProject({
    'node_modules/weather/package.json': { name: 'weather', type: 'module', types: './index.d.ts' },
    'node_modules/weather/index.d.ts': `
      /** @patern a */
      export type City = string
      export interface Place {
        /**
         * @examples Oslo
         * @minLength 2
         */
        city: City
      }
      /** Search for a city. */
      export declare function search(/** @formatt text */ query: string, place: Place): string
    `,
    'agent.ts': `
      import { LlmAgent } from 'toolwright'
      import { type Place, search } from 'weather'
      /** Find a place. */
      const find = (place: Place) => place
      export default new LlmAgent({ name: 'agent', tools: [search, find] })
    `,
  })
  const city = { type: 'string', minLength: 2 }
  expect(project.functions('agent.ts')).toMatchObject([
    { parameters: { properties: { query: { type: 'string' }, place: { properties: { city } } } } },
    { parameters: { properties: { city } } },
  ])
})

test('functions of a package without declarations are not read', () => {
  const project = createProject({
    'node_modules/plain/package.json': { name: 'plain', type: 'module', main: './index.js' },
    'node_modules/plain/index.js': '/** @param {string} query */ export function search(query) { return query }',
    'agent.ts': `
      import { tool } from 'toolwright'
      import { search } from 'plain'
      export default tool(search, { description: 'Search' })
    `,
  })
  expect(project.functions('agent.ts')).toEqual([]) // a value of type any: tool() throws NEEDS_INFER at run time
})

test('types that a declaration file of the project makes global are found', () => {
  const project = createProject({
    'tsconfig.json': { compilerOptions: { strict: true }, include: ['src', 'globals.d.ts'] },
    'globals.d.ts': 'interface City { name: string }',
    'src/tools.ts': `
      import { tool } from 'toolwright'
      /** Visit. */
      function visit(city: City) { return city.name }
      export default tool(visit)
    `,
  })
  expect(project.functions('src/tools.ts')[0]?.parameters).toMatchObject({ properties: { name: { type: 'string' } } })
  const source = readFileSync(project.path('src/tools.ts'), 'utf8')
  shared.transform(project.path('src/tools.ts'), source)
  expect(shared.readFiles(project.path('src/tools.ts'))).toContain(project.path('globals.d.ts'))
})

test('global types of packages are looked up in the folder of the file, not in that of the process', () => {
  const project = createProject({
    'node_modules/@types/places/package.json': { name: '@types/places', version: '1.0.0', types: './index.d.ts' },
    'node_modules/@types/places/index.d.ts': 'interface City { name: string }',
    'tools.ts': `
      import { tool } from 'toolwright'
      /** Visit. */
      export const visit = (city: City) => city.name
      export default tool(visit)
    `,
  })
  expect(project.functions('tools.ts')[0]?.parameters).toMatchObject({ properties: { name: { type: 'string' } } })
})

test('enums are read through import type', () => {
  const project = createProject({
    'units.ts': `
      export enum Units { Celsius = 'celsius', Fahrenheit = 'fahrenheit' }
      export enum Level { Low, High = 5 }
      export const enum Mode { Fast = 1, Slow }
    `,
    'tools.ts': `
      import { tool } from 'toolwright'
      import type { Level, Mode, Units } from './units.ts'
      /** Measure. */
      export const measure = (units: Units, level: Level, mode: Mode, only: Units.Celsius) => [units, level, mode, only]
      export default tool(measure)
    `,
  })
  expect(project.functions('tools.ts')[0]?.parameters.properties).toEqual({
    units: { type: 'string', enum: ['celsius', 'fahrenheit'] },
    level: { type: 'number', enum: [0, 5] },
    mode: { type: 'number', enum: [1, 2] },
    only: { type: 'string', const: 'celsius' },
  })
})
