import { expect, test } from 'vitest'
import { chooseArgumentNames } from './argument-names.ts'

const namesOf = (parameters: [place: string, name: string][], hasBody = false): string[] => {
  const given = parameters.map(([place, name]) => ({ in: place, name }))
  const names = chooseArgumentNames(given, { hasBody })
  return given.map((one) => names.get(one) ?? '')
}

test('keeps names that models can write and changes the others', () => {
  expect(
    namesOf([
      ['query', 'page.size-2_x'],
      ['query', 'filter[name]'],
      ['query', '🎉'],
      ['query', '__proto__'],
      ['header', 'X-Trace'],
    ]),
  ).toEqual(['page.size-2_x', 'filter_name', 'parameter', 'proto', 'X-Trace'])
})

test('adds the location to names that clash, with each other or with the body', () => {
  const parameters: [string, string][] = [
    ['path', 'id'],
    ['query', 'id'],
    ['cookie', 'id'],
    ['header', 'body'],
  ]
  expect(namesOf(parameters, true)).toEqual(['id_path', 'id_query', 'id_cookie', 'body_header'])
  expect(namesOf(parameters)[3]).toBe('body')
})

test('names stay unique and short in every case', () => {
  const names = namesOf([
    ['query', 'id'],
    ['path', 'id'],
    ['query', 'id_query'],
    ['query', 'a[b]'],
    ['query', 'a(b)'],
    ['query', 'a_b'],
    ['query', 'x'.repeat(100)],
    ['query', 'x'.repeat(101)],
    ['query', ''],
  ])
  expect(new Set(names).size).toBe(names.length)
  for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9_.-]{1,64}$/)
  expect(names[2]).toBe('id_query')
})
