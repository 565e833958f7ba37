import { describe, expect, test } from 'vitest'
import { anyTypes } from './house/any-types.ts'
import { membersPerClass } from './house/class-members.ts'
import { codeLinesPerClass, mutableFieldsPerClass } from './house/class-size.ts'
import { documentedExports } from './house/exported-declarations.ts'
import { documentedMembers } from './house/exported-members.ts'
import { figures, walkFigures } from './house/figures.ts'
import { linesPerFunction, parametersPerFunction } from './house/functions.ts'
import { importsPerFile } from './house/imports-per-file.ts'
import { type Measurement, parseFile } from './house/parsed-file.ts'
import { publishedSources } from './source.ts'

describe('the published source stays within the limit of', () => {
  test.each([...figures(publishedSources()), ...walkFigures()])(
    '$name',
    ({ isWithinLimit, now, target, offenders }) => {
      const worst = offenders.slice(0, 20).map(({ file, line, name, value }) => `${file}:${line} ${name} ${value}`)
      expect(isWithinLimit, `${now}, target ${target}; see npm run house -- --list\n${worst.join('\n')}`).toBe(true)
    },
  )
})

const file = (text: string): ReturnType<typeof parseFile>[] => [parseFile({ file: 'src/a.ts', text })]

const values = (measurements: readonly Measurement[]): Record<string, number> =>
  Object.fromEntries(measurements.map(({ name, value }) => [name, value]))

test('the limit of imports counts value imports and type imports, and no re-exports', () => {
  const text = `import { a } from './a.ts'
    import type { B } from './b.ts'
    export { c } from './c.ts'`
  expect(values(importsPerFile(file(text)))).toEqual({ imports: 2 })
})

test('the limit of class members counts public methods, accessors and fields', () => {
  const text = `class Desk {
    #secret = 1
    private hidden = 1
    name = 'a'
    static kind = 'b'
    constructor() {}
    get size() { return 1 }
    set size(value) {}
    open(): void
    open(name?: string): void {}
    #close() {}
    [Symbol.asyncDispose]() {}
  }`
  expect(values(membersPerClass(file(text)))).toEqual({ Desk: 5 })
})

test('the limits of a class count its fields that are not readonly, and its lines without comments', () => {
  const text = `class Desk {
    /** A comment
     * of two lines. */
    readonly name = 'a'
    #open = false
    count: number

    // another comment
    static last = 1
    #onOpen = () => {}
    open() { this.#open = true }
  }`
  expect(values(mutableFieldsPerClass(file(text)))).toEqual({ Desk: 2 })
  expect(values(codeLinesPerClass(file(text)))).toEqual({ Desk: 8 })
})

test('the limit of parameters counts the parameters of functions, methods and arrow functions', () => {
  const text = `function plain(this: Desk, a, b = 1, ...c) {}
    const arrow = ({ a, b }) => a
    class Desk { open(a, b) {} }
    const desk = { close(a) {}, lock: (a, b, c, d, e) => a }`
  expect(values(parametersPerFunction(file(text)))).toEqual({ plain: 3, arrow: 1, open: 2, close: 1, lock: 5 })
})

test('the limit of function length counts the lines of functions with a block body', () => {
  const text = 'function long() {\n\n}\nconst short = () => 1\nconst block = () => { return 1 }'
  expect(values(linesPerFunction(file(text)))).toEqual({ long: 3, block: 1 })
})

test('the check of doc comments finds exported declarations without a doc comment', () => {
  const text = `
    /** Opens. */
    export function open(): void
    export function open(name?: string): void {}
    // a line comment documents nothing
    export const close = 1
    /* nor does a plain block */
    export type Name = string
    /** A desk. */
    export class Desk {}
    interface Local {}
    /** Listed below. */
    const listed = 1
    const bare = 1
    export { listed, bare }
    export { other } from './other.ts'`
  expect(values(documentedExports(file(text)))).toEqual({ open: 1, close: 0, Name: 0, Desk: 1, listed: 1, bare: 0 })
})

test('the check of doc comments finds members of exported classes, interfaces and object types without a doc comment', () => {
  const text = `
    export interface Service {
      /** Reads. */
      read(): void
      write(): void
    }
    export interface LargeService extends Service {
      /** Lists. */
      readonly list: () => void
    }
    export class Store implements LargeService {
      read(): void {}
      write(): void {}
      list = () => {}
      /** Size in bytes. */
      get size() { return 1 }
      set size(value) {}
      own(): void {}
      [Symbol.asyncDispose]() {}
    }
    export type Options = {
      /** In milliseconds. */
      timeoutMs: number
      retries: number
    } & { name: string }
    interface Local { member: string }`
  expect(values(documentedMembers(file(text)))).toEqual({
    'Service.read': 1,
    'Service.write': 0,
    'LargeService.list': 1,
    'Store.read': 1,
    'Store.write': 0,
    'Store.list': 1,
    'Store.size': 1,
    'Store.own': 0,
    'Options.timeoutMs': 1,
    'Options.retries': 0,
    'Options.name': 0,
  })
})

test('the check of any finds the type any, and not the word', () => {
  const text = 'export const any = (a: any, b: any[]): string => "any"'
  expect(anyTypes(file(text))).toHaveLength(2)
})
