// JavaScript with types in doc comments.
import { describe, expect, test } from 'vitest'
import { createProject, shared } from './project-kit.ts'

const types = `
/**
 * @typedef {object} Place
 * @property {string} city Name of the city
 * @property {string} [country]
 */
export {}
`
const source = `
import { tool } from 'toolwright'

/** @typedef {{ id: string, tags?: string[] }} Options */

/**
 * Get the weather.
 *
 * @param {string} city Name of the city
 * @param {'celsius' | 'fahrenheit'} [units] Unit of the temperature
 * @param {number} [days=3]
 * @param {import('./types.js').Place | null} near
 * @param {import('toolwright').ToolContext} context
 * @returns {Promise<{ degrees: number }>}
 */
export async function getWeather(city, units = 'celsius', days = 3, near, context) {
  return { degrees: city.length + days + (near ? 1 : 0) + context.functionCallId.length }
}

/**
 * Book a trip.
 * @param {Options & { at: Date }} options
 */
export const book = (options) => options.id

export default [tool(getWeather), tool(book)]
`
const weather = {
  name: 'getWeather',
  description: 'Get the weather.',
  parameters: {
    type: 'object',
    properties: {
      city: { type: 'string', description: 'Name of the city' },
      units: {
        type: 'string',
        enum: ['celsius', 'fahrenheit'],
        description: 'Unit of the temperature',
        default: 'celsius',
      },
      days: { type: 'number', default: 3 },
      near: {
        anyOf: [
          {
            type: 'object',
            properties: { city: { type: 'string', description: 'Name of the city' }, country: { type: 'string' } },
            required: ['city'],
            additionalProperties: false,
          },
          { type: 'null' },
        ],
      },
    },
    required: ['city', 'near'],
    additionalProperties: false,
  },
  call: [{ argument: 'city' }, { argument: 'units' }, { argument: 'days' }, { argument: 'near' }, { context: true }],
  response: { type: 'object', properties: { degrees: { type: 'number' } }, required: ['degrees'] },
}

describe('JavaScript with JSDoc types', () => {
  test.each<[string, { [name: string]: object | string }]>([
    ['without a tsconfig', {}],
    ['with a package.json of type module', { 'package.json': { type: 'module' } }],
    [
      'with a tsconfig that checks JavaScript',
      { 'tsconfig.json': { compilerOptions: { checkJs: true, strict: true } } },
    ],
    [
      'with a tsconfig that ignores JavaScript',
      { 'tsconfig.json': { compilerOptions: { strict: true }, include: ['x'] } },
    ],
    ['with a jsconfig', { 'jsconfig.json': { compilerOptions: { checkJs: true } } }],
  ])('is read %s', (_, files) => {
    const project = createProject({ ...files, 'tools.js': source, 'types.js': types })
    const [first, second] = project.functions('tools.js')
    expect(first).toEqual(weather)
    expect(second).toMatchObject({
      name: 'book',
      description: 'Book a trip.',
      parameters: { required: ['id', 'at'], properties: { tags: { type: 'array', items: { type: 'string' } } } },
      call: [{ allArguments: true }],
    })
  })

  test('is read with the aliases of a jsconfig that is nearer than the tsconfig', () => {
    const project = createProject({
      'tsconfig.json': {},
      'app/jsconfig.json': { compilerOptions: { paths: { '#app/*': ['./lib/*'] } } },
      'app/lib/types.js': types,
      'app/src/tools.mjs': source.replace("'./types.js'", "'#app/types.js'"),
    })
    expect(project.functions('app/src/tools.mjs')[0]).toEqual(weather)
  })

  test('has no types in the code that is added to it', () => {
    const project = createProject({ 'tools.js': source, 'types.js': types })
    const { code = '' } = shared.transform(project.path('tools.js'), source) ?? {}
    expect(code).toMatch(/^function __toolwright0\(value\) \{/m)
  })

  test('without types is refused with the position of the parameter', () => {
    const project = createProject({
      'tools.js': `
import { tool } from 'toolwright'
/** Search. */
export const search = (query) => query
export default tool(search)
`,
    })
    expect(() => project.functions('tools.js')).toThrow(
      expect.objectContaining({
        code: 'INVALID_CONFIG',
        message: expect.stringMatching(/tools\.js:4:24 .*"query" is any/),
      }),
    )
  })
})
