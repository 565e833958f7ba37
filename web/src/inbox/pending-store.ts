import { listPending } from '../api/pending.ts'
import { appsOf, server } from '../state/server.ts'
import { type Signal, signal } from '../state/signal.ts'
import { type AppRequest, inKnownOrder } from './app-request.ts'

/** The pending requests of all apps, new ones last; undefined until they are loaded. */
export const pending: Signal<readonly AppRequest[] | undefined> = signal<readonly AppRequest[] | undefined>(undefined)

/** Why the requests could not be read. */
export const pendingError: Signal<unknown> = signal<unknown>(undefined)

let lastRead = 0

/** Reads the pending requests of all apps. An answer that arrives after a later one is dropped. */
export async function refreshPending(): Promise<void> {
  const read = ++lastRead
  try {
    const lists = await Promise.all(
      appsOf(server.value).map(async ({ name }) =>
        (await listPending(name)).map((request): AppRequest => ({ app: name, request })),
      ),
    )
    if (read !== lastRead) return
    const all = inKnownOrder(lists.flat(), pending.value ?? [])
    // a new list with the same requests would render every open form again
    if (JSON.stringify(all) !== JSON.stringify(pending.value)) pending.set(all)
    pendingError.set(undefined)
  } catch (error) {
    if (read === lastRead) pendingError.set(error)
  }
}
