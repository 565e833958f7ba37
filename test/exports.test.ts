// The public names of each entry point and their shapes, as text files in test/exports, so that a pull request shows every change
// of them.
// After an intended change: npx vitest run test/exports.test.ts -u
import { globSync, readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { entryPoints } from '../entry-points.ts'
import { shapesOf } from './shape.ts'
import { parse, type Source } from './source.ts'

test.each(entryPoints())('$specifier exports the reviewed names', async ({ specifier, source: file }) => {
  const { values, types } = exportedNames({ file, text: readFileSync(file, 'utf8') })
  expect(Object.keys(await import(pathToFileURL(file).href)).sort(), 'names in the source and at run time').toEqual(
    values,
  )
  const lines = [...values, ...types.map((name) => `type ${name}`)]
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(`exports/${specifier.replaceAll('/', '-')}.txt`)
})

test.each(entryPoints())('$specifier exports the reviewed shapes', async ({ specifier, source: file }) => {
  await expect(shapesOf(file)).toMatchFileSnapshot(`exports/shapes/${specifier.replaceAll('/', '-')}.txt`)
})

test.each(entryPoints())('README.md or a page of docs names $specifier', ({ specifier }) => {
  const pages = ['README.md', ...globSync('docs/**/*.md')].map((file) => readFileSync(file, 'utf8'))
  expect(pages.some((text) => new RegExp(`['\`]${specifier}['\`]`).test(text))).toBe(true)
})

test('the list of exports separates values from types', () => {
  const text = `
    export { b, a, type T } from './a.ts'
    export type { S } from './b.ts'
    export interface I {}
    export const c = 1`
  expect(exportedNames({ file: 'a.ts', text })).toEqual({ values: ['a', 'b', 'c'], types: ['I', 'S', 'T'] })
})

test('the list of exports rejects an entry point with export *', () => {
  expect(() => exportedNames({ file: 'a.ts', text: "export * from './a.ts'" })).toThrow(
    'a.ts: an entry point names its exports',
  )
})

function exportedNames(source: Source): { values: string[]; types: string[] } {
  const entries = parse(source).module.staticExports.flatMap((statement) => statement.entries)
  const named = entries.map(({ exportName, isType }) => {
    const name = exportName.kind === 'Default' ? 'default' : exportName.name
    if (!name) throw new Error(`${source.file}: an entry point names its exports instead of using export *`)
    return { name, isType }
  })
  const names = (ofType: boolean): string[] =>
    [...new Set(named.filter(({ isType }) => isType === ofType).map(({ name }) => name))].sort()
  return { values: names(false), types: names(true) }
}
