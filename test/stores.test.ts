import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { productSources } from './source.ts'
import { stores } from './stores.ts'

const suites = [
  ...['session', 'artifact', 'memory', 'credential'].map((kind) => ({
    service: `${kind[0]?.toUpperCase()}${kind.slice(1)}Service`,
    suite: `${kind}ServiceSuite`,
  })),
  { service: 'SealedCredentialStore', suite: 'credentialServiceSuite' },
]

const implementations = suites.flatMap(({ service, suite }) =>
  productSources()
    .filter(({ text }) => new RegExp(`\\bclass \\w+ implements ${service}\\b`).test(text))
    .map(({ file }) => ({ file, service, suite })),
)

test.each(implementations)('$file passes the suite of $service', ({ file, suite }) => {
  const tests = globSync(file.replace(/[^/]+\.ts$/, '*.test.ts')).map((path) => readFileSync(path, 'utf8'))
  expect(tests.some((text) => text.includes(`${suite}(test, `))).toBe(true)
})

test('every session store is in the list of stores that scenarios run on', () => {
  const files = implementations.filter(({ service }) => service === 'SessionService')
  expect(files.length).toBeGreaterThan(1)
  expect(stores).toHaveLength(files.length)
})
