import { describe, expect, test, vi } from 'vitest'
import { MessageQueue } from './message-queue.ts'

const read = async <T>(queue: MessageQueue<T>): Promise<T[]> => {
  const messages: T[] = []
  for await (const message of queue) messages.push(message)
  return messages
}

describe('a queue of messages', () => {
  test('gives messages in order, also those that arrived before they were read', async () => {
    const queue = new MessageQueue<number>(() => {})
    queue.push(1)
    queue.push(2)
    const reading = [queue.next(), queue.next(), queue.next(), queue.next()]
    queue.push(3)
    queue.push(4)
    const values = (await Promise.all(reading)).map(({ value }) => value)
    expect(values).toEqual([1, 2, 3, 4])
  })

  test('gives an error after the last message, once', async () => {
    const queue = new MessageQueue<number>(() => {})
    queue.push(1)
    queue.fail(new Error('lost'))
    queue.push(2)
    expect(await queue.next()).toEqual({ value: 1, done: false })
    await expect(queue.next()).rejects.toThrow('lost')
    expect(await queue.next()).toEqual({ value: undefined, done: true })
  })

  test('drops what is not read when it is closed, and the error of a lost connection', async () => {
    const queue = new MessageQueue<number>(() => {})
    queue.push(1)
    queue.fail(new Error('lost'))
    queue.close()
    expect(await read(queue)).toEqual([])
  })

  test('ends a reader that waits when it is closed', async () => {
    const queue = new MessageQueue<number>(() => {})
    const reading = read(queue)
    queue.close()
    expect(await reading).toEqual([])
  })

  test('tells its owner when the reader stops early', async () => {
    const onReturn = vi.fn()
    const queue = new MessageQueue<number>(onReturn)
    queue.push(1)
    for await (const _ of queue) break
    expect(onReturn).toHaveBeenCalledOnce()
  })
})
