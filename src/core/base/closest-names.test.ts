import { expect, test } from 'vitest'
import { closestNames, isMisspelling } from './closest-names.ts'

const names = ['requiresConfirmation', 'timeoutMs', 'effect', 'beforeTool']

test.each([
  ['requireConfirmation', ['requiresConfirmation']],
  ['requires_confirmation', ['requiresConfirmation']],
  ['timeout', ['timeoutMs']],
  ['beforeToolCallback', ['beforeTool']],
  ['confirmation', ['requiresConfirmation']],
  ['colour', []],
  ['', []],
])('closestNames() suggests for %j the names %j', (said, expected) => {
  expect(closestNames(said, names)).toEqual(expected)
})

test('closestNames() suggests at most three names, the most similar first', () => {
  expect(
    closestNames('get_weather', ['get_weathers', 'got_weathers', 'get_weather_', 'set_weather', 'let_weather']),
  ).toEqual(['get_weather_', 'get_weathers', 'set_weather'])
})

test.each([
  ['requireConfirmation', 'requiresConfirmation', true],
  ['effects', 'effect', true],
  ['defect', 'effect', false],
  ['select', 'effect', false],
  ['timeout', 'timeoutMs', true],
  ['timestamp', 'timeoutMs', false],
])('isMisspelling("%s", "%s") is %s', (said, name, expected) => {
  expect(isMisspelling(said, name)).toBe(expected)
})
