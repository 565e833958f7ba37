import { expect, test } from 'vitest'
import { Inbox } from './in-memory-inbox.ts'
import { MAX_REMEMBERED_IDS } from './inbox-limits.ts'

test('the in-memory inbox ignores a repeated item while its id is among the latest, and always while the item waits', () => {
  const inbox = new Inbox()
  inbox.post({ id: 'waits', type: 'cancel' }, 0)
  for (let n = 0; n <= MAX_REMEMBERED_IDS; n++) {
    inbox.post({ id: `i${n}`, type: 'cancel' }, 0)
    inbox.remove([`i${n}`])
  }
  inbox.post({ id: `i${MAX_REMEMBERED_IDS}`, type: 'cancel' }, 0)
  inbox.post({ id: 'waits', type: 'cancel' }, 0)
  expect(inbox.items().map(({ id }) => id)).toEqual(['waits'])
  inbox.post({ id: 'i0', type: 'cancel' }, 0) // its id is forgotten
  expect(inbox.items().map(({ id }) => id)).toEqual(['waits', 'i0'])
})
