import type { Content, Part } from '../../../core/content/content.ts'
import { textOf } from '../../../core/content/content.ts'
import type { Event } from '../../../core/event/event.ts'
import type { MemoryService } from '../../../services/memory/service.ts'
import type { Session } from '../../../services/session/service.ts'
import { codeOf, deepEqual, equal, ok } from './assert.ts'
import { HOSTILE_IDS, SPLIT_PAIRS } from './hostile-ids.ts'
import { createServiceTest, type MakeService, type SuiteTest } from './service-test.ts'
import { eventOf } from './session-fixtures.ts'

const HOME = { appName: 'shop', userId: 'ada' }

/**
 * Tests the contract of `MemoryService`: which texts are found, and their order where one hit is clearly better.
 *
 * @example
 * memoryServiceSuite(test, () => new InMemoryMemoryService())
 */
export function memoryServiceSuite(test: SuiteTest, make: MakeService<MemoryService>): void {
  const serviceTest = createServiceTest(test, make)

  serviceTest('searchMemory finds a text by its words, with author and time', async (service) => {
    const content: Content = { role: 'user', parts: [{ text: 'My dog is called Rex.' }] }
    await service.addSessionToMemory(
      sessionOf({ events: [eventOf('e1', { author: 'user', timestamp: 7.5, content })] }),
    )
    const { memories } = await service.searchMemory({ ...HOME, query: 'dog' })
    deepEqual(memories, [{ content, author: 'user', timestamp: 7.5 }])
  })

  serviceTest('case, punctuation and word order do not matter', async (service) => {
    await remember(service, 'My dog is called Rex.')
    for (const query of ['REX', 'rex?', '"called", dog!', 'who is Rex', 'elephant rex']) {
      deepEqual(await found(service, query), ['My dog is called Rex.'], query)
    }
    deepEqual(await found(service, 'elephant'), [])
    deepEqual(await found(service, 're'), [], 'a part of a word does not match')
  })

  serviceTest('a query without words finds nothing', async (service) => {
    await remember(service, 'My dog is called Rex.', '...')
    for (const query of ['', '   ', '\n\t', '?!', '...', '*', '%', '"', '- -'])
      deepEqual(await found(service, query), [], query)
  })

  serviceTest('a text with more of the words comes first', async (service) => {
    await remember(service, 'A cat sat here.', 'The red cat wears a hat.', 'A dog sat here.')
    equal((await found(service, 'red cat hat'))[0], 'The red cat wears a hat.')
    deepEqual((await found(service, 'red cat hat')).length, 2)
  })

  serviceTest('a rare word counts more than a frequent one', async (service) => {
    await remember(service, 'order one was late', 'order two was late', 'order three was lost', 'order four was late')
    equal((await found(service, 'order lost'))[0], 'order three was lost')
    equal((await found(service, 'late late late lost'))[0], 'order three was lost')
  })

  serviceTest('a short text comes before a long one with the same word', async (service) => {
    const long = `${'We talked about many other things for a long while. '.repeat(20)}Also a giraffe.`
    await remember(service, long, 'giraffe facts', 'something else')
    deepEqual(await found(service, 'giraffe'), ['giraffe facts', long])
  })

  serviceTest('the newest of equally good texts comes first', async (service) => {
    const said = (id: string, timestamp: number, name: string) =>
      eventOf(id, { timestamp, content: { role: 'user', parts: [{ text: `meet ${name} tomorrow` }] } })
    const events = [said('e1', 20, 'bob'), said('e2', 30, 'eve'), said('e3', 10, 'joe')]
    await service.addSessionToMemory(sessionOf({ events }))
    deepEqual(await found(service, 'meet'), ['meet eve tomorrow', 'meet bob tomorrow', 'meet joe tomorrow'])
  })

  serviceTest('words in other scripts are found', async (service) => {
    const texts = [
      '東京の天気は晴れです',
      'Grüße aus München',
      'Привет из Москвы',
      'ニュースを読む',
      'مرحبا بالعالم',
      '我喜欢苹果',
      'สวัสดีชาวโลก',
    ]
    await remember(service, ...texts)
    deepEqual(await found(service, '東京'), [texts[0]])
    deepEqual(await found(service, '天気'), [texts[0]])
    deepEqual(await found(service, 'MÜNCHEN'), [texts[1]])
    deepEqual(await found(service, 'mu\u0308nchen'), [texts[1]], 'composed and decomposed letters match')
    deepEqual(await found(service, 'grüße'), [texts[1]])
    deepEqual(await found(service, 'москвы'), [texts[2]])
    deepEqual(await found(service, 'ﾆｭｰｽ'), [texts[3]], 'half width and full width letters match')
    deepEqual(await found(service, 'بالعالم'), [texts[4]])
    deepEqual(await found(service, '苹果'), [texts[5]])
  })

  serviceTest('thoughts, partial events and calls are not stored', async (service) => {
    const say = (id: string, parts: readonly Part[], changes: Partial<Event> = {}) =>
      eventOf(id, { content: { role: 'model', parts }, ...changes })
    const { content: _, ...silent } = eventOf('e5')
    const events = [
      say('e1', [{ text: 'hidden plan', thought: true }, { text: 'visible answer' }]),
      say('e2', [{ text: 'hidden half' }], { partial: true }),
      say('e3', [{ functionCall: { name: 'hidden', args: { query: 'hidden' } } }]),
      say('e4', [{ text: 'hidden thought', thought: true }]),
      silent,
    ]
    await service.addSessionToMemory(sessionOf({ events }))
    deepEqual(await found(service, 'hidden'), [])
    const { memories } = await service.searchMemory({ ...HOME, query: 'visible' })
    equal(memories.length, 1)
    ok(!JSON.stringify(memories).includes('hidden'), 'a thought was returned')
  })

  serviceTest('words in different parts of one message are not joined', async (service) => {
    const content: Content = { role: 'user', parts: [{ text: 'red' }, { text: 'apple' }] }
    await service.addSessionToMemory(sessionOf({ events: [eventOf('e1', { content })] }))
    equal((await found(service, 'red')).length, 1)
    equal((await found(service, 'apple')).length, 1)
  })

  serviceTest('adding a session again updates it without duplicates', async (service) => {
    await remember(service, 'the first word')
    await remember(service, 'the first word', 'the second word')
    deepEqual((await found(service, 'first')).length, 1)
    deepEqual((await found(service, 'word')).length, 2)
    await remember(service, 'something else')
    deepEqual(await found(service, 'first'), [])
    deepEqual(await found(service, 'else'), ['something else'])
  })

  serviceTest('all sessions of a user are searched, except deleted ones', async (service) => {
    await service.addSessionToMemory(sessionOf({ id: 's1', texts: ['blue whale'] }))
    await service.addSessionToMemory(sessionOf({ id: 's2', texts: ['blue bird'] }))
    deepEqual((await found(service, 'blue')).toSorted(), ['blue bird', 'blue whale'])
    await service.deleteSession({ ...HOME, sessionId: 's1' })
    await service.deleteSession({ ...HOME, sessionId: 'unknown' })
    deepEqual(await found(service, 'blue'), ['blue bird'])
    deepEqual(await found(service, 'whale'), [])
    await service.addSessionToMemory(sessionOf({ id: 's1', texts: ['blue whale'] }))
    deepEqual((await found(service, 'blue')).length, 2)
  })

  serviceTest('deleting the memory of a user keeps the memory of others', async (service) => {
    await remember(service, 'blue whale')
    await service.addSessionToMemory(sessionOf({ userId: 'bob', texts: ['blue bird'] }))
    await service.addSessionToMemory(sessionOf({ appName: 'bank', texts: ['blue note'] }))
    await service.deleteUser(HOME)
    await service.deleteUser({ ...HOME, userId: 'nobody' })
    deepEqual(await found(service, 'blue'), [])
    deepEqual(await found(service, 'blue', { ...HOME, userId: 'bob' }), ['blue bird'])
    deepEqual(await found(service, 'blue', { ...HOME, appName: 'bank' }), ['blue note'])
  })

  serviceTest('another user or app can neither find nor delete a text', async (service) => {
    await remember(service, 'my secret')
    for (const other of [
      { ...HOME, userId: 'bob' },
      { ...HOME, appName: 'bank' },
    ]) {
      deepEqual(await found(service, 'secret', other), [])
      await service.deleteSession({ ...other, sessionId: 's1' })
      await service.addSessionToMemory(sessionOf({ ...other, texts: ['other words'] }))
      deepEqual(await found(service, 'secret', other), [])
    }
    deepEqual(await found(service, 'secret'), ['my secret'])
  })

  serviceTest('memories under hostile ids are stored separately or rejected with INVALID_REQUEST', async (service) => {
    const users = [
      ...HOSTILE_IDS.map((userId) => ({ ...HOME, userId })),
      ...HOSTILE_IDS.map((appName) => ({ ...HOME, appName })),
      ...SPLIT_PAIRS.map(([appName, userId]) => ({ appName, userId })),
    ]
    const accepted: (typeof HOME)[] = []
    for (const [index, user] of users.entries()) {
      try {
        await service.addSessionToMemory(sessionOf({ ...user, texts: [`secret number ${index}`] }))
        accepted[index] = user
      } catch (error) {
        if (codeOf(error) !== 'INVALID_REQUEST') throw error
      }
    }
    ok(Object.keys(accepted).length > users.length / 2, 'the service must accept most hostile ids')
    for (const [index, user] of accepted.entries()) {
      if (user) deepEqual(await found(service, 'secret', user), [`secret number ${index}`])
    }
  })

  serviceTest('hostile queries and texts are treated as plain words', async (service) => {
    await remember(service, 'the constructor of __proto__ and toString', "'; drop table memories; --")
    equal((await found(service, 'constructor')).length, 1)
    equal((await found(service, 'tostring')).length, 1)
    for (const query of ["'", '" OR 1=1', 'NEAR(', 'a* b^ c:', '{}', '\u0000', '\ud800', 'hasOwnProperty', "x'; --"]) {
      deepEqual(await found(service, query), [], query)
    }
    equal((await found(service, 'constructor')).length, 1)
  })

  serviceTest('a huge query finds texts by its first words', async (service) => {
    await remember(service, 'My dog is called Rex.')
    const noise = Array.from({ length: 50_000 }, (_, n) => `noise${n}`).join(' ')
    deepEqual(await found(service, `rex ${noise}`), ['My dog is called Rex.'])
    await found(service, 'x'.repeat(1_000_000))
    await found(service, 'rex '.repeat(250_000))
  })

  serviceTest('changing a session or memory object does not change the stored text', async (service) => {
    const parts = [{ text: 'My dog is called Rex.' }]
    await service.addSessionToMemory(sessionOf({ events: [eventOf('e1', { content: { role: 'user', parts } })] }))
    parts.push({ text: 'spoiled' })
    const { memories } = await service.searchMemory({ ...HOME, query: 'rex' })
    for (const { content } of memories) (content.parts as Part[]).push({ text: 'spoiled' })
    deepEqual(await found(service, 'rex'), ['My dog is called Rex.'])
  })
}

function sessionOf(options: {
  id?: string
  appName?: string
  userId?: string
  texts?: readonly string[]
  events?: readonly Event[]
}): Session {
  const { id = 's1', appName = HOME.appName, userId = HOME.userId, texts = [] } = options
  const said = texts.map((text, n) => eventOf(`e${n}`, { content: { role: 'user', parts: [{ text }] } }))
  return { id, appName, userId, state: {}, events: options.events ?? said, lastUpdateTime: 0 }
}

function remember(service: MemoryService, ...texts: string[]): Promise<void> {
  return service.addSessionToMemory(sessionOf({ texts }))
}

async function found(service: MemoryService, query: string, user: typeof HOME = HOME): Promise<string[]> {
  const { memories } = await service.searchMemory({ ...user, query })
  return memories.map(({ content }) => textOf(content))
}
