// What each door promises, as text files beside this one: a change of the surface is a change someone reviews.
// After a wanted change: npx vitest run test/exports.test.ts -u
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { doors, parse, type Source } from './source.ts'

test.each([...doors()])('%s has the names it had', async (door, file) => {
  const { values, types } = exportedNames({ file, text: readFileSync(file, 'utf8') })
  expect(Object.keys(await import(pathToFileURL(file).href)).sort(), 'names in the file and at run time').toEqual(
    values,
  )
  const lines = [...values, ...types.map((name) => `type ${name}`)]
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(`exports/${door.replaceAll('/', '-')}.txt`)
})

test('values and types are told apart', () => {
  const text = `
    export { b, a, type T } from './a.ts'
    export type { S } from './b.ts'
    export interface I {}
    export const c = 1`
  expect(exportedNames({ file: 'a.ts', text })).toEqual({ values: ['a', 'b', 'c'], types: ['I', 'S', 'T'] })
})

test('a door that passes on everything is refused', () => {
  expect(() => exportedNames({ file: 'a.ts', text: "export * from './a.ts'" })).toThrow(
    'a.ts: name what a door exports',
  )
})

function exportedNames(source: Source): { values: string[]; types: string[] } {
  const entries = parse(source).module.staticExports.flatMap((statement) => statement.entries)
  const named = entries.map(({ exportName, isType }) => {
    const name = exportName.kind === 'Default' ? 'default' : exportName.name
    if (!name) throw new Error(`${source.file}: name what a door exports instead of export *`)
    return { name, isType }
  })
  const names = (ofType: boolean): string[] =>
    [...new Set(named.filter(({ isType }) => isType === ofType).map(({ name }) => name))].sort()
  return { values: names(false), types: names(true) }
}
