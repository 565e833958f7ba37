import { query, type SqlValue, type SqlWork, type Statement } from '../sql.ts'
import { StateVersionRows } from '../state-versions.ts'
import type { CopyFact } from './copy-fact.ts'
import { copyKeyed, type Databases } from './copy-keyed.ts'
import { SHARED_STATE } from './keyed-tables.ts'
import { valuesOf } from './table-pages.ts'

/** How many owners are read at once. */
const OWNERS = 100
const OWNER = ['app', '"user"']

/** Users and apps with state. The user of an app's state is empty. */
const LIST: Statement = query(
  `SELECT DISTINCT app, "user" FROM toolwright_state WHERE session = 0 AND (app, "user") > (?, ?)
   ORDER BY app, "user" LIMIT ${OWNERS}`,
)

/** Copies the state of users and apps. */
export async function* copySharedState(databases: Databases): AsyncGenerator<CopyFact, void> {
  const { from, to } = databases
  const versions = new StateVersionRows(to.dialect)
  let after: readonly SqlValue[] | undefined = ['', '']
  while (after) {
    const owners = await from.readOne(LIST, ...after)
    for (const owner of owners) {
      // holders in the target read a copy: a new version tells them to read it again
      const advance = (): SqlWork<unknown> => versions.advance(String(owner.app), String(owner.user))
      const before = to.readNow ? undefined : advance
      yield* copyKeyed(databases, SHARED_STATE, { owner: valuesOf(owner, OWNER), before })
    }
    const last = owners.at(-1)
    after = last && owners.length === OWNERS ? valuesOf(last, OWNER) : undefined
  }
}
