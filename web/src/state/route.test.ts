import { afterEach, expect, test, vi } from 'vitest'

afterEach(() => {
  vi.unstubAllGlobals()
  vi.resetModules()
})

/** Opens the page at an address, in a browser that remembers a user. */
async function openPage(hash: string, remembered = 'ada') {
  const storage = new Map([['toolwright:user', remembered]])
  const page = new EventTarget()
  const location = { hash, origin: 'http://127.0.0.1' }
  const setHash = (_state: unknown, _title: string, to: string): void => void Object.assign(location, { hash: to })
  vi.stubGlobal('location', location)
  vi.stubGlobal('history', { pushState: setHash, replaceState: setHash })
  vi.stubGlobal('addEventListener', page.addEventListener.bind(page))
  vi.stubGlobal('document', { documentElement: { dataset: {} } })
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => storage.get(key) ?? null,
    setItem: (key: string, value: string) => void storage.set(key, value),
  })
  vi.resetModules()
  const [{ notices }, { userId }, { changeUser, navigate }, { server }] = await Promise.all([
    import('./notices.ts'),
    import('./preferences.ts'),
    import('./route.ts'),
    import('./server.ts'),
  ])
  return {
    changeUser,
    navigate,
    server,
    location,
    follow: (to: string): void => {
      location.hash = to
      page.dispatchEvent(new Event('hashchange'))
    },
    notices: () => notices.value,
    user: () => userId.value,
    remembered: () => storage.get('toolwright:user'),
  }
}

const LINK = '#/apps/desk/sessions/s1?user=eve'

test('a link of another user says whom the page acts as, which the browser does not remember', async () => {
  const page = await openPage(LINK)
  expect([page.user(), page.remembered()]).toEqual(['eve', 'ada'])
  const text = 'This link shows sessions of “eve”. You now act as “eve”.'
  expect(page.notices()).toEqual([expect.objectContaining({ kind: 'info', text })])
  page.navigate({ view: 'session', app: 'desk', sessionId: 's1', tab: 'timeline' })
  expect(page.location.hash).toBe('#/apps/desk/sessions/s1/timeline?user=eve') // also after a reload
  expect(page.notices()).toHaveLength(1)
  page.notices()[0]?.action?.run()
  expect([page.user(), page.remembered(), page.location.hash]).toEqual(['ada', 'ada', '#/apps/desk'])
  expect(page.notices()).toEqual([])
})

test('a link that is followed later, and one after it, lead back to the user that was chosen', async () => {
  const page = await openPage('#/apps/desk')
  page.follow(LINK)
  page.follow('#/apps/desk/sessions/s2?user=bob')
  expect([page.user(), page.remembered()]).toEqual(['bob', 'ada'])
  expect(page.notices().map(({ action }) => action?.label)).toEqual(['Act as ada'])
  page.follow('#/apps/desk/sessions/s3?user=ada')
  expect([page.user(), page.notices()]).toEqual(['ada', []])
})

test('a link of the same user says nothing, and a user that is chosen after a link is remembered', async () => {
  const same = await openPage(LINK, 'eve')
  expect([same.user(), same.notices()]).toEqual(['eve', []])
  const page = await openPage(LINK)
  page.changeUser('bob')
  expect([page.user(), page.remembered(), page.notices()]).toEqual(['bob', 'bob', []])
  page.changeUser('eve')
  expect(page.remembered()).toBe('eve')
})

test('a link does not change the user of a page whose token belongs to one user', async () => {
  const page = await openPage('#/apps/desk')
  page.server.set({ apps: [], userId: 'ada', mayActAsAnyUser: false } as never)
  page.follow(LINK)
  expect([page.user(), page.notices()]).toEqual(['ada', []])
})
