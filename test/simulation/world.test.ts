import { expect, test } from 'vitest'
import { Random } from './random.ts'
import { type Owner, World } from './world.ts'

const process = (name: string): Owner => ({ name, isAlive: true, stalledUntil: 0 })
const calm = (seed = 1): World => new World(new Random(seed), 0)

test('the world runs one task at a time, in an order that the seed decides', () => {
  const orders = new Set(
    Array.from({ length: 20 }, (_, seed) => {
      const world = calm(seed)
      const happened: string[] = []
      for (const name of ['a', 'b', 'c']) world.add(process(name), name, () => happened.push(name))
      while (world.step());
      return happened.join('')
    }),
  )
  expect(orders.size).toBe(6)
})

test('the world advances its clock to the next foreground timer when no task can run', () => {
  const world = calm()
  const start = world.now
  const rung: number[] = []
  world.setTimer(process('p'), () => rung.push(world.now - start), 5_000, false)
  world.setTimer(process('p'), () => rung.push(world.now - start), 9_000, true)
  while (world.step());
  expect(rung).toEqual([5_000])
})

test('the world runs no task of a dead process, and none of a stalled process until it continues', () => {
  const world = calm()
  const start = world.now
  const [dead, still] = [process('dead'), process('still')]
  const happened: string[] = []
  world.add(dead, 'works', () => happened.push('dead'))
  world.setTimer(dead, () => happened.push('dead'), 10, false)
  world.add(still, 'works', () => happened.push(`still at ${world.now - start}`))
  world.bury(dead)
  world.stall(still, 60_000)
  while (world.step());
  expect(happened).toEqual(['still at 60000'])
})
