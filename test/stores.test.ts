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

/** The files with a class that implements an interface. */
function filesThatImplement(name: string): string[] {
  return productSources()
    .filter(({ text }) => new RegExp(`\\bclass \\w+ implements ${name}\\b`).test(text))
    .map(({ file }) => file)
}

/** The folders of the databases that the services of `services/sql` work on: each has their suites. */
const databaseFolders = filesThatImplement('SqlDatabase')
  .filter((file) => file.startsWith('src/apps/') && !file.endsWith('.test-kit.ts'))
  .map((file) => file.replace(/[^/]+\.ts$/, ''))

const implementations = suites.flatMap(({ service, suite }) =>
  filesThatImplement(service).flatMap((file) => {
    const folders = file.startsWith('src/services/sql/') ? databaseFolders : [file.replace(/[^/]+\.ts$/, '')]
    return folders.map((folder) => ({ file, folder, service, suite }))
  }),
)

test.each(implementations)('$file passes the suite of $service in $folder', ({ folder, suite }) => {
  const tests = globSync(`${folder}*.test.ts`).map((path) => readFileSync(path, 'utf8'))
  expect(tests.some((text) => text.includes(`${suite}(test, `))).toBe(true)
})

test('every session store is in the list of stores that scenarios run on', () => {
  const files = implementations.filter(({ service }) => service === 'SessionService')
  expect(files.length).toBeGreaterThan(2)
  expect(stores).toHaveLength(files.length)
})
