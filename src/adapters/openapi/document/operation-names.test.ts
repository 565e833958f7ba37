import { expect, test } from 'vitest'
import { nameProblem } from '../../../engine/tool/tool.ts'
import { chooseOperationNames, toSnakeCase } from './operation-names.ts'

const operation = (operationId: unknown, path = '/pets/{petId}', method = 'GET') => ({ operationId, path, method })
const namesOf = (operations: ReturnType<typeof operation>[]): string[] => {
  const names = chooseOperationNames(operations)
  return operations.map((one) => names.get(one) ?? '')
}

test.each([
  ['HTTPError', 'http_error'],
  ['listPets2', 'list_pets2'],
  ['users/get-by-name', 'users_get_by_name'],
  ['getV2Pets', 'get_v2_pets'],
  ['XMLHttpRequest', 'xml_http_request'],
  ['__proto__', 'proto'],
  ['', ''],
])('writes %s as %s', (text, snake) => {
  expect(toSnakeCase(text)).toBe(snake)
})

test('takes the name from the operationId, or from method and path', () => {
  expect(namesOf([operation('listPets'), operation(undefined), operation('🎉', '/a'), operation(5, '/b')])).toEqual([
    'list_pets',
    'get_pets_pet_id',
    'get_a',
    'get_b',
  ])
})

test.each([
  '__proto__',
  'constructor',
  '2fa',
  'a'.repeat(1_000),
  'A'.repeat(1_000),
  '🎉',
  'adk_request_confirmation',
  '-',
  ' x ',
])('makes a valid name of at most 64 characters from %s', (operationId) => {
  const [name] = namesOf([operation(operationId)])
  expect(nameProblem(name)).toBeUndefined()
  expect(name?.length).toBeLessThanOrEqual(64)
})

test('names that collide differ, whatever the order of the document', () => {
  const operations = ['/a', '/b', '/c'].map((path) => operation('getPet', path))
  const names = namesOf(operations)
  expect(new Set(names).size).toBe(3)
  expect(namesOf(operations.toReversed()).toReversed()).toEqual(names)
  expect(namesOf([...operations, operation('other', '/d')]).slice(0, 3)).toEqual(names)
  // Long names differ although they start alike.
  expect(new Set(namesOf([operation('a'.repeat(100), '/a'), operation('a'.repeat(101), '/b')])).size).toBe(2)
})

test('a name that looks like one with a hash does not collide with it', () => {
  const [hashed] = namesOf([operation('getPet', '/a'), operation('getPet', '/b')])
  const names = namesOf([operation('getPet', '/a'), operation('getPet', '/b'), operation(hashed, '/c')])
  expect(new Set(names).size).toBe(3)
})
