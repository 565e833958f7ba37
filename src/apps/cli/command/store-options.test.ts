import { expect, test } from 'vitest'
import { commands } from '../commands.ts'
import type { Command } from './command.ts'

function all(list: readonly Command[]): readonly Command[] {
  return list.flatMap((command) => [command, ...all(command.parts)])
}

test('all commands describe the app and the sessions of a store with the same words', () => {
  const texts = (option: string): Set<string | undefined> =>
    new Set(all(commands).flatMap(({ options }) => options[option]?.description ?? []))
  expect([...texts('app')]).toEqual(['Name of the app (default: the name of the file or folder)'])
  expect([...texts('db')].sort()).toEqual([
    'Store sessions, artifacts and credentials in this SQLite file (default: .toolwright/<app>.db)',
    'Store sessions, artifacts and credentials in this SQLite file (default: in memory)',
    'The SQLite file with the pins, unless the file exports a Runner (default: .toolwright/<app>.db, as for web and run)',
    'The SQLite file with the sessions (default: .toolwright/<app>.db)',
  ])
})
