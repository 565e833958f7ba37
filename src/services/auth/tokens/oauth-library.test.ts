import * as oauth from 'oauth4webapi'
import { expect, test } from 'vitest'
import { loadOAuthLibrary, setOAuthLibrary } from './oauth-library.ts'

test('setOAuthLibrary() sets the library of all token requests', async () => {
  const library = { ...oauth }
  setOAuthLibrary(library)
  expect(await loadOAuthLibrary()).toBe(library)
})

test.each<[string, unknown]>([
  ['nothing', undefined],
  ['an empty object', {}],
  ['a module inside of another', { default: oauth }],
])('setOAuthLibrary() refuses %s', (_, library) => {
  expect(() => setOAuthLibrary(library as never)).toThrow(
    expect.objectContaining({
      code: 'INVALID_CONFIG',
      message: expect.stringContaining("Pass it: import * as oauth from 'oauth4webapi'."),
    }),
  )
})
