import { describe, expect, test } from 'vitest'
import { PreparedStatements } from './prepared-statements.ts'

const find = { text: 'SELECT 1 FROM entries WHERE id = $1', values: [1] }

describe('the name of a statement', () => {
  test('is given at its second use, and is the same in every process', () => {
    const [one, other] = [new PreparedStatements(), new PreparedStatements()]
    expect([one.nameOf(find), other.nameOf(find)]).toEqual(['', ''])
    const name = one.nameOf(find)
    expect(name).toMatch(/^toolwright_[0-9a-f]{32}$/)
    expect([one.nameOf({ ...find, values: [2] }), other.nameOf(find)]).toEqual([name, name])
  })

  test('is not given to statements without values, such as COMMIT', () => {
    const prepared = new PreparedStatements()
    for (let use = 0; use < 3; use++) expect(prepared.nameOf({ text: 'COMMIT', values: [] })).toBe('')
  })

  test('is not given to more than 300 statements', () => {
    const prepared = new PreparedStatements()
    const names = (): number =>
      Array.from({ length: 400 }, (_, at) => prepared.nameOf({ text: `SELECT ${at} + $1`, values: [1] })).filter(
        Boolean,
      ).length
    expect([names(), names(), names()]).toEqual([0, 300, 300])
  })

  test('is not used any more after a pooler has lost one', () => {
    const prepared = new PreparedStatements()
    for (const code of [undefined, '40001', '23505']) prepared.read(code)
    prepared.nameOf(find)
    expect(prepared.nameOf(find)).not.toBe('')
    prepared.read('26000')
    expect(prepared.nameOf(find)).toBe('')
  })
})
