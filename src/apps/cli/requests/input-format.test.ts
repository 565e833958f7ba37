import { expect, test } from 'vitest'
import type { JsonObject } from '../../../core/base/json.ts'
import { describeMismatch, inputFormat } from './input-format.ts'

const read = (schema: JsonObject | undefined, line: string): unknown => inputFormat(schema).parse(line)

test.each<[schema: JsonObject | undefined, line: string, value: unknown]>([
  [undefined, ' as it is ', ' as it is '],
  [{ type: 'string' }, '5', '5'],
  [{ type: 'number' }, ' 2.5 ', 2.5],
  [{ type: 'integer' }, '-7', -7],
  [{ type: 'boolean' }, 'Yes', true],
  [{ type: 'boolean' }, 'false', false],
  [{ enum: ['red', 'green'] }, 'green ', 'green'],
  [{ type: 'number', enum: [1, 2] }, '2', 2],
  [{ enum: [null, 'x'] }, 'x', 'x'],
  [{ type: 'object' }, '{"a":[1]}', { a: [1] }],
  [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 'null', null],
])('schema %j parses the line %j as %j', (schema, line, value) => expect(read(schema, line)).toEqual(value))

test.each<[schema: JsonObject, line: string, problem: RegExp]>([
  [{ type: 'number' }, '', /must be number/],
  [{ type: 'number' }, 'five', /must be number/],
  [{ type: 'number' }, '0x10', /must be number/],
  [{ type: 'integer' }, '1.5', /must be integer/],
  [{ type: 'boolean' }, 'perhaps', /must be boolean/],
  [{ enum: ['red'] }, 'blue', /red/],
  [{ type: 'string', maxLength: 2 }, 'long', /must be/],
])('schema %j rejects the line %j', async (schema, line, problem) => {
  expect(await describeMismatch(schema, read(schema, line))).toMatch(problem)
})

test('a line that must be JSON is rejected when it does not parse', () => {
  expect(() => read({ type: 'array' }, '[1,')).toThrow('Invalid JSON: ')
})
