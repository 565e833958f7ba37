import { dirname, join, relative } from 'node:path'
import { escapeText } from '../../../core/base/escape.ts'
import { defaultDatabase } from '../load/app-database.ts'
import type { StartedServer } from './serve-apps.ts'

/** What the lines depend on. */
interface StartupOptions {
  /** The name of the address. */
  readonly title: string
  /** The working directory. */
  readonly folder: string
  /** Does the server start again when a file changes? Default false. */
  readonly isWatched?: boolean
}

/** The lines that `web` and `serve` print when the server listens. The address is the first one. */
export function startupText(
  { url, access, apps }: StartedServer,
  { title, folder, isWatched = false }: StartupOptions,
): string {
  const rows = [
    [title, url],
    ...(access.type === 'new-token' && !url.includes('?token=') ? [['Token', access.token]] : []),
    ...(access.type === 'configured-token' ? [['Token', 'the value of TOOLWRIGHT_TOKEN']] : []),
    ...(access.type === 'authenticate' ? [['Access', 'as authenticate() of the agent file decides']] : []),
    ['Apps', apps.map(({ name }) => name).join(', ')],
    ['Sessions', storesText(apps, folder)],
    ...(isWatched ? [['Watching', 'the agent files, what they import, and .env']] : []),
    ['Stop', 'Ctrl+C'],
  ] as const
  return rows.map(([name = '', value = '']) => row(name, value)).join('')
}

/** The line that `web` prints when it has started again. */
export function restartText({ apps }: Pick<StartedServer, 'apps'>): string {
  return row('Restarted', apps.map(({ name }) => name).join(', '))
}

function row(name: string, value: string): string {
  return `${name.padEnd(12)}${escapeText(value)}\n`
}

/** The stores of the apps. Databases that are named after their apps are one entry. */
function storesText(apps: StartedServer['apps'], folder: string): string {
  const stores = apps.map(({ name, storage }) => {
    const own = defaultDatabase(folder, name)
    if (storage !== own) return storage
    return relative(folder, apps.length > 1 ? join(dirname(own), '<app>.db') : own)
  })
  return [...new Set(stores)].join(', ')
}
