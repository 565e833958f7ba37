import { expect, test } from 'vitest'
import { Inbox, MAX_REMEMBERED_IDS } from './in-memory-inbox.ts'

test('the latest items are told from new ones although they are gone; what waits is never forgotten', () => {
  const inbox = new Inbox()
  inbox.post({ id: 'waits', type: 'cancel' }, 0)
  for (let n = 0; n <= MAX_REMEMBERED_IDS; n++) {
    inbox.post({ id: `i${n}`, type: 'cancel' }, 0)
    inbox.remove([`i${n}`])
  }
  inbox.post({ id: `i${MAX_REMEMBERED_IDS}`, type: 'cancel' }, 0)
  inbox.post({ id: 'waits', type: 'cancel' }, 0)
  expect(inbox.items().map(({ id }) => id)).toEqual(['waits'])
  inbox.post({ id: 'i0', type: 'cancel' }, 0) // too long ago
  expect(inbox.items().map(({ id }) => id)).toEqual(['waits', 'i0'])
})
