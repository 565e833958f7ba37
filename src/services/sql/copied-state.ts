import type { StateReader } from '../session/service.ts'
import type { LogStep, SessionState } from './session-state.ts'
import type { SqlWork } from './sql.ts'
import {
  byScope,
  NO_CHANGES,
  SCOPES,
  type ScopedChanges,
  type StateChange,
  type StateScope,
  scopeIn,
} from './state-change.ts'
import { StateCopy, type StateUpdate, type StateVersions } from './state-copy.ts'
import { type StateOwner, type StateRows, scopeColumns } from './state-rows.ts'
import type { StateVersionRows } from './state-versions.ts'

/**
 * State that the holder of a session reads from a copy in memory, because its database answers later. The copy has all appends of
 * its process at once, and those of other processes when the holder appends, reads its inbox or renews its lease.
 */
export class CopiedState implements SessionState {
  readonly #rows: StateRows
  readonly #versions: StateVersionRows
  /** Weak, because a holder may never release its lease: a copy lives as long as a reader of it. */
  readonly #copies: Map<string, WeakRef<StateCopy>> = new Map()
  readonly #unused: FinalizationRegistry<string> = new FinalizationRegistry((name) => {
    if (!this.#copies.get(name)?.deref()) this.#copies.delete(name)
  })

  constructor(rows: StateRows, versions: StateVersionRows) {
    this.#rows = rows
    this.#versions = versions
  }

  /** Applies changes, and finds out what they mean for the copies. */
  *apply(owner: StateOwner, changes: readonly StateChange[], log: LogStep): SqlWork<readonly StateUpdate[]> {
    const scoped = byScope(changes)
    const isChanged = { app: scoped.app.length > 0, user: scoped.user.length > 0 }
    const app = isChanged.app ? yield* this.#versions.advance(owner.app, '') : log.versions.app
    const user = isChanged.user ? yield* this.#versions.advance(owner.app, owner.user) : log.versions.user
    yield* this.#rows.apply(owner, scoped)
    const before = { app: isChanged.app ? app - 1 : app, user: isChanged.user ? user - 1 : user, session: log.from }
    const after = { app, user, session: log.versions.session }
    return yield* this.#updates(owner, { before, after, changes: scoped })
  }

  /** Deletes the values and the version of a user. */
  *deleteUser(owner: StateOwner): SqlWork<readonly StateUpdate[]> {
    const version = yield* this.#versions.remove(owner.app, owner.user)
    yield* this.#rows.deleteUserState(owner)
    const copy = this.#copies.get(nameOf(owner, 'user'))?.deref()
    return copy ? [{ type: 'read', copy, version, values: [] }] : []
  }

  /** Reads the scopes whose version is not the one of the copy. */
  refresh(owner: StateOwner, versions: StateVersions): SqlWork<readonly StateUpdate[]> {
    return this.#updates(owner, { before: versions, after: versions, changes: NO_CHANGES })
  }

  /** Updates the copies. */
  take(updates: readonly StateUpdate[]): void {
    for (const update of updates) update.copy.take(update)
  }

  /** Makes a reader of the copies. */
  reader(owner: StateOwner): StateReader {
    const copies = {
      app: this.#open(owner, 'app'),
      user: this.#open(owner, 'user'),
      session: this.#open(owner, 'session'),
    }
    return {
      get: (key) => copies[scopeIn(key)].values.get(key),
      keys: () => SCOPES.flatMap((scope) => [...copies[scope].values.keys()]),
    }
  }

  /** The updates of the copies that exist. Reads the values of a copy that is not at the version before the changes. */
  *#updates(
    owner: StateOwner,
    { before, after, changes }: { before: StateVersions; after: StateVersions; changes: ScopedChanges },
  ): SqlWork<readonly StateUpdate[]> {
    const updates: StateUpdate[] = []
    for (const scope of SCOPES) {
      const copy = this.#copies.get(nameOf(owner, scope))?.deref()
      if (!copy || copy.version === after[scope]) continue
      const [from, to] = [before[scope], after[scope]]
      if (copy.version === from) updates.push({ type: 'changed', copy, from, to, changes: changes[scope] })
      else updates.push({ type: 'read', copy, version: to, values: yield* this.#rows.readScope(owner, scope) })
    }
    return updates
  }

  #open(owner: StateOwner, scope: StateScope): StateCopy {
    const name = nameOf(owner, scope)
    const known = this.#copies.get(name)?.deref()
    if (known) return known
    const copy = new StateCopy()
    this.#copies.set(name, new WeakRef(copy))
    this.#unused.register(copy, name)
    return copy
  }
}

/** The name of a scope among all copies: encoded ids have no line break. */
function nameOf(owner: StateOwner, scope: StateScope): string {
  return scopeColumns(owner, scope).join('\n')
}
