import { getServerInfo } from '../api/dev.ts'
import type { AppInfo, ServerInfo } from '../api/types.ts'
import { chooseUser } from './preferences.ts'
import { type Signal, signal } from './signal.ts'

/** The server and its apps; undefined while they load, an error if the server does not answer. */
export const server: Signal<ServerInfo | Error | undefined> = signal<ServerInfo | Error | undefined>(undefined)

/** Reads the apps of the server. Components that show what the server says about its agents read it again after that. */
export async function loadServer(): Promise<void> {
  try {
    const info = await getServerInfo()
    if (!info.mayActAsAnyUser) chooseUser(info.userId)
    server.set(info)
  } catch (error) {
    if (appsOf(server.value).length > 0) return // what is known stays on the page until the server is back
    server.set(error instanceof Error ? error : new Error(String(error)))
  }
}

/** May the page act as any user? */
export function mayActAsAnyUser(): boolean {
  const { value } = server
  return value !== undefined && !(value instanceof Error) && value.mayActAsAnyUser
}

/** The apps of the server; none while they load. */
export function appsOf(info: ServerInfo | Error | undefined): readonly AppInfo[] {
  return info === undefined || info instanceof Error ? [] : info.apps
}
