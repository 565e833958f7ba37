// V8 forgets the shape of a kind of object, and the code it has compiled for it, when a full garbage collection finds
// no object of that kind alive. After a quiet minute every turn would start slow again. So one empty object of each
// kind that a turn makes stays alive: measured, turns after a collection take a third of the time.
const kept: unknown[] = []
let makers: (() => unknown)[] = []

/** Has an empty sample made, when there is something to run, and keeps it alive for the sake of its shape. */
export function registerShape(make: () => unknown): void {
  makers.push(make)
}

/** Makes the samples there are: not when the door is opened, which everybody waits for. */
export function keepShapesAlive(): void {
  for (const make of makers) kept.push(make())
  makers = []
}
